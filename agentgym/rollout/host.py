"""The environments of one process, and what a rollout asks of them.

A host keeps environments between episodes, since making one can be costly. Every function here
takes the host first and plain data after it, so that the same call runs in this thread, in another,
in a worker process or on another machine (see `workers`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, NamedTuple

from agentgym.core import AgentGymError, EnvNeeds, TextEnv, make
from agentgym.rollout.plan import EnvChoice
from agentgym.rollout.profile import EnvProfile

Answer = tuple[str, float, bool, bool, dict[str, Any]]


class WorkerDied(AgentGymError):
    """The process that held an episode's environment is gone; a new one takes its place."""


class EnvHost:
    """Environments by episode, and the idle ones by choice."""

    def __init__(self) -> None:
        self._idle: dict[str, list[TextEnv]] = defaultdict(list)
        self._active: dict[str, tuple[str, TextEnv]] = {}

    def take(self, episode: str, choice: EnvChoice) -> TextEnv:
        """Return an environment for an episode, an idle one if there is one."""
        identity = choice.identity
        try:
            env = self._idle[identity].pop()
        except IndexError:
            env = make(choice.env_id, **choice.make_arguments())
        self._active[episode] = (identity, env)
        return env

    def env(self, episode: str) -> TextEnv:
        """Return the environment of an episode that is being played.

        Raises:
            WorkerDied: if this host does not have it, because it replaced the one that had.
        """
        if episode not in self._active:
            raise WorkerDied("the process that held this episode's environment died")
        return self._active[episode][1]

    def give_back(self, episode: str, *, broken: bool = False) -> None:
        """End an episode; a broken environment is closed and not used again."""
        held = self._active.pop(episode, None)
        if held is None:
            return
        identity, env = held
        if broken:
            env.close()
        else:
            self._idle[identity].append(env)

    def close(self) -> None:
        """Close every environment."""
        for envs in self._idle.values():
            for env in envs:
                env.close()
        for _, env in self._active.values():
            env.close()
        self._idle.clear()
        self._active.clear()


class Description(NamedTuple):
    """What a run knows of an environment before it begins.

    Attributes:
        profile: what a conversation must know.
        blocking: whether its steps wait for another process.
        needs: what a worker process of it takes.
    """

    profile: EnvProfile
    blocking: bool
    needs: EnvNeeds


def describe(host: EnvHost, choice: EnvChoice) -> Description:
    """Return the description of an environment."""
    env = host.take("describe", choice)
    try:
        profile = EnvProfile.of(choice.env_id, env, choice.options)
        return Description(profile, env.blocking, env.needs)
    finally:
        host.give_back("describe")


def begin(
    host: EnvHost,
    episode: str,
    choice: EnvChoice,
    task_id: str,
    seed: int,
    state: Mapping[str, Any] | None = None,
) -> tuple[str, dict[str, Any]]:
    """Reset an environment for an episode, or set it to a snapshot of one."""
    env = host.take(episode, choice)
    if state is not None:
        return env.set_state(state)
    return env.reset(seed=seed, options={"task_id": task_id})


def advance(host: EnvHost, episode: str, action: str | None, message: str) -> Answer:
    """Play an action, or forfeit the round with a message where there is none."""
    env = host.env(episode)
    return env.step(action) if action is not None else env.forfeit(message)


def end(host: EnvHost, episode: str, broken: bool) -> None:
    """Give the environment of an episode back."""
    host.give_back(episode, broken=broken)
