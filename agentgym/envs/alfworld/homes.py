"""The games of the mini edition: a task's spec made into a home with things in it.

A game follows from its spec alone. The room's layout is shared by all games in it; the things, how
many and where, are drawn anew for each from the spec's own seed text. No game is done when it
begins: for a task of putting something somewhere, none of it is there yet, and what is there of a
thing that must be clean, hot or cool is not.

The *twists* of a spec make a game harder, or different, in one way each:

- "hidden": what is needed lies behind a door or in a drawer;
- "several": there is more of it than needed, in different places;
- "decoy": one lies at the destination already (of two; or not yet clean, hot or cool);
- "ready": one that lies elsewhere is clean, hot or cool already;
- "opposite": what must become cool is hot, and the other way round;
- "crowded": the destination is full of other things.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, NamedTuple

from agentgym.core.draw import Draw
from agentgym.envs.alfworld.contents import HABITS
from agentgym.envs.alfworld.goals import goal_of, task_text
from agentgym.envs.alfworld.kinds import CAN, FITS, LAMP, PROPERTIES
from agentgym.envs.alfworld.layouts import Layout, layout, thing_id
from agentgym.envs.alfworld.problem import Problem, Receptacle, Thing

STATES = {
    "pick_clean_then_place_in_recep": "isclean",
    "pick_heat_then_place_in_recep": "ishot",
    "pick_cool_then_place_in_recep": "iscool",
}
"""What a thing must be at the destination, by task type."""
OPPOSITE = {"ishot": "iscool", "iscool": "ishot"}
TWO = "pick_two_obj_and_place"
LOOK = "look_at_obj_in_light"


class Game(NamedTuple):
    """What a spec asks for; see `tasks.py` for its fields."""

    home: str
    type: str
    object: str
    target: str
    wording: int
    twists: tuple[str, ...]
    draw: str


def problem_of(spec: Mapping[str, Any]) -> Problem:
    """Return the problem of a mini task, the same for the same spec everywhere."""
    return _problem(
        Game(
            spec["home"],
            spec["type"],
            spec["object"],
            spec["target"],
            int(spec["wording"]),
            tuple(spec["twists"]),
            spec["draw"],
        )
    )


@lru_cache(maxsize=256)
def _problem(game: Game) -> Problem:
    room = layout(game.home)
    empty = _empty(game.home)
    objects, facts = dict(empty.objects), list(empty.facts)
    for thing in _Stock(game, room).things():
        otype = f"{thing.kind.lower()}type"
        objects[otype], objects[thing.id] = "otype", "object"
        facts += [("objecttype", thing.id, otype), ("inreceptacle", thing.id, thing.inside)]
        facts.append(("objectatlocation", thing.id, room.places[thing.inside]))
        facts += [(name, thing.id) for name in thing.properties]
    return Problem(
        objects,
        tuple(facts),
        goal_of(game.type, game.object, game.target),
        task_text(game.type, game.object, game.target, game.wording),
        game.type,
    )


@cache
def _empty(home: str) -> Problem:
    """Return a home with nothing in it, which all games there begin from."""
    room = layout(home)
    return Problem.furnish(room.receptacles, (), _contains(home), room.start, (), "")


def _contains(home: str) -> tuple[tuple[str, str], ...]:
    """Return what may be put where in a home: (receptacle kind, thing kind) pairs."""
    room = layout(home)
    kinds = [kind for kind in HABITS[room.room] if kind != LAMP]
    return tuple((place, kind) for place in room.by_kind for kind in kinds if place in FITS[kind])


def starting_places(
    room: Layout, type_: str, kind: str, target: str, hidden: bool
) -> list[Receptacle]:
    """Return where the thing a task asks for may lie at first.

    Args:
        room: the home.
        type_: the task type.
        kind: the kind of thing.
        target: the kind of receptacle it has to go to, or the lamp.
        hidden: whether it must be behind a door.
    """
    banned = {target, "Fridge"} if STATES.get(type_) == "iscool" else {target}
    usual = dict.fromkeys(HABITS[room.room][kind].places)
    found = [r for place in usual if place not in banned for r in room.by_kind.get(place, ())]
    return [r for r in found if r.openable == hidden]


class _Stock:
    """Fills a home with things, those the task is about first."""

    def __init__(self, game: Game, room: Layout) -> None:
        self._game, self._room = game, room
        self._draw = Draw(game.draw)
        self._taken: set[str] = set()

    def things(self) -> Iterator[Thing]:
        yield from self._wanted()
        for kind, habit in HABITS[self._room.room].items():
            there = [place for place in habit.places if place in self._room.by_kind]
            if kind != self._game.object and there:
                for _ in range(self._draw.between(habit.least, habit.most)):
                    place = self._draw.pick(there)
                    yield self._lay(kind, self._draw.pick(self._room.by_kind[place]))
        if "crowded" in self._game.twists:
            yield from self._crowd()

    def _wanted(self) -> Iterator[Thing]:
        """Lay out what the task is about."""
        game, draw = self._game, self._draw
        state = STATES.get(game.type, "")
        count = 2 if game.type == TWO else 1
        count += draw.between(1, 2) if "several" in game.twists else 0
        before = (OPPOSITE[state],) if "opposite" in game.twists else ()
        if "decoy" in game.twists:
            yield self._lay(game.object, draw.pick(self._room.by_kind[game.target]), before)
            count -= game.type == TWO
        places = starting_places(
            self._room, game.type, game.object, game.target, "hidden" in game.twists
        )
        spread = self._spread(places, count)
        if "ready" in game.twists and not stays(state, spread[0]):
            spread[0] = draw.pick([place for place in places if stays(state, place)])
        for i, place in enumerate(spread):
            ready = i == 0 and "ready" in game.twists
            yield self._lay(game.object, place, (state,) if ready else before)

    def _spread(self, places: list[Receptacle], count: int) -> list[Receptacle]:
        """Return `count` places, different ones while there are any."""
        mixed = self._draw.shuffled(places)
        return [mixed[i % len(mixed)] for i in range(count)]

    def _crowd(self) -> Iterator[Thing]:
        """Put four to seven more things on one of the destinations."""
        draw, target = self._draw, self._game.target
        place = draw.pick(self._room.by_kind[target])
        kinds = fillers(self._room.room, self._game.object, target)
        for kind in draw.shuffled(kinds + kinds)[: draw.between(4, 7)]:
            yield self._lay(kind, place)

    def _lay(self, kind: str, place: Receptacle, states: tuple[str, ...] = ()) -> Thing:
        x, height, z = self._room.points[place.id]
        draw = self._draw
        while True:
            point = (x + draw.between(-20, 20), height + 6, z + draw.between(-15, 15))
            identifier = thing_id(kind, point)
            if identifier not in self._taken:
                break
        self._taken.add(identifier)
        properties = PROPERTIES[kind]
        if place.kind == "Fridge" and kind in CAN["coolable"] and "iscool" not in states:
            states = (*states, "iscool")
        return Thing(identifier, kind, place.id, properties + states)


def stays(state: str, place: Receptacle) -> bool:
    """Whether a thing that lies there can be in a state: nothing hot lies in a fridge."""
    return state != "ishot" or place.kind != "Fridge"


def fillers(room: str, kind: str, target: str) -> list[str]:
    """Return the kinds of thing that a destination can be full of, beside the kind asked for."""
    return [k for k in HABITS[room] if k not in (kind, LAMP) and target in FITS[k]]
