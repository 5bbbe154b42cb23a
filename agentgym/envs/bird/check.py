"""Checking a mini database: `python -m agentgym.envs.bird.check NAME ...`.

Builds it, compares the digest of its rows, runs every gold query and every pair, and reports what a
question must not be: empty, all NULL, slow, or undecided, which shows when SQLite is asked to go
through tables backwards, or when a number to be rounded lies in the middle but for the last bits,
which another formula changes. Rows that change on purpose change their digest with them, in
`databases/__init__.py`.
"""

from __future__ import annotations

import argparse
import math
import sqlite3
import sys
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from agentgym.envs.bird.databases import NAMES, ROWS
from agentgym.envs.bird.library import build, digest_rows, load_source, read_pairs
from agentgym.envs.bird.place import Place
from agentgym.envs.bird.query import QueryError, run
from agentgym.envs.bird.sandbox import STEPS
from agentgym.envs.bird.scoring import same_rows

MOST_ROWS = 200
MOST_STEPS = STEPS // 10
_NEAR = Fraction(1, 10**6)


def faults(name: str) -> Iterator[str]:
    """Yield what is wrong with a database's questions and pairs, a sentence each."""
    connection = build(name)
    if digest_rows(connection)[:16] != ROWS[name]:
        yield f"the digest of its rows is {digest_rows(connection)[:16]}, not {ROWS[name]}"
    place = Place.memory(f"check {name}", connection.serialize())
    connection.execute("PRAGMA reverse_unordered_selects = ON")
    rounded = _watch_rounding(connection)
    source = load_source(name)
    for i, entry in enumerate(source.questions):
        rounded.clear()
        for fault in _of_question(place, connection, entry, rounded):
            yield f"question {i}: {fault}"
    for i, pair in enumerate(read_pairs(name)):
        gold = run(place, source.questions[pair["question"]]["sql"]).rows
        try:
            right = same_rows(run(place, pair["sql"]).rows, gold)
        except QueryError as error:
            yield f"pair {i} does not run: {error}"
            continue
        if right != bool(pair["score"]):
            yield f"pair {i} scores {int(right)}, not {pair['score']}: {pair['why']}"


def _of_question(
    place: Place,
    backwards: sqlite3.Connection,
    entry: dict[str, object],
    rounded: dict[float, object],
) -> Iterator[str]:
    sql = str(entry["sql"])
    try:
        answer = run(place, sql)
    except QueryError as error:
        yield f"the gold query does not run: {error}"
        return
    if not answer.rows:
        yield "the answer is empty"
    if all(value is None for row in answer.rows for value in row):
        yield "the answer is NULL throughout"
    if len(answer.rows) > MOST_ROWS:
        yield f"the answer has {len(answer.rows)} rows"
    if answer.steps > MOST_STEPS:
        yield f"the query takes {answer.steps:,} steps"
    if set(backwards.execute(sql).fetchall()) != set(answer.rows):
        yield "the answer depends on the order in which tables are read"
    shown = {value for row in answer.rows for value in row}
    for value in [value for value, said in rounded.items() if said in shown]:
        yield f"{value!r} is rounded up by one formula and down by another"


def _watch_rounding(connection: sqlite3.Connection) -> dict[float, object]:
    """Return where a connection then notes the numbers that it rounds by chance, and to what."""
    noted: dict[float, object] = {}
    plain = sqlite3.connect(":memory:", check_same_thread=False)

    def round_(value: Any, digits: int = 0) -> Any:
        said = plain.execute("SELECT ROUND(?, ?)", (value, digits)).fetchone()[0]
        if isinstance(value, float) and nearly_half(value, digits):
            noted[value] = said
        return said

    connection.create_function("round", -1, round_, deterministic=True)
    return noted


def nearly_half(value: float, digits: int) -> bool:
    """Return whether a number lies next to the middle of two rounded ones, and not on it.

    >>> nearly_half(97.3499999978, 1), nearly_half(111.75, 1), nearly_half(97.3499, 1)
    (True, False, False)
    """
    scaled = Fraction(value) * 10**digits
    return bool(0 < abs(scaled - math.floor(scaled) - Fraction(1, 2)) < _NEAR)


def main(arguments: list[str] | None = None) -> int:
    """Print the faults of the databases named; return 1 if there are any."""
    parser = argparse.ArgumentParser(description="Check mini databases of BIRD.")
    parser.add_argument("names", nargs="*", choices=[[], *NAMES], help="default: all")
    names = parser.parse_args(arguments).names or NAMES
    found = [f"{name}: {fault}" for name in names for fault in faults(name)]
    sys.stdout.write("".join(f"{line}\n" for line in found) or "no faults\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
