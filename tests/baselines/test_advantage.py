"""The advantages: published vectors, an independent reference, and what must not matter."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from agentgym.baselines.adca_options import OVERALL, PAPER, SHIPPED, AdcaOptions
from agentgym.baselines.advantage import (
    InvalidBatch,
    adca_advantages,
    grpo_advantages,
    returns_to_go,
    to_tokens,
)
from tests.baselines.credited import (
    LABELS,
    ONE_GROUP,
    RETURNS,
    option_sets,
    trajectories,
    unpack,
)


def advantages(**options: Any) -> list[list[float]]:
    composite = adca_advantages(ONE_GROUP, RETURNS, LABELS, options=AdcaOptions(**options))
    return [a.tolist() for a in composite.advantages]


@pytest.mark.parametrize(
    ("options", "expected", "tolerance"),
    [
        (
            {"alpha": 0.1},
            [[1.3, 1.2, 1.1], [1.2, 1.1, 1.2, 1.1], [-1.2, -1.1], [-1.2, -1.1, -1.2, -1.1]],
            1e-5,
        ),
        (
            {"alpha": 0.2},
            [[1.6, 1.4, 1.2], [1.4, 1.2, 1.4, 1.2], [-1.4, -1.2], [-1.4, -1.2, -1.4, -1.2]],
            1e-5,
        ),
        (
            {"outcome": "all_steps"},
            [[3.3, 2.2, 1.1], [4.2, 3.1, 2.2, 1.1], [-2.2, -1.1], [-4.2, -3.1, -2.2, -1.1]],
            1e-5,
        ),
        (
            {"length_norm": True},
            [[0.7506, 0.6928, 0.6351], [0.6, 0.55, 0.6, 0.55], [-0.8485, -0.7778],
             [-0.6, -0.55, -0.6, -0.55]],
            1e-4,
        ),
        (
            {"norm": "pooled"},
            [[1.2777, 1.1852, 1.0926], [1.1697, 1.0772, 1.1852, 1.0926], [-1.216, -1.108],
             [-1.2315, -1.1234, -1.216, -1.108]],
            1e-4,
        ),
    ],
)  # fmt: skip
def test_the_vectors(
    options: dict[str, Any], expected: list[list[float]], tolerance: float
) -> None:
    for got, wanted in zip(advantages(**options), expected, strict=True):
        assert got == pytest.approx(wanted, abs=tolerance)


def test_the_vectors_intermediate_figures() -> None:
    equal = adca_advantages(ONE_GROUP, RETURNS, LABELS)
    assert equal.outcome.tolist() == pytest.approx([1, 1, -1, -1], abs=1e-9)
    assert equal.process[0].tolist() == pytest.approx([1, 1, 1], abs=1e-5)
    pooled = adca_advantages(ONE_GROUP, RETURNS, LABELS, options=AdcaOptions(norm="pooled"))
    mu, sd = 0.015385, 0.199407
    assert pooled.process[1].tolist() == pytest.approx(
        [(r - mu) / sd for r in (0.2, -0.2, 0.2, 0.2)], abs=1e-4
    )


def test_the_cosine() -> None:
    options = AdcaOptions(alpha_schedule="cosine", total_steps=4)
    got = [options.alpha_at(step) for step in range(6)]
    assert got == pytest.approx([0.1, 0.08536, 0.05, 0.01464, 0.0, 0.0], abs=1e-5)
    fixed = AdcaOptions(alpha_schedule="cosine", alpha_progress=0.5, alpha_min=0.02)
    assert fixed.alpha_at(0) == fixed.alpha_at(99) == pytest.approx(0.06)
    assert adca_advantages(["g"], [1.0], [[True]], options=options, global_step=2).alpha == (
        pytest.approx(0.05)
    )


# An independent reference: the formulas again, number by number, without NumPy.


def slow(
    groups: list[Any],
    returns: list[float],
    credits: list[list[float] | None],
    lengths: list[int],
    o: AdcaOptions,
) -> list[list[float]]:
    def mean(values: list[float]) -> float:
        return math.fsum(values) / len(values)

    count = len(groups)
    r: list[list[float]] = []
    for i in range(count):
        given_credits = credits[i]
        if given_credits is None:
            r.append([0.0] * lengths[i])
        elif o.scheme == "decouple":
            r.append([o.fix_base * c for c in given_credits])
        else:
            won = returns[i] > 0.5
            w = []
            for c in given_credits:
                if c > 0:
                    w.append(abs(c) * (o.consistent if won else o.good_in_failure))
                else:
                    w.append(abs(c) * (o.bad_in_success if won else o.consistent))
            total = math.fsum(w)
            unit = 1 / total if total > 1e-8 else 0.0
            r.append([(1 if won else -1) * x * unit for x in w])
    result: list[list[float]] = []
    for i in range(count):
        mates = [j for j in range(count) if groups[j] == groups[i]]
        known = [j for j in mates if credits[j] is not None and lengths[j]]
        if credits[i] is None or not lengths[i]:
            rhat = [0.0] * lengths[i]
        elif o.norm == "none":
            rhat = r[i]
        else:
            means = [mean(r[j]) for j in known]
            if o.norm == "equal":
                mu = mean(means)
                var = mean([mean([(x - mu) ** 2 for x in r[j]]) for j in known])
                sd = math.sqrt(var + 1e-8)
            elif o.norm == "pooled":
                flat = [x for j in known for x in r[j]]
                mu = mean(flat)
                sd = max(math.sqrt(mean([(x - mu) ** 2 for x in flat])), 1e-8)
            else:
                mu = mean(means)
                sd = math.sqrt(mean([(m - mu) ** 2 for m in means]))
                sd = sd if sd > 1e-8 else 1.0
            rhat = [(x - mu) / (sd + 1e-12) for x in r[i]]
        mu = mean([returns[j] for j in mates])
        sd = math.sqrt(mean([(returns[j] - mu) ** 2 for j in mates]))
        ohat = (returns[i] - mu) / (sd + 1e-12) if sd > 1e-8 else returns[i] - mu
        c = []
        for t in range(lengths[i]):
            if o.outcome == "only_prm":
                x = rhat[t]
            elif o.outcome == "all_steps" or t == lengths[i] - 1:
                x = o.alpha * rhat[t] + ohat
            else:
                x = o.alpha * rhat[t]
            c.append(x / math.sqrt(lengths[i]) if o.length_norm else x)
        result.append(
            [
                math.fsum(o.gamma ** (k - t) * c[k] for k in range(t, lengths[i]))
                for t in range(lengths[i])
            ]
        )
    return result


@given(trajectories, option_sets())
def test_the_reference_agrees(rows: list[Any], options: AdcaOptions) -> None:
    groups, returns, credits, lengths = unpack(rows)
    got = adca_advantages(groups, returns, credits, lengths, options)
    wanted = slow(groups, returns, credits, lengths, options)
    assert [len(a) for a in got.advantages] == lengths
    for a, w in zip(got.advantages, wanted, strict=True):
        assert a.tolist() == pytest.approx(w, abs=1e-6, rel=1e-6)


@given(trajectories, option_sets(), st.randoms(use_true_random=False))
def test_the_order_of_a_batch_does_not_matter(
    rows: list[Any], options: AdcaOptions, random: Any
) -> None:
    order = list(range(len(rows)))
    random.shuffle(order)
    straight = adca_advantages(*unpack(rows), options)
    mixed = adca_advantages(*unpack([rows[i] for i in order]), options)
    for place, i in enumerate(order):
        assert mixed.advantages[place].tolist() == pytest.approx(
            straight.advantages[i].tolist(), abs=1e-9
        )


@given(trajectories, trajectories, option_sets())
def test_other_groups_do_not_matter(
    ours: list[Any], others: list[Any], options: AdcaOptions
) -> None:
    others = [(("other", row[0]), *row[1:]) for row in others]
    alone = adca_advantages(*unpack(ours), options)
    among = adca_advantages(*unpack(others + ours), options)
    for a, b in zip(alone.advantages, among.advantages[len(others) :], strict=True):
        assert a.tolist() == pytest.approx(b.tolist(), abs=1e-12)


@given(trajectories, st.sampled_from([0.5, 2.0, 10.0]), st.sampled_from(["equal", "pooled"]))
def test_the_scale_of_credits_cancels(rows: list[Any], scale: float, norm: Any) -> None:
    groups, returns, credits, lengths = unpack(rows)
    flags = [None if c is None else [1.0 if x > 0 else -1.0 for x in c] for c in credits]
    options = AdcaOptions(norm=norm)
    once = adca_advantages(groups, returns, flags, lengths, options)
    scaled = adca_advantages(
        groups, returns, flags, lengths, options.model_copy(update={"fix_base": 0.2 * scale})
    )
    for a, b in zip(once.advantages, scaled.advantages, strict=True):
        assert a.tolist() == pytest.approx(b.tolist(), abs=1e-4)


@given(
    st.booleans(), st.lists(st.integers(1, 5), min_size=1, max_size=5),
    st.sampled_from(["equal", "pooled", "traj_mean"]),
)  # fmt: skip
def test_equal_labels_say_nothing(label: bool, lengths: list[int], norm: Any) -> None:
    labels = [[label] * k for k in lengths]
    got = adca_advantages(
        ["g"] * len(lengths), [1.0] * len(lengths), labels, options=AdcaOptions(norm=norm)
    )
    for a in got.advantages:
        assert a.tolist() == pytest.approx([0.0] * len(a), abs=1e-6)


def test_a_group_that_all_failed_still_learns_from_its_steps() -> None:
    got = adca_advantages(["g", "g"], [0.0, 0.0], [[True, False], [False, False]])
    assert got.outcome.tolist() == [0.0, 0.0]
    assert got.advantages[0][0] > got.advantages[1][0]


@given(st.lists(st.floats(-5, 5), max_size=8), st.sampled_from([1.0, 0.9, 0.0]))
def test_returns_to_go(rewards: list[float], gamma: float) -> None:
    wanted = [
        math.fsum(gamma ** (k - t) * rewards[k] for k in range(t, len(rewards)))
        for t in range(len(rewards))
    ]
    assert returns_to_go(rewards, gamma).tolist() == pytest.approx(wanted, abs=1e-9)


def test_gamma_discounts_the_outcome() -> None:
    (first, second) = advantages(alpha=0.0, gamma=0.5)[0:2]
    assert first == pytest.approx([0.25, 0.5, 1.0])
    assert second == pytest.approx([0.125, 0.25, 0.5, 1.0])


def test_the_papers_normalisation_is_by_trajectory_means() -> None:
    got = adca_advantages(ONE_GROUP, RETURNS, LABELS, options=PAPER)
    means = np.array([1.0, 0.5, -1.0, -0.5])
    wanted = (np.array([1.0, -1.0, 1.0, 1.0]) - means.mean()) / means.std()
    assert got.process[1].tolist() == pytest.approx(wanted.tolist())


def test_equal_shares_of_good_are_no_division_by_zero() -> None:
    got = adca_advantages(["g", "g"], [1.0, 0.0], [[True, False], [False, True]], options=PAPER)
    assert got.process[0].tolist() == pytest.approx([1.0, -1.0])


def test_allocation_hands_out_one() -> None:
    options = AdcaOptions(scheme="allocation")
    got = adca_advantages(ONE_GROUP, RETURNS, LABELS, options=options)
    assert [float(r.sum()) for r in got.rewards] == pytest.approx([1, 1, -1, -1])
    # A success of three GOOD and one BAD step: 1, 0.2, 1, 1 out of 3.2.
    assert got.rewards[1].tolist() == pytest.approx([0.3125, 0.0625, 0.3125, 0.3125])
    # A failure of three BAD and one GOOD step, likewise and negative.
    assert got.rewards[3].tolist() == pytest.approx([-0.3125, -0.0625, -0.3125, -0.3125])


def test_failed_attribution_leaves_the_outcome_alone() -> None:
    credits = [LABELS[0], LABELS[1], None, LABELS[3]]
    got = adca_advantages(ONE_GROUP, RETURNS, credits, [3, 4, 2, 4])
    assert got.labelled.tolist() == [True, True, False, True]
    assert got.process[2].tolist() == [0.0, 0.0]
    assert got.advantages[2].tolist() == pytest.approx([-1.0, -1.0])
    without = adca_advantages(["g"] * 3, [1.0, 1.0, 0.0], [LABELS[0], LABELS[1], LABELS[3]])
    for a, b in zip((got.process[i] for i in (0, 1, 3)), without.process, strict=True):
        assert a.tolist() == pytest.approx(b.tolist())


def test_an_empty_episode_counts_with_its_outcome() -> None:
    got = adca_advantages(["g", "g"], [1.0, 0.0], [[True, False], []])
    assert got.advantages[1].tolist() == []
    assert got.outcome.tolist() == pytest.approx([1.0, -1.0])


def test_after_prm_steps_it_is_grpo() -> None:
    options = AdcaOptions(prm_steps=5, length_norm=True)
    got = adca_advantages(ONE_GROUP, RETURNS, [None] * 4, [3, 4, 2, 4], options, global_step=5)
    grpo = grpo_advantages(ONE_GROUP, RETURNS)
    for a, g in zip(got.advantages, grpo, strict=True):
        assert a.tolist() == [pytest.approx(g)] * len(a)
    assert got.alpha == 0.0
    before = adca_advantages(ONE_GROUP, RETURNS, LABELS, options=options, global_step=4)
    assert before.advantages[0][0] != pytest.approx(grpo[0])
    assert AdcaOptions(prm_steps=None).active(10**9)


# GRPO.


@given(st.lists(st.lists(st.integers(-1, 3), min_size=6, max_size=6), min_size=1, max_size=4))
def test_tokens_get_the_advantage_of_their_step(ids: list[list[int]]) -> None:
    steps = [[10.0 * i + t for t in range(4)] for i in range(len(ids))]
    tokens = to_tokens(steps, ids)
    for i, row in enumerate(ids):
        for j, step in enumerate(row):
            assert tokens[i, j] == (0.0 if step < 0 else steps[i][step])


def test_one_number_for_all_tokens() -> None:
    got = to_tokens(np.array([2.0, -1.0]), [[-1, 0, 0, 1], [0, 1, -1, 2]])
    assert got.tolist() == [[0.0, 2.0, 2.0, 2.0], [-1.0, -1.0, 0.0, -1.0]]


@pytest.mark.parametrize(
    ("advantages", "ids"),
    [
        ([[1.0]], [[0, 1]]),
        ([[1.0]], [[-2, 0]]),
        ([[1.0]], [[0.5, 0.0]]),
        ([[1.0], [2.0]], [[0]]),
        ([[math.nan]], [[0]]),
    ],
)
def test_tokens_without_a_step_are_refused(advantages: Any, ids: Any) -> None:
    with pytest.raises(InvalidBatch):
        to_tokens(advantages, ids)


# What is refused.


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((["g"], [math.nan], [[True]]), "finite"),
        ((["g"], [1.0], [[math.inf]]), "finite"),
        ((["g"], [1.0, 0.0], [[True]]), "group ids"),
        ((["g"], [1.0], []), "credits of 0"),
        ((["g"], [1.0], [[True]], [2]), "2 steps and 1 credits"),
        ((["g"], [1.0], [None]), "lengths"),
        ((["g"], [1.0], [["GOOD"]]), "numbers"),
        ((["g"], [1.0], [[[1.0]]]), "one number a step"),
    ],
)
def test_bad_batches_are_refused(arguments: Any, says: str) -> None:
    with pytest.raises(InvalidBatch, match=says):
        adca_advantages(*arguments)


@pytest.mark.parametrize(
    "options",
    [
        {"alpha": math.nan},
        {"alpha": -0.1},
        {"gamma": 1.5},
        {"scheme": "both"},
        {"norm": "batch"},
        {"equal_trajectory_weight": True},
        {"scheme": "allocation", "outcome": "only_prm"},
    ],
)
def test_bad_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        AdcaOptions(**options)


def test_the_published_settings() -> None:
    assert (SHIPPED.alpha, SHIPPED.fix_base, SHIPPED.prm_steps) == (0.1, 0.2, 100)
    assert (SHIPPED.norm, SHIPPED.outcome, SHIPPED.length_norm) == ("equal", "last_step", False)
    assert OVERALL.alpha == 0.2
    assert (PAPER.norm, PAPER.fix_base) == ("traj_mean", 1.0)


# Metrics.
