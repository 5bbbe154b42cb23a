"""A random policy: the lower line of every table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentgym.agents.base import Agent


class RandomAgent(Agent):
    """Draws each action from what the environment says makes sense."""

    name = "random"

    def act(self, observation: str, info: Mapping[str, Any]) -> str:
        """Return one of `info["actions"]`, or a sample of the environment's own."""
        actions = info["actions"]
        if actions:
            return str(actions[int(self.rng.integers(len(actions)))])
        return self.env.sample_action(self.rng)
