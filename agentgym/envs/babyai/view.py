"""What the agent sees, in words.

The agent sees a square of 7 x 7 cells that lies ahead of it, as far as walls and closed doors
allow. Cells are numbered in the agent's own frame, row by row from the far left: the agent stands
on cell 45, in the middle of the last row, and looks up. The tables below turn that frame into grid
offsets, so that a view costs one pass over the 49 cells. The sentences are AgentGym's, to the
letter (its two spaces after an object included), because models were trained on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SIZE = 7
CELLS = SIZE * SIZE
AGENT = CELLS - 1 - SIZE // 2

# Vectors of the four directions, as Minigrid numbers them: right, down, left, up.
VECTORS = ((1, 0), (0, 1), (-1, 0), (0, -1))


def _offsets(direction: int) -> tuple[tuple[int, int], ...]:
    """Return (dx, dy) from the agent to each cell of its view."""
    fx, fy = VECTORS[direction]
    rx, ry = VECTORS[(direction + 1) % 4]
    return tuple(
        (fx * _front(c) + rx * _right(c), fy * _front(c) + ry * _right(c)) for c in range(CELLS)
    )


def _front(cell: int) -> int:
    return SIZE - 1 - cell // SIZE


def _right(cell: int) -> int:
    return cell % SIZE - SIZE // 2


OFFSETS = tuple(_offsets(direction) for direction in range(4))
_AHEAD = tuple(AGENT - SIZE * steps for steps in range(1, SIZE))
_NEAR_FIRST = tuple(
    sorted(range(CELLS), key=lambda c: _front(c) + abs(_right(c)))  # a stable sort: rows break ties
)
_PLACES = tuple(
    f"right in front of you {_front(c)} steps away. "
    if _right(c) == 0
    else f"{_front(c)} steps in front of you and {abs(_right(c))} steps to your "
    f"{'right' if _right(c) > 0 else 'left'}. "
    for c in range(CELLS)
)
# Rows from the agent's to the farthest; in each the cells from left to right and back.
_SWEEPS = tuple(
    (
        tuple(range(row * SIZE, row * SIZE + SIZE - 1)),
        tuple(range(row * SIZE + SIZE - 1, row * SIZE, -1)),
        row > 0,
    )
    for row in range(SIZE - 1, -1, -1)
)
_DESCRIBED = frozenset(("door", "key", "ball", "box", "goal", "lava"))


@dataclass(slots=True)
class Sighting:
    """One thing in view.

    Attributes:
        name: how it is called ("red ball", "blue closed door").
        number: which of the things of that name it is, the nearest being 1.
        cell: where it is in the view.
        thing: the object itself.
    """

    name: str
    number: int
    cell: int
    thing: Any

    @property
    def label(self) -> str:
        """Name and number, as actions refer to it: "red ball 1"."""
        return f"{self.name} {self.number}"


@dataclass(slots=True)
class View:
    """What is in view from one pose.

    Attributes:
        cells: the 49 cells: None where empty, a Minigrid object, or `HIDDEN`.
        sightings: the things in view, the nearest first.
        walls: whether a wall is in view.
        carrying: the object carried, or None.
    """

    cells: list[Any]
    sightings: list[Sighting]
    walls: bool
    carrying: Any

    @property
    def ahead(self) -> Any:
        """What is on the cell in front of the agent."""
        return self.cells[AGENT - SIZE]


class _Hidden:
    """Marks a cell that is not seen."""

    type = "unseen"
    color = ""


HIDDEN = _Hidden()


def in_view(world: Any) -> list[Any]:
    """Return what is on the 49 cells before the agent, with `HIDDEN` where it does not see."""
    grid, (x, y) = world.grid, world.agent_pos
    x, y, width, height, flat = int(x), int(y), grid.width, grid.height, grid.grid
    cells: list[Any] = [
        flat[(y + dy) * width + x + dx] if 0 <= x + dx < width and 0 <= y + dy < height else HIDDEN
        for dx, dy in OFFSETS[world.agent_dir]
    ]
    _hide(cells)
    return cells


def look(world: Any) -> View:
    """Return what the agent of a world sees."""
    cells = in_view(world)
    cells[AGENT] = None
    sightings: list[Sighting] = []
    counts: dict[str, int] = {}
    walls = False
    for cell in _NEAR_FIRST:
        thing = cells[cell]
        if thing is None:
            continue
        kind = thing.type
        if kind == "wall":
            walls = True
        elif kind in _DESCRIBED:
            name = call(thing)
            counts[name] = number = counts.get(name, 0) + 1
            sightings.append(Sighting(name, number, cell, thing))
    return View(cells, sightings, walls, world.carrying)


def call(thing: Any) -> str:
    """Return the name of an object: "red ball", "blue closed door"."""
    if thing.type != "door":
        return f"{thing.color} {thing.type}"
    state = "open" if thing.is_open else "locked" if thing.is_locked else "closed"
    return f"{thing.color} {state} door"


def describe(view: View) -> str:
    """Return the published description of a view."""
    if view.sightings or view.walls:
        text = "In front of you in this room, you can see several objects: " + "".join(
            [f"There is a {s.name} {s.number} {_PLACES[s.cell]} " for s in view.sightings]
        )
    else:
        text = "You cannot see any objects within sight."
    text += "The room has walls around you. "
    for steps, cell in enumerate(_AHEAD, 1):
        thing = view.cells[cell]
        if thing is not None and thing.type in ("wall", "box"):
            text += f"You are facing a {thing.type} {steps} steps away. "
            break
    if view.carrying is None:
        return text + "You are not carrying anything."
    return text + f"You are carrying a {view.carrying.color} {view.carrying.type}."


def _hide(cells: list[Any]) -> None:
    """Replace what is not seen by `HIDDEN`, following Minigrid's rule of sight.

    Sight spreads from the agent's cell to the sides and ahead, row by row, through every cell
    that is empty or can be seen past.
    """
    seen = [False] * CELLS
    seen[AGENT] = True
    for rightward, leftward, rows_ahead in _SWEEPS:
        for step, sweep in ((1, rightward), (-1, leftward)):
            for cell in sweep:
                if not seen[cell]:
                    continue
                thing = cells[cell]
                if thing is not None and (thing is HIDDEN or not thing.see_behind()):
                    continue
                seen[cell + step] = True
                if rows_ahead:
                    seen[cell - SIZE] = seen[cell - SIZE + step] = True
    for cell in range(CELLS):
        if not seen[cell]:
            cells[cell] = HIDDEN
