"""A moment of a game as somebody sees it who sees everything.

The expert plans on it and the pictures are drawn from it, so neither has to know how the engine
keeps its state.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from agentgym.envs.alfworld.engine import Engine
from agentgym.envs.alfworld.problem import Fact, Problem
from agentgym.envs.alfworld.world import MARKS

INTO = {
    "bathtubbasin", "box", "cabinet", "drawer", "fridge", "garbagecan", "laundryhamper",
    "microwave", "safe", "sinkbasin",
}  # fmt: skip
"""What things lie in; on everything else they lie on."""


@dataclass(frozen=True, slots=True)
class Furniture:
    """What never changes about a receptacle."""

    id: str
    name: str
    type: str
    location: str
    openable: bool

    @property
    def kind(self) -> str:
        """The first word of its name: "cabinet"."""
        return self.name.partition(" ")[0]

    @property
    def into(self) -> str:
        """The word for being there: "in" or "on"."""
        return "in" if self.kind in INTO else "on"


@dataclass(frozen=True)
class Inventory:
    """What never changes about a home.

    Attributes:
        furniture: the receptacles one can stand at, by id, in order of their names.
        types: the type of every thing.
        names: the name of every thing and receptacle.
        fits: (receptacle type, thing type) pairs: what may be put where.
        marks: the facts about single things that never change: ("pickupable", thing).
    """

    furniture: dict[str, Furniture]
    types: dict[str, str]
    names: dict[str, str]
    fits: frozenset[tuple[str, str]]
    marks: frozenset[tuple[str, str]]


@lru_cache(maxsize=64)
def _inventory(facts: tuple[Fact, ...], names: tuple[tuple[str, str], ...]) -> Inventory:
    called = {i: name.strip() for i, name in names}
    openable = {f[1] for f in facts if f[0] == "openable"}
    types = {f[1]: f[2] for f in facts if f[0] == "receptacletype"}
    where = {f[1]: f[2] for f in facts if f[0] == "receptacleatlocation"}
    found = [
        Furniture(i, called[i], types.get(i, ""), place, i in openable)
        for i, place in where.items()
    ]
    return Inventory(
        {f.id: f for f in sorted(found, key=lambda f: _by_number(f.name))},
        {f[1]: f[2] for f in facts if f[0] == "objecttype"},
        called,
        frozenset((f[1], f[2]) for f in facts if f[0] == "cancontain"),
        frozenset((f[0], f[1]) for f in facts if len(f) == 2),
    )


def inventory(problem: Problem) -> Inventory:
    """Return what never changes about a problem's home."""
    return _inventory(problem.facts, tuple(problem.names.items()))


def _by_number(name: str) -> tuple[str, int]:
    kind, _, number = name.rpartition(" ")
    return kind, int(number) if number.isdecimal() else 0


@dataclass
class Scene:
    """A moment of a game.

    Attributes:
        home: what never changes.
        at: id of the place one stands at.
        held: id of the thing one carries, or "".
        inside: the receptacle of every thing that lies in or on one.
        opened: the receptacles that are open.
        states: "isclean", "ishot", "iscool", "istoggled", ... of every thing that is any of it.
    """

    home: Inventory
    at: str
    held: str
    inside: dict[str, str]
    opened: frozenset[str]
    states: dict[str, frozenset[str]] = field(default_factory=dict)

    def name(self, identifier: str) -> str:
        """Return what a thing or a receptacle is called."""
        return self.home.names[identifier]

    def has(self, thing: str, state: str) -> bool:
        """Whether a thing is in a state; "" is a state everything is in."""
        return not state or state in self.states.get(thing, ())

    def closed(self, place: Furniture) -> bool:
        """Whether a receptacle has to be opened before anything is taken or put there."""
        return place.openable and place.id not in self.opened

    def holds(self, place: Furniture) -> list[str]:
        """Return the things in or on a receptacle, in order of their names."""
        found = [thing for thing, where in self.inside.items() if where == place.id]
        return sorted(found, key=lambda thing: _by_number(self.name(thing)))

    def may_put(self, thing: str, place: Furniture) -> bool:
        """Whether a thing may be put in or on a receptacle."""
        return (place.type, self.home.types.get(thing, "")) in self.home.fits


def scene_of(home: Inventory, engine: Engine) -> Scene:
    """Return the present moment of a game."""
    states: dict[str, frozenset[str]] = {}
    for fact in engine.facts:
        if fact[0] in MARKS:
            states[fact[1]] = states.get(fact[1], frozenset()) | {fact[0]}
    return Scene(
        home,
        engine.here,
        engine.held[0] if engine.held else "",
        {thing: place for place, things in engine.contents.items() for thing in things},
        frozenset(fact[1] for fact in engine.facts if fact[0] == "opened"),
        states,
    )
