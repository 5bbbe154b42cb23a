"""Threads for calls: few while calls are quick, more while some are slow.

A thread a call would do, were it not that hundreds of threads that want the interpreter at once
hold each other up. So a few take the calls in order, and another is started whenever calls are
waiting and none has been taken for some milliseconds, because all that there are wait for
something.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any

_PATIENCE = 0.005  # seconds calls may wait before another thread is started
_IDLE = 30.0  # seconds an additional thread waits for another call


class Lanes:
    """Runs functions in threads.

    Args:
        few: threads that are always there.
        most: threads there may be.
    """

    def __init__(self, few: int, most: int) -> None:
        self._few, self._most = few, most
        self._work: SimpleQueue[tuple[Callable[..., None], tuple[Any, ...]]] = SimpleQueue()
        self._taken = 0  # not exact; it only has to change when a call is taken
        self._count = 0
        self._lock = threading.Lock()
        self._backlog = threading.Event()
        for _ in range(few):
            self._start()
        threading.Thread(target=self._watch, name="lanes", daemon=True).start()

    @property
    def threads(self) -> int:
        """How many there are now."""
        return self._count

    def submit(self, function: Callable[..., None], *args: Any) -> None:
        """Have a function called; it must not raise."""
        self._work.put((function, args))
        if not self._backlog.is_set():
            self._backlog.set()

    def _start(self) -> None:
        with self._lock:
            if self._count >= self._most:
                return
            self._count += 1
        try:
            threading.Thread(target=self._run, name="lane", daemon=True).start()
        except RuntimeError:  # the system has no more; calls wait for those there are
            with self._lock:
                self._count -= 1

    def _run(self) -> None:
        while True:
            try:
                function, args = self._work.get(timeout=_IDLE)
            except Empty:
                with self._lock:
                    if self._count > self._few:
                        self._count -= 1
                        return
                continue
            self._taken += 1
            function(*args)
            del function, args  # or what they hold lives on until the next call

    def _watch(self) -> None:
        while True:
            self._backlog.wait()
            before = self._taken
            time.sleep(_PATIENCE)
            self._backlog.clear()
            if self._work.empty():
                continue
            self._backlog.set()
            if self._taken == before:
                self._start()
