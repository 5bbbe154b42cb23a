"""The openai agent, over a real socket."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from agentgym.agents.base import ContextOverflow, ModelError
from agentgym.agents.message import Message, Reply, ToolCall
from agentgym.agents.pricing import Price, find_price
from agentgym.core.errors import InvalidConfig
from tests.agents.chat_server import ChatServer, Fail, Say

pytest.importorskip("openai")

from agentgym.agents.openai import OpenAIAgent

ASK = [Message("system", "You play."), Message("user", "north or south?")]
TOOL = {
    "type": "function",
    "function": {"name": "go", "parameters": {"type": "object", "properties": {}}},
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with ChatServer() as server:
        yield server


def ask(agent: OpenAIAgent, messages=ASK, **kwargs) -> Reply:
    async def run() -> Reply:
        try:
            return await agent.complete(messages, **kwargs)
        finally:
            await agent.aclose()

    return asyncio.run(run())


def failure(server: ChatServer, act: Fail | Say, **options) -> ModelError:
    server.script.append(act)
    with pytest.raises(ModelError) as caught:
        ask(OpenAIAgent("m", base_url=server.base_url, **options))
    assert len(server.requests) == 1, "the client retried on its own"
    return caught.value


def test_a_reply_carries_text_usage_and_reasoning(server: ChatServer) -> None:
    server.script.append(Say("Action: north", reasoning="It is colder there."))
    agent = OpenAIAgent(
        "m", base_url=server.base_url, prices={"input": 10.0, "output": 100.0, "cached": 1.0}
    )
    reply = ask(agent, seed=2**40 + 5)
    assert (reply.text, reply.reasoning) == ("Action: north", "It is colder there.")
    usage = reply.usage
    assert (usage.input_tokens, usage.output_tokens, usage.cached_tokens) == (11, 7, 4)
    assert usage.cost == pytest.approx((7 * 10 + 4 * 1 + 7 * 100) / 1e6)
    assert usage.calls == 1
    assert reply.finish_reason == "stop"
    sent = server.requests[0]
    assert sent["messages"] == [m.to_openai() for m in ASK]
    assert 0 <= sent["seed"] < 2**31
    assert sent["temperature"] == 0.0
    assert "tools" not in sent


def test_reasoning_under_its_other_name(server: ChatServer) -> None:
    server.script.append(Say("x", reasoning="why", reasoning_field="reasoning"))
    assert ask(OpenAIAgent("m", base_url=server.base_url)).reasoning == "why"


def test_options_reach_the_request(server: ChatServer) -> None:
    agent = OpenAIAgent(
        "m",
        base_url=server.base_url,
        temperature=0.7,
        top_p=0.9,
        max_tokens=33,
        stop="\nObservation:",
        send_seed=False,
        extra_body={"top_k": 5},
        headers={"X-Team": "t"},
    )
    ask(agent, seed=3)
    sent = server.requests[0]
    assert {k: sent[k] for k in ("temperature", "top_p", "max_tokens", "top_k")} == {
        "temperature": 0.7,
        "top_p": 0.9,
        "max_tokens": 33,
        "top_k": 5,
    }
    assert sent["stop"] == ["\nObservation:"]
    assert "seed" not in sent
    assert server.headers[0].get("x-team") == "t"


def test_none_leaves_a_parameter_to_the_endpoint(server: ChatServer) -> None:
    ask(OpenAIAgent("m", base_url=server.base_url, temperature=None, max_tokens=None))
    assert not {"temperature", "max_tokens", "max_completion_tokens"} & set(server.requests[0])


def test_tools_are_offered_and_calls_come_back(server: ChatServer) -> None:
    server.script.append(
        Say(tool_calls=(("go", '{"to": "north"}'),), finish_reason="tool_calls", text="")
    )
    agent = OpenAIAgent("m", base_url=server.base_url)
    assert agent.supports_tools
    reply = ask(agent, tools=[TOOL])
    assert reply.text == ""
    assert reply.tool_calls == (ToolCall("go", '{"to": "north"}', "call_0"),)
    assert reply.finish_reason == "tool_calls"
    assert server.requests[0]["tools"] == [TOOL]
    follow = [
        *ASK,
        Message("assistant", "", reply.tool_calls),
        Message("tool", "You are there.", tool_call_id="call_0"),
    ]
    ask(agent, follow, tools=[TOOL])
    sent = server.requests[1]["messages"]
    assert sent[2]["tool_calls"][0]["function"] == {"name": "go", "arguments": '{"to": "north"}'}
    assert sent[3]["tool_call_id"] == "call_0"


def test_tools_can_be_turned_off(server: ChatServer) -> None:
    agent = OpenAIAgent("m", base_url=server.base_url, tools=False)
    assert not agent.supports_tools
    ask(agent, tools=[TOOL])
    assert "tools" not in server.requests[0]


def test_an_endpoint_that_refuses_tools_is_told_how_to_help(server: ChatServer) -> None:
    server.script.append(Fail(400, "tools are not supported by this model", param="tools"))
    with pytest.raises(ModelError, match="tools=False") as caught:
        ask(OpenAIAgent("m", base_url=server.base_url), tools=[TOOL])
    assert not caught.value.retryable


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503])
def test_what_may_pass_is_retryable(server: ChatServer, status: int) -> None:
    error = failure(server, Fail(status, headers={"Retry-After": "3"}))
    assert error.retryable
    assert error.retry_after == 3.0
    assert str(status) in str(error)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_what_will_not_pass_is_not_retryable(server: ChatServer, status: int) -> None:
    error = failure(server, Fail(status))
    assert not error.retryable
    assert not isinstance(error, ContextOverflow)


def test_a_spent_quota_is_not_retryable(server: ChatServer) -> None:
    error = failure(server, Fail(429, "You exceeded your quota", code="insufficient_quota"))
    assert not error.retryable


def test_retry_after_in_milliseconds_and_as_a_date(server: ChatServer) -> None:
    assert failure(server, Fail(429, headers={"Retry-After-Ms": "150"})).retry_after == 0.15
    server.requests.clear()
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    wait = failure(server, Fail(503, headers={"Retry-After": date})).retry_after
    assert wait is not None
    assert 25 < wait <= 30


@pytest.mark.parametrize(
    "refusal",
    [
        Fail(400, "nope", code="context_length_exceeded"),
        Fail(400, "This model's maximum context length is 4096 tokens, you asked for 5000."),
        Fail(400, "request (5031 tokens) exceeds the available context size (2048 tokens)"),
        Fail(400, "prompt is too long: 210000 tokens > 200000 maximum"),
    ],
)
def test_a_conversation_that_is_too_long(server: ChatServer, refusal: Fail) -> None:
    assert isinstance(failure(server, refusal), ContextOverflow)


def test_a_timeout_is_retryable(server: ChatServer) -> None:
    error = failure(server, Say("late", delay=2.0), timeout=0.2)
    assert error.retryable
    assert "0.2 s" in str(error)


def test_a_connection_cut_short_and_nobody_there_are_retryable(server: ChatServer) -> None:
    assert failure(server, Fail(200, hang_up=True)).retryable
    with pytest.raises(ModelError) as caught:
        ask(OpenAIAgent("m", base_url="http://somebody:secret@127.0.0.1:9/v1"))
    assert caught.value.retryable
    assert "no connection to http://127.0.0.1:9:" in str(caught.value)


def test_an_answer_that_is_no_completion(server: ChatServer) -> None:
    error = failure(server, Fail(200, raw=b'{"error": {"message": "upstream is down"}}'))
    assert error.retryable
    assert "upstream is down" in str(error)
    server.requests.clear()
    assert failure(server, Fail(200, raw=b"<html>gateway</html>")).retryable


def test_a_model_that_wants_max_completion_tokens_gets_it(server: ChatServer) -> None:
    said = "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
    server.script.append(Fail(400, said + "'max_completion_tokens' instead.", param="max_tokens"))
    agent = OpenAIAgent("m", base_url=server.base_url, max_tokens=5)
    assert ask(agent).text == "north or south?"
    ask(agent)
    assert ["max_completion_tokens" in r for r in server.requests] == [False, True, True]
    assert ["max_tokens" in r for r in server.requests] == [True, False, False]


def test_an_endpoint_that_takes_no_seed(
    server: ChatServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.script.append(Fail(422, "Extra inputs are not permitted: seed"))
    agent = OpenAIAgent("m", base_url=server.base_url)
    ask(agent, seed=1)
    ask(agent, seed=1)
    assert ["seed" in r for r in server.requests] == [True, False, False]
    assert "takes no seed" in caplog.text
    assert agent.describe()["send_seed"] is False


def test_a_refused_temperature_is_an_error_not_a_silence(server: ChatServer) -> None:
    error = failure(server, Fail(400, "temperature does not support 0", param="temperature"))
    assert "temperature=None" in str(error)


def test_no_usage_means_no_tokens_and_no_cost(server: ChatServer) -> None:
    server.script.append(Say("x", usage=None))
    reply = ask(OpenAIAgent("m", base_url=server.base_url, prices=Price(1, 1)))
    assert reply.usage.input_tokens == 0
    assert reply.usage.cost is None


def test_many_calls_at_once_share_a_client_and_keep_apart() -> None:
    def slow_echo(request: dict) -> Say:
        return Say(str(request["messages"][-1]["content"]), delay=0.2)

    async def run(agent: OpenAIAgent) -> list[Reply]:
        calls = [agent.complete([Message("user", str(i))], episode=str(i)) for i in range(64)]
        replies = await asyncio.gather(*calls)
        await agent.aclose()
        return replies

    with ChatServer(slow_echo) as server:
        replies = asyncio.run(run(OpenAIAgent("m", base_url=server.base_url)))
        assert [reply.text for reply in replies] == [str(i) for i in range(64)]
        assert server.most_busy > 16


def test_one_agent_in_one_loop_after_another_and_closed_outside(server: ChatServer) -> None:
    agent = OpenAIAgent("m", base_url=server.base_url)
    for _ in range(2):
        assert asyncio.run(agent.complete(ASK)).text == "north or south?"
    agent.close()
    agent.close()

    async def inside() -> None:
        await agent.complete(ASK)
        agent.close()
        await asyncio.sleep(0.05)

    asyncio.run(inside())


def test_the_key_comes_from_the_environment(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InvalidConfig, match="OPENAI_API_KEY"):
        OpenAIAgent("gpt-4o-mini")
    with pytest.raises(InvalidConfig, match="MY_KEY"):
        OpenAIAgent("m", base_url="https://models.example/v1", api_key_env="MY_KEY")
    OpenAIAgent("m", base_url="https://models.example/v1", api_key_env="")
    monkeypatch.setenv("MY_KEY", "secret-1")
    agent = OpenAIAgent("m", base_url=server.base_url, api_key_env="MY_KEY")
    ask(agent)
    assert server.headers[0]["authorization"] == "Bearer secret-1"
    assert "secret-1" not in json.dumps(agent.describe())


def test_describe_hides_credentials_in_the_address() -> None:
    agent = OpenAIAgent("m", base_url="https://me:pass@models.example/v1?k=1", api_key_env="")
    assert agent.describe()["base_url"] == "https://models.example/v1"


def test_prices(tmp_path) -> None:
    table = tmp_path / "prices.json"
    table.write_text(json.dumps({"m": {"input": 1, "output": 2}}))
    assert find_price(str(table), "m") == Price(1.0, 2.0)
    assert find_price(table, "other") is None
    assert find_price(None, "m") is None
    assert Price(1.0, 2.0).cost(1_000_000, 0, 500_000) == 1.0
    for wrong in ({"m": {"input": 1}}, {"input": "x", "output": 1}, {"input": -1, "output": 1}):
        with pytest.raises(InvalidConfig, match="price of m"):
            find_price(wrong, "m")
    with pytest.raises(InvalidConfig, match="cannot be read"):
        find_price(tmp_path / "none.json", "m")


def test_importing_the_agent_does_not_import_the_client() -> None:
    code = "import sys, agentgym.agents.openai; print('openai' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
