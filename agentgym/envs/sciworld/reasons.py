"""Why an action of a solving path is taken, in a sentence.

The reason is read off the path itself: what the action makes possible is what comes next that
needs it (the thermometer is picked up because the next measurement uses it, a door is opened
because of what is done in the room behind it), and off what the last action showed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from agentgym.core.command import match_call
from agentgym.envs.sciworld.grammar import AMBIGUOUS, COMMANDS

_READING = re.compile(r"measures a temperature of (-?\d+) degrees")
_TASK = re.compile(r"Your task is to (.+?)[.,](?:\s|$)", re.DOTALL)
_TRAVEL = ("go_to", "look_around", "close")
_HEATERS = ("stove", "oven", "furnace", "hot plate", "fire pit", "heater")
_COOLERS = ("freezer", "fridge", "ultra low temperature")
_CARRIED = re.compile(r" in inventory\b")


@dataclass(frozen=True)
class Moment:
    """One move of a path.

    Attributes:
        path: the whole path.
        at: the place of the move in it.
        goal: the task's description.
        seen: the last observation.
        news: the sub-goals the last action achieved.
    """

    path: tuple[str, ...]
    at: int
    goal: str
    seen: str
    news: tuple[str, ...] = ()

    @property
    def action(self) -> str:
        """The move itself."""
        return self.path[self.at]

    @property
    def ahead(self) -> tuple[str, ...]:
        """The moves after it."""
        return self.path[self.at + 1 :]

    @cached_property
    def aim(self) -> str:
        """What the task asks for, as an infinitive without "to"."""
        found = _TASK.search(self.goal)
        return " ".join(found[1].split()) if found else "solve the task"


def reason(moment: Moment) -> str:
    """Return why the move is made.

    >>> path = ("pick up thermometer", "use thermometer in inventory on ice")
    >>> reason(Moment(path, 0, "Your task is to melt ice.", ""))
    'I need the thermometer in my inventory to use the thermometer on the ice, so I pick it up.'
    """
    name, arguments = _parse(moment.action)
    sentence = _REASONS.get(name, _plain)(moment, arguments)
    return f"{_remark(moment)}{sentence}"


def _parse(action: str) -> tuple[str, dict[str, str]]:
    call = match_call(COMMANDS, action)
    if call is None:
        return "", {}
    return call[0].name, {key: str(value) for key, value in call[1].items()}


def _the(thing: str) -> str:
    thing = _CARRIED.sub("", thing)
    return thing if thing.startswith(("the ", "my ")) else f"the {thing}"


def _remark(moment: Moment) -> str:
    """What the last action has brought."""
    reading = _READING.search(moment.seen)
    said = f"The thermometer reads {reading[1]} degrees. " if reading else ""
    if moment.news and moment.news[-1] not in ("move to a new location",):
        said += f"One thing is done: {moment.news[-1]}. "
    return said


def _wish(action: str) -> str:
    """An action as an infinitive without "to"."""
    name, a = _parse(action)
    thing, target = _the(a.get("object", "")), _the(a.get("target", ""))
    phrases = {
        "pick_up": f"pick up {thing}",
        "put_down": f"put down {thing}",
        "drop": f"put down {thing}",
        "focus_on": f"focus on {thing}",
        "move": f"put {thing} into {target}",
        "pour": f"pour {thing} into {target}",
        "pour_in": f"pour {thing} into {target}",
        "dunk": f"dunk {thing} into {target}",
        "dunk_in": f"dunk {thing} into {target}",
        "mix": f"mix what is in {thing}",
        "connect": f"connect {thing} to {target}",
        "disconnect": f"disconnect {thing}",
        "use_on": f"use {thing} on {target}",
        "use": f"use {thing}",
        "open": f"open {thing}",
        "close": f"close {thing}",
        "activate": f"turn on {thing}",
        "deactivate": f"turn off {thing}",
        "read": f"read {thing}",
        "examine": f"see how {thing} is doing",
        "look_at": f"take a close look at {thing}",
        "look_in": f"look into {thing}",
        "eat": f"eat {thing}",
        "flush": f"flush {thing}",
        "go_to": f"go to {_the(a.get('location', ''))}",
        "wait": "let time pass",
        "wait1": "let a moment pass",
        "look_around": "look around",
        "inventory": "check what I carry",
    }
    return phrases.get(name, action)


def _business(actions: tuple[str, ...]) -> tuple[str, str]:
    """Return the room of the next real thing to do ("" for this one), and that thing."""
    room = ""
    for action in actions:
        name, arguments = _parse(action)
        if name == "go_to":
            room = arguments["location"]
        elif name not in _TRAVEL and not (name == "open" and "door" in action):
            return room, action
    return room, ""


def _next_use(thing: str, actions: tuple[str, ...]) -> str:
    """Return the next action that has to do with a thing, or ""."""
    bare = _CARRIED.sub("", thing)
    for action in actions:
        name, arguments = _parse(action)
        if name in ("look_around", "go_to", "pick_up"):
            continue
        values = [_CARRIED.sub("", v) for v in arguments.values()]
        if any(bare in value or value in bare for value in values):
            return action
    return ""


def _go(moment: Moment, a: dict[str, str]) -> str:
    room, deed = _business((moment.action, *moment.ahead))
    here = _the(a["location"])
    if not deed:
        return f"I go to {here} to see whether all is as the task wants it."
    if room == a["location"]:
        return f"In {here} I can {_wish(deed)}, so I go there."
    return f"I want to {_wish(deed)} in {_the(room)}, and the way there leads through {here}."


def _open(moment: Moment, a: dict[str, str]) -> str:
    thing = a["object"]
    if "door" in thing:
        room, deed = _business(moment.ahead)
        behind = thing.removeprefix("door to ").removesuffix(" door")
        if "already open" in moment.seen or not deed:
            return f"The way to {_the(behind)} must be open before I can go there."
        place = "" if room == behind else f" in {_the(room)}" if room else ""
        return f"To {_wish(deed)}{place} I must get through to {_the(behind)}: I open the door."
    deed = next((x for x in moment.ahead if _parse(x)[0] not in ("open", *_TRAVEL)), "")
    if not deed:
        return f"{_the(thing).capitalize()} is closed: I open it to see what it holds."
    if thing in deed:
        return f"{_the(thing).capitalize()} must be open before I can {_wish(deed)}."
    return f"I want to {_wish(deed)}, and what I need for it may be in {_the(thing)}, so I open it."


def _look(moment: Moment, a: dict[str, str]) -> str:
    _, deed = _business(moment.ahead)
    if not deed:
        return "I look around to see how things stand now."
    return f"I look around to find what I need here: I want to {_wish(deed)}."


def _pick_up(moment: Moment, a: dict[str, str]) -> str:
    thing = _the(a["object"])
    if moment.at and moment.path[moment.at - 1] == moment.action:
        return f"I make sure that I hold {thing}."
    use = _next_use(a["object"], moment.ahead)
    if use:
        name, arguments = _parse(use)
        if name == "focus_on":
            whole = _CARRIED.sub("", arguments["object"]) == _CARRIED.sub("", a["object"])
            what = "is" if whole else "holds"
            return f"{thing.capitalize()} {what} what the task is about; I take it with me."
        if name == "move" and _CARRIED.sub("", arguments["object"]) in thing:
            return f"{thing.capitalize()} has to go into {_the(arguments['target'])}; I take it."
        return f"I need {thing} in my inventory to {_wish(use)}, so I pick it up."
    _, deed = _business(moment.ahead)
    return (
        f"I take {thing} with me; the next thing is to {_wish(deed)}."
        if deed
        else (f"I take {thing} with me.")
    )


def _focus(moment: Moment, a: dict[str, str]) -> str:
    thing = _the(a["object"])
    if not any(_parse(action)[0] == "focus_on" for action in moment.ahead):
        if "If " in moment.goal and "box" in thing:
            return f"What I found out points to {thing}: focusing on it is my answer."
        if any(
            _parse(action)[0] not in ("wait", "wait1", "look_around") for action in moment.ahead
        ):
            return f"I have to {moment.aim}; before I go on I declare {thing} to be what I work on."
        return f"The task is to {moment.aim}, and {thing} is the answer: I focus on it."
    return f"Before anything is done to {thing}, the task wants me to focus on it."


def _move(moment: Moment, a: dict[str, str]) -> str:
    thing, target = _the(a["object"]), _the(a["target"])
    if any(heater in target for heater in _HEATERS):
        return f"{target.capitalize()} can heat {thing}, so I put it there."
    if any(cooler in target for cooler in _COOLERS):
        return f"{target.capitalize()} cools what is in it, so I put {thing} there."
    if "sink" in target:
        return f"Under the tap of {target} {thing} can be filled with water, so I put it there."
    if "box" in target:
        return f"{target.capitalize()} is where the task wants {thing} in this case."
    if "inclined plane" in target or "plane" in target:
        return f"I put {thing} on {target} to see how long it takes to slide down."
    use = _next_use(a["target"], moment.ahead)
    after = f", so that I can {_wish(use)}" if use and use != moment.action else ""
    return f"I put {thing} into {target}{after}."


def _activate(moment: Moment, a: dict[str, str]) -> str:
    thing = _the(a["object"])
    if "sink" in thing:
        return f"I turn on {thing} to let water run into what stands in it."
    if any(heater in thing for heater in _HEATERS):
        return f"{thing.capitalize()} gives heat only when it is on, and I have to {moment.aim}."
    if "stopwatch" in thing:
        return "I start the stopwatch now, as the block begins to slide."
    return f"I turn on {thing}, which I need in order to {moment.aim}."


def _deactivate(moment: Moment, a: dict[str, str]) -> str:
    thing = _the(a["object"])
    if "sink" in thing:
        return f"There is enough water now, so I turn off {thing}."
    if "stopwatch" in thing:
        return "The block is down: I stop the stopwatch."
    return f"{thing.capitalize()} has done its work, so I turn it off."


def _examine(moment: Moment, a: dict[str, str]) -> str:
    thing = _the(a["object"])
    if "stopwatch" in thing:
        return "I read the time off the stopwatch."
    return f"I look at {thing} to see whether it has changed, since I have to {moment.aim}."


def _use_on(moment: Moment, a: dict[str, str]) -> str:
    tool, target = _the(a["object"]), _the(a["target"])
    if "thermometer" in tool:
        return f"I measure {target}: its temperature tells how far I am."
    if "shovel" in tool:
        return f"With {tool} I can dig soil out of {target}, which the pots need."
    if "lighter" in tool:
        return f"{target.capitalize()} must burn to give heat, and {tool} can set it on fire."
    if "axe" in tool:
        return f"With {tool} I get wood from {target} to burn."
    return f"I use {tool} on {target}, because I have to {moment.aim}."


def _connect(moment: Moment, a: dict[str, str]) -> str:
    left, right = _the(a["object"]), _the(a["target"])
    more = any(_parse(action)[0] == "connect" for action in moment.ahead)
    end = "another link of the circuit" if more else "the link that closes the circuit"
    return f"Current flows only in a closed circuit; {left} to {right} is {end}."


def _wait(moment: Moment, a: dict[str, str]) -> str:
    _, deed = _business(tuple(x for x in moment.ahead if _parse(x)[0] not in ("wait", "wait1")))
    if "grow" in moment.aim or "trait" in moment.aim or "pea plant" in moment.goal:
        return "Plants take their time to grow, so I let some pass."
    if not deed:
        return "All is prepared; I give it a moment to take effect."
    return f"This needs time to take effect before I can {_wish(deed)}, so I wait."


def _pour(moment: Moment, a: dict[str, str]) -> str:
    thing, target = _the(a["object"]), _the(a["target"])
    if a["object"] == a["target"]:
        return f"I make sure that {thing} holds all of it."
    use = _next_use(a["target"], moment.ahead)
    after = f" and then {_wish(use)}" if use else ""
    return f"What is in {thing} belongs into {target}: I pour it there{after}."


def _mix(moment: Moment, a: dict[str, str]) -> str:
    return (
        f"All that I need is in {_the(a['object'])}; mixing makes it react, and I have to "
        f"{moment.aim}."
    )


def _read(moment: Moment, a: dict[str, str]) -> str:
    return f"{_the(a['object']).capitalize()} may say what I need in order to {moment.aim}."


def _put_down(moment: Moment, a: dict[str, str]) -> str:
    thing = _the(a["object"])
    use = _next_use(a["object"], moment.ahead)
    if use:
        return f"I put {thing} down here, where I want to {_wish(use)}."
    return f"I do not need {thing} any more, so I put it down."


def _choose(moment: Moment, a: dict[str, str]) -> str:
    if moment.seen.startswith(AMBIGUOUS):
        for line in moment.seen.splitlines():
            number, _, meaning = line.partition(":\t")
            if number == a["number"] and meaning:
                return f"My request fits several things; I mean number {number}: {meaning.strip()}."
    return f"Of the choices offered I mean number {a['number']}."


def _plain(moment: Moment, a: dict[str, str]) -> str:
    _, deed = _business(moment.ahead)
    after = f"; after that I can {_wish(deed)}" if deed else ""
    return f"To {moment.aim}, I {_wish(moment.action)}{after}."


_REASONS: dict[str, Callable[[Moment, dict[str, str]], str]] = {
    "go_to": _go,
    "open": _open,
    "look_around": _look,
    "pick_up": _pick_up,
    "focus_on": _focus,
    "move": _move,
    "activate": _activate,
    "deactivate": _deactivate,
    "examine": _examine,
    "look_at": _examine,
    "use_on": _use_on,
    "connect": _connect,
    "wait": _wait,
    "wait1": _wait,
    "pour": _pour,
    "pour_in": _pour,
    "mix": _mix,
    "read": _read,
    "put_down": _put_down,
    "drop": _put_down,
    "choose": _choose,
}
