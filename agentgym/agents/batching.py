"""Dynamic batching: many callers, one worker that answers several at once.

Episodes ask one at a time, a model in this process answers many for little more than the price of
one. A worker thread takes whatever is waiting, up to a bound, after a short wait for more to come;
callers in any event loop await their own answer. The event loop is never blocked.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from agentgym.agents.base import ModelError

Q = TypeVar("Q")
A = TypeVar("A")


class Batcher(Generic[Q, A]):
    """Collects requests into batches for a function that answers a batch.

    Args:
        answer: takes a batch and returns one answer, or one exception, for each request in it; an
            exception it raises goes to every request of the batch.
        max_batch: most requests in a batch.
        max_wait: seconds to wait for more once one is there.
        name: the worker thread's name.
    """

    def __init__(
        self,
        answer: Callable[[Sequence[Q]], Sequence[A | Exception]],
        *,
        max_batch: int,
        max_wait: float = 0.01,
        name: str = "agentgym-batcher",
    ) -> None:
        self._answer, self._max_batch, self._max_wait = answer, max_batch, max_wait
        self._waiting: deque[tuple[Q, asyncio.AbstractEventLoop, asyncio.Future[A]]] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._thread: threading.Thread | None = None
        self._name = name

    async def submit(self, request: Q) -> A:
        """Return the answer to a request.

        Raises:
            ModelError: if the batcher is closed before the request is answered.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[A] = loop.create_future()
        with self._changed:
            if self._closed:
                raise ModelError("the agent is closed.")
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                self._thread.start()
            self._waiting.append((request, loop, future))
            self._changed.notify()
        return await future

    def close(self) -> None:
        """Let the running batch finish, refuse what waits, and end the worker."""
        with self._changed:
            self._closed = True
            waiting = list(self._waiting)
            self._waiting.clear()
            self._changed.notify()
        for _, loop, future in waiting:
            _settle(loop, future, ModelError("the agent was closed."))
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def _work(self) -> None:
        while batch := self._take():
            requests = [request for request, _, _ in batch]
            answers: Sequence[A | Exception]
            try:
                answers = self._answer(requests)
            except Exception as error:  # what went wrong belongs to the callers, not to the thread
                answers = [error] * len(batch)
            for (_, loop, future), answer in zip(batch, answers, strict=True):
                _settle(loop, future, answer)

    def _take(self) -> list[tuple[Q, asyncio.AbstractEventLoop, asyncio.Future[A]]]:
        """Wait for requests and return a batch; an empty one when closed."""
        with self._changed:
            while True:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                end = time.monotonic() + self._max_wait
                while len(self._waiting) < self._max_batch and not self._closed:
                    left = end - time.monotonic()
                    if left <= 0 or not self._changed.wait(left):
                        break
                if self._closed:
                    return []
                batch: list[tuple[Q, asyncio.AbstractEventLoop, asyncio.Future[A]]] = []
                while self._waiting and len(batch) < self._max_batch:
                    entry = self._waiting.popleft()
                    if not entry[2].done():  # a cancelled caller is not worked for
                        batch.append(entry)
                if batch:
                    return batch


def _settle(
    loop: asyncio.AbstractEventLoop, future: asyncio.Future[A], answer: A | Exception
) -> None:
    def settle() -> None:
        if future.done():
            return
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)

    with contextlib.suppress(RuntimeError):  # the loop is closed: nobody is waiting any more
        loop.call_soon_threadsafe(settle)
