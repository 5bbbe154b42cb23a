"""The layouts of the mini edition: where the furniture of a room stands.

A layout follows from its name ("kitchen-17") alone: its pieces (`furniture.py`) are drawn, shuffled
and set along the four walls, in a room just large enough. Ids say where a receptacle is, as
ALFRED's do, x, height and z in metres from the middle of the floor: "Cabinet|-01.25|+00.50|+02.10".
One stands in front of it at "loc|x|z|rotation|look down", x and z in steps of 25 cm, rotation in
quarter turns from north. What lies above or beside each other may be reached from one place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache

from agentgym.core.draw import Draw
from agentgym.envs.alfworld.furniture import Piece, Spot, pieces_of
from agentgym.envs.alfworld.kinds import OPENABLE
from agentgym.envs.alfworld.problem import Receptacle

CORNER = 70
"""Centimetres kept free at each end of a wall."""
REACH = 35
"""Centimetres one stands away from a piece."""

Point = tuple[int, int, int]
"""x, height and z in centimetres."""


@dataclass(frozen=True)
class Layout:
    """A furnished room.

    Attributes:
        name: "kitchen-17".
        room: "kitchen".
        receptacles: the furniture, in a fixed order.
        points: where each receptacle is, by its id.
        start: id of the place one stands at first, which faces nothing.
    """

    name: str
    room: str
    receptacles: tuple[Receptacle, ...]
    points: dict[str, Point] = field(repr=False)
    start: str

    @cached_property
    def places(self) -> dict[str, str]:
        """Where one stands at each receptacle, by its id."""
        return {receptacle.id: receptacle.location for receptacle in self.receptacles}

    @cached_property
    def by_kind(self) -> dict[str, list[Receptacle]]:
        """The receptacles of each kind."""
        kinds: dict[str, list[Receptacle]] = {}
        for receptacle in self.receptacles:
            kinds.setdefault(receptacle.kind, []).append(receptacle)
        return kinds


@cache
def layout(name: str) -> Layout:
    """Return the layout of this name, the same in every process.

    Args:
        name: a room and a number: "bedroom-3".
    """
    room = name.partition("-")[0]
    draw = Draw(f"alfworld layout {name} 1")
    pieces = pieces_of(room, draw)
    width, depth, placed = _along_walls(draw, [p for p in pieces if not p.free])
    placed += _in_the_middle(draw, [p for p in pieces if p.free], width, depth)
    receptacles: list[Receptacle] = []
    points: dict[str, Point] = {}
    for spot, x, z, stand in placed:
        point = (x, spot.height, z)
        identifier = receptacle_id(spot.kind, point)
        while identifier in points:  # two of a kind at one point: put the second beside it
            point = (point[0] + 1, point[1], point[2])
            identifier = receptacle_id(spot.kind, point)
        points[identifier] = point
        receptacles.append(Receptacle(identifier, spot.kind, stand, spot.kind in OPENABLE))
    start = _middle({r.location for r in receptacles})
    return Layout(name, room, tuple(receptacles), points, start)


def receptacle_id(kind: str, point: Point) -> str:
    """Return a receptacle's id; basins are named after what they are part of, as in ALFRED.

    >>> receptacle_id("SinkBasin", (-125, 93, 40))
    'sink_bar__minus_01_dot_25_bar__plus_00_dot_93_bar__plus_00_dot_40_bar_sinkbasin'
    """
    if kind.endswith("Basin"):
        return f"{thing_id(kind.removesuffix('Basin'), point)}_bar_{kind.lower()}"
    return thing_id(kind, point)


def thing_id(kind: str, point: Point) -> str:
    """Return a thing's id."""
    return "_bar_".join([kind.lower(), *map(_metres, point)])


@lru_cache(maxsize=2048)
def _metres(centimetres: int) -> str:
    whole, hundredths = divmod(abs(centimetres), 100)
    return f"_{'minus' if centimetres < 0 else 'plus'}_{whole:02}_dot_{hundredths:02}"


def _stand(x: int, z: int, rotation: int, look: int) -> str:
    numbers = (round(x / 25), round(z / 25), rotation, look)
    written = [f"_minus_{-n}" if n < 0 else str(n) for n in numbers]
    return "_bar_".join(["loc", *written])


def _middle(taken: set[str]) -> str:
    """Return the place nearest to the middle of the floor at which nothing stands."""
    step = 0
    while (place := _stand(25 * step, 0, 0, 30)) in taken:
        step = -step if step > 0 else 1 - step
    return place


Placed = tuple[Spot, int, int, str]
"""A receptacle, its x and z, and where one stands before it."""


def _along_walls(draw: Draw, pieces: list[Piece]) -> tuple[int, int, list[Placed]]:
    """Set pieces along the walls of the smallest room that has space for them."""
    width, depth = 50 * draw.between(6, 9), 50 * draw.between(6, 9)
    order = draw.shuffled(pieces)
    while (walls := _fill(order, (width, depth, width, depth))) is None:
        width, depth = (width + 50, depth) if width <= depth else (width, depth + 50)
    placed: list[Placed] = []
    for side, wall in enumerate(walls):
        length = (width, depth)[side % 2]
        gap = (length - 2 * CORNER - sum(p.width for p in wall)) // (len(wall) + 1)
        at = CORNER + gap
        for piece in wall:
            for spot in piece.spots:
                u, v = at + spot.along, spot.out
                x, z = _turn(side, u, v, width, depth)
                placed.append(
                    (spot, x, z, _stand(*_turn(side, u, piece.depth + REACH, width, depth), side,
                                        spot.look))
                )  # fmt: skip
            at += piece.width + gap
    return width, depth, placed


def _fill(pieces: list[Piece], lengths: tuple[int, ...]) -> list[list[Piece]] | None:
    """Share pieces out over walls, or return None where they do not fit."""
    walls: list[list[Piece]] = [[] for _ in lengths]
    left = [length - 2 * CORNER for length in lengths]
    for piece in sorted(pieces, key=lambda p: -p.width):
        side = max(range(len(left)), key=left.__getitem__)
        if left[side] < piece.width:
            return None
        walls[side].append(piece)
        left[side] -= piece.width
    order = {id(piece): i for i, piece in enumerate(pieces)}
    return [sorted(wall, key=lambda p: order[id(p)]) for wall in walls]


def _turn(side: int, u: int, v: int, width: int, depth: int) -> tuple[int, int]:
    """Return x and z of a point u along a wall, seen from inside, and v away from it.

    The walls are north (z greatest), east (x greatest), south and west.
    """
    half, deep = width // 2, depth // 2
    return ((u - half, deep - v), (half - v, deep - u), (half - u, v - deep), (v - half, u - deep))[
        side
    ]


def _in_the_middle(draw: Draw, pieces: list[Piece], width: int, depth: int) -> Iterator[Placed]:
    """Set tables beside each other in the middle, to be reached from the south."""
    at = -sum(p.width + 60 for p in pieces) // 2 + 30
    for piece in pieces:
        z = draw.between(-40, 40)
        for spot in piece.spots:
            x = at + spot.along
            yield spot, x, z, _stand(x, z - piece.depth // 2 - REACH, 0, spot.look)
        at += piece.width + 60
