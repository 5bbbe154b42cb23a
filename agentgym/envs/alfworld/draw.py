"""Draws that come out the same on every machine and Python version.

A home and a game are frozen by a seed text, so they rest on the one promise Python makes about
random streams: `Random(text).random()` never changes. The rest is built on it here, because the
library's own shuffling may change between versions, as numpy's may.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """A stream of draws that follows from a seed text alone.

    >>> Draw("a").between(1, 6) == Draw("a").between(1, 6)
    True
    """

    def __init__(self, seed: str) -> None:
        self._random = Random(seed).random

    def chance(self, probability: float) -> bool:
        """Return True with this probability."""
        return self._random() < probability

    def between(self, least: int, most: int) -> int:
        """Return a whole number from `least` to `most`, both included."""
        return least + int(self._random() * (most - least + 1))

    def pick(self, items: Sequence[T]) -> T:
        """Return one of the items."""
        return items[int(self._random() * len(items))]

    def shuffled(self, items: Iterable[T]) -> list[T]:
        """Return the items in a random order."""
        mixed = list(items)
        for i in range(len(mixed) - 1, 0, -1):
            j = int(self._random() * (i + 1))
            mixed[i], mixed[j] = mixed[j], mixed[i]
        return mixed
