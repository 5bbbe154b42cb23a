"""Conditions on unfinished tasks: by due date and priority.

A condition is kept in a job's arguments as plain values and says itself in words. `holds` reads a
task as it was drawn, `fits` one as the functions show it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from agentgym.core.draw import Draw
from agentgym.envs.todolist.account import Todo
from agentgym.envs.todolist.lives import World


class Condition(NamedTuple):
    """A kind of condition.

    Attributes:
        words: how it is said; {day}, {until} and {priority} stand for its values.
        draw: draws its values for an account.
        holds: whether a drawn task meets it.
        fits: whether a shown task meets it, a due date being text that sorts as days do.
    """

    words: str
    draw: Callable[[World, Draw], dict[str, Any]]
    holds: Callable[[Todo, Mapping[str, Any]], bool]
    fits: Callable[[Mapping[str, Any], Mapping[str, Any]], bool]


def _day(world: World, draw: Draw) -> dict[str, Any]:
    return {"day": world.day(draw.between(1, 20))}


def _days(world: World, draw: Draw) -> dict[str, Any]:
    first = draw.between(-6, 8)
    return {"day": world.day(first), "until": world.day(first + draw.between(4, 11))}


def _level(world: World, draw: Draw) -> dict[str, Any]:
    return {"priority": draw.between(1, 4)}


def _high(world: World, draw: Draw) -> dict[str, Any]:
    return {"priority": draw.between(2, 3)}


def _day_and_high(world: World, draw: Draw) -> dict[str, Any]:
    return _day(world, draw) | _high(world, draw)


CONDITIONS: Mapping[str, Condition] = {
    "before": Condition(
        "due before {day}",
        _day,
        lambda t, v: t.due_date < v["day"],
        lambda t, v: bool(t["due_date"] < v["day"]),
    ),
    "after": Condition(
        "due after {day}",
        _day,
        lambda t, v: t.due_date > v["day"],
        lambda t, v: bool(t["due_date"] > v["day"]),
    ),
    "between": Condition(
        "due from {day} to {until} (both days included)",
        _days,
        lambda t, v: v["day"] <= t.due_date <= v["until"],
        lambda t, v: bool(v["day"] <= t["due_date"] <= v["until"]),
    ),
    "priority": Condition(
        "with priority {priority}",
        _level,
        lambda t, v: t.priority == v["priority"],
        lambda t, v: bool(t["priority"] == v["priority"]),
    ),
    "at-least": Condition(
        "with priority {priority} or higher",
        _high,
        lambda t, v: t.priority >= v["priority"],
        lambda t, v: bool(t["priority"] >= v["priority"]),
    ),
    "soon-and-high": Condition(
        "with priority {priority} or higher and a due date of {day} or earlier",
        _day_and_high,
        lambda t, v: t.priority >= v["priority"] and t.due_date <= v["day"],
        lambda t, v: bool(t["priority"] >= v["priority"] and t["due_date"] <= v["day"]),
    ),
}
"""The conditions by name."""


def draw_condition(world: World, draw: Draw) -> dict[str, Any]:
    """Return a condition as arguments: "which", "words" and its values."""
    which = draw.pick(list(CONDITIONS))
    values = CONDITIONS[which].draw(world, draw)
    return {"which": which, "words": CONDITIONS[which].words.format(**values), **values}


def held(world: World, args: Mapping[str, Any], project: str | None = None) -> list[Todo]:
    """Return the unfinished tasks that meet a condition, of one project or of all."""
    condition = CONDITIONS[args["which"]]
    return [t for t in world.open(project) if condition.holds(t, args)]


def fitting(rows: list[dict[str, Any]], args: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return those of some shown tasks that meet a condition."""
    condition = CONDITIONS[args["which"]]
    return [row for row in rows if condition.fits(row, args)]
