"""Python's own shuffle and sample, kept as they were when the goals were published.

The published order of goals is what `random.seed(233); random.shuffle(goals)` makes of them. Python
promises the stream of a seeded generator for ever, but not what `shuffle` and `sample` draw from
it; so these two are written down here, on a generator of their own, and never touch the global one.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")

SEED = 233
"""The published seed."""


class Published:
    """A stream of the published draws, from the published seed.

    >>> Published().shuffled(range(6)), Published().pair((10, 20, 30, 40))
    ([2, 0, 3, 4, 1, 5], (20, 30))
    """

    def __init__(self) -> None:
        self._bits = Random(SEED).getrandbits

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return the items in the order `random.shuffle` would give them."""
        mixed = list(items)
        for i in range(len(mixed) - 1, 0, -1):
            j = self._below(i + 1)
            mixed[i], mixed[j] = mixed[j], mixed[i]
        return mixed

    def pair(self, items: Sequence[T]) -> tuple[T, T]:
        """Return what `random.sample(items, 2)` would, for up to 21 items."""
        pool = list(items)
        first = self._below(len(pool))
        chosen = pool[first]
        pool[first] = pool[-1]
        return chosen, pool[self._below(len(pool) - 1)]

    def _below(self, n: int) -> int:
        width = n.bit_length()
        drawn = self._bits(width)
        while drawn >= n:
            drawn = self._bits(width)
        return drawn
