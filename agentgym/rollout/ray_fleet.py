"""Workers on a Ray cluster, of as many kinds as the environments differ in what they need.

Environments with equal needs share workers; a simulator with a Java goes to workers on machines
that have one. The run begins when there is a worker of each kind; more join as Ray finds room for
them, one an episode at most and no more than the machines can hold. A worker that dies is replaced,
and a kind that has nothing left to play gives its place back.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Coroutine, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentgym.core import EnvNeeds
from agentgym.rollout.fleet import Fleet
from agentgym.rollout.host import Description
from agentgym.rollout.plan import EnvChoice, Job
from agentgym.rollout.ray_cluster import MOST_THREADS, ClusterError, RayCluster
from agentgym.rollout.workers import Worker


@dataclass
class _Kind:
    """Workers of equal needs.

    Attributes:
        needs: what each needs.
        threads: how many episodes may be acting in one at a time.
        places: how many episodes one is given at a time.
        left: episodes still to be played.
        workers: those that can be given episodes.
        hiring: those that are being started.
        trouble: why the last one could not be.
    """

    needs: EnvNeeds
    threads: int
    places: int
    left: int = 0
    workers: list[Worker] = field(default_factory=list)
    hiring: int = 0
    trouble: ClusterError | None = None


class RayFleet(Fleet):
    """The workers of a run on a Ray cluster.

    Args:
        lanes: how many episodes run at a time.
        jobs: what is to be played.
        described: what is known of the environments, by `EnvChoice.identity`.
        whole: whether a worker is asked for whole episodes. It then gets no more than it can play
            at a time: one that waited its turn would die with the one before it.
    """

    def __init__(
        self,
        lanes: int,
        jobs: Sequence[Job],
        described: Mapping[str, Description],
        *,
        whole: bool = False,
    ) -> None:
        super().__init__()
        self._lanes = lanes
        kinds: dict[Hashable, _Kind] = {}
        self._kinds: dict[str, _Kind] = {}
        for identity, (_, blocking, needs) in described.items():
            key = (tuple(sorted(needs.amounts.items())), needs.sessions, blocking)
            threads = min(needs.sessions, MOST_THREADS) if blocking else 1
            places = threads if whole else needs.sessions
            self._kinds[identity] = kinds.setdefault(key, _Kind(needs, threads, places))
        for identity, count in Counter(job.env.identity for job in jobs).items():
            self._kinds[identity].left += count
        self._all = list(kinds.values())
        self._tasks: set[asyncio.Task[None]] = set()
        self._cluster = RayCluster([kind.needs for kind in self._all])

    async def open(self) -> None:
        """Start a worker of each kind, then let the others join when they can.

        Raises:
            ClusterError: if there is a kind the cluster cannot hold.
        """
        for kind in self._all:
            self._hire_soon(kind)
        await asyncio.gather(*self._tasks)
        for kind in self._all:
            if kind.trouble:
                raise kind.trouble
        for kind in self._all:
            wanted = min(self._lanes, kind.left, self._cluster.holds(kind.needs))
            for _ in range(wanted - 1):
                self._hire_soon(kind)

    def take(self, choice: EnvChoice) -> Worker | None:
        """Return the least busy worker of the right kind, or None where all are full."""
        kind = self._kinds[choice.identity]
        free = [w for w in kind.workers if not w.lost and self._load[w] < kind.places]
        return self._least_busy(free) if free else None

    def give_back(self, worker: Worker) -> None:
        """Say that an episode no longer needs its worker; one that died is replaced."""
        super().give_back(worker)
        if worker.lost:
            for kind in self._all:
                if worker in kind.workers:
                    kind.workers.remove(worker)
                    self._hire_soon(kind)

    def finished(self, choice: EnvChoice) -> None:
        """Count an episode; with the last of a kind its workers go."""
        kind = self._kinds[choice.identity]
        kind.left -= 1
        if kind.left == 0:
            leaving, kind.workers = kind.workers, []
            for worker in leaving:
                self._spawn(asyncio.to_thread(worker.close))

    async def room(self) -> None:
        """Wait until there may be a place.

        Raises:
            ClusterError: if a kind that is needed has no worker and cannot get one.
        """
        for kind in self._all:
            if kind.left and kind.trouble and not kind.workers and not kind.hiring:
                raise kind.trouble
        await super().room()

    async def close(self) -> None:
        """Stop hiring, and close the workers."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        closing = (asyncio.to_thread(w.close) for w in self._load if not w.lost)
        await asyncio.gather(*closing, return_exceptions=True)

    def _hire_soon(self, kind: _Kind) -> None:
        if kind.left > 0:
            kind.hiring, kind.trouble = kind.hiring + 1, None
            self._spawn(self._hire(kind))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _hire(self, kind: _Kind) -> None:
        """Start a worker; where that fails, `room` says so if there is no other."""
        try:
            worker = await self._cluster.start(kind.needs, threads=kind.threads)
            self._load[worker] = 0
            if kind.left > 0:
                kind.workers.append(worker)
            else:
                await asyncio.to_thread(worker.close)
        except ClusterError as error:
            kind.trouble = error
        finally:
            kind.hiring -= 1
            self._tell()
