"""What a run may spend, and the errors that stop it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from agentgym.agents.message import Usage
from agentgym.core import AgentGymError


class RunAborted(AgentGymError):
    """The run was stopped on purpose; what had finished is in its folder."""


class BudgetExceeded(RunAborted):
    """A limit of the run was reached."""


class Limits(BaseModel):
    """Bounds on a run. None means no bound.

    A run that is taken up again counts from nothing: what earlier sittings spent is not held
    against it.

    Attributes:
        tokens: input and output tokens of all episodes together.
        cost: US dollars of all episodes together, as far as prices are known.
        seconds: wall-clock seconds of the run.
        failures: failed episodes in a row after which the run stops, since something is broken.
        episode_tokens: input and output tokens of one episode; past it the episode ends with
            status "limit" and the score it has.
        retries: how often a failed model call is tried again, with growing pauses.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    tokens: int | None = Field(None, gt=0)
    cost: float | None = Field(None, gt=0)
    seconds: float | None = Field(None, gt=0)
    failures: int | None = Field(10, gt=0)
    episode_tokens: int | None = Field(None, gt=0)
    retries: int = Field(4, ge=0)


class Meter:
    """Counts what a run spends and says when it is enough."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.usage = Usage()
        self.failures_in_a_row = 0
        self.last_failure = ""

    def add(self, usage: Usage) -> None:
        """Count a model call."""
        self.usage.add(usage)

    def finished(self, failure: str | None) -> None:
        """Count an episode; `failure` is its message if it failed."""
        self.failures_in_a_row = self.failures_in_a_row + 1 if failure is not None else 0
        self.last_failure = failure or self.last_failure

    def exceeded(self, seconds: float) -> str:
        """Return the reason to stop, or "" to go on.

        Args:
            seconds: wall-clock seconds since the run began.
        """
        limits, usage = self.limits, self.usage
        if limits.tokens is not None and usage.tokens >= limits.tokens:
            return f"the budget of {limits.tokens} tokens is spent ({usage.tokens} used)"
        if limits.cost is not None and (usage.cost or 0.0) >= limits.cost:
            return f"the budget of ${limits.cost:.2f} is spent (${usage.cost:.4f} used)"
        if limits.seconds is not None and seconds >= limits.seconds:
            return f"the time limit of {limits.seconds:.0f} s is over"
        if limits.failures is not None and self.failures_in_a_row >= limits.failures:
            return f"{self.failures_in_a_row} episodes in a row failed, last: {self.last_failure}"
        return ""
