"""The action grammar, in both vocabularies."""

from __future__ import annotations

from agentgym.core.command import Command, Param

_OBJECT = Param("object", "the thing's name with its number, such as apple 1")
_RECEPTACLE = Param("receptacle", "the receptacle's name with its number, such as fridge 1")


def _on_both(verb: str, between: str, about: str) -> Command:
    template = f"{verb} {{object}} {between} {{receptacle}}"
    return Command(verb, template, about, (_OBJECT, _RECEPTACLE))


def _commands(put: Command) -> tuple[Command, ...]:
    to = Command("goto", "go to {receptacle}", "Go to a receptacle.", (_RECEPTACLE,))
    some = Param("something", "a receptacle you are at, or the thing you carry")
    knife = Param("knife", "the knife you carry, such as knife 1")
    return (
        to,
        _on_both("take", "from", "Pick up a thing; you can carry one."),
        put,
        Command("open", "open {receptacle}", "Open a receptacle.", (_RECEPTACLE,)),
        Command("close", "close {receptacle}", "Close a receptacle.", (_RECEPTACLE,)),
        _on_both("heat", "with", "Heat the thing you carry with a microwave."),
        _on_both("cool", "with", "Cool the thing you carry with a fridge."),
        _on_both("clean", "with", "Clean the thing you carry with a sinkbasin."),
        Command(
            "slice",
            "slice {object} with {knife}",
            "Slice a thing that lies here.",
            (_OBJECT, knife),
        ),
        Command("use", "use {object}", "Switch on a lamp that is here.", (_OBJECT,)),
        Command("examine", "examine {something}", "Look at one thing closely.", (some,)),
        Command("inventory", "inventory", "See what you carry."),
        Command("look", "look", "Look around where you are."),
    )


_PUT = Command(
    "put",
    "put {object} in/on {receptacle}",
    "Put down the thing you carry, in or on a receptacle.",
    (_OBJECT, _RECEPTACLE),
)
PUT_COMMANDS = _commands(_PUT)
"""Up to alfworld 0.3, and in the published games."""
MOVE_COMMANDS = (
    *_commands(_on_both("move", "to", "Put down the thing you carry, in or on a receptacle.")),
    Command("help", "help", "List the commands."),
)
"""Since alfworld 0.4."""
