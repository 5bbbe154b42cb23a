"""AgentEvolver's client, unchanged but for the URL it is given."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentgym.core import registry
from agentgym.core.command import match_call
from agentgym.serve.settings import ServeSettings
from tests.serve.agentevolver_client import EnvClient
from tests.serve.server import serving

# What is quick to start and needs no extra; the service knows nothing of any of them.
LIGHT = ("TextCraft", "Maze", "Wordle", "ALFWorld", "Weather", "BIRD")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(ServeSettings(max_workers=1)) as base:
        yield f"{base}/agentevolver"


@pytest.fixture(scope="module")
def client(url: str) -> EnvClient:
    return EnvClient(url)


def reply(action: str, thought: str = "This is next.") -> dict[str, Any]:
    return {"role": "assistant", "content": f"Thought: {thought}\nAction: {action}"}


@pytest.mark.parametrize("name", LIGHT)
def test_an_expert_solves_a_task_through_the_service(client: EnvClient, name: str) -> None:
    task_id = client.get_env_profile(name.lower(), "dev")[0]
    began = client.create_instance(name.upper(), task_id)
    system, user = began["state"]  # the published worker needs exactly these two
    assert (system["role"], user["role"]) == ("system", "user")
    assert "Thought:" in system["content"]

    env = registry.make(name)
    observation, info = env.reset(options={"task_id": task_id}, seed=0)
    assert env.instructions.strip() in system["content"]
    assert user["content"] == observation
    instance, result, expert = began["info"]["instance_id"], began, env.expert()
    while not result["is_terminated"]:
        thought, action = expert.act(observation, info)
        observation, _, _, _, info = env.step(action)
        result = client.step(instance, reply(action, " ".join(thought.split())))
        assert [message["role"] for message in result["state"]] == ["user"]
        assert result["state"][0]["content"] == observation
        assert result["reward"] == info["score"]
    assert result["info"]["success"]
    assert result["info"]["task_id"] == task_id
    assert client.evaluate(instance) == client.evaluate(instance, sparse=True) == 1.0
    assert client.release_instance(instance)
    assert not client.release_instance(instance)


@pytest.mark.parametrize("card", registry.cards(), ids=lambda card: card.short_name)
def test_every_environment_is_served(client: EnvClient, card: registry.EnvCard) -> None:
    if not card.installed or card.short_name == "SciWorld":  # SciWorld starts a Java process
        pytest.skip("not installed, or slow to start")
    task_id = client.get_env_profile(card.short_name.lower(), "test")[0]
    began = client.create_instance(card.short_name.lower(), task_id)
    assert began["info"]["task_id"] == task_id
    told = client.step(began["info"]["instance_id"], reply("no such thing"))
    assert told["state"][0]["content"]
    assert client.release_instance(began["info"]["instance_id"])


def test_tool_calls_are_actions(client: EnvClient) -> None:
    began = client.create_instance("textcraft", "textcraft_5", "tools", action_format="react")
    info = client.get_tools_info("tools")
    names = [tool["function"]["name"] for tool in info["tools"]]
    assert names == ["get", "craft", "inventory"]
    call = {"id": "1", "function": {"name": "get", "arguments": '{"count": 2, "item": "sand"}'}}
    told = client.step("tools", {"role": "assistant", "content": None, "tool_calls": [call]})
    assert told["state"][0]["content"] == "Got 2 sand"
    call["function"] = {"name": "get", "arguments": {"count": 1, "item": "sand"}}  # decoded
    told = client.step("tools", {"role": "assistant", "content": "", "tool_calls": [call]})
    assert told["state"][0]["content"] == "Got 1 sand"
    call["function"] = {"name": "fly", "arguments": "{}"}
    told = client.step("tools", {"role": "assistant", "content": "", "tool_calls": [call]})
    assert "no function 'fly'" in told["state"][0]["content"]
    assert told["info"]["rounds"] == 3
    assert not began["is_terminated"]
    client.release_instance("tools")


@pytest.mark.parametrize(
    ("action_format", "content"),
    [
        ("function_calling", '{"thought": "", "function_name": "inventory", "arguments": {}}'),
        ("code_as_action", "```python\n# look\ninventory()\n```"),
    ],
)
def test_the_format_of_replies_can_be_chosen(
    client: EnvClient, action_format: str, content: str
) -> None:
    began = client.create_instance(
        "textcraft", "textcraft_5", "format", action_format=action_format
    )
    assert "inventory" in began["state"][0]["content"]
    told = client.step("format", {"role": "assistant", "content": content})
    assert told["state"][0]["content"] == "Inventory: You are not carrying anything."
    wrong = client.step("format", reply("inventory"))
    assert not wrong["info"]["valid"]
    client.release_instance("format")


def test_a_reply_without_an_action_costs_a_round(client: EnvClient) -> None:
    client.create_instance("textcraft", "textcraft_5", "mute", max_rounds=2)
    told = client.step("mute", {"role": "assistant", "content": "Let me see."})
    assert "No action was found" in told["state"][0]["content"]
    assert (told["info"]["rounds"], told["is_terminated"]) == (1, False)
    ended = client.step("mute", {"role": "assistant", "content": "Let me see."})
    assert ended["is_terminated"]
    again = client.step("mute", reply("inventory"))  # the client may not have had the answer
    assert again == ended
    assert client.evaluate("mute") == 0.0
    client.release_instance("mute")


def test_dense_and_sparse_rewards(client: EnvClient) -> None:
    task_id = client.get_env_profile("weather", "train")[0]
    client.create_instance("weather", task_id, "reward")
    env = registry.make("weather")
    observation, info = env.reset(options={"task_id": task_id}, seed=0)
    _, action = env.expert().act(observation, info)
    score = env.step(action)[-1]["score"]
    assert 0 < score < 1
    assert client.step("reward", reply(action))["reward"] == score
    assert client.evaluate("reward") == score
    assert client.evaluate("reward", sparse=True) == 0.0
    client.release_instance("reward")


def test_the_splits_are_ours_under_their_names(client: EnvClient) -> None:
    train, dev = client.get_env_profile("maze"), client.get_env_profile("maze", "dev")
    tasks = registry.make("maze").tasks
    assert train == [task.id for task in tasks.split("train")]
    assert dev == [task.id for task in tasks.split("eval")]
    for name in ("val", "test_normal", "test_challenge", "eval"):
        assert client.get_env_profile("maze", name) == dev
    official = client.get_env_profile("maze", "dev", edition="official")
    assert official[0] == "maze_0"
    assert len(official) == 25
    refused(client, 404, "unknown split", "get_env_profile", env_type="maze", params={"split": "x"})


@pytest.mark.parametrize("name", ["appworld", "bfcl", "default", "../etc"])
def test_an_environment_that_is_not_there_is_named(client: EnvClient, name: str) -> None:
    refused(client, 404, f"unknown environment {name!r}", "create", env_type=name, task_id="a_1")


def refused(client: EnvClient, status: int, why: str, endpoint: str, **given: Any) -> None:
    with pytest.raises(httpx.HTTPStatusError) as raised:
        client.request(endpoint, **given)
    assert raised.value.response.status_code == status
    said = raised.value.response.json()
    assert why in said["detail"]
    assert not said["success"]


def test_mistakes_are_named(client: EnvClient) -> None:
    refused(client, 400, "task_id is required", "create", env_type="maze")
    refused(client, 404, "maze_99999", "create", env_type="maze", task_id="maze_99999")
    refused(client, 400, "instance_id is required", "step")
    refused(client, 404, "there is no session", "step", instance_id="nobody", messages=reply("x"))
    client.create_instance("maze", "maze_1", "mine")
    refused(client, 400, "neither", "step", instance_id="mine", messages={"role": "assistant"})
    refused(client, 400, "must be text", "step", instance_id="mine", messages={"content": 3})
    wrong = {"action_format": "smoke"}
    refused(client, 404, "unknown action format", "step", instance_id="mine", params=wrong,
            messages=reply("move up"))  # fmt: skip
    assert client.get_tools_info("mine")["rounds"] == 0
    client.release_instance("mine")
    refused(client, 410, "it was closed", "evaluate", instance_id="mine")
    for body in ("[]", "{", '{"params": 3}', '{"task_id": 3}'):
        answer = client.http.post(f"{client.base_url}/create", content=body)
        assert answer.status_code == 400
        assert answer.json()["detail"]


def test_a_create_that_is_asked_again_begins_anew(client: EnvClient) -> None:
    first = client.create_instance("maze", "maze_1", "twice")
    client.step("twice", reply("move up"))
    second = client.create_instance("maze", "maze_1", "twice")
    assert first == second
    assert client.get_tools_info("twice")["rounds"] == 0
    client.release_instance("twice")


def test_an_instance_is_not_created_twice_at_once(client: EnvClient) -> None:
    def create(_: int) -> str:
        try:
            client.create_instance("textcraft", "textcraft_3", "race")
        except httpx.HTTPStatusError as error:
            return str(error.response.status_code)
        return "made"

    with ThreadPoolExecutor(8) as pool:
        fates = set(pool.map(create, range(8)))
    assert "made" in fates
    assert fates <= {"made", "503"}
    assert client.get_tools_info("race")["rounds"] == 0
    assert client.release_instance("race")
    assert not client.release_instance("race")


def test_instances_do_not_meet_and_belong_to_this_service(client: EnvClient, url: str) -> None:
    def play(i: int) -> list[str]:
        client.create_instance("textcraft", f"textcraft_{i}", f"i{i}")
        texts = [client.step(f"i{i}", reply(f"get {i + 1} sand"))["state"][0]["content"]]
        texts.append(client.step(f"i{i}", reply("inventory"))["state"][0]["content"])
        return texts

    with ThreadPoolExecutor(16) as pool:
        told = list(pool.map(play, range(16)))
    assert told == [[f"Got {i + 1} sand", f"Inventory: [sand] ({i + 1}) "] for i in range(16)]
    for i in range(16):
        assert client.release_instance(f"i{i}")
    client.create_instance("textcraft", "textcraft_1", "7")
    other = url.replace("agentevolver", "agentgym/textcraft")
    step = {"id": 7, "action": "inventory"}
    assert client.http.post(f"{other}/step", content=json.dumps(step)).status_code == 404
    client.release_instance("7")


def test_health(client: EnvClient) -> None:
    answer = client.http.get(f"{client.base_url}/healthz")
    assert (answer.status_code, answer.text) == (200, "OK")


def test_commands_survive_the_way_from_the_worker(client: EnvClient) -> None:
    from agentgym.serve.dialects.profiles import read_command
    from agentgym.serve.worker import _command

    for name in ("TextCraft", "ALFWorld", "Weather"):
        for command in registry.find_card(name).load().commands:
            same = read_command(json.loads(json.dumps(_command(command))))
            assert same == command
            assert match_call([same], command.usage) == match_call([command], command.usage)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    verb=st.sampled_from(["create", "step", "evaluate", "get_info", "get_env_profile", "release"]),
    given=st.fixed_dictionaries(
        {},
        optional={
            "env_type": st.just("maze") | json_values,
            "task_id": st.just("maze_1") | json_values,
            "instance_id": st.just("fuzz") | json_values,
            "messages": st.fixed_dictionaries(
                {}, optional={"content": json_values, "tool_calls": json_values}
            )
            | json_values,
            "params": st.dictionaries(
                st.sampled_from(["split", "seed", "action_format", "edition", "max_rounds"]),
                json_values,
            )
            | json_values,
        },
    ),
)
def test_whatever_comes_in_is_answered(client: EnvClient, verb: str, given: dict[str, Any]) -> None:
    answer = client.http.post(f"{client.base_url}/{verb}", content=json.dumps(given))
    assert answer.status_code in (200, 400, 404, 409, 410, 422), answer.text
    assert isinstance(answer.json()["success"], bool)
