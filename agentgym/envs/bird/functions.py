"""SQLite's functions that look at the clock, or take their time, with that taken out.

The same query must give the same rows tomorrow, so "now" is a day that never changes; and
`printf('%.*c', 2000000000, 'x')` works for half a minute in a single step, so widths are bounded;
so do `instr`, `replace` and `trim` on two long texts, so the product of their lengths is. The
functions here stand in for SQLite's own under their names and ask SQLite itself once the
arguments are fit; what they return is kept, since a table holds few different dates.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from functools import lru_cache
from typing import Any

NOW = "2024-06-30 12:00:00"
"""What "now", CURRENT_DATE, CURRENT_TIME and CURRENT_TIMESTAMP mean."""

KEPT = 20_000
"""Results kept a function, for each connection."""

SHORT = 100
"""Results are kept for arguments of at most so many characters."""

# Where the first argument that is a time stands.
_TIME_AT = {"date": 0, "time": 0, "datetime": 0, "julianday": 0, "unixepoch": 0, "strftime": 1}
# Conversions to and from the time zone of the machine; here it is UTC, so they change nothing.
_ZONES = ("localtime", "utc")
PRODUCT = 100_000_000
"""Characters of a text times characters looked for in it, at most; a tenth of a second."""

_WIDE = re.compile(r"%[^a-zA-Z%]*(?:\*|\d{4})")
# How many arguments they are called with when they search for one text in another.
_SEARCHES = {"instr": (2,), "replace": (3,), "trim": (2,), "ltrim": (2,), "rtrim": (2,)}
_CURRENT = {"current_date": NOW[:10], "current_time": NOW[11:], "current_timestamp": NOW}


def tame(connection: sqlite3.Connection, object_: Callable[[str], None], longest: int) -> None:
    """Replace the functions of a connection that look at the clock or work without bounds.

    Args:
        connection: the connection.
        object_: called with what to change where arguments are refused, before the query fails.
        longest: bytes of the longest value a function may return.
    """
    helper = sqlite3.connect(":memory:", check_same_thread=False)
    # What it returned would be refused anyway, but only once all of it had been made.
    helper.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest)
    for name, place in _TIME_AT.items():
        connection.create_function(name, -1, _pinned(helper, name, place), deterministic=True)
    for name in ("printf", "format"):
        connection.create_function(name, -1, _bounded(helper, object_), deterministic=True)
    for name, counts in _SEARCHES.items():
        for count in counts:
            search = _searching(helper, name, count, object_)
            connection.create_function(name, count, search, deterministic=True)
    for name, value in _CURRENT.items():
        connection.create_function(name, 0, lambda value=value: value, deterministic=True)


def _pinned(helper: sqlite3.Connection, name: str, place: int) -> Any:
    @lru_cache(maxsize=KEPT)
    def evaluate(*arguments: Any) -> Any:
        given = list(arguments)
        if len(given) <= place:
            given.append(NOW)  # no time at all means now, as well
        given = [a for a in given if not (isinstance(a, str) and a.strip().lower() in _ZONES)]
        given = [NOW if isinstance(a, str) and a.strip().lower() == "now" else a for a in given]
        marks = ", ".join("?" * len(given))
        try:
            return helper.execute(f"SELECT {name}({marks})", given).fetchone()[0]
        except sqlite3.Error:  # a function this SQLite does not have, or too many arguments
            return None

    def function(*arguments: Any) -> Any:
        return _recalled(evaluate, arguments)

    return function


def _searching(
    helper: sqlite3.Connection, name: str, count: int, object_: Callable[[str], None]
) -> Any:
    """Return a function that looks for its second argument in its first, within bounds."""
    sql = f"SELECT {name}({', '.join('?' * count)})"

    def function(*arguments: Any) -> Any:
        if _length(arguments[0]) * _length(arguments[1]) > PRODUCT:
            object_(f"{name} is given two texts too long to be compared; shorten them")
            raise ValueError(name)
        return _asked(helper, sql, arguments, object_)

    return function


def _asked(
    helper: sqlite3.Connection,
    sql: str,
    arguments: tuple[Any, ...],
    object_: Callable[[str], None],
) -> Any:
    try:
        return helper.execute(sql, arguments).fetchone()[0]
    except sqlite3.DataError as error:  # SQLite would only say that a function failed
        object_(str(error))
        raise


def _length(value: Any) -> int:
    return len(value) if isinstance(value, str | bytes) else 30


def _bounded(helper: sqlite3.Connection, object_: Callable[[str], None]) -> Any:
    @lru_cache(maxsize=KEPT)
    def evaluate(*arguments: Any) -> Any:
        if arguments and _WIDE.search(str(arguments[0])):
            object_("a width of printf may have three digits at most")
            raise ValueError("printf")
        marks = ", ".join("?" * len(arguments))
        return _asked(helper, f"SELECT printf({marks})", arguments, object_)

    def function(*arguments: Any) -> Any:
        return _recalled(evaluate, arguments)

    return function


def _recalled(evaluate: Any, arguments: tuple[Any, ...]) -> Any:
    """Call a function that remembers its results, past its memory where they would fill it."""
    if any(type(a) in (str, bytes) and len(a) > SHORT for a in arguments):
        return evaluate.__wrapped__(*arguments)
    # 1 and 1.0 are one key of a cache but two values to strftime.
    return evaluate(*[a if type(a) is not float else _Float(a) for a in arguments])


class _Float(float):
    """A float that is not equal to the whole number of its value.

    Its hash is that of its digits: thousands of floats can be chosen to share Python's own.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Float) and self.hex() == other.hex()

    def __hash__(self) -> int:
        return hash(self.hex())
