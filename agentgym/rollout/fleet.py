"""The workers of a run, and which of them an episode goes to.

An episode goes to the worker that plays the fewest. On one machine any worker plays any
environment; on a Ray cluster workers are of kinds and hold so many episodes each (`ray_fleet`), so
that there may be no place for an episode until another has ended.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence

from agentgym.core.errors import UnknownName
from agentgym.rollout.host import Description
from agentgym.rollout.plan import EnvChoice, Job
from agentgym.rollout.workers import InlineWorker, ProcessWorker, ThreadWorker, Worker

EXECUTORS = ("auto", "inline", "thread", "process", "ray")


class UnknownExecutor(UnknownName):
    """There is no executor of this name."""


class Fleet:
    """Workers that each play any environment, and any number of episodes.

    Args:
        workers: the workers; they are closed with the fleet.
    """

    def __init__(self, workers: Sequence[Worker] = ()) -> None:
        self._load = dict.fromkeys(workers, 0)
        self._changed = asyncio.Event()

    async def open(self) -> None:
        """Make the workers ready."""

    def take(self, choice: EnvChoice) -> Worker | None:
        """Return the worker an episode is to be played in, or None where there is no place."""
        return self._least_busy(list(self._load))

    def give_back(self, worker: Worker) -> None:
        """Say that an episode no longer needs its worker."""
        self._load[worker] -= 1
        self._tell()

    def finished(self, choice: EnvChoice) -> None:
        """Say that an episode is over for good: it will not be played again."""

    async def room(self) -> None:
        """Wait until there may be a place where there was none."""
        await self._changed.wait()

    async def close(self) -> None:
        """Close the workers."""
        for worker in self._load:
            await asyncio.to_thread(worker.close)

    def _least_busy(self, workers: Sequence[Worker]) -> Worker:
        worker = min(workers, key=self._load.__getitem__)
        self._load[worker] += 1
        return worker

    def _tell(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()  # those who wait have the old one


def make_fleet(
    executor: str,
    lanes: int,
    jobs: Sequence[Job],
    described: Mapping[str, Description],
    *,
    whole: bool = False,
) -> Fleet:
    """Return the workers of a run.

    Args:
        executor: one of `EXECUTORS`; "auto" takes threads for environments that block.
        lanes: how many episodes run at a time.
        jobs: what is to be played.
        described: what is known of the environments, by `EnvChoice.identity`.
        whole: whether the agent is in the worker too, which is then asked for whole episodes.

    Raises:
        UnknownExecutor: if there is no such executor.
        MissingExtra: if it needs a package that is not installed.
    """
    if executor == "auto":
        blocks = any(description.blocking for description in described.values())
        executor = "thread" if blocks else "inline"
    if executor == "inline":
        return Fleet([InlineWorker()])
    if executor == "thread":
        return Fleet([ThreadWorker(lanes)])
    if executor == "process":
        return Fleet([ProcessWorker() for _ in range(min(lanes, os.cpu_count() or 1))])
    if executor == "ray":
        from agentgym.rollout.ray_fleet import RayFleet

        return RayFleet(lanes, jobs, described, whole=whole)
    raise UnknownExecutor("executor", executor, EXECUTORS)
