"""What a remote environment does when the way to its server, or the server, fails."""

from __future__ import annotations

import gc
import json
import os
import pickle
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from typing import Any

import gymnasium
import pytest

from agentgym.core import TextEnv, make
from agentgym.core.errors import AgentGymError
from agentgym.serve.client.address import Address
from agentgym.serve.client.errors import NotAServer, ServerUnreachable
from agentgym.serve.problem import NoRoom, SessionLost, Unauthorized
from agentgym.serve.settings import ServeSettings
from tests.serve.proxy import Proxy, answering, proxying
from tests.serve.server import serving

REMOTE = "agentgym/Remote-v0"
PLAN = ("get 1 oak log", "inventory", "get 2 oak log", "look")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(ServeSettings(max_workers=1)) as address:
        yield address


@pytest.fixture
def proxy(url: str) -> Iterator[Proxy]:
    with proxying(url) as found:
        yield found


def remote(url: str, **options: Any) -> TextEnv:
    return make(REMOTE, **{"url": url, "env_id": "textcraft", "retry_for": 5.0, **options})


def expected(actions: tuple[str, ...] = PLAN) -> list[Any]:
    env = make("textcraft")
    return [env.reset(seed=1), *(env.step(action) for action in actions)]


def sessions(url: str) -> int:
    with urllib.request.urlopen(f"{url}/metrics") as answer:
        for line in answer.read().decode().splitlines():
            if line.startswith("agentgym_sessions_open "):
                return int(float(line.split()[1]))
    raise AssertionError("the server does not count its sessions")


@pytest.mark.parametrize("fault", ["unsent", "dropped", "cut", "late", "502", "503"])
def test_a_step_is_played_once_however_its_answer_fares(proxy: Proxy, fault: str) -> None:
    env = remote(proxy.url, timeout=0.3 if fault == "late" else 30.0)
    record: list[Any] = [env.reset(seed=1)]
    for action in PLAN:
        proxy.spoil("/step", fault)
        record.append(env.step(action))
    assert record == expected()
    steps = sum(path.endswith("/step") for _, path in proxy.passed)
    acted = 2 if fault in ("dropped", "cut", "late") else 1
    assert steps == acted * len(PLAN)
    env.close()


def test_several_faults_in_a_row_cost_nothing_but_time(proxy: Proxy) -> None:
    env = remote(proxy.url)
    proxy.spoil("/reset", "dropped", "cut", "503")
    record: list[Any] = [env.reset(seed=1)]
    for action in PLAN:
        proxy.spoil("/step", "dropped", "unsent", "cut")
        record.append(env.step(action))
    proxy.spoil("/forfeit", "dropped", "cut")
    record.append(env.forfeit("none"))
    assert record[:-1] == expected()
    assert record[-1][4]["rounds"] == len(PLAN) + 1
    proxy.spoil("/state", "cut")
    state = env.get_state()
    proxy.spoil("/restore", "dropped", "cut")
    assert env.set_state(state) == (record[-1][0], record[-1][4])
    env.close()


def test_opening_twice_opens_one_session(url: str, proxy: Proxy) -> None:
    remote(proxy.url).close()  # what is asked for once a process has been
    before = sessions(url)
    proxy.spoil("/v1/sessions", "dropped", "cut")
    env = remote(proxy.url)
    assert sessions(url) == before + 1
    env.close()
    assert sessions(url) == before


def test_an_expert_whose_answer_is_lost_does_not_skip_a_move(proxy: Proxy) -> None:
    env = remote(proxy.url)
    observation, info = env.reset(seed=1)
    expert = env.expert()
    ended = False
    while not ended:
        proxy.spoil("/expert", "dropped")
        _, action = expert.act(observation, info)
        observation, _, terminated, truncated, info = env.step(action)
        ended = terminated or truncated
    assert info["success"]
    env.close()


def test_a_step_without_an_answer_is_not_mistaken_for_the_next(proxy: Proxy) -> None:
    env = remote(proxy.url, retry_for=0.0)
    env.reset(seed=1)
    proxy.spoil("/step", "dropped")
    with pytest.raises(ServerUnreachable, match=proxy.url):
        env.step("get 1 oak log")
    with pytest.raises(SessionLost, match="may have been played"):
        env.step("inventory")
    assert env.reset(seed=1) == expected()[0]
    env.close()


def test_a_lost_session_is_told_and_a_reset_opens_another(url: str) -> None:
    env = remote(url)
    env.reset(seed=1)
    delete(url, env)
    with pytest.raises(SessionLost, match=r"it was closed.*reset\(\) opens"):
        env.step("inventory")
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step("inventory")
    assert env.reset(seed=1) == expected()[0]
    env.close()


def test_a_lost_episode_is_played_again_where_that_is_wanted(url: str) -> None:
    env = remote(url, recover=True)
    record: list[Any] = [env.reset(seed=1)]
    for action in PLAN:
        delete(url, env)
        record.append(env.step(action))
    assert record == expected()
    delete(url, env)
    assert env.get_state()["history"] == list(PLAN)
    env.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_does_not_play_in_its_parents_session(url: str) -> None:
    env = remote(url)
    record: list[Any] = [env.reset(seed=1)]
    child = os.fork()
    if not child:
        code = 1
        try:
            env.step("inventory")
        except SessionLost as lost:
            code = 7 if "forked" in str(lost) else 2
            code = code if env.reset(seed=1) == record[0] else 3
            env.close()
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    record += [env.step(action) for action in PLAN]
    assert record == expected()
    env.close()


def test_a_server_that_was_restarted(url: str) -> None:
    with serving(ServeSettings(max_workers=1)) as other, proxying(url) as proxy:
        told, kept = remote(proxy.url), remote(proxy.url, recover=True)
        told.reset(seed=1)
        record: list[Any] = [kept.reset(seed=1), kept.step(PLAN[0])]
        proxy.upstream = other
        with pytest.raises(SessionLost, match="restarted"):
            told.step(PLAN[0])
        record += [kept.step(action) for action in PLAN[1:]]
        assert record == expected()
        assert told.reset(seed=1) == record[0]
        told.close()
        kept.close()


def test_a_server_that_is_gone() -> None:
    with serving(ServeSettings(max_workers=1)) as url:
        env = remote(url, retry_for=0.3)
        env.reset(seed=1)
    with pytest.raises(ServerUnreachable, match=f"{url} cannot be reached.*agentgym serve"):
        env.step("inventory")
    began = time.monotonic()
    with pytest.raises(ServerUnreachable, match=r"in [2-9] attempts"):
        env.reset(seed=1)
    assert time.monotonic() - began < 3
    env._session = None  # type: ignore[attr-defined]


def test_a_server_that_never_was_is_told_at_once() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    began = time.monotonic()
    with pytest.raises(ServerUnreachable, match=f"127.0.0.1:{port} cannot be reached"):
        remote(f"http://127.0.0.1:{port}", retry_for=20.0)
    assert time.monotonic() - began < 2


def test_a_server_that_says_nothing() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(8)
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        service = service_of(url, timeout=0.1, retry_for=0.0)
        with pytest.raises(ServerUnreachable, match=r"no answer within 0\.1 s"):
            service.call("x", "step", {"action": "look", "seq": 1})


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (200, b"<html>welcome</html>", "is no agentgym server"),
        (200, b'{"hello": 1}', "has no 'name'"),
        (404, b'{"detail": "Not Found"}', "is no agentgym server"),
        (500, b"oops", "is no agentgym server"),
        (302, b"", "redirects to 'https://elsewhere/'"),
    ],
)
def test_something_else_answers(status: int, body: bytes, message: str) -> None:
    with (
        answering(status, body, location="https://elsewhere/") as url,
        pytest.raises(NotAServer, match=message),
    ):
        remote(url)


def test_a_path_that_is_none_of_the_servers(url: str) -> None:
    with pytest.raises(NotAServer, match=r"url is the address"):
        remote(f"{url}/somewhere")


def test_a_server_without_room_is_asked_again_for_a_while() -> None:
    with serving(ServeSettings(max_workers=1, max_sessions=1)) as url:
        first = remote(url)
        with pytest.raises(NoRoom, match="1 sessions"):
            remote(url, retry_for=0.5)  # it says to come back later than that
        first.close()
        remote(url).close()
    with serving(ServeSettings(max_workers=1)) as url, proxying(url) as proxy:
        proxy.spoil("/v1/sessions", "503", "503", "429")
        remote(proxy.url).close()


def test_tokens(monkeypatch: Any) -> None:
    token = "a-token-nobody-knows"
    with serving(ServeSettings(max_workers=1, token=token)) as url:
        with pytest.raises(Unauthorized, match="AGENTGYM_TOKEN"):
            remote(url)
        with pytest.raises(Unauthorized, match="not the server's token"):
            remote(url, token="another-token")
        env = gymnasium.make(REMOTE, url=url, env_id="textcraft", token=token)
        env.reset(seed=1)
        shown = (repr(env), str(env.spec), env.spec.to_json(), str(vars(type(env.unwrapped))))
        assert all(token not in text for text in shown)
        assert token.encode() not in pickle.dumps(env.unwrapped)
        twin = env.unwrapped.fork()
        twin.step("inventory")
        twin.close()
        frozen = pickle.dumps(env.unwrapped)
        with pytest.raises(Unauthorized):
            pickle.loads(frozen)
        monkeypatch.setenv("AGENTGYM_TOKEN", token)
        pickle.loads(frozen).close()
        remote(url).close()
        env.close()
    with pytest.raises(AgentGymError, match="printable ASCII") as refused:
        remote("http://127.0.0.1:1", token="secret\r\nx: y")
    assert "secret" not in str(refused.value)
    assert "secret" not in repr(Address.of("http://127.0.0.1:1", "secret"))


def test_what_is_dropped_is_closed(url: str) -> None:
    before = sessions(url)
    env = remote(url)
    env.reset(seed=1)
    assert sessions(url) == before + 1
    del env
    gc.collect()
    deadline = time.monotonic() + 10
    while sessions(url) > before and time.monotonic() < deadline:
        time.sleep(0.02)
    assert sessions(url) == before


def test_what_a_program_leaves_open_is_closed_when_it_ends(url: str) -> None:
    before = sessions(url)
    program = (
        "import sys, agentgym\n"
        "env = agentgym.make('agentgym/Remote-v0', url=sys.argv[1], env_id='textcraft')\n"
        "env.reset(seed=1)\n"
        "print(env.step('inventory')[4]['rounds'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, url], capture_output=True, text=True, timeout=60, check=True
    )
    assert (done.stdout, done.stderr) == ("1\n", "")
    assert sessions(url) == before


def test_the_client_needs_nothing_of_the_server() -> None:
    program = (
        "import sys\n"
        "for name in ('fastapi', 'starlette', 'uvicorn', 'msgspec', 'psutil', 'httpx'):\n"
        "    sys.modules[name] = None\n"
        "import agentgym.serve.client.env\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def service_of(url: str, **patience: float) -> Any:
    from agentgym.serve.client.patience import Patience
    from agentgym.serve.client.service import Service

    return Service(Address.of(url), Patience(**patience))


def delete(url: str, env: TextEnv) -> None:
    """Close an environment's session behind its back."""
    session = env._session.id  # type: ignore[attr-defined]
    request = urllib.request.Request(f"{url}/v1/sessions/{session}", method="DELETE")
    with urllib.request.urlopen(request) as answer:
        assert answer.status == 204
    with pytest.raises(urllib.error.HTTPError) as gone:
        urllib.request.urlopen(f"{url}/v1/sessions/{session}")
    assert gone.value.code == 410
    assert json.loads(gone.value.read())["error"]["type"] == "SessionLost"
