"""Attributors from configuration: what a YAML file can name."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from agentgym.agents.base import ChatAgent
from agentgym.agents.build import build_agent
from agentgym.baselines.attribution.base import Attributor
from agentgym.baselines.attribution.cache import CachedAttributor
from agentgym.baselines.attribution.calls import CallLimits
from agentgym.baselines.attribution.counterfactual import CounterfactualAttributor, Replace
from agentgym.baselines.attribution.llm import LlmAttributor
from agentgym.baselines.attribution.monte_carlo import MonteCarloAttributor
from agentgym.baselines.attribution.policy_value import PolicyValueAttributor
from agentgym.baselines.config import MANY, MOST
from agentgym.core.errors import InvalidConfig

Method = Literal["llm", "counterfactual", "monte_carlo"]

SELF = "self"
"""The policy that plays on is the one that is trained."""
OUR_MODELS = ("openai", "hf", "llamacpp", "vllm")
JUDGING: dict[str, Any] = {"temperature": 0.0, "max_tokens": 8192}
"""How AgentEvolver's judge is asked; a model class of one's own has options of its own."""


class AttributionConfig(BaseModel):
    """Which attributor, and how.

    Attributes:
        method: "llm", "counterfactual", "monte_carlo", or "replay" of what one of them recorded.
        recorded: "replay": whose answers are on record.
        cache: file of recorded answers; "replay" needs it, the others add to it where it is given.
        model: "llm": the judge, as agents are written ("openai:qwen-max").
        model_options: "llm": its options; agentgym's own models get temperature 0 and 8192 tokens
            unless these say otherwise.
        limits: "llm": what may be asked.
        replace: "counterfactual": what takes a step's place.
        alternatives: "counterfactual": how many sampled actions.
        policy: "monte_carlo": who plays on, and whose values these therefore are: "random", "rule"
            or "expert", which cost no tokens, or "self", the policy that is trained.
        rollouts: "monte_carlo": continuations of each moment.
        horizon: "monte_carlo": most steps of a continuation.
        seed: for the attributors that play.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    method: Method | Literal["replay"] = "counterfactual"
    recorded: Method = "llm"
    cache: str | None = None
    model: str = ""
    model_options: dict[str, Any] = Field(default_factory=dict)
    limits: CallLimits = Field(default_factory=CallLimits)
    replace: Replace = "nothing"
    alternatives: int = Field(4, gt=0, le=MOST)
    policy: str = "random"
    rollouts: int = Field(4, gt=0, le=MOST)
    horizon: int | None = Field(None, gt=0, le=MANY)
    seed: int = Field(0, ge=0, lt=2**32)

    @property
    def values_itself(self) -> bool:
        """Whether the policy that is trained plays on, and the credits are its own values."""
        return self.method == "monte_carlo" and self.policy == SELF

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.method == "replay" and not self.cache:
            raise ValueError('method "replay" needs cache: the file the answers were recorded to')
        if self.method == "llm" and not self.model:
            raise ValueError('method "llm" needs model: the judge, for example openai:qwen-max')
        if self.method == "replay" and self.recorded == "llm" and not self.model:
            raise ValueError(
                'method "replay" takes the cache to hold a judge\'s answers (recorded "llm") and '
                "needs model: the judge that gave them, for example openai:qwen-max. Of other "
                "answers say whose they are: attribution.recorded=counterfactual or monte_carlo"
            )
        if self.method == "replay" and self.recorded == "monte_carlo" and self.policy == SELF:
            raise ValueError(
                'values of policy "self" are never recorded, so there are none to replay: name who '
                'played on in policy ("random", "rule", "expert")'
            )
        if self.values_itself and self.cache:
            raise ValueError(
                'policy "self" changes with every step, so its values cannot be repeated from a '
                "cache: leave cache out"
            )
        return self


def build_attributor(config: AttributionConfig) -> Attributor:
    """Return the attributor a configuration names.

    Raises:
        InvalidConfig: if an option cannot be used, or the model is no language model.
        AttributionStopped: if there is no record to replay, or it cannot be read.
    """
    replay = config.method == "replay"
    attributor = _build(config.recorded if replay else config.method, config, replay)  # type: ignore[arg-type]
    if config.cache is None:
        return attributor
    return CachedAttributor(attributor, config.cache, "replay" if replay else "cache")


def _build(method: Method, config: AttributionConfig, replay: bool) -> Attributor:
    if method == "counterfactual":
        return CounterfactualAttributor(
            config.replace, alternatives=config.alternatives, seed=config.seed
        )
    if method == "monte_carlo" and config.policy == SELF:
        return PolicyValueAttributor(
            rollouts=config.rollouts, horizon=config.horizon, seed=config.seed
        )
    if method == "monte_carlo":
        return MonteCarloAttributor(
            config.policy, rollouts=config.rollouts, horizon=config.horizon, seed=config.seed
        )
    kind = config.model.partition(":")[0]
    options = {**(JUDGING if kind in OUR_MODELS else {}), **config.model_options}
    if replay and kind == "openai":
        options["api_key_env"] = ""  # nothing is asked
    agent = build_agent(config.model, **options)
    if not isinstance(agent, ChatAgent):
        raise InvalidConfig(
            f"the judge must be a language model (openai:MODEL), not {config.model!r}"
        )
    return LlmAttributor(agent, config.limits)
