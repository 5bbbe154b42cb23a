"""Running one query: its rows, or what was wrong with it in words that say what to change."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass
from typing import Any

from agentgym.core.text import shorten
from agentgym.envs.bird.expansion import COPIES, copies
from agentgym.envs.bird.place import Place
from agentgym.envs.bird.pool import POOL, Pool
from agentgym.envs.bird.sandbox import STEPS, VALUE, Guard

ROWS = 250_000
"""The most rows a query may return."""

CELLS = 5_000_000
"""The most values it may return; numbers and short texts take some fifty bytes each."""

BYTES = 64_000_000
"""The most bytes of text and blobs it may return."""

SAID = 300
"""Characters of SQLite's own words that are repeated: they may quote the query."""

Row = tuple[Any, ...]

_LEADING = re.compile(r"(?:\s+|--[^\n]*(?:\n|$)|/\*.*?(?:\*/|$))*", re.DOTALL)
_READS = ("select", "with", "values")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a query returned.

    Attributes:
        columns: names of the columns.
        rows: the rows, in order.
        steps: steps of SQLite's virtual machine it took, to the next lower thousand.
    """

    columns: tuple[str, ...]
    rows: list[Row]
    steps: int


class QueryError(Exception):
    """A query that was not carried out, or not to its end.

    Not an error of the library: the environment answers with the message.
    """


def run(place: Place, sql: str, pool: Pool = POOL, steps: int = STEPS) -> Answer:
    """Run one reading statement.

    Args:
        place: the database.
        sql: the statement.
        pool: where the connection comes from.
        steps: steps of SQLite's virtual machine it may take.

    Raises:
        QueryError: if it is no single reading statement, is wrong, or exceeds a bound; the message
            says what to change.
    """
    first = sql[_LEADING.match(sql).end() :][:10].lower()  # type: ignore[union-attr]
    if not first:
        raise QueryError("there is no query. Write one SELECT statement")
    if not first.startswith(_READS):
        raise QueryError("only reading is allowed: begin the query with SELECT or WITH")
    if copies(sql) > COPIES:
        raise QueryError(
            f"its WITH clauses name each other so often that they come to more than {COPIES} "
            "copies. Name each fewer times, or join fewer of them"
        )
    with pool.lend(place) as (connection, guard):
        guard.begin(steps)
        cursor: sqlite3.Cursor | None = None
        try:
            cursor = connection.execute(sql)
            rows = _fetch(cursor)
            columns = tuple(str(d[0]) for d in cursor.description or ())
            return Answer(columns, rows, guard.steps)
        except (sqlite3.Error, sqlite3.Warning, MemoryError, ValueError, OverflowError) as error:
            raise QueryError(_explained(error, guard, steps)) from None
        finally:
            if cursor is not None:
                cursor.close()


def _fetch(cursor: sqlite3.Cursor) -> list[Row]:
    rows: list[Row] = []
    size = 0
    for row in cursor:
        size += sum([len(v) for v in row if type(v) is str or type(v) is bytes])
        rows.append(row)
        if len(rows) > ROWS:
            raise QueryError(f"it returns more than {ROWS:,} rows. Aggregate, filter or add LIMIT")
        if len(rows) * len(row) > CELLS:
            raise QueryError(f"it returns more than {CELLS:,} values. Select fewer columns")
        if size > BYTES:
            raise QueryError(f"it returns more than {BYTES // 10**6} MB. Select fewer columns")
    return rows


def _explained(error: BaseException, guard: Guard, steps: int) -> str:
    """Return what SQLite said and, where it does not say it, what to change."""
    text = shorten(str(error), SAID) or type(error).__name__
    if guard.refused:
        return f"{guard.refused} is not allowed; write one SELECT that only reads"
    if guard.spent:
        return (
            f"it was stopped after {steps / 1e6:g} million steps. Check the joins and any "
            "recursion, or filter earlier"
        )
    if isinstance(error, MemoryError) or "out of memory" in text:
        return "it needs too much memory. Select fewer or shorter values"
    if "one statement" in text:
        return "You can only execute one statement at a time. Write one SELECT"
    text = guard.objection or text
    if "too big" in text:
        return f"{text}: no value may be longer than {VALUE:,} bytes"
    return text
