"""Attribution by a model behind an endpoint, over a real socket."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("openai")

from agentgym.agents.openai import OpenAIAgent
from agentgym.baselines.adca_options import AdcaOptions
from agentgym.baselines.attribution import (
    AttributionConfig,
    CallLimits,
    LlmAttributor,
    assign_credit,
    build_attributor,
)
from tests.agents.chat_server import ChatServer, Fail, Say
from tests.baselines.episodes import judged, spoken


def judge(request: dict[str, Any]) -> Say:
    """Judge every step GOOD, after a moment."""
    count = request["messages"][1]["content"].count("EVAL-STEP")
    return Say(judged("+" * count), delay=0.02)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with ChatServer(judge) as server:
        yield server


def attributor(server: ChatServer, **limits: Any) -> LlmAttributor:
    agent = OpenAIAgent("judge", base_url=server.base_url, prices={"input": 1.0, "output": 2.0})
    return LlmAttributor(agent, CallLimits(**{"pause": 0.0, **limits}))


def test_a_batch_over_http_keeps_the_limit_of_calls_at_a_time(server: ChatServer) -> None:
    episodes = [spoken(1 + i % 3, attempt=i) for i in range(12)]
    asking = attributor(server, concurrency=3)
    done = assign_credit(episodes, ["g"] * 12, asking)
    assert len(server.requests) == 12
    assert 1 < server.most_busy <= 3
    assert done.credits == [(1.0,) * episode.rounds for episode in episodes]
    assert done.report.spent.input_tokens == 12 * 11
    assert done.report.spent.cost == pytest.approx(12 * (11 * 1.0 + 7 * 2.0) / 1e6)
    assert server.requests[0]["temperature"] == 0.0
    asking.close()


def test_a_failing_endpoint_is_retried_then_counted(server: ChatServer) -> None:
    server.script += [Fail(503), Fail(429, headers={"retry-after": "0"}), Say(judged("+-"))]
    done = assign_credit([spoken(2)], ["g"], attributor(server, concurrency=1))
    assert done.credits == [(1.0, -1.0)]
    assert done.report.spent.retries == 2
    server.script += [Fail(500)] * 3 + [Fail(400, "content refused"), Fail(0, hang_up=True)]
    asking = attributor(server, concurrency=1, retries=2)
    episodes = [spoken(2), spoken(3), spoken(1)]
    done = assign_credit(episodes, ["g"] * 3, asking)
    assert done.report.failures == {"model": 2}
    assert done.credits == [None, None, (1.0,)]
    assert len(server.requests) == 3 + 3 + 1 + 2


def test_a_reply_that_was_cut_off_is_a_failure_that_says_so(server: ChatServer) -> None:
    server.script += [Say(judged("+"), finish_reason="length"), Say("I see.", finish_reason="stop")]
    server.script += [Say("Well,", finish_reason="length")] * 2
    done = assign_credit([spoken(2), spoken(3)], ["g"] * 2, attributor(server, concurrency=1))
    assert done.report.failures == {"unreadable": 2}
    whole, cut = (one.message for one in done.attributions)
    assert "cut off" not in whole
    assert "each of 3 steps: it was cut off after 7 tokens (by max_tokens" in cut


def test_a_question_is_too_long_only_where_it_is_the_question(server: ChatServer) -> None:
    full = Fail(400, "request (3031 tokens) exceeds the available context size (1024 tokens)")
    server.script += [full, Say("so long an answer"), full]
    done = assign_credit([spoken(2), spoken(3)], ["g"] * 2, attributor(server, concurrency=1))
    assert done.report.failures == {"too_long": 1, "unreadable": 1}
    question, answer = done.attributions
    assert "3031 tokens" in question.message
    assert "each of 3 steps; asked again, the conversation is too long" in answer.message
    assert answer.evidence["replies"] == ["so long an answer"]
    assert (answer.spent.calls, answer.spent.retries) == (1, 1)
    assert len(server.requests) == 3


@pytest.mark.parametrize(("first", "answered"), [(Fail(503), 0), (Say("so long an answer"), 1)])
def test_what_the_budget_refuses_to_ask_again_is_no_retry(
    server: ChatServer, first: Say | Fail, answered: int
) -> None:
    server.script += [first]
    done = assign_credit([spoken(2), spoken(3)], ["g"] * 2, attributor(server, calls=1))
    assert done.report.failures == {"budget": 2}
    assert (done.report.spent.calls, done.report.spent.retries) == (answered, 0)
    assert len(server.requests) == 1


def test_what_is_skipped_or_has_ended_makes_no_request(server: ChatServer) -> None:
    lost = [spoken(2, 0.0, f"g{i}") for i in range(4)]
    for options, step in (
        (AdcaOptions(prm_steps=100), 100),
        (AdcaOptions(skip="skip_all_neg"), 0),
        (AdcaOptions(skip="skip_small_adv"), 0),
    ):
        assign_credit(lost, ["g"] * 4, attributor(server), options, step)
    assert server.requests == []
    assert server.connections == 0


def test_replay_needs_neither_the_endpoint_nor_its_key(
    server: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_KEY", "secret")
    common: dict[str, Any] = {
        "model": "openai:judge",
        "cache": str(tmp_path / "record.jsonl"),
        "model_options": {"base_url": server.base_url, "api_key_env": "JUDGE_KEY"},
    }
    first = build_attributor(AttributionConfig(method="llm", **common))
    done = assign_credit([spoken(2), spoken(3)], ["a", "b"], first)
    first.close()
    assert server.requests[0]["max_tokens"] == 8192
    assert b"secret" not in (tmp_path / "record.jsonl").read_bytes()
    monkeypatch.delenv("JUDGE_KEY")
    replay = build_attributor(AttributionConfig(method="replay", **common))
    again = assign_credit([spoken(2), spoken(3)], ["a", "b"], replay)
    assert again.credits == done.credits
    assert len(server.requests) == 2


def test_two_batches_in_two_event_loops(server: ChatServer) -> None:
    asking = attributor(server)
    for _ in range(2):
        assert assign_credit([spoken(2)], ["g"], asking).report.labelled == 1
    asking.close()
    asking.close()
