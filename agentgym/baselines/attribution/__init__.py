"""Credit assignment: which steps of an episode helped."""

from agentgym.baselines.attribution.assign import (
    AssignedCredit,
    assign_credit,
)
from agentgym.baselines.attribution.base import (
    Attribution,
    AttributionStopped,
    Attributor,
    Spent,
)
from agentgym.baselines.attribution.build import AttributionConfig, build_attributor
from agentgym.baselines.attribution.cache import AttributionMiss, CachedAttributor
from agentgym.baselines.attribution.calls import CallLimits
from agentgym.baselines.attribution.counterfactual import CounterfactualAttributor
from agentgym.baselines.attribution.llm import LlmAttributor
from agentgym.baselines.attribution.monte_carlo import MonteCarloAttributor
from agentgym.baselines.attribution.policy_value import PolicyValueAttributor
from agentgym.baselines.attribution.report import AttributionReport

__all__ = [
    "AssignedCredit",
    "Attribution",
    "AttributionConfig",
    "AttributionMiss",
    "AttributionReport",
    "AttributionStopped",
    "Attributor",
    "CachedAttributor",
    "CallLimits",
    "CounterfactualAttributor",
    "LlmAttributor",
    "MonteCarloAttributor",
    "PolicyValueAttributor",
    "Spent",
    "assign_credit",
    "build_attributor",
]
