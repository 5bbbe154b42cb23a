"""What a query may do: read, and only so much of everything.

Four fences, each enough for what it is for. The file is opened so that it cannot be written
(`place.py`). An authorizer refuses, while a statement is compiled, everything but reading tables
and calling functions of a list. Limits of SQLite bound the length of a statement, of a value, of a
pattern and of an expression. And work is counted in steps of SQLite's virtual machine, not in
seconds, so that a query that is too long on one machine is too long on every machine.

Memory is bounded by SQLite's own limit on its heap, which is one number for the whole process and
can only be lowered: a process that uses SQLite for something else has 512 MB there as well.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable

from agentgym.envs.bird.functions import tame
from agentgym.envs.bird.place import Place

STEPS = 20_000_000
"""Steps of the virtual machine a query may take; half a second to a few seconds."""

PUBLISHED_STEPS = 1_000_000_000
"""The same for published databases, which are up to a thousand times larger."""

STRIDE = 100
"""Steps between two looks at the count; a single step can take half a second at worst."""

STEPS_A_SECOND = 300_000
"""A query slower than this is stopped by the clock: a single step may be long. Ordinary queries are
a hundred times faster, so that the clock decides nothing on any machine in use."""

SECONDS = 600.0
"""The longest any query may take by the clock."""

HEAP = 512 * 2**20
"""Bytes of SQLite's heap, for the whole process."""

VALUE = 1_000_000
"""Bytes of one text, blob or row."""

_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: VALUE,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 20_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 400,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 50,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 250_000,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 60,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 100,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 0,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}

# What makes values of any size (zeroblob, randomblob), what is drawn (random), and what tells of
# the machine or the connection (sqlite_version, changes) is not on the list.
_NAMES = """
abs acos asin atan atan2 avg cast ceil ceiling char coalesce concat concat_ws cos count
cume_dist current_date current_time current_timestamp date datetime degrees dense_rank exp
first_value floor format glob group_concat hex if ifnull iif instr julianday lag last_value
lead length like ln log log10 log2 lower ltrim max min mod nth_value ntile nullif
octet_length percent_rank pi pow power printf quote radians rank replace round row_number
rtrim sign sin sqrt strftime string_agg substr substring sum tan time total trim trunc
typeof unicode unixepoch upper
"""
FUNCTIONS = frozenset(_NAMES.split())


class Guard:
    """Counts the steps of the query under way on one connection.

    Attributes:
        steps: steps of the last query, in whole strides.
        refused: what the authorizer refused in it, in words, or "".
        objection: what a function had against its arguments, in words, or "".
        spent: whether it was stopped for its length.
    """

    def __init__(self) -> None:
        self.steps = 0
        self.refused = ""
        self.objection = ""
        self.spent = False
        self._most = STEPS
        self._until = 0.0

    def begin(self, most: int) -> None:
        """Start counting a query that may take so many steps."""
        self.steps, self.refused, self.objection, self.spent = 0, "", "", False
        self._most = most
        self._until = time.monotonic() + min(most / STEPS_A_SECOND, SECONDS)

    def object_(self, message: str) -> None:
        """Note what a function has against its arguments."""
        self.objection = message

    def tick(self) -> int:
        """Count a stride; anything but 0 stops the query."""
        self.steps += STRIDE
        self.spent = self.steps >= self._most or time.monotonic() > self._until
        return int(self.spent)

    def authorize(self, action: int, first: str | None, second: str | None, *_: str | None) -> int:
        """Say whether a part of a statement may be compiled."""
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_UPDATE and first == "sqlite_master":
            # This is how SQLite asks for a virtual table of its own: json_each, but also
            # sqlite_stmt, which lists the queries of this connection, gold queries among them.
            self.refused = self.refused or "a table that SQLite makes up (pragma_…, json_each, …)"
            return sqlite3.SQLITE_DENY
        if action == sqlite3.SQLITE_FUNCTION:
            if second and second.lower() in FUNCTIONS:
                return sqlite3.SQLITE_OK
            self.refused = self.refused or f"the function {second}"
        else:
            self.refused = self.refused or _WORDS.get(action, "anything but reading")
        return sqlite3.SQLITE_DENY


_WORDS = {
    sqlite3.SQLITE_ATTACH: "ATTACH",
    sqlite3.SQLITE_DETACH: "DETACH",
    sqlite3.SQLITE_PRAGMA: "PRAGMA",
    sqlite3.SQLITE_INSERT: "writing (INSERT)",
    sqlite3.SQLITE_UPDATE: "writing (UPDATE)",
    sqlite3.SQLITE_DELETE: "writing (DELETE)",
    sqlite3.SQLITE_TRANSACTION: "a transaction",
    sqlite3.SQLITE_SAVEPOINT: "a savepoint",
    sqlite3.SQLITE_ANALYZE: "ANALYZE",
    sqlite3.SQLITE_REINDEX: "REINDEX",
    sqlite3.SQLITE_CREATE_TABLE: "CREATE TABLE",
    sqlite3.SQLITE_CREATE_TEMP_TABLE: "CREATE TABLE",
    sqlite3.SQLITE_CREATE_VIEW: "CREATE VIEW",
    sqlite3.SQLITE_CREATE_TEMP_VIEW: "CREATE VIEW",
    sqlite3.SQLITE_DROP_TABLE: "DROP TABLE",
    sqlite3.SQLITE_ALTER_TABLE: "ALTER TABLE",
}


def open_guarded(place: Place) -> tuple[sqlite3.Connection, Guard]:
    """Return a connection that can only read within bounds, and its guard.

    Raises:
        sqlite3.Error: if the database cannot be opened.
    """
    connection = place.connect()
    connection.execute(f"PRAGMA hard_heap_limit = {HEAP}")
    # Sorting spills into memory, which is bounded, and not to a disk, which is not.
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("PRAGMA cache_size = -4000")
    connection.execute("PRAGMA query_only = ON")
    guard = Guard()
    tame(connection, guard.object_, VALUE)
    for limit, value in _LIMITS.items():
        connection.setlimit(limit, value)
    authorize: Callable[..., int] = guard.authorize
    connection.set_authorizer(authorize)
    connection.set_progress_handler(guard.tick, STRIDE)
    return connection, guard
