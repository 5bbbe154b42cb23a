"""What the arms reached: means over held-out tasks, with intervals clustered by task.

An arm's number for a task is the mean over its seeds and attempts, so a task counts once however
often it was played (`agenteval.intervals`). The interval says how far the mean over tasks can be
trusted for these seeds; how much seeds differ is told by the seeds' own means beside it. Two arms
meet the same tasks, so their difference is taken task by task.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from agentgym.agenteval.intervals import Estimate, bounded_mean, paired_difference
from agentgym.baselines.demonstration.spent import Spent
from agentgym.core.errors import InvalidConfig
from agentgym.rollout.episode import Episode

Values = NDArray[np.float64]


class Line(BaseModel):
    """What one arm reached in one environment.

    Attributes:
        env: the environment.
        arm: the arm.
        success: part of the episodes that were solved.
        seeds: the same of each seed.
        episodes: how many were played, over all seeds.
        failed: how many of them broke; they count as not solved.
        spent: what the arm was given; None for a policy that is not trained.
        untrained: the seeds it could not be trained with, and why; they are in none of the numbers.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    env: str
    arm: str
    success: Estimate
    seeds: tuple[float, ...]
    episodes: int
    failed: int
    spent: Spent | None = None
    untrained: dict[int, str] = Field(default_factory=dict)


class Gap(BaseModel):
    """How much better one arm is than another.

    Attributes:
        env: the environment.
        arm: the one.
        other: the other.
        difference: success of the one minus success of the other, task by task.
        apart: whether the intervals of the two arms do not overlap, the one being better.
        seeds: the seeds both were trained with, where those are not all; empty for all.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    env: str
    arm: str
    other: str
    difference: Estimate
    apart: bool
    seeds: tuple[int, ...] = ()


def line(
    env: str,
    arm: str,
    seeds: Sequence[Sequence[Episode]],
    spent: Spent | None = None,
    untrained: Mapping[int, str] | None = None,
) -> Line:
    """Return what an arm reached.

    Args:
        env: the environment.
        arm: the arm.
        seeds: the held-out episodes of each seed it was trained with.
        spent: what the arm was given.
        untrained: the seeds it could not be trained with, and why.
    """
    values = task_means([episode for episodes in seeds for episode in episodes])
    episodes = [episode for one in seeds for episode in one]
    return Line(
        env=env,
        arm=arm,
        success=bounded_mean(np.array(list(values.values()))),
        seeds=tuple(sum(e.success for e in one) / max(len(one), 1) for one in seeds),
        episodes=len(episodes),
        failed=sum(episode.status == "failed" for episode in episodes),
        spent=spent,
        untrained=dict(untrained or {}),
    )


def gap(
    env: str,
    arm: tuple[str, Sequence[Sequence[Episode]]],
    other: tuple[str, Sequence[Sequence[Episode]]],
) -> Gap:
    """Return how much better an arm is than another.

    Raises:
        InvalidConfig: if they were not measured on the same tasks.
    """
    first, second = (task_means([e for one in seeds for e in one]) for _, seeds in (other, arm))
    if list(first) != list(second):
        raise InvalidConfig(f"{arm[0]} and {other[0]} were measured on different tasks of {env}")
    low, high = (np.array(list(values.values())) for values in (first, second))
    below, above = bounded_mean(low), bounded_mean(high)
    apart = above.low is not None and below.high is not None and above.low > below.high
    return Gap(
        env=env,
        arm=arm[0],
        other=other[0],
        difference=paired_difference(low, high),
        apart=apart,
    )


def task_means(episodes: Sequence[Episode]) -> Mapping[str, float]:
    """Return the part solved of each task's episodes, in the order of task ids."""
    found: dict[str, list[bool]] = {}
    for episode in episodes:
        found.setdefault(episode.task_id, []).append(episode.success)
    return {task: sum(found[task]) / len(found[task]) for task in sorted(found)}
