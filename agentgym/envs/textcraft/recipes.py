"""The recipe book: what can be crafted, from what, and how deep it lies.

Names inside are the game's ids without "minecraft:" ("oak_planks"); `spoken` turns them into the
words of actions and observations. A book is immutable and shared by every episode of a process.
An ingredient may be a tag ("planks"): a kind of item, of which any one member will do.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from typing import Any

TABLES = {"official": ("recipes.json",), "mini": ("recipes.json", "invented.json")}
"""The data files of each edition; the invented recipes belong to mini alone."""


def spoken(name: str) -> str:
    """Return a name as actions and observations write it: "oak planks"."""
    return name.replace("_", " ")


@dataclass(frozen=True, slots=True)
class Recipe:
    """One crafting recipe.

    Attributes:
        output: the item it makes.
        count: how many of it one crafting makes.
        needs: (item or tag, count) of each ingredient, in the order they are listed.
        line: the recipe as the observation lists it ("craft 4 stick using 2 planks").
        exact: the ingredients that are items, by name.
        kinds: the ingredients that are tags, with their counts.
    """

    output: str
    count: int
    needs: tuple[tuple[str, int], ...]
    line: str
    exact: Mapping[str, int]
    kinds: tuple[tuple[str, int], ...]


class RecipeBook:
    """A set of recipes without cycles.

    Args:
        rows: [output, count, [[ingredient, count], ...]] of each recipe, in order.
        tags: the members of each tag.
        base: the items that are found, not crafted.
    """

    def __init__(
        self, rows: Iterable[Any], tags: Mapping[str, Iterable[str]], base: Iterable[str]
    ) -> None:
        self.tags = {tag: tuple(members) for tag, members in tags.items()}
        self._members = {tag: frozenset(members) for tag, members in self.tags.items()}
        self.base = frozenset(base)
        self.recipes = tuple(self._read(*row) for row in rows)
        makers: dict[str, list[Recipe]] = {}
        for recipe in self.recipes:
            makers.setdefault(recipe.output, []).append(recipe)
        self.makers = {name: tuple(found) for name, found in makers.items()}
        self._closures: dict[str, tuple[Recipe, ...]] = {}
        self._neighbours: dict[str, tuple[Recipe, ...]] = {}
        self.near = lru_cache(maxsize=1024)(self._near)

    def _read(self, output: str, count: int, needs: list[list[Any]]) -> Recipe:
        ingredients = tuple((name, n) for name, n in needs)
        listed = ", ".join(f"{n} {spoken(name)}" for name, n in ingredients)
        return Recipe(
            output,
            count,
            ingredients,
            f"craft {count} {spoken(output)} using {listed}",
            {name: n for name, n in ingredients if name not in self.tags},
            tuple((name, n) for name, n in ingredients if name in self.tags),
        )

    @cached_property
    def depth(self) -> dict[str, int]:
        """Crafting steps between each item or tag and what is found: 0 for what is found.

        The least over an item's recipes of the most over the recipe's ingredients, plus one.
        """
        return self._levels(min)

    @cached_property
    def rank(self) -> dict[str, int]:
        """A level for each item or tag above that of all it could be crafted from."""
        return self._levels(max)

    def _levels(self, best: Any) -> dict[str, int]:
        levels = dict.fromkeys(self.base, 0)

        def level(name: str) -> int:
            if name not in levels:
                if name in self.makers:
                    over = (max(level(i) for i, _ in r.needs) + 1 for r in self.makers[name])
                else:
                    over = (level(member) for member in self.tags[name])
                levels[name] = best(over)
            return levels[name]

        for name in (*self.makers, *self.tags):
            level(name)
        return levels

    @cached_property
    def craftable(self) -> tuple[str, ...]:
        """The craftable items, by depth, then name: the order of the official tasks."""
        return tuple(sorted(self.makers, key=lambda name: (self.depth[name], name)))

    def match(self, output: str, given: Mapping[str, int]) -> Recipe | None:
        """Return the recipe that makes `output` from exactly these items, or None."""
        for recipe in self.makers.get(output, ()):
            if not recipe.kinds:
                if given == recipe.exact:
                    return recipe
            elif len(given) == len(recipe.needs) and self._fits(recipe, given):
                return recipe
        return None

    def _fits(self, recipe: Recipe, given: Mapping[str, int]) -> bool:
        if any(given.get(name) != n for name, n in recipe.exact.items()):
            return False
        rest = {name: n for name, n in given.items() if name not in recipe.exact}
        for tag, n in recipe.kinds:
            members = self._members[tag]
            found = next((x for x, have in rest.items() if have == n and x in members), None)
            if found is None:
                return False
            del rest[found]
        return not rest

    def closure(self, goal: str) -> tuple[Recipe, ...]:
        """Return every recipe the goal could be crafted through, in the order of the book."""
        if goal not in self._closures:
            seen: set[str] = set()
            open_names = [goal]
            while open_names:
                name = open_names.pop()
                if name in seen:
                    continue
                seen.add(name)
                open_names += self.tags.get(name, ())
                open_names += (i for r in self.makers.get(name, ()) for i, _ in r.needs)
            self._closures[goal] = tuple(r for r in self.recipes if r.output in seen)
        return self._closures[goal]

    def neighbours(self, goal: str) -> tuple[Recipe, ...]:
        """Return the recipes outside the closure that share an ingredient with it, in order."""
        if goal not in self._neighbours:
            inside = self.closure(goal)
            used = {name for recipe in inside for name, _ in recipe.needs}
            outputs = {recipe.output for recipe in inside}
            self._neighbours[goal] = tuple(
                r for r in self.recipes
                if r.output not in outputs and any(name in used for name, _ in r.needs)
            )  # fmt: skip
        return self._neighbours[goal]

    def knows(self, name: str) -> bool:
        """Whether there is an item or a tag of this name."""
        return name in self.base or name in self.makers or name in self.tags

    def _near(self, name: str) -> str:
        """Return " Did you mean x?" for the known name nearest to this one, or ""."""
        names = [*self.base, *self.makers]
        close = difflib.get_close_matches(name[:60], sorted(names), n=1, cutoff=0.75)
        return f" Did you mean {spoken(close[0])}?" if close else ""


@cache
def load_book(edition: str) -> RecipeBook:
    """Return the recipe book of an edition, read once a process."""
    folder = files("agentgym.envs.textcraft") / "data"
    rows: list[Any] = []
    tags: dict[str, list[str]] = {}
    base: list[str] = []
    for name in TABLES[edition]:
        table = json.loads((folder / name).read_text(encoding="utf-8"))
        rows += table["recipes"]
        tags |= table.get("tags", {})
        base += table.get("base", [])
    return RecipeBook(rows, tags, base)
