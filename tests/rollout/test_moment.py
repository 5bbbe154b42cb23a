"""Playing on from the middle of an episode."""

from __future__ import annotations

from typing import Any

import pytest

from agentgym.agents.build import build_agent
from agentgym.core import make
from agentgym.rollout import EnvChoice, rollout
from agentgym.rollout.plan import Job, Moment
from tests.baselines.episodes import record
from tests.models import ScriptedModel, halving

GUESS = "tests.toy:tests/Guess-v0"
PLAYED = ["guess 25", "guess 12"]


def job(rounds: int | None = None, attempt: int = 0) -> Job:
    """Return a job that goes on after two guesses."""
    episode = record(GUESS, "guess_3", PLAYED)
    env = make(GUESS)
    env.reset(seed=3, options={"task_id": "guess_3"})
    for action in PLAYED:
        env.step(action)
    moment = Moment(env.get_state(), episode.observation, episode.steps, rounds)
    assert env.task is not None
    task = env.task
    env.close()
    return Job(EnvChoice(env_id=GUESS), task, attempt, 3, 7, moment)


@pytest.mark.parametrize("executor", ["inline", "thread", "process"])
def test_a_program_goes_on_where_the_snapshot_stands(executor: str) -> None:
    (whole,) = rollout([job()._replace(moment=None)], build_agent("expert"))
    jobs = [job(attempt=n) for n in range(2)]
    for episode in rollout(jobs, build_agent("expert"), executor=executor):
        assert (episode.status, episode.success) == ("completed", True)
        assert episode.score > 0
        assert 0 < episode.rounds < whole.rounds


def test_a_model_is_shown_what_went_before() -> None:
    seen: list[list[Any]] = []

    def reads(messages: Any, seed: int) -> str:
        seen.append([m.content for m in messages[2:]])
        return halving(messages, seed)

    (episode,) = rollout([job()], ScriptedModel(reads))
    before = record(GUESS, "guess_3", PLAYED)
    past = [text for step in before.steps for text in (step.reply, step.observation)]
    assert seen[0] == [before.observation, *past]
    assert episode.success
    assert episode.observation == before.steps[-1].observation
    assert episode.rounds == len(seen)


def test_no_more_rounds_are_played_than_asked_for() -> None:
    (episode,) = rollout([job(rounds=1)], ScriptedModel(lambda *_: "Action: guess 1"))
    assert episode.rounds == 1
    assert (episode.status, episode.terminated, episode.truncated) == ("completed", False, False)
    assert episode.score == 0.0
