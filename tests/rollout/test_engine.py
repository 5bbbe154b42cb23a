"""The engine: same records at any concurrency, nothing lost, nothing invented."""

from __future__ import annotations

import asyncio
import importlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from agentgym.agents import Agent, ContextOverflow, Message, ModelError, Reply, ToolCall
from agentgym.agents.expert import ExpertAgent
from agentgym.agents.random import RandomAgent
from agentgym.core.errors import InvalidConfig
from agentgym.rollout import (
    BudgetExceeded,
    EnvChoice,
    Limits,
    RunFolder,
    arollout,
    plan,
    rollout,
)
from agentgym.rollout.events import CallRetried, EpisodeFinished, StepTaken
from tests.models import ScriptedModel, halving, seeded

GUESS = EnvChoice(env_id="tests.toy:tests/Guess-v0")
ROOT = Path(__file__).parents[2]


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path / "run", {"name": "test"})


def test_expert_solves_everything():
    episodes = rollout(plan([GUESS]), ExpertAgent())
    assert len(episodes) == 20
    assert all(e.success and e.score == 1.0 and e.status == "completed" for e in episodes)
    assert all(step.thought for e in episodes for step in e.steps)


def test_model_plays_from_the_conversation_alone():
    model = ScriptedModel(halving)
    episodes = rollout(plan([GUESS]), model)
    assert all(e.success for e in episodes)
    assert model.calls == sum(e.rounds for e in episodes)
    assert len(model.released) == len(episodes)
    assert episodes[0].usage.output_tokens == 5 * episodes[0].rounds


@pytest.mark.parametrize("agent", [RandomAgent(), ScriptedModel(seeded)], ids=["random", "model"])
def test_identical_at_any_concurrency(agent):
    jobs = plan([GUESS], attempts=3)
    digests = [
        [e.digest for e in rollout(jobs, agent, concurrency=concurrency)]
        for concurrency in (1, 16, 64)
    ]
    assert digests[0] == digests[1] == digests[2]
    assert len(set(digests[0])) > 20, "attempts at a task should differ"


@pytest.mark.parametrize("executor", ["thread", "process", "ray"])
def test_executors_give_the_same_records(executor, monkeypatch):
    if executor == "ray":
        pytest.importorskip("ray")
        # Not a cluster on this machine that other tests are breaking just now.
        monkeypatch.setenv("RAY_ADDRESS", "local")
    jobs = plan([GUESS], tasks=6)
    for agent in (ExpertAgent(), ScriptedModel(halving)):
        inline = [e.digest for e in rollout(jobs, agent, executor="inline")]
        other = [e.digest for e in rollout(jobs, agent, executor=executor, concurrency=3)]
        assert inline == other


def test_seeds_do_not_depend_on_the_rest_of_the_plan():
    whole = {j.key: (j.seed, j.agent_seed) for j in plan([GUESS], attempts=2)}
    part = plan([GUESS], task_ids=["guess_4", "guess_0"])
    assert [whole[j.key] for j in part] == [(j.seed, j.agent_seed) for j in part]
    assert len({j.agent_seed for j in plan([GUESS], attempts=2)}) == 40


def test_plan_refuses_what_cannot_be():
    with pytest.raises(InvalidConfig, match="belongs to none"):
        plan([GUESS], task_ids=["maze_1"])
    with pytest.raises(InvalidConfig, match="attempts"):
        plan([GUESS], attempts=0)
    jobs = plan([GUESS])
    with pytest.raises(InvalidConfig, match="twice"):
        rollout([*jobs, jobs[0]], ExpertAgent())


def test_unreadable_reply_costs_a_round_and_is_answered():
    model = ScriptedModel(lambda messages, seed: "I do not know.")
    episode = rollout(plan([GUESS], tasks=1), model)[0]
    assert episode.rounds == episode.max_rounds == 8
    assert episode.truncated
    assert episode.actions == (None,) * 8
    assert "Action:" in episode.steps[0].observation
    assert episode.invalid_actions == 8


def test_events_tell_every_round():
    events = []
    episodes = rollout(plan([GUESS], tasks=4), ScriptedModel(halving), on_event=events.append)
    steps = [e for e in events if isinstance(e, StepTaken)]
    assert len(steps) == sum(e.rounds for e in episodes)
    assert sum(isinstance(e, EpisodeFinished) for e in events) == 4


def test_what_is_no_utf8_is_recorded_all_the_same(run):
    jobs = plan([GUESS], tasks=2)
    reply = "Thought: \ud800\nAction: guess \udfff"
    episodes = rollout(jobs, ScriptedModel(lambda messages, seed: reply), run=run)
    assert run.episodes() == episodes
    assert episodes[0].steps[0].action == "guess \ufffd"


class Caller(ScriptedModel):
    """Calls the tool with arguments of its own spelling."""

    supports_tools = True

    async def complete(self, messages: Sequence[Message], **kwargs):
        return Reply("Here:", (ToolCall("guess", self.script(messages, 0), "call_0"),))


HOSTILE = {
    "an escaped surrogate": '{"number": "\\ud800"}',
    "a surrogate as a name": '{"\\udfff": 1}',
    "endless brackets": '{"number": ' + "[" * 50_000,
    "deep brackets": '{"number": ' + "[" * 900 + "]" * 900 + "}",
    "endless digits": '{"number": ' + "9" * 5_000 + "}",
    "digits as text": '{"number": "' + "9" * 5_000 + '"}',
}


@pytest.mark.parametrize("arguments", HOSTILE.values(), ids=HOSTILE.keys())
def test_no_tool_call_stops_a_run(arguments, run):
    jobs = plan([GUESS], tasks=2)
    model = Caller(lambda messages, seed: arguments)
    episodes = rollout(jobs, model, run=run, action_format="function_calling")
    assert run.episodes() == episodes
    assert all(e.truncated and e.invalid_actions == 8 for e in episodes)
    assert all(len(step.observation) < 500 for e in episodes for step in e.steps)


@pytest.mark.parametrize(
    ("action_format", "reply"),
    [
        ("react", "guess " + "9" * 5_000),
        ("function_calling", '{"function_name": "guess", "arguments": {"number": "\\ud800"}}'),
        ("function_calling", '{"function_name": "' + "x" * 50_000 + '", "arguments": {}}'),
        ("code_as_action", "guess(number='\\ud800')"),
        ("code_as_action", "guess(number={'b', 'a'})"),
        ("code_as_action", f"guess(number=0x{'f' * 5_000})"),
    ],
)
def test_no_reply_stops_a_run(action_format, reply, run):
    model = ScriptedModel(lambda messages, seed: reply)
    episodes = rollout(plan([GUESS], tasks=2), model, run=run, action_format=action_format)
    assert run.episodes() == episodes
    assert all(e.truncated and e.invalid_actions == 8 for e in episodes)
    assert all(len(step.observation) < 500 for e in episodes for step in e.steps)


class Flaky(ScriptedModel):
    """Fails the first calls, then works."""

    def __init__(self, failures: int, *, retryable: bool = True) -> None:
        super().__init__(halving)
        self.left, self.retryable = failures, retryable

    async def complete(self, messages: Sequence[Message], **kwargs):
        if self.left > 0:
            self.left -= 1
            raise ModelError("busy", retryable=self.retryable, retry_after=0.001)
        return await super().complete(messages, **kwargs)


def test_failed_calls_are_retried():
    events = []
    episode = rollout(plan([GUESS], tasks=1), Flaky(3), on_event=events.append)[0]
    assert episode.success
    assert sum(isinstance(e, CallRetried) for e in events) == 3


@pytest.mark.parametrize("agent", [Flaky(99), Flaky(1, retryable=False)], ids=["spent", "final"])
def test_a_call_that_stays_broken_is_recorded_as_failed(agent, run):
    episode = rollout(plan([GUESS], tasks=1), agent, run=run, limits=Limits(retries=2))[0]
    assert episode.status == "failed"
    assert episode.failure.where == "model"
    assert episode.failure.message == "busy"
    assert episode.score == 0.0
    assert run.episodes() == [episode]
    assert run.finished() == set(), "a failed attempt is played again by the next sitting"


def test_context_overflow_ends_the_episode_with_what_it_has():
    def script(messages, seed):
        if len(messages) > 5:
            raise ContextOverflow("too long")
        return "Action: guess 50"

    episode = rollout(plan([GUESS], task_ids=["guess_2"]), ScriptedModel(script))[0]
    assert episode.status == "limit"
    assert episode.rounds == 2
    assert episode.failure.type == "ContextOverflow"


class Broken(Agent):
    name = "broken"

    def act(self, observation, info):
        raise ZeroDivisionError("own bug")


def test_a_broken_agent_is_data_until_it_is_a_pattern(run):
    with pytest.raises(BudgetExceeded, match="own bug"):
        rollout(plan([GUESS]), Broken(), run=run, limits=Limits(failures=3), concurrency=1)
    episodes = run.episodes()
    assert len(episodes) == 3
    assert {e.failure.where for e in episodes} == {"agent"}


def test_budgets_stop_the_run_and_keep_what_finished(run):
    jobs = plan([GUESS])
    with pytest.raises(BudgetExceeded, match="200 tokens"):
        rollout(jobs, ScriptedModel(halving), run=run, limits=Limits(tokens=200), concurrency=1)
    before = run.episodes()
    assert 0 < len(before) < len(jobs)
    model = ScriptedModel(halving)
    episodes = rollout(jobs, model, run=run)
    assert len(episodes) == len(jobs)
    assert model.calls == sum(e.rounds for e in episodes) - sum(e.rounds for e in before)


def test_episode_budget_ends_one_episode():
    episode = rollout(
        plan([GUESS], tasks=1),
        ScriptedModel(lambda messages, seed: "Action: guess 50"),
        limits=Limits(episode_tokens=30),
    )[0]
    assert episode.status == "limit"
    assert episode.rounds == 2


def test_a_returned_none_forfeits_the_round():
    class Silent(Agent):
        name = "silent"

        def act(self, observation, info):
            return None

    episode = rollout(plan([GUESS], tasks=1), Silent())[0]
    assert episode.actions == (None,) * 8


def test_streams_as_episodes_finish():
    async def first_two():
        seen = []
        async for episode in arollout(plan([GUESS]), ScriptedModel(halving), concurrency=2):
            seen.append(episode)
            if len(seen) == 2:
                break
        return seen

    assert len(asyncio.run(first_two())) == 2


def test_runs_inside_a_running_loop():
    async def notebook():
        return rollout(plan([GUESS], tasks=2), ExpertAgent())

    assert len(asyncio.run(notebook())) == 2


WORKER_KILLER = """
import os, signal
from agentgym.agents import Agent
class Killer(Agent):
    name = "killer"
    def act(self, observation, info):
        if {always} or not os.path.exists({flag!r}):
            open({flag!r}, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return "guess 1"
"""


@pytest.mark.parametrize("always", [False, True], ids=["once", "always"])
def test_a_worker_that_dies_is_replaced(always, tmp_path, monkeypatch):
    name = f"killer_{always}".lower()
    code = WORKER_KILLER.format(flag=str(tmp_path / "flag"), always=always)
    (tmp_path / f"{name}.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    agent = importlib.import_module(name).Killer()
    jobs = plan([GUESS], tasks=2 if always else 4)
    episodes = rollout(jobs, agent, executor="process", concurrency=1)
    assert [e.status for e in episodes] == ["failed" if always else "completed"] * len(jobs)
    if always:
        assert {e.failure.type for e in episodes} == {"WorkerDied"}
        assert [e.task_id for e in episodes] == [job.task.id for job in jobs]


SLOW_RUN = """
import asyncio, sys
import tests.toy
from agentgym.rollout import EnvChoice, RunFolder, plan, rollout
from tests.models import ScriptedModel, halving

class Slow(ScriptedModel):
    async def complete(self, messages, **kwargs):
        await asyncio.sleep(0.01)
        return await super().complete(messages, **kwargs)

jobs = plan([EnvChoice(env_id="tests.toy:tests/Guess-v0")], attempts=5)
with RunFolder.create(sys.argv[1], {"name": "slow"}) as run:
    rollout(jobs, Slow(halving), run=run, concurrency=4)
"""


def test_kill_9_loses_no_finished_episode(tmp_path):
    folder = tmp_path / "run"
    command = [sys.executable, "-c", SLOW_RUN, str(folder)]
    process = subprocess.Popen(command, cwd=ROOT)
    log = folder / "episodes.jsonl"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if log.exists() and log.read_bytes().count(b"\n") >= 15:
            break
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    before = RunFolder.open(folder).episodes()
    assert 15 <= len(before) < 100
    with log.open("ab") as file:
        file.write(b'{"schema_version":1,"env_id":"torn')
    subprocess.run(command, cwd=ROOT, check=True, timeout=120)
    lines = log.read_bytes().splitlines()
    after = RunFolder.open(folder).episodes()
    assert len(lines) == len(after) == 100, "an attempt was played twice or lost"
    assert [e for e in after if e.key in {b.key for b in before}] == before
    fresh = rollout(plan([GUESS], attempts=5), ScriptedModel(halving))
    assert [e.digest for e in after] == [e.digest for e in fresh]
