"""Draws that come out the same on every machine and Python version.

Tasks and distractors are frozen by their seed text, so they rest on the one promise Python makes
about random streams: `Random(text).random()` never changes. Shuffling and sampling are built on it
here because the library's own may change between versions, as numpy's may.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """A stream of draws that follows from a seed text alone.

    >>> Draw("a").below(100) == Draw("a").below(100)
    True
    """

    def __init__(self, seed: str) -> None:
        self._random = Random(seed).random

    def below(self, n: int) -> int:
        """Return a whole number from 0 to n - 1."""
        return int(self._random() * n)

    def pick(self, items: Sequence[T]) -> T:
        """Return one of the items."""
        return items[int(self._random() * len(items))]

    def shuffled(self, items: Iterable[T]) -> list[T]:
        """Return the items in a random order."""
        mixed = list(items)
        draw = self._random
        for i in range(len(mixed) - 1, 0, -1):
            j = int(draw() * (i + 1))
            mixed[i], mixed[j] = mixed[j], mixed[i]
        return mixed

    def sample(self, items: Iterable[T], k: int) -> list[T]:
        """Return up to k of the items, each at most once."""
        pool = list(items)
        for i in range(min(k, len(pool))):
            j = i + self.below(len(pool) - i)
            pool[i], pool[j] = pool[j], pool[i]
        return pool[:k]
