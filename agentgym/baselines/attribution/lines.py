"""What is said while attribution goes on: how many episodes are done, and what they cost."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from agentgym.baselines.progress import LATE, Lines, Say

if TYPE_CHECKING:
    from agentgym.baselines.attribution.base import Attribution


class AttributionLines(Lines):
    """Hears attributions as they are made and says how far a batch is.

    Args:
        say: takes the lines.
        total: how many episodes are asked about.
    """

    _seldom = LATE  # what goes on within an episode is not counted

    def __init__(self, say: Say, total: int) -> None:
        super().__init__(say)
        self._cached = self._failed = self._calls = self._steps = 0
        self.start(total)

    def hear(self, answer: Attribution) -> None:
        """Take note of an attribution; one from a cache costs nothing."""
        self._done += 1
        self._cached += answer.cached
        self._failed += answer.status == "failed"
        if not answer.cached:
            self._calls += answer.spent.calls
            self._steps += answer.spent.env_steps
        self.tick(time.monotonic())

    def _counts(self) -> tuple[int, ...]:
        return (self._done,)

    def _parts(self, seconds: float) -> list[str]:
        return [
            f"attributing: {self._done}/{self._total} episodes",
            f"{self._cached} from the cache" if self._cached else "",
            f"{self._failed} failed" if self._failed else "",
            f"{self._calls:,} calls" if self._calls else "",
            f"{self._steps:,} steps played" if self._steps else "",
        ]
