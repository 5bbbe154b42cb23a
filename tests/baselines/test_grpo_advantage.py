"""GRPO's advantages: of groups, by every scale, and of rewards of rounds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym.baselines.advantage import grpo_advantages
from agentgym.baselines.grpo_advantage import (
    outcome_advantages,
    turn_advantages,
)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 8)), min_size=1, max_size=12))
def test_grpo_by_the_book(rows: list[tuple[str, int]]) -> None:
    groups, returns = [g for g, _ in rows], [n / 8 for _, n in rows]
    got = grpo_advantages(groups, returns)
    for i, group in enumerate(groups):
        mates = [r for g, r in zip(groups, returns, strict=True) if g == group]
        if len(mates) == 1:
            mean, std = 0.0, 1.0
        else:
            mean = sum(mates) / len(mates)
            std = math.sqrt(sum((r - mean) ** 2 for r in mates) / (len(mates) - 1))
        assert got[i] == pytest.approx((returns[i] - mean) / (std + 1e-6), abs=1e-6)


def test_grpo_of_one() -> None:
    assert grpo_advantages(["alone"], [0.75]).tolist() == pytest.approx([0.75], abs=1e-5)


# Tokens.


def test_advantages_by_scale() -> None:
    rng = np.random.default_rng(0)
    groups = list("aabbbcc")
    returns = rng.random(7).tolist()
    grouped = outcome_advantages(groups, returns, "group")
    assert grouped.tolist() == grpo_advantages(groups, returns).tolist()
    means = {g: np.mean([r for r, h in zip(returns, groups, strict=True) if h == g]) for g in "abc"}
    centred = [r - means[g] for r, g in zip(returns, groups, strict=True)]
    assert outcome_advantages(groups, returns, "none") == pytest.approx(centred)
    deviation = np.std(returns, ddof=1) + 1e-6
    expected = [c / deviation for c in centred]
    assert outcome_advantages(groups, returns, "batch") == pytest.approx(expected)


def test_rewards_of_rounds_are_summed_to_the_end_and_normalised_over_the_group() -> None:
    groups = ["a", "b", "a"]
    rewards = [[0.0, 1.0], [0.5, 0.5], [0.0, 0.0, 0.25]]
    pool = [0.0, 1.0, 0.0, 0.0, 0.25]
    mean, std = np.mean(pool), np.std(pool)
    for scale, spread in (("group", std), ("none", 1.0)):
        found = turn_advantages(groups, rewards, scale)  # type: ignore[arg-type]
        last = [(r - mean) / spread for r in rewards[2]]
        assert found[2] == pytest.approx([sum(last[t:]) for t in range(3)])
        assert found[1] == pytest.approx([0.0, 0.0], abs=1e-6)
