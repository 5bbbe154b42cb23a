"""Evaluation end to end: the toy environment, TextCraft, stops, resumes, tapes."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import agentgym
import tests.toy  # noqa: F401  (registers tests/Guess-v0)
from agentgym.agenteval import aevaluate, evaluate, load_run
from agentgym.agenteval.report import Report
from agentgym.agents import Agent, ChatAgent, Message, ModelError, Reply, Usage
from agentgym.agents.expert import ExpertAgent
from agentgym.agents.random import RandomAgent
from agentgym.core import AgentGymError
from agentgym.core.errors import InvalidConfig, UnknownEnvironment
from agentgym.rollout.cassette import CassetteMiss, RecordedAgent
from agentgym.rollout.events import EpisodeFinished, RunStarted
from agentgym.rollout.limits import Limits
from agentgym.rollout.plan import EnvChoice

GUESS = "tests.toy:tests/Guess-v0"


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


class Model(ChatAgent):
    """Halves the interval it has been told, in words."""

    name = "halver"

    def __init__(self, broken: Sequence[int] = ()) -> None:
        self.calls, self.broken = 0, broken

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        episode: str = "",
        seed: int = 0,
    ) -> Reply:
        self.calls += 1
        if self.calls in self.broken:
            raise ModelError("the line is dead")
        low, high, last = 1, 50, 0
        for message in messages[3:]:
            if message.role == "assistant":
                last = int(message.content.split()[-1])
            elif "higher" in message.content:
                low = last + 1
            elif "lower" in message.content:
                high = last - 1
        text = f"Thought: halve it\nAction: guess {(low + high) // 2}"
        return Reply(text, usage=Usage(100, 10, calls=1, cost=0.001))


def test_three_lines_are_enough() -> None:
    result = agentgym.evaluate(ExpertAgent(), envs=[GUESS])
    (row,) = result.report.rows
    assert row.total.success.value == 1.0
    assert (row.total.tasks, row.planned, result.complete) == (20, 20, True)
    assert result.path == Path("runs/expert-guess-1")


def test_text_makes_an_agent_and_a_name_an_environment() -> None:
    result = evaluate("expert", envs="textcraft", tasks=4)
    assert result.report.rows[0].total.success.value == 1.0
    assert result.report.rows[0].published_size == 100
    assert len(result.report.rows[0].kinds) > 1


def test_the_folder_says_how_the_numbers_were_made() -> None:
    result = evaluate(RandomAgent(), envs=[GUESS], tasks=5, attempts=2, seed=3)
    assert sorted(p.name for p in result.path.iterdir() if p.name != ".lock") == [
        "config.json", "episodes.jsonl", "report.json", "report.md",
    ]  # fmt: skip
    config = json.loads((result.path / "config.json").read_text())
    facts = config["task_sets"][GUESS]
    assert facts["digest"] == result.episodes[0].tasks_digest
    assert config["seed"] == 3
    assert config["versions"]["gymnasium"]
    assert config["created_with"] == agentgym.__version__
    report = Report.model_validate_json((result.path / "report.json").read_text())
    assert report == result.report == load_run(result.path).report
    text = (result.path / "report.md").read_text()
    assert "mini edition" in text
    assert "best@2" in text
    assert facts["digest"][:16] in text


def test_the_same_evaluation_gives_the_same_numbers() -> None:
    first = evaluate(RandomAgent(), envs=[GUESS], attempts=2, run="a", concurrency=1)
    second = evaluate(RandomAgent(), envs=[GUESS], attempts=2, run="b", concurrency=16)
    assert first.report == second.report
    assert [e.digest for e in first.episodes] == [e.digest for e in second.episodes]


def test_a_complete_run_is_followed_by_the_next_number() -> None:
    paths = [evaluate(ExpertAgent(), envs=[GUESS], tasks=2).path.name for _ in range(2)]
    assert paths == ["expert-guess-1", "expert-guess-2"]


def test_a_stopped_run_says_so_and_the_same_call_continues_it() -> None:
    stopped = evaluate(Model(), envs=[GUESS], limits=Limits(tokens=3000), concurrency=1)
    assert not stopped.complete
    assert "tokens is spent" in stopped.report.stopped
    assert any("have not been played" in w for w in stopped.report.warnings)
    before = len(stopped.episodes)
    assert 0 < before < 20
    events: list[Any] = []
    model = Model()
    result = evaluate(model, envs=[GUESS], on_event=events.append)
    assert result.path == stopped.path
    assert result.complete
    assert result.report.stopped == ""
    assert isinstance(events[0], RunStarted)
    assert (events[0].total, len(events[0].recalled)) == (20, before)
    assert sum(isinstance(e, EpisodeFinished) for e in events) == 20 - before
    assert result.report == evaluate(Model(), envs=[GUESS], run="whole").report


def test_failed_episodes_are_kept_and_tried_again_when_asked() -> None:
    limits = Limits(retries=0)
    model = Model(broken=range(1, 4))
    broken = evaluate(model, envs=[GUESS], run="r", limits=limits, concurrency=1)
    total = broken.report.rows[0].total
    assert total.failed == 3
    assert total.episodes == 20
    assert total.success.value == pytest.approx(17 / 20)
    again = evaluate(Model(), envs=[GUESS], run="r", limits=limits)
    assert again.report.rows[0].total.failed == 0
    assert again.report.rows[0].total.success.value == 1.0


def test_killed_in_the_middle_nothing_is_lost_or_run_twice(tmp_path: Path) -> None:
    script = textwrap.dedent(f"""
        import time
        import tests.toy
        from agentgym.agenteval import evaluate
        from agentgym.agents.expert import ExpertAgent

        class Slow(ExpertAgent):
            def act(self, observation, info):
                time.sleep(0.01)
                return super().act(observation, info)

        evaluate(Slow(), envs=[{GUESS!r}], attempts=3, run="r", concurrency=2)
    """)
    root = Path(__file__).parents[2]
    env = {**os.environ, "PYTHONPATH": str(root)}
    process = subprocess.Popen([sys.executable, "-c", script], env=env, cwd=tmp_path)
    log = tmp_path / "r" / "episodes.jsonl"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (log.exists() and log.stat().st_size > 8000):
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = log.read_bytes().count(b"\n")
    assert 0 < kept < 60
    subprocess.run([sys.executable, "-c", script], env=env, cwd=tmp_path, check=True, timeout=60)
    result = load_run(tmp_path / "r")
    assert log.read_bytes().count(b"\n") == 60
    assert len({e.key for e in result.episodes}) == 60
    whole = evaluate(ExpertAgent(), envs=[GUESS], attempts=3, run="whole")
    assert result.report.rows == whole.report.rows


def test_another_configuration_in_the_same_folder_is_refused() -> None:
    evaluate(ExpertAgent(), envs=[GUESS], tasks=2, run="r")
    with pytest.raises(InvalidConfig, match="another 'seed'"):
        evaluate(ExpertAgent(), envs=[GUESS], tasks=2, run="r", seed=1)


def test_a_recorded_run_replays_without_the_model() -> None:
    recorded = evaluate(Model(), envs=[GUESS], run="r", record=True)
    mute = Model(broken=range(1, 1000))
    replayed = evaluate(mute, envs=[GUESS], run="again", replay="r")
    assert mute.calls == 0
    assert [e.digest for e in replayed.episodes] == [e.digest for e in recorded.episodes]
    with pytest.raises(CassetteMiss):
        evaluate(Model(), envs=[GUESS], run="other", replay="r", action_format="function_calling")
    model = Model()
    evaluate(model, envs=[GUESS], run="cached", cache="r/calls.jsonl")
    assert model.calls == 0


def test_tapes_that_cannot_be() -> None:
    with pytest.raises(InvalidConfig, match="exclude each other"):
        evaluate(Model(), envs=[GUESS], record=True, cache="x")
    with pytest.raises(InvalidConfig, match="makes no model calls"):
        evaluate(ExpertAgent(), envs=[GUESS], replay="x")


def test_chosen_tasks_only() -> None:
    result = evaluate(ExpertAgent(), envs=[GUESS, "textcraft"], task_ids=["guess_4", "guess_1"])
    assert [e.task_id for e in result.episodes] == ["guess_1", "guess_4"]
    assert [row.name for row in result.report.rows] == ["Guess"]
    assert result.report.skipped == {"TextCraft": "no task id names it"}


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"envs": "texcraft"}, UnknownEnvironment, "Did you mean TextCraft"),
        ({"envs": "agentevl"}, UnknownEnvironment, "agenteval"),
        ({"envs": [GUESS, GUESS]}, InvalidConfig, "named twice"),
        ({"envs": [GUESS], "attempts": 0}, InvalidConfig, "attempts"),
        ({"envs": [GUESS], "edition": "official"}, AgentGymError, "edition"),
        ({"envs": [GUESS], "task_ids": ["maze_1"]}, InvalidConfig, "maze_1"),
    ],
)
def test_mistakes_are_told_before_anything_is_played(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        evaluate(ExpertAgent(), **arguments)
    assert not Path("runs").exists()


def test_an_agent_that_was_made_outside_is_not_closed() -> None:
    class Closing(Agent):
        name, closed = "closing", 0

        def act(self, observation: str, info: Mapping[str, Any]) -> str:
            return "guess 1"

        def close(self) -> None:
            type(self).closed += 1

    evaluate(Closing(), envs=[EnvChoice(env_id=GUESS, max_rounds=2)], tasks=2)
    assert Closing.closed == 0


def test_the_tape_of_a_model_made_outside_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    tapes: list[RecordedAgent] = []
    close = RecordedAgent.close_tape
    monkeypatch.setattr(
        RecordedAgent, "close_tape", lambda self: (tapes.append(self), close(self))[1]
    )
    evaluate(Model(), envs=[GUESS], tasks=2, record=True)
    assert [tape._log for tape in tapes] == [None]
    assert tapes[0].path.read_bytes().endswith(b"\n")


def test_from_inside_a_loop() -> None:
    result = asyncio.run(aevaluate(ExpertAgent(), envs=[GUESS], tasks=3))
    assert result.complete
