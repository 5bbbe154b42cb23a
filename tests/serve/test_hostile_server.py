"""A remote environment whose server is broken, another program's, or means harm."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from gymnasium.error import ResetNeeded

pytest.importorskip("fastapi", reason="pip install 'agentgym[serve]'")

from agentgym.core import make
from agentgym.core.errors import AgentGymError
from agentgym.serve.client import classes, connection
from agentgym.serve.client.errors import NotAServer, ServerUnreachable
from agentgym.serve.settings import ServeSettings
from tests.serve.server import serving

Say = Callable[[socket.socket], None]
OK = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"


@contextmanager
def saying(say: Say) -> Iterator[str]:
    """Answer every request with what `say` sends."""
    listening = socket.create_server(("127.0.0.1", 0))

    def one(sock: socket.socket) -> None:
        with sock:
            try:
                sock.recv(1 << 16)
                say(sock)
            except OSError:
                pass

    def accept() -> None:
        while True:
            try:
                sock, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=one, args=(sock,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    with listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def endless(sock: socket.socket) -> None:
    sock.sendall(OK + b"content-length: 1000000000000\r\n\r\n")
    while True:
        sock.sendall(b" " * (1 << 20))


def dribbling(sock: socket.socket) -> None:
    sock.sendall(OK + b"content-length: 100000\r\n\r\n")
    while True:
        sock.sendall(b" ")
        time.sleep(0.1)


def dribbling_head(sock: socket.socket) -> None:
    while True:
        sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        time.sleep(0.1)


def whole(body: bytes, status: bytes = b"200 OK", more: bytes = b"") -> Say:
    head = b"HTTP/1.1 %b\r\n%bcontent-length: %d\r\n\r\n" % (status, more, len(body))
    return lambda sock: sock.sendall(head + body)


BOMB = gzip.compress(b"[" * 10_000_000)
REDIRECT = b"location: file:///etc/passwd\r\n"
LATER = b"retry-after: 999999999999999\r\n"
WHOLE: dict[str, bytes | Say] = {
    "endless": endless,
    "dribbling": dribbling,
    "dribbling head": dribbling_head,
    "bomb": whole(BOMB, more=b"content-encoding: gzip\r\n"),
    "redirect": whole(b"", b"302 Found", REDIRECT),
    "much later": whole(b'{"error": {"message": "x", "types": []}}', b"503 Busy", LATER),
    "deep": whole(b"[" * 1_000_000),
    "number": whole(b"9" * 100_000),
    "no text": whole(b"\xff\xfe\x00"),
    "list": whole(b"[1, 2]"),
    "nothing": whole(b""),
    "no http": lambda sock: sock.sendall(b"SSH-2.0-OpenSSH_9.6\r\n" * 10),
    "broken chunks": lambda s: s.sendall(OK + b"transfer-encoding: chunked\r\n\r\nzz\r\n"),
    "strange error": whole(b'{"error": {"message": [], "types": {}}}', b"422 No"),
}


@pytest.mark.parametrize("name", WHOLE)
def test_what_is_no_server_is_called_so_in_time(name: str) -> None:
    say = WHOLE[name]
    assert callable(say)
    began = time.monotonic()
    with saying(say) as url, pytest.raises((NotAServer, ServerUnreachable, AgentGymError)) as told:
        make("agentgym/Remote-v0", url=url, env_id="textcraft", timeout=1.0, retry_for=0.5)
    assert url in str(told.value)
    assert time.monotonic() - began < 20


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Making an environment may take minutes; here it may not."""
    monkeypatch.setattr("agentgym.serve.client.service._MAKING", 2.0)
    monkeypatch.setattr(connection, "_MOST_BYTES", 16 * 2**20)


LIES: tuple[Any, ...] = (None, -1, "x", [[]], {"a": 1})


class Liar:
    """A server before another that changes one thing in what that answers."""

    def __init__(self, url: str) -> None:
        self.path: tuple[str, ...] = ()  # (part of the request's path, field, field, ...)
        self.value: Any = None
        self.seen: dict[str, Any] = {}
        liar = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = 1 << 16  # head and body go in one piece

            def log_message(self, *args: Any) -> None:
                """Say nothing."""

            def answer(self) -> None:
                size = int(self.headers.get("content-length") or 0)
                ask = urllib.request.Request(url + self.path, method=self.command)
                ask.data = self.rfile.read(size) if size else None
                try:
                    with urllib.request.urlopen(ask) as got:
                        status, body, seq = got.status, got.read(), got.headers.get("agentgym-seq")
                except urllib.error.HTTPError as error:
                    status, body, seq = error.code, error.read(), error.headers.get("agentgym-seq")
                body = liar.changed(self.command, self.path, body)
                self.send_response(status)
                if seq:
                    self.send_header("agentgym-seq", seq)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = do_DELETE = answer

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def changed(self, method: str, path: str, body: bytes) -> bytes:
        kind = kind_of(method, path)
        if not body or kind is None:
            return body
        value = json.loads(body)
        self.seen[kind] = value
        if self.path and self.path[0] == kind:
            *way, last = self.path[1:]
            place = value
            for name in way:
                place = place[name]
            place[last] = self.value
        return json.dumps(value).encode()


def kind_of(method: str, path: str) -> str | None:
    last = path.partition("?")[0].rpartition("/")[2]
    if "/environments/" in path:
        return "tasks" if last == "tasks" else "about"
    if last == "sessions":
        return "create"
    return last if method == "POST" else None


def tour(url: str) -> None:
    """Use everything a remote environment has."""
    env = make("agentgym/Remote-v0", url=url, env_id="textcraft", timeout=5.0, retry_for=0.2)
    try:
        assert env.instructions
        assert env.commands
        assert len(env.tasks) > 0
        env.reset(seed=1)
        env.step("inventory")
        env.forfeit("no")
        env.sample_action(__import__("numpy").random.default_rng(1))
        env.expert().act("", {})
        env.render()
        env.set_state(env.get_state())
        env.fork().close()
    finally:
        env.close()


def ways(value: Any, depth: int = 2) -> Iterator[tuple[str, ...]]:
    """Return the paths to the fields of an object."""
    if isinstance(value, dict) and depth:
        for name, child in value.items():
            yield (name,)
            for rest in ways(child, depth - 1):
                yield (name, *rest)


@pytest.fixture(scope="module")
def liar() -> Iterator[Liar]:
    with serving(ServeSettings(max_workers=1)) as url:
        found = Liar(url)
        yield found
        found.server.shutdown()


def test_a_lie_in_any_answer_is_an_error_of_ours(liar: Liar) -> None:
    tour(liar.url)
    fields = [(kind, *way) for kind, seen in liar.seen.items() for way in ways(seen)]
    assert len(fields) > 60
    for i, path in enumerate(fields):
        liar.path, liar.value = path, LIES[i % len(LIES)]
        classes._classes.clear()
        try:
            tour(liar.url)
        except (AgentGymError, ResetNeeded, NotImplementedError):
            pass
        except Exception as error:
            raise AssertionError(f"{path} = {liar.value!r} raised {error!r}") from error
