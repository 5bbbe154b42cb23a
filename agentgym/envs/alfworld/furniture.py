"""What stands in the rooms of the mini edition, piece by piece.

A *piece* is what is pushed against a wall as one: a run of counter with its drawers below and its
cabinets above, a desk with its drawers, a bed. It offers receptacles, each at a place along the
piece, a height, and a depth from the wall. How many pieces of which kind a room has is our own;
the numbers keep within those of ALFRED's rooms (`gen/layouts` of the `alfworld` package: kitchens
with 2 to 28 cabinets and up to four counters, bedrooms with one or two beds, ...).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from agentgym.core.draw import Draw

ROOMS = ("kitchen", "livingroom", "bedroom", "bathroom")


@dataclass(frozen=True, slots=True)
class Spot:
    """One receptacle of a piece; lengths in centimetres.

    Attributes:
        kind: the receptacle's kind ("Cabinet").
        along: from the piece's left end.
        height: above the floor.
        out: from the wall.
        look: degrees one looks down to see it: 60 the floor, 30 a table, -30 what hangs high.
    """

    kind: str
    along: int
    height: int
    out: int
    look: int = 30


@dataclass(slots=True)
class Piece:
    """What stands as one: its width along the wall, its depth, and what it offers."""

    width: int
    depth: int
    spots: list[Spot] = field(default_factory=list)
    free: bool = False
    """Whether it stands in the middle of the room instead of against a wall."""


def pieces_of(room: str, draw: Draw) -> list[Piece]:
    """Return the pieces of a room, as drawn."""
    return _ROOMS[room](draw)


def _single(kind: str, width: int, depth: int, height: int, look: int = 30) -> Piece:
    return Piece(width, depth, [Spot(kind, width // 2, height, depth // 2, look)])


def _table(kind: str, width: int, depth: int, height: int) -> Piece:
    piece = _single(kind, width, depth, height)
    piece.free = True
    return piece


def _with_drawers(kind: str, width: int, depth: int, height: int, columns: int, rows: int) -> Piece:
    """A top with drawers below it, in columns."""
    piece = _single(kind, width, depth, height)
    for column in range(columns):
        along = width * (2 * column + 1) // (2 * columns)
        for row in range(rows):
            piece.spots.append(Spot("Drawer", along, 18 + 22 * row, depth * 2 // 3, 60))
    return piece


def _shelves(columns: int, rows: int) -> Piece:
    piece = Piece(60 * columns, 35)
    for column in range(columns):
        for row in range(rows):
            look = 60 if row == 0 else 30 if row < 3 else 0
            piece.spots.append(Spot("Shelf", 60 * column + 30, 30 + 42 * row, 20, look))
    return piece


def _cupboard(draw: Draw, units: int) -> Piece:
    """Cabinets side by side, in one or two rows."""
    piece, rows = Piece(50 * units, 50), draw.between(1, 2)
    for unit in range(units):
        for row in range(rows):
            piece.spots.append(Spot("Cabinet", 50 * unit + 25, 50 + 90 * row, 40, 60 - 30 * row))
    return piece


def _counter(draw: Draw, units: int, cabinets: int, drawers: int, upper: bool) -> Piece:
    """A run of counter: `units` of half a metre, below each a cabinet or a stack of drawers."""
    piece = Piece(50 * units, 60, [Spot("CounterTop", 25 * units, 95, 30)])
    for unit in range(units):
        along = 50 * unit + 25
        if drawers >= 2 and draw.chance(0.4):
            rows = min(drawers, draw.between(2, 4))
            drawers -= rows
            piece.spots += [Spot("Drawer", along, 22 + 17 * row, 45, 60) for row in range(rows)]
        elif cabinets > 0 and draw.chance(0.85):
            cabinets -= 1
            piece.spots.append(Spot("Cabinet", along, 50, 45, 60))
        if upper and cabinets > 0 and draw.chance(0.8):
            cabinets -= 1
            piece.spots.append(Spot("Cabinet", along, 202, 20, -30))
    return piece


def _sink(piece: Piece, draw: Draw, basins: int) -> None:
    """Let one or two basins into a counter."""
    for i in range(basins):
        along = piece.width * (2 * i + 1) // (2 * basins) + draw.between(-10, 10)
        piece.spots.append(Spot("SinkBasin", along, 93, 32))


def _kitchen(draw: Draw) -> list[Piece]:
    runs = draw.between(1, 3)
    cabinets, drawers = draw.between(5, 20), draw.between(2, 10)
    counters = [
        _counter(
            draw,
            draw.between(4, 7) if runs < 3 else draw.between(3, 4),
            -(-cabinets // runs),
            -(-drawers // runs),
            upper=True,
        )
        for _ in range(runs)
    ]
    below = [s.kind for piece in counters for s in piece.spots]
    if below.count("Cabinet") < 3:
        counters.append(_cupboard(draw, 2))
    _sink(counters[0], draw, 1)
    stove = Piece(80, 60)
    stove.spots = [
        Spot("StoveBurner", x, 93, y) for x, y in ((22, 18), (22, 44), (58, 18), (58, 44))
    ]
    if draw.chance(0.4):
        stove.spots.append(Spot("Microwave", 40, 150, 22, 0))
    else:
        _stand_on(draw, counters, "Microwave", 105)
    _stand_on(draw, counters, "CoffeeMachine", 101)
    _stand_on(draw, counters, "Toaster", 99)
    fridge = _single("Fridge", 90, 75, 85)
    pieces = [*counters, stove, fridge, _single("GarbageCan", 40, 40, 0, 60)]
    if draw.chance(0.6):
        pieces.append(_table("DiningTable", draw.between(120, 200), 100, 75))
    if draw.chance(0.25):
        pieces.append(_with_drawers("SideTable", 60, 45, 65, 1, draw.between(0, 1)))
    if draw.chance(0.3):
        pieces.append(_shelves(1, draw.between(2, 3)))
    return pieces


def _stand_on(draw: Draw, counters: list[Piece], kind: str, height: int) -> None:
    piece = draw.pick(counters[:3])
    piece.spots.append(Spot(kind, draw.between(15, piece.width - 15), height, 18))


def _livingroom(draw: Draw) -> list[Piece]:
    pieces = [_single("Sofa", draw.between(160, 230), 90, 45)]
    if draw.chance(0.2):
        pieces.append(_single("Sofa", 150, 90, 45))
    pieces += [_single("ArmChair", 85, 85, 45) for _ in range(draw.between(1, 2))]
    pieces.append(_table("CoffeeTable", draw.between(80, 130), 60, 45))
    pieces += [
        _with_drawers("SideTable", 55, 45, 60, 1, draw.between(0, 2))
        for _ in range(draw.between(1, 3))
    ]
    pieces.append(_single("GarbageCan", 40, 40, 0, 60))
    if draw.chance(0.5):
        pieces.append(_with_drawers("TVStand", 150, 45, 50, 2, draw.between(0, 2)))
    if draw.chance(0.6):
        columns, rows = draw.between(1, 2), draw.between(2, 3)
        pieces.append(_with_drawers("Dresser", 110, 50, 85, columns, rows))
    if draw.chance(0.5):
        pieces.append(_shelves(draw.between(1, 2), draw.between(2, 4)))
    if draw.chance(0.4):
        pieces.append(_table("DiningTable", draw.between(130, 200), 100, 75))
    if draw.chance(0.2):
        pieces.append(_single("Ottoman", 60, 60, 40))
    if draw.chance(0.2):
        pieces.append(_with_drawers("Desk", 120, 60, 75, 1, draw.between(1, 3)))
    if draw.chance(0.2):
        pieces.append(_cupboard(draw, draw.between(2, 4)))
    if draw.chance(0.2):
        pieces.append(_single("Safe", 45, 40, 30, 60))
    return pieces


def _bedroom(draw: Draw) -> list[Piece]:
    pieces = [_single("Bed", draw.between(140, 190), 200, 55)]
    if draw.chance(0.15):
        pieces.append(_single("Bed", 110, 200, 55))
    pieces += [
        _with_drawers("SideTable", 50, 45, 60, 1, draw.between(0, 3))
        for _ in range(draw.between(1, 2))
    ]
    if draw.chance(0.75):
        columns = draw.between(1, 2)
        pieces.append(_with_drawers("Desk", 130, 60, 75, columns, draw.between(1, 3)))
    if draw.chance(0.5):
        columns, rows = draw.between(1, 2), draw.between(2, 4)
        pieces.append(_with_drawers("Dresser", 110, 50, 90, columns, rows))
    if draw.chance(0.65):
        pieces.append(_shelves(draw.between(1, 2), draw.between(1, 4)))
    if draw.chance(0.25):
        pieces.append(_single("ArmChair", 85, 85, 45))
    if draw.chance(0.2):
        pieces.append(_cupboard(draw, 2))
    if draw.chance(0.4):
        pieces.append(_single("LaundryHamper", 50, 45, 40, 60))
    if draw.chance(0.25):
        pieces.append(_single("Safe", 45, 40, 30, 60))
    pieces.append(_single("GarbageCan", 35, 35, 0, 60))
    return pieces


def _bathroom(draw: Draw) -> list[Piece]:
    basins = draw.between(1, 2)
    vanity = _counter(draw, draw.between(2, 4), draw.between(2, 5), draw.between(0, 6), upper=False)
    _sink(vanity, draw, basins)
    pieces = [vanity, _single("Toilet", 70, 70, 80, 30), _single("GarbageCan", 30, 30, 0, 60)]
    pieces.append(Piece(30, 15, [Spot("ToiletPaperHanger", 15, 90, 10)]))
    pieces += [Piece(60, 15, [Spot("TowelHolder", 30, 120, 8)]) for _ in range(draw.between(1, 2))]
    pieces += [
        Piece(35, 15, [Spot("HandTowelHolder", 17, 150, 8, 0)]) for _ in range(draw.between(1, 2))
    ]
    if not any(s.kind == "Cabinet" for s in vanity.spots):
        pieces.append(_cupboard(draw, 2))
    if draw.chance(0.7):
        pieces.append(_single("BathtubBasin", 165, 75, 25, 60))
    if draw.chance(0.35):
        pieces.append(_shelves(1, draw.between(1, 3)))
    if draw.chance(0.2):
        pieces.append(_single("Cart", 50, 40, 70))
    if draw.chance(0.15):
        pieces.append(_with_drawers("SideTable", 50, 45, 65, 1, draw.between(0, 2)))
    if draw.chance(0.1):
        pieces.append(_with_drawers("Dresser", 90, 45, 85, 1, draw.between(2, 3)))
    return pieces


_ROOMS: dict[str, Callable[[Draw], list[Piece]]] = {
    "kitchen": _kitchen,
    "livingroom": _livingroom,
    "bedroom": _bedroom,
    "bathroom": _bathroom,
}
