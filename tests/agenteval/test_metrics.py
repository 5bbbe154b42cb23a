"""Metrics against slow references: the definition, enumerated."""

from __future__ import annotations

import time
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym.agenteval.metrics import (
    all_of,
    best_of,
    chosen_ks,
    expected_max,
    measure,
    measure_kinds,
)
from agentgym.agents.message import Usage
from tests.agenteval.make import episode

attempts = st.lists(st.booleans(), min_size=1, max_size=8)
scores = st.lists(st.floats(0, 1), min_size=1, max_size=8)


@given(attempts, st.data())
def test_best_and_every_are_shares_of_all_subsets(wins: list[bool], data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(wins)))
    subsets = list(combinations(wins, k))
    assert best_of(len(wins), sum(wins), k) == pytest.approx(sum(map(any, subsets)) / len(subsets))
    assert all_of(len(wins), sum(wins), k) == pytest.approx(sum(map(all, subsets)) / len(subsets))


@given(scores, st.data())
def test_expected_max_is_the_mean_maximum_of_all_subsets(
    values: list[float], data: st.DataObject
) -> None:
    k = data.draw(st.integers(1, len(values)))
    maxima = [max(subset) for subset in combinations(values, k)]
    assert expected_max(values, k) == pytest.approx(sum(maxima) / len(maxima))


@given(attempts, st.data())
def test_expected_max_of_coins_is_best_of(wins: list[bool], data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(wins)))
    assert expected_max(wins, k) == pytest.approx(best_of(len(wins), sum(wins), k))


@pytest.mark.parametrize("k", [0, -1, 4])
def test_k_beyond_the_attempts_is_refused(k: int) -> None:
    for call in (
        lambda: best_of(3, 1, k),
        lambda: all_of(3, 1, k),
        lambda: expected_max([0] * 3, k),
    ):
        with pytest.raises(ValueError, match="k must be between 1 and"):
            call()


def test_best_of_many_attempts_is_exact() -> None:
    assert best_of(2000, 1, 1000) == 0.5
    assert best_of(2000, 0, 2000) == 0.0


def test_a_task_counts_once_however_often_it_was_attempted() -> None:
    twice = [episode(0, 1.0, attempt=i) for i in range(3)] + [episode(1, 0.0)]
    m = measure(twice)
    assert (m.tasks, m.episodes, m.attempts) == (2, 4, 1)
    assert m.success.value == 0.5
    assert m.score.value == 0.5
    assert list(m.best) == [1]


def test_failed_episodes_count_as_zero_and_are_shown() -> None:
    m = measure(
        [episode(0, 1.0), episode(1, 1.0, status="failed"), episode(2, 0.5, status="limit")]
    )
    assert m.failed == 1
    assert m.limited == 1
    assert m.success.value == pytest.approx(1 / 3)
    assert m.score.value == pytest.approx(0.5)


def test_success_is_the_environments_word_not_a_full_score() -> None:
    m = measure([episode(0, 0.7, success=True), episode(1, 1.0, success=False)])
    assert m.success.value == 0.5
    assert m.score.value == pytest.approx(0.85)


def test_repeated_attempts() -> None:
    m = measure([episode(t, float(t == a), attempt=a) for t in range(2) for a in range(4)])
    assert list(m.best) == [1, 2, 4]
    assert m.success.value == 0.25
    assert m.best[2].value == 0.5
    assert m.best[4].value == 1.0
    assert m.every[2].value == 0.0
    assert m.best_score[4].value == 1.0


def test_invalid_rate_is_over_rounds() -> None:
    m = measure([episode(0, rounds=10, invalid=5), episode(1, rounds=2, invalid=0)])
    assert m.invalid.value == pytest.approx(5 / 12)
    assert m.rounds.value == 6.0


def test_tokens_and_cost() -> None:
    priced = Usage(input_tokens=100, output_tokens=10, cost=0.5, calls=1)
    m = measure([episode(0, usage=priced), episode(1, usage=priced, rounds=4)])
    assert m.input_tokens.value == 300
    assert m.output_tokens.value == 30
    assert m.total_tokens == 660
    assert m.total_cost == pytest.approx(3.0)
    unpriced = Usage(input_tokens=1, calls=1)
    partly = measure([episode(0, usage=priced), episode(1, usage=unpriced)])
    assert partly.cost.value is None
    assert partly.total_cost is None
    assert measure([episode(0)]).input_tokens.value is None


def test_nothing_measured_is_nothing() -> None:
    m = measure([])
    assert m.tasks == 0
    assert m.success.value is None


def test_kinds_in_the_order_people_count() -> None:
    episodes = [episode(i, kind=k) for i, k in enumerate(("d-10", "d-2", "a", "d-2"))]
    kinds = measure_kinds(episodes)
    assert list(kinds) == ["a", "d-2", "d-10"]
    assert kinds["d-2"].tasks == 2


def test_chosen_ks() -> None:
    assert [chosen_ks(n) for n in (1, 2, 5, 8)] == [[1], [1, 2], [1, 2, 4, 5], [1, 2, 4, 8]]


def test_a_hundred_thousand_episodes_take_seconds() -> None:
    tasks = [episode(i, 0.5, rounds=10) for i in range(2500)]
    many = tasks * 40
    start = time.process_time()
    assert measure(many).tasks == 2500
    assert time.process_time() - start < 10
