"""AgentGym's clients, unchanged but for the URL they are given."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentgym.core import TextEnv, registry
from agentgym.serve.dialects.published import PUBLISHED, Published
from agentgym.serve.dialects.published_texts import FORMAT_ERROR, call_in, sciworld
from agentgym.serve.dialects.turn import Turn
from agentgym.serve.settings import ServeSettings
from tests.serve.agentgym_client import CLIENTS, Client
from tests.serve.server import serving

ROWS: dict[str, Published] = {path: row for row in PUBLISHED for path in row.paths}
ITEM = 7
HTTP = httpx.Client(timeout=60, verify=False)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(ServeSettings(max_workers=1)) as base:
        yield f"{base}/agentgym"


def client_of(url: str, path: str, options: str = "") -> Any:
    env = ROWS[path].env
    if not registry.find_card(env).installed:
        pytest.skip(f"{env} is not installed")
    return CLIENTS[path](f"{url}/{path}{options}")


def reply_of(path: str, action: str) -> str:
    """Return what a model would reply in the layout its published prompt asks for."""
    if ROWS[path].env == "BIRD":
        action = f"```sql\n{action}\n```"
    if ROWS[path].index == "id":
        return f"Thought: This is next.\n\nAction: {action}"
    return f"Thought:\nThis is next.\n\nAction:\n{action}"


def twin_of(path: str, **options: Any) -> TextEnv:
    """Return the environment a client plays, in this process."""
    row = ROWS[path]
    told = {k: v for k, v in row.options.items() if k != "actions_in_observation"}
    return registry.make(row.env, **{**told, **options})


def expert_moves(path: str, item: int) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the expert's actions on an item, and what each leads to."""
    env = twin_of(path)
    observation, info = env.reset(options={"task_id": f"{env.name}_{item}"}, seed=0)
    yield "", observation, info
    expert, done = env.expert(), False
    while not done:
        _, action = expert.act(observation, info)
        observation, _, terminated, truncated, info = env.step(action)
        done = terminated or truncated
        yield action, observation, info
    env.close()


@pytest.mark.parametrize("path", [p for p in CLIENTS if p != "sciworld"])
def test_an_expert_played_through_a_client_gets_the_published_reward(url: str, path: str) -> None:
    client = client_of(url, path)
    moves = expert_moves(path, ITEM)
    _, opening, info = next(moves)
    client.reset(ITEM)
    if ROWS[path].env != "Wordle":  # whose client shows its model the rules and the words instead
        assert client.observe().endswith(opening)
    step = None
    for action, observation, info in moves:  # noqa: B007
        assert step is None or not step.done
        step = client.step(reply_of(path, action))
        assert step.state == observation
    assert step is not None
    assert step.done
    assert info["success"]
    assert step.reward == (info["minigrid_reward"] if path == "babyai" else 1.0)
    assert 0 < step.reward <= 1
    assert client.close() == {"closed": True}


def test_sciworld_counts_to_a_hundred_and_to_minus_a_hundred(url: str) -> None:
    client = client_of(url, "sciworld")
    from agentgym.envs.sciworld import tasks

    item, path = min(
        ((task.index, tasks.carried_path(task.spec["task"], task.spec["variation"]))
         for task in tasks.mini()),
        key=lambda pair: len(pair[1] or "x" * 999),
    )  # fmt: skip
    first = client.reset(item)
    assert client.observe().startswith(first["task_description"] + "\nThis room is called")
    assert "Your task is" not in first["observation"]
    rewards, step = [], None
    for action in path or ():
        step = client.step(reply_of("sciworld", action))
        rewards.append(client.info["reward"])
    assert step is not None
    assert (step.reward, step.done) == (100, True)
    assert sum(rewards) == 100

    again = client.reset(0)
    assert {k: again[k] for k in ("score", "reward", "done", "deleted")} == {
        "score": 0, "reward": 0, "done": False, "deleted": False,
    }  # fmt: skip
    wrong = client.step(reply_of("sciworld", "focus on agent"))
    assert (wrong.reward, wrong.done, client.info["reward"]) == (-100, True, -100)
    client.close()


@pytest.mark.parametrize(
    ("reward", "score", "text", "points", "change"),
    [
        (-0.5, 0.0, "You move the ant to the red box.", -100, -150),  # 50 points were taken away
        (0.0, 0.0, "You focus on the door.", -100, -100),
        (0.0, 0.0, "You move to the kitchen.", 0, 0),  # the moves are spent
        (0.0, 0.25, "You focus on the ant.", 25, 0),
    ],
)
def test_sciworld_tells_a_failure_from_an_end(
    reward: float, score: float, text: str, points: int, change: int
) -> None:
    info = {"goal": "g", "rounds": 3, "score": score, "success": False}
    told = sciworld(Turn(text, reward, True, False, info))
    assert (told["score"], told["reward"]) == (points, change)


def test_a_step_after_the_end_tells_the_end_again(url: str) -> None:
    client = client_of(url, "sqlgym")
    client.reset(0)
    moves = [action for action, *_ in expert_moves("sqlgym", 0)]
    won = client.step(reply_of("sqlgym", moves[-1]))
    assert (won.reward, won.done) == (1.0, True)
    again = client.step(reply_of("sqlgym", "SELECT 1"))
    assert (again.reward, again.done) == (1.0, True)
    assert "has ended" in again.state
    client.reset(0)
    assert not client.step("SELECT nothing FROM nowhere").reward


def test_clients_do_not_meet(url: str) -> None:
    """Twenty clients stepping at once see what each would see alone."""

    def alone(item: int) -> list[str]:
        env = twin_of("textcraft")
        seen = [env.reset(options={"task_id": f"textcraft_{item}"}, seed=0)[0]]
        seen += [env.step(f"get {item + 1} {thing}")[0] for thing in ("sand", "coal", "flint")]
        return [*seen, env.step("inventory")[0]]

    clients = [client_of(url, "textcraft") for _ in range(20)]
    assert len({client.env_id for client in clients}) == 20

    def together(item: int) -> list[str]:
        clients[item].reset(item)
        actions = [*(f"get {item + 1} {thing}" for thing in ("sand", "coal", "flint")), "inventory"]
        opening = clients[item].observe()
        return [opening, *(clients[item].step(f"Action: {action}").state for action in actions)]

    with ThreadPoolExecutor(20) as pool:
        assert list(pool.map(together, range(20))) == [alone(item) for item in range(20)]
    for client in clients:
        client.close()


def test_an_id_is_of_one_server_and_not_to_be_guessed(url: str) -> None:
    client = client_of(url, "textcraft")
    ids = [client.env_id]
    for _ in range(20):
        other = client_of(url, "textcraft")
        ids.append(other.env_id)
        other.close()
    assert all(0 <= number < 2**53 for number in ids)
    assert max(ids) > 2**47  # with 53 random bits, they all would be less once in 2**126
    assert min(abs(a - b) for i, a in enumerate(ids) for b in ids[:i]) > 1000
    elsewhere = HTTP.post(f"{url}/wordle/step", json={"id": client.env_id, "action": "a"})
    assert elsewhere.status_code == 404
    assert "not valid" in elsewhere.json()["error"]
    client.close()


def test_list_envs_lists_the_open_ones(url: str) -> None:
    first, second = client_of(url, "academia"), client_of(url, "academia")
    listed = HTTP.get(f"{url}/academia/list_envs").json()
    assert {first.env_id, second.env_id} <= set(listed)
    first.close()
    listed = HTTP.get(f"{url}/academia/list_envs").json()
    assert second.env_id in listed
    assert first.env_id not in listed
    assert first.close() == {"closed": False}
    second.close()


@pytest.mark.parametrize("path", ["textcraft", "lmrlgym/maze", "webshop", "weather"])
def test_a_session_that_is_gone_fails_loudly(url: str, path: str) -> None:
    client = client_of(url, path)
    client.reset(1)
    client.close()
    with pytest.raises(AssertionError, match=r"this session is gone: it was closed"):
        client.step("Action: anything")


def test_alfworld_clients_are_told_why(url: str) -> None:
    client = client_of(url, "alfworld")
    with pytest.raises(KeyError, match=r"after 3 attempts.*alfworld_99999"):
        client.reset(99999)
    client.close()
    with pytest.raises(KeyError, match="it was closed"):
        client.step("Action: look")


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ({}, "missing"),
        ({"id": "1", "data_idx": 1}, "no session's number"),
        ({"id": True}, "no session's number"),
        ({"id": 5, "data_idx": 1}, "not valid"),
        ([1], "JSON object"),
    ],
)
def test_a_wrong_reset_is_refused_with_what_is_wrong(url: str, body: Any, wrong: str) -> None:
    answer = HTTP.post(f"{url}/babyai/reset", json=body)
    assert 400 <= answer.status_code < 500
    assert wrong in answer.json()["error"]


def test_items_are_numbered_as_published(url: str) -> None:
    client = client_of(url, "textcraft")
    wrapped, plain = client.reset(1203), client.reset(3)
    assert wrapped == plain  # modulo the 1,200 tasks
    client.close()
    maze = client_of(url, "maze", ";edition=official")
    maze.reset(24)
    with pytest.raises(AssertionError, match="maze_99999"):
        maze.reset(99999)
    with pytest.raises(AssertionError, match="number of an item"):
        maze.reset(-1)
    maze.close()
    alfworld = client_of(url, "alfworld")
    alfworld.reset(12)
    assert alfworld.get("detail")["game"] == 12
    alfworld.close()


def test_options_stand_in_the_address_or_the_query(url: str) -> None:
    published = client_of(url, "wordle", ";edition=official")
    assert len(published.vocabulary) == 40
    published.close()
    made = HTTP.post(f"{url}/babyai/create?edition=official").json()
    first = HTTP.post(f"{url}/babyai/reset", json={**made, "data_idx": 899})
    assert first.status_code == 200  # 900 official items
    assert HTTP.post(f"{url}/babyai/reset", json={**made, "data_idx": 900}).status_code == 404
    HTTP.post(f"{url}/babyai/close", json=made)
    short = client_of(url, "textcraft", ";max_rounds=1")
    assert short.step("Action: inventory").done
    short.close()
    refused = HTTP.post(f"{url}/textcraft;data_dir=x/create", json={})
    assert refused.status_code == 422
    assert "cannot be set over the network" in refused.json()["error"]


def test_the_operators_defaults_hold_and_the_clients_go_before() -> None:
    defaults = {"agentgym/Maze-v0": {"edition": "official", "max_rounds": 2}}
    with serving(ServeSettings(max_workers=1, defaults=defaults)) as base:
        maze = client_of(f"{base}/agentgym", "maze")
        maze.reset(0)
        assert maze.get("detail")["maze_name"] == "double_t_maze"
        assert not maze.step("Action: move up").done
        assert maze.step("Action: move up").done
        maze.close()
        mini = client_of(f"{base}/agentgym", "maze", ";edition=mini")
        mini.reset(500)
        mini.close()


def test_invalid_actions_are_answered_in_the_published_words(url: str) -> None:
    wordle = client_of(url, "wordle")
    wordle.reset(0)
    assert wordle.step("Action: xxxxx") == ("invalid word", 0.0, False)
    wordle.close()

    maze = client_of(url, "maze")
    before = maze.reset(0)["observation"].partition("\n")[2]
    assert maze.step("Action: fly") == (before, 0.0, False)  # a move that leads nowhere
    maze.close()

    shop = client_of(url, "webshop")
    page = shop.reset(0)[0]
    assert shop.step("Action: click[nowhere]") == (page, 0.0, False)
    shop.close()

    weather = client_of(url, "weather")
    weather.reset(0)
    assert weather.step("Hello there") == (FORMAT_ERROR, 0.0, False)
    unknown = weather.step('Action: fly with Action Input: {"to": "Paris"}')
    assert unknown.state.startswith("Observation: ERROR | Invalid action: fly.")
    weather.close()

    alfworld = client_of(url, "alfworld")
    alfworld.reset(0)
    assert alfworld.step("Action: fly").state == "Nothing happens."
    alfworld.close()


@pytest.mark.parametrize(
    ("action", "told"),
    [
        ("get 2 nonsense", "Could not find nonsense"),
        ("get 1 birch planks", "Could not find birch planks"),
        ("get 1 planks", "Could not find planks"),
        ("get some", "Could not execute get some"),
        ("dig a hole", "Could not execute dig a hole"),
        ("craft 4 birch planks using logs", "Wrong item format: logs"),
        (
            "craft 4 birch planks using 1 birch logs",
            "Could not find enough items to craft minecraft:birch_planks",
        ),
        (
            "craft 3 birch planks using 1 oak logs",
            "Could not find a valid recipe for ItemTagWithCount(item_tag=ItemTag("
            "tag=None, item_id='minecraft:birch_planks'), count=3)",
        ),
        (
            "craft planks using 1 oak logs",
            "Could not find a valid recipe for ItemTagWithCount(item_tag=ItemTag("
            "tag='minecraft:planks', item_id=None), count=1)",
        ),
        ("inventory", "Inventory: [oak logs] (1) "),
    ],
)
def test_textcraft_says_no_more_than_it_did(url: str, action: str, told: str) -> None:
    client = client_of(url, "textcraft", ";edition=official")
    client.reset(3)
    assert client.step("Action: get 1 oak logs").state == "Got 1 oak logs"
    assert client.step(f"Thought: Hm.\n\nAction: {action}") == (told, 0.0, False)
    client.close()


def test_who_walks_on_in_the_maze_loses_one(url: str) -> None:
    maze = client_of(url, "lmrlgym/maze")
    maze.reset(0)
    steps = [maze.step("Action: stay") for _ in range(51)]
    assert [step.done for step in steps] == [False] * 50 + [True]
    assert steps[-1] == ("Failure\n", -1.0, True)
    assert maze.step("Action: stay").reward == -1.0
    maze.close()


def test_routes_beside_the_steps(url: str) -> None:
    shop = client_of(url, "webshop")
    assert shop.get("available_actions") == {"has_search_bar": True, "clickables": ["search"]}
    shop.reset(3)
    assert shop.get("instruction_text") in shop.observe()
    shop.step(f"Action: search[{shop.get('instruction_text')}]")
    offered = shop.get("available_actions")
    assert not offered["has_search_bar"]
    assert {"back to search", "next >"} <= {label.lower() for label in offered["clickables"]}
    shop.close()

    maze = client_of(url, "maze")
    assert sorted(HTTP.get(f"{url}/maze/available_actions").json()) == [
        "move down", "move left", "move right", "move up",
    ]  # fmt: skip
    unbegun = HTTP.get(f"{url}/maze/observation?id={maze.env_id}")
    assert unbegun.status_code == 409
    maze.close()

    babyai = client_of(url, "babyai")
    babyai.reset(5)
    seen = babyai.get("observation")
    assert isinstance(seen, dict)
    assert seen["observation"] == babyai.observe()
    babyai.close()

    for path, row in ROWS.items():
        assert HTTP.get(f"{url}/{path}").json() == HTTP.get(f"{url}/{path}/").json() == row.hello
    lost = HTTP.get(f"{url}/webshop/availible_actions")
    assert lost.status_code == 404
    assert "available_actions" in lost.json()["error"]
    told = HTTP.get(f"{url}/webshp/create").json()["error"]
    assert told == "unknown environment server 'webshp'. Did you mean webshop?"


def test_a_tool_environment_begins_when_it_is_created_and_anew_without_an_item(url: str) -> None:
    client = client_of(url, "movie")
    opening = client.observe()  # of item 0, which the client names as it creates
    assert client.reset(0) == opening
    client.reset(4)
    goal = client.observe()
    client.step("Action: get_search_movie with Action Input: {'movie_name': 'x'}")
    assert client.observe() != goal
    assert client.post("reset", {}) == goal
    client.close()


def test_a_server_that_is_full_says_so() -> None:
    with serving(ServeSettings(max_workers=1, max_sessions=1)) as base:
        path = f"{base}/agentgym/textcraft"
        client = CLIENTS["textcraft"](path)
        with pytest.raises(RuntimeError, match="503"):
            CLIENTS["textcraft"](path)
        full = HTTP.post(f"{path}/create", json={})
        assert int(full.headers["retry-after"]) > 0
        client.close()
        CLIENTS["textcraft"](path).close()


@pytest.mark.parametrize("resurrect", [False, True])
def test_a_worker_that_dies_costs_an_exception_or_nothing(resurrect: bool) -> None:
    with serving(ServeSettings(max_workers=1, resurrect=resurrect)) as base:
        client_of(f"{base}/agentgym", "textcraft").close()  # whatever starts once has started
        before = set(psutil.Process().children(recursive=True))
        client = client_of(f"{base}/agentgym", "maze")
        (worker,) = set(psutil.Process().children(recursive=True)) - before
        client.reset(ITEM)
        moves = [action for action, *_ in expert_moves("maze", ITEM)][1:]
        for action in moves[:-1]:
            client.step(reply_of("maze", action))
        worker.kill()
        if resurrect:
            assert client.step(reply_of("maze", moves[-1])) == ("Success\n", 1.0, True)
        else:
            with pytest.raises(AssertionError, match="SIGKILL"):
                client.step(reply_of("maze", moves[-1]))


def test_a_client_that_takes_only_a_url_shows_the_token_in_it() -> None:
    with serving(ServeSettings(max_workers=1, token="a-long-token")) as base:
        with pytest.raises(RuntimeError, match="401"):
            CLIENTS["textcraft"](f"{base}/agentgym/textcraft")
        host = base.removeprefix("http://")
        client: Client = CLIENTS["textcraft"](
            f"http://agent:a-long-token@{host}/agentgym/textcraft"
        )
        client.close()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    path=st.sampled_from(["textcraft", "maze", "bird", "todo"]),
    route=st.sampled_from(["reset", "step", "close"]),
    names=st.dictionaries(
        st.sampled_from(["id", "env_idx", "data_idx", "game", "item_id", "action"]), json_values
    ),
)
def test_whatever_comes_in_is_answered(
    url: str, path: str, route: str, names: dict[str, Any]
) -> None:
    answer = HTTP.post(f"{url}/{path}/{route}", content=json.dumps(names))
    assert answer.status_code in (200, 400, 404, 422)
    assert answer.json()


@pytest.mark.parametrize(
    ("reply", "call"),
    [
        ("Thought: a\n\nAction: f with Action Input: {}", "f with Action Input: {}"),
        ("Action: f with Action Input: {'a':\n1}</s>", "f with Action Input: {'a':\n1}"),
        ("Action: f with Action Input: {}\nObservation: 3", "f with Action Input: {}"),
        ("Action: f\nAction: g with Action Input: {}", "g with Action Input: {}"),
        ("no action", "no action"),
    ],
)
def test_the_call_is_read_out_of_a_whole_reply(reply: str, call: str) -> None:
    assert call_in(reply) == call
