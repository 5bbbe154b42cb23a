"""The published data sets, from a small folder of their shape and from a hub that is not there."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from agentgym.core.errors import InvalidConfig, MissingData, UnknownEnvironment
from agentgym.trajectories import (
    InvalidTrajectories,
    fetch_eval_ids,
    load_agenteval,
    load_agenttraj,
    to_episode,
)


def _trajectory(item_id: str) -> dict[str, Any]:
    values = [
        ("human", None, "Instructions."),
        ("gpt", False, "OK. I'll follow your instructions and try my best to solve the task."),
        ("human", None, "You stand."),
        ("gpt", True, "Thought:\nI go.\n\nAction:\nmove up"),
        ("human", None, "Success"),
    ]
    turns = [{"from": sender, "loss": loss, "value": value} for sender, loss, value in values]
    return {"item_id": item_id, "conversations": turns}


@pytest.fixture
def agenttraj(tmp_path: Path) -> Path:
    """Return a folder in the shape of AgentTraj-L, downloaded with its README and cache."""
    folder = tmp_path / "AgentTraj-L"
    (folder / ".cache" / "huggingface").mkdir(parents=True)
    (folder / ".cache" / "huggingface" / "x.json").write_text("{}")
    (folder / "README.md").write_text("# AgentTraj-L")
    (folder / "dataset_infos.json").write_text("{}")
    files = {
        "lmrlgym_maze_train.json": ["lmrlgym_maze_3", "lmrlgym_maze_3", "lmrlgym_maze_9"],
        "tool_weather_train.json": ["weather_12"],
        "alfworld_train.json": [
            "pick_and_place_simple-Mug-None-Desk-3_trial_T20190909_085406_916808"
        ],
        "webshop_train.json": ["webshop_6"],
    }
    for name, ids in files.items():
        (folder / name).write_text(json.dumps([_trajectory(i) for i in ids]))
    return folder


@pytest.fixture
def agenteval(tmp_path: Path) -> Path:
    """Return a folder in the shape of AgentEval: null, empty and absent conversations."""
    folder = tmp_path / "AgentEval"
    folder.mkdir()
    maze = [{"item_id": f"lmrlgym_maze_{i}", "conversations": None} for i in range(25)]
    (folder / "lmrlgym_maze_test.json").write_text(json.dumps(maze))
    rows = [{"item_id": "textcraft_5", "conversations": []}, {"item_id": "textcraft_2"}]
    (folder / "textcraft_test.json").write_text(json.dumps(rows))
    (folder / "textcraft_test_small.json").write_text(json.dumps(rows[:1]))
    return folder


def test_a_downloaded_folder_is_read_by_the_ids_in_it(agenttraj: Path) -> None:
    assert [i.item_id for i in load_agenttraj(agenttraj, "maze")] == [
        "lmrlgym_maze_3",
        "lmrlgym_maze_3",
        "lmrlgym_maze_9",
    ]
    everything = load_agenttraj(agenttraj)
    names = [item.id.env.name for item in everything if item.id.env]
    assert names == ["alfworld", "maze", "maze", "maze", "weather", "webshop"]
    read = to_episode(load_agenttraj(agenttraj, "lmrlgym_maze")[0])
    assert (read.env_id, read.task_id, read.actions) == (
        "agentgym/Maze-v0",
        "maze_3",
        ("move up",),
    )
    one = load_agenttraj(agenttraj / "webshop_train.json")
    assert [item.item_id for item in one] == ["webshop_6"]


def test_a_saved_dataset_is_read_like_its_files(agenttraj: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    rows = json.loads((agenttraj / "lmrlgym_maze_train.json").read_text())
    rows += json.loads((agenttraj / "webshop_train.json").read_text())
    data = datasets.DatasetDict({"train": datasets.Dataset.from_list(rows)})
    data.save_to_disk(str(tmp_path / "disk"))
    assert [i.to_json() for i in load_agenttraj(tmp_path / "disk", "maze")] == rows[:3]


def test_what_is_not_there_is_said(agenttraj: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingData, match="no trajectories of sheet; none are published for"):
        load_agenttraj(agenttraj, "sheet")
    with pytest.raises(MissingData, match=r"no trajectories of wordle$"):
        load_agenttraj(agenttraj, "wordle")
    with pytest.raises(UnknownEnvironment, match="Did you mean webshop"):
        load_agenttraj(agenttraj, "webshp")
    with pytest.raises(InvalidConfig, match="revision"):
        load_agenttraj(agenttraj, revision="main")
    (tmp_path / "empty").mkdir()
    with pytest.raises(MissingData, match="holds no data files"):
        load_agenttraj(tmp_path / "empty")
    with pytest.raises(MissingData, match="no file or folder"):
        load_agenttraj(tmp_path / "nowhere")
    (agenttraj / "webshop_train.json").write_text('[{"item_id": 6}]')
    with pytest.raises(InvalidTrajectories, match=r"webshop_train\.json, item 0"):
        load_agenttraj(agenttraj)


def test_evaluation_items_only_name_tasks(agenteval: Path) -> None:
    items = load_agenteval(agenteval)
    assert len(items) == 27
    assert not any(item.turns for item in items)
    assert [i.item_id for i in load_agenteval(agenteval, "textcraft")] == [
        "textcraft_5",
        "textcraft_2",
    ]


def test_evaluation_ids_go_where_environments_look(agenteval: Path, tmp_path: Path) -> None:
    written = fetch_eval_ids(source=agenteval, data_dir=tmp_path / "data")
    assert [(w.env.name, w.size, w.as_published) for w in written] == [
        ("maze", 25, True),
        ("textcraft", 2, False),
    ]
    maze = tmp_path / "data" / "maze" / "eval_ids.json"
    assert json.loads(maze.read_text()) == [f"maze_{i}" for i in range(25)]
    only = fetch_eval_ids(["agentgym/TextCraft-v0"], source=agenteval, data_dir=tmp_path / "two")
    assert only[0].path == tmp_path / "two" / "textcraft" / "eval_ids.json"
    assert json.loads(only[0].path.read_text()) == ["textcraft_5", "textcraft_2"]
    assert not (tmp_path / "two" / "maze").exists()
    with pytest.raises(MissingData, match="no evaluation items of wordle"):
        fetch_eval_ids(["maze", "wordle"], source=agenteval, data_dir=tmp_path / "three")


def test_the_hub_is_asked_for_what_is_needed(
    agenttraj: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hub = pytest.importorskip("huggingface_hub")
    asked: list[dict[str, Any]] = []

    def snapshot(**arguments: Any) -> str:
        asked.append(arguments)
        target = tmp_path / "snapshot"
        target.mkdir(exist_ok=True)
        for path in agenttraj.glob("*.json"):
            if any(path.match(pattern) for pattern in arguments["allow_patterns"]):
                shutil.copy(path, target)
        return str(target)

    monkeypatch.setattr(hub, "snapshot_download", snapshot)
    items = load_agenttraj(env="weather", revision="abc123", cache_dir=tmp_path / "c")
    assert [item.item_id for item in items] == ["weather_12"]
    assert sorted(p.name for p in (tmp_path / "snapshot").iterdir()) == ["tool_weather_train.json"]
    assert (asked[0]["repo_id"], asked[0]["repo_type"]) == ("AgentGym/AgentTraj-L", "dataset")
    assert (asked[0]["revision"], asked[0]["cache_dir"]) == ("abc123", tmp_path / "c")
    # No file is named after it, so all are fetched before it is said to be missing.
    shutil.rmtree(tmp_path / "snapshot")
    with pytest.raises(MissingData, match="no trajectories of wordle"):
        load_agenttraj(env="wordle")
    assert len(asked) == 3


def test_without_a_connection_the_error_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(MissingData) as caught:
        load_agenteval(revision="v1", cache_dir=tmp_path)
    message = str(caught.value)
    assert "HF_HUB_OFFLINE is set" in message
    assert "hf download AgentGym/AgentEval --repo-type dataset --revision v1" in message
    assert "pass it as the source" in message


def test_a_mistake_in_the_code_is_not_called_a_lost_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hub = pytest.importorskip("huggingface_hub")

    def broken(**arguments: Any) -> str:
        raise AttributeError("a bug")

    monkeypatch.setattr(hub, "snapshot_download", broken)
    with pytest.raises(AttributeError):
        load_agenttraj()
