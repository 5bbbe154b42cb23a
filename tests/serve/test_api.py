"""Our own protocol over a real socket: what requests do, and what is said of wrong ones."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from agentgym.core import make
from agentgym.serve import schema
from agentgym.serve.api import Api
from agentgym.serve.operations import operations
from agentgym.serve.settings import ServeSettings
from agentgym.serve.store import SessionStore
from tests.serve.server import serving

TABLE = operations(Api(SessionStore()))
ONE_EACH = [pytest.param(o, id=f"{o.method} {o.path}") for o in TABLE]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(ServeSettings(max_workers=1, max_batch=8)) as base:
        yield base


@pytest.fixture(scope="module")
def http(url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=url, timeout=60) as client:
        yield client


def opened(http: httpx.Client, environment: str = "textcraft", **more: Any) -> dict[str, Any]:
    reset = more.pop("reset", {"seed": 1})
    asked = {"environment": environment, "reset": reset, **more}
    answer = http.post("/v1/sessions", json=asked)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def problem(answer: httpx.Response, status: int, kind: str) -> str:
    """Return the message of an answer that must be a problem of this status and kind."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    told = schema.Error.model_validate_json(answer.content).error
    assert (told.type, told.types[0]) == (kind, kind)
    return told.message


# What there is.


def test_the_environments_are_listed(http: httpx.Client) -> None:
    listed = schema.Environments.model_validate_json(http.get("/v1/environments").content)
    assert "agentgym/TextCraft-v0" in [card.id for card in listed.environments]


@pytest.mark.parametrize(
    "name", ["textcraft", "TextCraft", "TextCraft-v0", "agentgym/TextCraft-v0"]
)
def test_an_environment_is_described_by_any_of_its_names(http: httpx.Client, name: str) -> None:
    about = schema.EnvironmentAbout.model_validate_json(
        http.get(f"/v1/environments/{name}").content
    )
    env = make("textcraft")
    assert about.environment == "agentgym/TextCraft-v0"
    assert about.instructions == env.instructions
    assert about.tasks == env.tasks.sizes


def test_options_come_by_query_or_by_body(http: httpx.Client) -> None:
    by_query = http.get("/v1/environments/textcraft?max_rounds=7&edition=mini").json()
    body = {"options": {"max_rounds": 7, "edition": "mini"}}
    assert by_query == http.post("/v1/environments/textcraft", json=body).json()
    assert by_query["max_rounds"] == 7


def test_tasks_are_paged_through(http: httpx.Client) -> None:
    env = make("textcraft")
    ids: list[str] = []
    while True:
        asked = {"split": "eval", "offset": len(ids), "limit": 150}
        answer = http.get("/v1/environments/textcraft/tasks", params=asked)
        page = schema.Tasks.model_validate_json(answer.content)
        assert page.total == len(env.tasks.split("eval"))
        if not page.tasks:
            break
        ids += [task.id for task in page.tasks]
    assert ids == [task.id for task in env.tasks.split("eval")]
    first = http.get("/v1/environments/agentgym/TextCraft-v0/tasks").json()
    assert len(first["tasks"]) == 100
    assert set(first["tasks"][0]) == {"id", "index", "split", "kind"}  # nothing of what is in it


@pytest.mark.parametrize(
    ("query", "status", "kind"),
    [
        ("limit=1001", 400, "BadRequest"),
        ("limit=-1", 400, "BadRequest"),
        ("offset=x", 400, "BadRequest"),
        ("offset=٣", 400, "BadRequest"),
        ("split=test", 404, "UnknownSplit"),
        ("edition=huge", 404, "UnknownEdition"),
        ("data_dir=/etc", 422, "InvalidConfig"),
    ],
)
def test_a_wrong_query_is_named(http: httpx.Client, query: str, status: int, kind: str) -> None:
    problem(http.get(f"/v1/environments/textcraft/tasks?{query}"), status, kind)


# A session's life.


def test_a_session_plays_what_the_environment_plays(http: httpx.Client) -> None:
    env = make("textcraft", max_rounds=5)
    observation, info = env.reset(seed=3, options={"task_id": "textcraft_12"})
    reset = {"seed": 3, "task_id": "textcraft_12"}
    found = opened(http, options={"max_rounds": 5}, reset=reset)
    session = f"/v1/sessions/{found['session']}"
    first = {"observation": observation, "reward": 0.0, "terminated": False, "truncated": False}
    assert found["turn"] == {**first, "info": info}
    expert = env.expert()
    for n in range(5):
        thought, action = expert.act(observation, info)
        advice = http.post(f"{session}/expert").json()
        assert advice == {"thought": thought, "action": action}
        answer = http.post(f"{session}/step", json={"action": action})
        observation, reward, terminated, truncated, info = env.step(action)
        assert answer.json() == {
            "observation": observation, "reward": reward, "terminated": terminated,
            "truncated": truncated, "info": info,
        }  # fmt: skip
        assert answer.headers["agentgym-seq"] == str(n + 2)
        assert http.post(f"{session}/observe").json() == answer.json()
        if terminated or truncated:
            break
    assert http.post(f"{session}/render").json() == {"render": env.render()}
    assert http.delete(session).status_code == 204


def test_what_is_told_of_a_session(http: httpx.Client) -> None:
    answer = http.post("/v1/sessions", json={"environment": "Maze", "options": {"max_rounds": 9}})
    found = schema.OpenedSession.model_validate_json(answer.content)
    assert found.turn is None
    assert found.environment == "agentgym/Maze-v0"
    assert found.options == {"max_rounds": 9}
    assert found.about.max_rounds == 9
    assert answer.headers["location"] == f"/v1/sessions/{found.session}"
    assert answer.headers["agentgym-seq"] == "0"
    again = http.get(answer.headers["location"])
    assert schema.Session.model_validate_json(again.content).about == found.about


def test_a_closed_session_is_gone_for_good(http: httpx.Client) -> None:
    session = f"/v1/sessions/{opened(http)['session']}"
    assert http.delete(session).status_code == 204
    for answer in (http.delete(session), http.get(session), http.post(f"{session}/observe")):
        assert "closed" in problem(answer, 410, "SessionLost")
    message = problem(http.get("/v1/sessions/nobody"), 404, "UnknownSession")
    assert "'nobody'" in message


def test_a_key_opens_one_session_however_often_it_is_asked(http: httpx.Client) -> None:
    asked = {"environment": "textcraft", "key": "once", "reset": {"seed": 2}}
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: http.post("/v1/sessions", json=asked), range(8)))
    assert {a.status_code for a in answers} == {201}
    assert len({a.text for a in answers}) == 1
    wrong = http.post("/v1/sessions", json={"environment": "maze", "key": "once"})
    assert "TextCraft" in problem(wrong, 422, "InvalidConfig")
    http.delete(f"/v1/sessions/{answers[0].json()['session']}")
    problem(http.post("/v1/sessions", json=asked), 410, "SessionLost")


def test_a_session_whose_first_episode_cannot_begin_does_not_stay(http: httpx.Client) -> None:
    before = open_sessions(http)
    asked = {"environment": "textcraft", "reset": {"task_id": "textcraft_x"}}
    problem(http.post("/v1/sessions", json=asked), 404, "UnknownTask")
    assert open_sessions(http) == before


def open_sessions(http: httpx.Client) -> float:
    lines = http.get("/metrics").text.splitlines()
    (line,) = (x for x in lines if x.startswith("agentgym_sessions_open "))
    return float(line.split()[1])


def test_a_fork_goes_its_own_way(http: httpx.Client) -> None:
    session = f"/v1/sessions/{opened(http)['session']}"
    http.post(f"{session}/step", json={"action": "inventory"})
    seen = http.post(f"{session}/observe").json()
    twin = http.post(f"{session}/fork")
    assert twin.status_code == 201
    other = f"/v1/sessions/{twin.json()['session']}"
    assert twin.json()["turn"] == seen
    stepped = http.post(f"{other}/step", json={"action": "look", "seq": 1})
    assert stepped.json()["info"]["rounds"] == 2
    assert http.post(f"{session}/observe").json() == seen


def test_a_snapshot_leads_back_in_any_session(http: httpx.Client) -> None:
    session = f"/v1/sessions/{opened(http)['session']}"
    seen = http.post(f"{session}/step", json={"action": "inventory"}).json()
    state = http.post(f"{session}/state").json()
    elsewhere = f"/v1/sessions/{opened(http, reset=None)['session']}"
    restored = http.post(f"{elsewhere}/restore", json=state)
    assert restored.json() == {**seen, "reward": 0.0}
    http.post(f"{session}/step", json={"action": "look"})
    assert http.post(f"{session}/restore", json=state).json()["info"] == seen["info"]
    maze = f"/v1/sessions/{opened(http, 'maze')['session']}"
    problem(http.post(f"{maze}/restore", json=state), 422, "InvalidState")


def test_a_forfeit_costs_a_round(http: httpx.Client) -> None:
    session = f"/v1/sessions/{opened(http)['session']}"
    answer = http.post(f"{session}/forfeit", json={"message": "Say an action."}).json()
    assert answer["observation"] == "Say an action."
    assert (answer["info"]["rounds"], answer["info"]["valid"]) == (1, False)


def test_a_drawn_action_follows_from_its_seed(http: httpx.Client) -> None:
    session = f"/v1/sessions/{opened(http, 'maze')['session']}"
    drawn = [http.post(f"{session}/sample", json={"seed": n}).json()["action"] for n in range(20)]
    assert drawn == [
        http.post(f"{session}/sample", json={"seed": n}).json()["action"] for n in range(20)
    ]
    assert len(set(drawn)) > 1


def test_before_the_first_reset_nothing_can_be_played(http: httpx.Client) -> None:
    session = f"/v1/sessions/{opened(http, reset=None)['session']}"
    for verb, body in (("step", {"action": "x"}), ("observe", {}), ("state", {}), ("fork", {})):
        problem(http.post(f"{session}/{verb}", json=body), 409, "ResetNeeded")


def test_any_text_is_an_action(http: httpx.Client) -> None:
    session = f"/v1/sessions/{opened(http)['session']}"
    for action in ("", "é\u0000\n日本", "\ud800", "x" * 100_000):
        body = json.dumps({"action": action}).encode()
        answer = http.post(f"{session}/step", content=body)
        assert answer.status_code == 200, answer.text
        assert answer.json()["info"]["valid"] is False


# Numbers, and two at a time.


def test_a_call_with_a_number_acts_once(http: httpx.Client) -> None:
    session = f"/v1/sessions/{opened(http)['session']}"
    first = http.post(f"{session}/step", json={"action": "inventory", "seq": 2})
    again = http.post(f"{session}/step", json={"action": "inventory", "seq": 2})
    assert again.content == first.content
    assert again.headers["agentgym-seq"] == first.headers["agentgym-seq"] == "2"
    assert http.post(f"{session}/observe").json()["info"]["rounds"] == 1
    for wrong in (1, 4, 2**62):
        refused = http.post(f"{session}/step", json={"action": "inventory", "seq": wrong})
        assert "seq 3" in problem(refused, 409, "OutOfStep")
        assert refused.headers["agentgym-seq"] == "2"
    # Without a number there is no protection, and the count goes on.
    plain = http.post(f"{session}/step", json={"action": "inventory"})
    assert plain.headers["agentgym-seq"] == "3"


def test_an_error_is_repeated_as_well(http: httpx.Client) -> None:
    session = f"/v1/sessions/{opened(http, reset=None)['session']}"
    wrong = {"task_id": "textcraft_x", "seq": 1}
    first = http.post(f"{session}/reset", json=wrong)
    problem(first, 404, "UnknownTask")
    assert http.post(f"{session}/reset", json=wrong).content == first.content
    assert first.headers["agentgym-seq"] == "1"
    assert http.post(f"{session}/reset", json={"seed": 1, "seq": 2}).status_code == 200


def test_two_clients_of_one_session_take_turns(http: httpx.Client, url: str) -> None:
    found = opened(http, options={"max_rounds": 1000})
    session = f"/v1/sessions/{found['session']}"

    def play(_: int) -> list[int]:
        with httpx.Client(base_url=url, timeout=60) as own:
            answers = [own.post(f"{session}/step", json={"action": "inventory"}) for _ in range(40)]
        return [answer.json()["info"]["rounds"] for answer in answers]

    with ThreadPoolExecutor(2) as pool:
        rounds = [n for played in pool.map(play, range(2)) for n in played]
    assert sorted(rounds) == list(range(1, 81))


def test_a_client_that_leaves_in_mid_step_loses_nothing(http: httpx.Client, url: str) -> None:
    session = f"/v1/sessions/{opened(http)['session']}"
    body = b'{"action": "look", "seq": 2}'
    head = f"POST {session}/step HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {len(body)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", httpx.URL(url).port)) as client:
        client.sendall(head.encode() + body)
    # Whether it came through or not: the number makes it play exactly once.
    answer = http.post(f"{session}/step", json={"action": "look", "seq": 2})
    assert answer.json()["info"]["rounds"] == 1


# Batches.


def test_a_batch_answers_each_step_in_order(http: httpx.Client) -> None:
    names = [opened(http, reset={"seed": n})["session"] for n in range(3)]
    closed = opened(http)["session"]
    http.delete(f"/v1/sessions/{closed}")
    asked = [
        {"session": names[0], "action": "inventory", "seq": 2},
        {"session": names[1], "action": "inventory"},
        {"session": 'no "one"', "action": "inventory"},
        {"session": names[0], "action": "inventory", "seq": 2},
        {"session": names[2], "action": "inventory", "seq": 7},
        {"session": closed, "action": "inventory"},
    ]
    answer = http.post("/v1/steps", json=asked)
    told = TypeAdapter(list[schema.BatchAnswer]).validate_json(answer.content)
    assert [one["session"] for one in answer.json()] == [one["session"] for one in asked]
    assert [one.status for one in told] == [200, 200, 404, 200, 409, 410]
    assert [one.seq for one in told] == [2, 2, None, 2, 1, None]
    assert told[0].answer == told[3].answer != None  # noqa: E711
    assert [one.error and one.error.type for one in told] == [
        None, None, "UnknownSession", None, "OutOfStep", "SessionLost",
    ]  # fmt: skip


def test_a_name_that_is_no_unicode_is_no_session(http: httpx.Client) -> None:
    answer = http.post("/v1/steps", content=b'[{"session": "\\ud800", "action": "x"}]')
    assert answer.json()[0]["session"] == "\ud800"
    assert answer.json()[0]["status"] == 404


def test_a_batch_that_cannot_be_read_plays_nothing(http: httpx.Client) -> None:
    name = opened(http)["session"]
    good = {"session": name, "action": "inventory"}
    message = problem(http.post("/v1/steps", json=[good, {"session": name}]), 400, "BadRequest")
    assert message.startswith("step 1: the field 'action' is missing")
    problem(http.post("/v1/steps", json={"steps": [good]}), 400, "BadRequest")
    assert "at most 8" in problem(http.post("/v1/steps", json=[good] * 9), 413, "TooLarge")
    assert http.post(f"/v1/sessions/{name}/observe").json()["info"]["rounds"] == 0
    assert http.post("/v1/steps", json=[]).json() == []


# What is wrong is named.


@pytest.mark.parametrize(
    ("verb", "body", "told"),
    [
        ("step", {}, "'action' is missing"),
        ("step", {"action": None}, "'action' is missing"),
        ("step", {"action": 5}, "'action' must be text, got a number"),
        ("step", {"action": ["go"]}, "'action' must be text, got a list"),
        ("step", {"action": "x", "seq": "1"}, "'seq' must be a whole number, got text"),
        ("step", {"action": "x", "seq": True}, "'seq' must be a whole number, got true or false"),
        ("step", {"action": "x", "seq": 0}, "'seq' must be from 1"),
        ("step", {"action": "x", "sequence": 1}, "unknown field 'sequence'"),
        ("step", [], "a JSON object is wanted, got a list"),
        ("reset", {"seed": -1}, "'seed' must be from 0"),
        ("reset", {"seed": 1.5}, "'seed' must be a whole number"),
        ("reset", {"seed": 10**30}, "'seed' must be from 0"),
        ("reset", {"task_id": 12}, "'task_id' must be text"),
        ("reset", {"split": "x" * 600}, "'split' must be text of at most 512"),
        ("forfeit", {}, "'message' is missing"),
        ("restore", {}, "'state' is missing"),
        ("restore", {"state": "x"}, "'state' must be an object"),
        ("expert", {"fresh": 1}, "'fresh' must be true or false"),
        ("observe", {"x": 1}, "unknown field 'x'"),
    ],
)
def test_a_wrong_field_is_named(http: httpx.Client, verb: str, body: Any, told: str) -> None:
    session = f"/v1/sessions/{shared(http)}"
    assert told in problem(http.post(f"{session}/{verb}", json=body), 400, "BadRequest")


@pytest.mark.parametrize(
    "body", [b"{", b"\xff\xfe", b'{"action": "\xff"}', b"nul", b"[" * 100_000, b"1" * 5_000]
)
def test_what_is_no_json_is_refused(http: httpx.Client, body: bytes) -> None:
    answer = http.post(f"/v1/sessions/{shared(http)}/step", content=body)
    problem(answer, 400, "BadRequest")


def test_nesting_without_end_is_refused(http: httpx.Client) -> None:
    state: Any = {}
    for _ in range(500):
        state = {"x": state}
    answer = http.post(f"/v1/sessions/{shared(http)}/restore", json={"state": state})
    assert "nested too deeply" in problem(answer, 400, "BadRequest")


@pytest.mark.parametrize(
    ("asked", "status", "kind"),
    [
        ({"environment": "textcraf"}, 404, "UnknownEnvironment"),
        ({"environment": "textcraft", "options": {"max_rounds": 0}}, 422, "InvalidConfig"),
        ({"environment": "textcraft", "options": {"data_dir": "/etc"}}, 422, "InvalidConfig"),
        ({"environment": "textcraft", "options": {"letters": 5}}, 422, "InvalidConfig"),
        ({"environment": "textcraft", "options": {"edition": "x"}}, 404, "UnknownEdition"),
        ({"environment": "textcraft", "options": []}, 400, "BadRequest"),
        ({"environment": "textcraft", "reset": {"seq": 1}}, 400, "BadRequest"),
        ({"environment": "textcraft", "key": 7}, 400, "BadRequest"),
        ({}, 400, "BadRequest"),
    ],
)
def test_a_session_that_cannot_be_is_refused(
    http: httpx.Client, asked: dict[str, Any], status: int, kind: str
) -> None:
    problem(http.post("/v1/sessions", json=asked), status, kind)


def test_paths_and_methods_that_are_not_there(http: httpx.Client) -> None:
    assert "GET /v1/nothing" in problem(http.get("/v1/nothing"), 404, "NoSuchRoute")
    answer = http.put("/v1/sessions")
    problem(answer, 405, "NoSuchRoute")
    assert answer.headers["allow"] == "POST"


def test_no_room_says_when_to_come_back() -> None:
    with (
        serving(ServeSettings(max_workers=1, max_sessions=2)) as base,
        httpx.Client(base_url=base, timeout=60) as own,
    ):
        names = [opened(own)["session"] for _ in range(2)]
        full = own.post("/v1/sessions", json={"environment": "textcraft"})
        problem(full, 503, "NoRoom")
        assert int(full.headers["retry-after"]) > 0
        twin = own.post(f"/v1/sessions/{names[0]}/fork")
        problem(twin, 503, "NoRoom")
        own.delete(f"/v1/sessions/{names[0]}")
        opened(own)


def test_experts_can_be_kept_silent() -> None:
    silent = ServeSettings(max_workers=1, experts=False, options=("data_dir",))
    with serving(silent) as base, httpx.Client(base_url=base, timeout=60) as own:
        session = opened(own)["session"]
        problem(own.post(f"/v1/sessions/{session}/expert"), 403, "Forbidden")
        # An option that was allowed reaches the environment.
        nowhere = {"edition": "official", "data_dir": "/nowhere"}
        asked = {"environment": "webshop", "options": nowhere}
        assert own.post("/v1/sessions", json=asked).status_code == 501


def test_a_killed_worker_costs_its_own_sessions(http: httpx.Client) -> None:
    others = {p.pid for p in psutil.Process().children(recursive=True)}
    lost = opened(http, "wordle")["session"]
    (worker,) = (p for p in psutil.Process().children(recursive=True) if p.pid not in others)
    kept = opened(http, "maze")["session"]
    worker.kill()
    worker.wait(10)
    time.sleep(0.3)
    gone = http.post(f"/v1/sessions/{lost}/step", json={"action": "crane"})
    assert "SIGKILL" in problem(gone, 410, "SessionLost")
    assert http.post(f"/v1/sessions/{kept}/observe").status_code == 200
    opened(http, "wordle")  # another worker takes its place


# Whatever comes, no request is the server's undoing.

names = st.sampled_from(
    ["action", "seq", "seed", "task_id", "split", "session", "environment", "options", "key",
     "reset", "state", "message", "fresh", "edition", "max_rounds"]
) | st.text(max_size=8)  # fmt: skip
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
bodies = st.binary(max_size=40) | st.builds(
    lambda value: json.dumps(value).encode(), st.dictionaries(names, values, max_size=4) | values
)
_sessions: list[str] = []
_lock = threading.Lock()


def shared(http: httpx.Client) -> str:
    """Return a session that requests which do nothing can share."""
    with _lock:
        if not _sessions:
            _sessions.append(opened(http, options={"max_rounds": 100_000})["session"])
    return _sessions[0]


@pytest.mark.parametrize("operation", [o for o in ONE_EACH if o.values[0].method == "POST"])
@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(body=bodies)
def test_no_body_makes_the_server_fail(http: httpx.Client, operation: Any, body: bytes) -> None:
    path = operation.path.replace("{session}", shared(http)).replace("{name:path}", "textcraft")
    answer = http.request(operation.method, path, content=body)
    documented = {operation.status, *operation.errors, 400} - {500, 502, 504}
    assert answer.status_code in documented, answer.text
    if answer.status_code >= 400:
        schema.Error.model_validate_json(answer.content.replace(b"\\ud", b"d"))


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_no_damaged_snapshot_makes_the_server_fail(http: httpx.Client, data: st.DataObject) -> None:
    session = f"/v1/sessions/{shared(http)}"
    http.post(f"{session}/reset", json={"seed": 1})
    state = http.post(f"{session}/state").json()["state"]
    damage = {data.draw(st.sampled_from(sorted(state))): data.draw(values)}
    damaged = json.dumps({"state": {**state, **damage}}).encode()
    answer = http.post(f"{session}/restore", content=damaged)
    assert answer.status_code in (200, 400, 422), answer.text
