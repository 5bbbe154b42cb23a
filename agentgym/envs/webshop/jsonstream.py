"""JSON files too large for memory, read one entry at a time.

A file of one list or one object is read in pieces; each entry is decoded by the standard library as
soon as all of it is there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from agentgym.core.errors import InvalidConfig

_PIECE = 1 << 20
_LARGEST = 64 << 20
"""Characters of the largest entry there may be; what is longer is taken for damage."""


def entries(path: Path) -> Iterator[Any]:
    """Yield the entries of a file that holds a list.

    Raises:
        InvalidConfig: if it holds something else, or is cut short.
    """
    with path.open(encoding="utf-8") as file:
        reader = _Reader(path, file)
        reader.expect("[")
        while not reader.closes("]"):
            yield reader.value()


def items(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield the keys and values of a file that holds an object.

    Raises:
        InvalidConfig: if it holds something else, or is cut short.
    """
    with path.open(encoding="utf-8") as file:
        reader = _Reader(path, file)
        reader.expect("{")
        while not reader.closes("}"):
            key = reader.value()
            reader.expect(":")
            yield str(key), reader.value()


class _Reader:
    def __init__(self, path: Path, file: TextIO) -> None:
        self._path, self._file = path, file
        self._text, self._at, self._before = "", 0, 0
        self._decode = json.JSONDecoder().raw_decode
        self._first = True

    def expect(self, mark: str) -> None:
        """Pass over a mark."""
        if self._peek() != mark:
            raise self._wrong(f"{mark!r} was expected")
        self._at += 1

    def closes(self, mark: str) -> bool:
        """Pass over the comma before the next entry, or over the closing mark."""
        found = self._peek()
        if found == mark:
            return True
        if not self._first:
            self.expect(",")
        self._first = False
        return False

    def value(self) -> Any:
        """Return the next value."""
        self._peek()
        while True:
            try:
                value, end = self._decode(self._text, self._at)
                length = end - self._at
                # So near the end of the piece a number may go on: "1" as "1.5" or "1e+9".
                if len(self._text) - end > 2 or not self._more():
                    self._at += length
                    return value
            except RecursionError as error:
                raise self._wrong("it is nested too deeply") from error
            except ValueError as error:
                if len(self._text) - self._at > _LARGEST or not self._more():
                    raise self._wrong(str(error)) from error

    def _peek(self) -> str:
        """Return the next character that is no space, "" at the end."""
        while True:
            while self._at < len(self._text):
                if not self._text[self._at].isspace():
                    return self._text[self._at]
                self._at += 1
            if not self._more():
                return ""

    def _more(self) -> bool:
        try:
            piece = self._file.read(max(_PIECE, len(self._text) - self._at))
        except (OSError, ValueError) as error:
            raise self._wrong(str(error)) from error
        self._before += self._at
        self._text, self._at = self._text[self._at :] + piece, 0
        return bool(piece)

    def _wrong(self, why: str) -> InvalidConfig:
        return InvalidConfig(
            f"{self._path} cannot be read as the published file: {why}, near character "
            f"{self._before + self._at}. Fetch it again"
        )
