"""What a judging model may be asked, and what it has cost so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from agentgym.agents.message import Usage
from agentgym.baselines.attribution.base import AttributionStopped


class CallLimits(BaseModel):
    """Bounds on an attributor's model calls. None means no bound.

    A budget that is spent ends no training: the trajectories that come after it are counted as
    failed and have no process reward. Calls already under way may go past a budget of tokens or
    dollars; a budget of calls is kept exactly.

    Attributes:
        calls: model calls of the whole run, retries included.
        tokens: input and output tokens of the whole run.
        cost: US dollars of the whole run; the model needs a price.
        retries: how often one trajectory's question may be asked again: after a failed call, and
            once after an answer that cannot be read.
        pause: seconds before the first retry of a failed call; each pause is twice the last.
        concurrency: calls at a time.
        failures: failed trajectories in a row after which attribution stops the run, since
            something is broken; those of a spent budget do not count.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    calls: int | None = Field(None, ge=0)
    tokens: int | None = Field(None, ge=0)
    cost: float | None = Field(None, ge=0)
    retries: int = Field(4, ge=0)
    pause: float = Field(1.0, ge=0)
    concurrency: int = Field(8, gt=0)
    failures: int | None = Field(10, gt=0)


class Ledger:
    """Counts what has been asked and says when it is enough."""

    def __init__(self, limits: CallLimits) -> None:
        self.limits = limits
        self.started = 0
        self.usage = Usage()
        self.failures_in_a_row = 0

    def spent(self) -> str:
        """Return which budget is spent, or "" if a call may be made."""
        limits, usage = self.limits, self.usage
        if limits.calls is not None and self.started >= limits.calls:
            return f"the budget of {limits.calls} calls is spent"
        if limits.tokens is not None and usage.tokens >= limits.tokens:
            return f"the budget of {limits.tokens} tokens is spent ({usage.tokens} used)"
        if limits.cost is not None and (usage.cost or 0.0) >= limits.cost:
            return f"the budget of ${limits.cost:.2f} is spent (${usage.cost or 0.0:.4f} used)"
        return ""

    def start(self) -> None:
        """Count a call that is about to be made."""
        self.started += 1

    def add(self, usage: Usage) -> None:
        """Count what a call cost.

        Raises:
            AttributionStopped: if there is a budget in dollars and the call has no price.
        """
        self.usage.add(usage)
        if self.limits.cost is not None and usage.cost is None:
            raise AttributionStopped(
                f"the budget is ${self.limits.cost:.2f}, but the model's price is not known. Give "
                'the model its prices (prices={"input": 0.5, "output": 1.5}, dollars per million '
                "tokens), or set a budget of calls or tokens."
            )

    def state(self) -> dict[str, Any]:
        """Return what has been counted, JSON values."""
        return {
            "started": self.started,
            "usage": asdict(self.usage),
            "failures_in_a_row": self.failures_in_a_row,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Count on from a `state`."""
        self.started = state["started"]
        self.usage = Usage(**state["usage"])
        self.failures_in_a_row = state["failures_in_a_row"]

    def finished(self, failure: str) -> None:
        """Count a trajectory; `failure` is its message if it failed.

        Raises:
            AttributionStopped: if too many failed in a row.
        """
        self.failures_in_a_row = self.failures_in_a_row + 1 if failure else 0
        most = self.limits.failures
        if most is not None and self.failures_in_a_row >= most:
            raise AttributionStopped(
                f"the attribution of {most} trajectories in a row failed, last: {failure}"
            )
