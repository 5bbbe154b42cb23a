"""Rule policies: what a few lines of thought without learning reach, as a line in the plot.

Each reads what an agent sees and nothing else. They are simple on purpose: a policy that does not
get above its rule has learned little.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from agentgym.agents.base import Agent
from agentgym.core.errors import InvalidConfig


class MazeRule(Agent):
    """Goes to the open neighbour visited least often; of equals to the one nearest the goal."""

    name = "rule"
    _SIDES = (
        ("move up", "above you", -1, 0),
        ("move down", "below you", 1, 0),
        ("move left", "your left", 0, -1),
        ("move right", "your right", 0, 1),
    )

    def begin(self) -> None:
        """Nothing has been visited yet."""
        self._visits: Counter[tuple[int, int]] = Counter()

    def act(self, observation: str, info: Mapping[str, Any]) -> str:
        """Return a move."""
        x, y, here_x, here_y = map(int, re.findall(r"\d+", observation)[:4])
        walls = observation.partition(str(here_y) + ". ")[2]
        self._visits[here_x, here_y] += 1
        ways = []
        for number, (move, wall, down, right) in enumerate(self._SIDES):
            if wall not in walls:
                cell = (here_x + down, here_y + right)
                far = abs(x - cell[0]) + abs(y - cell[1])
                ways.append((self._visits[cell], far, number, move))
        return min(ways)[3] if ways else "move up"


class MenuRule(Agent):
    """Takes the action on the menu that shares most words with the goal, untried ones first.

    Of equals it draws one; the words are those of the observation's goal line.
    """

    name = "rule"

    def begin(self) -> None:
        """Nothing has been tried yet."""
        self._tried: Counter[str] = Counter()

    def act(self, observation: str, info: Mapping[str, Any]) -> str:
        """Return an action of the menu."""
        goal = set(re.findall(r"[a-z]+", str(info["goal"]).lower()))
        best: list[str] = []
        top: tuple[int, int] | None = None
        for action in info["actions"] or ["look"]:
            words = set(re.findall(r"[a-z]+", action))
            rank = (-self._tried[action], len(words & goal))
            if top is None or rank > top:
                best, top = [], rank
            if rank == top:
                best.append(action)
        action = best[int(self.rng.integers(len(best)))]
        self._tried[action] += 1
        return action


class HouseholdRule(Agent):
    """Looks into one place after the other, as they are listed, and carries what it finds.

    What is named by the goal is taken where it is met, cleaned, heated or cooled where the goal
    says so, and put where it belongs, or held under the lamp.
    """

    name = "rule"
    _PLACES: ClassVar[Mapping[str, str]] = {
        "clean": "sinkbasin", "heat": "microwave", "hot": "microwave", "cool": "fridge",
    }  # fmt: skip

    def begin(self) -> None:
        """Nothing has been looked into yet."""
        self._been: set[str] = set()
        self._carries = self._changed = False

    def act(self, observation: str, info: Mapping[str, Any]) -> str:
        """Return an action of the menu."""
        menu = list(info["actions"])
        action = self._choose(str(info["goal"]).split(), menu)
        verb = action.split()[0]
        if verb == "go":
            self._been.add(action)
        self._carries = verb == "take" or (self._carries and verb != "put")
        self._changed = verb in ("clean", "heat", "cool") or (self._changed and verb != "put")
        return action

    def _choose(self, goal: list[str], menu: list[str]) -> str:
        ways = [word for word in goal if word in self._PLACES]
        place = goal[-1]
        thing = next(w for w in goal if w not in _FILLERS and w not in ways)
        if not self._carries:
            taken = [
                a for a in menu if a.startswith(f"take {thing} ") and f"from {place} " not in a
            ]
            opened = [a for a in menu if a.startswith("open ")]
            fresh = [a for a in menu if a.startswith("go to ") and a not in self._been]
            return (taken + opened + fresh + [a for a in menu if a.startswith("go to ")])[0]
        if ways and not self._changed:
            done = [a for a in menu if a.split()[0] in ("clean", "heat", "cool")
                    and a.split()[-2] == self._PLACES[ways[0]]]  # fmt: skip
            return (done + [a for a in menu if a.startswith(f"go to {self._PLACES[ways[0]]} ")])[0]
        wanted = (f"use {place} ", "put ", f"open {place} ", f"go to {place} ")
        for start in wanted:
            fits = [
                a for a in menu if a.startswith(start) and (start != "put " or f" {place} " in a)
            ]
            if fits:
                return fits[0]
        # A lamp stands on something: look where one has not been.
        fresh = [a for a in menu if a.startswith("go to ") and a not in self._been]
        return (fresh or [a for a in menu if a.startswith("go to ")])[0]


class CraftRule(Agent):
    """Gathers or crafts what the goal's recipe names, then crafts the goal.

    It takes every recipe once, whatever count is needed: it does no arithmetic.
    """

    name = "rule"

    def begin(self) -> None:
        """Nothing is planned yet."""
        self._plan: list[str] | None = None

    def act(self, observation: str, info: Mapping[str, Any]) -> str:
        """Return the next action of the plan; when it is done, a look at what is carried."""
        if self._plan is None:
            found = re.findall(r"^(craft \d+ (.+)) using (.+)$", observation, re.MULTILINE)
            recipes = {made: (head, parts) for head, made, parts in found}
            goal = re.sub(r"^craft (\d+ )?", "", str(info["goal"]))
            self._plan = list(self._steps(goal, recipes, ()))
        return self._plan.pop(0) if self._plan else "inventory"

    def _steps(
        self, item: str, recipes: Mapping[str, tuple[str, str]], above: tuple[str, ...]
    ) -> Iterator[str]:
        """Yield the actions that make one item."""
        head, parts = recipes[item]
        for part in parts.split(", "):
            name = part.partition(" ")[2]
            if name in recipes and name not in above and name != item:
                yield from self._steps(name, recipes, (*above, item))
            else:
                yield f"get {part}"
        yield f"{head} using {parts}"


_FILLERS = frozenset(
    ("put", "a", "an", "some", "two", "find", "look", "at", "examine", "the", "and", "it", "them")
)

RULES: Mapping[str, type[Agent]] = {
    "maze": MazeRule,
    "babyai": MenuRule,
    "alfworld": HouseholdRule,
    "textcraft": CraftRule,
}


def rule_of(env: str) -> Agent:
    """Return the rule policy of an environment.

    Raises:
        InvalidConfig: if there is none.
    """
    if env not in RULES:
        raise InvalidConfig(f"there is no rule policy for {env!r}; there are {', '.join(RULES)}")
    return RULES[env]()
