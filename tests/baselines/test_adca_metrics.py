"""The figures of ADCA-GRPO: by hand, and never infinite."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agentgym.baselines.adca_metrics import adca_metrics
from agentgym.baselines.adca_options import AdcaOptions
from agentgym.baselines.advantage import (
    Composite,
    adca_advantages,
)
from tests.baselines.credited import LABELS, ONE_GROUP, RETURNS, option_sets, trajectories, unpack


def measured(options: AdcaOptions, credits: Any = LABELS) -> tuple[dict[str, float], Composite]:
    got = adca_advantages(ONE_GROUP, RETURNS, credits, [3, 4, 2, 4], options)
    return adca_metrics(got, ONE_GROUP, RETURNS, credits, options), got


def test_metrics_of_both_schemes() -> None:
    figures, _ = measured(AdcaOptions())
    assert figures["prm/avg_steps_per_sample"] == pytest.approx(3.25)
    assert figures["prm/p95_steps_per_sample"] == 4
    assert figures["prm/pos_traj_good_rate"] == pytest.approx(6 / 7)
    assert figures["prm/neg_traj_bad_rate"] == pytest.approx(5 / 6)
    assert (figures["prm/good_steps_total"], figures["prm/bad_steps_total"]) == (7, 6)
    assert figures["prm/alpha_t"] == figures["prm/alpha_base"] == 0.1


def test_metrics_of_decouple() -> None:
    figures, _ = measured(AdcaOptions())
    # |ohat| is 1 and |rhat| is 1 on every step, so the shares follow from K alone.
    ratios = [0.1 * k for k in (3, 4, 2, 4)]
    assert figures["prm/decouple/alpha_effective"] == pytest.approx(np.mean(ratios), abs=1e-5)
    assert figures["prm/decouple/outcome_share_last_mean"] == pytest.approx(
        np.mean([1 / (1 + r) for r in ratios]), abs=1e-5
    )
    assert figures["prm/decouple/sum_step_reward_sign_agree"] == 1.0
    assert figures["prm/decouple/pos_traj_prm_good_majority_rate"] == 1.0
    assert figures["prm/decouple/neg_traj_prm_bad_majority_rate"] == 1.0
    assert figures["prm/decouple/attr_mean"] == pytest.approx(1 / 13, abs=1e-5)
    assert not any(name.startswith("prm_allocation") for name in figures)


def test_metrics_of_allocation() -> None:
    figures, got = measured(AdcaOptions(scheme="allocation"))
    assert figures["prm_allocation/consistent_weight_share_pos"] == pytest.approx(
        (1.0 + 3 / 3.2) / 2
    )
    assert figures["prm_allocation/unit_weight_mean"] == pytest.approx(
        np.mean([1 / 3, 1 / 3.2, 1 / 2, 1 / 3.2])
    )
    assert figures["prm_allocation/degenerate_total_w_count"] == 0
    assert figures["prm_allocation/pre_norm_sum_sign_agree"] == 1.0
    gap = got.process[1][0] - got.process[1][1]
    assert figures["prm_allocation/good_bad_rnorm_gap_pos"] == pytest.approx(gap)


@given(trajectories, option_sets(), st.sampled_from([0, 200]))
def test_metrics_are_always_finite(rows: list[Any], options: AdcaOptions, step: int) -> None:
    groups, returns, credits, lengths = unpack(rows)
    got = adca_advantages(groups, returns, credits, lengths, options, step)
    figures = adca_metrics(got, groups, returns, credits, options, step)
    assert all(math.isfinite(value) for value in figures.values())
    assume(any(c for c in credits))
    assert figures["prm/good_steps_total"] == sum(x > 0 for c in credits for x in c or ())
