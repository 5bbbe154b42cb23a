"""Draws that never change: the same text gives the same choices, on any machine, for ever.

Task sets are generated once and frozen; a library's random numbers may change with its version, a
hash does not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """Choices that follow from a text.

    Args:
        seed: the text.

    >>> Draw("an example").sample(range(100), 3) == Draw("an example").sample(range(100), 3)
    True
    """

    def __init__(self, seed: str) -> None:
        self._seed, self._count = seed.encode(), 0

    def below(self, n: int) -> int:
        """Return a whole number from 0 to n - 1."""
        self._count += 1
        text = self._seed + self._count.to_bytes(8, "big")
        number = int.from_bytes(hashlib.blake2b(text, digest_size=16).digest(), "big")
        return number % n  # of 128 bits: what the remainder favours cannot be seen

    def between(self, low: int, high: int) -> int:
        """Return a whole number from low to high, both included."""
        return low + self.below(high - low + 1)

    def pick(self, items: Sequence[T]) -> T:
        """Return one of the items."""
        return items[self.below(len(items))]

    def sample(self, items: Sequence[T], k: int) -> list[T]:
        """Return k of the items, none twice, in random order."""
        return self.shuffled(items)[:k]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return the items in random order."""
        mixed = list(items)
        for i in range(len(mixed) - 1, 0, -1):
            j = self.below(i + 1)
            mixed[i], mixed[j] = mixed[j], mixed[i]
        return mixed
