"""A few tasks stand for a split: every kind has its share."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from agentgym.core import TaskSet
from agentgym.rollout.plan import spread


def tasks_of(kinds: list[str]):
    return TaskSet.build("t", "mini", "1", [("eval", kind, {}) for kind in kinds]).split("eval")


def test_a_cycle_of_kinds_is_not_met_in_step():
    tasks = tasks_of([f"level{i % 40}" for i in range(200)])
    assert len({t.kind for t in spread(tasks, 5)}) == 5
    assert len({t.kind for t in spread(tasks, 40)}) == 40


def test_kinds_keep_their_proportions():
    tasks = tasks_of(["a"] * 125 + ["b"] * 291 + ["c"] * 117 + ["d"] * 11)
    assert Counter(t.kind for t in spread(tasks, 54)) == {"a": 12, "b": 29, "c": 12, "d": 1}


@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=60), st.integers(1, 70))
def test_any_count_gives_that_many_different_tasks_in_order(kinds, count):
    tasks = tasks_of(kinds)
    picked = [t.index for t in spread(tasks, count)]
    assert picked == sorted(set(picked))
    assert len(picked) == min(count, len(tasks))
