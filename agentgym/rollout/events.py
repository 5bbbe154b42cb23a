"""What a rollout tells while it runs: for progress displays, logs and tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agentgym.rollout.episode import Episode, Step
from agentgym.rollout.plan import Job


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A run begins: `total` episodes are planned, `done` of them were finished before."""

    total: int
    done: int


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
