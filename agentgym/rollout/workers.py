"""Where environments run on one machine: in this thread, in others, or in worker processes.

A worker owns an `EnvHost` and runs functions on it. In-line is the fastest for environments that
answer in microseconds; a thread keeps the event loop free while an environment waits for another
process; worker processes use the other cores and contain a crash. `ray_worker` has the one that may
be on another machine, and `fleet` decides how many there are.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from agentgym.rollout.host import EnvHost, WorkerDied

T = TypeVar("T")

_MAX_THREADS = 32


class Worker(ABC):
    """Runs functions on an `EnvHost`."""

    lost: bool = False
    """Whether it died and nobody takes its place under its name."""

    @abstractmethod
    async def run(self, function: Callable[..., T], *args: Any) -> T:
        """Return `function(host, *args)`."""

    @abstractmethod
    def close(self) -> None:
        """Close the environments and release the worker; twice without harm."""


class InlineWorker(Worker):
    """Runs in the event loop's own thread."""

    def __init__(self) -> None:
        self._host = EnvHost()

    async def run(self, function: Callable[..., T], *args: Any) -> T:
        """Return `function(host, *args)`, without giving way to others."""
        return function(self._host, *args)

    def close(self) -> None:
        """Close the environments."""
        self._host.close()


class ThreadWorker(Worker):
    """Runs in a pool of threads that share one host; an episode is in one thread at a time."""

    def __init__(self, threads: int) -> None:
        self._host = EnvHost()
        self._pool = ThreadPoolExecutor(min(threads, _MAX_THREADS), "agentgym-env")

    async def run(self, function: Callable[..., T], *args: Any) -> T:
        """Return `function(host, *args)`, computed in a thread."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, lambda: function(self._host, *args))

    def close(self) -> None:
        """Wait for the calls under way, then close the environments."""
        self._pool.shutdown(wait=True)
        self._host.close()


_process_host: EnvHost | None = None


def _run_in_process(function: Callable[..., T], args: tuple[Any, ...]) -> T:
    global _process_host
    if _process_host is None:
        import agentgym.envs  # noqa: F401  (registers the environments in this process)

        _process_host = EnvHost()
    return function(_process_host, *args)


def _close_process_host() -> None:
    if _process_host is not None:
        _process_host.close()


class ProcessWorker(Worker):
    """Runs in one worker process; a process that dies is replaced."""

    def __init__(self) -> None:
        self._pool = self._start()

    async def run(self, function: Callable[..., T], *args: Any) -> T:
        """Return `function(host, *args)`, computed in the worker process.

        Raises:
            WorkerDied: if the process ended during the call, or the episode's process had ended.
        """
        pool = self._pool
        try:
            return await asyncio.wrap_future(pool.submit(_run_in_process, function, args))
        except BrokenProcessPool as error:
            if self._pool is pool:
                pool.shutdown(wait=False)
                self._pool = self._start()
            raise WorkerDied(
                "the worker process of this environment died (a script that uses "
                "executor='process' must start from `if __name__ == '__main__':`)"
            ) from error

    def close(self) -> None:
        """Close the environments and end the process."""
        with contextlib.suppress(RuntimeError, TimeoutError):  # broken or closed before
            self._pool.submit(_close_process_host).result(timeout=10)
        self._pool.shutdown(wait=True, cancel_futures=True)

    @staticmethod
    def _start() -> ProcessPoolExecutor:
        # "spawn": a fork would copy threads' locks and sockets (torch, a JVM bridge) half alive.
        return ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))
