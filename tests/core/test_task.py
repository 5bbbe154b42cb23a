"""Task sets are frozen: the same order and digest in every process."""

from __future__ import annotations

import subprocess
import sys

import pytest

from agentgym.core import Task, TaskSet
from agentgym.core.errors import UnknownSplit

ROWS = [("train", "a", {"x": 1, "y": [1, 2]}), ("eval", "b", {"x": "é"}), ("train", "a", {})]


def test_digest_covers_every_field():
    base = TaskSet.build("t", "mini", "1", ROWS)
    others = [
        TaskSet.build("t", "mini", "2", ROWS),
        TaskSet.build("t", "official", "1", ROWS),
        TaskSet.build("u", "mini", "1", ROWS),
        TaskSet.build("t", "mini", "1", ROWS[:2]),
        TaskSet.build("t", "mini", "1", [("train", "a", {"x": 2, "y": [1, 2]}), *ROWS[1:]]),
        TaskSet.build("t", "mini", "1", [("eval", "a", {"x": 1, "y": [1, 2]}), *ROWS[1:]]),
        TaskSet.build("t", "mini", "1", [("train", "c", {"x": 1, "y": [1, 2]}), *ROWS[1:]]),
    ]
    assert len({base.digest, *(o.digest for o in others)}) == len(others) + 1
    reordered = [("train", "a", {"y": (1, 2), "x": 1}), *ROWS[1:]]
    assert TaskSet.build("t", "mini", "1", reordered).digest == base.digest


def test_digest_is_the_same_in_every_process():
    code = (
        "from tests.core.test_task import ROWS, TaskSet;"
        "print(TaskSet.build('t', 'mini', '1', ROWS).digest)"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": "."},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(digests) == 1


def test_a_set_knows_its_sizes_and_splits():
    tasks = TaskSet.build("t", "mini", "1", ROWS)
    assert tasks.sizes == {"train": 2, "eval": 1}
    assert tasks.kinds == {"a": 2, "b": 1}
    assert [t.id for t in tasks.split("train")] == ["t_0", "t_2"]
    assert tasks.get("t_1") is tasks[1]
    with pytest.raises(UnknownSplit, match="Did you mean train"):
        tasks.split("trian")


def test_ids_must_follow_from_the_order():
    with pytest.raises(ValueError, match="expected 't_0'"):
        TaskSet("t", "mini", "1", [Task("t_1", 1, "train", "a")])
    with pytest.raises(ValueError, match="split"):
        TaskSet("t", "mini", "1", [Task("t_0", 0, "test", "a")])
