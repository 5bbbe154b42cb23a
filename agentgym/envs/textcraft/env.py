"""TextCraft: craft an item from a list of recipes, some of which do not matter.

The world is a recipe book and an inventory. Items that no recipe makes are found for the asking;
everything else is crafted. The score is 1 once the goal is in the inventory, else 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar

import numpy as np

from agentgym.core import Edition, Expert, Opening, Outcome, Task, TaskSet, TextEnv
from agentgym.core.command import grammar
from agentgym.core.errors import InvalidState
from agentgym.envs.textcraft.expert import TextCraftExpert
from agentgym.envs.textcraft.inventory import Inventory
from agentgym.envs.textcraft.planner import Planner
from agentgym.envs.textcraft.recipes import Recipe, load_book, spoken
from agentgym.envs.textcraft.tasks import goal_text, listed_recipes, mini_tasks, official_tasks
from agentgym.envs.textcraft.workshop import COMMANDS, Workshop

INSTRUCTIONS = f"""You are crafting an item in Minecraft. The first observation lists crafting \
recipes and names your goal; some of the recipes are of no use for it. Each round you give one \
action, and the reply tells you what came of it.

Actions:
{grammar(COMMANDS)}

Rules:
1. Every count is written out: get 2 oak logs; craft 4 stick using 2 oak planks.
2. Items that no recipe makes can be got in any number. Items that a recipe makes must be crafted.
3. One craft action is one use of a recipe, with exactly the counts the recipe states. To make \
more, craft again.
4. An ingredient may stand for a kind of item. Where a recipe says planks, name planks that you \
have, such as dark oak planks, in the same number.
5. You are done as soon as you carry the goal, in the number it asks for."""


class TextCraftEnv(TextEnv):
    """Craft an item from recipes; see `TextEnv` for the options."""

    name = "textcraft"
    title = "TextCraft"
    editions: ClassVar[Mapping[str, Edition]] = {
        "mini": Edition(
            40, "Goals of depth 1 to 6 over Minecraft 1.16 and invented recipes, written by us."
        ),
        "official": Edition(20, "The 544 craftable items of Minecraft 1.16, by depth, then name."),
    }
    commands = COMMANDS
    instructions = INSTRUCTIONS

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.workshop = Workshop(load_book(self.edition))
        self._item, self._count = "", 1
        self._listed: list[Recipe] = []

    @classmethod
    def load_tasks(cls, edition: str, data_dir: str | None) -> TaskSet:
        """Return the task set of an edition."""
        return official_tasks(data_dir) if edition == "official" else mini_tasks()

    @property
    def inventory(self) -> dict[str, int]:
        """A copy of what is carried: counts by item id without "minecraft:"."""
        return dict(self.workshop.inventory)

    def _begin(self, task: Task) -> Opening:
        spec = task.spec
        self.workshop.inventory = Inventory()
        self._item, self._count = spec["goal"], int(spec["count"])
        self._listed = listed_recipes(self.workshop.book, spec)
        lines = "\n".join([recipe.line for recipe in self._listed])
        goal = goal_text(spec)
        return Opening(f"Crafting commands:\n{lines}\n\nGoal: {goal}.", goal)

    def _act(self, action: str) -> Outcome:
        text, valid, crafted = self.workshop.play(action)
        if crafted == self._item and self.workshop.inventory[crafted] >= self._count:
            return Outcome(text, 1.0, done=True, success=True)
        return Outcome(text, 0.0, valid=valid)

    def _make_expert(self) -> Expert:
        return TextCraftExpert(self.workshop, _planner(self.edition), self._item, self._count)

    def _sample(self, rng: np.random.Generator) -> str:
        """Get what a listed recipe needs, try a listed recipe, or look: 9 to 9 to 2."""
        kind = int(rng.integers(20))
        if kind >= 18:
            return "inventory"
        recipe = self._listed[int(rng.integers(len(self._listed)))]
        found = [pair for pair in recipe.needs if pair[0] in self.workshop.book.base]
        if kind < 9 and found:
            name, n = found[int(rng.integers(len(found)))]
            return f"get {n * int(rng.integers(1, 4))} {spoken(name)}"
        return self._in_full(recipe, rng)

    def _in_full(self, recipe: Recipe, rng: np.random.Generator) -> str:
        """Return the recipe as an action, each tag replaced by one of its members."""
        parts = []
        for name, n in recipe.needs:
            members = self.workshop.book.tags.get(name)
            if members:
                carried = [m for m in members if m in self.workshop.inventory]
                members = tuple(carried) or members
                name = members[int(rng.integers(len(members)))]
            parts.append(f"{n} {spoken(name)}")
        return f"craft {recipe.count} {spoken(recipe.output)} using {', '.join(parts)}"

    def _save(self) -> Any:
        return [[name, count] for name, count in self.workshop.inventory.items()]

    def _load(self, saved: Any) -> None:
        carried = dict(saved)
        for name, count in carried.items():
            if not self.workshop.book.knows(name) or type(count) is not int or count < 1:
                raise InvalidState(f"the snapshot's inventory holds {count!r} of {name!r}")
        self.workshop.inventory = Inventory(carried)

    def _render_text(self) -> str:
        have = self.workshop.inventory.get(self._item, 0)
        carried = [f"  {n:>4} {spoken(i)}" for i, n in self.workshop.inventory.items()]
        return "\n".join(
            [
                f"TextCraft  round {self.rounds} of {self.max_rounds}",
                f"Goal: {self._goal} (you have {have} of {self._count})",
                "Inventory:",
                *(carried or ["     nothing"]),
                "",
                self._observation,
            ]
        )


@cache
def _planner(edition: str) -> Planner:
    return Planner(load_book(edition))
