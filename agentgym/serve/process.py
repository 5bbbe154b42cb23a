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

_DYING = 5.0  # seconds a fork server that broke off has to end
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
        self._handle: psutil.Process | None = None
        self._link = _Link(self._lost)

    async def start(self, *, journalled: bool) -> None:
        """Start the process.

        Raises:
            WorkerFailed: if that fails.
        """
        try:
            ours, theirs = socket.socketpair()
        except OSError as error:  # too many open files
            raise WorkerFailed(f"a worker process cannot be started: {error}") from error
        try:
            ours.setblocking(False)
            self._process = await _started(work, theirs, self.env_id, journalled)
            loop = asyncio.get_running_loop()
            await loop.create_connection(lambda: self._link, sock=ours)
        except Exception as error:
            ours.close()
            raise WorkerFailed(f"a worker process cannot be started: {error}") from error
        finally:
            theirs.close()
        with contextlib.suppress(psutil.Error):
            self._handle = psutil.Process(self.pid)

    @property
    def pid(self) -> int:
        """The id of the process; 0 before it has started."""
        return (self._process.pid or 0) if self._process else 0

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return self.ended is None

    @property
    def asked(self) -> bool:
        """Whether it has yet to answer something."""
        return self._link.waiting

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
        return sum(_resident(member) for member in self._family())

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
        # Not multiprocessing's kill, which takes a worker for dead once its fork server is.
        for member in self._family():
            with contextlib.suppress(psutil.Error):
                member.kill()

    def _family(self) -> list[psutil.Process]:
        """Return the process and all it has started, as far as it is still there."""
        if self._handle is None:
            return []
        try:
            return [*self._handle.children(recursive=True), self._handle]
        except psutil.Error:
            return []

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
        self._failed: WorkerGone | None = None

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._on_lost()

    def ask(
        self, verb: str, session: str, args: dict[str, Any], then: Then | None
    ) -> asyncio.Future[Answer]:
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        if self._failed is not None:
            future.set_exception(self._failed)
            return future
        self._number += 1
        self._waiting[self._number] = (future, then)
        if self._transport is None:  # it has ended; it is soon known how
            return future
        self._transport.write(pack(Call(self._number, verb, session, args)))
        return future

    @property
    def waiting(self) -> bool:
        return bool(self._waiting)

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
        self._failed = error
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


async def _started(work: Callable[..., None], *args: Any) -> BaseProcess:
    """Return a process that has been started.

    A fork server that is just dying, as it does of a connection that breaks, is replaced once it is
    dead, so it is asked again until then.
    """
    until = time.monotonic() + _DYING
    while True:
        process: BaseProcess = _context().Process(target=work, args=args, daemon=True)
        try:
            await asyncio.to_thread(_start, process)
            return process
        except (ConnectionError, EOFError):
            if time.monotonic() > until:
                raise
            await asyncio.sleep(0.1)


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
