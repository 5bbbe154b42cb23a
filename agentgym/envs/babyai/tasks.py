"""The two editions.

*mini*: thirty seeds of every level, found by `scripts/babyai_manifest.py`: the expert solves each
of them within the rounds, and no two begin alike. Five of the thirty are for evaluation.
*official*: the 900 published items. Which ninety are for evaluation is published on a hub only;
without that list a stand-in split is used, which the set's note and version say.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from importlib import resources
from typing import Any

from agentgym.core import TaskSet
from agentgym.core.data import EVAL_IDS, find_eval_ids
from agentgym.envs.babyai.levels import LEVELS, official_item

OFFICIAL_SIZE = 900
MINI_EVAL_SEEDS = 5
"""How many of a level's seeds, the last ones, are for evaluation."""

Row = tuple[str, str, Mapping[str, Any]]


def mini_tasks() -> TaskSet:
    """Return the mini edition: 1,000 train and 200 eval tasks, level after level in turn."""
    text = resources.files("agentgym.envs.babyai").joinpath("data/mini.json").read_text("utf-8")
    manifest = json.loads(text)
    note = (
        f"Seeds found with Minigrid {manifest['minigrid']}; solved by the expert in at most "
        f"{manifest['rounds']} rounds."
    )
    return TaskSet.build("babyai", "mini", manifest["version"], _mini_rows(manifest), note)


def _mini_rows(manifest: Mapping[str, Any]) -> Iterator[Row]:
    count = len(next(iter(manifest["seeds"].values())))
    for turn in range(count):
        split = "train" if turn < count - MINI_EVAL_SEEDS else "eval"
        for level in LEVELS:
            if level in manifest["seeds"]:
                yield split, level, {"level": level, "seed": manifest["seeds"][level][turn]}


def official_tasks(data_dir: str | None) -> TaskSet:
    """Return the official edition: item N is level N mod 40 with seed N div 40.

    Args:
        data_dir: the data folder; `babyai/eval_ids.json` in it names the eval items.

    Raises:
        InvalidConfig: if that file is there and does not hold a list of item ids.
    """
    chosen = find_eval_ids("babyai", OFFICIAL_SIZE, data_dir)
    if chosen is not None:
        version, note = "1", f"The published numbering; eval items from {EVAL_IDS}."
    else:
        chosen = frozenset(n for n in range(OFFICIAL_SIZE) if is_stand_in_eval(n))
        version = "1-stand-in-split"
        note = (
            "The published numbering. The published list of eval items is not at hand, so 90 of "
            "the 900 were chosen, two or three of each level; put the list into "
            f"babyai/{EVAL_IDS} of the data folder to use it."
        )
    rows: Iterable[Row] = (
        ("eval" if n in chosen else "train", level, {"level": level, "seed": seed})
        for n, (level, seed) in enumerate(map(official_item, range(OFFICIAL_SIZE)))
    )
    return TaskSet.build("babyai", "official", version, rows, note)


def is_stand_in_eval(number: int) -> bool:
    """Whether an official item is in the stand-in eval split, which is spread over the levels.

    >>> sum(map(is_stand_in_eval, range(900)))
    90
    """
    return (number + number // len(LEVELS)) % 10 == 0
