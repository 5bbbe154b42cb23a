"""Make the tables the SciWorld environment carries, from the installed `scienceworld` package.

    python scripts/sciworld_gold.py variations
    python scripts/sciworld_gold.py paths [--train 10] [--eval 4] [--task boil ...]

`variations` writes agentgym/envs/sciworld/data/variations.json: every task of the package with its
number of variations, in the package's order. `paths` asks the package's own agent for a path of
each task of the mini edition, plays it without simplifications to see that it solves the task, and
adds it to agentgym/envs/sciworld/data/paths.json; what is there already is kept, so the command can
be stopped and run again. A variation whose path falls short is recorded with the score it reached
and passed over. The package's code and data are Apache-2.0 (Allen Institute for AI).
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from agentgym.envs.sciworld.bridge import Session
from agentgym.envs.sciworld.jvm import JvmOptions, SimulatorError
from agentgym.envs.sciworld.tasks import DATA, Lesson, folds, lessons, solved, spread

LIMIT = 300


def write_variations() -> None:
    """Write the table of tasks and their numbers of variations."""
    from scienceworld.constants import TASKS

    session = Session(JvmOptions())
    session.load("boil", 0)
    count = session.call(lambda jvm: jvm.loader.getTaskMaxVariations)
    rows = [
        {
            "id": task["task_id"],
            "name": task["task_name"],
            "topic": task["topic"],
            "title": task["task"],
            "variations": int(count(task["task_name"])),
        }
        for task in TASKS
    ]
    session.close()
    write(DATA / "variations.json", rows)


def write_paths(train: int, eval_: int, only: list[str]) -> None:
    """Add the paths that are missing, task by task."""
    file = DATA / "paths.json"
    paths: dict[str, dict[str, Any]] = json.loads(file.read_text()) if file.exists() else {}
    session = Session(JvmOptions(recycle_after=200))
    for lesson in lessons():
        if only and lesson.name not in only:
            continue
        table = paths.setdefault(lesson.name, {})
        first, _, last = folds(lesson.variations)
        for fold, wanted in ((first, train), (last, eval_)):
            fill(session, lesson, table, fold, wanted)
            paths[lesson.name] = dict(sorted(table.items(), key=lambda row: int(row[0])))
            write(file, paths)
    session.close()


def fill(session: Session, lesson: Lesson, table: dict[str, Any], fold: range, wanted: int) -> None:
    """Find paths for `wanted` variations of one fold, spread over it."""
    order = spread(fold, wanted)
    order += [v for v in fold if v not in order]
    for variation in order[: 2 * wanted]:
        if sum(solved(table.get(str(v), {})) for v in fold) >= wanted:
            return
        if str(variation) not in table:
            table[str(variation)] = solve(session, lesson.name, variation)


def solve(session: Session, task: str, variation: int) -> dict[str, Any]:
    """Return the path of one variation and what it reaches when played."""
    start = time.monotonic()
    try:
        path = session.gold_path(task, variation)
    except SimulatorError as error:
        print(f"{task} {variation}: {error}", flush=True)
        return {"score": 0, "rounds": 0, "moves": 0, "actions": []}
    session.load(task, variation)
    session.step("look around")
    played, score = [], 0
    for action in path[:LIMIT]:
        reply = session.step(action)
        played.append(action)
        score = round(100 * reply.score)
        if reply.completed or score < 0:
            break
    moves = session.moves()
    print(
        f"{task} {variation}: score {score} after {len(played)} of {len(path)} actions, "
        f"{moves} moves, {time.monotonic() - start:.1f} s",
        flush=True,
    )
    row = {"score": score, "rounds": len(played), "moves": moves, "actions": played}
    return row if solved(row) else row | {"actions": []}


def dumps(value: Any) -> str:
    """Return JSON with a line for each row, so that a change shows as one."""
    if isinstance(value, list):
        return "[\n" + ",\n".join(json.dumps(row) for row in value) + "\n]\n"
    tables = []
    for name, table in value.items():
        rows = ",\n".join(f"{json.dumps(key)}: {json.dumps(row)}" for key, row in table.items())
        tables.append(f"{json.dumps(name)}: {{\n{rows}\n}}")
    return "{\n" + ",\n".join(tables) + "\n}\n"


def write(file: Path, value: Any) -> None:
    """Write JSON in one go, so that a stopped run leaves the last good file."""
    part = file.with_suffix(".part")
    part.write_text(dumps(value), encoding="utf-8")
    part.replace(file)


def main() -> None:
    """Read the arguments and write what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("variations", "paths"))
    parser.add_argument("--train", type=int, default=10)
    parser.add_argument("--eval", type=int, default=4, dest="eval_")
    parser.add_argument("--task", action="append", default=[])
    arguments = parser.parse_args()
    DATA.mkdir(exist_ok=True)
    if arguments.what == "variations":
        write_variations()
    else:
        write_paths(arguments.train, arguments.eval_, arguments.task)


if __name__ == "__main__":
    main()
