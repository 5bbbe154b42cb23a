"""A problem: what is in a home, how it stands at first, and when the task is done.

This is the one data model between the parts: the published games are read into it, the generator
of mini homes builds it, the engine plays it, and it is written out as PDDL for the original game.

Ids are ALFRED's, in lower case ("apple_bar__minus_00_dot_41_bar_..."), because a thing's name in
the game ("apple 2") follows from how all ids sort; see `names.py`. A fact is a tuple of the
predicate and its ids. Facts are kept as given, also those the engine makes no use of.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from agentgym.envs.alfworld import pddl
from agentgym.envs.alfworld.names import name_all
from agentgym.envs.alfworld.pddl import MalformedPddl, Term

AGENT = "agent1"

Fact = tuple[str, ...]
"""A predicate and its ids: ("inreceptacle", "apple_bar_1", "fridge_bar_1")."""

_OF_TWO = (
    "atlocation objectatlocation receptacleatlocation inreceptacle inreceptacleobject "
    "receptacletype objecttype cancontain holds"
)
_OF_ONE = (
    "openable opened holdsany pickupable cleanable heatable coolable toggleable sliceable "
    "isreceptacleobject isclean ishot iscool ison istoggled issliced"
)
ARITY = {**dict.fromkeys(_OF_TWO.split(), 2), **dict.fromkeys(_OF_ONE.split(), 1)}
"""How many ids a fact has, by predicate, of all that the game makes use of."""

_DOMAIN_CONSTANTS = {
    "sinkbasintype": "rtype",
    "microwavetype": "rtype",
    "fridgetype": "rtype",
    "knifetype": "otype",
    "butterknifetype": "otype",
}
"""Types the domain's own rules name; a problem must declare them even where it has none."""


@dataclass(frozen=True, slots=True)
class Receptacle:
    """A piece of furniture that things lie in or on.

    Attributes:
        id: unique, its kind first: "cabinet_bar_1"; "sink_bar_1_bar_sinkbasin" is a "sinkbasin".
        kind: "Cabinet"; its type in the PDDL is "cabinettype".
        location: id of the place where one stands in front of it; several may share one.
        openable: whether things in it are out of reach until it is opened.
        opened: whether it is open at first.
    """

    id: str
    kind: str
    location: str
    openable: bool = False
    opened: bool = False


@dataclass(frozen=True, slots=True)
class Thing:
    """An object.

    Attributes:
        id: unique, its kind first: "apple_bar_1".
        kind: "Apple"; its type in the PDDL is "appletype".
        inside: id of the receptacle it lies in or on.
        properties: what can be done to it and how it is at first: "pickupable", "cleanable",
            "heatable", "coolable", "toggleable", "sliceable", "ishot", "isclean", ...
    """

    id: str
    kind: str
    inside: str
    properties: tuple[str, ...] = ("pickupable",)


@dataclass(frozen=True)
class Problem:
    """One game, before anybody has moved.

    Attributes:
        objects: the type of every id, in the order given.
        facts: what is true at first, in the order given.
        goal: the formula that holds once the task is done (see `goals.py`).
        task: the goal in words ("put a clean apple in fridge"), without a full stop.
        kind: the task's family ("pick_and_place_simple"), "" where unknown.
    """

    objects: Mapping[str, str]
    facts: tuple[Fact, ...]
    goal: Term
    task: str
    kind: str = field(default="")

    @classmethod
    def furnish(
        cls,
        receptacles: Iterable[Receptacle],
        things: Iterable[Thing],
        contains: Iterable[tuple[str, str]],
        start: str,
        goal: Term,
        task: str,
        kind: str = "",
    ) -> Problem:
        """Make a problem from its furniture and the things in it.

        Args:
            receptacles: the furniture.
            things: the objects.
            contains: (receptacle kind, thing kind) pairs: what may be put where.
            start: id of the location the agent stands at; one with no receptacle is the middle of
                the room.
            goal: when it is done (`goals.goal_of` makes one).
            task: the goal in words.
            kind: the task's family.
        """
        objects = {AGENT: "agent", **_DOMAIN_CONSTANTS}
        facts: list[Fact] = []
        where: dict[str, str] = {}
        for r in receptacles:
            rid, rtype, place = r.id.lower(), f"{r.kind.lower()}type", r.location.lower()
            objects[rtype], objects[rid], objects[place] = "rtype", "receptacle", "location"
            where[rid] = place
            facts += (("receptacletype", rid, rtype), ("receptacleatlocation", rid, place))
            if r.openable:
                facts.append(("openable", rid))
            if r.opened:
                facts.append(("opened", rid))
        for thing in things:
            oid, otype, inside = thing.id.lower(), f"{thing.kind.lower()}type", thing.inside.lower()
            objects[otype], objects[oid] = "otype", "object"
            facts += (("objecttype", oid, otype), ("inreceptacle", oid, inside))
            facts.append(("objectatlocation", oid, where[inside]))
            facts += [(name, oid) for name in thing.properties]
        fits = _fits(tuple(contains))
        for _, rtype, otype in fits:
            objects[rtype], objects[otype] = "rtype", "otype"
        objects[start.lower()] = "location"
        facts += (*fits, ("atlocation", AGENT, start.lower()))
        return cls(objects, tuple(facts), goal, task, kind)

    @classmethod
    def from_pddl(cls, text: str, task: str, kind: str = "") -> Problem:
        """Read a PDDL problem (`initial_state.pddl`, or "pddl_problem" of a game file).

        Args:
            text: the PDDL.
            task: the goal in words, which is not part of PDDL.
            kind: the task's family.

        Raises:
            MalformedPddl: if it is not a problem of the ALFRED domain.
        """
        sections = _sections(text)
        missing = [name for name in (":objects", ":init", ":goal") if name not in sections]
        if missing:
            raise MalformedPddl(f"the problem has no ({missing[0]} ...) section")
        objects = dict(pddl.typed(sections[":objects"]))
        facts = tuple(fact for term in sections[":init"] if (fact := _fact(term)) is not None)
        goal = sections[":goal"]
        if len(goal) != 1:
            raise MalformedPddl(f"the goal must be one formula, not {len(goal)}")
        return cls(objects, facts, goal[0], task, kind)

    def to_pddl(self, name: str = "home") -> str:
        """Return the problem as PDDL, its sections in the order the original can read."""
        groups: dict[str, list[str]] = {}
        for identifier, kind in {**self.objects, **_missing_constants(self.objects)}.items():
            groups.setdefault(kind, []).append(identifier)
        objects = "\n".join(f"    {' '.join(ids)} - {kind}" for kind, ids in groups.items())
        init = "\n".join(f"    {pddl.write(fact)}" for fact in self.facts)
        return (
            f"(define (problem {name})\n  (:domain alfred)\n  (:objects\n{objects}\n  )\n"
            f"  (:init\n{init}\n    (= (total-cost) 0)\n  )\n"
            f"  (:goal {pddl.write(self.goal)})\n)\n"
        )

    @cached_property
    def names(self) -> dict[str, str]:
        """The name in the game of every id that a fact speaks of: {"apple_bar_1": "apple 1"}."""
        return name_all({i for fact in self.facts for i in fact[1:]})

    def of(self, predicate: str) -> list[Fact]:
        """Return the facts of one predicate (in lower case), in order."""
        return [fact for fact in self.facts if fact[0] == predicate]


@lru_cache(maxsize=256)
def _fits(contains: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str, str], ...]:
    """Return what may be put where as facts; games in one home share them."""
    return tuple(("cancontain", f"{r.lower()}type", f"{o.lower()}type") for r, o in contains)


def _missing_constants(objects: Mapping[str, str]) -> dict[str, str]:
    return {name: kind for name, kind in _DOMAIN_CONSTANTS.items() if name not in objects}


def _sections(text: str) -> dict[str, tuple[Term, ...]]:
    """Return what each (:name ...) section of a problem holds."""
    problem = pddl.read(text)
    if not isinstance(problem, tuple) or problem[:1] != ("define",):
        raise MalformedPddl("a PDDL problem begins with (define (problem ...")
    sections: dict[str, tuple[Term, ...]] = {}
    for part in problem[1:]:
        if isinstance(part, tuple) and part and isinstance(part[0], str):
            sections.setdefault(part[0], part[1:])
    return sections


def _fact(term: Term) -> Fact | None:
    """Return an entry of the init section as a fact, or None for a cost, which the game ignores."""
    if isinstance(term, str) or not term or not all(isinstance(t, str) for t in term):
        if isinstance(term, tuple) and term[:1] == ("=",):
            return None
        raise MalformedPddl(f"{pddl.write(term)[:80]} is not a fact")
    if term[0] == "=":
        return None
    fact = tuple(str(part) for part in term)
    wanted = ARITY.get(fact[0], len(fact) - 1)
    if len(fact) - 1 != wanted:
        raise MalformedPddl(f"{pddl.write(term)[:80]} must be about {wanted}, not {len(fact) - 1}")
    return fact
