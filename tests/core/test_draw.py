"""Draws: the same for ever, fair, and within what they promise."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym.core.draw import Draw


def test_the_stream_of_a_seed_never_changes():
    draw = Draw("a seed")
    found = [draw.below(1000), draw.between(5, 9), draw.pick("abc"), round(draw.bell(), 6)]
    found += [draw.shuffled(range(5)), draw.sample(range(9), 3), draw.weighted("xy", [1, 3])]
    assert found == FROZEN


FROZEN = [397, 5, "c", -0.13842, [3, 1, 2, 0, 4], [1, 5, 6], "y"]


@given(st.text(), st.lists(st.integers(), max_size=30), st.integers(0, 40))
def test_shuffling_keeps_all_and_sampling_takes_each_at_most_once(seed, items, k):
    assert sorted(Draw(seed).shuffled(items)) == sorted(items)
    taken = Draw(seed).sample(range(len(items)), k)
    assert len(taken) == len(set(taken)) == min(k, len(items))


@given(st.text(), st.integers(-50, 50), st.integers(0, 50))
def test_between_includes_both_ends_and_nothing_beyond(seed, least, width):
    draw = Draw(seed)
    assert all(least <= draw.between(least, least + width) <= least + width for _ in range(50))


def test_weights_are_followed_and_a_weight_of_zero_never_comes():
    draw = Draw("weights")
    seen = Counter(draw.weighted("abc", [1, 0, 3]) for _ in range(4000))
    assert seen["b"] == 0
    assert 2.5 < seen["c"] / seen["a"] < 3.6


def test_a_bell_has_mean_zero_and_deviation_one():
    draw = Draw("bell")
    drawn = [draw.bell() for _ in range(4000)]
    assert abs(sum(drawn) / 4000) < 0.06
    assert 0.9 < sum(x * x for x in drawn) / 4000 < 1.1


@pytest.mark.parametrize("weights", [[1], [0, 0], [1, 2, 3]])
def test_weights_that_choose_nothing_are_refused(weights):
    with pytest.raises(ValueError, match="weights"):
        Draw("a").weighted("xy", weights)
