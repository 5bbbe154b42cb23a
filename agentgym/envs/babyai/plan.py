"""What can be done from here: high-level actions and the primitive moves they stand for.

"go to red ball 1" is the shortest sequence of turns and steps, over cells that are in view and
free, after which the agent faces the ball. One breadth-first search from the agent's pose answers
for every object at once; a path is only written out when its action is played. Whatever is listed
can be carried out: the search walks on nothing it has not seen.
"""

from __future__ import annotations

from typing import Any

from agentgym.envs.babyai.view import AGENT, CELLS, HIDDEN, SIZE, View

LEFT, RIGHT, FORWARD, PICKUP, DROP, TOGGLE, WAIT = range(7)
"""Minigrid's primitive actions; it calls the last one "done"."""

CHECK = "check available actions"

# A pose is cell * 4 + heading; heading 0 is the agent's own, counted clockwise.
_START = AGENT * 4
_STEPS = (-SIZE, 1, SIZE, -1)


def _faced(pose: int) -> int:
    """Return the cell in front of a pose, or -1 at the edge of the view."""
    cell, heading = divmod(pose, 4)
    row, column = divmod(cell, SIZE)
    inside = (row > 0, column < SIZE - 1, row < SIZE - 1, column > 0)[heading]
    return cell + _STEPS[heading] if inside else -1


_FACED = tuple(_faced(pose) for pose in range(CELLS * 4))
_LEFT = tuple(pose - pose % 4 + (pose - 1) % 4 for pose in range(CELLS * 4))
_RIGHT = tuple(pose - pose % 4 + (pose + 1) % 4 for pose in range(CELLS * 4))


class Options:
    """The actions available from one view.

    Args:
        view: what the agent sees.

    Attributes:
        texts: the actions, in the published order.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        self._came: list[int] = []
        self._facing: dict[int, int] = {}
        self._inside: dict[int, int] = {}
        self._search()
        # An action is the pose to take up and the primitives to play there; -1 is "stay".
        self._plans: dict[str, tuple[int, tuple[int, ...]]] = {}
        self._list()
        self.texts: list[str] = list(self._plans)

    def __contains__(self, text: str) -> bool:
        return text in self._plans

    def moves(self, text: str) -> tuple[int, ...]:
        """Return the primitive actions a listed action stands for; none for a check."""
        pose, rest = self._plans[text]
        path: list[int] = []
        while pose not in (-1, _START):
            before = self._came[pose]
            if pose == _LEFT[before]:
                path.append(LEFT)
            elif pose == _RIGHT[before]:
                path.append(RIGHT)
            else:
                path.append(FORWARD)
            pose = before
        path.reverse()
        # Going to what one already faces is to wait: the engine looks whether that is the goal.
        if not path and not rest and text != CHECK:
            return (WAIT,)
        return (*path, *rest)

    def refusal(self, text: str) -> str:
        """Return why an action that is not listed cannot be done."""
        view = self._view
        if not text:
            return "No change in state."
        if text == "move forward":
            return "There is a barrier in front of you, you can't move forward."
        if text == "drop":
            if view.carrying is None:
                return "You cannot drop the object, as you are not carrying anything."
            return "You cannot drop the object, as there is already an object in front of you."
        if text == "toggle":
            return "You cannot toggle, as there is nothing in front of you that opens or closes."
        for sighting in view.sightings:
            for verb in ("pickup", "toggle and go through", "go through", "go to"):
                if text == f"{verb} {sighting.label}":
                    return f"You cannot {text}, {self._obstacle(verb, sighting.thing)}"
        return "The action is not recognized. Please check valid actions."

    def _obstacle(self, verb: str, thing: Any) -> str:
        carrying = self._view.carrying
        is_door = thing.type == "door"
        if verb == "pickup" and not thing.can_pickup():
            return f"as a {thing.type} cannot be carried."
        if verb == "pickup" and carrying is not None:
            return f"as you are carrying a {carrying.color} {carrying.type}."
        if "through" in verb and not is_door:
            return "as it is not a door."
        if verb == "go through" and not thing.is_open:
            return "as it is closed. You should toggle it first."
        if verb == "toggle and go through" and thing.is_open:
            return "as it is open. You should go through it."
        if verb == "toggle and go through" and thing.is_locked:
            if carrying is None or carrying.type != "key":
                return "as you are not carrying a key."
            if carrying.color != thing.color:
                return "as the color of the key you are carrying does not match the color of door."
        return "as there is no path leading to it."

    def _search(self) -> None:
        """Find the first pose that faces each thing, and the first inside each open door."""
        cells, facing, inside = self._view.cells, self._facing, self._inside
        wanted = len(self._view.sightings)
        doorways = {s.cell for s in self._view.sightings if _enterable(s.thing)}
        missing = wanted + len(doorways)
        came = self._came = [-1] * (CELLS * 4)
        came[_START] = _START
        queue = [_START]
        targets = {s.cell for s in self._view.sightings}
        for pose in queue:
            if not missing:
                break
            cell, ahead = pose // 4, _FACED[pose]
            if cell in doorways and cell not in inside:
                inside[cell] = pose
                missing -= 1
            if ahead >= 0:
                if ahead in targets and ahead not in facing:
                    facing[ahead] = pose
                    missing -= 1
                step = ahead * 4 + pose % 4
                if came[step] < 0:
                    thing = cells[ahead]
                    if thing is None or (thing is not HIDDEN and _enterable(thing)):
                        came[step] = pose
                        queue.append(step)
            turn = _LEFT[pose]
            if came[turn] < 0:
                came[turn] = pose
                queue.append(turn)
            turn = _RIGHT[pose]
            if came[turn] < 0:
                came[turn] = pose
                queue.append(turn)

    def _list(self) -> None:
        view, plans = self._view, self._plans
        ahead = view.ahead
        plans["turn left"] = (-1, (LEFT,))
        plans["turn right"] = (-1, (RIGHT,))
        if ahead is None or ahead.can_overlap():
            plans["move forward"] = (-1, (FORWARD,))
        if view.carrying is None:
            for s in view.sightings:
                if s.cell in self._facing and s.thing.can_pickup():
                    plans[f"pickup {s.label}"] = (self._facing[s.cell], (PICKUP,))
        elif ahead is None:
            plans["drop"] = (-1, (DROP,))
        if ahead is not None and ahead.type == "box":
            plans["toggle"] = (-1, (TOGGLE,))
        for s in view.sightings:
            if s.thing.type == "door":
                self._list_door(s.label, s.cell, s.thing)
        for s in view.sightings:
            if s.thing.type == "goal" and s.cell in self._inside:
                plans.setdefault("go to goal", (self._inside[s.cell], ()))
        for s in view.sightings:
            if s.thing.type != "goal" and s.cell in self._facing:
                plans[f"go to {s.label}"] = (self._facing[s.cell], ())
        plans[CHECK] = (-1, ())

    def _list_door(self, label: str, cell: int, door: Any) -> None:
        if door.is_open:
            if cell in self._inside:
                self._plans[f"go through {label}"] = (self._inside[cell], ())
        elif not self._opens(door):
            return
        elif cell in self._facing:
            self._plans[f"toggle and go through {label}"] = (self._facing[cell], (TOGGLE, FORWARD))
        if self._view.ahead is door:
            self._plans["toggle"] = (-1, (TOGGLE,))

    def _opens(self, door: Any) -> bool:
        key = self._view.carrying
        if not door.is_locked:
            return True
        return key is not None and key.type == "key" and bool(key.color == door.color)


def _enterable(thing: Any) -> bool:
    """Whether the agent may walk onto a thing: an open door or a goal, never lava."""
    return bool(thing.can_overlap()) and thing.type != "lava"
