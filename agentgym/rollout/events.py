"""What a rollout tells while it runs: for progress displays, logs and tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agentgym.rollout.episode import Episode, Step
from agentgym.rollout.plan import Job


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run begins.

    Attributes:
        planned: number of planned episodes by environment id, in the plan's order.
        recalled: those that were finished in an earlier sitting.
    """

    planned: Mapping[str, int]
    recalled: tuple[Episode, ...] = ()

    @property
    def total(self) -> int:
        """Number of planned episodes."""
        return sum(self.planned.values())


@dataclass(frozen=True, slots=True)
class EpisodeStarted:
    """An episode begins."""

    job: Job


@dataclass(frozen=True, slots=True)
class StepTaken:
    """A round was played."""

    job: Job
    step: Step


@dataclass(frozen=True, slots=True)
class CallRetried:
    """A model call failed and is tried again after `delay` seconds."""

    job: Job
    message: str
    delay: float


@dataclass(frozen=True, slots=True)
class EpisodeFinished:
    """An episode ended, in whatever way; its record is in the run folder."""

    job: Job
    episode: Episode


@dataclass(frozen=True, slots=True)
class RunStopped:
    """The run stops before its plan is done."""

    reason: str


Event = RunStarted | EpisodeStarted | StepTaken | CallRetried | EpisodeFinished | RunStopped
Listener = Callable[[Event], None]
