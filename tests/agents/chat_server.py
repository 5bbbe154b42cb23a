"""A small HTTP server on 127.0.0.1 that speaks the chat-completions protocol, for tests.

Real sockets and real HTTP, so that what is tested is what a user's endpoint would see: requests
are recorded, and answers, failures and delays are scripted. `ChatServer.script` is a queue of what
to do with the next requests; when it is empty, the answer echoes the last message.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass
class Say:
    """One scripted response."""

    text: str = ""
    tool_calls: tuple[tuple[str, str], ...] = ()
    reasoning: str = ""
    reasoning_field: str = "reasoning_content"
    finish_reason: str = "stop"
    usage: Mapping[str, Any] | None = field(
        default_factory=lambda: {
            "prompt_tokens": 11,
            "completion_tokens": 7,
            "total_tokens": 18,
            "prompt_tokens_details": {"cached_tokens": 4},
        }
    )
    delay: float = 0.0

    def body(self, model: str) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": self.text or None}
        if self.reasoning:
            message[self.reasoning_field] = self.reasoning
        if self.tool_calls:
            message["tool_calls"] = [
                {"id": f"call_{i}", "type": "function", "function": {"name": n, "arguments": a}}
                for i, (n, a) in enumerate(self.tool_calls)
            ]
        choice = {"index": 0, "message": message, "finish_reason": self.finish_reason}
        answer = {"id": "x", "object": "chat.completion", "created": 0, "model": model}
        return {**answer, "choices": [choice], **({"usage": self.usage} if self.usage else {})}


@dataclass
class Fail:
    """One scripted failure."""

    status: int
    message: str = "it went wrong"
    code: str | None = None
    param: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    hang_up: bool = False


Rule = Callable[[dict[str, Any]], Say | Fail]


class ChatServer:
    """The server; use it as a context manager and give `base_url` to a client."""

    def __init__(self, rule: Rule | None = None) -> None:
        self.script: deque[Say | Fail] = deque()
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.rule = rule or echo
        self.connections = 0
        self.busy = self.most_busy = 0
        self.lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                super().setup()
                with server.lock:
                    server.connections += 1

            def do_POST(self) -> None:
                server.answer(self)

            def log_message(self, *args: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 512

            def handle_error(self, *args: object) -> None:
                pass  # a client that went away is part of what is tested

        self.http = Server(("127.0.0.1", 0), Handler)
        self.base_url = f"http://127.0.0.1:{self.http.server_address[1]}/v1"
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.05,), daemon=True)

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        data = handler.rfile.read(int(handler.headers["Content-Length"]))
        request = json.loads(data)
        with self.lock:
            self.requests.append(request)
            self.headers.append({k.lower(): v for k, v in handler.headers.items()})
            self.busy += 1
            self.most_busy = max(self.most_busy, self.busy)
            act = self.script.popleft() if self.script else None
        try:
            act = act or self.rule(request)
            if handler.path != "/v1/chat/completions":
                act = Fail(404, "no such path")
            self.send(handler, act, request)
        finally:
            with self.lock:
                self.busy -= 1

    def send(self, handler: BaseHTTPRequestHandler, act: Say | Fail, request: dict) -> None:
        if isinstance(act, Fail):
            if act.hang_up:
                handler.close_connection = True
                return
            error = {"message": act.message, "code": act.code, "param": act.param, "type": "error"}
            status, body, more = act.status, act.raw or json.dumps({"error": error}), act.headers
        else:
            time.sleep(act.delay)
            status, body, more = 200, json.dumps(act.body(request["model"])), {}
        payload = body if isinstance(body, bytes) else body.encode()
        handler.send_response(status)
        for key, value in {"Content-Type": "application/json", **more}.items():
            handler.send_header(key, value)
        handler.send_header("Content-Length", str(len(payload)))
        handler.end_headers()
        handler.wfile.write(payload)

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()


def echo(request: dict[str, Any]) -> Say:
    """Say the last message back."""
    return Say(str(request["messages"][-1]["content"]))
