"""What a goal asks for, read off its formula.

The expert goes by the formula, not by the words: in some published games the two disagree, and the
formula is what ends the game.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from agentgym.envs.alfworld.pddl import Term

STATES = ("isclean", "ishot", "iscool")


@dataclass(frozen=True, slots=True)
class Aim:
    """What has to be brought about.

    Attributes:
        thing: the type of what it is about ("appletype").
        place: the type of receptacle it belongs in, "" where it has to be looked at.
        lamp: the type of lamp it has to be looked at under, "" where it has to be put somewhere.
        state: what it must be ("isclean", "ishot", "iscool"), "" where it does not matter.
        count: how many of it.
    """

    thing: str
    place: str = ""
    lamp: str = ""
    state: str = ""
    count: int = 1


def aim_of(goal: Term) -> Aim | None:
    """Return what a goal asks for, or None where it is none of the six published kinds.

    >>> from agentgym.envs.alfworld.goals import goal_of
    >>> aim_of(goal_of("pick_heat_then_place_in_recep", "Egg", "GarbageCan"))
    Aim(thing='eggtype', place='garbagecantype', lamp='', state='ishot', count=1)
    """
    atoms = list(dict.fromkeys(_atoms(goal)))
    types = {a[1]: a[2] for a in atoms if a[0] == "objecttype" and len(a) == 3}
    lit = [a[1] for a in atoms if a[0] == "istoggled" and a[1] in types]
    held = [a[2] for a in atoms if a[0] == "holds" and len(a) == 3 and a[2] in types]
    if lit:
        return Aim(types[held[0]], lamp=types[lit[0]]) if held else None
    placed = dict.fromkeys(a[1] for a in atoms if a[0] == "inreceptacle" and a[1] in types)
    places = [a[2] for a in atoms if a[0] == "receptacletype" and len(a) == 3]
    if not placed or not places or len({types[v] for v in placed}) != 1:
        return None
    states = [a[0] for a in atoms if a[0] in STATES]
    (thing,) = {types[v] for v in placed}
    return Aim(thing, place=places[0], state=states[0] if states else "", count=len(placed))


def _atoms(term: Term) -> Iterator[tuple[str, ...]]:
    """Yield the facts a formula is made of, wherever they stand in it."""
    if isinstance(term, str) or not term:
        return
    if all(isinstance(part, str) for part in term):
        yield tuple(str(part) for part in term)
        return
    for part in term[1:]:
        yield from _atoms(part)
