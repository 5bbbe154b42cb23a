"""A task of three words: each must be "a". A policy that says so half the time is worth 1/8."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import gymnasium

from agentgym.core import Edition, Opening, Outcome, Task
from tests.baselines.bandit import BanditEnv

CHAIN = "tests.baselines.chain:tests/Chain-v0"
LENGTH = 3


class ChainEnv(BanditEnv):
    """Ends at the first "b", with nothing; after three times "a" it is won."""

    name: ClassVar[str] = "bandit"
    title = "Chain"
    editions: ClassVar[Mapping[str, Edition]] = {"mini": Edition(8, "Four tasks, all alike.")}

    def _begin(self, task: Task) -> Opening:
        self._said = 0
        return Opening("Which?", "say the right word three times")

    def _act(self, action: str) -> Outcome:
        self._said += action == "a"
        done = action != "a" or self._said == LENGTH
        won = self._said == LENGTH
        said = "Yes." if action == "a" else "No."
        return Outcome(said, float(won), done=done, success=won)


if "tests/Chain-v0" not in gymnasium.registry:
    gymnasium.register(
        "tests/Chain-v0",
        entry_point="tests.baselines.chain:ChainEnv",
        disable_env_checker=True,
        order_enforce=False,
    )
