"""The expert of each environment, as an agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentgym.agents.base import Agent


class ExpertAgent(Agent):
    """Plays every environment with the expert it ships."""

    name = "expert"

    def begin(self) -> None:
        """Ask the environment for a fresh expert."""
        self._expert = self.env.expert()

    def act(self, observation: str, info: Mapping[str, Any]) -> tuple[str, str]:
        """Return the expert's reason and action."""
        return self._expert.act(observation, info)
