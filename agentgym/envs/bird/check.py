"""Checking a mini database: `python -m agentgym.envs.bird.check NAME ...`.

Builds it, compares the digest of its rows, runs every gold query and every pair, and reports what a
question must not be: empty, all NULL, slow, or undecided, which shows when SQLite is asked to go
through tables backwards. Rows that change on purpose change their digest in `databases/__init__.py`
with them.
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
from collections.abc import Iterator

from agentgym.envs.bird.databases import NAMES, ROWS
from agentgym.envs.bird.library import build, digest_rows, load_source, read_pairs
from agentgym.envs.bird.place import Place
from agentgym.envs.bird.query import QueryError, run
from agentgym.envs.bird.sandbox import STEPS
from agentgym.envs.bird.scoring import same_rows

MOST_ROWS = 200
MOST_STEPS = STEPS // 10


def faults(name: str) -> Iterator[str]:
    """Yield what is wrong with a database's questions and pairs, a sentence each."""
    connection = build(name)
    if digest_rows(connection)[:16] != ROWS[name]:
        yield f"the digest of its rows is {digest_rows(connection)[:16]}, not {ROWS[name]}"
    place = Place.memory(f"check {name}", connection.serialize())
    connection.execute("PRAGMA reverse_unordered_selects = ON")
    source = load_source(name)
    for i, entry in enumerate(source.questions):
        yield from (f"question {i}: {fault}" for fault in _of_question(place, connection, entry))
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
    place: Place, backwards: sqlite3.Connection, entry: dict[str, object]
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
