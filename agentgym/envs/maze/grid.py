"""A maze as a grid of walls and floor, and what can be seen from a cell.

Positions are (x, y) as the published sentences have them: x counts rows downwards, y counts columns
to the right, both from 0. The border is wall, so a step from the floor never leaves the grid.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import lru_cache

Cell = tuple[int, int]

WALL, FLOOR = "#", "."

STEPS: dict[str, Cell] = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
"""What each direction adds to (x, y)."""

# The published order: right, left, above, below.
_SIDES = ("to your right", "to your left", "above you", "below you")


def _phrase(sides: list[str]) -> str:
    if not sides:
        return "There are no walls near you."
    if len(sides) == 1:
        return f"There is a wall {sides[0]}."
    return f"There are walls {', '.join(sides)}."


_WALL_PHRASES = tuple(
    _phrase([side for bit, side in enumerate(_SIDES) if mask >> bit & 1]) for mask in range(16)
)


class Grid:
    """An immutable maze.

    Args:
        rows: one string a row, "#" for wall and "." for floor.

    Raises:
        ValueError: if the rows are not a rectangle of those two with a border of walls.

    >>> grid = Grid(["####", "#..#", "####"])
    >>> grid.walls_near((1, 1))
    'There are walls to your left, above you, below you.'
    """

    __slots__ = ("height", "rows", "width")

    def __init__(self, rows: list[str] | tuple[str, ...]) -> None:
        self.rows = tuple(rows)
        self.height, self.width = len(self.rows), len(self.rows[0]) if self.rows else 0
        if self.height < 3 or self.width < 3 or any(len(r) != self.width for r in self.rows):
            raise ValueError("a maze is a rectangle of at least 3 x 3 cells")
        if any(set(row) - {WALL, FLOOR} for row in self.rows):
            raise ValueError(f"a maze is made of {WALL!r} and {FLOOR!r}")
        border = [*self.rows[0], *self.rows[-1], *(r[0] + r[-1] for r in self.rows)]
        if any(FLOOR in part for part in border):
            raise ValueError("the border of a maze is wall")

    def is_floor(self, cell: Cell) -> bool:
        """Return whether a cell of the grid can be walked on."""
        return self.rows[cell[0]][cell[1]] == FLOOR

    def floor(self) -> Iterator[Cell]:
        """Yield the floor cells, row by row."""
        for x, row in enumerate(self.rows):
            for y, mark in enumerate(row):
                if mark == FLOOR:
                    yield x, y

    def moves(self, cell: Cell) -> Iterator[tuple[str, Cell]]:
        """Yield the directions that are open from a floor cell and the cells they lead to."""
        x, y = cell
        for direction, (dx, dy) in STEPS.items():
            if self.rows[x + dx][y + dy] == FLOOR:
                yield direction, (x + dx, y + dy)

    def walls_near(self, cell: Cell) -> str:
        """Return the published sentence about the walls next to a floor cell."""
        x, y = cell
        row = self.rows[x]
        return _WALL_PHRASES[
            (row[y + 1] == WALL)
            | (row[y - 1] == WALL) << 1
            | (self.rows[x - 1][y] == WALL) << 2
            | (self.rows[x + 1][y] == WALL) << 3
        ]

    def distances(self, goal: Cell) -> dict[Cell, int]:
        """Return the number of moves to `goal` from every cell it can be reached from."""
        found, queue = {goal: 0}, deque([goal])
        while queue:
            cell = queue.popleft()
            for _, neighbour in self.moves(cell):
                if neighbour not in found:
                    found[neighbour] = found[cell] + 1
                    queue.append(neighbour)
        return found


@lru_cache(maxsize=4096)
def parse(text: str) -> Grid:
    """Return the grid of rows joined by "/", the form it has in a task."""
    return Grid(text.split("/"))
