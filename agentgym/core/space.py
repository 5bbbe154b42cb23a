"""The space of Unicode text.

Gymnasium's `Text` space is defined by a finite character set, which a language model does not keep
to. `UnicodeText` holds every `str` up to a length, lone surrogates and control characters included,
so that nothing a model can write is outside the action space.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

_ALPHABET = (
    "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ 0123456789 .,:;!?'\"()[]{}<>-_/\\\n\t"
    "äéñßøğ中文日本語한글עבריתالعربيةΩ≈∑√😀🧪"
)


class UnicodeText(spaces.Space[str]):
    """Every string of at most `max_length` characters.

    Args:
        max_length: the largest number of characters (code points) a member may have.
        seed: seed of the space's own generator, used by `sample`.

    >>> "craft 4 stick" in UnicodeText()
    True
    >>> "too long" in UnicodeText(max_length=3)
    False
    """

    def __init__(self, max_length: int = 1_000_000, seed: int | np.random.Generator | None = None):
        if max_length < 1:
            raise ValueError(f"max_length must be at least 1, got {max_length}")
        self.max_length = max_length
        super().__init__(shape=None, dtype=None, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        """Whether the space flattens to a Box: no, text has no fixed size."""
        return False

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """Return a random string of up to 32 characters from a multilingual alphabet.

        Raises:
            ValueError: if a mask or probabilities are given; they have no meaning here.
        """
        if mask is not None or probability is not None:
            raise ValueError("UnicodeText cannot be sampled with a mask or probabilities")
        length = int(self.np_random.integers(0, min(32, self.max_length) + 1))
        picks = self.np_random.integers(0, len(_ALPHABET), size=length)
        return "".join(_ALPHABET[i] for i in picks)

    def contains(self, x: Any) -> bool:
        """Return whether `x` is a string of at most `max_length` characters."""
        return isinstance(x, str) and len(x) <= self.max_length

    def __repr__(self) -> str:
        return f"UnicodeText(max_length={self.max_length})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UnicodeText) and self.max_length == other.max_length

    def __hash__(self) -> int:
        return hash(("UnicodeText", self.max_length))

    def to_jsonable(self, sample_n: Any) -> list[Any]:
        """Return the samples as they are: strings are JSON already."""
        return list(sample_n)

    def from_jsonable(self, sample_n: list[Any]) -> list[Any]:
        """Return the samples as they are: strings are JSON already."""
        return list(sample_n)
