"""What the arms reached: means over held-out tasks, with two intervals.

An arm's number for a task is the mean over its seeds and attempts, so a task counts once however
often it was played (`agenteval.intervals`). The first interval is clustered by task: it says how
far the mean over tasks can be trusted for these seeds, and how much seeds differ is told by the
seeds' own means beside it. The second (`over_tasks_and_seeds`) also says what other seeds might
have given. Two arms meet the same tasks, and of each seed they begin with the same policy, so their
difference is taken task by task and seed by seed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from agentgym.agenteval.intervals import (
    Estimate,
    bounded_mean,
    paired_difference,
    t_quantile,
)
from agentgym.baselines.demonstration.spent import Spent
from agentgym.core.errors import InvalidConfig
from agentgym.rollout.episode import Episode

Values = NDArray[np.float64]


class Line(BaseModel):
    """What one arm reached in one environment.

    Attributes:
        env: the environment.
        arm: the arm.
        success: part of the episodes that were solved, for these seeds.
        wide: the same with an interval that covers the seeds too; without one where there is one
            seed.
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
    wide: Estimate = Estimate()
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
        wide: the difference with an interval that covers the seeds too.
        wide_apart: whether the arms' intervals that cover the seeds too do not overlap either.
        seeds: the seeds both were trained with, where those are not all; empty for all.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    env: str
    arm: str
    other: str
    difference: Estimate
    apart: bool
    wide: Estimate = Estimate()
    wide_apart: bool = False
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
    episodes = [episode for one in seeds for episode in one]
    values = np.array(list(task_means(episodes).values()))
    return Line(
        env=env,
        arm=arm,
        success=bounded_mean(values),
        wide=over_tasks_and_seeds(seed_means(seeds), bounded_mean(values)),
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
    difference = paired_difference(low, high)
    before, after = seed_means(other[1]), seed_means(arm[1])
    paired = None
    if before is not None and after is not None and before.shape == after.shape:
        paired = after - before
    return Gap(
        env=env,
        arm=arm[0],
        other=other[0],
        difference=difference,
        apart=_above(above, below),
        wide=over_tasks_and_seeds(paired, difference, least=-1.0),
        wide_apart=_above(over_tasks_and_seeds(after, above), over_tasks_and_seeds(before, below)),
    )


def over_tasks_and_seeds(
    values: Values | None, estimate: Estimate, *, least: float = 0.0
) -> Estimate:
    """Return an estimate with an interval that covers other tasks and other seeds.

    value -/+ t sqrt(V_task + V_seed),    V_task = s^2(means of tasks) / T
                                          V_seed = s^2(means of seeds) / S

    Tasks and seeds are crossed, both drawn at random; this is the variance clustered both ways
    (Cameron, Gelbach and Miller 2011, J. Business & Economic Statistics 29(2)) without the term
    taken off for what both count, a share 1/T of the noise of single episodes: it is never below
    either, and a little too large. t has Satterthwaite's degrees of freedom (1946, Biometrics
    Bulletin 2(6)), rounded down: between S - 1, where seeds decide, and those of the tasks. The
    interval is never within the one that is clustered by task alone.

    What it cannot do: three seeds hardly tell how much seeds differ (t is 4.3 where seeds decide),
    so it is wide, its width is itself uncertain, and it takes seeds' means to be about normal.

    Args:
        values: part solved of each seed and task, shape (S, T), or a difference of two; None where
            seeds were measured on different tasks.
        estimate: the same with its interval clustered by task.
        least: the least the value can be; the most is 1.
    """
    unknown = Estimate(value=estimate.value, tasks=estimate.tasks)
    if values is None or estimate.low is None or estimate.high is None or min(values.shape) < 2:
        return unknown
    seeds, tasks = values.shape
    of_tasks = float(values.mean(axis=0).var(ddof=1)) / tasks
    of_seeds = float(values.mean(axis=1).var(ddof=1)) / seeds
    reach, variance = 0.0, of_tasks + of_seeds
    if variance > 0.0:
        freedom = variance**2 / (of_tasks**2 / (tasks - 1) + of_seeds**2 / (seeds - 1))
        reach = t_quantile(int(freedom + 1e-9)) * math.sqrt(variance)
    value = float(values.mean())
    return Estimate(
        value=estimate.value,
        low=max(least, min(value - reach, estimate.low)),
        high=min(1.0, max(value + reach, estimate.high)),
        tasks=estimate.tasks,
    )


def seed_means(seeds: Sequence[Sequence[Episode]]) -> Values | None:
    """Return the part solved of each seed and task, shape (S, T), tasks in the order of their ids.

    None where there are no seeds, or they were not measured on the same tasks.
    """
    each = [task_means(episodes) for episodes in seeds]
    if not each or any(list(one) != list(each[0]) for one in each):
        return None
    return np.array([list(one.values()) for one in each])


def _above(one: Estimate, other: Estimate) -> bool:
    """Return whether an interval lies above another one."""
    return one.low is not None and other.high is not None and one.low > other.high


def task_means(episodes: Sequence[Episode]) -> Mapping[str, float]:
    """Return the part solved of each task's episodes, in the order of task ids."""
    found: dict[str, list[bool]] = {}
    for episode in episodes:
        found.setdefault(episode.task_id, []).append(episode.success)
    return {task: sum(found[task]) / len(found[task]) for task in sorted(found)}
