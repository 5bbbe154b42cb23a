"""The expert: knows where everything is, decides by rules, and says why.

Each move follows from the present state alone: what is carried, what is missing, and what stands
between the two. So it needs no plan, and where somebody else has moved things in between, the next
move is simply about what is so now. Its sentences are in `reasons.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agentgym.core.expert import Expert
from agentgym.envs.alfworld.aim import Aim, aim_of
from agentgym.envs.alfworld.engine import Engine
from agentgym.envs.alfworld.problem import Problem
from agentgym.envs.alfworld.reasons import Reasons
from agentgym.envs.alfworld.scene import Furniture, Scene, inventory, scene_of

TREATMENTS = {
    "isclean": ("sinkbasintype", "clean", "cleanable"),
    "ishot": ("microwavetype", "heat", "heatable"),
    "iscool": ("fridgetype", "cool", "coolable"),
}
"""How a thing gets into a state: at what, by which action, and which mark it needs for that."""

Move = tuple[str, str]
"""Thought and action."""


class AlfworldExpert(Expert):
    """Plays the current episode.

    Args:
        look: returns the present moment; it is called once a move.
        aim: what the goal asks for, or None where it is of no known kind.
        put: how the game calls putting a thing down, with {o} and {r} for the names.
    """

    def __init__(self, look: Callable[[], Scene], aim: Aim | None, put: str) -> None:
        self._look, self._aim, self._put = look, aim, put
        self._begun = False

    def act(self, observation: str, info: Mapping[str, Any]) -> tuple[str, str]:
        """Return the reason for the next move, and the move."""
        scene = self._look()
        if self._aim is None:
            return "I do not know how to bring about what is asked for, so I look around.", "look"
        thought, action = _Moment(scene, self._aim, self._put).move()
        if not self._begun:
            self._begun = True
            thought = f"{Reasons(scene, self._aim).outline()} {thought}"
        return thought, action


def expert_of(problem: Problem, engine: Engine) -> AlfworldExpert:
    """Return an expert for a game that is being played; it reads the engine and changes nothing."""
    home = inventory(problem)
    put = engine.world.words.put
    return AlfworldExpert(lambda: scene_of(home, engine), aim_of(problem.goal), put)


class _Moment:
    """Decides the next move at one moment."""

    def __init__(self, scene: Scene, aim: Aim, put: str) -> None:
        self._scene, self._aim, self._put = scene, aim, put
        self._say = Reasons(scene, aim)
        places = scene.home.furniture.values()
        self._places = [p for p in places if p.type == aim.place]
        self._target = max(self._places, key=self._suits, default=None)

    def move(self) -> Move:
        held = self._scene.held
        if not held:
            return self._fetch()
        if self._scene.home.types.get(held) != self._aim.thing or not self._usable(held):
            return self._put_away(held)
        if self._aim.lamp:
            return self._shine(held)
        if not self._scene.has(held, self._aim.state):
            return self._treat(held)
        return self._deliver(held)

    # What is needed.

    def _suits(self, place: Furniture) -> tuple[int, bool, bool]:
        """Return how well a receptacle suits as the destination: what is done there counts most."""
        near = place.location == self._scene.at
        return len(self._done(place)), near, not self._scene.closed(place)

    def _done(self, place: Furniture) -> list[str]:
        """Return the things that are at a receptacle as the goal wants them."""
        scene, aim = self._scene, self._aim
        return [
            thing
            for thing in scene.holds(place)
            if scene.home.types.get(thing) == aim.thing
            and scene.has(thing, aim.state)
            and self._usable(thing)
        ][: aim.count]

    def _usable(self, thing: str) -> bool:
        """Whether a thing is in the state that is needed, or can be brought into it."""
        aim, scene = self._aim, self._scene
        if not aim.state:
            return True
        mark = TREATMENTS[aim.state][2]
        if (mark, thing) not in scene.home.marks:  # a goal asks for the mark beside the state
            return False
        return scene.has(thing, aim.state) or bool(self._stations())

    def _stations(self) -> list[Furniture]:
        """Return where things are brought into the state that is needed."""
        kind = TREATMENTS[self._aim.state][0]
        return [p for p in self._scene.home.furniture.values() if p.type == kind]

    # The moves.

    def _fetch(self) -> Move:
        """Go for the nearest thing that will do."""
        scene = self._scene
        done = self._done(self._target) if self._target else []
        wanted = [
            thing
            for thing, kind in scene.home.types.items()
            if kind == self._aim.thing
            and thing not in done
            and scene.inside.get(thing) in scene.home.furniture
            and ("pickupable", thing) in scene.home.marks
            and self._usable(thing)
        ]
        if not wanted or (self._target and len(done) == self._aim.count):
            return self._say.nothing_to_do(), "look"
        thing = min(wanted, key=self._effort)
        place = scene.home.furniture[scene.inside[thing]]
        if place.location != scene.at:
            return self._say.go_for(thing, place, len(done)), f"go to {place.name}"
        if scene.closed(place):
            return self._say.open_for(thing, place), f"open {place.name}"
        return self._say.take(thing, place), f"take {scene.name(thing)} from {place.name}"

    def _effort(self, thing: str) -> tuple[int, str]:
        """Return how many moves a thing costs."""
        scene = self._scene
        place = scene.home.furniture[scene.inside[thing]]
        moves = (place.location != scene.at) + scene.closed(place)
        moves += 0 if scene.has(thing, self._aim.state) else 2
        return moves, scene.name(thing)

    def _treat(self, held: str) -> Move:
        """Make it clean, hot or cool."""
        station = self._near(self._stations())
        verb = TREATMENTS[self._aim.state][1]
        if station.location != self._scene.at:
            return self._say.carry_to_station(held, station, verb), f"go to {station.name}"
        action = f"{verb} {self._scene.name(held)} with {station.name}"
        return self._say.treat(held, station, verb), action

    def _deliver(self, held: str) -> Move:
        place = self._target
        if place is None or not self._scene.may_put(held, place):
            return self._say.nothing_to_do(), "look"
        if place.location != self._scene.at:
            return self._say.carry_to(held, place), f"go to {place.name}"
        if self._scene.closed(place):
            return self._say.open_to_put(held, place), f"open {place.name}"
        left = self._aim.count - len(self._done(place)) - 1
        return self._say.put(held, place, left), self._putting(held, place)

    def _shine(self, held: str) -> Move:
        """Bring it to a lamp and switch that on."""
        scene, home = self._scene, self._scene.home
        lamps = [
            thing
            for thing, kind in home.types.items()
            if kind == self._aim.lamp
            and ("toggleable", thing) in home.marks
            and scene.inside.get(thing) in home.furniture
        ]
        if not lamps:
            return self._say.nothing_to_do(), "look"
        place = self._near([home.furniture[scene.inside[lamp]] for lamp in lamps])
        lamp = next(lamp for lamp in lamps if scene.inside[lamp] == place.id)
        if place.location != scene.at:
            return self._say.carry_to_lamp(held, lamp, place), f"go to {place.name}"
        return self._say.switch_on(held, lamp), f"use {scene.name(lamp)}"

    def _put_away(self, held: str) -> Move:
        """Free the hand of what is of no use, without doing harm to what is done already."""
        scene = self._scene
        fitting = [p for p in scene.home.furniture.values() if scene.may_put(held, p)]
        if not fitting:
            return self._say.nothing_to_do(), "look"
        place = min(fitting, key=lambda p: (p.location != scene.at) + scene.closed(p))
        if place.location != scene.at:
            return self._say.away(held, place), f"go to {place.name}"
        if scene.closed(place):
            return self._say.away(held, place), f"open {place.name}"
        return self._say.away(held, place), self._putting(held, place)

    def _putting(self, held: str, place: Furniture) -> str:
        return self._put.format(o=self._scene.name(held), r=place.name)

    def _near(self, places: list[Furniture]) -> Furniture:
        """Return the place one stands at already, or the first."""
        return next((p for p in places if p.location == self._scene.at), places[0])
