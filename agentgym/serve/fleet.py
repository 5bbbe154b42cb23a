"""All workers of a server, by environment."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from agentgym.serve.entry import Reply
from agentgym.serve.group import Group
from agentgym.serve.problem import TooSlow, WorkerFailed
from agentgym.serve.process import WorkerGone, WorkerProcess
from agentgym.serve.settings import ServeSettings

log = logging.getLogger("agentgym.serve")


class Fleet:
    """Finds workers for sessions, and ends those that are stuck.

    Args:
        settings: of the server.
        on_end: called with a worker that has ended, whatever the reason.
    """

    def __init__(self, settings: ServeSettings, on_end: Callable[[WorkerProcess], None]) -> None:
        self._settings, self._on_end = settings, on_end
        self._groups: dict[str, Group] = {}
        self._background: set[asyncio.Task[None]] = set()
        self.memory = 0  # bytes resident when last measured

    @property
    def workers(self) -> tuple[WorkerProcess, ...]:
        """All worker processes."""
        return tuple(w for group in self._groups.values() for w in group.workers)

    async def make(
        self, env_id: str, session_id: str, options: dict[str, Any]
    ) -> tuple[WorkerProcess, dict[str, Any]]:
        """Make a session; return its worker and what the worker says of it.

        Raises:
            WorkerGone: if the worker ends meanwhile.
            WorkerFailed: if none can be started.
            TooSlow: if it takes longer than it may.
            AgentGymError: what making the environment raises.
        """
        worker = await self._group(env_id).place(session_id)
        try:
            said = await self._patiently(worker, "create", session_id, options)
        except BaseException:
            worker.sessions.discard(session_id)
            raise
        return worker, said.value()

    async def ask_any(self, env_id: str, verb: str, options: dict[str, Any]) -> Reply:
        """Ask a worker of an environment something that concerns no session.

        Raises:
            WorkerFailed: if it ends meanwhile, or none can be started.
            TooSlow: if it takes longer than it may.
        """
        worker = await self._group(env_id).place()
        try:
            return await self._patiently(worker, verb, "", options)
        except WorkerGone as gone:
            raise WorkerFailed(f"{env_id} could not be made: {gone}") from gone

    def keep(self, env_id: str) -> None:
        """Keep a worker of an environment also while it has no session."""
        self._group(env_id).kept = True

    def give_up(self, worker: WorkerProcess) -> None:
        """Put no more sessions in a worker a call is stuck in; end it if it does not answer."""
        worker.retired = True
        self.later(self._end_if_stuck(worker))

    async def release(self, worker: WorkerProcess, session_id: str) -> None:
        """Have a worker close a session nobody asks for any more."""
        worker.sessions.discard(session_id)
        try:
            async with asyncio.timeout(self._settings.call_timeout):
                await worker.ask("close", session_id)
        except TimeoutError:
            self.give_up(worker)
        except WorkerGone:  # and the session with it
            pass

    def later(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something nobody waits for."""
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def sweep(self) -> None:
        """End the workers that are not needed, and measure what the others take."""
        for group in tuple(self._groups.values()):
            await group.sweep()
        self.memory = await asyncio.to_thread(_memory, self.workers)

    async def close(self) -> None:
        """End all workers."""
        await asyncio.gather(*(group.close() for group in self._groups.values()))
        for task in tuple(self._background):
            task.cancel()

    async def _patiently(
        self, worker: WorkerProcess, verb: str, session_id: str, options: dict[str, Any]
    ) -> Reply:
        """Ask what may take as long as making an environment."""
        seconds = self._settings.create_timeout
        try:
            async with asyncio.timeout(seconds):
                answer = await worker.ask(verb, session_id, options=options)
        except TimeoutError:
            self.give_up(worker)
            raise TooSlow(f"{worker.env_id} was not made within {seconds:g} s") from None
        return Reply(answer.status, answer.body)

    async def _end_if_stuck(self, worker: WorkerProcess) -> None:
        if not await worker.answers(within=5.0):
            log.warning("worker killed", extra={"pid": worker.pid, "environment": worker.env_id})
            worker.kill()

    def _group(self, env_id: str) -> Group:
        group = self._groups.get(env_id)
        if group is None:
            group = self._groups[env_id] = Group(env_id, self._settings, self._on_end)
        return group


def _memory(workers: tuple[WorkerProcess, ...]) -> int:
    return sum(worker.memory() for worker in workers)
