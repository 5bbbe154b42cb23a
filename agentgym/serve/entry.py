"""What a session answers, and what the front knows of one."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from agentgym.serve.journal import Journal
from agentgym.serve.problem import Problem
from agentgym.serve.process import WorkerProcess
from agentgym.serve.wire import decode


@dataclass(frozen=True, slots=True)
class Reply:
    """What a session answered: an HTTP status and JSON; the number of its last call that acted."""

    status: int
    body: bytes
    seq: int | None = None

    @classmethod
    def of(cls, error: BaseException) -> Reply:
        """Return an error as an answer."""
        problem = Problem.of(error)
        return cls(problem.status, problem.to_json())

    @property
    def ok(self) -> bool:
        """Whether it is an answer and not an error."""
        return self.status == 200

    def value(self) -> Any:
        """Return what the JSON says.

        Raises:
            AgentGymError: if it is an error: that one, or the nearest class known here.
        """
        value = decode(self.body)
        if self.status != 200:
            raise Problem.from_json(value, self.status).error()
        return value


@dataclass(slots=True, eq=False)
class Entry:
    """What the store knows of a session.

    Attributes:
        id: its name, not to be guessed.
        env_id: its environment.
        options: what the environment was made with.
        about: what the worker said of it when it was made.
        owner: the router that made it, so that none reaches another's.
        worker: where it is.
        used: when it was last used, on the monotonic clock.
        busy: calls under way.
        asked: the time limits of those that its worker has been asked.
        journal: what is needed to play it again, where that is wanted.
        deaths: workers that died one after the other while they had a call of it.
        reviving: the task that is playing it again.
    """

    id: str
    env_id: str
    options: dict[str, Any]
    owner: str
    worker: WorkerProcess
    about: dict[str, Any] = field(default_factory=dict)
    used: float = 0.0
    busy: int = 0
    asked: list[asyncio.Timeout] = field(default_factory=list)
    journal: Journal | None = None
    deaths: int = 0
    reviving: asyncio.Task[None] | None = None
