"""Agents and environments of anyone's making, and what they hand the engine by mistake."""

from __future__ import annotations

import asyncio
import time

import numpy as np
import pytest

from agentgym.agents import ChatAgent, Message, Reply, Usage
from agentgym.agents.expert import ExpertAgent
from agentgym.agents.message import Sampled, ToolCall
from agentgym.agents.replay import ReplayAgent
from agentgym.core.errors import InvalidConfig
from agentgym.rollout.cassette import CassetteError, RecordedAgent
from agentgym.rollout.engine import rollout
from agentgym.rollout.limits import BudgetExceeded, Limits
from agentgym.rollout.plan import EnvChoice, plan
from agentgym.rollout.store import RunFolder, RunFolderError
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
        Reply("x", sampled=Sampled((1,), (2,), (float("-inf"),))),
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
def test_an_environments_bad_answer_is_a_failed_episode(bad, chat, monkeypatch, tmp_path):
    act = GuessEnv._act
    monkeypatch.setattr(GuessEnv, "_act", lambda self, action: act(self, action)._replace(**bad))
    agent = ScriptedModel(halving) if chat else ExpertAgent()
    with RunFolder.create(tmp_path, {}) as run:
        episode = rollout(plan([GUESS], tasks=1), agent, run=run)[0]
    assert (episode.status, episode.failure.where) == ("failed", "environment")
    assert RunFolder.open(tmp_path).episodes() == [episode]


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


def test_a_tape_that_cannot_be_written_stops_the_run(tmp_path):
    agent = RecordedAgent(ScriptedModel(halving), tmp_path, "record")
    with pytest.raises(CassetteError, match="cannot be recorded to"):
        rollout(plan([GUESS], tasks=1), agent)


@pytest.mark.parametrize("nested", ["[" * 100_000, '{"key":' * 100_000])
def test_json_nested_without_end_is_refused_like_other_damage(nested, tmp_path):
    (tmp_path / "config.json").write_text(nested)
    with pytest.raises(RunFolderError, match="nested too deeply"):
        RunFolder.open(tmp_path)
    (tmp_path / "tape.jsonl").write_text(nested + "\n")
    with pytest.raises(CassetteError, match="line 1"):
        RecordedAgent(ScriptedModel(halving), tmp_path / "tape.jsonl", "replay")


def test_a_task_id_of_thousands_of_digits_can_be_ordered(tmp_path):
    with RunFolder.create(tmp_path, {}) as run:
        episode = rollout(plan([GUESS], tasks=1), ExpertAgent(), run=run)[0]
        run.append(episode.model_copy(update={"task_id": "guess_" + "9" * 5_000}))
        assert len(run.episodes()) == 2


def test_unusual_line_ends_inside_an_episode_do_not_split_it(tmp_path):
    odd = "one\u2028two\u0085three\x1cfour"
    model = ScriptedModel(lambda messages, seed: f"{odd}\nAction: guess 7")
    episodes = rollout(plan([GUESS], tasks=2), model)
    path = tmp_path / "episodes.jsonl"
    path.write_text("".join(e.model_dump_json() + "\n" for e in episodes), encoding="utf-8")
    again = rollout(plan([GUESS], tasks=2), ReplayAgent(path))
    assert [e.actions for e in again] == [e.actions for e in episodes]


def test_a_slip_of_the_finger_does_not_fill_the_memory():
    with pytest.raises(InvalidConfig, match="at most"):
        plan([GUESS], attempts=10**20)
