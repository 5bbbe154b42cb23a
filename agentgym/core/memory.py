"""Memory that Gymnasium's AsyncVectorEnv shares with its processes, for text of any length.

Gymnasium writes observations into memory that is laid out before the first is known, which fits
numbers. `UnicodeText` has a largest length, so its memory is laid out for that; it is a sparse
file, of which only the pages that were written to take room. What the main process holds is a view
of the present texts, and the copy that Gymnasium makes of it for the user is a plain tuple.

Importing this module registers the space with Gymnasium.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Sequence
from multiprocessing.heap import BufferWrapper
from typing import Any, overload

from gymnasium.vector.utils.shared_memory import (
    create_shared_memory,
    read_from_shared_memory,
    write_to_shared_memory,
)

from agentgym.core.space import UnicodeText

_HEADER = 8
"""Bytes before each text that say how many bytes it has."""
_WIDEST = 4
"""Bytes the widest character takes in UTF-8."""


class TextMemory:
    """Room for `count` texts of at most `max_length` characters, shared between processes."""

    def __init__(self, count: int, max_length: int) -> None:
        self._stride = _HEADER + _WIDEST * max_length
        self.count, self.max_length = count, max_length
        self._buffer = BufferWrapper(count * self._stride)
        for index in range(count):
            self.write(index, "")

    def write(self, index: int, text: str) -> None:
        """Put a text in its place.

        Raises:
            ValueError: if it is longer than the room for it.
        """
        if len(text) > self.max_length:
            raise ValueError(
                f"an observation of {len(text)} characters is outside the observation space, which "
                f"holds {self.max_length}"
            )
        encoded = text.encode("utf-8", "surrogatepass")
        start = index * self._stride + _HEADER
        view = self._buffer.create_memoryview()
        view[start - _HEADER : start] = len(encoded).to_bytes(_HEADER, "little")
        view[start : start + len(encoded)] = encoded

    def read(self, index: int) -> str:
        """Return the text in a place."""
        start = index * self._stride + _HEADER
        view = self._buffer.create_memoryview()
        size = int.from_bytes(view[start - _HEADER : start], "little")
        return bytes(view[start : start + size]).decode("utf-8", "surrogatepass")


class TextView(Sequence[str]):
    """The texts in a `TextMemory` as they are now; a deep copy of it is a tuple."""

    def __init__(self, memory: TextMemory) -> None:
        self._memory = memory

    def __len__(self) -> int:
        return self._memory.count

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        places = range(len(self))[index]
        if isinstance(places, range):
            return tuple(self._memory.read(i) for i in places)
        return self._memory.read(places)

    def __deepcopy__(self, memo: dict[int, Any]) -> tuple[str, ...]:
        return tuple(self)

    def __repr__(self) -> str:
        return f"TextView({tuple(self)!r})"


@create_shared_memory.register(UnicodeText)
def _create(space: UnicodeText, n: int = 1, ctx: Any = multiprocessing) -> TextMemory:
    return TextMemory(n, space.max_length)


@read_from_shared_memory.register(UnicodeText)
def _read(space: UnicodeText, shared_memory: TextMemory, n: int = 1) -> TextView:
    return TextView(shared_memory)


@write_to_shared_memory.register(UnicodeText)
def _write(space: UnicodeText, index: int, value: str, shared_memory: TextMemory) -> None:
    shared_memory.write(index, value)
