"""A policy in this process plays on where there are fewer places than episodes at a time."""

from __future__ import annotations

import threading
from typing import Any

import pytest
import torch

from agentgym.baselines.config import SamplingConfig
from agentgym.baselines.sampling import Samples, make_groups, sample_groups
from agentgym.rollout import engine as rollout_engine
from agentgym.rollout.fleet import Fleet
from agentgym.rollout.plan import EnvChoice
from agentgym.rollout.workers import InlineWorker, Worker
from tests.baselines.bandit import talker
from tests.baselines.test_sampling import GUESS, engine_of


class Narrow(Fleet):
    """A fleet of one worker with two places, as a simulator on a Ray cluster has so many."""

    def take(self, choice: EnvChoice) -> Worker | None:
        return super().take(choice) if sum(self._load.values()) < 2 else None


def play(patch: pytest.MonkeyPatch, made: Any) -> tuple[Samples, list[int]]:
    torch.set_num_threads(1)
    patch.setattr(rollout_engine, "make_fleet", lambda *_, **__: made())
    engine, asked = engine_of(talker()), list[int]()
    answer = engine.answer_batch

    def spy(asks: Any) -> Any:
        asked.append(len(asks))
        return answer(asks)

    patch.setattr(engine, "answer_batch", spy)
    sampling = SamplingConfig(temperature=1.0, concurrency=4)
    try:
        return sample_groups(make_groups([GUESS], 2, seed=1), 3, engine, sampling, seed=5), asked
    finally:
        engine.close()


def within(seconds: float, run: Any) -> Any:
    """Return what something gives, or fail where it hangs."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(run()), daemon=True)
    thread.start()
    thread.join(seconds)
    assert not thread.is_alive(), "it hangs"
    return found[0]


def test_fewer_places_than_episodes_at_a_time_do_not_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    narrow, asked = within(120, lambda: play(monkeypatch, lambda: Narrow([InlineWorker()])))
    assert not narrow.left_out
    assert len(narrow.trajectories) == 6
    assert max(asked) == 2, "those who have a place are answered together"
    again, too = play(monkeypatch, lambda: Narrow([InlineWorker()]))
    assert asked == too
    assert [t.logprobs for t in again.trajectories] == [t.logprobs for t in narrow.trajectories]
    wide, all_asked = play(monkeypatch, lambda: Fleet([InlineWorker()]))
    assert max(all_asked) == 4
    assert [t.completion_ids for t in wide.trajectories] == [
        t.completion_ids for t in narrow.trajectories
    ]
