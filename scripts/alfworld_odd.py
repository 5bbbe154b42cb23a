"""Odd ALFWorld games, for `alfworld_record.py`: what published games have and tidy homes have not.

Several receptacles at one place, things that lie at another place than their receptacle says, or
in nothing; lamps behind doors and lamps one can carry; containers with something in them; things
that are hot, sliced or switched on at first; a start in front of a receptacle, with full hands;
names that are sorted as text; and goals beyond the six types.
"""

from __future__ import annotations

import random

from agentgym.envs.alfworld.goals import KINDS, goal_of, task_text
from agentgym.envs.alfworld.pddl import read
from agentgym.envs.alfworld.problem import AGENT, Problem, Receptacle, Thing

FURNITURE = (
    ("Cabinet", True), ("Drawer", True), ("Fridge", True), ("Microwave", True), ("Safe", True),
    ("CounterTop", False), ("DiningTable", False), ("Shelf", False), ("Desk", False),
    ("GarbageCan", False), ("StoveBurner", False),
)  # fmt: skip
EDIBLE = ("pickupable", "heatable", "coolable", "cleanable", "sliceable")
THINGS = {
    "Apple": EDIBLE, "Bread": ("pickupable", "heatable", "coolable", "sliceable"), "Tomato": EDIBLE,
    "Knife": ("pickupable", "cleanable"), "ButterKnife": ("pickupable", "cleanable"),
    "Mug": ("pickupable", "heatable", "coolable", "cleanable", "isreceptacleobject"),
    "Bowl": ("pickupable", "coolable", "cleanable", "isreceptacleobject"),
    "Egg": ("pickupable", "heatable", "coolable", "cleanable"),
    "DeskLamp": ("toggleable",), "FloorLamp": ("toggleable",), "Book": ("pickupable",),
    "Flashlight": ("pickupable", "toggleable"), "Statue": ("pickupable",), "Chair": (),
    "WashbasinPlug": ("pickupable", "cleanable"),
}  # fmt: skip
STATES = ("isclean", "ishot", "iscool", "issliced", "istoggled", "ison")

GOALS = (
    (
        "slice some {o} and put it in {r}",
        "(and (exists (?r - receptacle) (exists (?o - object ?ko - object) (and (sliceable ?o)"
        "(isSliced ?o) (objectType ?o {o}Type) (inReceptacle ?o ?r) "
        "(receptacleType ?r {r}Type)))))",
    ),
    (
        "hold some {o} in front of an open {r}",
        "(and (exists (?a - agent ?o - object) (and (holds ?a ?o) (objectType ?o {o}Type))) "
        "(exists (?a - agent ?l - location ?r - receptacle) (and (receptacleType ?r {r}Type) "
        "(opened ?r) (receptacleAtLocation ?r ?l) (atLocation ?a ?l))))",
    ),
    (
        "put all {o}s in {r}",
        "(and (exists (?r - receptacle) (forall (?o - object) (or (and (objectType ?o {o}Type) "
        "(receptacleType ?r {r}Type) (inReceptacle ?o ?r)) (or (not (objectType ?o {o}Type)))))))",
    ),
)
"""Goals beyond the six types."""


def odd_game(rng: random.Random) -> Problem:
    """Return an odd game, drawn from `rng`."""
    furniture = _furniture(rng)
    things = _things(rng, furniture)
    kinds = sorted({t.kind for t in things})
    places = sorted({r.kind for r in furniture})
    fits = [(r, o) for r in places for o in (*kinds, "Plate") if rng.random() < 0.7]
    wanted = rng.choice([k for k in kinds if "pickupable" in THINGS[k]])
    target = rng.choice(places)
    fits.append((target, wanted))
    kind = rng.choice(KINDS)
    if rng.random() < 0.4:
        task, text = rng.choice(GOALS)
        task, goal = (
            task.format(o=wanted.lower(), r=target.lower()),
            read(text.format(o=wanted, r=target)),
        )
    else:
        aim = "DeskLamp" if kind == "look_at_obj_in_light" else target
        task, goal = task_text(kind, wanted, aim, rng.randrange(2)), goal_of(kind, wanted, aim)
    middle = rng.random() < 0.6
    start = "loc_bar_0_bar_0" if middle else rng.choice(furniture).location
    home = Problem.furnish(furniture, things, fits, start, goal, task, kind)
    return _untidied(rng, home, furniture, things)


def _point(rng: random.Random) -> str:
    sign = rng.choice(("_plus_", "_minus_"))
    return f"_bar_{sign}0{rng.randrange(3)}_dot_{rng.randrange(100):02d}"


def _furniture(rng: random.Random) -> list[Receptacle]:
    found, taken = [], set()
    spots = [f"loc_bar_{i}_bar__minus_{rng.randrange(9)}" for i in range(1, rng.randint(4, 8))]
    wanted = [rng.choice(FURNITURE) for _ in range(rng.randint(5, 12))]
    for kind, openable in (*wanted, ("SinkBasin", False), ("Fridge", True), ("Microwave", True)):
        first = "Sink" if kind == "SinkBasin" else kind
        last = "_bar_SinkBasin" if kind == "SinkBasin" else ""
        identifier = f"{first}{_point(rng)}{_point(rng)}{last}"
        if identifier not in taken:
            taken.add(identifier)
            opened = rng.random() < (0.3 if openable else 0.05)
            found.append(Receptacle(identifier, kind, rng.choice(spots), openable, opened))
    return found


def _things(rng: random.Random, furniture: list[Receptacle]) -> list[Thing]:
    found, taken = [], set()
    kinds = ["DeskLamp", "Knife", *(rng.choice(list(THINGS)) for _ in range(rng.randint(6, 14)))]
    for kind in kinds:
        identifier = f"{kind}{_point(rng)}{_point(rng)}"
        if identifier not in taken:
            taken.add(identifier)
            states = tuple(s for s in STATES if rng.random() < 0.12)
            place = rng.choice(furniture).id
            found.append(Thing(identifier, kind, place, THINGS[kind] + states))
    return found


def _untidied(
    rng: random.Random, home: Problem, furniture: list[Receptacle], things: list[Thing]
) -> Problem:
    """Return the home with some facts as only real data has them."""
    facts = list(home.facts)
    spots = sorted({r.location for r in furniture})
    for thing in things:
        place = next(r.location for r in furniture if r.id == thing.inside)
        at = ("objectatlocation", thing.id.lower(), place)
        if rng.random() < 0.15:  # it is reached from elsewhere
            facts[facts.index(at)] = (at[0], at[1], rng.choice(spots))
        if "pickupable" not in thing.properties and rng.random() < 0.3:  # it stands on the floor
            facts.remove(("inreceptacle", thing.id.lower(), thing.inside.lower()))
    containers = [t for t in things if "isreceptacleobject" in t.properties]
    for outer in containers:
        inner = rng.choice(things)
        if inner is not outer and rng.random() < 0.5:
            facts.append(("inreceptacleobject", inner.id.lower(), outer.id.lower()))
    small = [t for t in things if "pickupable" in t.properties]
    if rng.random() < 0.25:
        held = rng.choice(small)
        facts.remove(("inreceptacle", held.id.lower(), held.inside.lower()))
        facts += [("holds", AGENT, held.id.lower()), ("holdsany", AGENT)]
    rng.shuffle(facts)
    return Problem(home.objects, tuple(facts), home.goal, home.task, home.kind)
