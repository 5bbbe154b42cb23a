"""The engine: the state of a game, and what each action does to it.

The state is the set of facts that are true, as the domain has it, beside an index of what lies
where. It is equal to the original in what it does, including what surprises:

- going to where one already stands is no action, and so is going to another receptacle there;
- looking around from the middle of the room shows everything at the start, "nothing" afterwards;
- only what one holds can be examined, beside the receptacles one stands at;
- heating, cooling and cleaning need the thing in hand and no open door;
- a lamp is switched on however often it is used, and also where it lies behind a closed door;
- a thing taken from one receptacle and put into another at the same place is from then on also
  seen next to it ("Next to it, you see a apple 1").
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable
from typing import NamedTuple

from agentgym.envs.alfworld import words as say
from agentgym.envs.alfworld.problem import Fact
from agentgym.envs.alfworld.world import MARKS, Item, Place, World

TAKEN_FROM = "not_inreceptacle"
"""Facts of things that were taken from a receptacle and have not been put back there."""


class Deed(NamedTuple):
    """One action that can be done now: which, to what, at which receptacle, with which knife."""

    verb: str
    item: Item | None = None
    place: Place | None = None
    knife: Item | None = None


class Engine:
    """A game being played.

    Args:
        world: what never changes about it.
    """

    __slots__ = ("_actions", "_deeds", "_won", "contents", "facts", "held", "here", "world")

    def __init__(self, world: World) -> None:
        self.world = world
        self.restore(world.start)

    def restore(self, facts: Iterable[Fact]) -> None:
        """Bring the game to the state in which exactly these of the changing facts are true."""
        self.facts: set[Fact] = set(facts)
        self.contents: dict[str, list[str]] = {place.id: [] for place in self.world.places}
        self.held: list[str] = []
        self.here = ""
        for fact in self.facts:
            if fact[0] == "inreceptacle":
                self.contents.setdefault(fact[2], []).append(fact[1])
            elif fact[0] == "holds":
                self.held.append(fact[2])
            elif fact[0] == "atlocation":
                self.here = fact[2]
        for things in (self.held, *self.contents.values()):
            things.sort()
        self._touch()

    def _touch(self) -> None:
        self._deeds: dict[str, Deed] | None = None
        self._actions: list[str] | None = None
        self._won: bool | None = None

    @property
    def won(self) -> bool:
        """Whether the goal holds now."""
        if self._won is None:
            self._won = self.world.done(self.facts)
        return self._won

    @property
    def actions(self) -> list[str]:
        """What can be done now, in order; not to be changed by the caller."""
        if self._actions is None:
            self._actions = sorted(self.world.always_from(self.here) + list(self._possible()))
        return self._actions

    def opening(self) -> str:
        """Return the scene a game begins with."""
        if self.here in self.world.at:
            return self._facing()
        return say.in_room([place.name for place in self.world.places])

    def play(self, action: str) -> str | None:
        """Do an action and return what is answered, or None where it cannot be done."""
        places = self.world.going.get(action)
        if places is not None:
            elsewhere = (place for place in places if place.location != self.here)
            place = next(elsewhere, None)
            return None if place is None else self._go(place)
        deed = self._possible().get(action)
        if deed is not None:
            return self._do(deed)
        if action == "look":
            return self._facing() if self.here in self.world.at else say.in_room([])
        if action == "inventory":
            return self._inventory()
        if action == "help" and self.world.words.help:
            return say.HELP
        return None

    # What can be done.

    def _possible(self) -> dict[str, Deed]:
        """Return what can be done here and now, beside what always can."""
        if self._deeds is None:
            deeds: dict[str, Deed] = {}
            for place in self.world.at.get(self.here, ()):
                self._at(place, deeds)
            for i in self.held:
                self._with(self.world.items[i], deeds)
            self._deeds = deeds
        return self._deeds

    def _at(self, place: Place, deeds: dict[str, Deed]) -> None:
        name, items, world = place.name, self.world.items, self.world
        reachable = not place.openable
        if place.openable:
            reachable = ("opened", place.id) in self.facts
            verb = "close" if reachable else "open"
            deeds[f"{verb} {name}"] = Deed(verb, None, place)
        deeds[f"examine {name}"] = Deed("examine", None, place)
        free = ("holdsany", world.agent) not in self.facts
        for i in self.contents[place.id]:
            item = items[i]
            if reachable and free and "pickupable" in item.marks:
                deeds[f"take {item.name} from {name}"] = Deed("take", item, place)
            if "toggleable" in item.marks:
                deeds[f"use {item.name}"] = Deed("use", item, place)
        for i in self.held:
            item = items[i]
            if reachable and i in place.accepts:
                put = world.words.put.format(o=item.name, r=name)
                deeds[put] = Deed("put", item, place)
            if place.cleans and "cleanable" in item.marks:
                deeds[f"clean {item.name} with {name}"] = Deed("clean", item, place)
            if place.heats and "heatable" in item.marks:
                deeds[f"heat {item.name} with {name}"] = Deed("heat", item, place)
            if place.cools and "coolable" in item.marks:
                deeds[f"cool {item.name} with {name}"] = Deed("cool", item, place)

    def _with(self, item: Item, deeds: dict[str, Deed]) -> None:
        deeds[f"examine {item.name}"] = Deed("examine", item)
        if item.knife:
            for other in self.world.items.values():
                near = ("objectatlocation", other.id, self.here) in self.facts
                if near and "sliceable" in other.marks:
                    deeds[f"slice {other.name} with {item.name}"] = Deed("slice", other, None, item)

    # What it does.

    def _do(self, deed: Deed) -> str:
        verb, item, place, knife = deed
        if item is None:
            assert place is not None
            return self._examine(place) if verb == "examine" else self._turn(verb, place)
        if verb == "examine":
            return self._describe(item)
        self._touch()
        if knife is not None:
            self.facts.add(("issliced", item.id))
            return f"You sliced the {item.name} with the {knife.name}."
        assert place is not None
        if verb == "take":
            return self._take(item, place)
        if verb == "put":
            return self._put(item, place)
        return self._treat(verb, item, place)

    def _go(self, place: Place) -> str:
        agent = self.world.agent
        self.facts.discard(("atlocation", agent, self.here))
        self.here = place.location
        self.facts.add(("atlocation", agent, self.here))
        self._touch()
        loc = self.world.names[place.location]
        arrival = self.world.words.arrive.format(loc=loc, r=place.name)
        return arrival + self._examine(place)

    def _turn(self, verb: str, place: Place) -> str:
        self._touch()
        if verb == "close":
            self.facts.discard(("opened", place.id))
            return f"You close the {place.name}."
        self.facts.add(("opened", place.id))
        return f"You open the {place.name}. {self._examine(place)}"

    def _take(self, item: Item, place: Place) -> str:
        facts, agent = self.facts, self.world.agent
        facts.discard(("inreceptacle", item.id, place.id))
        facts.discard(("objectatlocation", item.id, self.here))
        facts |= {("holds", agent, item.id), ("holdsany", agent), (TAKEN_FROM, item.id, place.id)}
        self.contents[place.id].remove(item.id)
        insort(self.held, item.id)
        return f"You pick up the {item.name} from the {place.name}."

    def _put(self, item: Item, place: Place) -> str:
        facts, agent = self.facts, self.world.agent
        facts -= {("holds", agent, item.id), ("holdsany", agent), (TAKEN_FROM, item.id, place.id)}
        facts.add(("inreceptacle", item.id, place.id))
        facts.add(("objectatlocation", item.id, self.here))
        self.held.remove(item.id)
        if item.id not in self.contents[place.id]:
            insort(self.contents[place.id], item.id)
        return self.world.words.put_done.format(o=item.name, r=place.name)

    def _treat(self, verb: str, item: Item, place: Place) -> str:
        facts = self.facts
        if verb == "use":
            facts.add(("istoggled", item.id))
            facts ^= {("ison", item.id)}
            return f"You turn on the {item.name}."
        if verb == "clean":
            facts.add(("isclean", item.id))
        else:
            gained, lost = ("ishot", "iscool") if verb == "heat" else ("iscool", "ishot")
            facts.add((gained, item.id))
            facts.discard((lost, item.id))
        return f"You {verb} the {item.name} using the {place.name}."

    # What it looks like.

    def _examine(self, place: Place) -> str:
        if place.openable and ("opened", place.id) not in self.facts:
            return f"The {place.name} is closed."
        items = self.world.items
        seen = say.listed([items[i].name for i in self.contents[place.id]])
        if place.openable:
            return f"The {place.name} is open. In it, you see {seen}."
        return f"On the {place.name}, you see {seen}."

    def _describe(self, item: Item) -> str:
        if item.holds is not None:
            return f"This is a normal {item.name}. In it, you see {say.listed(item.holds)}."
        now = [mark for mark in MARKS if (mark, item.id) in self.facts]
        return say.state_of(item.name, [*item.marks, *now])

    def _facing(self) -> str:
        places = self.world.at[self.here]
        strayed = sorted(f for f in self.facts if f[0] == TAKEN_FROM)
        ids = {place.id for place in places}
        beside = [
            self.world.items[thing].name
            for _, thing, left in strayed
            if left in ids and ("objectatlocation", thing, self.here) in self.facts
        ]
        return say.facing([place.name for place in places], beside)

    def _inventory(self) -> str:
        if ("holdsany", self.world.agent) not in self.facts:
            return "You are not carrying anything."
        return f"You are carrying: {say.listed([self.world.items[i].name for i in self.held])}."
