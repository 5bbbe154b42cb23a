"""Making a vector of an environment by its id.

Gymnasium asks the registered vector entry point for `num_envs` environments without saying of which
id, and an entry point should stay text, or a spec could no longer be written down as JSON. So the
name looked up in this module is the id itself: "agentgym.core.vector.entry:agentgym/Maze-v0".
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import gymnasium
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AutoresetMode

from agentgym.core.env import TextEnv
from agentgym.core.errors import InvalidConfig
from agentgym.core.options import whole
from agentgym.core.registry import make, registered, resolve_id
from agentgym.core.vector.env import TextVectorEnv


def make_vector(
    name: str,
    num_envs: int = 1,
    *,
    workers: int = 0,
    autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
    on_worker_death: str = "raise",
    worker_timeout: float | None = None,
    **kwargs: Any,
) -> TextVectorEnv:
    """Make a vector of one environment, by id or short name.

    Args:
        name: "textcraft", "agentgym/TextCraft-v0" or "my_package:MyEnv-v0".
        num_envs: how many.
        workers: see `TextVectorEnv`, as for the next three.
        autoreset_mode: what happens when an episode ends.
        on_worker_death: what happens when a worker process is lost.
        worker_timeout: seconds a call may take.
        kwargs: options of the environment itself.

    Raises:
        UnknownEnvironment: if there is no such environment.
        MissingExtra: if an optional dependency is not installed.
        InvalidConfig: if an option is not known or cannot have this value.

    >>> envs = make_vector("maze", 3)
    >>> len(envs.reset(seed=0)[0])
    3
    """
    if "max_episode_steps" in kwargs:
        raise InvalidConfig("use max_rounds to limit an episode, instead of max_episode_steps")
    env_id = resolve_id(name)
    maker = functools.partial(_make, gymnasium.spec(env_id), kwargs)
    return TextVectorEnv(
        [maker] * whole("num_envs", num_envs),
        workers=workers,
        autoreset_mode=autoreset_mode,
        on_worker_death=on_worker_death,
        worker_timeout=worker_timeout,
    )


def _make(spec: EnvSpec, kwargs: dict[str, Any]) -> TextEnv:
    # A worker process may not have imported the package that registers the environment.
    gymnasium.registry.setdefault(spec.id, spec)
    return make(spec.id, **kwargs)


def __getattr__(name: str) -> Callable[..., TextVectorEnv]:
    if registered(name):
        return functools.partial(make_vector, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
