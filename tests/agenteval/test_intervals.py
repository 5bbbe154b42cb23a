"""Intervals: known values, honest edges, and coverage by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from agentgym.agenteval.intervals import (
    Estimate,
    average,
    bounded_mean,
    mean,
    paired_difference,
    ratio,
    t_quantile,
    wilson,
)

unit = arrays(np.float64, st.integers(1, 30), elements=st.floats(0, 1))


@pytest.mark.parametrize(
    ("freedom", "expected"),
    [
        (1, 12.7062),
        (2, 4.3027),
        (3, 3.1824),
        (5, 2.5706),
        (10, 2.2281),
        (30, 2.0423),
        (100, 1.9840),
    ],
)
def test_t_quantiles_of_the_printed_tables(freedom: int, expected: float) -> None:
    assert t_quantile(freedom) == pytest.approx(expected, rel=1.5e-3)


def test_wilson_of_a_textbook_case() -> None:
    # 81 of 263: Newcombe 1998, table 1.
    assert wilson(81 / 263, 263) == pytest.approx((0.2553, 0.3662), abs=2e-4)


def test_all_of_two_hundred_is_not_certainty() -> None:
    estimate = bounded_mean(np.ones(200))
    assert estimate.high == 1.0
    assert estimate.low == pytest.approx(0.9812, abs=1e-3)
    nothing = bounded_mean(np.zeros(200))
    assert nothing.low == 0.0
    assert nothing.high == pytest.approx(0.0188, abs=1e-3)


def test_one_attempt_a_task_is_wilsons_interval() -> None:
    wins = np.array([1.0] * 30 + [0.0] * 70)
    estimate = bounded_mean(wins)
    assert (estimate.low, estimate.high) == pytest.approx(wilson(0.3, 100))


def test_attempts_narrow_the_interval_only_as_far_as_tasks_differ() -> None:
    same_task = bounded_mean(np.array([1.0, 0.0] * 50))  # every attempt at a task ends alike
    mixed = bounded_mean(np.array([0.75, 0.25] * 50))  # attempts differ within the task
    assert _width(mixed) < 0.7 * _width(same_task)


@given(unit)
def test_bounded_intervals_hold_the_estimate_and_stay_in_range(values: np.ndarray) -> None:
    estimate = bounded_mean(values)
    assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
    assert estimate.high > estimate.low


@given(unit, st.integers(0, 2**32))
@example(np.array([5e-324, 5e-324]), 0)
def test_paired_differences_hold_the_estimate_and_mirror(values: np.ndarray, seed: int) -> None:
    other = np.random.default_rng(seed).permutation(values)
    there, back = paired_difference(values, other), paired_difference(other, values)
    assert -1 <= there.low <= there.value <= there.high <= 1
    assert (back.value, back.low, back.high) == pytest.approx(
        (-there.value, -there.high, -there.low), abs=1e-9
    )


def test_agreement_everywhere_leaves_some_doubt() -> None:
    for values in (np.ones(200), np.array([0.0, 1.0] * 100)):
        estimate = paired_difference(values, values)
        assert estimate.value == 0
        assert 0.002 < estimate.high < 0.03


def test_pairing_tells_more_than_two_intervals() -> None:
    rng = np.random.default_rng(0)
    first = (rng.random(300) < 0.5).astype(float)
    second = np.where(rng.random(300) < 0.05, 1.0, first)
    apart = paired_difference(first, rng.permutation(second))
    assert _width(paired_difference(first, second)) < 0.6 * _width(apart)


def test_newcombes_paired_example() -> None:
    # Newcombe 1998 (paired, method 10): 36, 12, 2, 0 of 50: difference 0.2, 0.0569 to 0.3404.
    first = np.array([1] * 36 + [1] * 12 + [0] * 2, dtype=float)
    second = np.array([1] * 36 + [0] * 12 + [1] * 2, dtype=float)
    estimate = paired_difference(second, first)
    assert (estimate.value, estimate.low, estimate.high) == pytest.approx(
        (0.2, 0.0569, 0.3404), abs=5e-4
    )


def test_ratio_weighs_tasks_by_their_rounds() -> None:
    estimate = ratio(np.array([5.0, 0.0]), np.array([10.0, 2.0]))
    assert estimate.value == pytest.approx(5 / 12)
    assert ratio(np.zeros(2), np.zeros(2)).value is None


def test_one_task_has_no_spread_to_judge_by() -> None:
    assert mean(np.array([7.0])) == Estimate(value=7.0, tasks=1)
    assert mean(np.array([])).value is None


def test_averages_keep_asymmetric_doubt() -> None:
    sure, unsure = bounded_mean(np.ones(200)), bounded_mean(np.ones(5))
    both = average([sure, unsure])
    assert both.value == 1.0
    assert both.high == 1.0
    assert sure.low > both.low > unsure.low
    assert average([Estimate(), sure]).value == 1.0
    assert average([]).value is None


@pytest.mark.parametrize("p", [0.1, 0.3, 0.95])
@pytest.mark.parametrize(("tasks", "attempts"), [(25, 1), (100, 1), (100, 4), (25, 8)])
def test_coverage_of_success_rates(p: float, tasks: int, attempts: int) -> None:
    """Tasks of their own difficulty; 91 leaves room for Wilson's known ripples around 95."""
    rng = np.random.default_rng(12)
    hits, trials = 0, 600
    for _ in range(trials):
        difficulty = rng.beta(p * 2, (1 - p) * 2, size=tasks)
        estimate = bounded_mean(rng.binomial(attempts, difficulty) / attempts)
        hits += estimate.low <= p <= estimate.high
    assert hits / trials >= 0.91


@pytest.mark.parametrize("shape", [(0.3, 0.3), (2, 5), (8, 1)])
@pytest.mark.parametrize("tasks", [10, 100])
def test_coverage_of_graded_scores(shape: tuple[float, float], tasks: int) -> None:
    rng = np.random.default_rng(5)
    truth, trials = shape[0] / sum(shape), 600
    inside = [bounded_mean(rng.beta(*shape, size=tasks)) for _ in range(trials)]
    rate = sum(e.low <= truth <= e.high for e in inside) / trials
    assert rate >= 0.925


def test_coverage_of_paired_differences() -> None:
    rng = np.random.default_rng(8)
    hits, trials, tasks = 0, 600, 60
    for _ in range(trials):
        difficulty = rng.beta(0.6, 0.4, size=tasks)
        first = rng.random(tasks) < 0.5 * difficulty
        second = rng.random(tasks) < difficulty
        estimate = paired_difference(first.astype(float), second.astype(float))
        hits += estimate.low <= 0.3 <= estimate.high
    assert hits / trials >= 0.93


def _width(estimate: Estimate) -> float:
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.high - estimate.low
