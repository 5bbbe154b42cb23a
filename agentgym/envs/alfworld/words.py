"""The words of the game: what actions are called and what is answered.

The texts are those of ALFWorld's grammar. They come in two vocabularies. Up to alfworld 0.3 a thing
is *put in/on* a receptacle, arriving names the location, and there is no help; the published game
files are written so, and AgentGym's prompt, action list and trajectories follow them. Since 0.4 a
thing is *moved to* a receptacle, arriving names the receptacle, and there is help. A vocabulary is
a property of a game; only its own phrase is understood, as in the original.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

NOTHING_HAPPENS = "Nothing happens."
WELCOME = "-= Welcome to TextWorld, ALFRED! =-"

_HELP = (
    ("look:", "look around your current location"),
    ("inventory:", "check your current inventory"),
    ("go to (receptacle):", "move to a receptacle"),
    ("open (receptacle):", "open a receptacle"),
    ("close (receptacle):", "close a receptacle"),
    ("take (object) from (receptacle):", "take an object from a receptacle"),
    ("move (object) to (receptacle):  place an object in or on a receptacle", ""),
    ("examine (something):", "examine a receptacle or an object"),
    ("use (object):", "use an object"),
    ("heat (object) with (receptacle):", "heat an object using a receptacle"),
    ("clean (object) with (receptacle):", "clean an object using a receptacle"),
    ("cool (object) with (receptacle):", "cool an object using a receptacle"),
    ("slice (object) with (object):", "slice an object using a sharp object"),
)
HELP = "Available commands:\n" + "".join(f"  {usage:34}{about}\n" for usage, about in _HELP)
"""What help answers; the original drops the empty line its grammar begins it with."""


@dataclass(frozen=True, slots=True)
class Words:
    """One vocabulary.

    Attributes:
        put: the action of putting a thing down, with {o} and {r} for the names.
        put_done: its answer.
        arrive: what going somewhere is answered with before the receptacle is described, with
            {loc} and {r}; may be empty.
        help: whether there is a help action.
    """

    put: str
    put_done: str
    arrive: str
    help: bool


PUT = Words("put {o} in/on {r}", "You put the {o} in/on the {r}.", "You arrive at {loc}. ", False)
"""Up to alfworld 0.3, and in the published game files."""
MOVE = Words("move {o} to {r}", "You move the {o} to the {r}.", "You arrive at {r}. ", True)
"""Since alfworld 0.4."""


def listed(names: Sequence[str]) -> str:
    """Return names as the game lists them.

    >>> listed([]), listed(["apple 1"]), listed(["apple 2", "apple 1", "mug 1"])
    ('nothing', 'a apple 1', 'a apple 2, a apple 1, and a mug 1')
    """
    return "nothing" if not names else joined([f"a {name}" for name in names])


def joined(parts: Sequence[str]) -> str:
    """Return parts with a comma between them, and an "and" before the last.

    >>> joined(["fridge 1", "cabinet 1"])
    'fridge 1, and cabinet 1'
    """
    if len(parts) == 1:
        return parts[0]
    return f"{', '.join(parts[:-1])}, and {parts[-1]}"


def in_room(receptacles: Sequence[str]) -> str:
    """Say what stands around the middle of the room."""
    return (
        "You are in the middle of a room. Looking quickly around you, you see "
        f"{listed(receptacles)}."
    )


def facing(receptacles: Sequence[str], beside: Sequence[str]) -> str:
    """Say what one stands in front of, and what lies next to it."""
    return f"You are facing the {joined(receptacles)}. Next to it, you see {listed(beside)}."


def opening(scene: str, task: str) -> str:
    """Return what a game begins with."""
    return f"{WELCOME}\n\n{scene}\n\n{task}"


def task_line(task: str) -> str:
    """Return how a game states its goal."""
    return f"Your task is to: {task}."


def behind_server(text: str, first: bool = False) -> str:
    """Return a text of the original game as AgentGym's server passes it on.

    Args:
        text: what the game says.
        first: whether it is the opening, of which the welcome is dropped.
    """
    if first:
        return "\n".join(text.split("\n\n")[1:])
    if text.startswith("You arrive at loc "):
        return text[text.find(". ") + 2 :]
    return text


def state_of(name: str, facts: Iterable[str]) -> str:
    """Describe a thing that is no container.

    Args:
        name: what it is called.
        facts: what is true of it: "isclean", "ishot", "iscool", "issliced", "istoggled",
            "toggleable", "sliceable".
    """
    has = set(facts)
    clean, hot, cool, sliced = (w in has for w in ("isclean", "ishot", "iscool", "issliced"))
    warmth = "hot" if hot else "cool" if cool else ""
    if sliced and (clean or warmth):
        both = f"{warmth} and clean" if clean and warmth else "clean" if clean else warmth
        return f"This is a {both} sliced {name}."
    if clean and warmth:
        return f"This is a {warmth} and clean {name}."
    if hot or clean or cool:
        return f"This is a {'hot' if hot else 'clean' if clean else 'cold'} {name}."
    if "toggleable" in has and "istoggled" in has:
        return f"This {name} is on."
    if "sliceable" in has and sliced:
        return f"This is a sliced {name}."
    return f"There's nothing special about {name}."
