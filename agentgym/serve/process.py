"""A worker process as the front sees it: start it, ask it, learn that it has ended.

Workers are forked from a server process that has imported what they need and nothing else, so that
one is up within a tenth of a second and no thread or socket of the front is copied half alive.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from typing import Any

import psutil

from agentgym.core.errors import AgentGymError
from agentgym.serve.problem import WorkerFailed
from agentgym.serve.wire import HEAD, Answer, Call, pack, unpack
from agentgym.serve.worker import work

_hiding = threading.Lock()

Then = Callable[[Answer], None]


class WorkerGone(AgentGymError):
    """The worker ended before it answered."""


class WorkerProcess:
    """A running worker.

    Attributes:
        env_id: the environment it makes.
        sessions: the ids of the sessions it holds.
        retired: whether it gets no more sessions.
        born: when it was started, on the monotonic clock.
    """

    def __init__(self, env_id: str, on_end: Callable[[WorkerProcess], None]) -> None:
        self.env_id = env_id
        self.sessions: set[str] = set()
        self.retired = False
        self.born = self.idle_since = time.monotonic()
        self.ended: str | None = None
        self._on_end = on_end
        self._process: BaseProcess | None = None
        self._link = _Link(self._lost)

    async def start(self, *, journalled: bool) -> None:
        """Start the process.

        Raises:
            WorkerFailed: if that fails.
        """
        ours, theirs = socket.socketpair()
        try:
            ours.setblocking(False)
            target = _context().Process(
                target=work, args=(theirs, self.env_id, journalled), daemon=True
            )
            await asyncio.to_thread(_start, target)
            self._process = target
            loop = asyncio.get_running_loop()
            await loop.create_connection(lambda: self._link, sock=ours)
        except Exception as error:
            ours.close()
            raise WorkerFailed(f"a worker process cannot be started: {error}") from error
        finally:
            theirs.close()

    @property
    def pid(self) -> int:
        """The id of the process; 0 before it has started."""
        return (self._process.pid or 0) if self._process else 0

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return self.ended is None

    def ask(
        self, verb: str, session: str = "", then: Then | None = None, **args: Any
    ) -> asyncio.Future[Answer]:
        """Send a call and return the future of its answer.

        Args:
            verb: what to do.
            session: with which session.
            then: called with the answer when it comes, also where nobody waits for it any more.
            args: plain values.

        Raises:
            WorkerGone: (from the future) if the worker ends before it answers.
        """
        return self._link.ask(verb, session, args, then)

    async def answers(self, within: float) -> bool:
        """Return whether it answers at all."""
        try:
            async with asyncio.timeout(within):
                await self.ask("ping")
            return True
        except (TimeoutError, WorkerGone):
            return False

    def memory(self) -> int:
        """Return the bytes it and its children have resident."""
        try:
            process = psutil.Process(self.pid)
            family = (process, *process.children(recursive=True))
            return sum(_resident(member) for member in family)
        except psutil.Error:
            return 0

    async def stop(self, within: float = 6.0) -> None:
        """Let it close its sessions and end; it is killed where it does not."""
        self._link.close()
        process = self._process
        if process is None:
            return
        await asyncio.to_thread(process.join, within)
        self.kill()
        await asyncio.to_thread(process.join, within)

    def kill(self) -> None:
        """End it at once, and what it has started."""
        with contextlib.suppress(psutil.Error):
            for child in psutil.Process(self.pid).children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    child.kill()
        if self._process is not None and self._process.is_alive():
            self._process.kill()

    def _lost(self) -> None:
        asyncio.get_running_loop().create_task(self._learn_why())

    async def _learn_why(self) -> None:
        process = self._process
        if process is not None:
            await asyncio.to_thread(process.join, 5.0)
        self.ended = _why(process.exitcode if process else None)
        self._link.fail(WorkerGone(self.ended))
        self._on_end(self)


class _Link(asyncio.Protocol):
    """The front's end of the socket pair."""

    def __init__(self, on_lost: Callable[[], None]) -> None:
        self._on_lost = on_lost
        self._transport: asyncio.Transport | None = None
        self._buffer = bytearray()
        self._waiting: dict[int, tuple[asyncio.Future[Answer], Then | None]] = {}
        self._number = 0

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._on_lost()

    def ask(
        self, verb: str, session: str, args: dict[str, Any], then: Then | None
    ) -> asyncio.Future[Answer]:
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        if self._transport is None:
            future.set_exception(WorkerGone("the worker has ended"))
            return future
        self._number += 1
        self._waiting[self._number] = (future, then)
        self._transport.write(pack(Call(self._number, verb, session, args)))
        return future

    def data_received(self, data: bytes) -> None:
        buffer = self._buffer
        buffer += data
        start, size = 0, HEAD.size
        while len(buffer) - start >= size:
            (length,) = HEAD.unpack_from(buffer, start)
            end = start + size + length
            if len(buffer) < end:
                break
            self._arrived(Answer(*unpack(bytes(buffer[start + size : end]))))
            start = end
        del buffer[:start]

    def _arrived(self, answer: Answer) -> None:
        future, then = self._waiting.pop(answer.number)
        if then is not None:
            then(answer)
        if not future.done():
            future.set_result(answer)

    def fail(self, error: WorkerGone) -> None:
        waiting, self._waiting = self._waiting, {}
        for future, _ in waiting.values():
            if not future.done():
                future.set_exception(error)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


def _context() -> Any:
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    if "forkserver" in methods:
        context.set_forkserver_preload(["agentgym.envs", "agentgym.serve.worker"])
    return context


def _start(process: BaseProcess) -> None:
    """Start a worker that does not run this process's main script again.

    multiprocessing would: a command's costs each worker the command line's imports, and one that
    starts a server unguarded would start it once more. A worker needs nothing of either.
    """
    main = vars(sys.modules["__main__"])
    with _hiding:
        hidden: dict[str, Any] = {
            name: main[name] for name in ("__file__", "__spec__") if name in main
        }
        main.update(dict.fromkeys(hidden))
        try:
            process.start()
        finally:
            main.update(hidden)


def _resident(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0


def _why(code: int | None) -> str:
    if code is None:
        return "its process no longer answers"
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"its process was ended by {signal.Signals(-code).name}"
    return f"its process ended with exit code {code}"
