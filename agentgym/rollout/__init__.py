"""Agent meets environment: conversations, action formats, the engine and its run folders."""

from agentgym.rollout.engine import arollout, rollout
from agentgym.rollout.episode import Episode, Failure, Step
from agentgym.rollout.formats import FORMATS, ActionFormat, FormatError, find_format
from agentgym.rollout.limits import BudgetExceeded, Limits, RunAborted
from agentgym.rollout.plan import EnvChoice, Job, plan
from agentgym.rollout.store import RunFolder

__all__ = [
    "FORMATS",
    "ActionFormat",
    "BudgetExceeded",
    "EnvChoice",
    "Episode",
    "Failure",
    "FormatError",
    "Job",
    "Limits",
    "RunAborted",
    "RunFolder",
    "Step",
    "arollout",
    "find_format",
    "plan",
    "rollout",
]
