"""A few tasks stand for a split: every kind has its share."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym.core import TaskSet
from agentgym.core.errors import InvalidConfig
from agentgym.rollout.plan import EnvChoice, of_kinds, plan, spread


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


def test_tasks_of_some_kinds_by_name_and_by_pattern():
    tasks = tasks_of(["go-near", "open", "go-far", "take"])
    assert [t.kind for t in of_kinds(tasks, ["take", "go-*"])] == ["go-near", "go-far", "take"]
    assert of_kinds(tasks, []) == tasks


def test_a_kind_that_does_not_exist_is_named_with_the_nearest():
    with pytest.raises(InvalidConfig, match=r"'opne'.*Did you mean open"):
        of_kinds(tasks_of(["go", "open"]), ["go", "opne"])


def test_a_plan_holds_the_tasks_of_its_kinds_with_the_seeds_they_always_have():
    every = {job.task.id: job for job in plan([EnvChoice(env_id="agentgym/Maze-v0")])}
    some = plan([EnvChoice(env_id="agentgym/Maze-v0", kinds=("*-7x7",))], tasks=8)
    assert Counter(job.task.kind.partition("-")[2] for job in some) == {"7x7": 8}
    assert all(job.seed == every[job.task.id].seed for job in some)


def test_a_choice_of_all_kinds_is_recorded_as_before_there_were_choices():
    assert "kinds" not in EnvChoice(env_id="agentgym/Maze-v0").model_dump()
    kept = EnvChoice(env_id="agentgym/Maze-v0", kinds=("a*",))
    assert EnvChoice(**kept.model_dump()) == kept
