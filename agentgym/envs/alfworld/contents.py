"""What lies in the rooms of the mini edition, and where it makes sense.

A line is a kind of thing, how many of it a room has at least and at most, and where it may lie when
a game begins; a place named twice is twice as likely. This is our own idea of a home. It is
narrower than what may be put where (`kinds.FITS`): an egg may be put into the garbage can, but
does not start there.
"""

from __future__ import annotations

from typing import NamedTuple


class Habit(NamedTuple):
    """How many of a kind of thing a room has, and where they lie."""

    least: int
    most: int
    places: tuple[str, ...]


_LINES = {
    "kitchen": """
Apple 0 2: CounterTop CounterTop DiningTable SideTable Fridge Fridge
Book 0 1: CounterTop DiningTable SideTable Shelf
Bowl 1 2: Cabinet Cabinet CounterTop Shelf DiningTable Fridge SinkBasin
Bread 0 1: CounterTop CounterTop DiningTable Fridge
ButterKnife 1 2: Drawer Drawer CounterTop DiningTable SinkBasin
CellPhone 0 1: CounterTop DiningTable SideTable Drawer
CreditCard 0 1: CounterTop DiningTable SideTable Drawer Shelf
Cup 1 2: Cabinet Cabinet CounterTop Shelf DiningTable SinkBasin Fridge
DishSponge 1 2: SinkBasin SinkBasin CounterTop Drawer Cabinet
Egg 0 2: Fridge Fridge CounterTop SinkBasin DiningTable
Fork 1 2: Drawer Drawer CounterTop DiningTable SinkBasin
Glassbottle 0 2: Cabinet CounterTop Fridge Shelf
Kettle 0 1: StoveBurner StoveBurner Cabinet CounterTop
Knife 1 2: CounterTop CounterTop Drawer Drawer SinkBasin DiningTable
Ladle 0 2: CounterTop Drawer Cabinet SinkBasin
Lettuce 0 2: CounterTop Fridge Fridge SinkBasin DiningTable
Mug 1 2: Cabinet Cabinet CounterTop CoffeeMachine CoffeeMachine Shelf SinkBasin
Pan 1 2: StoveBurner StoveBurner Cabinet CounterTop
PepperShaker 1 2: CounterTop Cabinet Drawer Shelf DiningTable
Plate 1 3: Cabinet Cabinet CounterTop DiningTable SinkBasin Shelf
Pot 1 2: StoveBurner StoveBurner Cabinet CounterTop SinkBasin
Potato 0 2: CounterTop Fridge SinkBasin DiningTable SideTable
SaltShaker 1 2: CounterTop Cabinet Drawer Shelf DiningTable
SoapBottle 1 2: CounterTop Cabinet Drawer
Spatula 1 2: Drawer Drawer CounterTop SinkBasin
Spoon 1 2: Drawer Drawer CounterTop DiningTable SinkBasin
Tomato 0 2: CounterTop Fridge SinkBasin DiningTable SideTable
Vase 0 1: CounterTop DiningTable Shelf Cabinet SideTable
WineBottle 0 1: Cabinet Fridge CounterTop
""",
    "livingroom": """
Book 0 2: Shelf Shelf CoffeeTable Sofa ArmChair SideTable Desk Drawer
Bowl 0 1: CoffeeTable DiningTable SideTable Dresser
Box 1 2: Sofa ArmChair CoffeeTable DiningTable Dresser Ottoman
Candle 0 1: CoffeeTable DiningTable SideTable Shelf Drawer
CellPhone 0 2: Sofa ArmChair CoffeeTable SideTable Desk Drawer
CreditCard 1 2: ArmChair Sofa CoffeeTable SideTable Dresser Drawer Drawer Shelf
DeskLamp 1 1: SideTable SideTable Desk Dresser
KeyChain 1 2: CoffeeTable SideTable Sofa Drawer Drawer Dresser Shelf Safe
Laptop 1 2: Sofa CoffeeTable DiningTable Desk ArmChair Ottoman
Newspaper 0 2: CoffeeTable Sofa ArmChair SideTable Drawer DiningTable Cabinet
Pen 0 1: Drawer Desk SideTable CoffeeTable Shelf
Pencil 0 1: Drawer Desk SideTable CoffeeTable Shelf
Pillow 1 3: Sofa Sofa ArmChair Ottoman
Plate 0 2: CoffeeTable DiningTable SideTable
RemoteControl 1 2: CoffeeTable CoffeeTable Sofa ArmChair SideTable Drawer Ottoman
Statue 1 3: Shelf Shelf SideTable Dresser CoffeeTable DiningTable Safe
TissueBox 0 1: CoffeeTable SideTable TVStand DiningTable Cabinet
Vase 0 2: Shelf Shelf SideTable CoffeeTable DiningTable Cabinet Safe
Watch 0 2: SideTable Drawer CoffeeTable Shelf Dresser Safe
WateringCan 0 1: SideTable Shelf DiningTable Cabinet
""",
    "bedroom": """
AlarmClock 1 2: SideTable SideTable Desk Dresser Shelf
BaseballBat 0 1: Bed
BasketBall 0 1: Bed ArmChair Desk Dresser
Book 1 2: Bed Desk SideTable Shelf Shelf Drawer ArmChair
Bowl 0 1: Desk Dresser Shelf SideTable
Box 0 1: Dresser Shelf Desk ArmChair Cabinet
CD 1 3: Desk Desk Shelf Drawer Drawer Dresser Safe SideTable
CellPhone 1 2: Bed Desk SideTable Drawer Dresser
Cloth 0 2: Dresser Drawer LaundryHamper LaundryHamper Desk ArmChair
CreditCard 1 2: Desk SideTable Drawer Dresser Shelf Safe
DeskLamp 1 1: Desk Desk SideTable SideTable Dresser
KeyChain 1 2: Desk SideTable Drawer Drawer Dresser Shelf Safe
Laptop 1 2: Bed Bed Desk Desk ArmChair
Mug 0 2: Desk SideTable Shelf Dresser
Newspaper 0 1: Bed ArmChair SideTable Desk
Pen 1 3: Desk Drawer Drawer Shelf SideTable
Pencil 1 2: Desk Drawer Drawer Shelf SideTable
Pillow 1 2: Bed Bed Bed ArmChair
RemoteControl 0 1: SideTable Drawer Dresser Desk
Statue 0 1: Shelf Dresser Desk Safe
TennisRacket 0 1: Bed Desk Dresser
TissueBox 0 1: SideTable Desk Drawer Dresser Cabinet
Vase 0 1: Shelf Desk Dresser SideTable Safe Cabinet
Watch 0 2: SideTable Drawer Dresser Desk Safe
""",
    "bathroom": """
Candle 1 2: CounterTop Toilet Drawer Shelf Cabinet Cart SideTable
Cloth 1 3: CounterTop Cabinet Drawer BathtubBasin SinkBasin Cart Dresser Shelf
DishSponge 0 1: SinkBasin BathtubBasin CounterTop Cabinet
HandTowel 1 2: HandTowelHolder HandTowelHolder HandTowelHolder CounterTop
Plunger 0 1: Cabinet Cart
SoapBar 1 3: SinkBasin BathtubBasin CounterTop Cabinet Drawer Toilet GarbageCan
SoapBottle 1 3: CounterTop Cabinet Drawer Toilet GarbageCan Cart
SprayBottle 1 2: CounterTop Cabinet Cabinet Drawer Toilet GarbageCan
TissueBox 0 1: CounterTop Toilet SideTable Cart Drawer
ToiletPaper 1 3: ToiletPaperHanger Cabinet Cabinet Drawer Toilet CounterTop
Towel 1 1: TowelHolder
""",
}


def _habit(rest: str) -> Habit:
    counts, _, places = rest.partition(": ")
    least, most = map(int, counts.split())
    return Habit(least, most, tuple(places.split()))


HABITS: dict[str, dict[str, Habit]] = {
    room: {
        kind: _habit(rest)
        for kind, _, rest in (line.partition(" ") for line in lines.strip().splitlines())
    }
    for room, lines in _LINES.items()
}
"""The habits of each room, by kind of thing."""
