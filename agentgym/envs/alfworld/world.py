"""What never changes in a game, worked out once: names, places, what may be done where.

Every environment that plays the same problem in the same words shares one `World`. Lists are in
the order of the ids as text, which is the order in which the original lists things.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from agentgym.envs.alfworld.judge import Judge
from agentgym.envs.alfworld.pddl import MalformedPddl
from agentgym.envs.alfworld.problem import Fact, Problem
from agentgym.envs.alfworld.words import Words

MARKS = ("isclean", "ishot", "iscool", "ison", "istoggled", "issliced")
"""What a thing can come to be."""
CHANGING = frozenset(
    {*MARKS, "atlocation", "opened", "inreceptacle", "objectatlocation", "holds", "holdsany"}
)
"""The predicates whose facts can change."""


class Place(NamedTuple):
    """A receptacle one can stand at.

    Attributes:
        id: its id.
        name: what it is called.
        location: where one stands at it.
        openable: whether it has to be open before anything is taken or put there.
        accepts: the things that may be put there.
        cleans: whether it is a sink basin.
        heats: whether it is a microwave.
        cools: whether it is a fridge.
    """

    id: str
    name: str
    location: str
    openable: bool
    accepts: frozenset[str]
    cleans: bool
    heats: bool
    cools: bool


class Item(NamedTuple):
    """A thing.

    Attributes:
        id: its id.
        name: what it is called.
        marks: what is true of it for ever: "pickupable", "heatable", ...
        knife: whether it cuts.
        holds: names of what lies in it, or None where it is no container.
    """

    id: str
    name: str
    marks: frozenset[str]
    knife: bool
    holds: tuple[str, ...] | None


class World:
    """A problem in a vocabulary.

    Args:
        problem: the game.
        words: its vocabulary.

    Raises:
        MalformedPddl: if there is not exactly one agent, at one location.
    """

    def __init__(self, problem: Problem, words: Words) -> None:
        self.words, self.names = words, problem.names
        by_predicate: dict[str, list[Fact]] = {}
        for fact in problem.facts:
            by_predicate.setdefault(fact[0], []).append(fact)
        self._facts = by_predicate
        at = sorted(set(by_predicate.get("atlocation", ())))
        if len(at) != 1 or len(at[0]) != 3:
            raise MalformedPddl(f"a game has one agent at one location; here are {len(at)}")
        self.agent = at[0][1]
        self.start = frozenset(f for name in CHANGING for f in by_predicate.get(name, ()))
        self.done = Judge(problem.goal, problem.objects, by_predicate, CHANGING).holds
        types = _grouped(by_predicate.get("objecttype", ()))
        self.items = self._items(types)
        self.places = self._places(types)
        self.at: dict[str, tuple[Place, ...]] = {}
        for place in self.places:
            self.at[place.location] = (*self.at.get(place.location, ()), place)
        self.going: dict[str, tuple[Place, ...]] = {}
        for place in self.places:  # one that is reached from two locations is there twice
            action = f"go to {place.name}"
            self.going[action] = (*self.going.get(action, ()), place)
        self._always = ("inventory", "look") + (("help",) if words.help else ())
        self._from: dict[str, list[str]] = {}

    def always_from(self, location: str) -> list[str]:
        """Return, in order, the actions that can be done at a location whatever has happened."""
        found = self._from.get(location)
        if found is None:
            going = {
                action
                for action, places in self.going.items()
                if any(place.location != location for place in places)
            }
            found = self._from[location] = sorted(going.union(self._always))
        return found

    def _items(self, types: dict[str, set[str]]) -> dict[str, Item]:
        """Return everything that is, or could come to be, in a receptacle or in the hand."""
        facts = self._facts
        marks: dict[str, set[str]] = {}
        for name in ("pickupable", "cleanable", "heatable", "coolable", "toggleable", "sliceable",
                     "isreceptacleobject"):  # fmt: skip
            for fact in facts.get(name, ()):
                marks.setdefault(fact[1], set()).add(name)
        inside: dict[str, list[str]] = {}
        for _, inner, outer in sorted(set(facts.get("inreceptacleobject", ()))):
            inside.setdefault(outer, []).append(self.names[inner])
        ids = {*types, *marks}
        ids |= {f[1] for name in ("inreceptacle", "objectatlocation") for f in facts.get(name, ())}
        ids |= {f[2] for f in facts.get("holds", ())}
        knives = {"knifetype", "butterknifetype"}
        return {
            i: Item(
                i,
                self.names[i],
                frozenset(own := marks.get(i, set())),
                not knives.isdisjoint(types.get(i, ())),
                tuple(inside.get(i, ())) if "isreceptacleobject" in own else None,
            )
            for i in sorted(ids)
        }

    def _places(self, types: dict[str, set[str]]) -> tuple[Place, ...]:
        kinds = _grouped(self._facts.get("receptacletype", ()))
        openable = {fact[1] for fact in self._facts.get("openable", ())}
        of_type: dict[str, list[str]] = {}
        for i, own in types.items():
            for otype in own:
                of_type.setdefault(otype, []).append(i)
        fits = _grouped(self._facts.get("cancontain", ()))
        accepted = {
            rtype: frozenset(i for otype in otypes for i in of_type.get(otype, ()))
            for rtype, otypes in fits.items()
        }
        places, none = [], frozenset[str]()
        for _, i, location in sorted(set(self._facts.get("receptacleatlocation", ()))):
            own = kinds.get(i, set())
            if len(own) == 1:  # all of a kind share what they accept
                accepts = accepted.get(next(iter(own)), none)
            else:
                accepts = none.union(*(accepted.get(rtype, none) for rtype in own))
            tools = (name in own for name in ("sinkbasintype", "microwavetype", "fridgetype"))
            places.append(Place(i, self.names[i], location, i in openable, accepts, *tools))
        return tuple(places)


def _grouped(facts: Iterable[Fact]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for _, first, second in facts:
        found.setdefault(first, set()).add(second)
    return found
