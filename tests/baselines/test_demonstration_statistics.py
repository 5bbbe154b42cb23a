"""Intervals over tasks and seeds: what they cover, and where there are none."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym.agenteval.intervals import Estimate, bounded_mean, t_quantile
from agentgym.baselines.demonstration.show import ends, table
from agentgym.baselines.demonstration.statistics import (
    gap,
    line,
    over_tasks_and_seeds,
    seed_means,
)
from agentgym.rollout.episode import Episode
from tests.baselines.episodes import record

Played = dict[str, list[bool]]
ONE = record("agentgym/Maze-v0", "maze_0", ["move up"])


def episodes(solved: Played) -> list[Episode]:
    """Return episodes of some tasks, solved or not."""
    return [
        ONE.model_copy(update={"task_id": task, "attempt": i, "success": success})
        for task, successes in solved.items()
        for i, success in enumerate(successes)
    ]


def arm(rates: list[float], tasks: int, seed: int = 0) -> list[Played]:
    """Return attempts of seeds of these rates of success."""
    rng = np.random.default_rng(seed)
    return [{f"task_{t:03}": [bool(rng.random() < rate)] for t in range(tasks)} for rate in rates]


def wide(values: np.ndarray, least: float = 0.0) -> Estimate:
    return over_tasks_and_seeds(values, bounded_mean(values.mean(axis=0)), least=least)


def test_it_is_the_formula_where_seeds_decide() -> None:
    """Seeds of 0.4, 0.5 and 0.6 on tasks that are alike: t of two degrees on their deviation."""
    values = np.repeat([[0.4], [0.5], [0.6]], 1000, axis=1)
    found = wide(values)
    assert found.low == pytest.approx(0.5 - t_quantile(2) * 0.1 / math.sqrt(3))
    assert found.high == pytest.approx(0.5 + t_quantile(2) * 0.1 / math.sqrt(3))


def test_it_is_the_formula_where_tasks_decide() -> None:
    values = np.tile([0.0, 1.0], (3, 200))
    found = wide(values)
    reach = t_quantile(399) * values[0].std(ddof=1) / math.sqrt(400)
    assert found.high == pytest.approx(0.5 + reach)
    assert found.low == pytest.approx(0.5 - reach)


@given(
    st.integers(2, 4).flatmap(
        lambda tasks: st.lists(
            st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=tasks, max_size=tasks),
            min_size=1,
            max_size=4,
        )
    )
)
def test_it_is_never_within_the_one_over_tasks_and_leaves_no_bound(rows: list[list[float]]) -> None:
    values = np.array(rows)
    narrow, found = bounded_mean(values.mean(axis=0)), wide(values)
    assert found.value == narrow.value
    if len(rows) == 1:
        assert (found.low, found.high) == (None, None)
        return
    assert found.low is not None
    assert narrow.low is not None
    assert found.high is not None
    assert narrow.high is not None
    assert 0.0 <= found.low <= narrow.low <= narrow.high <= found.high <= 1.0


def test_it_holds_what_other_seeds_and_tasks_would_give() -> None:
    """The truth is in nearly all of them, where seeds differ; in few of those over tasks alone."""
    rng = np.random.default_rng(5)
    runs, held, alone = 400, 0, 0
    for _ in range(runs):
        easy = rng.normal(0.0, 0.15, 200)
        rates = 0.5 + rng.normal(0.0, 0.08, 3)[:, None] + easy[None, :]
        values = (rng.random((3, 200)) < rates).astype(float)
        narrow, found = bounded_mean(values.mean(axis=0)), wide(values)
        held += (found.low or 0.0) <= 0.5 <= (found.high or 0.0)
        alone += (narrow.low or 0.0) <= 0.5 <= (narrow.high or 0.0)
    assert held / runs > 0.93
    assert alone / runs < 0.75


def test_seeds_that_were_measured_on_other_tasks_have_none() -> None:
    first, second = episodes({"a": [True]}), episodes({"b": [True]})
    assert seed_means([first, second]) is None
    assert line("maze", "bc", [first, second]).wide.low is None
    assert seed_means([]) is None
    both = seed_means(
        [episodes({"b": [True, False], "a": [True]}), episodes({"a": [False], "b": [True]})]
    )
    assert both is not None
    assert both.tolist() == [[1.0, 0.5], [0.0, 1.0]]


def test_arms_can_be_apart_over_tasks_and_not_over_seeds() -> None:
    low = [episodes(one) for one in arm([0.25, 0.35, 0.30], 300)]
    some = [episodes(one) for one in arm([0.35, 0.65, 0.50], 300, seed=1)]
    high = [episodes(one) for one in arm([0.92, 0.94, 0.93], 300, seed=2)]
    near = gap("maze", ("agentevol", some), ("bc", low))
    assert near.apart
    assert not near.wide_apart
    far = gap("maze", ("agentevol", high), ("bc", low))
    assert far.apart
    assert far.wide_apart
    for one in (near, far):
        assert one.wide.value == one.difference.value
        assert one.wide.low is not None
        assert one.difference.low is not None
        assert one.wide.low <= one.difference.low
    assert not gap("maze", ("agentevol", high[:1]), ("bc", low[:1])).wide_apart
    assert gap("maze", ("agentevol", high[:2]), ("bc", low)).wide.low is None


def test_the_table_has_both_intervals() -> None:
    low = [episodes(one) for one in arm([0.25, 0.35, 0.30], 300)]
    some = [episodes(one) for one in arm([0.35, 0.65, 0.50], 300, seed=1)]
    bc, near = line("maze", "bc", low), gap("maze", ("agentevol", some), ("bc", low))
    shown = table([bc, line("maze", "expert", low[:1])], [near])
    assert f") | {ends(bc.wide)} | " in shown
    assert f") | yes | {ends(near.wide)} | no |" in shown
    (expert,) = [row for row in shown.splitlines() if row.startswith("| maze | expert")]
    assert ") |  |  | 300 |" in expert
    widths = {row.count(" | ") for row in shown.splitlines() if row.startswith("| maze | ")}
    assert widths == {7, 5}
