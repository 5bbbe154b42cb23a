"""Connections that never come to the point, heads without end, answers nobody reads."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import pytest

pytest.importorskip("fastapi", reason="pip install 'agentgym[serve]'")

from agentgym.core.errors import InvalidConfig
from agentgym.serve import arrival, server
from agentgym.serve.config import ServerConfig
from agentgym.serve.settings import ServeSettings
from tests.serve.test_serve_cli import served

HEAD = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n"


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with served("--env", "wordle", "--log-level", "error") as running:
        yield int(running.url.rsplit(":", 1)[1])


@contextmanager
def connected(port: int) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", port), timeout=20) as sock:
        yield sock


def send(sock: socket.socket, data: bytes, times: int) -> None:
    for _ in range(times):
        sock.sendall(data)


def all_of(sock: socket.socket) -> bytes:
    got = b""
    try:
        while data := sock.recv(1 << 16):
            got += data
    except ConnectionError:
        pass
    return got


@pytest.mark.parametrize(
    ("begin", "more"),
    [(HEAD, b"x: " + b"y" * 4000 + b"\r\n"), (HEAD + b"x: ", b"y" * 4000), (b"GET /", b"y" * 4000)],
    ids=["headers", "header", "url"],
)
def test_a_head_without_end_is_refused(port: int, begin: bytes, more: bytes) -> None:
    with connected(port) as sock:
        sock.sendall(begin)
        with pytest.raises(ConnectionError):
            send(sock, more, times=5000)  # 20 MB


def test_a_long_head_is_taken(port: int) -> None:
    with connected(port) as sock:
        for piece in (HEAD, b"x: " + b"y" * 30_000 + b"\r\n", b"connection: close\r\n\r\n"):
            sock.sendall(piece)
            time.sleep(0.05)
        assert all_of(sock).startswith(b"HTTP/1.1 200")


def test_requests_in_line_are_answered_in_order_and_read_no_faster(port: int) -> None:
    request = b"GET /v1/environments HTTP/1.1\r\nhost: localhost\r\n\r\n"
    with connected(port) as sock:
        last = b"GET /v1/x HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
        sock.sendall(request * 500 + last)
        got = all_of(sock)
        assert got.count(b"HTTP/1.1 200") == 500
        assert b"NoSuchRoute" in got
    [process] = [
        psutil.Process(c.pid) for c in psutil.net_connections("tcp")
        if c.status == "LISTEN" and c.laddr.port == port
    ]  # fmt: skip
    before = process.memory_info().rss
    with connected(port) as sock:
        sock.settimeout(1.0)
        with pytest.raises(TimeoutError):  # it is not read on while nothing is taken
            send(sock, request * 2000, times=10_000)
        assert process.memory_info().rss - before < 150 * 2**20


def test_a_post_that_asks_for_a_websocket_is_answered(port: int) -> None:
    with connected(port) as sock:
        sock.sendall(
            b"POST /v1/ws HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\n"
            b"upgrade: websocket\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            b"sec-websocket-version: 13\r\ncontent-length: 2\r\n\r\n{}"
        )
        assert sock.recv(1000).startswith(b"HTTP/1.1 40")


def test_what_does_not_come_to_the_point_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrival, "IN_TIME", 1.0)
    monkeypatch.setattr(server, "_LOOK", 2)
    ports: list[int] = []
    config = ServerConfig(ServeSettings(environments=("Wordle",), max_workers=1), port=0)
    running: list[server._Server] = []
    real = server._Server.startup

    async def startup(self: server._Server, sockets: list[socket.socket] | None = None) -> None:
        running.append(self)
        await real(self, sockets)

    monkeypatch.setattr(server._Server, "startup", startup)
    thread = threading.Thread(target=server.serve, args=(config, lambda p, _: ports.append(p)))
    thread.start()
    try:
        while not ports:
            time.sleep(0.02)
            assert thread.is_alive()
        post = b"POST /v1/steps HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n["
        with (
            connected(ports[0]) as silent,
            connected(ports[0]) as head,
            connected(ports[0]) as body,
        ):
            head.sendall(HEAD)
            body.sendall(post)
            for sock in (silent, head, body):
                assert b"408" in all_of(sock)
        with connected(ports[0]) as sock:  # between two requests there is time
            sock.sendall(HEAD + b"\r\n")
            assert sock.recv(1000).startswith(b"HTTP/1.1 200")
            time.sleep(2.0)
            sock.sendall(HEAD + b"\r\n")
            assert sock.recv(1000).startswith(b"HTTP/1.1 200")
    finally:
        running[0].should_exit = True
        thread.join(30)
    assert not thread.is_alive()


def test_a_port_is_one_servers_only(port: int) -> None:
    held = server._listen("127.0.0.1", 0)
    with held, pytest.raises(InvalidConfig, match="cannot be listened on"):
        server._listen("127.0.0.1", held.getsockname()[1])
    with pytest.raises(InvalidConfig, match="choose another --port"):
        server._listen("127.0.0.1", port)
