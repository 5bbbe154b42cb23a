"""Who may ask, and how much: tokens, names, pages from elsewhere, bodies too large."""

from __future__ import annotations

import base64
import json
import socket
from collections.abc import Iterator

import httpx
import pytest
from starlette.testclient import TestClient
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from agentgym.core.errors import InvalidConfig
from agentgym.serve.app import create_app
from agentgym.serve.config import ServerConfig
from agentgym.serve.settings import ServeSettings
from tests.serve.server import serving

TOKEN = "a-token-of-the-tests"
BODY = 2_000


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(ServeSettings(max_workers=1, token=TOKEN, max_body=BODY)) as base:
        yield base


def basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


@pytest.mark.parametrize("path", ["/v1/environments", "/metrics", "/docs", "/openapi.json", "/x"])
def test_nothing_but_health_is_told_without_the_token(url: str, path: str) -> None:
    answer = httpx.get(url + path)
    assert answer.status_code == 401
    assert answer.json()["error"]["type"] == "Unauthorized"
    assert answer.headers["www-authenticate"].startswith("Basic")
    assert httpx.get(url + path, headers={"authorization": f"Bearer {TOKEN}"}).status_code != 401


def test_health_wants_no_token_and_tells_no_more_than_it_must(url: str) -> None:
    answer = httpx.get(f"{url}/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


@pytest.mark.parametrize(
    ("shown", "status"),
    [
        (f"Bearer {TOKEN}", 200),
        (f"bearer  {TOKEN}", 200),
        (basic("agent", TOKEN), 200),
        (basic("", TOKEN), 200),
        (f"Bearer {TOKEN}x", 401),
        (f"Bearer {TOKEN[:-1]}", 401),
        ("Bearer", 401),
        (TOKEN, 401),
        (basic(TOKEN, ""), 401),
        (basic("agent", "wrong"), 401),
        ("Basic ???", 401),
        ("Basic \u00e9", 401),
        ("Digest x", 401),
    ],
)
def test_the_token_is_shown_as_a_bearers_or_as_a_password(
    url: str, shown: str, status: int
) -> None:
    headers = {"authorization": shown.encode("latin-1")}
    assert httpx.get(f"{url}/v1/environments", headers=headers).status_code == status


def test_an_address_can_hold_the_token(url: str) -> None:
    address = url.replace("http://", f"http://agent:{TOKEN}@")
    assert httpx.get(f"{address}/v1/environments").status_code == 200


def test_a_websocket_wants_the_token_too(url: str) -> None:
    address = url.replace("http", "ws") + "/v1/ws"
    with pytest.raises(InvalidStatus) as refused:
        connect(address)
    assert refused.value.response.status_code == 401
    assert json.loads(refused.value.response.body)["error"]["type"] == "Unauthorized"
    with connect(address, additional_headers={"authorization": f"Bearer {TOKEN}"}) as open_socket:
        open_socket.send('{"verb": "ping", "id": 1}')
        assert json.loads(open_socket.recv())["status"] == 200


# Names and pages.


def answered(url: str, **headers: str) -> httpx.Response:
    return httpx.get(f"{url}/healthz", headers=headers)


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:80", "127.0.0.1:1", "[::1]:99", "LOCALHOST", "a.localhost"]
)
def test_the_names_of_the_loopback_are_good(url: str, host: str) -> None:
    assert answered(url, host=host).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "10.0.0.1", "", "[::2]"]
)
def test_another_name_is_refused_on_the_loopback(url: str, host: str) -> None:
    answer = answered(url, host=host)
    assert answer.status_code == 403
    assert "--allow-host" in answer.json()["error"]["message"]


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost:1"])
def test_a_page_from_elsewhere_may_not_ask(url: str, origin: str) -> None:
    answer = answered(url, origin=origin)
    assert answer.status_code == 403
    assert "--allow-origin" in answer.json()["error"]["message"]
    assert "access-control-allow-origin" not in answer.headers
    address = url.replace("http", "ws") + "/v1/ws"
    shown = {"authorization": f"Bearer {TOKEN}"}
    with pytest.raises(InvalidStatus):
        connect(address, origin=origin, additional_headers=shown)  # type: ignore[arg-type]


def test_a_page_of_the_server_itself_may_ask(url: str) -> None:
    assert answered(url, origin=url).status_code == 200


def test_names_and_pages_can_be_allowed() -> None:
    app = create_app(ServeSettings(), hosts=["lab.example"], origins=["https://page.example"])
    with TestClient(app, "http://lab.example", client=("10.0.0.9", 1)) as client:
        # The test client has no socket, so the server's own address is the name it is asked by.
        page = {"origin": "https://page.example", "access-control-request-method": "POST"}
        asked = client.options("/v1/sessions", headers=page)
        assert asked.headers["access-control-allow-origin"] == "https://page.example"
        assert client.get("/healthz", headers=page).status_code == 200
        assert client.get("/healthz", headers={"origin": "https://x.example"}).status_code == 403


# Sizes.


def big(url: str, size: int, **more: object) -> httpx.Response:
    headers = {"authorization": f"Bearer {TOKEN}"}
    return httpx.post(f"{url}/v1/sessions", content=b"x" * size, headers=headers, timeout=30)


def test_a_body_may_be_as_large_as_it_may(url: str) -> None:
    assert big(url, BODY).status_code == 400  # it is no JSON, but it was read
    answer = big(url, BODY + 1)
    assert answer.status_code == 413
    assert str(BODY) in answer.json()["error"]["message"]


def test_megabytes_are_answered_and_not_kept(url: str) -> None:
    assert big(url, 20_000_000).status_code == 413


def chunked(url: str, *parts: bytes) -> bytes:
    """Send a body in chunks, without saying how long it is, and return what comes back."""
    with socket.create_connection(("127.0.0.1", httpx.URL(url).port), timeout=30) as client:
        client.sendall(
            f"POST /v1/sessions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKEN}\r\n"
            "transfer-encoding: chunked\r\n\r\n".encode()
        )
        for part in parts:
            client.sendall(b"%x\r\n%b\r\n" % (len(part), part))
        client.sendall(b"0\r\n\r\n")
        return client.recv(65536)


def test_a_body_that_does_not_say_how_long_it_is_is_counted(url: str) -> None:
    assert chunked(url, b"x" * 500, b"x" * 500).startswith(b"HTTP/1.1 400")
    answer = chunked(url, *[b"x" * 500] * 9)
    assert answer.startswith(b"HTTP/1.1 413")
    assert b"TooLarge" in answer
    good = json.dumps({"environment": "textcraft"}).encode()
    assert chunked(url, good[:9], good[9:]).startswith(b"HTTP/1.1 201")


def test_a_client_that_waits_for_leave_is_told_at_once(url: str) -> None:
    with socket.create_connection(("127.0.0.1", httpx.URL(url).port), timeout=30) as client:
        client.sendall(
            f"POST /v1/sessions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKEN}\r\n"
            "content-length: 1000000000\r\nexpect: 100-continue\r\n\r\n".encode()
        )
        assert client.recv(65536).startswith(b"HTTP/1.1 413")


def test_a_client_that_says_nothing_more_holds_nobody_up(url: str) -> None:
    with socket.create_connection(("127.0.0.1", httpx.URL(url).port), timeout=30) as client:
        client.sendall(
            f"POST /v1/sessions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKEN}\r\n"
            "content-length: 100\r\n\r\n{".encode()
        )
        assert httpx.get(f"{url}/healthz").status_code == 200


# Where a token must be.


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.1.2.3", "example.org", "::ffff:8.8.8.8"])
def test_beyond_the_loopback_a_server_has_a_token(host: str) -> None:
    with pytest.raises(InvalidConfig, match="--make-token"):
        ServerConfig(ServeSettings(), host=host)
    ServerConfig(ServeSettings(token=TOKEN), host=host)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.3.2.1"])
def test_on_the_loopback_it_may_do_without(host: str) -> None:
    ServerConfig(ServeSettings(), host=host)
