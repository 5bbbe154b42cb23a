"""The expert: plans from the whole recipe book and gives a person's reasons.

It works back from the goal once, says so, and then makes each part before the thing it is for. If
somebody else has moved in between, it plans anew from what is carried.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from agentgym.core.expert import Expert
from agentgym.envs.textcraft.planner import Plan, Planner
from agentgym.envs.textcraft.recipes import Recipe, spoken
from agentgym.envs.textcraft.workshop import Workshop

Move = tuple[str, str, dict[str, int]]
"""Thought, action, and what is carried afterwards."""


class TextCraftExpert(Expert):
    """Plays the current episode.

    Args:
        workshop: the episode's workshop; it is read, not changed.
        planner: a planner over its recipe book.
        goal: the item to craft.
        count: how many of it.
    """

    def __init__(self, workshop: Workshop, planner: Planner, goal: str, count: int) -> None:
        self._workshop, self._planner = workshop, planner
        self._goal, self._count = goal, count
        self._moves: deque[Move] = deque()
        self._expected: dict[str, int] | None = None

    def act(self, observation: str, info: Mapping[str, Any]) -> tuple[str, str]:
        """Return the next move of the plan and the reason for it."""
        carried = self._workshop.inventory
        if carried != self._expected or not self._moves:
            plan = self._planner.plan(self._goal, self._count, carried)
            self._moves = deque(_Narration(plan, self._count, carried).moves())
        if not self._moves:
            return "I have what was asked for; a look at what I carry shows it.", "inventory"
        thought, action, self._expected = self._moves.popleft()
        return thought, action


class _Narration:
    """Turns a plan into moves, parts before the things they are for."""

    def __init__(self, plan: Plan, count: int, carried: Mapping[str, int]) -> None:
        self._plan, self._missing = plan, count - carried.get(plan.goal, 0)
        self._carried = dict(carried)
        self._done: set[str] = set()
        self._moves: list[Move] = []

    def moves(self) -> list[Move]:
        self._make(self._plan.goal)
        if self._moves:
            thought, action, after = self._moves[0]
            self._moves[0] = f"{self._outline()} {thought}", action, after
        return self._moves

    def _make(self, name: str) -> None:
        if name in self._done:
            return
        self._done.add(name)
        if name in self._plan.gets:
            self._get(name, self._plan.gets[name])
        elif name in self._plan.crafts:
            recipe, times = self._plan.crafts[name]
            for ingredient in self._plan.ingredients(recipe):
                self._make(ingredient)
            for i in range(times):
                self._craft(recipe, i, times)

    def _get(self, name: str, count: int) -> None:
        have = self._carried.get(name, 0)
        whole = have + count
        thought = (
            f"I need {whole} {spoken(name)} for {self._purpose(name)}, and I have "
            f"{have or 'none'}, so I get {count}."
        )
        self._carried[name] = whole
        self._moves.append((thought, f"get {count} {spoken(name)}", dict(self._carried)))

    def _craft(self, recipe: Recipe, i: int, times: int) -> None:
        name, used = recipe.output, self._plan.ingredients(recipe)
        listed = ", ".join(f"{n} {spoken(part)}" for part, n in used.items())
        if i:
            left = times - i
            thought = (
                f"I have {self._carried.get(name, 0)} {spoken(name)} so far and "
                f"{'one more crafting is' if left == 1 else f'{left} more craftings are'} needed, "
                f"so I use another {listed}."
            )
        elif name == self._plan.goal:
            thought = f"Now I have {listed}, which is what {spoken(name)} takes, so I craft it"
            thought += f", the first of {times} times." if times > 1 else "."
        else:
            thought = (
                f"{self._purpose(name).capitalize()} takes {self._total(name)} {spoken(name)}, "
                f"and the recipe makes {recipe.count} from {listed}, which I have, so I craft "
                f"{'it' if times == 1 else f'it {times} times'}."
            )
        for part, n in used.items():
            self._carried[part] -= n
            if not self._carried[part]:
                del self._carried[part]
        self._carried[name] = self._carried.get(name, 0) + recipe.count
        action = f"craft {recipe.count} {spoken(name)} using {listed}"
        self._moves.append((thought, action, dict(self._carried)))

    def _total(self, name: str) -> int:
        return sum(n for _, n in self._plan.uses[name])

    def _purpose(self, name: str) -> str:
        """Say what an item is for: "ladder and chest"."""
        users = [f"the {spoken(user)}" for user, _ in self._plan.uses[name]]
        return users[0] if len(users) == 1 else f"{', '.join(users[:-1])} and {users[-1]}"

    def _outline(self) -> str:
        """Say how the plan was found, from the goal down."""
        plan = self._plan
        goal = spoken(plan.goal)
        several = f"{self._missing} {goal}" if self._missing > 1 else goal
        clauses = []
        for name, (recipe, _) in plan.crafts.items():
            kinds = [
                f"{spoken(plan.members[tag])} will do for {spoken(tag)}" for tag, _ in recipe.kinds
            ]
            needs = ", ".join(f"{n} {spoken(part)}" for part, n in recipe.needs)
            note = f" ({'; '.join(kinds)})" if kinds else ""
            clauses.append(f"{recipe.count} {spoken(name)} from {needs}{note}")
        return f"I work back from the goal, {several}: {'; '.join(clauses)}."
