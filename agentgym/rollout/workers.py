"""Where environments run: in this thread, in others, in worker processes, or on a Ray cluster.

A worker owns an `EnvHost` and runs functions on it. In-line is the fastest for environments that
answer in microseconds; a thread keeps the event loop free while an environment waits for another
process; worker processes use the other cores and contain a crash; Ray spreads over machines.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from agentgym.core import require
from agentgym.core.errors import UnknownName
from agentgym.rollout.host import EnvHost, WorkerDied

T = TypeVar("T")

EXECUTORS = ("auto", "inline", "thread", "process", "ray")
_MAX_THREADS = 32


class UnknownExecutor(UnknownName):
    """There is no executor of this name."""


class Worker(ABC):
    """Runs functions on an `EnvHost`."""

    crosses_process: bool = False
    """Whether arguments and results are pickled."""

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

    crosses_process = True

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


class RayWorker(Worker):
    """Runs in a Ray actor, on whatever machine Ray places it."""

    crosses_process = True

    def __init__(self) -> None:
        self._ray: Any = require("ray", "The ray executor", "ray")
        if not self._ray.is_initialized():
            self._ray.init(log_to_driver=False)
        self._actor = self._ray.remote(num_cpus=1)(_RayHost).remote()

    async def run(self, function: Callable[..., T], *args: Any) -> T:
        """Return `function(host, *args)`, computed in the actor."""
        try:
            result: T = await self._actor.run.remote(function, args)
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause if isinstance(error.cause, Exception) else error from None
        except self._ray.exceptions.RayActorError as error:
            self._actor = self._ray.remote(num_cpus=1)(_RayHost).remote()
            raise WorkerDied("the Ray actor of this environment died") from error
        return result

    def close(self) -> None:
        """End the actor, and its environments with it."""
        self._ray.kill(self._actor)


class _RayHost:
    def __init__(self) -> None:
        import agentgym.envs  # noqa: F401  (registers the environments in this process)

        self._host = EnvHost()

    def run(self, function: Callable[..., T], args: tuple[Any, ...]) -> T:
        return function(self._host, *args)


def make_workers(executor: str, concurrency: int, *, blocking: bool) -> list[Worker]:
    """Return the workers of a run.

    Args:
        executor: one of `EXECUTORS`; "auto" takes threads for environments that block.
        concurrency: how many episodes run at a time.
        blocking: whether any of the environments blocks.

    Raises:
        UnknownExecutor: if there is no such executor.
        MissingExtra: if it needs a package that is not installed.
    """
    if executor not in EXECUTORS:
        raise UnknownExecutor("executor", executor, EXECUTORS)
    if executor == "auto":
        executor = "thread" if blocking else "inline"
    if executor == "inline":
        return [InlineWorker()]
    if executor == "thread":
        return [ThreadWorker(concurrency)]
    count = max(1, min(concurrency, os.cpu_count() or 1))
    return [ProcessWorker() if executor == "process" else RayWorker() for _ in range(count)]
