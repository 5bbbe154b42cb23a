"""OpenEnv's own clients against our server."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from socket import SHUT_RDWR
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from websockets.exceptions import ConnectionClosedOK
from websockets.sync.client import connect

from agentgym.core import registry
from agentgym.serve.settings import ServeSettings
from tests.serve.server import serving

openenv = pytest.importorskip("openenv.core", exc_type=ImportError)
types = pytest.importorskip("openenv.core.env_server.types", exc_type=ImportError)

HTTP = httpx.Client(timeout=60, verify=False)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(ServeSettings(max_workers=1, max_sessions=80)) as base:
        yield f"{base}/openenv"


class TextClient(openenv.EnvClient):  # type: ignore[misc, name-defined]
    """A client with types of its own, as OpenEnv's environments ship one."""

    def _step_payload(self, action: str) -> dict[str, Any]:
        return {"action": action}

    def _parse_result(self, payload: dict[str, Any]) -> Any:
        text = payload["observation"]["text"]
        return openenv.client_types.StepResult(text, payload["reward"], payload["done"])

    def _parse_state(self, payload: dict[str, Any]) -> Any:
        return types.State(**payload)


def sessions(url: str) -> int:
    metrics = HTTP.get(url.replace("/openenv", "/metrics")).text
    (line,) = (row for row in metrics.splitlines() if row.startswith("agentgym_sessions_open "))
    return int(float(line.split()[1]))


def test_an_expert_plays_through_the_generic_client(url: str) -> None:
    env = registry.make("textcraft")
    with openenv.GenericEnvClient(base_url=f"{url}/textcraft").sync() as client:
        told = client.reset(seed=3, task_id="textcraft_12", episode_id="mine")
        observation, info = env.reset(seed=3, options={"task_id": "textcraft_12"})
        assert told.observation["text"] == observation
        assert told.observation["instructions"] == env.instructions
        assert (told.reward, told.done) == (None, False)
        expert, rewards = env.expert(), []
        while not told.done:
            _, action = expert.act(observation, info)
            observation, reward, _, _, info = env.step(action)
            told = client.step({"action": action})
            assert told.observation["text"] == observation
            assert told.reward == reward
            rewards.append(told.reward)
        assert sum(rewards) == told.observation["score"] == 1.0
        state = client.state()
        assert (state["episode_id"], state["step_count"]) == ("mine", len(rewards))
        assert (state["task_id"], state["success"]) == ("textcraft_12", True)
        with pytest.raises(RuntimeError, match=r"has ended.*EXECUTION_ERROR"):
            client.step({"action": "inventory"})
        assert not client.reset(task_id="textcraft_12").done


@pytest.mark.parametrize("card", registry.cards(), ids=lambda card: card.short_name)
def test_every_environment_is_served(url: str, card: registry.EnvCard) -> None:
    if not card.installed or card.short_name == "SciWorld":  # SciWorld starts a Java process
        pytest.skip("not installed, or slow to start")
    env = registry.make(card.id)
    opening, info = env.reset(seed=3)
    observation, _, terminated, truncated, after = env.step("no such thing")
    place = f"{url}/{card.short_name.lower()}"
    with openenv.GenericEnvClient(base_url=place).sync() as client:
        told = client.reset(seed=3).observation
        assert (told["text"], told["task_id"]) == (opening, info["task_id"])
        assert told["instructions"] == env.instructions
        step = client.step({"action": "no such thing"})
        assert step.observation["text"] == observation
        assert (step.observation["valid"], step.done) == (after["valid"], terminated or truncated)
    env.close()


def test_many_typed_clients_do_not_meet(url: str) -> None:
    async def play(i: int) -> tuple[list[str], Any]:
        async with TextClient(base_url=f"{url}/textcraft") as client:
            await client.reset(task_id=f"textcraft_{i}")
            actions = (f"get {i + 1} sand", "get 1 coal", "inventory")
            texts = [(await client.step(action)).observation for action in actions]
            return texts, await client.state()

    async def all_at_once() -> list[tuple[list[str], Any]]:
        return await asyncio.gather(*(play(i) for i in range(32)))

    for i, (texts, state) in enumerate(asyncio.run(all_at_once())):
        assert texts == [
            f"Got {i + 1} sand",
            "Got 1 coal",
            f"Inventory: [sand] ({i + 1}) [coal] (1) ",
        ]
        assert state.step_count == 3


def test_a_seed_and_a_split_choose_the_task(url: str) -> None:
    with openenv.GenericEnvClient(base_url=f"{url}/maze").sync() as client:
        first = client.reset(seed=5, split="train").observation
        assert client.reset(seed=5, split="train").observation == first
        assert client.reset(seed=6, split="train").observation["task_id"] != first["task_id"]
        assert first["task_id"] in {t.id for t in registry.make("maze").tasks.split("train")}
    with openenv.GenericEnvClient(base_url=f"{url}/maze;edition=official").sync() as client:
        client.reset(task_id="maze_24")
        assert "maze_24" in client.state()["task_id"]


def test_mistakes_are_answered_and_the_session_goes_on(url: str) -> None:
    with openenv.GenericEnvClient(base_url=f"{url}/textcraft").sync() as client:
        assert client.state() == {"episode_id": None, "step_count": 0}
        for call, code, why in (
            (lambda: client.step({"action": "inventory"}), "EXECUTION_ERROR", "reset"),
            (lambda: client.reset(task_id="textcraft_x"), "EXECUTION_ERROR", "textcraft_x"),
            (lambda: client.reset(seed=-1), "VALIDATION_ERROR", "seed"),
            (lambda: client.reset(episode_id=3), "VALIDATION_ERROR", "episode_id"),
            (lambda: client.step({"act": "x"}), "VALIDATION_ERROR", "act"),
            (lambda: client.step({"action": 3}), "VALIDATION_ERROR", "action"),
            (lambda: client.step({}), "VALIDATION_ERROR", "action"),
        ):
            with pytest.raises(RuntimeError, match=why) as raised:
                call()
            assert f"(code: {code})" in str(raised.value)
        assert client.reset(task_id="textcraft_1", anything_else=1).observation["text"]
        text = client.step({"message": "inventory", "metadata": {"note": 1}}).observation["text"]
        assert text == "Inventory: You are not carrying anything."


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        ("{", "INVALID_JSON"),
        ('{"type": "fly"}', "UNKNOWN_TYPE"),
        ('{"data": {}}', "VALIDATION_ERROR"),
        ("[]", "VALIDATION_ERROR"),
        ('{"type": "reset", "data": []}', "VALIDATION_ERROR"),
        ('{"type": "step"}', "VALIDATION_ERROR"),
    ],
)
def test_what_is_no_message_is_answered_with_openenvs_codes(url: str, raw: str, code: str) -> None:
    address = url.replace("http", "ws", 1)
    with connect(f"{address}/textcraft/ws") as socket:
        socket.send(raw)
        answer = types.WSErrorResponse(**json.loads(socket.recv()))
        assert answer.data["code"] == code == types.WSErrorCode(code).value
        socket.send('{"type": "state"}')
        types.WSStateResponse(**json.loads(socket.recv()))
        socket.send('{"type": "close"}')
        with pytest.raises(ConnectionClosedOK):
            socket.recv()


def test_a_session_ends_with_its_connection(url: str) -> None:
    before = sessions(url)
    with openenv.GenericEnvClient(base_url=f"{url}/textcraft").sync() as client:
        client.reset()
        assert sessions(url) == before + 1
    address = url.replace("http", "ws", 1)
    with connect(f"{address}/textcraft/ws") as socket:
        socket.send('{"type": "reset"}')
        socket.recv()
        socket.socket.shutdown(SHUT_RDWR)  # without a word
    deadline = time.monotonic() + 20
    while sessions(url) > before:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_an_environment_that_is_not_there_and_a_full_server(url: str) -> None:
    lost = openenv.GenericEnvClient(base_url=f"{url}/textcrft").sync()
    with lost, pytest.raises(RuntimeError, match=r"TextCraft.*FACTORY_ERROR"):
        lost.reset()
    with serving(ServeSettings(max_workers=1, max_sessions=1)) as base:
        path = f"{base}/openenv/textcraft"
        with openenv.GenericEnvClient(base_url=path).sync() as first:
            first.reset()
            second = openenv.GenericEnvClient(base_url=path).sync()
            with second, pytest.raises(RuntimeError, match="CAPACITY_REACHED"):
                second.reset()
            assert HTTP.post(f"{path}/reset").status_code == 503
            assert first.step({"action": "inventory"}).observation["valid"]


def test_the_http_routes_have_openenvs_shapes(url: str) -> None:
    base = f"{url}/textcraft"
    assert types.HealthResponse(**HTTP.get(f"{base}/health").json()).status == "healthy"
    assert types.EnvironmentMetadata(**HTTP.get(f"{base}/metadata").json()).name == "TextCraft"
    schema = types.SchemaResponse(**HTTP.get(f"{base}/schema").json())
    assert schema.action["required"] == ["action"]
    assert types.State(**HTTP.get(f"{base}/state").json()).step_count == 0
    began = types.ResetResponse(
        **HTTP.post(f"{base}/reset", json={"task_id": "textcraft_2"}).json()
    )
    assert set(began.observation) <= set(schema.observation["properties"])
    assert types.ResetResponse(**HTTP.post(f"{base}/reset").json()).observation["text"]
    step = {"action": {"action": "get 3 sand"}, "task_id": "textcraft_2", "timeout_s": 5}
    told = types.StepResponse(**HTTP.post(f"{base}/step", json=step).json())
    assert told.observation["text"] == "Got 3 sand"
    wrong = HTTP.post(f"{base}/step", json={"action": {"value": 1}})
    assert wrong.status_code == 422
    assert wrong.json()["detail"][0]["loc"] == ["value"]
    assert HTTP.get(f"{base}/reset").status_code == 404
    assert HTTP.get(f"{url}/nowhere/health").status_code == 404
    assert sessions(url) == 0


def test_the_token_is_shown_in_the_url() -> None:
    with serving(ServeSettings(max_workers=1, token="a-long-token")) as base:
        client = openenv.GenericEnvClient(base_url=f"{base}/openenv/textcraft").sync()
        with pytest.raises(ConnectionError, match="401"):
            client.connect()
        client.close()
        host = base.removeprefix("http://")
        address = f"http://agent:a-long-token@{host}/openenv/textcraft"
        with openenv.GenericEnvClient(base_url=address).sync() as client:
            assert client.reset().observation["text"]


def test_the_server_does_without_openenv() -> None:
    code = (
        "import sys; from agentgym.serve.app import create_app; create_app(); "
        "sys.exit(any(name.split('.')[0] == 'openenv' for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)
messages = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["reset", "step", "state", "mcp"]) | json_values,
        "data": json_values
        | st.dictionaries(
            st.sampled_from(["action", "text", "seed", "task_id", "split", "episode_id"]),
            json_values,
        ),
    },
)


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(sent=st.lists(messages, max_size=10))
def test_whatever_is_said_is_answered(url: str, sent: list[dict[str, Any]]) -> None:
    address = url.replace("http", "ws", 1)
    with connect(f"{address}/maze/ws") as socket:
        for message in sent:
            if message.get("type") != "close":
                socket.send(json.dumps(message))
                answer = json.loads(socket.recv())
                assert answer["type"] in ("observation", "state", "error")
        socket.send('{"type": "reset"}')
        assert json.loads(socket.recv())["type"] == "observation"
