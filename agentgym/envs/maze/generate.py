"""Mazes of any size, from a number alone.

A maze is carved on the rooms at odd positions and the walls between them, in one of four styles:

- `winding`: depth-first search, long corridors and few junctions;
- `even`: Wilson's algorithm, every perfect maze equally likely, many short dead ends;
- `loops`: an even maze with some inner walls removed, so that there are several ways;
- `rooms`: open halls joined by the corridors of a winding maze.

Only `random.Random.random()` is drawn from, because Python promises its sequence for a seed in
every version, which neither `shuffle` nor NumPy's generators do.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from agentgym.envs.maze.grid import FLOOR, WALL, Cell, Grid

Canvas = list[list[str]]


class Puzzle(NamedTuple):
    """A maze, where the walk starts and where it ends."""

    grid: Grid
    start: Cell
    goal: Cell
    distance: int
    """Moves on the shortest way."""


def generate(size: tuple[int, int], style: str, seed: int | str, limit: int = 10**9) -> Puzzle:
    """Make a maze with a start and a goal.

    Args:
        size: rows and columns, both odd and at least 5, border included.
        style: one of `STYLES`.
        seed: what the maze follows from.
        limit: the longest shortest way allowed; the shortest is a third of the longest possible.
    """
    rng = random.Random(seed)
    height, width = size
    canvas = [[WALL] * width for _ in range(height)]
    STYLES[style](canvas, rng)
    grid = Grid(["".join(row) for row in canvas])
    goal = _pick(rng, list(grid.floor()))
    ways = grid.distances(goal)
    longest = min(limit, max(ways.values()))
    starts = [cell for cell, moves in ways.items() if max(2, longest // 3) <= moves <= longest]
    start = _pick(rng, sorted(starts))
    return Puzzle(grid, start, goal, ways[start])


@lru_cache(maxsize=512)
def generated(size: tuple[int, int], style: str, seed: int) -> Puzzle:
    """Return `generate(size, style, seed)`, kept for the episodes to come."""
    return generate(size, style, seed)


def _winding(canvas: Canvas, rng: random.Random) -> None:
    """Carve a perfect maze by depth-first search."""
    here = _pick(rng, _rooms(canvas))
    canvas[here[0]][here[1]] = FLOOR
    trail = [here]
    while trail:
        here = trail[-1]
        fresh = [room for room in _neighbours(canvas, here) if canvas[room[0]][room[1]] == WALL]
        if fresh:
            trail.append(_pick(rng, fresh))
            _carve(canvas, trail[-1], here)
        else:
            trail.pop()


def _even(canvas: Canvas, rng: random.Random) -> None:
    """Carve a uniformly random perfect maze by loop-erased random walks (Wilson, 1996)."""
    rooms = _rooms(canvas)
    root = _pick(rng, rooms)
    canvas[root[0]][root[1]] = FLOOR
    for room in rooms:
        # Leaving only the last exit of each room on the walk erases the walk's loops.
        exits, here = {}, room
        while canvas[here[0]][here[1]] == WALL:
            exits[here] = _pick(rng, _neighbours(canvas, here))
            here = exits[here]
        here = room
        while canvas[here[0]][here[1]] == WALL:
            _carve(canvas, here, exits[here])
            here = exits[here]


def _loops(canvas: Canvas, rng: random.Random) -> None:
    """Carve an even maze, then open one in six of the walls that are left between rooms."""
    _even(canvas, rng)
    for room in _rooms(canvas):
        for other in _neighbours(canvas, room):
            if other > room and rng.random() < 1 / 6:
                _carve(canvas, room, other)


def _halls(canvas: Canvas, rng: random.Random) -> None:
    """Carve a winding maze, then clear a few rectangles of it."""
    _winding(canvas, rng)
    height, width = len(canvas), len(canvas[0])
    for _ in range(max(1, height * width // 60)):
        tall, wide = (3 + 2 * int(rng.random() * 2) for _ in range(2))
        tall, wide = min(tall, height - 2), min(wide, width - 2)
        top = 1 + 2 * int(rng.random() * ((height - tall) // 2))
        left = 1 + 2 * int(rng.random() * ((width - wide) // 2))
        for x in range(top, top + tall):
            canvas[x][left : left + wide] = [FLOOR] * wide


STYLES: dict[str, Callable[[Canvas, random.Random], None]] = {
    "winding": _winding,
    "even": _even,
    "loops": _loops,
    "rooms": _halls,
}


def _pick(rng: random.Random, cells: list[Cell]) -> Cell:
    return cells[int(rng.random() * len(cells))]


def _rooms(canvas: Canvas) -> list[Cell]:
    return [(x, y) for x in range(1, len(canvas), 2) for y in range(1, len(canvas[0]), 2)]


def _neighbours(canvas: Canvas, room: Cell) -> list[Cell]:
    x, y = room
    around = [(x - 2, y), (x + 2, y), (x, y - 2), (x, y + 2)]
    return [(a, b) for a, b in around if 0 < a < len(canvas) and 0 < b < len(canvas[0])]


def _carve(canvas: Canvas, room: Cell, other: Cell) -> None:
    """Open a room and the wall between it and a neighbour, which may not be open yet."""
    for x, y in (room, ((room[0] + other[0]) // 2, (room[1] + other[1]) // 2)):
        canvas[x][y] = FLOOR
