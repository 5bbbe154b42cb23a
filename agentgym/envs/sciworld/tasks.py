"""The tasks of both editions, listed without starting Java.

`data/variations.json` is the frozen table of the package's 30 tasks and their numbers of
variations; a test compares it with the installed package. From it follow

- *official*: the 4,639 items of AgentGym, which are the variations of 23 tasks in package order;
- *mini*: some variations of all 30 tasks, those `data/paths.json` carries a path for that solves
  them within the rounds. Train tasks come from the package's training fold, eval tasks from its
  test fold.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from agentgym.core import TaskSet
from agentgym.core.data import EVAL_IDS, find_eval_ids

DATA = Path(__file__).parent / "data"
OFFICIAL_EVAL = 200

ROUNDS = {"mini": 150, "official": 30}
"""Rounds by edition. The published 30; in mini what the longest carried paths (genetics) need."""
MOVES = {"mini": 300, "official": 100}
"""Moves by edition: what takes time, eleven for a `wait`. The published 100; in mini enough to wait
for a plant to grow or a metal to melt."""

EXCLUDED = frozenset({"5-1", "5-2", "9-1", "9-2", "9-3", "10-1", "10-2"})
"""Tasks of the package that the published suite leaves out."""


class Lesson(NamedTuple):
    """One of the package's tasks.

    Attributes:
        id: the package's number ("1-1").
        name: the package's name ("boil").
        topic: its subject ("Matter").
        title: its title ("Changes of State (Boiling)").
        variations: how many variations it has.
    """

    id: str
    name: str
    topic: str
    title: str
    variations: int


@functools.cache
def lessons() -> tuple[Lesson, ...]:
    """Return the package's 30 tasks, in its order."""
    rows = json.loads((DATA / "variations.json").read_text(encoding="utf-8"))
    return tuple(Lesson(**row) for row in rows)


def folds(variations: int) -> tuple[range, range, range]:
    """Return the package's training, development and test variations.

    Half, a quarter and the rest; four variations or fewer are shared out by hand, as the package
    does (`PythonInterface.getSets`).
    """
    if variations <= 4:
        first = 2 if variations == 4 else 1
        return range(first), range(first, variations - 1), range(max(variations - 1, 0), variations)
    quarter = variations // 4
    return range(2 * quarter), range(2 * quarter, 3 * quarter), range(3 * quarter, variations)


def spread(numbers: Sequence[int], count: int) -> list[int]:
    """Return up to `count` of the numbers, evenly spaced.

    >>> spread(range(10), 4)
    [0, 2, 5, 7]
    """
    count = min(count, len(numbers))
    return [numbers[i * len(numbers) // count] for i in range(count)]


ROOMS = (
    "kitchen", "bathroom", "workshop", "art studio", "greenhouse", "outside", "bedroom",
    "living room", "foundry", "hallway",
)  # fmt: skip


@functools.cache
def carried_paths() -> dict[str, dict[str, dict[str, Any]]]:
    """Return {task: {variation: {"score", "rounds", "moves", "actions"}}} as it is carried.

    Variations that were tried and left out have no actions.
    """
    paths: dict[str, dict[str, dict[str, Any]]] = json.loads(
        (DATA / "paths.json").read_text(encoding="utf-8")
    )
    return paths


def carried_path(task: str, variation: int) -> list[str]:
    """Return the carried path of a task, or an empty list where there is none that solves it."""
    row = carried_paths().get(task, {}).get(str(variation), {})
    return list(row["actions"]) if solved(row) else []


def solved(row: dict[str, Any]) -> bool:
    """Return whether a carried path solves its task within the mini edition's limits."""
    return bool(
        row
        and row["score"] == 100
        and row["rounds"] <= ROUNDS["mini"]
        and row["moves"] <= MOVES["mini"]
    )


def mini() -> TaskSet:
    """Return the mini edition."""
    rows = []
    for lesson in lessons():
        first, _, last = folds(lesson.variations)
        table = carried_paths().get(lesson.name, {})
        for split, fold in (("train", first), ("eval", last)):
            rows += [
                (split, lesson.name, {"task": lesson.name, "variation": v})
                for v in fold
                if solved(table.get(str(v), {}))
            ]
    note = "ScienceWorld 1.2.3; train from its training fold, eval from its test fold."
    return TaskSet.build("sciworld", "mini", "1", rows, note)


def official(data_dir: str | None = None) -> TaskSet:
    """Return the 4,639 items in AgentGym's numbering.

    The published split (2,120 train and 200 eval items) names its eval items in a file on the Hub.
    Where `sciworld/eval_ids.json` lies in the data folder, it is used; else 200 items of the
    package's test fold stand in for it, drawn evenly from each task. All others are train.

    Raises:
        InvalidConfig: if that file is there and does not hold a list of item ids.
    """
    items = [(t, v) for t in lessons() if t.id not in EXCLUDED for v in range(t.variations)]
    chosen = find_eval_ids("sciworld", len(items), data_dir)
    if chosen is not None:
        version, note = "1-published-split", f"eval items from {EVAL_IDS}; all others are train."
    else:
        chosen = _stand_in(items)
        version = "1-stand-in-split"
        note = (
            "The published eval ids are not here: 200 items of the package's test fold stand in "
            "for them. Put eval_ids.json into the data folder for the published split."
        )
    rows = (
        (
            "eval" if i in chosen else "train",
            lesson.name,
            {"task": lesson.name, "variation": variation},
        )
        for i, (lesson, variation) in enumerate(items)
    )
    return TaskSet.build("sciworld", "official", version, rows, note)


def _stand_in(items: Sequence[tuple[Lesson, int]]) -> frozenset[int]:
    """Share the eval items out over the tasks, the small ones first, and spread each share."""
    places: dict[str, list[int]] = {}
    for i, (lesson, variation) in enumerate(items):
        if variation in folds(lesson.variations)[2]:
            places.setdefault(lesson.name, []).append(i)
    chosen: list[int] = []
    groups = sorted(places.values(), key=len)
    for n, group in enumerate(groups):
        share = (OFFICIAL_EVAL - len(chosen)) // (len(groups) - n)
        chosen += spread(group, share)
    return frozenset(chosen)
