"""Lines about episodes: soon also where a model is slow, and never many."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from agentgym.agents.base import ChatAgent
from agentgym.agents.message import Message, Reply, Usage
from agentgym.baselines import progress
from agentgym.baselines.config import EnvTasks
from agentgym.baselines.examples import env_choice
from agentgym.baselines.progress import EVERY, LATE, SELDOM, EpisodeLines
from agentgym.rollout.engine import rollout
from agentgym.rollout.events import EpisodeFinished, RunStarted
from agentgym.rollout.plan import plan
from tests.baselines import tiny

JOBS = plan([env_choice(EnvTasks(**tiny.GUESS))], tasks=2)


class Slow(ChatAgent):
    """Takes its time over every reply, and counts what it has written meanwhile."""

    written = 100

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        episode: str = "",
        seed: int = 0,
    ) -> Reply:
        for _ in range(10):
            await asyncio.sleep(0.02)
            self.written += 3
        return Reply("Action: guess 1", usage=Usage(5, 30, calls=1))


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "BEAT", 0.01)
    monkeypatch.setattr(progress, "EVERY", 0.05)


def ended(lines: EpisodeLines, episode: Any) -> None:
    lines(EpisodeFinished(JOBS[0], episode))


@pytest.mark.usefixtures("quick")
def test_something_is_said_before_the_first_reply_is_done() -> None:
    events: list[object] = []
    agent = Slow()
    lines = EpisodeLines(events.append, "exploring", agent)

    def listen(event: Any) -> None:
        events.append(event)
        lines(event)

    rollout(JOBS, agent, executor="inline", on_event=listen)
    said = [event for event in events if isinstance(event, str)]
    first = next(i for i, e in enumerate(events) if isinstance(e, str) and "tokens" in e)
    assert not any(type(e).__name__ == "StepTaken" for e in events[:first])
    assert said[0].startswith("exploring: 0/2 episodes · ")
    # What was written before the rollout is not of it, and what is under way is.
    shown = int(str(events[first]).partition("episodes · ")[2].partition(" tokens")[0])
    assert 0 < shown <= 60
    assert "a second" in str(events[first])
    assert any("rounds" in line for line in said)


@pytest.mark.usefixtures("quick")
def test_an_agent_that_counts_nothing_is_counted_by_its_replies() -> None:
    said: list[str] = []
    rollout(JOBS, Slow(), executor="inline", on_event=EpisodeLines(said.append, "playing"))
    assert "tokens" not in said[0]
    assert any(" 60 tokens" in line for line in said)  # a round of both


def test_lines_come_more_seldom_the_less_there_is_to_say() -> None:
    said: list[float] = []
    now = 0.0
    agent = Slow()
    lines = EpisodeLines(lambda _: said.append(now), "exploring", agent)
    lines(RunStarted({"x": 1000}))
    start = lines._began
    for second in range(1, 3600):
        now, agent.written = float(second), agent.written + 20
        lines.tick(start + second)
    assert said[0] == pytest.approx(EVERY, abs=1)
    gaps = [b - a for a, b in itertools.pairwise(said)]
    assert max(gaps) == pytest.approx(LATE, abs=1)
    assert gaps == sorted(gaps)
    said.clear()
    for second in range(3600, 20_000):  # nothing is written any more
        now = float(second)
        lines.tick(start + second)
    assert said[-1] - said[-2] == pytest.approx(SELDOM, abs=1)


def test_a_line_comes_at_once_where_an_episode_ends_after_a_long_wait() -> None:
    said: list[str] = []
    lines = EpisodeLines(said.append, "exploring")
    lines(RunStarted({"x": 2}))
    start = lines._began
    for second in range(1, 300):
        lines.tick(start + second)
    count = len(said)
    (episode, *_) = rollout(JOBS[:1], Slow(), executor="inline")
    lines._last = start - EVERY  # as if it had been said a while ago
    ended(lines, episode)
    assert len(said) == count + 1
    assert "1/2 episodes · 0% solved" in said[-1]
    ended(lines, episode)  # but not twice at once
    assert len(said) == count + 1


def test_a_model_in_process_counts_tokens_while_it_writes() -> None:
    pytest.importorskip("trl")
    from agentgym.agents.hf import HFAgent

    policy = tiny.policy()
    agent = HFAgent(policy.model, tokenizer=policy.tokenizer, temperature=1.0, max_tokens=9)
    seen: list[int] = []
    wrote = agent._wrote
    agent._wrote = lambda tokens: (wrote(tokens), seen.append(agent.written))[0]  # type: ignore[method-assign]
    (episode, *others) = rollout(JOBS, agent, executor="inline")
    agent.close()
    total = episode.usage.output_tokens + sum(e.usage.output_tokens for e in others)
    assert agent.written == total == seen[-1]
    assert len(seen) > len(episode.steps)  # on the way, and not once a reply
