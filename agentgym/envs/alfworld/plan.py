"""The floor plan: which part of a picture belongs to which piece of furniture.

Furniture is drawn as cards along the four walls, each at the wall it stands at and in the order it
stands there, tables in the middle. Cards are as large as their labels need, so a plan is not to
scale. It follows from what the home holds at first and stays the same for a whole episode.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from agentgym.envs.alfworld.scene import Furniture

WIDTH = 1440
"""Pixels of a picture's width."""
WALL, GAP, PAD, LINE = 12, 8, 6, 20
"""Pixels of a wall, between cards, inside a card, and of a line of text."""
HEAD = 64
"""Pixels above the room, for the goal."""
FOOT = 34
"""Pixels below the room, for what the marks mean."""

_NUMBER = re.compile(r"_bar_(?:_(plus|minus)_)?(\d+)_dot_(\d+)")
_FROM_WALL = 120
"""What stands further from the wall than this many centimetres stands in the middle."""
_COLUMN, _CHARACTER = 164, 11
_TALL, _TALLER = 640, 160
"""Cards along a side wall stand in several columns where they would be higher than this, or than
so much more as leaves space for what stands in the middle."""
_FREE = 60
"""Pixels of free floor around what stands in the middle."""
_SMALL = {"cabinet", "drawer", "safe", "stoveburner", "shelf"}


Size = tuple[int, int, int]
"""Height, width and columns of a card."""


@dataclass(frozen=True, slots=True)
class Card:
    """The part of the picture that belongs to a receptacle.

    Attributes:
        top, left, height, width: in pixels.
        columns: columns of labels in it.
        side: 0 north, 1 east, 2 south, 3 west, 4 in the middle.
    """

    top: int
    left: int
    height: int
    width: int
    columns: int
    side: int

    @property
    def lines(self) -> int:
        """Lines of labels below the name."""
        return (self.height - 2 * PAD - LINE) // LINE


@dataclass(frozen=True)
class Plan:
    """Where everything is drawn.

    Attributes:
        cards: the card of each receptacle, by its id.
        height: of the whole picture, in pixels.
        floor: top, left, bottom, right of the free floor.
    """

    cards: Mapping[str, Card]
    height: int
    floor: tuple[int, int, int, int]


def plan_of(furniture: Iterable[Furniture], counts: Mapping[str, int]) -> Plan:
    """Lay out a home.

    Args:
        furniture: the receptacles.
        counts: how many things are in or on each at first, by its id.
    """
    sides = _sides(list(furniture))
    sizes = {
        f.id: _size(f, counts.get(f.id, 0), narrow=i in (1, 3))
        for i, side in enumerate(sides)
        for f in side
    }
    cards: dict[str, Card] = {}
    left, right = WALL + GAP, WIDTH - WALL - GAP
    top = _rows(cards, sides[0], sizes, HEAD + WALL + GAP, left, right, 0)
    needed, tall = max([sizes[f.id][1] for f in sides[4]], default=200) + 2 * _FREE, _TALL
    while True:
        floor_left, west_end = _columns(cards, sides[3], sizes, (top, left), tall, 3)
        floor_right, east_end = _columns(cards, sides[1], sizes, (top, right), tall, 1)
        if floor_right - floor_left >= needed or tall > 10 * _TALL:
            break
        tall += _TALLER
    middle = _rows(cards, sides[4], sizes, top + _FREE, floor_left + _FREE, floor_right - _FREE, 4)
    bottom = max(west_end, east_end, middle + _FREE, top + 190)
    end = _rows(cards, sides[2], sizes, bottom, left, right, 2)
    floor = (top, floor_left, bottom - GAP, floor_right)
    return Plan(cards, end + WALL + FOOT, floor)


def position(identifier: str) -> tuple[int, int, int]:
    """Return x, height and z of an id in centimetres; zeros where the id does not say.

    >>> position("cabinet_bar__minus_00_dot_73_bar__plus_02_dot_02_bar__minus_02_dot_46")
    (-73, 202, -246)
    """
    found = [
        (-1 if sign == "minus" else 1) * (int(whole[-4:]) * 100 + int(part[:2]))
        for sign, whole, part in _NUMBER.findall(identifier)[:3]
    ]
    x, height, z = (*found, 0, 0, 0)[:3]
    return x, height, z


def _sides(furniture: list[Furniture]) -> list[list[Furniture]]:
    """Return what stands north, east, south, west and in the middle, in order along the wall."""
    points = {f.id: position(f.id) for f in furniture}
    xs = [p[0] for p in points.values()] or [0]
    zs = [p[2] for p in points.values()] or [0]
    sides: list[list[Furniture]] = [[], [], [], [], []]
    for f in furniture:
        x, _, z = points[f.id]
        turn = f.location.split("_bar_")[3:4]
        side = int(turn[0]) if turn and turn[0] in ("0", "1", "2", "3") else 4
        away = (max(zs) - z, max(xs) - x, z - min(zs), x - min(xs), 0)[side]
        sides[side if away <= _FROM_WALL else 4].append(f)
    for side, members in enumerate(sides):
        along = 2 if side in (1, 3) else 0
        sign = -1 if along == 2 else 1
        members.sort(key=lambda f: (sign * points[f.id][along], -points[f.id][1], f.name))
    return sides


def _size(f: Furniture, count: int, narrow: bool) -> Size:
    """Return height, width and columns of a card; along a side wall there is one column."""
    room = min(max(count + 1, 2), 16)
    if f.openable:  # its size must not tell what is inside
        room = 8 if f.kind == "fridge" else 3
    columns = 2 if room > 4 and not narrow and f.kind not in _SMALL else 1
    lines = -(-room // columns)
    width = max(columns * _COLUMN, _CHARACTER * len(f.name) + 8) + 2 * PAD
    return 2 * PAD + LINE * (1 + lines) + 4, width, columns


def _rows(
    cards: dict[str, Card],
    members: list[Furniture],
    sizes: Mapping[str, Size],
    top: int,
    left: int,
    right: int,
    side: int,
) -> int:
    """Set cards in rows from left to right, evenly filled; return where the next thing starts."""
    total = sum(sizes[f.id][1] + GAP for f in members)
    rows = max(1, -(-total // max(1, right - left)))
    share = total / rows
    start = 0
    while start < len(members):
        row: list[Furniture] = []
        used = 0
        for f in members[start:]:
            width = sizes[f.id][1] + GAP
            if row and (used + width > right - left + GAP or used + width / 2 > share):
                break
            row.append(f)
            used += width
        gap = (right - left - used + GAP) // (len(row) + 1)
        at, deepest = left + gap, max(sizes[f.id][0] for f in row)
        for f in row:
            height, width, columns = sizes[f.id]
            y = top + deepest - height if side == 2 else top
            cards[f.id] = Card(y, at, height, width, columns, side)
            at += width + GAP + (gap if side == 4 else 0)
        start += len(row)
        top += deepest + GAP
    return top


def _columns(
    cards: dict[str, Card],
    members: list[Furniture],
    sizes: Mapping[str, Size],
    corner: tuple[int, int],
    tall: int,
    side: int,
) -> tuple[int, int]:
    """Set cards below each other, in columns from the wall inwards.

    Args:
        cards: where they are entered.
        members: what stands there.
        sizes: of their cards.
        corner: the top, and the edge at the wall.
        tall: where a column ends, roughly.
        side: 3 at the left, 1 at the right.

    Returns:
        Where the free floor begins or ends, and where the longest column ends below.
    """
    total = sum(sizes[f.id][0] + GAP for f in members)
    share = total / max(1, -(-total // tall))
    top, edge = corner
    bottom, start = top, 0
    while start < len(members):
        column: list[Furniture] = []
        used = 0
        for f in members[start:]:
            height = sizes[f.id][0] + GAP
            if column and used + height / 2 > share:
                break
            column.append(f)
            used += height
        width = max(sizes[f.id][1] for f in column)
        at, y = edge if side == 3 else edge - width, top
        for f in column:
            height, _, columns = sizes[f.id]
            cards[f.id] = Card(y, at, height, width, columns, side)
            y += height + GAP
        edge = at + width + GAP if side == 3 else at - GAP
        bottom, start = max(bottom, y), start + len(column)
    return edge, bottom
