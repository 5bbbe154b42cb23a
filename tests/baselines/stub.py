"""An agent for exploration in tests: it knows the way and chooses when to take it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentgym.agents.base import Agent


class Sometimes(Agent):
    """Follows the expert on some attempts and guesses the same number on the others.

    The environment is seen from within, so that what a test explores does not hang on a model:
    of the attempts at a task every second one goes well.
    """

    name = "sometimes"
    calls: dict[str, int]

    def __init__(self) -> None:
        self.calls = {}

    def begin(self) -> None:
        """Decide by how often the task was met before."""
        assert self.env.task is not None
        met = self.calls[self.env.task.id] = self.calls.get(self.env.task.id, 0) + 1
        self.good = met % 2 == 1
        self.expert = self.env.expert()

    def act(self, observation: str, info: Mapping[str, Any]) -> tuple[str, str]:
        """Return the expert's move, or one that is no use."""
        thought, action = self.expert.act(observation, info)
        return (thought, action) if self.good else ("I do not know.", "guess 1")
