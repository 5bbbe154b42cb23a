"""The openai agent against an endpoint that sends anything at all."""

from __future__ import annotations

import asyncio
import json
import socketserver
import threading
import time
from typing import Any

import pytest

pytest.importorskip("openai")

from agentgym.agents.base import ModelError
from agentgym.agents.message import Message, require_reply
from agentgym.agents.openai import OpenAIAgent
from agentgym.core.errors import InvalidConfig

PLAIN = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "hi"}}]}


def said(**message: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": {"role": "assistant", **message}}]}


def call(**function: Any) -> dict[str, Any]:
    return said(tool_calls=[{"id": None, "type": "function", "function": function}])


def http(body: Any, status: int = 200, kind: str = "application/json") -> bytes:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(content)}\r\n"
    return head.encode() + b"Connection: close\r\n\r\n" + content


def exchange(answer: bytes, *, timeout: float = 5.0, trickle: float = 0.0) -> Any:
    """Return what the agent makes of raw bytes sent over a socket, a byte at a time if asked."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            while b"\r\n\r\n" not in self.request.recv(65_536):
                pass
            try:
                for part in (
                    [answer[i : i + 1] for i in range(len(answer))] if trickle else [answer]
                ):
                    self.request.sendall(part)
                    time.sleep(trickle)
            except OSError:
                return

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        agent = OpenAIAgent("m", base_url=url, timeout=timeout)
        try:
            return asyncio.run(agent.complete([Message("user", "hi")]))
        finally:
            server.shutdown()


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"\x00\xff garbage\r\n\r\n",
        http(PLAIN)[:-5],
        http(b""),
        http(b"null"),
        http(b"[]"),
        http(b"[" * 100_000),
        http(b'{"choices": ' + b"9" * 5_000 + b"}"),
        http(b'{"choices": [{"message": {"content": "\xff"}}]}'),
        http(b"<html>", kind="text/html"),
        http({"error": {"message": "boom"}}),
        http({"choices": None}),
        http({"choices": ["hi"]}),
        http({"choices": [{"index": 0, "message": None}]}),
        http(said(content=5)),
        http(said(content=[5])),
        http(call(name="go", arguments=5)),
        http(call(name=5, arguments="{}")),
        http({**PLAIN, "usage": ["tokens"]}),
        http({"error": {"message": "busy", "code": [1], "type": {"a": 1}}}, 500),
        http([1], 500),
    ],
    ids=lambda answer: repr(answer[-40:]),
)
def test_what_is_no_completion_is_an_error_worth_another_try(answer):
    with pytest.raises(ModelError) as caught:
        exchange(answer)
    assert caught.value.retryable


@pytest.mark.parametrize("status", [400, 422])
@pytest.mark.parametrize("error", [5, "too many", [], {"message": 5, "code": [1], "type": {}}])
def test_odd_refusals_are_final(error, status):
    with pytest.raises(ModelError) as caught:
        exchange(http({"error": error}, status))
    assert not caught.value.retryable


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {"prompt_tokens": -5, "completion_tokens": -1},
        {"prompt_tokens": "a", "completion_tokens": None},
        {"prompt_tokens": 1.5, "completion_tokens": 1e300},
        {"prompt_tokens": 0, "completion_tokens": 0, "prompt_tokens_details": "x"},
    ],
)
def test_a_count_that_cannot_be_is_none(usage):
    reply = exchange(http({**PLAIN, "usage": usage}))
    require_reply(reply)
    assert (reply.text, reply.usage.tokens) == ("hi", 0)


def test_dialects_are_understood():
    parts = [{"type": "text", "text": "go "}, {"type": "text", "text": "north"}]
    assert exchange(http(said(content=parts))).text == "go north"
    reply = exchange(http(call(name="go", arguments={"where": "north"})))
    assert json.loads(reply.tool_calls[0].arguments) == {"where": "north"}
    assert exchange(http(call(name=None, arguments=None))).tool_calls[0].name == ""


def test_a_trickle_of_bytes_meets_the_time_limit():
    begin = time.monotonic()
    with pytest.raises(ModelError, match=r"no reply within 0\.5 s"):
        exchange(http(PLAIN), timeout=0.5, trickle=0.05)
    assert time.monotonic() - begin < 3


@pytest.mark.parametrize("timeout", [None, "5", -1, float("nan")])
def test_the_time_limit_is_a_number(timeout):
    with pytest.raises(InvalidConfig, match="timeout"):
        OpenAIAgent("m", base_url="http://127.0.0.1:1", timeout=timeout)
