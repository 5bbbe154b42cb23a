"""The workshop: reads an action, carries it out on the inventory, and answers.

Answers begin with the published wording. Where an action cannot be carried out, the answer goes on
to say what would have worked; nothing has changed then. An action is read with string operations
alone, in time linear in its length: what a model writes never meets a regular expression.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from agentgym.core.command import Command, Param
from agentgym.core.text import shorten
from agentgym.envs.textcraft.inventory import Inventory
from agentgym.envs.textcraft.recipes import Recipe, RecipeBook, spoken

MOST = 999_999
"""The largest count an action may name."""
_MOST_DIGITS = len(str(MOST))

COMMANDS = (
    Command(
        "get",
        "get {count} {item}",
        "Take items that are found, not crafted.",
        (
            Param("count", "how many", "integer"),
            Param("item", "the item's name, such as oak logs"),
        ),
    ),
    Command(
        "craft",
        "craft {count} {item} using {ingredients}",
        "Craft once by a recipe, out of what you carry; the counts are the recipe's.",
        (
            Param("count", "how many one crafting of the recipe makes", "integer"),
            Param("item", "the item's name"),
            Param("ingredients", "count and name of each, comma-separated: 2 oak planks, 1 stick"),
        ),
    ),
    Command("inventory", "inventory", "See what you carry."),
)

USAGE = "Say one of: " + "; ".join(command.usage for command in COMMANDS) + "."


class Answer(NamedTuple):
    """What the workshop says, whether it did anything, and the item crafted if one was."""

    text: str
    valid: bool = True
    crafted: str | None = None


class Misread(ValueError):
    """An action's words cannot be read; the message is the answer."""


class Workshop:
    """An inventory beside a recipe book.

    Args:
        book: the recipes that work here.
    """

    def __init__(self, book: RecipeBook) -> None:
        self.book = book
        self.inventory = Inventory()

    def play(self, action: str) -> Answer:
        """Carry out an action, whatever it says."""
        words = " ".join(action.lower().split()).rstrip(".")
        verb, _, rest = words.partition(" ")
        try:
            if verb == "get":
                return self._get(rest)
            if verb == "craft" and " using " in rest:
                return self._craft(*rest.split(" using ", 1))
        except Misread as error:
            return Answer(str(error), valid=False)
        if words == "inventory":
            return Answer(str(self.inventory))
        return Answer(f"Could not execute {shorten(action)}. {USAGE}", valid=False)

    def _get(self, words: str) -> Answer:
        count, name = _amount(words, "Could not execute get {}.", "1 oak logs")
        if name not in self.book.base:
            return Answer(f"Could not find {self._quote(name)}{self._why(name)}", valid=False)
        self.inventory.add(name, count)
        return Answer(f"Got {count} {spoken(name)}")

    def _why(self, name: str) -> str:
        """Say why an item cannot be got, and what to do."""
        book = self.book
        if name in book.makers:
            return f": it has to be crafted. {self._recipes(name)}"
        if name in book.tags:
            members = ", ".join(map(spoken, book.tags[name]))
            return f": it stands for any one of {members}; name one of these."
        return f": there is no such item.{book.near(name)}"

    def _craft(self, target: str, ingredients: str) -> Answer:
        if target[:1].isdigit():
            count, output = _amount(target, "Could not execute craft {}.", "4 stick")
        else:
            count, output = 0, _name(target)
        given = self._given(ingredients)
        recipe = self.book.match(output, given)
        lacking = self.inventory.lacks(given)
        if lacking:
            return self._short(output, lacking, recipe)
        if recipe is None or (count and count != recipe.count):
            asked = f"{count or ''} {self._quote(output)}".strip()
            help_ = recipe.line + f" (one crafting makes {recipe.count})." if recipe else ""
            help_ = f"The recipe: {help_}" if help_ else self._recipes(output)
            return Answer(f"Could not find a valid recipe for {asked}. {help_}", valid=False)
        self.inventory.remove(given)
        self.inventory.add(output, recipe.count)
        return Answer(f"Crafted {recipe.count} minecraft:{output}", crafted=output)

    def _given(self, words: str) -> dict[str, int]:
        given: dict[str, int] = {}
        for part in words.split(","):
            count, name = _amount(part.strip(), "Wrong item format: {}.", "2 oak planks")
            given[name] = given.get(name, 0) + count
        return given

    def _short(self, output: str, lacking: list[tuple[str, int]], recipe: Recipe | None) -> Answer:
        name, count = lacking[0]
        have = self.inventory.get(name, 0)
        target = output if recipe else shorten(output)
        text = (
            f"Could not find enough items to craft minecraft:{target}: you need {count} "
            f"{self._quote(name)} and have {have}."
        )
        if name in self.book.tags:
            members = ", ".join(map(spoken, self.book.tags[name]))
            text += f" Name the kind of {spoken(name)} you have: {members}."
        elif not self.book.knows(name):
            text += f" There is no such item.{self.book.near(name)}"
        elif recipe is None:
            text += f" {self._recipes(output)}"
        return Answer(text, valid=False)

    def _quote(self, name: str) -> str:
        """Return a name fit for an answer, whatever it holds."""
        return spoken(name) if self.book.knows(name) else shorten(spoken(name))

    def _recipes(self, name: str) -> str:
        """Say how an item is made."""
        found = self.book.makers.get(name)
        if found:
            lines = "; ".join(recipe.line for recipe in found[:4])
            return f"Recipes for {spoken(name)}: {lines}."
        if name in self.book.base:
            return f"It is not crafted but found: get 1 {spoken(name)}."
        if name in self.book.tags:
            members = ", ".join(map(spoken, self.book.tags[name]))
            return f"It stands for any one of {members}; name one of these."
        return f"There is no such item.{self.book.near(name)}"


def _name(words: str) -> str:
    name = words.replace(" ", "_")
    return name.removeprefix("minecraft:") if ":" in name else name


def _amount(words: str, complaint: str, example: str) -> tuple[int, str]:
    """Read "2 oak planks".

    Raises:
        Misread: if it is not a count from 1 to `MOST` and a name.
    """
    count, name = _read_short(words) if len(words) <= 60 else _read(words)
    if count:
        return count, name
    advice = (
        f"The count must be from 1 to {MOST}."
        if name
        else f"Write a count and a name, such as: {example}."
    )
    raise Misread(f"{complaint.format(shorten(words) or '(nothing)')} {advice}")


def _read(words: str) -> tuple[int, str]:
    """Return the count, 0 where it is out of range, and the name, "" where there are not both."""
    digits, _, name = words.partition(" ")
    if not (digits.isdecimal() and digits.isascii() and name):
        return 0, ""
    return int(digits) if len(digits) <= _MOST_DIGITS else 0, _name(name)


_read_short = lru_cache(maxsize=4096)(_read)
