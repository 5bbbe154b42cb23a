"""Snapshots that were damaged on their way: refused, or as good as new; never another error."""

from __future__ import annotations

import copy
import json
from typing import Any

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agentgym
from agentgym.core.errors import InvalidState

JUNK: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 2**70, -(2**70), 1.5, float("nan"), float("inf"), "", "x",
    "9" * 5_000, "\ud800", [], {}, [None], [[]], [["a", -5]], [[1, 2, 3]], {"a": 1}, ["craft 1"],
    [["oak_log", "x"]], [["oak_log", float("inf")]], [[1, 1], [1, 10**30]],
)  # fmt: skip


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    return [p for k, v in items for p in [(*path, k), *_places(v, (*path, k))]]


def _damage(state: Any, data: st.DataObject) -> Any:
    state = copy.deepcopy(state)
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(_places(state)))
        place = state
        for key in path[:-1]:
            place = place[key]
        change = data.draw(st.sampled_from(("delete", "double", "replace", "replace")))
        if change == "delete":
            del place[path[-1]]
        elif change == "double" and isinstance(place, list):
            place.append(place[path[-1]])
        else:
            place[path[-1]] = copy.deepcopy(data.draw(st.sampled_from(JUNK)))
        if not state:
            break
    return state


@pytest.mark.parametrize("name", ["TextCraft", "Maze", "Wordle", "BabyAI"])
def test_a_damaged_snapshot_is_refused_or_works(name):
    env, other = agentgym.make(name), agentgym.make(name)
    states = []
    for seed in range(3):
        env.reset(seed=seed)
        env.sample_action(env.rng)  # so that the snapshot holds the episode's generator
        for _ in range(seed):
            env.step(env.sample_action(env.rng))
        states.append(json.loads(json.dumps(env.get_state())))

    @settings(max_examples=150, deadline=None)
    @given(st.data())
    def damaged(data: st.DataObject) -> None:
        state = _damage(data.draw(st.sampled_from(states)), data)
        try:
            other.set_state(state)
        except InvalidState:
            assert other.task is None, "a refused snapshot leaves half an episode behind"
            return
        json.dumps(other.get_state(), allow_nan=False)
        other.render()
        if not (other._terminated or other._truncated):
            other.step(other.sample_action(np.random.default_rng(0)))
        other.fork().close()

    damaged()
    for nothing in (None, 5, "state", [], {}):
        with pytest.raises(InvalidState):
            other.set_state(nothing)
    env.close()
    other.close()


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_vectors_of_environments(mode):
    envs = gymnasium.make_vec("agentgym/Maze-v0", num_envs=2, vectorization_mode=mode, max_rounds=2)
    try:
        first, info = envs.reset(seed=3)
        assert [type(o) for o in first] == [str, str]
        for _ in range(4):  # past an end, into the episodes after it
            observations, *_ = envs.step(["move up", "move down"])
        assert all("position" in o for o in observations)
        assert list(info["task_id"]) == [
            agentgym.make("Maze").reset(seed=seed)[1]["task_id"] for seed in (3, 4)
        ]
    finally:
        envs.close()
