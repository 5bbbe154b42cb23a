"""Snapshots of an episode: plain JSON values, good in any process.

A snapshot holds the task, the seed and the actions, from which any episode can be played again, and
the engine's own copy of its state where it makes one, which is quicker. A snapshot that does not
lead back to the observation it holds is refused: the environment or its data has changed since.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agentgym.core.errors import InvalidState, UnknownTask

if TYPE_CHECKING:
    from agentgym.core.env import TextEnv

STATE_FORMAT = 1
_DAMAGE = (KeyError, TypeError, ValueError, IndexError, AttributeError, UnknownTask)


def take(env: TextEnv) -> dict[str, Any]:
    """Return a snapshot of the episode an environment is in."""
    assert env.task is not None
    return {
        "format": STATE_FORMAT,
        "env": env.name,
        "tasks": env.tasks.digest,
        "task_id": env.task.id,
        "seed": env._seed,
        "max_rounds": env.max_rounds,
        "history": list(env._history),
        "observation": env._observation,
        "score": env._score,
        "success": env._success,
        "valid": env._valid,
        "terminated": env._terminated,
        "truncated": env._truncated,
        "np_random": env.np_random.bit_generator.state,
        "rng": env._rng.bit_generator.state if env._rng else None,
        "engine": env._save(),
    }


def restore(env: TextEnv, state: Mapping[str, Any]) -> None:
    """Bring an environment to the moment of a snapshot.

    Raises:
        InvalidState: if the snapshot is damaged, of other tasks, or does not lead back to its
            observation; the environment then needs a reset.
    """
    try:
        _require_own(env, state)
        env._seed, env.max_rounds = int(state["seed"]), int(state["max_rounds"])
        env._start(env.tasks.get(state["task_id"]))
        if state["engine"] is not None:
            _load(env, state)
        else:
            _replay(env, list(state["history"]), str(state["observation"]))
        env.np_random.bit_generator.state = state["np_random"]
        if state["rng"] is not None:
            env.rng.bit_generator.state = state["rng"]
    except _DAMAGE as error:
        env.task = None
        raise InvalidState(f"this is not a snapshot of an episode: {error!r}") from error
    except InvalidState:
        env.task = None
        raise


def _require_own(env: TextEnv, state: Mapping[str, Any]) -> None:
    if state["format"] != STATE_FORMAT or state["env"] != env.name:
        raise InvalidState(
            f"this is a snapshot of {state['env']!r} in format {state['format']}, which "
            f"{env.name} (format {STATE_FORMAT}) cannot take"
        )
    if state["tasks"] != env.tasks.digest:
        raise InvalidState(
            f"this snapshot was taken with other tasks than the {env.edition} edition of "
            f"{env.name}, version {env.tasks.version}"
        )


def _load(env: TextEnv, state: Mapping[str, Any]) -> None:
    env._load(state["engine"])
    env._history = list(state["history"])
    env._observation, env._score = str(state["observation"]), float(state["score"])
    env._success, env._valid = bool(state["success"]), bool(state["valid"])
    env._terminated, env._truncated = bool(state["terminated"]), bool(state["truncated"])


def _replay(env: TextEnv, history: list[str | None], observation: str) -> None:
    for i, action in enumerate(history):
        if action is not None:
            env.step(action)
        else:  # only the last message can still be read
            env.forfeit(observation if i == len(history) - 1 else "")
    if env._observation != observation:
        raise InvalidState(
            f"replaying {len(history)} actions of {env.name} led to another observation than the "
            "snapshot holds: the environment or its data has changed since"
        )
