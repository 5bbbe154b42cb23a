"""What became of demonstrations before any is an example: nothing is left out in silence."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class SourceReport:
    """How many demonstrations there were, and why some are not learned.

    Attributes:
        read: how many files held.
        played: how many experts played.
        failed: played, and not solved by the expert.
        low: left out by `data.min_score`.
        unscored: left out by `data.min_score`, since they have no score.
        worse: left out by `data.best`.
        kept: what is left.
    """

    read: int = 0
    played: int = 0
    failed: int = 0
    low: int = 0
    unscored: int = 0
    worse: int = 0
    kept: int = 0

    @property
    def left_out(self) -> int:
        """How many are not learned."""
        return self.failed + self.low + self.unscored + self.worse

    @property
    def advice(self) -> str:
        """What would leave some, by what left them out."""
        ways = (
            (self.failed, "give the expert more rounds (max_rounds) or other tasks in data.expert"),
            (self.low, "lower data.min_score"),
            (self.unscored, "leave out data.min_score, which keeps nothing without a score"),
        )
        return "; ".join(way for count, way in ways if count)

    def __str__(self) -> str:
        reasons = (
            (self.failed, "that the expert failed"),
            (self.low, "below data.min_score"),
            (self.unscored, "without a score (data.min_score)"),
            (self.worse, "that are not the best of their task (data.best)"),
        )
        text = f"{self.kept} of {self.read + self.played} demonstrations are kept"
        why = ", ".join(f"{count} {reason}" for count, reason in reasons if count)
        return f"{text}; left out: {why}" if why else text
