"""Filtering, de-duplication, merging and statistics."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentgym.agents.message import Usage
from agentgym.core.errors import AgentGymError, InvalidConfig, UnknownEnvironment
from agentgym.rollout.episode import Step
from agentgym.trajectories import About, InvalidTrajectories, TrajectoryDataset
from tests.trajectories.samples import episode


def test_filters_meet_every_condition_and_keep_the_order() -> None:
    dataset = TrajectoryDataset(
        [
            episode(3, score=1.0, rounds=5),
            episode(1, score=0.5),
            episode(2, score=1.0, split="eval", kind="long"),
            episode(4, score=1.0, env_id="agentgym/TextCraft-v0", agent="random"),
            episode(5, score=0.0, status="failed", edition="official"),
        ],
        About(name="n"),
    )

    def ids(**conditions: object) -> list[str]:
        return [e.task_id for e in dataset.filter(**conditions)]  # type: ignore[arg-type]

    assert ids(success=True) == ["walk_3", "walk_2", "walk_4"]
    assert ids(success=False) == ["walk_1", "walk_5"]
    assert ids(min_score=0.5) == ["walk_3", "walk_1", "walk_2", "walk_4"]
    assert ids(min_score=0.5, max_rounds=4, splits="train") == ["walk_1", "walk_4"]
    assert ids(envs="textcraft") == ["walk_4"]
    assert ids(envs=["agentgym/TextCraft-v0", "tests/Walk-v0"], agents=["random"]) == ["walk_4"]
    assert ids(kinds={"long"}) == ["walk_2"]
    assert ids(completed=False) == ["walk_5"]
    assert ids(editions=["mini"], keep=lambda e: e.rounds == 5) == ["walk_3"]
    assert dataset.filter(success=True).about == dataset.about
    assert len(dataset) == 5


def test_an_environment_of_ones_own_is_found_with_and_without_its_module() -> None:
    dataset = TrajectoryDataset([episode(1, env_id="tests.toy:tests/Guess-v0")])
    for name in ("tests.toy:tests/Guess-v0", "tests/Guess-v0"):
        assert len(dataset.filter(envs=name)) == 1


def test_a_filter_that_can_keep_nothing_is_an_error() -> None:
    dataset = TrajectoryDataset([episode()])
    with pytest.raises(UnknownEnvironment, match="Did you mean TextCraft"):
        dataset.filter(envs="textcrafft")
    with pytest.raises(InvalidConfig, match="keeps nothing"):
        dataset.filter(splits=[])


def test_dedupe_keeps_the_best_and_not_the_first() -> None:
    worst, longer, best = episode(1, 0.2), episode(1, 1.0, rounds=4), episode(1, 1.0, rounds=2)
    other = episode(0, 0.1)
    for order in ([worst, longer, best, other], [best, other, longer, worst]):
        kept = TrajectoryDataset(order).dedupe()
        assert list(kept) == [best, other]
    assert list(TrajectoryDataset([other, worst, best]).dedupe()) == [other, best]


def test_dedupe_tells_tasks_apart_by_more_than_their_id() -> None:
    same_id = [
        episode(1),
        episode(1, edition="official"),
        episode(1, tasks_digest="d2"),
        episode(1, env_id="tests/Run-v0"),
    ]
    assert list(TrajectoryDataset(same_id).dedupe()) == same_id


attempts = st.builds(
    episode,
    task=st.integers(0, 3),
    score=st.sampled_from([0.0, 0.5, 1.0]),
    rounds=st.integers(0, 3),
    attempt=st.integers(0, 2),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(attempts, max_size=12), st.randoms(use_true_random=False))
def test_dedupe_keeps_the_same_whatever_the_order(found: list, rng: random.Random) -> None:
    kept = TrajectoryDataset(found).dedupe()
    shuffled = list(found)
    rng.shuffle(shuffled)
    again = TrajectoryDataset(shuffled).dedupe()
    assert sorted(e.digest for e in kept) == sorted(e.digest for e in again)
    assert kept.dedupe() == kept
    for e in found:
        winner = next(k for k in kept if k.task_id == e.task_id)
        assert (winner.score, -winner.rounds) >= (e.score, -e.rounds)


def test_merging_keeps_the_order_and_leaves_repeats_out() -> None:
    one = TrajectoryDataset([episode(1), episode(2)], About(name="one", licence="MIT", source="a"))
    two = TrajectoryDataset([episode(2), episode(3)], About(name="two", licence="MIT", source="b"))
    both = one.merge(two, name="both")
    assert [e.task_id for e in both] == ["walk_1", "walk_2", "walk_3"]
    assert both.about == About(name="both", licence="MIT", source="a; b")


def test_merging_refuses_two_meanings_of_one_task() -> None:
    one = TrajectoryDataset([episode(1)])
    with pytest.raises(InvalidTrajectories, match="one task id means two"):
        one.merge(TrajectoryDataset([episode(2, tasks_digest="d2")]))
    # Published data does not say which task set it is of, and can be merged.
    assert len(one.merge(TrajectoryDataset([episode(2, tasks_digest="")]))) == 2
    assert issubclass(InvalidTrajectories, AgentGymError)


def test_statistics_by_environment_and_edition() -> None:
    paid = Step(
        reply="x", observation="y", valid=False, usage=Usage(input_tokens=10, output_tokens=3)
    )
    rows = TrajectoryDataset(
        [
            episode(1, 1.0, rounds=2),
            episode(1, 0.5, rounds=4, attempt=1),
            episode(2, 0.0, edition="official", steps=(paid,), status="failed"),
        ]
    ).stats()
    mini, official = rows
    assert (mini.edition, mini.episodes, mini.tasks) == ("mini", 2, 1)
    assert (mini.success, mini.score, mini.rounds, mini.invalid) == (0.5, 0.75, 3.0, 0.0)
    assert (official.input_tokens, official.output_tokens, official.invalid) == (10, 3, 1.0)
    assert official.statuses == {"failed": 1}
    assert TrajectoryDataset().stats() == []


def test_the_card_says_what_is_inside() -> None:
    dataset = TrajectoryDataset(
        [episode(1), episode(2, agent="random", tasks_digest="d2"), episode(3)]
    )
    card = dataset.card
    assert [(t.env_id, t.digest) for t in card.task_sets] == [
        ("tests/Walk-v0", "d1"),
        ("tests/Walk-v0", "d2"),
    ]
    assert card.agents == ("expert", "random")
    assert card.action_formats == ("react",)
    assert card.episodes == 3


def test_slices_are_datasets_and_equality_looks_at_content() -> None:
    dataset = TrajectoryDataset([episode(i) for i in range(4)], About(name="n"))
    assert dataset[1:3] == TrajectoryDataset([episode(1), episode(2)], About(name="n"))
    assert dataset[-1].task_id == "walk_3"
    assert dataset != dataset.describe(name="m")
    assert hash(dataset) == hash(TrajectoryDataset(list(dataset), About(name="n")))
