"""Kinds of things: where each may be put, and what can be done to it.

These are facts of ALFRED's household, carried over from the tables of the `alfworld` package
(0.4.2, MIT; `gen/constants.py`): what a receptacle may hold, which ones open, what can be heated,
cooled, cleaned, sliced and switched on, and what is itself a vessel. Kinds that no mini home has
(slices, paper towels) are left out.
"""

from __future__ import annotations

OPENABLE = frozenset({"Cabinet", "Drawer", "Fridge", "Microwave", "Safe"})
"""Receptacles that open and close; all are closed when a game begins."""

LAMP = "DeskLamp"
"""The one thing here that is switched on and cannot be carried."""

_TOP = "CounterTop CoffeeTable DiningTable SideTable"
_SEAT = "ArmChair Ottoman Sofa"

_FITS = f"""
AlarmClock: {_TOP} Desk Dresser Shelf
Apple: {_TOP} Fridge GarbageCan Microwave SinkBasin
BaseballBat: {_TOP} Bed
BasketBall: {_TOP} {_SEAT} Bed Desk Dresser
Book: {_TOP} {_SEAT} Bed Cabinet Desk Drawer Dresser Shelf
Bowl: {_TOP} Cabinet Desk Dresser Fridge Microwave Shelf SinkBasin
Box: {_TOP} {_SEAT} Cabinet Desk Dresser Shelf
Bread: {_TOP} Fridge GarbageCan Microwave
ButterKnife: {_TOP} Drawer SinkBasin
CD: {_TOP} Cabinet Desk Drawer Dresser GarbageCan Safe Shelf
Candle: {_TOP} Cabinet Cart Desk Drawer Dresser Shelf Toilet
CellPhone: {_TOP} {_SEAT} Bed Desk Drawer Dresser Safe Shelf
Cloth: {_TOP} {_SEAT} BathtubBasin Cabinet Cart Desk Drawer Dresser GarbageCan LaundryHamper \
Shelf SinkBasin Toilet
CreditCard: {_TOP} {_SEAT} Desk Drawer Dresser Safe Shelf
Cup: {_TOP} Cabinet Desk Dresser Fridge Microwave Shelf SinkBasin
DishSponge: {_TOP} BathtubBasin Cabinet Cart Drawer GarbageCan Shelf SinkBasin Toilet
Egg: {_TOP} Fridge GarbageCan Microwave SinkBasin
Fork: {_TOP} Drawer SinkBasin
Glassbottle: {_TOP} Cabinet Desk Dresser Fridge Microwave Shelf SinkBasin
HandTowel: {_TOP} BathtubBasin Cabinet Cart Drawer GarbageCan HandTowelHolder Shelf SinkBasin Toilet
Kettle: {_TOP} Cabinet Shelf SinkBasin StoveBurner
KeyChain: {_TOP} {_SEAT} Desk Drawer Dresser Safe Shelf
Knife: {_TOP} Drawer SinkBasin
Ladle: {_TOP} Cabinet Drawer SinkBasin
Laptop: {_TOP} {_SEAT} Bed Desk Dresser
Lettuce: {_TOP} Fridge GarbageCan SinkBasin
Mug: {_TOP} Cabinet Cart CoffeeMachine Desk Dresser Fridge Microwave Shelf SinkBasin
Newspaper: {_TOP} {_SEAT} Bed Cabinet Desk Drawer Dresser GarbageCan Shelf Toilet
Pan: {_TOP} Cabinet Fridge SinkBasin StoveBurner
Pen: {_TOP} Desk Drawer Dresser GarbageCan Shelf
Pencil: {_TOP} Desk Drawer Dresser GarbageCan Shelf
PepperShaker: {_TOP} Cabinet Drawer Shelf
Pillow: {_SEAT} Bed
Plate: {_TOP} Cabinet Desk Dresser Fridge Microwave Shelf SinkBasin
Plunger: Cabinet Cart
Pot: {_TOP} Cabinet Fridge Shelf SinkBasin StoveBurner
Potato: {_TOP} Fridge GarbageCan Microwave SinkBasin
RemoteControl: {_TOP} {_SEAT} Desk Drawer Dresser Shelf
SaltShaker: {_TOP} Cabinet Drawer Shelf
SoapBar: {_TOP} BathtubBasin Cabinet Cart Drawer GarbageCan Shelf SinkBasin Toilet
SoapBottle: {_TOP} Cabinet Cart Desk Drawer GarbageCan Shelf Toilet
Spatula: {_TOP} Drawer SinkBasin
Spoon: {_TOP} Drawer SinkBasin
SprayBottle: {_TOP} Cabinet Cart Desk Drawer Dresser GarbageCan Shelf Toilet
Statue: {_TOP} Cart Desk Dresser Safe Shelf
TennisRacket: {_TOP} Bed Desk Dresser
TissueBox: {_TOP} Cabinet Cart Desk Drawer Dresser GarbageCan Shelf TVStand Toilet
ToiletPaper: {_TOP} Cabinet Cart Desk Drawer Dresser GarbageCan Shelf Toilet ToiletPaperHanger
Tomato: {_TOP} Fridge GarbageCan Microwave SinkBasin
Towel: TowelHolder
Vase: {_TOP} Cabinet Cart Desk Dresser Safe Shelf
Watch: {_TOP} Desk Drawer Dresser Safe Shelf
WateringCan: {_TOP} Cabinet Desk Drawer Dresser Shelf
WineBottle: {_TOP} Cabinet Desk Dresser Fridge GarbageCan Shelf
"""

FITS: dict[str, frozenset[str]] = {
    kind: frozenset(places.split())
    for kind, _, places in (line.partition(": ") for line in _FITS.strip().splitlines())
}
"""The kinds of receptacle each kind of thing may be put in or on."""

_CAN = {
    "cleanable": "Apple Bowl ButterKnife Cloth Cup DishSponge Egg Fork Kettle Knife Ladle Lettuce "
    "Mug Pan Plate Pot Potato SoapBar Spatula Spoon Tomato",
    "heatable": "Apple Bread Cup Egg Mug Plate Potato Tomato",
    "coolable": "Apple Bowl Bread Cup Egg Lettuce Mug Pan Plate Pot Potato Tomato WineBottle",
    "sliceable": "Apple Bread Egg Lettuce Potato Tomato",
    "isreceptacleobject": "Bowl Box Cup Mug Pan Plate Pot",
}
CAN: dict[str, frozenset[str]] = {what: frozenset(kinds.split()) for what, kinds in _CAN.items()}
"""The kinds of thing a property holds of, by the property's name in the problem."""


def _properties(kind: str) -> tuple[str, ...]:
    if kind == LAMP:
        return ("toggleable",)
    return ("pickupable", *(what for what, kinds in CAN.items() if kind in kinds))


PROPERTIES: dict[str, tuple[str, ...]] = {kind: _properties(kind) for kind in (*FITS, LAMP)}
"""What can be done to each kind of thing."""
