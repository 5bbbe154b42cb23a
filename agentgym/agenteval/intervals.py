"""95% intervals: one method for every number in [0, 1], one for the rest.

Tasks are the clusters: attempts at one task are not independent, so every estimate is a mean over
tasks and its standard error comes from the spread between tasks (clustered standard errors; Miller
2024, arXiv 2411.00640). A mean in [0, 1] gets Wilson's interval at the *effective* number of tasks,
the number of coin flips that would have that standard error. With one attempt a task and success or
failure this is Wilson's interval exactly; with 200 successes of 200 it is [98.1%, 100%], where a
normal or bootstrap interval would claim certainty. In simulations over 10 to 100 tasks, graded
scores and repeated attempts included, the interval held the truth in 92 to 100 of 100 runs.
Differences and averages of such numbers combine their intervals without assuming symmetry (MOVER;
Newcombe 1998, Zou and Donner 2008).

There is no resampling here: intervals are the same on every machine and cost nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

LEVEL = 0.95

Values = NDArray[np.float64]


class Estimate(BaseModel):
    """A number and how far it can be trusted.

    Attributes:
        value: the estimate; None where there is nothing to estimate from.
        low: lower end of the 95% interval; None where one task cannot tell.
        high: upper end.
        tasks: the number of tasks (clusters) it stands on.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    value: float | None = None
    low: float | None = None
    high: float | None = None
    tasks: int = 0


def normal_quantile(level: float = LEVEL) -> float:
    """Return z, so that a standard normal lies in [-z, z] with this probability.

    >>> round(normal_quantile(), 4)
    1.96
    """
    return NormalDist().inv_cdf(0.5 + level / 2)


@lru_cache(maxsize=4096)
def t_quantile(freedom: int, level: float = LEVEL) -> float:
    """Return t, so that Student's t of these degrees of freedom lies in [-t, t].

    Exact for 1 and 2, from there Fisher and Cornish's expansion (within 0.1%).

    >>> [round(t_quantile(n), 2) for n in (1, 2, 10, 100)]
    [12.71, 4.3, 2.23, 1.98]
    """
    if freedom < 1:
        return math.inf
    if freedom == 1:
        return math.tan(math.pi * level / 2)
    if freedom == 2:
        return level * math.sqrt(2 / (1 - level * level))
    z, n = normal_quantile(level), freedom
    return (
        z
        + (z**3 + z) / (4 * n)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3)
        + (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * n**4)
    )


def wilson(p: float, n: float, level: float = LEVEL) -> tuple[float, float]:
    """Return Wilson's interval of a proportion.

    Args:
        p: the observed proportion, in [0, 1].
        n: the number of trials it is of, not necessarily whole.
        level: the probability with which the interval is to hold the truth.

    >>> [round(x, 3) for x in wilson(1.0, 200)]
    [0.981, 1.0]
    """
    z = normal_quantile(level)
    spread = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    low = 0.0 if p <= 0.0 else max(0.0, centre - spread)
    high = 1.0 if p >= 1.0 else min(1.0, centre + spread)
    return min(low, p), max(high, p)


def bounded(value: float, error: float, tasks: int, level: float = LEVEL) -> Estimate:
    """Return the interval of an estimate in [0, 1] from its clustered standard error.

    Args:
        value: the estimate.
        error: its standard error.
        tasks: the number of tasks it stands on.
        level: the probability with which the interval is to hold the truth.
    """
    value = min(1.0, max(0.0, value))
    effective, coin = float(tasks), value * (1 - value)
    if coin > 0.0 and tasks > 1:
        # One more task of the largest variance there is at this mean: few tasks that happen to
        # agree must not look certain. The t factor pays for estimating the variance at all.
        variance = ((tasks - 1) * error**2 * tasks + coin) / tasks
        student = (normal_quantile(level) / t_quantile(tasks - 1, level)) ** 2
        # Never fewer than the tasks themselves: no number in [0, 1] varies more than a coin.
        if variance > 0.0:  # next to a bound the numbers underflow
            effective = max(effective, tasks * coin / variance * student)
    low, high = wilson(value, effective, level)
    return Estimate(value=value, low=low, high=high, tasks=tasks)


def standard_error(values: Values) -> float:
    """Return the standard error of the mean of one value a task; 0 for a single task."""
    return float(np.std(values, ddof=1) / math.sqrt(len(values))) if len(values) > 1 else 0.0


def bounded_mean(values: Values) -> Estimate:
    """Return the mean of one value in [0, 1] a task, with its interval."""
    if not len(values):
        return Estimate()
    return bounded(float(np.mean(values)), standard_error(values), len(values))


def mean(values: Values) -> Estimate:
    """Return the mean of one non-negative value a task, with Student's interval, cut off at 0."""
    if not len(values):
        return Estimate()
    value = float(np.mean(values))
    if len(values) == 1:
        return Estimate(value=value, tasks=1)
    reach = t_quantile(len(values) - 1) * standard_error(values)
    return Estimate(value=value, low=max(0.0, value - reach), high=value + reach, tasks=len(values))


def ratio(parts: Values, wholes: Values) -> Estimate:
    """Return sum(parts) / sum(wholes), of one pair a task, with the interval of a bounded number.

    The error is the linearised one of a ratio of two means (Cochran 1977, section 6.4).

    Args:
        parts: 0 <= parts <= wholes.
        wholes: how many there were to count from.
    """
    total, tasks = float(np.sum(wholes)), len(wholes)
    if total <= 0:
        return Estimate(tasks=tasks)
    value = float(np.sum(parts)) / total
    residuals = parts - value * wholes
    error = 0.0
    if tasks > 1:
        error = math.sqrt(tasks / (tasks - 1) * float(np.sum(residuals**2))) / total
    return bounded(value, error, tasks)


def average(estimates: Sequence[Estimate]) -> Estimate:
    """Return the plain average of independent estimates, its interval made of theirs (MOVER)."""
    known = [(e.value, e.low, e.high) for e in estimates if e.value is not None]
    if not known:
        return Estimate()
    value = math.fsum(v for v, _, _ in known) / len(known)
    tasks = sum(e.tasks for e in estimates)
    if any(low is None or high is None for _, low, high in known):
        return Estimate(value=value, tasks=tasks)
    below = math.sqrt(math.fsum((v - (low or 0.0)) ** 2 for v, low, _ in known)) / len(known)
    above = math.sqrt(math.fsum(((high or 0.0) - v) ** 2 for v, _, high in known)) / len(known)
    return Estimate(value=value, low=value - below, high=value + above, tasks=tasks)


def paired_difference(first: Values, second: Values) -> Estimate:
    """Return mean(second) - mean(first) over the same tasks, values in [0, 1].

    Newcombe's interval for paired proportions (1998, method 10), with its continuity correction of
    the correlation, carried over to task means: what the two agents share (easy tasks are easy for
    both) makes it narrower; two agents that agree everywhere still get an interval of some width.

    Args:
        first: one value a task.
        second: the value of the other agent, task by task.
    """
    if not len(first):
        return Estimate()
    p, p_low, p_high = _ends(first)
    q, q_low, q_high = _ends(second)
    rho = _correlation(first, second)
    value = q - p
    below = _combine(q - q_low, p_high - p, rho)
    above = _combine(q_high - q, p - p_low, rho)
    return Estimate(
        value=value,
        low=max(-1.0, value - below),
        high=min(1.0, value + above),
        tasks=len(first),
    )


def _ends(values: Values) -> tuple[float, float, float]:
    """Return a mean of values in [0, 1] and the ends of its interval."""
    estimate = bounded_mean(values)
    return estimate.value or 0.0, estimate.low or 0.0, estimate.high or 0.0


def _combine(x: float, y: float, rho: float) -> float:
    return math.sqrt(max(0.0, x * x + y * y - 2 * rho * x * y))


def _correlation(first: Values, second: Values) -> float:
    spread = float(np.std(first) * np.std(second))
    if spread <= 1e-12:
        return 0.0
    rho = float(np.mean((first - first.mean()) * (second - second.mean()))) / spread
    if rho <= 0:
        return max(-1.0, rho)
    p, q = float(first.mean()), float(second.mean())
    coin = math.sqrt(p * (1 - p) * q * (1 - q))
    return min(1.0, max(0.0, rho - 1 / (2 * len(first) * coin))) if coin > 0 else 0.0
