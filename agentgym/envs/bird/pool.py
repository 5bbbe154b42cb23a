"""Connections, lent for one query at a time.

An environment holds no connection: it borrows one, asks, and gives it back, so nothing can leak and
`close()` has nothing to close. Idle connections are kept for a few databases and the least recently
used are closed. A connection is used by one thread at a time, and never by a process that was
forked from the one that opened it.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import weakref
from collections import OrderedDict
from collections.abc import Iterator

from agentgym.envs.bird.place import Place
from agentgym.envs.bird.sandbox import Guard, open_guarded

KEPT = 24
"""Idle connections kept in a process."""

Lent = tuple[sqlite3.Connection, Guard]

_pools: weakref.WeakSet[Pool] = weakref.WeakSet()


class Pool:
    """Guarded connections to any number of databases.

    Args:
        kept: how many idle connections are kept.
    """

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._lock = threading.Lock()
        self._idle: OrderedDict[str, list[Lent]] = OrderedDict()
        self._inherited: list[OrderedDict[str, list[Lent]]] = []
        _pools.add(self)
        self.opened = 0
        self.closed = 0

    @contextlib.contextmanager
    def lend(self, place: Place) -> Iterator[Lent]:
        """Lend a connection; it comes back when the block ends, however it ends.

        Raises:
            sqlite3.Error: if the database cannot be opened.
        """
        lent = self._take(place.key) or self._open(place)
        try:
            yield lent
        finally:
            self._put(place.key, lent)

    @property
    def idle(self) -> int:
        """Connections open and lent to nobody."""
        return sum(map(len, self._idle.values()))

    def clear(self) -> None:
        """Close every idle connection."""
        with self._lock:
            held = [lent for lents in self._idle.values() for lent in lents]
            self._idle.clear()
        for connection, _ in held:
            self._close(connection)

    def _open(self, place: Place) -> Lent:
        lent = open_guarded(place)
        with self._lock:
            self.opened += 1
        return lent

    def forget(self) -> None:
        """Start anew in a forked process."""
        # The parent's connections stay the parent's: not used, and kept so that they are not closed
        # either. A thread of the parent's may have held the lock, and is not here to release it.
        self._inherited.append(self._idle)
        self._lock, self._idle = threading.Lock(), OrderedDict()

    def _take(self, key: str) -> Lent | None:
        with self._lock:
            lents = self._idle.get(key)
            return lents.pop() if lents else None

    def _put(self, key: str, lent: Lent) -> None:
        with self._lock:
            self._idle.setdefault(key, []).append(lent)
            self._idle.move_to_end(key)
            dropped = self._oldest() if self.idle > self._kept else None
        if dropped:
            self._close(dropped[0])

    def _oldest(self) -> Lent | None:
        for key in list(self._idle):
            if self._idle[key]:
                return self._idle[key].pop(0)
            del self._idle[key]
        return None

    def _close(self, connection: sqlite3.Connection) -> None:
        connection.close()
        with self._lock:
            self.closed += 1


def _forget_all() -> None:
    for pool in list(_pools):
        pool.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)

POOL = Pool()
"""The pool every environment of this process borrows from."""
