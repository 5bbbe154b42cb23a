"""What attribution did for a batch, counted: nothing fails in silence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from agentgym.baselines.attribution.base import Attribution, Spent


@dataclass(frozen=True, slots=True)
class AttributionReport:
    """The counts of a batch, or of several added together.

    Attributes:
        trajectories: how many there were.
        labelled: how many have credits from the attributor, answers from a cache included.
        skipped: how many were not asked about.
        failed: how many have no process reward, since their attribution failed.
        cached: how many of the answers were repeated from a cache.
        failures: the failed ones by kind.
        messages: the first message of each kind of failure.
        spent: what was spent on this batch; cached answers cost nothing.
    """

    trajectories: int = 0
    labelled: int = 0
    skipped: int = 0
    failed: int = 0
    cached: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    messages: dict[str, str] = field(default_factory=dict)
    spent: Spent = field(default_factory=Spent)

    @classmethod
    def of(cls, attributions: Iterable[Attribution]) -> AttributionReport:
        """Count a batch."""
        states: Counter[str] = Counter()
        failures: Counter[str] = Counter()
        messages: dict[str, str] = {}
        spent, cached = Spent(), 0
        for one in attributions:
            states[one.status] += 1
            cached += one.cached
            if one.failure is not None:
                failures[one.failure] += 1
                messages.setdefault(one.failure, one.message)
            if not one.cached:
                spent += one.spent
        return cls(
            trajectories=states.total(),
            labelled=states["labelled"],
            skipped=states["skipped"],
            failed=states["failed"],
            cached=cached,
            failures=failures,
            messages=messages,
            spent=spent,
        )

    def __add__(self, other: AttributionReport) -> AttributionReport:
        return AttributionReport(
            trajectories=self.trajectories + other.trajectories,
            labelled=self.labelled + other.labelled,
            skipped=self.skipped + other.skipped,
            failed=self.failed + other.failed,
            cached=self.cached + other.cached,
            failures=self.failures + other.failures,
            messages={**other.messages, **self.messages},
            spent=self.spent + other.spent,
        )

    def as_data(self) -> dict[str, Any]:
        """Return the counts as JSON values."""
        data = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**data, "failures": dict(self.failures), "spent": self.spent.model_dump()}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> AttributionReport:
        """Return the counts that `as_data` gave."""
        more = {"failures": Counter(data["failures"]), "spent": Spent(**data["spent"])}
        return cls(**{**data, **more})

    def metrics(self) -> dict[str, float]:
        """Return the counts by name; `prm/...` as AgentEvolver names them.

        `prm/parse_success_rate` is the share of the trajectories asked about that got credits, and
        `prm/flags_len_mismatch_rate` the share whose reply did not hold one judgment a step, which
        is a failure here. Both are left out where nothing was asked.
        """
        figures = {
            "attribution/labelled": float(self.labelled),
            "attribution/skipped": float(self.skipped),
            "attribution/failed": float(self.failed),
            "attribution/cached": float(self.cached),
            "attribution/calls": float(self.spent.calls),
            "attribution/retries": float(self.spent.retries),
            "attribution/input_tokens": float(self.spent.input_tokens),
            "attribution/output_tokens": float(self.spent.output_tokens),
            "attribution/env_steps": float(self.spent.env_steps),
        }
        if self.spent.cost is not None:
            figures["attribution/cost"] = self.spent.cost
        for kind in sorted(self.failures):
            figures[f"attribution/failed_{kind}"] = float(self.failures[kind])
        if asked := self.labelled + self.failed:
            figures["prm/parse_success_rate"] = self.labelled / asked
            figures["prm/flags_len_mismatch_rate"] = self.failures["unreadable"] / asked
        return figures

    def __str__(self) -> str:
        parts = [f"{self.labelled} of {self.trajectories} trajectories labelled"]
        if self.cached:
            parts.append(f"{self.cached} from the cache")
        if self.skipped:
            parts.append(f"{self.skipped} skipped")
        if self.failed:
            kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(self.failures.items()))
            parts.append(f"{self.failed} failed ({kinds})")
        if self.spent.calls:
            tokens = self.spent.input_tokens + self.spent.output_tokens
            parts.append(f"{self.spent.calls} calls, {tokens} tokens")
        if self.spent.env_steps:
            parts.append(f"{self.spent.env_steps} steps played")
        return "; ".join(parts)
