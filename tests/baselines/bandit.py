"""A task of one word: "a" is right, "b" is wrong. With it, a policy that knows only the two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import gymnasium
import numpy as np

from agentgym.baselines.model import Policy
from agentgym.core import Command, Edition, Expert, Opening, Outcome, Task, TaskSet, TextEnv
from tests.agents.tiny_model import tiny_model, tiny_tokenizer

BANDIT = "tests.baselines.bandit:tests/Bandit-v0"


class Knows(Expert):
    def act(self, observation: str, info: Mapping[str, Any]) -> tuple[str, str]:
        return "It is a.", "a"


class BanditEnv(TextEnv):
    name = "bandit"
    title = "Bandit"
    editions: ClassVar[Mapping[str, Edition]] = {"mini": Edition(1, "Four tasks, all alike.")}
    commands = (Command("a", "a", "Say a.", ()), Command("b", "b", "Say b.", ()))
    instructions = "Say a or b."

    @classmethod
    def load_tasks(cls, edition: str, data_dir: str | None) -> TaskSet:
        rows = [("train" if i < 3 else "eval", "word", {}) for i in range(4)]
        return TaskSet.build("bandit", edition, "1", rows)

    def _begin(self, task: Task) -> Opening:
        return Opening("Which?", "say the right word")

    def _act(self, action: str) -> Outcome:
        right = action == "a"
        return Outcome("Yes." if right else "No.", float(right), done=True, success=right)

    def _sample(self, rng: np.random.Generator) -> str:
        return "ab"[int(rng.integers(2))]

    def _make_expert(self) -> Expert:
        return Knows()


if "tests/Bandit-v0" not in gymnasium.registry:
    gymnasium.register(
        "tests/Bandit-v0",
        entry_point="tests.baselines.bandit:BanditEnv",
        disable_env_checker=True,
        order_enforce=False,
    )


def talker(**config: Any) -> Policy:
    """Return a policy that says anything, and ends its replies now and then."""
    tokenizer = tiny_tokenizer()
    return Policy(tiny_model(tokenizer, **config), tokenizer, "tiny")


def gambler() -> Policy:
    """Return a policy that says "a" and "b", one about as often as the other."""
    policy = talker(eos_bias=0.0, hidden_size=64)
    for word in "ab":
        token = policy.tokenizer.encode(word, add_special_tokens=False)[0]
        policy.model.lm_head.weight.data[token] = 0.0
        policy.model.lm_head.bias.data[token] = 12.0
    return policy
