"""Draws that come out the same on every machine and Python version.

Frozen task sets and invented worlds follow from seed texts, so they rest on the one promise Python
makes about random streams: `Random(text).random()` never changes. Shuffling and sampling are built
on it here because the library's own may change between versions, as numpy's may.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
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

    def unit(self) -> float:
        """Return a number from 0 up to, but not including, 1."""
        return self._random()

    def chance(self, probability: float) -> bool:
        """Return True with this probability."""
        return self._random() < probability

    def below(self, n: int) -> int:
        """Return a whole number from 0 to n - 1."""
        return int(self._random() * n)

    def between(self, least: int, most: int) -> int:
        """Return a whole number from `least` to `most`, both included."""
        return least + int(self._random() * (most - least + 1))

    def bell(self) -> float:
        """Return a number around 0, with standard deviation 1 and never beyond 6.

        It is the sum of twelve uniform draws, less 6: no logarithm or sine, whose last digit may
        differ between C libraries.
        """
        draw = self._random
        return sum([draw() for _ in range(12)]) - 6.0

    def pick(self, items: Sequence[T]) -> T:
        """Return one of the items."""
        return items[int(self._random() * len(items))]

    def weighted(self, items: Sequence[T], weights: Sequence[float]) -> T:
        """Return one of the items, each as likely as its weight says.

        Raises:
            ValueError: if there is not one weight an item, or no weight is above 0.
        """
        if len(items) != len(weights) or not sum(weights) > 0:
            raise ValueError(f"{len(items)} items need as many weights, some above 0: {weights!r}")
        ladder = list(accumulate(weights))
        return items[bisect_right(ladder, self._random() * ladder[-1], hi=len(ladder) - 1)]

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
