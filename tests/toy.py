"""A complete small environment for tests: find a number between 1 and 50."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import gymnasium
import numpy as np

from agentgym.core import Command, Edition, Expert, Opening, Outcome, Param, Task, TaskSet, TextEnv


class GuessExpert(Expert):
    """Halves the interval."""

    def __init__(self) -> None:
        self.low, self.high = 1, 50

    def act(self, observation: str, info: Mapping[str, Any]) -> tuple[str, str]:
        last = (self.low + self.high) // 2
        if "higher" in observation:
            self.low = last + 1
        elif "lower" in observation:
            self.high = last - 1
        middle = (self.low + self.high) // 2
        return f"It is between {self.low} and {self.high}.", f"guess {middle}"


class GuessEnv(TextEnv):
    name = "guess"
    title = "Guess"
    editions: ClassVar[Mapping[str, Edition]] = {"mini": Edition(8, "Forty numbers.")}
    commands = (
        Command(
            "guess", "guess {number}", "Say a number.", (Param("number", "the number", "integer"),)
        ),
    )
    instructions = "Find the hidden number between 1 and 50. Say: guess [number]."

    @classmethod
    def load_tasks(cls, edition: str, data_dir: str | None) -> TaskSet:
        rows = [("train" if i % 2 else "eval", "number", {"number": 1 + i}) for i in range(40)]
        return TaskSet.build("guess", edition, "1", rows)

    def _begin(self, task: Task) -> Opening:
        self.number = int(task.spec["number"])
        return Opening("I think of a number.", "find the number")

    def _act(self, action: str) -> Outcome:
        call = self.commands[0].match(action)
        if call is None:
            return Outcome("Say: guess [number].", 0.0, valid=False)
        if call["number"] == self.number:
            return Outcome("That is it.", 1.0, done=True, success=True)
        return Outcome("It is higher." if call["number"] < self.number else "It is lower.", 0.0)

    def _sample(self, rng: np.random.Generator) -> str:
        return f"guess {int(rng.integers(1, 51))}"

    def _make_expert(self) -> Expert:
        return GuessExpert()


if "tests/Guess-v0" not in gymnasium.registry:
    gymnasium.register(
        "tests/Guess-v0",
        entry_point="tests.toy:GuessEnv",
        disable_env_checker=True,
        order_enforce=False,
    )
