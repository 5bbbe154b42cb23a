"""The rule baseline an environment may bring."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from agentgym.agents.build import build_agent
from agentgym.agents.rule import RuleAgent
from agentgym.core import Expert, make
from agentgym.core.errors import InvalidConfig


class Always(Expert):
    def act(self, observation: str, info: Mapping[str, Any]) -> tuple[str, str]:
        return "It is always this.", "inventory"


def test_the_environments_own_rule_plays() -> None:
    env = make("textcraft")
    env.rule_baseline = Always  # type: ignore[attr-defined]
    observation, info = env.reset(seed=0)
    player = build_agent("rule").start(env, 0)
    assert isinstance(player, RuleAgent)
    assert player.act(observation, info) == ("It is always this.", "inventory")


def test_an_environment_without_a_rule_is_named() -> None:
    env = make("textcraft")
    env.reset(seed=0)
    with pytest.raises(InvalidConfig, match="TextCraft has no rule baseline"):
        build_agent("rule").start(env, 0)
