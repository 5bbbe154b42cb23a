"""A maze as people see it: a drawing in text and one in pixels."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from agentgym.envs.maze.grid import WALL, Cell, Grid

CELL = 24
"""Pixels a cell."""

_WALL = (52, 62, 80)
_FLOOR = (246, 244, 238)
_LINE = (228, 225, 216)
_GOAL = (46, 160, 97)
_TRAIL = (160, 187, 232)
_START = (120, 130, 150)
_AGENT = (38, 98, 217)


def sketch(grid: Grid, path: Sequence[Cell], goal: Cell) -> str:
    """Return the maze in text with row and column numbers.

    Walls are "#", the agent "@", the goal "G", the start "S" and the cells walked on "·".
    """
    marks = dict.fromkeys(path, "·") | {path[0]: "S", goal: "G", path[-1]: "@"}
    margin = len(str(grid.height - 1))
    lines = []
    if grid.width > 10:
        tens = "".join(str(y // 10 % 10) if y % 10 == 0 and y else " " for y in range(grid.width))
        lines.append(" " * (margin + 1) + tens.rstrip())
    lines.append(" " * (margin + 1) + "".join(str(y % 10) for y in range(grid.width)))
    for x, row in enumerate(grid.rows):
        cells = (WALL if c == WALL else marks.get((x, y), " ") for y, c in enumerate(row))
        lines.append(f"{x:>{margin}} {''.join(cells)}")
    return "\n".join(lines)


def draw(grid: Grid, path: Sequence[Cell], goal: Cell) -> NDArray[np.uint8]:
    """Return the maze as a picture of shape (24 x rows, 24 x columns, 3).

    Walls are dark; the goal is a green square, the agent a blue disc, the start a grey ring, and
    the way walked a light line.
    """
    walls = np.array([[c == WALL for c in row] for row in grid.rows])
    pixels = np.where(walls[..., None], np.array(_WALL), np.array(_FLOOR)).astype(np.uint8)
    pixels = pixels.repeat(CELL, axis=0).repeat(CELL, axis=1)
    floor = ~walls.repeat(CELL, axis=0).repeat(CELL, axis=1)
    edge = np.zeros(floor.shape, bool)
    edge[::CELL], edge[:, ::CELL] = True, True
    pixels[edge & floor] = _LINE
    for here, there in pairwise(path):
        (top, left), (bottom, right) = sorted((here, there))
        pixels[_span(top, bottom), _span(left, right)] = _TRAIL
    radius = np.hypot(*(np.mgrid[:CELL, :CELL] - (CELL - 1) / 2))
    margin = CELL // 6
    square = np.zeros((CELL, CELL), bool)
    square[margin:-margin, margin:-margin] = True
    _stamp(pixels, goal, square, _GOAL)
    _stamp(pixels, path[0], (radius <= CELL / 3.2) & (radius >= CELL / 4.6), _START)
    _stamp(pixels, path[-1], radius <= CELL / 3.4, _AGENT)
    return pixels


def _span(first: int, last: int) -> slice:
    middle, half = CELL // 2, CELL // 10
    return slice(first * CELL + middle - half, last * CELL + middle + half)


def _stamp(
    pixels: NDArray[np.uint8], cell: Cell, mask: NDArray[np.bool_], colour: tuple[int, int, int]
) -> None:
    x, y = cell[0] * CELL, cell[1] * CELL
    pixels[x : x + CELL, y : y + CELL][mask] = colour
