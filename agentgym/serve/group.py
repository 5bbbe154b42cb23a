"""The workers of one environment: started when needed, replaced when they die, ended when idle.

A new session goes to the worker with the fewest; another worker is started once each has its
share, up to the limit.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from agentgym.serve.problem import WorkerFailed
from agentgym.serve.process import WorkerProcess
from agentgym.serve.settings import ServeSettings

_LIVED = 5.0  # seconds; a worker that dies younger is not replaced before it is asked for


class Group:
    """The workers of one environment.

    Args:
        env_id: the environment.
        settings: of the server.
        on_end: called with a worker that has ended, whatever the reason.
    """

    def __init__(
        self, env_id: str, settings: ServeSettings, on_end: Callable[[WorkerProcess], None]
    ) -> None:
        self.env_id, self._settings, self._on_end = env_id, settings, on_end
        self.workers: list[WorkerProcess] = []
        self.deaths = 0
        self.kept = False  # whether one stays also without a session
        self._starting = asyncio.Lock()
        self._closed = False

    async def place(self, session_id: str = "") -> WorkerProcess:
        """Return the worker for one more session, and count the session as its.

        Args:
            session_id: the session; empty for a question that concerns none.

        Raises:
            WorkerFailed: if none can be started.
        """
        if self._roomy() is None:
            async with self._starting:
                if self._roomy() is None:
                    await self._start()
        worker = self._roomy() or self._least()
        if worker is None:
            raise WorkerFailed(f"the worker process of {self.env_id} ended as soon as it began")
        if session_id:
            worker.sessions.add(session_id)
        return worker

    async def sweep(self) -> None:
        """End the workers that have had no session for long."""
        now = time.monotonic()
        for worker in tuple(self.workers):
            if worker.sessions or (worker.asked and not worker.retired):
                worker.idle_since = now
            elif worker.retired or (
                now - worker.idle_since > self._settings.worker_ttl
                and not (self.kept and len(self.workers) == 1)
            ):
                self.workers.remove(worker)
                worker.retired = True
                await worker.stop()

    async def close(self) -> None:
        """End all workers."""
        self._closed = True
        workers, self.workers = self.workers, []
        await asyncio.gather(*(worker.stop() for worker in workers))

    def _least(self) -> WorkerProcess | None:
        fit = [w for w in self.workers if w.alive and not w.retired]
        return min(fit, key=lambda w: len(w.sessions), default=None)

    def _roomy(self) -> WorkerProcess | None:
        """Return the worker to take, or None where another one should be started."""
        least = self._least()
        if least is None:
            return None
        full = len(least.sessions) >= self._settings.sessions_per_worker
        fit = sum(w.alive and not w.retired for w in self.workers)
        return None if full and fit < self._settings.max_workers else least

    async def _start(self) -> None:
        self._require_open()
        worker = WorkerProcess(self.env_id, self._ended)
        await worker.start(journalled=self._settings.resurrect)
        try:
            self._require_open()  # it may have been closed meanwhile
        except WorkerFailed:
            await worker.stop()
            raise
        self.workers.append(worker)

    def _require_open(self) -> None:
        if self._closed:
            raise WorkerFailed("the server is shutting down")

    def _ended(self, worker: WorkerProcess) -> None:
        expected = worker not in self.workers
        if not expected:
            self.workers.remove(worker)
            self.deaths += 1
        self._on_end(worker)
        if not expected and not self._closed and time.monotonic() - worker.born > _LIVED:
            self._replacing = asyncio.get_running_loop().create_task(self.place())
            self._replacing.add_done_callback(lambda task: task.cancelled() or task.exception())
