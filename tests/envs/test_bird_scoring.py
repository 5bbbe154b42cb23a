"""BIRD's metrics, worked by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym.envs.bird.scoring import r_ves, same_rows, soft_f1, ves_reward

ROWS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from("ab")), max_size=6)


@pytest.mark.parametrize(
    ("given_rows", "gold", "by_set", "by_multiset", "by_order"),
    [
        ([(1,), (2,)], [(1,), (2,)], True, True, True),
        ([(2,), (1,)], [(1,), (2,)], True, True, False),
        ([(1,), (1,)], [(1,)], True, False, False),
        ([(1.0,)], [(1,)], True, True, True),
        ([("1",)], [(1,)], False, False, False),
        ([("a", 1)], [(1, "a")], False, False, False),
        ([], [(None,)], False, False, False),
        ([], [], True, True, True),
    ],
)
def test_three_rules(given_rows, gold, by_set, by_multiset, by_order):
    assert same_rows(given_rows, gold) is by_set
    assert same_rows(given_rows, gold, "multiset") is by_multiset
    assert same_rows(given_rows, gold, "ordered", ordered=True) is by_order
    assert same_rows(given_rows, gold, "ordered", ordered=False) is by_multiset


def test_soft_f1_by_hand():
    # Pairs: (1, a)/(1, a): 2 of 2 cells. (2, x)/(2, b): matched 1/2, wrong 1/2, missed 1/2.
    # Third given row without partner: wrong 1. P = 1.5 / 3, R = 1.5 / 2, F1 = 2PR / (P + R).
    found = soft_f1([(1, "a"), (2, "x"), (9, "z")], [(1, "a"), (2, "b")])
    assert found == pytest.approx(2 * 0.5 * 0.75 / 1.25)
    # A gold row without partner: missed 1. P = 1, R = 1 / 2.
    assert soft_f1([(1,)], [(1,), (2,)]) == pytest.approx(2 / 3)
    assert soft_f1([], [(1,)]) == 0.0
    assert soft_f1([(1,)], []) == 0.0
    assert soft_f1([], []) == 1.0


@given(ROWS, ROWS)
def test_soft_f1_is_a_share_and_one_for_the_same(one, two):
    assert 0.0 <= soft_f1(one, two) <= 1.0
    assert soft_f1(one, one) == 1.0


@pytest.mark.parametrize(
    ("ratio", "reward"),
    [(2.0, 1.25), (1.99, 1.0), (1.0, 1.0), (0.99, 0.75), (0.5, 0.75), (0.3, 0.5), (0.24, 0.25)],
)
def test_r_ves_rewards(ratio, reward):
    assert ves_reward(True, ratio) == reward
    assert ves_reward(False, ratio) == 0.0


def test_r_ves_is_the_mean_of_roots_in_percent():
    assert r_ves([1.25, 0.0]) == pytest.approx(50 * math.sqrt(1.25))
    assert r_ves([]) == 0.0
