"""Where published data lies, and the lists of evaluation ids in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentgym.core import cards, data_root, find_data, find_eval_ids
from agentgym.core.errors import InvalidConfig, MissingData
from agentgym.core.loading import load_tasks

LISTED = ("textcraft", "wordle", "babyai", "sciworld")
"""Environments whose published evaluation ids are a list on the hub."""


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).mkdir(exist_ok=True)
    (folder / name / "eval_ids.json").write_text(text, encoding="utf-8")


def test_the_folder_is_the_argument_the_variable_or_the_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("AGENTGYM_DATA", raising=False)
    monkeypatch.setenv("AGENTGYM_CACHE", str(tmp_path / "cache"))
    assert data_root() == tmp_path / "cache" / "data"
    monkeypatch.setenv("AGENTGYM_DATA", str(tmp_path / "data"))
    assert data_root() == tmp_path / "data"
    assert data_root(tmp_path / "x") == tmp_path / "x"


def test_missing_files_are_named_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "a.json").touch()
    with pytest.raises(MissingData, match=r"needs b\.json in .*agentgym data fetch shop"):
        find_data("shop", "a.json", "b.json", folder=tmp_path)
    assert find_data("shop", "a.json", folder=tmp_path) == tmp_path / "shop"


def test_ids_are_read_in_every_form_they_are_published_in(tmp_path: Path) -> None:
    assert find_eval_ids("toy", 10, tmp_path) is None
    rows = [3, "toy_4", "5", "lmrlgym_toy_6", {"item_id": "toy_7", "conversations": None}]
    write(tmp_path, "toy", json.dumps(rows))
    assert find_eval_ids("toy", 10, tmp_path) == {3, 4, 5, 6, 7}


@pytest.mark.parametrize(
    "text", ["{", "7", "{}", '["maze_3"]', '["toy_x"]', "[10]", "[-1]", '[{"id": 1}]', "[null]"]
)
def test_what_is_no_list_of_ids_is_refused(tmp_path: Path, text: str) -> None:
    write(tmp_path, "toy", text)
    with pytest.raises(InvalidConfig, match=r"eval_ids\.json"):
        find_eval_ids("toy", 10, tmp_path)


@pytest.mark.parametrize("name", LISTED)
def test_the_official_edition_takes_its_eval_split_from_the_list(tmp_path: Path, name: str) -> None:
    card = next(c for c in cards() if c.short_name.lower() == name)
    if not card.installed:
        pytest.skip(f"{name} is not installed")
    stand_in = load_tasks(card.load(), "official", str(tmp_path / "none"))
    write(tmp_path, name, json.dumps([f"{name}_2", f"{name}_9"]))
    tasks = card.load().load_tasks("official", str(tmp_path))
    assert [t.index for t in tasks.split("eval")] == [2, 9]
    assert len(tasks) == len(stand_in)
    assert (tasks.version, tasks.digest) != (stand_in.version, stand_in.digest)
    assert "eval_ids.json" in tasks.note
    write(tmp_path, name, '["nonsense"]')
    with pytest.raises(InvalidConfig, match=r"eval_ids\.json"):
        card.load().load_tasks("official", str(tmp_path))
