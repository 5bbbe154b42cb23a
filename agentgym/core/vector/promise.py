"""The promise that `gymnasium.make_vec` works on an environment, one of `core.promises`."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from agentgym.core.env import TextEnv

_SEED = 3
_ENVS = 2
_STEPS = 4

Step = tuple[str, float, bool, bool, dict[str, Any]]


def vectorised(env: TextEnv, episodes: int) -> None:
    """gymnasium.make_vec works on it: a batch plays what single environments play."""
    alone, actions = zip(*(_play(env, _SEED + i) for i in range(_ENVS)), strict=True)
    steps = min(len(played) for played in actions)
    spec = env.spec
    assert spec is not None, "it was not made by gymnasium.make"
    for mode in ["sync", *(["vector_entry_point"] if spec.vector_entry_point else [])]:
        envs = gymnasium.make_vec(spec, num_envs=_ENVS, vectorization_mode=mode)
        try:
            observations, infos = envs.reset(seed=_SEED)
            _require_same(mode, [record[0] for record in alone], observations, infos)
            for n in range(steps):
                observations, rewards, terminated, truncated, infos = envs.step(
                    [played[n] for played in actions]
                )
                expected = [record[n + 1] for record in alone]
                _require_same(mode, expected, observations, infos)
                flags = zip(rewards, terminated, truncated, strict=True)
                assert [tuple(f) for f in flags] == [step[1:4] for step in expected], (
                    f"in mode {mode!r}, rewards or ends differ from those of single environments"
                )
        finally:
            envs.close()


def _play(env: TextEnv, seed: int) -> tuple[list[Step], list[str]]:
    """Play a few random actions; return what came of them, the reset first, and the actions."""
    rng = np.random.default_rng(seed)
    observation, info = env.reset(seed=seed)
    record: list[Step] = [(observation, 0.0, False, False, info)]
    actions: list[str] = []
    while len(actions) < _STEPS and not (record[-1][2] or record[-1][3]):
        actions.append(env.sample_action(rng))
        record.append(env.step(actions[-1]))
    return record, actions


def _require_same(mode: str, expected: list[Step], observations: Any, infos: Any) -> None:
    assert list(observations) == [step[0] for step in expected], (
        f"in mode {mode!r}, observations differ from those of single environments"
    )
    for i, step in enumerate(expected):
        for key, value in step[4].items():
            if not isinstance(value, dict):
                assert key in infos, f"in mode {mode!r}, infos lack {key!r}"
                assert infos[key][i] == value, (
                    f"in mode {mode!r}, infos[{key!r}] is not that of single environments"
                )
