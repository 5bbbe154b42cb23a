"""The published layout, both ways, and training examples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from agentgym.agents.message import ToolCall
from agentgym.core import make
from agentgym.rollout.episode import Episode, Step
from agentgym.rollout.profile import EnvProfile
from agentgym.trajectories import (
    InvalidTrajectories,
    PublishedItem,
    chat_example,
    chat_examples,
    parse_item_id,
    read_items,
    to_episode,
    to_evaluation,
    to_item,
    write,
    write_items,
)
from agentgym.trajectories.items import PUBLISHED, find_published, published_id
from agentgym.trajectories.published import parse_item
from tests.trajectories.samples import episode, episodes

WEBSHOP: dict[str, Any] = {
    "item_id": "webshop_6",
    "conversations": [
        {"from": "human", "loss": None, "value": "You are web shopping."},
        {"from": "gpt", "loss": False, "value": "Ok."},
        {"from": "human", "loss": None, "value": "WebShop [SEP] Search"},
        {"from": "gpt", "loss": True, "value": "Thought:\nI search.\n\nAction:\nsearch[a lamp]"},
        {"from": "human", "loss": None, "value": "Results"},
        {"from": "gpt", "loss": False, "value": "I am lost."},
        {"from": "human", "loss": None, "value": "Invalid Action."},
        {"from": "gpt", "loss": True, "value": "Action: click[Buy Now]"},
    ],
}


def test_an_item_comes_back_as_it_was_read(tmp_path: Path) -> None:
    rows = [
        WEBSHOP,
        {"item_id": "webshop_7", "conversations": None},
        {"item_id": "webshop_8", "conversations": []},
        {"item_id": "webshop_9"},
        {"item_id": "webshop_10", "conversations": [], "note": {"by": "someone"}},
        {"conversations": [], "item_id": "webshop_11", "reward": 0.5, "success": 0},
    ]
    for name in ("t.json", "t.jsonl", "t.json.gz"):
        write_items([parse_item(row) for row in rows], tmp_path / name)
        assert [item.to_json() for item in read_items(tmp_path / name)] == rows
    plain = [rows[0], rows[1], rows[2], rows[5]]
    write_items([parse_item(row) for row in plain], tmp_path / "t.parquet")
    assert [item.to_json() for item in read_items(tmp_path / "t.parquet")] == plain
    write_items([parse_item(row) for row in plain], tmp_path / "hf")
    assert [item.to_json() for item in read_items(tmp_path / "hf")] == plain
    with pytest.raises(InvalidTrajectories, match="keys that are no columns: note"):
        write_items([parse_item(rows[4])], tmp_path / "u.parquet")


def test_a_conversation_becomes_an_episode_and_nothing_is_made_up() -> None:
    read = to_episode(parse_item(WEBSHOP))
    assert (read.env_id, read.task_id, read.edition) == (
        "agentgym/WebShop-v0",
        "webshop_6",
        "official",
    )
    assert (read.instructions, read.acknowledgement) == ("You are web shopping.", "Ok.")
    assert read.actions == ("search[a lamp]", None, "click[Buy Now]")
    assert [s.valid for s in read.steps] == [True, False, True]
    assert [s.loss for s in read.steps] == [True, False, True]
    assert read.steps[0].thought == "I search."
    assert read.steps[-1].observation == ""
    assert (read.score, read.success, read.goal, read.tasks_digest) == (0.0, False, "", "")


def test_an_evaluated_item_brings_its_score() -> None:
    item = parse_item({**WEBSHOP, "reward": 0.5, "success": 0})
    read = to_episode(item)
    assert (read.score, read.success, read.steps[-1].reward) == (0.5, False, 0.5)
    science = parse_item({**WEBSHOP, "item_id": "sciworld_4", "reward": 83, "success": 0})
    assert to_episode(science).score == pytest.approx(0.83)
    assert science.reward == 83


@settings(max_examples=60, deadline=None)
@given(episodes)
def test_text_and_loss_flags_survive_the_published_layout(found: Episode) -> None:
    item = to_item(found)
    assert parse_item(json.loads(json.dumps(item.to_json()))) == item
    back = to_episode(item, env_id="tests/Walk-v0")
    assert [s.reply for s in back.steps] == [s.reply for s in found.steps]
    assert [s.observation for s in back.steps] == [s.observation for s in found.steps]
    assert [s.loss for s in back.steps] == [s.loss for s in found.steps]
    assert back.observation == found.observation
    assert to_item(back).conversations == item.conversations


def test_the_evaluation_layout_has_the_published_keys_in_order() -> None:
    data = to_evaluation(episode(score=0.25)).to_json()
    assert list(data) == ["conversations", "item_id", "reward", "success"]
    assert (data["reward"], data["success"]) == (0.25, 0)


def test_files_in_the_published_layout(tmp_path: Path) -> None:
    write([episode(1), episode(2)], tmp_path / "t.json", layout="published")
    data = json.loads((tmp_path / "t.json").read_text())
    assert [item["item_id"] for item in data] == ["walk_1", "walk_2"]
    assert data[0]["conversations"][1] == {"from": "gpt", "loss": False, "value": "OK."}
    maze = episode(3, env_id="agentgym/Maze-v0", task_id="maze_3")
    write([maze], tmp_path / "m.jsonl", layout="evaluation", official_ids=True)
    assert read_items(tmp_path / "m.jsonl")[0].item_id == "lmrlgym_maze_3"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("conversations", 2, "from", "system"), r"conversations\.2\.from: .*'human' or 'gpt'"),
        (("conversations", 3, "value", 7), r"conversations\.3\.value: .*string"),
        (("conversations", 3, "loss", "true"), r"conversations\.3\.loss: .*boolean"),
        (("item_id", 6), r"item_id: .*string"),
        (("conversations", "text"), r"conversations: .*tuple"),
    ],
)
def test_a_malformed_item_is_named(tmp_path: Path, change: tuple[Any, ...], says: str) -> None:
    bad = json.loads(json.dumps(WEBSHOP))
    place: Any = bad
    for key in change[:-2]:
        place = place[key]
    place[change[-2]] = change[-1]
    path = tmp_path / "webshop_train.json"
    path.write_text(json.dumps([WEBSHOP, bad]))
    with pytest.raises(InvalidTrajectories, match=says) as caught:
        read_items(path)
    assert "webshop_train.json, item 1" in str(caught.value)
    if change[0] != "item_id":
        assert "(webshop_6)" in str(caught.value)


def test_a_file_of_another_shape_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text('{"data": []}')
    with pytest.raises(InvalidTrajectories, match="expected a list of items"):
        read_items(tmp_path / "t.json")
    (tmp_path / "u.json").write_text("[3]")
    with pytest.raises(InvalidTrajectories, match=r"u\.json, item 0"):
        read_items(tmp_path / "u.json")


def test_a_conversation_that_does_not_alternate_is_no_episode() -> None:
    turns = WEBSHOP["conversations"]
    item = parse_item({"item_id": "webshop_1", "conversations": [*turns[:4], turns[3]]})
    with pytest.raises(InvalidTrajectories, match=r"conversations\.4: expected .*'human'"):
        to_episode(item)
    with pytest.raises(InvalidTrajectories, match="has 0 messages"):
        to_episode(parse_item({"item_id": "webshop_1", "conversations": []}))
    with pytest.raises(InvalidTrajectories, match="names no known environment"):
        to_episode(parse_item({**WEBSHOP, "item_id": "mine_1"}))


def test_other_formats_are_read_through_the_environment() -> None:
    env = make("tests.toy:tests/Guess-v0")
    profile = EnvProfile.of("tests/Guess-v0", env)
    env.close()
    reply = '{"thought": "t", "function_name": "guess", "arguments": {"number": 7}}'
    turns = [
        {"from": sender, "loss": None, "value": value}
        for sender, value in (("human", "i"), ("gpt", "ok"), ("human", "o"), ("gpt", reply))
    ]
    item = parse_item({"item_id": "guess_1", "conversations": turns})
    read = to_episode(item, action_format="function_calling", profile=profile)
    assert read.actions == ("guess 7",)
    assert read.env_id == "tests/Guess-v0"


def test_sql_keeps_its_lines() -> None:
    turns = [*WEBSHOP["conversations"][:3]]
    turns.append({"from": "gpt", "loss": True, "value": "Action:\n```sql\nSELECT 1\nFROM t\n```"})
    item = parse_item({"item_id": "sqlgym_12", "conversations": turns})
    read = to_episode(item)
    assert read.actions == ("SELECT 1\nFROM t",)
    assert (read.env_id, read.task_id) == ("agentgym/BIRD-v0", "bird_12")


@pytest.mark.parametrize(
    ("text", "env", "task"),
    [
        ("webshop_6", "webshop", "webshop_6"),
        ("lmrlgym_maze_3", "maze", "maze_3"),
        ("maze_3", "maze", "maze_3"),
        ("lmrlgym_wordle_0", "wordle", "wordle_0"),
        ("sqlgym_100", "bird", "bird_100"),
        ("todo_9", "todolist", "todolist_9"),
        ("alfworld_2420", "alfworld", "alfworld_2420"),
        (
            "look_at_obj_in_light-Book-None-DeskLamp-303_trial_T20190908_085406_916808",
            "alfworld",
            "look_at_obj_in_light-Book-None-DeskLamp-303_trial_T20190908_085406_916808",
        ),
        ("BabyAI-GoToObj-v0_3", "babyai", "BabyAI-GoToObj-v0_3"),
        ("webshop", None, "webshop"),
        ("webshop_x", "webshop", "webshop_x"),
        ("webshop_²", "webshop", "webshop_²"),
        ("other_3", None, "other_3"),
        ("", None, ""),
    ],
)
def test_item_ids_are_taken_apart(text: str, env: str | None, task: str) -> None:
    item = parse_item_id(text)
    assert (item.env.name if item.env else None) == env
    assert item.task_id == task


def test_the_table_of_published_environments() -> None:
    assert sum(env.train for env in PUBLISHED) == 14485
    assert sum(env.eval for env in PUBLISHED) == 1160
    for env in PUBLISHED:
        for index in (0, 12):
            item_id = published_id(env.env_id, f"{env.name}_{index}")
            assert parse_item_id(item_id).task_id == f"{env.name}_{index}"
        for name in (*env.prefixes, env.env_id, env.env_id[9:-3].upper()):
            assert find_published(name) is env
    assert "tool_weather" in find_published("Weather").files
    assert published_id("tests/Walk-v0", "walk_3") == "walk_3"


def test_training_examples_learn_what_the_flags_say() -> None:
    steps = (
        Step(reply="good", action="a", observation="o1"),
        Step(reply="bad", observation="o2", loss=False),
        Step(reply="done", action="b", observation="end"),
    )
    example = chat_example(episode(steps=steps))
    assert [m["role"] for m in example["messages"]] == ["user", "assistant"] * 4
    assert example["weights"] == [0, 0, 0, 1, 0, 0, 0, 1]
    whole = chat_example(episode(steps=steps), whole=True)
    assert whole["messages"][-1] == {"role": "user", "content": "end"}
    assert whole["weights"] == [*example["weights"], 0]
    published = chat_example(to_item(episode(steps=steps)))
    assert published["messages"] == example["messages"]
    assert published["weights"] == example["weights"]
    nothing = episode(steps=(Step(reply="x", observation="y", loss=False),))
    assert list(chat_examples([nothing, parse_item(WEBSHOP)])) == [
        chat_example(parse_item(WEBSHOP))
    ]


def test_tool_calls_are_answered_in_training_examples() -> None:
    call = ToolCall("go", '{"n": 1}', "c1")
    written = '{"thought": "On.", "function_name": "go", "arguments": {"n": 1}}'
    step = Step(
        reply=written, thought="On.", tool_calls=(call,), action="go 1", observation="there"
    )
    more = Step(reply="Action: go 2", action="go 2", observation="end")
    example = chat_example(episode(steps=(step, more)))
    assert [m["role"] for m in example["messages"]][3:] == ["assistant", "tool", "assistant"]
    assert example["messages"][3]["content"] == "On."
    assert example["messages"][3]["tool_calls"][0]["function"]["name"] == "go"
    assert example["messages"][4]["tool_call_id"] == "c1"
    assert example["weights"] == [0, 0, 0, 1, 0, 1]


def test_tool_calls_are_not_lost_in_parquet(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    call = ToolCall("go", '{"n": 1}', "c1")
    step = Step(reply="x", tool_calls=(call,), action="go 1", observation="there")
    walk = episode(steps=(step, step))
    write([walk], tmp_path / "sft.parquet", layout="messages")
    (row,) = pq.read_table(tmp_path / "sft.parquet").to_pylist()
    kept = [_filled(message) for message in row["messages"]]
    assert kept == chat_example(walk)["messages"]


def _filled(message: dict[str, Any]) -> dict[str, Any]:
    """A message without the columns that only messages about tools fill."""
    return {key: value for key, value in message.items() if value is not None}


def test_messages_can_be_written_for_trainers(tmp_path: Path) -> None:
    write([episode(1), episode(2)], tmp_path / "sft.jsonl", layout="messages")
    lines = (tmp_path / "sft.jsonl").read_text().splitlines()
    first = json.loads(lines[0])
    assert first["messages"][-1]["role"] == "assistant"
    assert len(first["weights"]) == len(first["messages"])
    assert (first["task_id"], first["score"]) == ("walk_1", 1.0)
    datasets = pytest.importorskip("datasets")
    write([episode(1)], tmp_path / "sft", layout="messages")
    row = datasets.load_from_disk(str(tmp_path / "sft"))[0]
    assert [_filled(message) for message in row["messages"]] == first["messages"]
    assert row["weights"] == first["weights"]


def test_items_are_values() -> None:
    assert parse_item(WEBSHOP) == PublishedItem.model_validate(WEBSHOP)
    assert parse_item(WEBSHOP).weights() == [0, 0, 0, 1, 0, 0, 0, 1]
    assert parse_item(WEBSHOP).messages()[3]["role"] == "assistant"
