"""What can be said in SciWorld, and what to say to an action nobody understands."""

from __future__ import annotations

import difflib
import re

from agentgym.core import Command, Param

UNKNOWN = "No known action matches that input."
AMBIGUOUS = "Ambiguous request"

_OBJECT = Param("object", "an object in the room or in your inventory")


def _simple(name: str, words: str, description: str) -> Command:
    return Command(name, f"{words} {{object}}", description, (_OBJECT,))


# Longer forms stand before the shorter ones that would also match them.
COMMANDS: tuple[Command, ...] = (
    _simple("open", "open", "Open a door or a container."),
    _simple("close", "close", "Close a door or a container."),
    _simple("activate", "activate", "Turn on a device."),
    _simple("deactivate", "deactivate", "Turn off a device."),
    Command(
        "connect",
        "connect {object} to {target}",
        "Connect electrical components, terminal to terminal.",
        (_OBJECT, Param("target", "the component or terminal to connect it to")),
    ),
    _simple("disconnect", "disconnect", "Disconnect an electrical component."),
    Command(
        "use_on",
        "use {object} on {target}",
        "Use a device or a tool on something.",
        (
            Param("object", "the device or tool, in your inventory or in reach"),
            Param("target", "what to use it on"),
        ),
    ),
    _simple("use", "use", "Use a device or a tool."),
    Command("look_around", "look around", "Describe the room; takes no time."),
    _simple("look_at", "look at", "Describe an object in detail."),
    _simple("look_in", "look in", "Describe what a container holds."),
    _simple("read", "read", "Read a note or a book."),
    Command(
        "move",
        "move {object} to {target}",
        "Move an object into a container.",
        (_OBJECT, Param("target", "the container")),
    ),
    _simple("pick_up", "pick up", "Move an object to your inventory."),
    _simple("put_down", "put down", "Put an object of your inventory on the ground."),
    _simple("drop", "drop", "The same as put down."),
    Command(
        "pour",
        "pour {object} into {target}",
        "Pour a liquid, or what a container holds, into a container.",
        (
            Param("object", "the liquid, or the container it is in"),
            Param("target", "the container"),
        ),
    ),
    Command(
        "dunk",
        "dunk {object} into {target}",
        "Dunk a container into a liquid.",
        (Param("object", "the container"), Param("target", "the liquid")),
    ),
    _simple("mix", "mix", "Mix what a container holds."),
    Command(
        "go_to",
        "go to {location}",
        "Go to a room next to this one; its door must be open.",
        (Param("location", "the room"),),
    ),
    _simple("eat", "eat", "Eat something."),
    _simple("flush", "flush", "Flush a toilet."),
    _simple("focus_on", "focus on", "Say that this is the object the task is about."),
    Command("wait1", "wait1", "Let one step of time pass."),
    Command("wait", "wait", "Let ten steps of time pass."),
    _simple("examine", "examine", "Describe an object."),
    Command("task", "task", "Repeat the task."),
    Command("inventory", "inventory", "List what you carry."),
    # Shorter forms the package takes as well and its own agent uses; "in" may be part of a name
    # ("cup in sink"), so they stand after the longer ones.
    Command(
        "pour_in",
        "pour {object} in {target}",
        "The same as pour into.",
        (Param("object", "the liquid, or its container"), Param("target", "the container")),
    ),
    Command(
        "dunk_in",
        "dunk {object} in {target}",
        "The same as dunk into.",
        (Param("object", "the container"), Param("target", "the liquid")),
    ),
    Command(
        "choose",
        "{number}",
        "Answer an ambiguous request with the number of what you meant.",
        (Param("number", "the number of the choice", "integer"),),
    ),
)

_CHOICE = re.compile(r"^(\d+):\t", re.MULTILINE)
_OTHER_FORMS = ("choose", "use_on", "pour_in", "dunk_in")
_VERBS = {c.template.split(" {")[0]: c for c in COMMANDS if c.name not in _OTHER_FORMS}


def choices(observation: str) -> int:
    """Return how many choices an ambiguous request offers; 0 where the text is none."""
    return len(_CHOICE.findall(observation)) if observation.startswith(AMBIGUOUS) else 0


def understood(observation: str) -> bool:
    """Return whether the simulator found out what an action meant."""
    return not observation.startswith((UNKNOWN, "ERROR: ", "Unknown action."))


def hint(action: str) -> str:
    """Return what would have been right instead of an action nobody understands.

    >>> hint("open the pod bay doors")
    'open [object] is right only with an object that is here: look around lists them.'
    >>> hint("pikc up pot")
    "Did you mean 'pick up [object]'?"
    """
    folded = " ".join(action.lower().split())
    for verb in sorted(_VERBS, key=len, reverse=True):
        if folded == verb or folded.startswith(verb + " "):
            usage = _usage(verb)
            if folded == verb:
                return f"Say: {usage}."
            return f"{usage} is right only with an object that is here: look around lists them."
    words = " ".join(folded.split()[:2])
    near = difflib.get_close_matches(words[:40], _VERBS, n=1, cutoff=0.6)
    near = near or difflib.get_close_matches(words.split(" ")[0][:40], _VERBS, n=1, cutoff=0.7)
    if near:
        return f"Did you mean '{_usage(near[0])}'?"
    return f"Say one of: {', '.join(_usage(verb) for verb in _VERBS)}."


def _usage(verb: str) -> str:
    if verb == "use":
        return "use [object] on [target]"
    return _VERBS[verb].usage
