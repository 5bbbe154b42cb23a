"""Agents and environments of anyone's making, and what they hand the engine by mistake."""

from __future__ import annotations

import asyncio
import time

import numpy as np
import pytest

from agentgym.agents import ChatAgent, Message, Reply, Usage
from agentgym.agents.expert import ExpertAgent
from agentgym.agents.message import ToolCall
from agentgym.core.errors import InvalidConfig
from agentgym.rollout.cassette import RecordedAgent
from agentgym.rollout.engine import rollout
from agentgym.rollout.limits import BudgetExceeded, Limits
from agentgym.rollout.plan import EnvChoice, plan
from agentgym.rollout.store import RunFolder
from tests.models import ScriptedModel, halving
from tests.toy import GuessEnv

GUESS = EnvChoice(env_id="tests.toy:tests/Guess-v0")


class Says(ChatAgent):
    """Returns the same thing, whatever it is."""

    name = "says"

    def __init__(self, reply) -> None:
        self.reply = reply

    async def complete(self, messages, **kwargs):
        return self.reply


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize(
    "reply",
    [
        None,
        "Action: guess 1",
        Message("assistant", "guess 1"),
        Reply(None),
        Reply(5),
        Reply("x", reasoning=None),
        Reply("x", tool_calls="abc"),
        Reply("", tool_calls=(ToolCall("guess", {"number": 1}),)),
        Reply("", tool_calls=(ToolCall(None, "{}"),)),
        Reply("x", usage=None),
        Reply("x", usage=Usage(output_tokens="2")),
        Reply("x", usage=Usage(input_tokens=-5)),
        Reply("x", usage=Usage(cost=float("nan"))),
        Reply("x", usage=Usage(cost=-1.0)),
        Reply("x", sampled="tokens"),
    ],
    ids=repr,
)
def test_what_is_no_reply_is_a_failed_episode(reply, recorded, tmp_path):
    model = Says(reply)
    if recorded:
        model = RecordedAgent(model, tmp_path / "tape.jsonl", "record")
    with RunFolder.create(tmp_path / "run", {}) as run:
        jobs = plan([GUESS], tasks=2)
        episodes = rollout(jobs, model, run=run, limits=Limits(retries=0))
        assert sorted(run.episodes(), key=lambda e: e.key) == sorted(episodes, key=lambda e: e.key)
    assert {(e.status, e.failure.where) for e in episodes} == {("failed", "model")}
    RecordedAgent(Says(None), tmp_path / "tape.jsonl", "cache")  # the tape, if any, is sound


@pytest.mark.parametrize(
    "bad", [{"valid": np.array([1, 2])}, {"observation": None}, {"score": "1"}]
)
@pytest.mark.parametrize("chat", [True, False])
def test_an_environments_bad_answer_is_a_failed_episode(bad, chat, monkeypatch):
    act = GuessEnv._act
    monkeypatch.setattr(GuessEnv, "_act", lambda self, action: act(self, action)._replace(**bad))
    agent = ScriptedModel(halving) if chat else ExpertAgent()
    episode = rollout(plan([GUESS], tasks=1), agent)[0]
    assert (episode.status, episode.failure.where) == ("failed", "environment")


def test_a_model_that_never_answers_is_cut_off_by_the_time_limit(tmp_path):
    class Silent(ScriptedModel):
        async def complete(self, messages, **kwargs):
            if self.calls >= 8:
                await asyncio.sleep(3_600)
            return await super().complete(messages, **kwargs)

    begin = time.monotonic()
    with (
        RunFolder.create(tmp_path, {}) as run,
        pytest.raises(BudgetExceeded, match="time limit"),
    ):
        rollout(plan([GUESS]), Silent(halving), run=run, limits=Limits(seconds=0.5), concurrency=1)
    assert time.monotonic() - begin < 10
    assert RunFolder.open(tmp_path).episodes(), "what had finished is kept"


@pytest.mark.parametrize("concurrency", [0, -1, 1.5, "4", None, True])
def test_concurrency_is_a_count(concurrency):
    with pytest.raises(InvalidConfig, match="concurrency"):
        rollout(plan([GUESS], tasks=1), ScriptedModel(halving), concurrency=concurrency)


@pytest.mark.parametrize("count", [1.5, "4", True])
def test_the_numbers_of_a_plan_are_counts(count):
    with pytest.raises(InvalidConfig, match="tasks"):
        plan([GUESS], tasks=count)
    with pytest.raises(InvalidConfig, match="attempts"):
        plan([GUESS], attempts=count)
