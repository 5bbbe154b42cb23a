"""Sessions over a WebSocket: calls in order, errors that leave it open, and what stays after it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from agentgym.core import make
from agentgym.serve.settings import ServeSettings
from tests.serve.server import serving


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(ServeSettings(max_workers=1, max_body=100_000)) as base:
        yield base


@contextmanager
def socket(url: str, path: str = "/v1/ws") -> Iterator[ClientConnection]:
    with connect(url.replace("http", "ws", 1) + path) as connection:
        yield connection


def ask(connection: ClientConnection, verb: str, **fields: Any) -> dict[str, Any]:
    connection.send(json.dumps({"verb": verb, **fields}))
    answer: dict[str, Any] = json.loads(connection.recv(30))
    return answer


def opened(url: str, **options: Any) -> str:
    asked = {"environment": "textcraft", "options": options, "reset": {"seed": 1}}
    session: str = httpx.post(f"{url}/v1/sessions", json=asked, timeout=60).json()["session"]
    return session


def test_an_episode_over_one_connection(url: str) -> None:
    env = make("textcraft")
    observation, info = env.reset(seed=5)
    with socket(url) as connection:
        found = ask(connection, "create", environment="textcraft", reset={"seed": 5}, id="a")
        assert (found["id"], found["status"], found["seq"]) == ("a", 200, 1)
        assert found["answer"]["turn"]["observation"] == observation
        expert = env.expert()
        for n in range(2, 6):
            thought, action = expert.act(observation, info)
            assert ask(connection, "expert")["answer"] == {"thought": thought, "action": action}
            answer = ask(connection, "step", action=action, seq=n, id=n)
            observation, _, terminated, _, info = env.step(action)
            assert (answer["id"], answer["seq"]) == (n, n)
            assert answer["answer"]["observation"] == observation
            assert answer["answer"]["info"] == info
            if terminated:
                break
        assert ask(connection, "close")["answer"] == {}
        assert ask(connection, "step", action="x")["error"]["type"] == "BadRequest"
        assert ask(connection, "create", environment="maze")["status"] == 200


def test_messages_sent_ahead_are_answered_in_order(url: str) -> None:
    session = opened(url, max_rounds=1000)
    with socket(url, f"/v1/sessions/{session}/ws") as connection:
        for n in range(200):
            connection.send(json.dumps({"verb": "step", "action": "inventory", "id": n}))
        answers = [json.loads(connection.recv(30)) for _ in range(200)]
    assert [answer["id"] for answer in answers] == list(range(200))
    assert [answer["answer"]["info"]["rounds"] for answer in answers] == list(range(1, 201))


def test_a_mistake_is_answered_and_leaves_the_connection_open(url: str) -> None:
    session = opened(url)
    with socket(url, f"/v1/sessions/{session}/ws") as connection:
        for message, kind in (
            ("{", "BadRequest"),
            ("[]", "BadRequest"),
            (b"\xff", "BadRequest"),
            ('{"verb": "fly"}', "BadRequest"),
            ('{"verb": ["step"]}', "BadRequest"),
            ('{"verb": "step"}', "BadRequest"),
            ('{"verb": "ping", "id": {}}', "BadRequest"),
            ('{"verb": "create", "environment": "maze"}', "BadRequest"),
            ('{"verb": "step", "action": "x", "seq": 9}', "OutOfStep"),
            ('{"verb": "reset", "task_id": "x"}', "UnknownTask"),
        ):
            connection.send(message)
            answer = json.loads(connection.recv(30))
            assert answer["error"]["type"] == kind, (message, answer)
            assert answer["status"] >= 400
        answer = ask(connection, "step", action="x", id=7, seq="2")
        assert (answer["id"], answer["status"]) == (7, 400)
        connection.send(b'{"verb": "ping", "id": "bytes"}')  # bytes are read as well
        assert json.loads(connection.recv(30)) == {
            "id": "bytes", "status": 200, "seq": None, "answer": {},
        }  # fmt: skip


def test_a_session_that_is_not_there_is_refused_before_it_begins(url: str) -> None:
    session = opened(url)
    httpx.delete(f"{url}/v1/sessions/{session}")
    for name, status in (("nobody", 404), (session, 410)):
        with pytest.raises(InvalidStatus) as refused, socket(url, f"/v1/sessions/{name}/ws"):
            pass
        assert refused.value.response.status_code == status
        assert json.loads(refused.value.response.body)["error"]["message"]
    wrong = f"/v1/sessions/{opened(url)}/ws?close_on_disconnect=maybe"
    with pytest.raises(InvalidStatus) as refused, socket(url, wrong):
        pass
    assert refused.value.response.status_code == 400


def test_the_session_stays_when_the_connection_goes(url: str) -> None:
    session = opened(url)
    path = f"/v1/sessions/{session}/ws"
    with socket(url, path) as connection:
        seen = ask(connection, "step", action="inventory")
    with socket(url, path) as connection:
        again = ask(connection, "observe")
    assert (again["answer"], again["seq"]) == (seen["answer"], 2)


def test_the_session_goes_with_the_connection_where_that_is_wished(url: str) -> None:
    session = opened(url)
    with socket(url, f"/v1/sessions/{session}/ws?close_on_disconnect=true") as connection:
        assert ask(connection, "observe")["status"] == 200
    gone(url, session)
    with socket(url, "/v1/ws?close_on_disconnect=true") as connection:
        session = ask(connection, "create", environment="textcraft")["answer"]["session"]
        assert httpx.get(f"{url}/v1/sessions/{session}").status_code == 200
    gone(url, session)


def gone(url: str, session: str) -> None:
    deadline = time.monotonic() + 10
    while httpx.get(f"{url}/v1/sessions/{session}").status_code != 410:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_closing_the_session_ends_a_connection_that_was_for_it(url: str) -> None:
    session = opened(url)
    with socket(url, f"/v1/sessions/{session}/ws") as connection:
        assert ask(connection, "close")["status"] == 200
        with pytest.raises(ConnectionClosed):
            connection.recv(30)


def test_a_session_closed_elsewhere_is_told_as_gone(url: str) -> None:
    session = opened(url)
    with socket(url, f"/v1/sessions/{session}/ws") as connection:
        httpx.delete(f"{url}/v1/sessions/{session}")
        answer = ask(connection, "observe")
        assert (answer["status"], answer["error"]["type"]) == (410, "SessionLost")


def test_a_client_that_does_not_read_holds_nobody_up(url: str) -> None:
    session, other = opened(url, max_rounds=100), opened(url)
    address = url.replace("http", "ws", 1) + f"/v1/sessions/{session}/ws"
    with (
        httpx.Client(base_url=url, timeout=30) as http,
        connect(address, close_timeout=0.5, max_size=None) as slow,
    ):
        for _ in range(50):
            ask(slow, "step", action="x" * 9_000)
        for _ in range(100):  # each is answered by half a megabyte, which nobody reads
            slow.send('{"verb": "state"}')
        began = time.monotonic()
        for _ in range(20):
            asked = {"action": "inventory"}
            assert http.post(f"/v1/sessions/{other}/step", json=asked).status_code == 200
        assert time.monotonic() - began < 20
    # Nor does it when it vanishes: what it had asked for is dropped.
    assert httpx.post(f"{url}/v1/sessions/{session}/observe", timeout=30).status_code == 200


def test_a_ping_is_answered(url: str) -> None:
    with socket(url) as connection:
        assert connection.ping().wait(10)
        assert ask(connection, "ping", id=1)["answer"] == {}


def test_a_message_too_large_is_refused(url: str) -> None:
    session = opened(url)
    with socket(url, f"/v1/sessions/{session}/ws") as connection:
        answer = ask(connection, "step", action="x" * 100_001)
        assert (answer["status"], answer["error"]["type"]) == (413, "TooLarge")
        assert ask(connection, "observe")["answer"]["info"]["rounds"] == 0


verbs = st.sampled_from(["step", "reset", "state", "restore", "create", "observe", "ping"])
values = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9)
fields = st.sampled_from(["action", "seq", "seed", "id", "state", "task_id", "environment"])


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(verb=verbs | values, more=st.dictionaries(fields, values, max_size=3))
def test_no_message_makes_the_server_fail(url: str, verb: Any, more: dict[str, Any]) -> None:
    with socket(url) as connection:
        ask(connection, "create", environment="textcraft", key="fuzzed")
        answer = ask(connection, verb, **more)
        assert answer["status"] < 500, answer
