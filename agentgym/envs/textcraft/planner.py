"""Plans: how to come from an inventory to a goal in few rounds.

Every `get` takes as many as are needed and costs one round; every crafting costs one. A plan is
fixed by its choices (which recipe for an item, which member for a tag); demands then follow from
the goal downwards in one sweep. The planner starts from the choices that are cheapest one by one
and changes single choices as long as that saves rounds, so its plans are short, not provably
shortest.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field

from agentgym.envs.textcraft.recipes import Recipe, RecipeBook

Choices = dict[str, int]
"""Index of the recipe chosen for an item, or of the member for a tag; 0 where not named."""


@dataclass(slots=True)
class Plan:
    """What it takes to have the goal.

    Attributes:
        goal: the item to have.
        gets: how many to take of each found item.
        crafts: recipe and number of craftings of each item to be crafted.
        uses: for each item, (what it is for, how many of it that takes), in order of need.
        members: the item that stands for each tag.
    """

    goal: str
    gets: dict[str, int] = field(default_factory=dict)
    crafts: dict[str, tuple[Recipe, int]] = field(default_factory=dict)
    uses: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    members: dict[str, str] = field(default_factory=dict)

    @property
    def rounds(self) -> int:
        """Actions the plan takes."""
        return len(self.gets) + sum(times for _, times in self.crafts.values())

    def ingredients(self, recipe: Recipe) -> dict[str, int]:
        """Return the items that go into one crafting, tags replaced by their members."""
        return {self.members.get(name, name): n for name, n in recipe.needs}


class Planner:
    """Plans over one recipe book."""

    def __init__(self, book: RecipeBook) -> None:
        self.book = book
        self._costs: dict[str, float] = {}
        self._defaults = {
            name: min(range(len(makers)), key=lambda i: self._recipe_cost(makers[i]))
            for name, makers in book.makers.items()
            if len(makers) > 1
        }

    def plan(self, goal: str, count: int, inventory: Mapping[str, int]) -> Plan:
        """Return a short plan to hold `count` of the goal, given what is held already."""
        choices = dict(self._defaults)
        best = self.sweep(goal, count, inventory, choices)
        improved = True
        while improved:
            improved = False
            for name, index in self._alternatives(best, inventory, choices):
                trial = self.sweep(goal, count, inventory, {**choices, name: index})
                if trial.rounds < best.rounds:
                    choices[name], best, improved = index, trial, True
        return best

    def sweep(
        self, goal: str, count: int, inventory: Mapping[str, int], choices: Mapping[str, int]
    ) -> Plan:
        """Return the plan that follows from these choices."""
        book, plan = self.book, Plan(goal)
        demand, rank = {goal: count}, book.rank
        queue = [(-rank[goal], goal)]
        while queue:
            _, name = heapq.heappop(queue)
            missing = demand[name] - inventory.get(name, 0)
            if missing <= 0:
                continue
            if name in book.base:
                plan.gets[name] = missing
                continue
            recipe = book.makers[name][choices.get(name, 0)]
            times = -(-missing // recipe.count)
            plan.crafts[name] = (recipe, times)
            for ingredient, n in recipe.needs:
                if ingredient in book.tags:
                    member = book.tags[ingredient][choices.get(ingredient, 0)]
                    plan.members[ingredient] = member
                    ingredient = member
                if ingredient not in demand:
                    heapq.heappush(queue, (-rank[ingredient], ingredient))
                demand[ingredient] = demand.get(ingredient, 0) + n * times
                plan.uses.setdefault(ingredient, []).append((name, n * times))
        return plan

    def _alternatives(
        self, plan: Plan, inventory: Mapping[str, int], choices: Mapping[str, int]
    ) -> list[tuple[str, int]]:
        """List the single changes that could shorten a plan."""
        book = self.book
        changes = [
            (name, i)
            for name in plan.crafts
            for i in range(len(book.makers[name]))
            if i != choices.get(name, 0)
        ]
        for tag in plan.members:
            changes += (
                (tag, i)
                for i, member in enumerate(book.tags[tag])
                if i != choices.get(tag, 0) and (member in inventory or member in plan.crafts)
            )
        return changes

    def _recipe_cost(self, recipe: Recipe) -> float:
        return 1.0 + sum(self._cost(name) * (n if n > 1 else 1) for name, n in recipe.needs)

    def _cost(self, name: str) -> float:
        """Return roughly what one more of an item costs in rounds."""
        if name in self.book.base:
            return 0.2
        if name not in self._costs:
            if name in self.book.tags:
                self._costs[name] = min(self._cost(member) for member in self.book.tags[name])
            else:
                over = (self._recipe_cost(r) / r.count for r in self.book.makers[name])
                self._costs[name] = min(over)
        return self._costs[name]
