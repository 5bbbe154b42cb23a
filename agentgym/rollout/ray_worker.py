"""A worker that is an actor of a Ray cluster, on whatever machine Ray placed it.

An actor that is gone stays gone: its worker says so to everyone who still asks, and the fleet
starts another. Ray's own restarts are not used, because an actor that comes back has none of the
environments its episodes are played in, and only the engine knows how to play them again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, TypeVar

from agentgym.core import require
from agentgym.rollout.host import EnvHost, WorkerDied
from agentgym.rollout.workers import Worker

T = TypeVar("T")

_GRACE = 10.0
"""Seconds an actor has to close its environments."""


class RayHost:
    """What runs in the actor: the host, made when it is first asked for something."""

    def __init__(self) -> None:
        import agentgym.envs  # noqa: F401  (registers the environments in this process)

        self._host = EnvHost()

    def ready(self) -> None:
        """Answer, which shows that the actor has begun."""

    def run(self, function: Callable[..., T], args: tuple[Any, ...]) -> T:
        """Return `function(host, *args)`."""
        return function(self._host, *args)

    def close(self) -> None:
        """Close the environments."""
        self._host.close()


class RayWorker(Worker):
    """Runs in a Ray actor.

    Args:
        actor: the handle of a `RayHost` that has begun.
    """

    def __init__(self, actor: Any) -> None:
        self._ray: Any = require("ray", "The ray executor", "ray")
        self._actor = actor
        self.lost = False

    async def run(self, function: Callable[..., T], *args: Any) -> T:
        """Return `function(host, *args)`, computed in the actor.

        Raises:
            WorkerDied: if the actor, its process or its machine is gone.
        """
        if self.lost:
            raise WorkerDied("the Ray actor of this environment died")
        errors = self._ray.exceptions
        try:
            result: T = await self._actor.run.remote(function, args)
        except errors.RayTaskError as error:
            raise error.cause if isinstance(error.cause, Exception) else error from None
        except (
            errors.RayActorError,
            errors.OutOfMemoryError,
            errors.NodeDiedError,
            errors.ObjectLostError,
        ) as error:
            self._leave()
            raise WorkerDied(f"the Ray actor of this environment died: {error}") from error
        return result

    def close(self) -> None:
        """Close the environments and end the actor; twice without harm."""
        if not self.lost:
            with contextlib.suppress(self._ray.exceptions.RayError):
                self._ray.get(self._actor.close.remote(), timeout=_GRACE)
            self._leave()

    def _leave(self) -> None:
        """Give the actor up; one that only could not be reached must not live on unseen."""
        self.lost = True
        with contextlib.suppress(Exception):
            self._ray.kill(self._actor)
