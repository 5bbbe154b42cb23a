"""Who may use which of a few slots: an episode keeps its slot until it ends.

An engine with few slots and many episodes reads every conversation again and again if each turn
takes whatever slot is free. Here an episode holds the slot of its first call, the others wait, and
so every turn finds its conversation where it left it. An episode that has not called for a while
loses its claim when somebody waits, so one that is never released blocks nobody for long.
"""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

PATIENCE = 10.0
"""Seconds after which an idle episode's slot may go to one that waits."""


class Slots:
    """Hands out slots 0 to count - 1.

    Args:
        count: how many there are.
        patience: seconds an idle episode keeps its slot from those who wait.
    """

    def __init__(self, count: int, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._free = deque(range(count))
        self._held: OrderedDict[str, int] = OrderedDict()  # the longest idle first
        self._used: dict[str, float] = {}  # when an idle holder last used its slot
        self._waiting: deque[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = deque()
        self._lock = threading.Lock()
        self._once = itertools.count()

    @asynccontextmanager
    async def use(self, episode: str) -> AsyncIterator[int]:
        """Wait for an episode's slot and use it; an episode without a name holds nothing after."""
        holder = episode or f"\0{next(self._once)}"
        loop = asyncio.get_running_loop()
        while (slot := self._take(holder)) is None:
            called = asyncio.Event()
            with self._lock:
                self._waiting.append((loop, called))
            try:
                await asyncio.wait_for(called.wait(), self._patience / 4)
            except TimeoutError:
                continue
            finally:
                with self._lock:
                    if (loop, called) in self._waiting:
                        self._waiting.remove((loop, called))
        try:
            yield slot
        finally:
            with self._lock:
                if holder in self._held:
                    self._used[holder] = time.monotonic()
            if not episode:
                self.release(holder)

    def release(self, episode: str) -> None:
        """Give an episode's slot to who waits."""
        with self._lock:
            slot = self._held.pop(episode, None)
            self._used.pop(episode, None)
            if slot is None:
                return
            self._free.append(slot)
            waiting = list(self._waiting)
        for loop, called in waiting:
            if not loop.is_closed():
                loop.call_soon_threadsafe(called.set)

    def _take(self, holder: str) -> int | None:
        """Return a slot, now in use, or None if all are held by others."""
        with self._lock:
            if holder not in self._held:
                if not self._free:
                    self._lapse()
                if not self._free:
                    return None
                self._held[holder] = self._free.popleft()
            self._used.pop(holder, None)
            self._held.move_to_end(holder)
            return self._held[holder]

    def _lapse(self) -> None:
        """Free the slot of the holder that has been idle longest, if it was idle too long."""
        for holder in self._held:
            since = self._used.get(holder)
            if since is not None and time.monotonic() - since > self._patience:
                self._free.append(self._held.pop(holder))
                self._used.pop(holder)
                return
