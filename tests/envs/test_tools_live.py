"""Live backends: the client, the tape and open-meteo, against a server made here."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote_plus, urlsplit

import pytest

pytest.importorskip("httpx", reason="pip install 'agentgym[live]'")

from agentgym.envs.tools import (
    Cassette,
    CassetteError,
    CassetteMiss,
    LiveClient,
    LiveError,
    MissingKey,
    NotFound,
    key_from,
)
from agentgym.envs.weather.env import WeatherEnv
from agentgym.envs.weather.openmeteo import HOSTS, OpenMeteo

KEY = "very-secret-key"


class Service:
    """What the server answers, and what it was asked."""

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[dict[str, Any]] = []
        self.failing, self.failure = 0, 503
        self.count = 0

    def answer(self, method: str, target: str, headers: Any, body: bytes) -> tuple[int, Any]:
        """Return status and JSON."""
        parts = urlsplit(target)
        params = dict(parse_qsl(parts.query))
        self.asked.append({"method": method, "path": parts.path, "params": params, "body": body})
        if self.failing:
            self.failing -= 1
            return self.failure, {"error": "busy"}
        if parts.path == "/echo":
            return 200, {"params": params, "auth": headers.get("Authorization")}
        if parts.path == "/count":
            self.count += 1
            return 200, {"count": self.count}
        if parts.path == "/nothing":
            return 204, None
        if parts.path == "/text":
            return 200, "<html>"
        if parts.path == "/search":
            rows = [
                {
                    "name": "Oslo",
                    "latitude": 59.91,
                    "longitude": 10.75,
                    "country": "Norway",
                    "id": 3,
                }
            ]
            return 200, {"results": rows} if params["name"] == "Oslo" else {"generationtime_ms": 1}
        if parts.path == "/elevation":
            return 200, {"elevation": [23.0]}
        if parts.path == "/archive":
            names = params["daily"].split(",")
            days = {"time": [params["start_date"]], **{name: [1.5] for name in names}}
            return 200, {"daily": days, "timezone": "GMT"}
        if parts.path == "/air":
            hours = [f"{params['start_date']}T{h:02}:00" for h in range(24)]
            values = {
                name: [10.0] * 12 + [20.0] * 11 + [None] for name in ("european_aqi", "pm2_5")
            }
            return 200, {"hourly": {"time": hours, **values, "pm10": [None] * 24}}
        if parts.path == "/whoami":
            key = headers["Authorization"].removeprefix("Bearer ")
            return 200, {"key": key, "next": f"/whoami?key={quote_plus(key)}"}
        return 404, {"error": "no such path", "key": params.get("key")}


@pytest.fixture
def service() -> Iterator[Service]:
    state = Service()

    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, value = state.answer(self.command, self.path, self.headers, body)
            sent = b"" if value is None else json.dumps(value).encode()
            sent = value.encode() if isinstance(value, str) else sent
            self.send_response(status)
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        do_GET = do_POST = _serve

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}"
    yield state
    server.shutdown()
    server.server_close()


def client(service: Service, cassette: Cassette | None = None, **options: Any) -> LiveClient:
    secret = {
        "secret_params": lambda: {"key": KEY},
        "secret_headers": lambda: {"Authorization": KEY},
    }
    return LiveClient(service.url, cassette=cassette, pause=0.001, **{**secret, **options})


def test_a_request_carries_its_key_and_its_answer_comes_back(service: Service) -> None:
    found = client(service).get("/echo", {"a": 1})
    assert found == {"params": {"a": "1", "key": KEY}, "auth": KEY}
    assert client(service).request("POST", "/nothing", body={"b": [1]}) is None
    assert json.loads(service.asked[-1]["body"]) == {"b": [1]}


def test_a_busy_service_is_asked_again_within_the_budget(service: Service) -> None:
    service.failing = 3
    assert client(service).get("/count") == {"count": 1}
    assert len(service.asked) == 4
    service.failing = 4
    with pytest.raises(LiveError, match="failed 4 times, last with status 503"):
        client(service).get("/count")


def test_what_creates_something_is_not_asked_twice_where_it_may_have_been_done(
    service: Service,
) -> None:
    service.failing, service.failure = 1, 502
    with pytest.raises(LiveError, match="failed once, last with status 502"):
        client(service).request("POST", "/nothing", body={})
    assert len(service.asked) == 1
    service.failing, service.failure = 1, 503
    assert client(service).request("POST", "/nothing", body={}) is None
    assert len(service.asked) == 3
    with pytest.raises(LiveError, match="failed 2 times, last with ConnectError"):
        LiveClient("http://127.0.0.1:1", attempts=2, pause=0.001).request("POST", "/x", body={})


def test_what_is_refused_is_not_asked_again_and_tells_no_key(service: Service) -> None:
    with pytest.raises(LiveError) as raised:
        client(service).get("/missing")
    assert "was refused with status 404" in str(raised.value)
    assert KEY not in str(raised.value)
    assert len(service.asked) == 1
    with pytest.raises(LiveError, match="answered no JSON"):
        client(service).get("/text")


def test_no_connection_is_an_error_that_tells_no_key() -> None:
    nobody = LiveClient(
        "http://127.0.0.1:9", secret_params=lambda: {"key": KEY}, attempts=2, pause=0.001
    )
    with pytest.raises(LiveError) as raised:
        nobody.get("/x")
    assert "failed 2 times, last with ConnectError" in str(raised.value)
    assert KEY not in str(raised.value)


def test_a_key_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", " abc ")
    assert key_from("SOME_KEY", "Some service") == "abc"
    monkeypatch.delenv("SOME_KEY")
    with pytest.raises(MissingKey, match=r"Some service needs a key: set .* SOME_KEY"):
        key_from("SOME_KEY", "Some service")


# The tape.


def test_a_recorded_call_is_played_again_without_service_or_key(
    service: Service, tmp_path: Path
) -> None:
    tape = tmp_path / "deep" / "tape.jsonl"
    first = client(service, Cassette(tape, "record")).get("/echo", {"a": 1})
    assert first == {"params": {"a": "1", "key": "[secret]"}, "auth": "[secret]"}
    assert KEY not in tape.read_text()

    def no_key() -> dict[str, str]:
        raise AssertionError("a replay needs no key")

    again = client(service, Cassette(tape, "replay"), secret_params=no_key, secret_headers=no_key)
    assert again.get("/echo", {"a": 1}) == first
    assert len(service.asked) == 1
    with pytest.raises(CassetteMiss, match=r"GET .*/echo of this episode is not in .*tape\.jsonl"):
        again.get("/echo", {"a": 2})


def test_a_key_is_struck_out_however_the_service_repeats_it(
    service: Service, tmp_path: Path
) -> None:
    tape, key = tmp_path / "tape.jsonl", "a+b/c=d"
    bearer = {"secret_params": dict, "secret_headers": lambda: {"Authorization": f"Bearer {key}"}}
    found = client(service, Cassette(tape, "record"), **bearer).get("/whoami")
    assert found == {"key": "[secret]", "next": "/whoami?key=[secret]"}
    assert key not in tape.read_text()


def test_a_cache_records_what_it_does_not_know(service: Service, tmp_path: Path) -> None:
    for expected in ([1, 1, 1], [1, 1, 1]):
        live = client(service, Cassette(tmp_path / "tape.jsonl", "cache"))
        assert [live.get("/count")["count"] for _ in range(3)] == expected
    assert len(service.asked) == 1


def test_a_service_with_state_is_recorded_call_by_call(service: Service, tmp_path: Path) -> None:
    path = tmp_path / "tape.jsonl"
    tape = Cassette(path, "record", stateful=True)
    for label in ("todo_1", "todo_2"):
        tape.begin(label)
        for _ in range(2):
            client(service, tape).get("/count")
    tape.close()
    again = Cassette(path, "replay", stateful=True)
    counts = []
    for label in ("todo_2", "todo_1", "todo_2"):
        again.begin(label)
        counts += [client(service, again).get("/count")["count"] for _ in range(2)]
    assert counts == [3, 4, 1, 2, 3, 4]
    with pytest.raises(CassetteMiss, match="of todo_2 is not in"):
        client(service, again).get("/count")


def test_a_tape_may_be_torn_but_not_damaged(service: Service, tmp_path: Path) -> None:
    path = tmp_path / "tape.jsonl"
    with pytest.raises(CassetteError, match="there is no recording"):
        Cassette(path, "replay")
    tape = Cassette(path, "record")
    client(service, tape).get("/echo")
    tape.close()
    path.write_text(path.read_text() + '{"key": "torn')
    assert client(service, Cassette(path, "replay")).get("/echo")["auth"] == "[secret]"
    path.write_text("{}\n")
    with pytest.raises(CassetteError, match="line 1 is no live call"):
        Cassette(path, "replay")


# open-meteo.


def hosts(service: Service) -> dict[str, str]:
    paths = {"archive": "archive", "air": "air", "geocoding": "search", "elevation": "elevation"}
    return {name: f"{service.url}/{paths[name]}" for name in HOSTS}


def test_open_meteos_answers_are_read(service: Service) -> None:
    from datetime import date

    source = OpenMeteo(hosts=hosts(service), pause=0.001)
    assert source.find("Oslo") == [
        {"name": "Oslo", "latitude": 59.91, "longitude": 10.75, "country": "Norway"}
    ]
    with pytest.raises(NotFound, match="no place is called 'Atlantis'"):
        source.find("Atlantis")
    assert source.elevation(59.9, 10.8) == 23.0
    day = date(2023, 5, 14)
    assert source.daily(59.9, 10.8, day, day, ("rain_sum",)) == {
        "time": ["2023-05-14"],
        "rain_sum": [1.5],
    }
    air = source.daily(59.9, 10.8, day, day, ("european_aqi", "pm2_5", "pm10"))
    assert air == {
        "time": ["2023-05-14"], "european_aqi": [14.8], "pm2_5": [14.8], "pm10": [None],
    }  # fmt: skip
    source.close()


def test_an_official_episode_is_recorded_and_replayed_offline(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = {
        "goal": "How much rain fell in Oslo yesterday?",
        "subgoals": [1.5],
        "additional_info": {
            "answer": 1.5,
            "init_config": {"current_date": "2023-05-15", "current_location": "Oslo"},
        },
    }
    (tmp_path / "weather").mkdir()
    (tmp_path / "weather" / "weather.jsonl").write_text(json.dumps(row))
    monkeypatch.setattr("agentgym.envs.weather.openmeteo.HOSTS", hosts(service))
    tape = str(tmp_path / "tape.jsonl")
    actions = [
        'get_latitude_longitude with Action Input: {"name": "Oslo"}',
        'get_historical_rain with Action Input: {"latitude": 59.91, "longitude": 10.75, '
        '"start_date": "2023-05-14", "end_date": "2023-05-14"}',
        'finish with Action Input: {"answer": 1.5}',
    ]
    played = []
    for mode in ("record", "replay"):
        env = WeatherEnv(
            edition="official", data_dir=str(tmp_path), cassette=tape, cassette_mode=mode
        )
        assert env.blocking
        env.reset(seed=0, options={"task_id": "weather_0"})
        played.append([env.step(action) for action in actions])
        env.close()
    assert played[0] == played[1]
    assert played[0][-1][4]["success"]
    assert len(service.asked) == 2


def test_the_environment_without_a_tape_asks_the_service(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentgym.envs.weather.openmeteo.HOSTS", {**hosts(service)})
    source = OpenMeteo()
    assert source.elevation(1.0, 2.0) == 23.0
    assert service.asked[-1]["params"] == {"latitude": "1.0", "longitude": "2.0"}
