"""The goals of the six task types: as formulas and in words.

A formula is its PDDL read as nested tuples: ("exists", ("?o", "-", "object"), body), ("and", ...),
("not", f), ("=", "?a", "?b"), or a fact with variables. The formulas and the two ways of wording
each are those of the published games, quirks included: under the lamp it is enough that the lamp
*was* switched on, that one stands where it is, and that one holds the thing.
"""

from __future__ import annotations

from agentgym.envs.alfworld.pddl import Term

KINDS = (
    "pick_and_place_simple",
    "look_at_obj_in_light",
    "pick_clean_then_place_in_recep",
    "pick_heat_then_place_in_recep",
    "pick_cool_then_place_in_recep",
    "pick_two_obj_and_place",
)
"""The six task types, by the names their published folders begin with."""

TEMPLATES = {
    "pick_and_place_simple": ("put a {obj} in {recep}", "put some {obj} on {recep}"),
    "look_at_obj_in_light": (
        "look at {obj} under the {recep}",
        "examine the {obj} with the {recep}",
    ),
    "pick_clean_then_place_in_recep": (
        "put a clean {obj} in {recep}",
        "clean some {obj} and put it in {recep}",
    ),
    "pick_heat_then_place_in_recep": (
        "put a hot {obj} in {recep}",
        "heat some {obj} and put it in {recep}",
    ),
    "pick_cool_then_place_in_recep": (
        "put a cool {obj} in {recep}",
        "cool some {obj} and put it in {recep}",
    ),
    "pick_two_obj_and_place": (
        "put two {obj} in {recep}",
        "find two {obj} and put them in {recep}",
    ),
}
"""The published wordings; for the lamp task, `recep` is the lamp."""

_DONE_TO = {
    "pick_clean_then_place_in_recep": ("cleanable", "isclean"),
    "pick_heat_then_place_in_recep": ("heatable", "ishot"),
    "pick_cool_then_place_in_recep": ("coolable", "iscool"),
}


def task_text(kind: str, obj: str, recep: str, wording: int = 0) -> str:
    """Return a goal in words, in the first or the second published wording.

    Args:
        kind: one of `KINDS`.
        obj: the kind of thing it is about ("Apple").
        recep: the kind of receptacle, or of lamp.
        wording: 0 or 1.

    >>> task_text("pick_heat_then_place_in_recep", "Apple", "GarbageCan", 1)
    'heat some apple and put it in garbagecan'
    """
    return TEMPLATES[kind][wording].format(obj=obj.lower(), recep=recep.lower())


def goal_of(kind: str, obj: str, recep: str) -> Term:
    """Return a goal as a formula; see `task_text` for the arguments."""
    otype, rtype = f"{obj.lower()}type", f"{recep.lower()}type"
    if kind == "look_at_obj_in_light":
        return _under_lamp(otype, rtype)
    if kind == "pick_two_obj_and_place":
        return _two(otype, rtype)
    states = [(name, "?o") for name in _DONE_TO.get(kind, ())]
    placed = (
        ("objecttype", "?o", otype),
        ("receptacletype", "?r", rtype),
        ("inreceptacle", "?o", "?r"),
    )
    body: Term = ("and", *states, *placed)
    return ("and", _exists("?r", "receptacle", _exists("?o", "object", body)))


def _exists(variable: str, kind: str, body: Term) -> Term:
    return ("exists", (variable, "-", kind), body)


def _two(otype: str, rtype: str) -> Term:
    second = (
        ("not", ("=", "?o1", "?o2")),
        ("objecttype", "?o2", otype),
        ("receptacletype", "?r", rtype),
        ("inreceptacle", "?o2", "?r"),
    )
    first = (
        ("objecttype", "?o1", otype),
        ("receptacletype", "?r", rtype),
        ("inreceptacle", "?o1", "?r"),
        _exists("?o2", "object", ("and", *second)),
    )
    return ("and", _exists("?r", "receptacle", _exists("?o1", "object", ("and", *first))))


def _under_lamp(otype: str, lamptype: str) -> Term:
    variables = ("?ot", "-", "object", "?r", "-", "receptacle", "?a", "-", "agent")
    lit = (
        ("objecttype", "?ot", lamptype),
        ("toggleable", "?ot"),
        ("istoggled", "?ot"),
        ("receptacleatlocation", "?r", "?l"),
        ("atlocation", "?a", "?l"),
        ("inreceptacle", "?ot", "?r"),
    )
    held = ("and", ("objecttype", "?o", otype), ("holds", "?a", "?o"))
    return (
        "and",
        ("exists", (*variables, "?l", "-", "location"), ("and", *lit)),
        ("exists", ("?o", "-", "object", "?a", "-", "agent"), held),
    )
