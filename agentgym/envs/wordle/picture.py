"""A game of Wordle as people see it: a board in text and one in pixels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from agentgym.envs.wordle.game import ATTEMPTS, Turn

TILE, GAP, DOT = 48, 6, 4
"""Pixels of a tile's side, between tiles, and of one dot of a letter."""

_PAPER, _EMPTY, _INVALID, _INK = (255, 255, 255), (211, 214, 218), (222, 160, 160), (255, 255, 255)
_COLOURS = {"g": (83, 141, 78), "y": (201, 160, 50), "b": (112, 117, 122)}

# Seven rows of five dots a letter, a to z; a byte a row, its highest bit to the left.
_GLYPHS = bytes.fromhex(
    "0E11111F111111 1E11111E11111E 0E11101010110E 1E11111111111E 1F10101E10101F 1F10101E101010 "
    "0E11101711110F 1111111F111111 0E04040404040E 0702020202120C 11121418141211 1010101010101F "
    "111B1515111111 11111915131111 0E11111111110E 1E11111E101010 0E11111115120D 1E11111E141211 "
    "0F10100E01011E 1F040404040404 1111111111110E 11111111110A04 1111111515150A 11110A040A1111 "
    "1111110A040404 1F01020408101F"
)


def board(turns: Sequence[Turn], letters: int) -> str:
    """Return the guesses and their marks, one attempt a line."""
    blank = " ".join("." * letters)
    rows = [
        f"{i + 1}  {' '.join(word) or blank}   {' '.join(marks) or 'invalid word'}"
        for i, (word, marks) in enumerate(turns)
    ]
    return "\n".join(rows + [f"{i + 1}  {blank}" for i in range(len(rows), ATTEMPTS)])


def draw(turns: Sequence[Turn], letters: int) -> NDArray[np.uint8]:
    """Return the board as a picture of shape (rows of tiles, columns of tiles, 3).

    Green, yellow and grey tiles as in the game; an attempt lost to an invalid word is red.
    """
    pitch = TILE + GAP
    pixels = np.full((ATTEMPTS * pitch + GAP, letters * pitch + GAP, 3), _PAPER, np.uint8)
    for row in range(ATTEMPTS):
        word, marks = turns[row] if row < len(turns) else ("", "")
        for column in range(letters):
            top, left = GAP + row * pitch, GAP + column * pitch
            tile = pixels[top : top + TILE, left : left + TILE]
            if marks:
                tile[:] = _COLOURS[marks[column]]
                _write(tile, word[column])
            else:
                tile[:] = _INVALID if row < len(turns) else _EMPTY
                tile[2:-2, 2:-2] = _PAPER
    return pixels


def _write(tile: NDArray[np.uint8], letter: str) -> None:
    first = 7 * (ord(letter) - ord("a"))
    rows = np.frombuffer(_GLYPHS[first : first + 7], np.uint8)
    dots = np.unpackbits(rows[:, None], axis=1)[:, 3:].astype(bool)
    dots = dots.repeat(DOT, axis=0).repeat(DOT, axis=1)
    top, left = (TILE - dots.shape[0]) // 2, (TILE - dots.shape[1]) // 2
    tile[top : top + dots.shape[0], left : left + dots.shape[1]][dots] = _INK
