"""`agentgym serve`: what it takes, what it refuses, how it starts and how it stops."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from agentgym.core import installed
from agentgym.core.errors import AgentGymError, InvalidConfig
from agentgym.serve.config import ServerConfig, read_config
from agentgym.serve.settings import ServeSettings
from agentgym.serve.units import duration, size
from tests.cli.conftest import Run

TOKEN = "a-token-of-the-tests"


class Served:
    """A server in a process of its own."""

    def __init__(self, *words: str, **env: str) -> None:
        command = [sys.executable, "-m", "agentgym", "serve", "--port", "0", *words]
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "NO_COLOR": "1", **env},
        )
        assert self.process.stdout is not None
        self.said = self.process.stdout.readline()
        found = re.search(r"http://\S+", self.said)
        assert found, self.process.communicate(timeout=30)
        self.url = found[0]

    def family(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Send a signal; return the exit code and what stood on standard error."""
        self.process.send_signal(number)
        _, err = self.process.communicate(timeout=60)
        return self.process.returncode, err


@contextmanager
def served(*words: str, **env: str) -> Iterator[Served]:
    server = Served(*words, **env)
    family = server.family()
    try:
        yield server
    finally:
        if server.process.poll() is None:
            family = server.family()
            server.process.kill()
            server.process.communicate(timeout=30)
            psutil.wait_procs(family, timeout=10)


def ended(family: list[psutil.Process]) -> bool:
    _, alive = psutil.wait_procs(family, timeout=15)
    return not alive


def test_it_greets_with_a_line_that_works_and_stops_when_told() -> None:
    with served("--env", "wordle", "--log-format", "json") as server:
        assert "Serving 1 environment at" in server.said
        answer = httpx.post(
            f"{server.url}/v1/sessions",
            json={"environment": "wordle", "reset": {"seed": 1}},
            timeout=60,
        )
        session = answer.json()["session"]
        secret = "an action nobody should read in a log"
        httpx.post(f"{server.url}/v1/sessions/{session}/step", json={"action": secret})
        httpx.get(f"{server.url}/v1/{secret}")
        assert (
            httpx.post(f"{server.url}/v1/sessions", json={"environment": "maze"}).status_code == 404
        )
        family = server.family()
        assert family
        code, err = server.stop(signal.SIGTERM)
    assert code == 0
    assert ended(family)
    greeting, lines = [], []
    for line in err.splitlines():
        lines.append(json.loads(line)) if line.startswith("{") else greeting.append(line)
    assert any("/docs" in line for line in greeting)
    (told,) = (line for line in greeting if "curl" in line)
    words = shlex.split(told.split("try", 1)[1])
    assert words[0] == "curl"
    assert f"{server.url}/v1/sessions" in words
    assert json.loads(words[-1])["environment"] == "wordle"
    requests = [line for line in lines if line["message"] == "request"]
    assert [(r["method"], r["route"], r["status"]) for r in requests] == [
        ("POST", "/v1/sessions", 201),
        ("POST", "/v1/sessions/{session}/step", 200),
        ("GET", "-", 404),
        ("POST", "/v1/sessions", 404),
    ]
    assert all(r["ms"] >= 0 for r in requests)
    assert requests[1]["environment"] == "agentgym/Wordle-v0"
    assert requests[1]["session"] == session[:8]
    assert session not in err
    assert secret not in err


def test_a_token_is_wanted_and_never_logged(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    with served("--token-file", str(file), "--host", "0.0.0.0", "--log-level", "debug") as server:
        assert httpx.get(f"{server.url}/v1/environments").status_code == 401
        good = {"authorization": f"Bearer {TOKEN}"}
        assert httpx.get(f"{server.url}/v1/environments", headers=good).status_code == 200
        code, err = server.stop()
    assert code == 0
    assert TOKEN not in err
    assert "$AGENTGYM_TOKEN" in err


def test_ctrl_c_lets_what_is_under_way_finish() -> None:
    with served("--env", "textcraft") as server:
        asked = {"environment": "textcraft", "reset": {"seed": 1}}
        with httpx.Client(base_url=server.url, timeout=60) as http:
            session = http.post("/v1/sessions", json=asked).json()["session"]
            answers: list[int] = []
            body = b'{"action": "inventory"}'
            head = (
                f"POST /v1/sessions/{session}/step HTTP/1.1\r\nhost: localhost\r\n"
                f"content-length: {len(body)}\r\n\r\n"
            ).encode()
            with socket.create_connection(("127.0.0.1", httpx.URL(server.url).port)) as client:
                client.sendall(head + body[:5])
                time.sleep(0.3)
                server.process.send_signal(signal.SIGINT)
                time.sleep(0.3)
                client.sendall(body[5:])
                answers.append(int(client.recv(65536).split()[1]))
        assert answers == [200]
        server.process.communicate(timeout=60)
    assert server.process.returncode == 0


def test_a_second_ctrl_c_ends_it_at_once() -> None:
    with served("--env", "textcraft") as server:
        asked = {"environment": "textcraft"}
        assert httpx.post(f"{server.url}/v1/sessions", json=asked, timeout=60).status_code == 201
        family = server.family()
        # A request that never ends holds the first one up.
        with socket.create_connection(("127.0.0.1", httpx.URL(server.url).port)) as client:
            client.sendall(
                b"POST /v1/steps HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n["
            )
            time.sleep(0.3)
            server.process.send_signal(signal.SIGINT)
            time.sleep(0.5)
            assert server.process.poll() is None
            code, _ = server.stop(signal.SIGINT)
        assert code == 130
        assert ended(family)


@pytest.mark.slow
@pytest.mark.skipif(not installed("scienceworld"), reason="pip install 'agentgym[sciworld]'")
def test_no_java_outlives_the_server() -> None:
    with served("--env", "sciworld") as server:
        asked = {"environment": "sciworld", "reset": {"seed": 1}}
        answer = httpx.post(f"{server.url}/v1/sessions", json=asked, timeout=120)
        assert answer.status_code == 201, answer.text
        family = server.family()
        assert any("java" in process.name() for process in family)
        code, _ = server.stop()
        assert code == 0
        assert ended(family)


def test_a_server_that_is_killed_leaves_no_worker() -> None:
    with served("--preload", "textcraft") as server:
        family = server.family()
        assert len(family) >= 2  # the one that forks, and the worker
        server.process.kill()
        server.process.communicate(timeout=30)
        assert ended(family)


def test_a_script_without_a_guard_can_hold_a_server(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import httpx\nfrom tests.serve.server import serving\nprint('begun')\n"
        "with serving() as url:\n"
        "    asked = {'environment': 'textcraft'}\n"
        "    print(httpx.post(url + '/v1/sessions', json=asked, timeout=60).status_code)\n"
        "print(__file__)\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout.split() == ["begun", "201", str(script)], done.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--preload", "textcraft", "-o", "textcraft.edition=huge"], "unknown edition 'huge'"),
        (["-o", "maze.editon=official"], "Did you mean edition?"),
    ],
)
def test_an_option_that_cannot_be_ends_it_with_its_reason(words: list[str], told: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "agentgym", "serve", "--port", "0", *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr


# What is refused before anything starts.


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--host", "0.0.0.0"], "export AGENTGYM_TOKEN=$(agentgym serve --make-token)"),
        (["--host", "::"], "--make-token"),
        (["--token", "short"], "at least 8 characters"),
        (["--token-file", "nowhere"], "cannot be read"),
        (["--env", "nope"], "unknown environment 'nope'"),
        (["--preload", "nope"], "unknown environment 'nope'"),
        (["--option", "size=3"], "ENV.KEY=VALUE"),
        (["--option", "nope.size=3"], "unknown environment 'nope'"),
        (["--max-memory", "much"], "max_memory must be a size"),
        (["--session-ttl", "soon"], "session_ttl must be a time"),
        (["--session-ttl", "0"], "session_ttl must be more than 0 s"),
        (["--log-format", "xml"], "json or text"),
        (["--log-level", "loud"], "log_level must be"),
        (["--config", "nowhere.yaml"], "cannot be read"),
        (["--host", "no such host"], "--make-token"),
    ],
)
def test_what_cannot_be_is_refused(run: Run, words: list[str], told: str) -> None:
    shown = run("serve", "--port", "0", *words)
    assert shown.exit_code == 2, shown.output
    assert told in shown.stderr


def test_a_port_in_use_is_named(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        shown = run("serve", "--port", str(port))
    assert shown.exit_code == 2
    assert f"127.0.0.1:{port}" in shown.stderr
    assert "another --port" in shown.stderr


def test_a_token_is_made_that_the_server_takes(run: Run) -> None:
    tokens = {run("serve", "--make-token").stdout.strip() for _ in range(2)}
    assert len(tokens) == 2
    for token in tokens:
        ServeSettings(token=token)


def test_a_missing_package_is_named_with_its_command(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    shown = run("serve")
    assert shown.exit_code == 1
    assert "pip install 'agentgym[serve]'" in shown.stderr


# The configuration.


def test_a_file_says_what_the_command_line_can(tmp_path: Path) -> None:
    file = tmp_path / "serve.yaml"
    file.write_text(
        "host: 0.0.0.0\nport: 9000\ntoken: a-long-enough-token\nmax_memory: 4GB\n"
        "session_ttl: 30m\nenvironments: [webshop, maze]\nresurrect: true\ngrace: 5s\n"
        "defaults:\n  WebShop: {edition: official, data_dir: /data}\n"
    )
    config = ServerConfig.of(read_config(file))
    assert config.settings == ServeSettings(
        token="a-long-enough-token",
        max_memory=4_000_000_000,
        session_ttl=1800.0,
        environments=("webshop", "maze"),
        resurrect=True,
        defaults={"agentgym/WebShop-v0": {"edition": "official", "data_dir": "/data"}},
    )
    assert (config.host, config.port, config.grace) == ("0.0.0.0", 9000, 5.0)


def test_every_setting_can_be_said() -> None:
    for name in ServeSettings.names():
        with pytest.raises(AgentGymError, match=name):
            ServerConfig.of({name: object()})


@pytest.mark.parametrize(
    "text", ["- a", "1", "max_sessions: [", "max_sesions: 3", "port: true", "resurrect: 1",
             "environments: maze", "defaults: {maze: 3}", "port: 99999", "\xff",
             "port: 9000\nport: 9001"]
)  # fmt: skip
def test_a_file_that_cannot_be_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "serve.yaml"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(AgentGymError):
        ServerConfig.of(read_config(file))


@pytest.mark.parametrize("value", [-1, True, None, "", "GB", "1 2", "1e3", "-5s", "٣s", [], 1e400])
def test_what_is_no_amount_is_refused(value: Any) -> None:
    for read in (size, duration):
        with pytest.raises(InvalidConfig):
            read("x", value)
