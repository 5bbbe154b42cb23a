"""The rows of gold queries, kept within bounds so that a question is not answered anew each time.

A result is kept as a whole or not at all; the ones used longest ago make room. Nothing here is ever
shown: what an agent sees are the rows of its own query.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict

from agentgym.envs.bird.place import Place
from agentgym.envs.bird.query import Row, run

CELLS = 500_000
"""Cells kept in all; some tens of megabytes."""

_Key = tuple[str, str, int]


class GoldRows:
    """Runs gold queries and remembers their rows.

    Args:
        cells: how many cells are kept in all; a larger result is not kept.
    """

    def __init__(self, cells: int = CELLS) -> None:
        self._most, self.cells = cells, 0
        self._rows: OrderedDict[_Key, list[Row]] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, place: Place, sql: str, steps: int) -> list[Row]:
        """Return the rows of a gold query; they are not to be changed.

        Raises:
            QueryError: if it cannot be run within `steps`.
        """
        key = (place.key, sql, steps)
        with self._lock:
            if key in self._rows:
                self._rows.move_to_end(key)
                return self._rows[key]
        rows = run(place, sql, steps=steps).rows
        if _cells(rows) <= self._most:
            with self._lock:
                self._keep(key, rows)
        return rows

    def forget(self) -> None:
        """Start anew in a forked process, where nobody may be left to release the lock."""
        self._lock, self._rows, self.cells = threading.Lock(), OrderedDict(), 0

    def _keep(self, key: _Key, rows: list[Row]) -> None:
        if key in self._rows:  # another thread was quicker
            return
        self._rows[key] = rows
        self.cells += _cells(rows)
        while self.cells > self._most:
            _, dropped = self._rows.popitem(last=False)
            self.cells -= _cells(dropped)


def _cells(rows: list[Row]) -> int:
    return len(rows) * (len(rows[0]) if rows else 0) + 1


GOLD = GoldRows()
"""What every environment of this process shares."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=GOLD.forget)
