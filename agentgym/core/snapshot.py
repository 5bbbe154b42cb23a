"""Snapshots of an episode: plain JSON values, good in any process.

A snapshot holds the task, the seed and the actions, from which any episode can be played again, and
the engine's own copy of its state where it makes one, which is quicker. A snapshot that does not
lead back to the observation it holds is refused: the environment or its data has changed since.
One that was damaged on its way is refused as well, whatever the damage: every field is checked
here, and what an engine makes of a damaged state of its own is never more than an `InvalidState`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from agentgym.core.errors import AgentGymError, InvalidState, UnknownTask

if TYPE_CHECKING:
    from agentgym.core.env import TextEnv

STATE_FORMAT = 1
_KINDS: dict[str, type | tuple[type, ...]] = {
    "task_id": str,
    "seed": int,
    "max_rounds": int,
    "history": list,
    "observation": str,
    "score": (int, float),
    "success": bool,
    "valid": bool,
    "terminated": bool,
    "truncated": bool,
}


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
        "score": float(env._score),
        "success": bool(env._success),
        "valid": bool(env._valid),
        "terminated": bool(env._terminated),
        "truncated": bool(env._truncated),
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
    with refusing(env):
        require(env, state)
        if env._own_max_rounds is None:
            env._own_max_rounds = env.max_rounds  # the next reset returns to it
        env._seed, env.max_rounds = state["seed"], state["max_rounds"]
        env._start(env.tasks.get(state["task_id"]))
        if state["engine"] is not None:
            _load(env, state)
        else:
            _replay(env, state["history"], state["observation"])
        env.np_random.bit_generator.state = state["np_random"]
        if state["rng"] is not None:
            env.rng.bit_generator.state = state["rng"]


def require(env: TextEnv, state: Mapping[str, Any]) -> None:
    """Require that a snapshot is whole and of an environment's own tasks; call it in `refusing`."""
    _require_own(env, state)
    _require_sound(state)


@contextmanager
def refusing(env: TextEnv) -> Iterator[None]:
    """Make whatever a damaged snapshot raises an `InvalidState`; the environment has no episode."""
    try:
        yield
    except AgentGymError as error:
        env.task = None
        if isinstance(error, UnknownTask):
            raise InvalidState(f"this is not a snapshot of an episode: {error}") from error
        raise
    except Exception as error:  # no list of what a damaged state can make an engine raise is whole
        env.task = None
        raise InvalidState(f"this is not a snapshot of an episode: {error!r}") from error


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


def _require_sound(state: Mapping[str, Any]) -> None:
    """Require that every field holds what `take` could have put there."""
    for key, kind in _KINDS.items():
        value = state[key]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise TypeError(f"{key} is a {type(value).__name__}")
    for action in state["history"]:
        if action is not None and not isinstance(action, str):
            raise TypeError(f"the history holds a {type(action).__name__}")
    if state["seed"] < 0 or not 0.0 <= state["score"] <= 1.0:
        raise ValueError("the seed or the score is out of range")
    if not len(state["history"]) <= state["max_rounds"]:
        raise ValueError("it holds more rounds than it allows")


def _load(env: TextEnv, state: Mapping[str, Any]) -> None:
    # The engine's state comes last: it may be held against the history and how the episode stands.
    env._history = list(state["history"])
    env._observation, env._score = state["observation"], float(state["score"])
    env._success, env._valid = state["success"], state["valid"]
    env._terminated, env._truncated = state["terminated"], state["truncated"]
    env._load(state["engine"])


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
