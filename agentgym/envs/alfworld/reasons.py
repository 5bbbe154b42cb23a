"""The expert's sentences.

For each kind of move there are a few ways to say why; which one is used follows from the move and
the goal, so the same game is told the same way everywhere, and different games are not all told
alike.
"""

from __future__ import annotations

from zlib import crc32

from agentgym.envs.alfworld.aim import Aim
from agentgym.envs.alfworld.scene import Furniture, Scene

_ADJECTIVES = {"isclean": "clean", "ishot": "hot", "iscool": "cool"}
_PARTICIPLES = {"clean": "cleaned", "heat": "heated", "cool": "cooled"}


class Reasons:
    """Says why a move is made at one moment.

    Args:
        scene: the moment.
        aim: what the goal asks for.
    """

    def __init__(self, scene: Scene, aim: Aim) -> None:
        self._scene, self._aim = scene, aim
        self._thing = aim.thing.removesuffix("type")
        self._place = aim.place.removesuffix("type")
        self._state = _ADJECTIVES.get(aim.state, "")

    def outline(self) -> str:
        """Say what is asked for and how to go about it."""
        thing, place, state = self._thing, self._place, self._state
        if self._aim.lamp:
            lamp = self._aim.lamp.removesuffix("type")
            return self._one_of(
                "outline",
                f"I have to look at {_a(thing)} by the light of the {lamp}: I fetch the {thing}, "
                f"carry it to the lamp and switch that on.",
                f"To see {_a(thing)} under the {lamp} I need it in my hand and the lamp lit.",
            )
        into = self._into()
        if self._aim.count > 1:
            return self._one_of(
                "outline",
                f"I can carry one thing at a time, so I bring the two "
                f"{_plural(thing)} to the {place} one after the other.",
                f"Two {_plural(thing)} belong {into} the same {place}, and I can "
                f"only carry one at a time.",
            )
        if state:
            station = {"clean": "sinkbasin", "hot": "microwave", "cool": "fridge"}[state]
            return self._one_of(
                "outline",
                f"I need {_a(thing)}, have to get it {state} at the {station}, and then put it "
                f"{into} the {place}.",
                f"First {_a(thing)}, then the {station} to get it {state}, then the {place}.",
                f"The {thing} that goes {into} the {place} must be {state}, so the way leads by "
                f"the {station}.",
            )
        return self._one_of(
            "outline",
            f"I have to find {_a(thing)} and put it {into} the {place}.",
            f"{_a(thing).capitalize()} belongs {into} the {place}, so I fetch one first.",
        )

    def go_for(self, thing: str, place: Furniture, done: int) -> str:
        """Say why to go where a thing lies."""
        name, where = self._scene.name(thing), f"{place.into} {place.name}"
        if done:
            return self._one_of(
                where,
                f"One of the two is in place, and {name} is {where}, so I go there for the other.",
                f"One more is missing, and {name} is {where}, so that is where I go now.",
            )
        if self._state and self._scene.has(thing, self._aim.state):
            return (
                f"{name.capitalize()} {where} is {self._state} already, which saves me the way to "
                f"get it so, and I go there."
            )
        if place.type == self._aim.place:
            return (
                f"There is {name} {where} already, but it is not {self._state}, so I go and fetch "
                f"it."
            )
        if self._scene.closed(place):
            return self._one_of(
                where,
                f"{name.capitalize()} is {where}, which is closed, so I go there to open it.",
                f"I know that {name} is behind the door of {place.name}, so I go there."
                if place.kind != "drawer"
                else f"I know that {name} is in {place.name}, so I go there.",
                f"I have to look {where} for {name}, so I walk over.",
            )
        return self._one_of(
            where,
            f"There is {name} {where}, so I go there.",
            f"I need {_a(self._thing)}, and {name} is {where}, so that is where I go.",
            f"The {self._thing} that is least trouble to get is {name} {where}, so I walk over."
            if self._several()
            else f"The only {self._thing} here is {where}, so I walk over.",
        )

    def open_for(self, thing: str, place: Furniture) -> str:
        """Say why to open what a thing is in."""
        name = self._scene.name(thing)
        return self._one_of(
            place.name,
            f"{place.name.capitalize()} is closed and {name} is inside, so I open it.",
            f"I cannot reach {name} before {place.name} is open.",
            f"To get at {name} I have to open {place.name} first.",
        )

    def take(self, thing: str, place: Furniture) -> str:
        """Say why to take a thing."""
        name = self._scene.name(thing)
        if not self._scene.has(thing, self._aim.state) and place.type == self._aim.place:
            return (
                f"{name.capitalize()} lies where it belongs but is not {self._state}, so I take it "
                f"along."
            )
        return self._one_of(
            name,
            f"Here is {name}, which is what I need, so I take it.",
            f"{name.capitalize()} will do, and my hands are free, so I pick it up.",
            f"I am at {place.name}, so I take {name} from it.",
        )

    def carry_to_station(self, thing: str, station: Furniture, verb: str) -> str:
        """Say why to go where things are cleaned, heated or cooled."""
        name, station_name = self._scene.name(thing), station.name
        opposite = {"heat": "iscool", "cool": "ishot"}.get(verb, "")
        if opposite and self._scene.has(thing, opposite):
            return (
                f"{name.capitalize()} is {_ADJECTIVES[opposite]} and must be {self._state}, so I "
                f"carry it to {station_name}."
            )
        return self._one_of(
            name,
            f"The {self._thing} must be {self._state}, and {station_name} is where I can {verb} "
            f"it, so I carry it there.",
            f"{name.capitalize()} is not {self._state} yet; things are {_PARTICIPLES[verb]} at "
            f"{station_name}, so I go there with it.",
            f"Before I put {name} away it has to be {_PARTICIPLES[verb]}, so I bring it to "
            f"{station_name}.",
        )

    def treat(self, thing: str, station: Furniture, verb: str) -> str:
        """Say why to clean, heat or cool a thing."""
        name = self._scene.name(thing)
        return self._one_of(
            station.name,
            f"I stand at {station.name} with {name} in my hand, so I {verb} it.",
            f"This is {station.name}, so I {verb} {name} now.",
            f"{name.capitalize()} gets {self._state} here, so I {verb} it with {station.name}.",
        )

    def carry_to(self, thing: str, place: Furniture) -> str:
        """Say why to go to the destination."""
        name, where = self._scene.name(thing), f"{place.into} {place.name}"
        if self._state:
            return self._one_of(
                name,
                f"{name.capitalize()} is {self._state} now and belongs {where}, so I carry it "
                f"there.",
                f"With {name} {self._state}, only {place.name} is left to go to.",
                f"Now that {name} is {self._state}, I take it to {place.name}.",
            )
        return self._one_of(
            name,
            f"I have {name}, and it belongs {where}, so I carry it there.",
            f"{name.capitalize()} has to go {where}, so I take it to {place.name}.",
            f"I hold {name}; {place.name} is where it should be, so I go there.",
        )

    def open_to_put(self, thing: str, place: Furniture) -> str:
        """Say why to open the destination."""
        name = self._scene.name(thing)
        return self._one_of(
            name,
            f"{place.name.capitalize()} is closed, so I open it before I put {name} in.",
            f"I cannot put {name} into {place.name} while it is closed.",
            f"{name.capitalize()} goes in here, and for that {place.name} must be open.",
        )

    def put(self, thing: str, place: Furniture, left: int) -> str:
        """Say why to put a thing down at the destination."""
        name, what = self._scene.name(thing), f"the {self._state} {self._thing}".replace("  ", " ")
        if left > 0:
            return self._one_of(
                name,
                f"I am at {place.name}, so I put {name} down and then go for the next one.",
                f"{name.capitalize()} is the first for {place.name}; I put it down to have my hand "
                f"free.",
            )
        return self._one_of(
            name,
            f"I am at {place.name} with {what}, so I put it down and am done.",
            f"Putting {name} {place.into} {place.name} is all that is left to do.",
            f"This is where {what} belongs, so I put it down here.",
        )

    def carry_to_lamp(self, thing: str, lamp: str, place: Furniture) -> str:
        """Say why to go to the lamp."""
        name, light = self._scene.name(thing), self._scene.name(lamp)
        return self._one_of(
            name,
            f"I have {name}; now I need light, and {light} is on {place.name}, so I go there.",
            f"{light.capitalize()} stands on {place.name}, so I carry {name} there.",
            f"With {name} in my hand I go to {place.name}, where {light} is.",
        )

    def switch_on(self, thing: str, lamp: str) -> str:
        """Say why to use the lamp."""
        name, light = self._scene.name(thing), self._scene.name(lamp)
        return self._one_of(
            name,
            f"I hold {name} next to {light}, so I switch the light on to look at it.",
            f"{light.capitalize()} is right here, so I turn it on and see {name} in its light.",
        )

    def away(self, thing: str, place: Furniture) -> str:
        """Say why to get rid of what is carried."""
        name = self._scene.name(thing)
        return (
            f"I carry {name}, which is of no use here, and I need my hand free, so I put it "
            f"{place.into} {place.name}."
        )

    def nothing_to_do(self) -> str:
        """Say that there is no useful move."""
        return "I see nothing here that would bring me further, so I look around."

    def _several(self) -> bool:
        """Whether there is more than one of what is asked for."""
        return sum(kind == self._aim.thing for kind in self._scene.home.types.values()) > 1

    def _into(self) -> str:
        places = self._scene.home.furniture.values()
        return next((p.into for p in places if p.type == self._aim.place), "on")

    def _one_of(self, salt: str, *ways: str) -> str:
        return ways[crc32(f"{self._aim} {salt}".encode()) % len(ways)]


def _a(noun: str) -> str:
    if noun in ("bread", "toiletpaper"):
        return f"some {noun}"
    return f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun}"


def _plural(noun: str) -> str:
    if noun.endswith("knife"):
        return f"{noun[:-2]}ves"
    if noun.endswith(("x", "ss")) or noun in ("potato", "tomato"):
        return f"{noun}es"
    return f"{noun}s"
