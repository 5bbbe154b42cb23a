"""The hidden words that are played, in their frozen order.

- mini: 1,000 train and 200 eval words out of the original game's 2,315 solutions, no word in both.
  They are ordered by a hash of the word, which no library version can change.
- official: AgentGym's 980 items. Item i seeds the published server's generator with i; that server
  draws a fresh consistent word at every guess, so an item had no fixed word. Here it has one: the
  word the server draws first. Which 25 are for evaluation is published on a hub only; without that
  list the last ones stand in.
- other lengths or vocabularies: the mini edition's rule on their own list (`option_tasks`).
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from agentgym.core import TaskSet
from agentgym.core.data import EVAL_IDS, find_eval_ids
from agentgym.envs.wordle.words import Vocabulary, vocabulary

Row = tuple[str, str, Mapping[str, Any]]

NAME = "wordle"
MINI_TRAIN, MINI_EVAL = 1000, 200
OFFICIAL_TRAIN, OFFICIAL_EVAL = 955, 25


def mini_tasks() -> TaskSet:
    """Return the mini edition."""
    note = "Hidden words of the original game's solution list; train and eval share no word."
    return TaskSet.build(NAME, "mini", "1", _rows(vocabulary()), note)


def official_tasks(data_dir: str | None = None) -> TaskSet:
    """Return AgentGym's 980 items over its 40-word vocabulary.

    Args:
        data_dir: the data folder; a list of eval ids in `wordle/eval_ids.json` there is used.

    Raises:
        InvalidConfig: if that file is there and does not hold a list of item ids.
    """
    words = vocabulary(5, "published")
    size = OFFICIAL_TRAIN + OFFICIAL_EVAL
    published = find_eval_ids(NAME, size, data_dir)
    evals = published if published is not None else frozenset(range(OFFICIAL_TRAIN, size))
    rows: list[Row] = []
    for item in range(size):
        # The published draw itself: Python's generator, seeded with the item's number.
        hidden = random.Random(item).choice(words.hidden)
        rows.append(_row("eval" if item in evals else "train", hidden, words))
    split = (
        f"The eval items are those of {EVAL_IDS}."
        if published is not None
        else "The sizes are the published ones (955 / 25); which items were eval is not in the "
        f"repositories, so the last 25 stand in (put the list into {NAME}/{EVAL_IDS} of the data "
        "folder to use it)."
    )
    note = (
        "AgentGym's 980 items over LMRL-Gym's 40-word vocabulary. Item i hides the word the "
        "published server draws first when seeded with i; that server redraws at every guess. "
        f"{split} With 40 words, every eval word is a train word."
    )
    version = "1" if published is None else "1-published-split"
    return TaskSet.build(NAME, "official", version, rows, note)


@lru_cache(maxsize=16)
def option_tasks(letters: int, name: str) -> TaskSet:
    """Return the tasks of another length or vocabulary: five in six words train, at most 1,000."""
    rows = _rows(vocabulary(letters, name))
    note = "Chosen by options: as the mini edition, on another list of words."
    return TaskSet.build(NAME, "mini", f"1-{letters}-{name}", rows, note)


def _rows(words: Vocabulary) -> list[Row]:
    ordered = sorted(words.hidden, key=lambda w: hashlib.sha256(f"wordle-1:{w}".encode()).digest())
    ordered = ordered[: MINI_TRAIN + MINI_EVAL]
    train = len(ordered) * MINI_TRAIN // (MINI_TRAIN + MINI_EVAL)
    return [_row("train" if i < train else "eval", w, words) for i, w in enumerate(ordered)]


def _row(split: str, hidden: str, words: Vocabulary) -> Row:
    kind = "distinct" if len(set(hidden)) == len(hidden) else "repeated"
    return split, kind, {"word": hidden, "vocabulary": words.name}
