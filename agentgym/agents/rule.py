"""The simple rule that some environments bring along, as an agent.

Some papers report what a rule without any learning reaches, as the line a model should be above:
WebShop's searches for the instruction and buys the first hit. Such an environment says so by a
method `rule_baseline()`, which returns a player of the same kind as its expert; unlike the expert
it uses nothing but what an agent sees. The agent is the same for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from agentgym.agents.base import Agent
from agentgym.core.errors import InvalidConfig
from agentgym.core.expert import Expert


@runtime_checkable
class HasRule(Protocol):
    """An environment that brings a rule baseline."""

    def rule_baseline(self) -> Expert:
        """Return a fresh player of the current episode that follows the rule."""


class RuleAgent(Agent):
    """Plays with the rule baseline that the environment ships."""

    name = "rule"

    def begin(self) -> None:
        """Ask the environment for its rule.

        Raises:
            InvalidConfig: if it has none.
        """
        if not isinstance(self.env, HasRule):
            raise InvalidConfig(
                f"{self.env.title} has no rule baseline; the agents that play everywhere are "
                "expert, random and human"
            )
        self._rule = self.env.rule_baseline()

    def act(self, observation: str, info: Mapping[str, Any]) -> tuple[str, str]:
        """Return the rule's reason and action."""
        return self._rule.act(observation, info)
