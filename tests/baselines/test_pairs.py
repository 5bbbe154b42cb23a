"""Which attempts pair: same task, same prompt, scores far enough apart."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym.baselines.pairs import PairConfig, choose_pairs
from agentgym.rollout.episode import Episode, Failure, Step


def attempt(task: int, number: int, score: float, rounds: int = 2, **changes: Any) -> Episode:
    steps = tuple(Step(reply=f"a{number}", observation="o", score=score) for _ in range(rounds))
    return Episode(
        env_id="agentgym/Maze-v0",
        edition="mini",
        task_id=f"maze_{task}",
        attempt=number,
        agent="policy",
        instructions="Rules.",
        acknowledgement="OK.",
        observation=f"Task {task}.",
        steps=steps,
        score=score,
        success=score == 1.0,
        **changes,
    )


attempts = st.lists(
    st.builds(
        attempt,
        st.integers(0, 3),
        st.integers(0, 50),
        st.sampled_from([0.0, 0.05, 0.3, 0.5, 0.89, 0.9, 0.95, 1.0]),
        st.integers(1, 3),
    ),
    max_size=14,
    unique_by=lambda e: (e.task_id, e.attempt),
)


@given(attempts, st.sampled_from([0.05, 0.1, 0.5]), st.sampled_from([0.5, 0.9]), st.integers(1, 3))
def test_pairs_keep_what_they_promise(
    episodes: list[Episode], gap: float, winner: float, most: int
) -> None:
    pairs, report = choose_pairs(episodes, PairConfig(gap=gap, winner=winner, per_task=most))
    used: list[int] = []
    for chosen, rejected in pairs:
        assert chosen.task_id == rejected.task_id
        assert chosen.observation == rejected.observation
        assert chosen.score >= winner
        assert chosen.score - rejected.score >= gap - 1e-9
        used += [id(chosen), id(rejected)]
    assert len(used) == len(set(used))
    # A slow reference: a task has a pair exactly if any two of its attempts could make one.
    for task in {e.task_id for e in episodes}:
        mine = [e for e in episodes if e.task_id == task]
        could = any(
            a.score >= winner and a.score - b.score >= gap - 1e-9 for a, b in product(mine, mine)
        )
        found = [p for p in pairs if p.chosen.task_id == task]
        assert bool(found) == could
        assert len(found) <= most
        if found:
            assert found[0].chosen.score == max(e.score for e in mine)
            assert found[0].rejected.score == min(e.score for e in mine)
    without = report.single + report.no_winner + report.no_gap
    assert report.tasks == without + len({p.chosen.task_id for p in pairs})
    assert report.pairs == len(pairs)


def test_of_equals_the_winner_with_fewer_rounds_and_then_the_first_attempt_pairs() -> None:
    episodes = [
        attempt(0, 2, 1.0, rounds=5), attempt(0, 1, 1.0, rounds=2), attempt(0, 0, 1.0, rounds=2),
        attempt(0, 4, 0.0), attempt(0, 3, 0.0),
    ]  # fmt: skip
    ((chosen, rejected),), _ = choose_pairs(episodes, PairConfig())
    assert (chosen.attempt, rejected.attempt) == (0, 3)


@pytest.mark.parametrize(
    "changes",
    [
        {"instructions": "Other rules."},
        {"observation": "Another start."},
        {"tasks_digest": "ff"},
        {"env_options": {"size": [5, 5]}},
        {"edition": "official"},
    ],
)
def test_attempts_that_were_asked_something_else_do_not_pair(changes: dict[str, Any]) -> None:
    other = attempt(0, 1, 0.0).model_copy(update=changes)
    pairs, report = choose_pairs([attempt(0, 0, 1.0), other], PairConfig())
    assert pairs == []
    assert report.single == 2
    assert report.prompts == ("instructions" in changes or "observation" in changes)


def test_broken_episodes_and_those_without_a_reply_pair_with_nothing() -> None:
    failure = Failure(where="model", type="ModelError", message="gone")
    broken = attempt(0, 1, 0.0, status="failed", failure=failure)
    pairs, report = choose_pairs([attempt(0, 0, 1.0), broken, attempt(0, 2, 0.0, 0)], PairConfig())
    assert pairs == []
    assert report.failed == 2
    assert "2 episodes broke" in str(report)


def test_the_published_settings_are_the_defaults() -> None:
    assert PairConfig() == PairConfig(gap=0.1, winner=0.9, per_task=1)
    pairs, _ = choose_pairs([attempt(0, 0, 1.0), attempt(0, 1, 0.9)], PairConfig())
    assert len(pairs) == 1  # 1.0 - 0.9 falls short of 0.1 in binary fractions, not in decimals
