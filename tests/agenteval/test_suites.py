"""Suites and published ids."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentgym.agenteval import (
    evaluate,
    find_suite,
    load_official,
    official_ids,
    published_sizes,
    select,
)
from agentgym.agenteval.suites import UnknownSuite, size_table, suites
from agentgym.core import EnvCard, cards
from agentgym.core.errors import MissingData, MissingExtra
from agentgym.rollout.plan import EnvChoice
from agentgym.trajectories.schema import InvalidTrajectories


def test_published_sizes_sum_to_the_published_totals() -> None:
    sizes = published_sizes()
    assert len(sizes) == 14
    assert sum(s.agenteval or 0 for s in sizes.values()) == 1160
    assert sum(s.agenttraj_l or 0 for s in sizes.values()) == 14485
    assert sizes["Maze"].agenteval == 25
    assert sizes["Maze"].agenttraj is None


@pytest.mark.parametrize("name", [s.name for s in suites()])
def test_nothing_of_a_suite_disappears(name: str) -> None:
    selection = find_suite(name).select()
    chosen = [c.env_id.rpartition("/")[2].rpartition("-v")[0] for c in selection.choices]
    skipped = [s.name for s in selection.skipped]
    wanted = find_suite(name).names or [c.short_name for c in cards()]
    assert sorted(chosen + skipped) == sorted(wanted)
    assert all(s.reason for s in selection.skipped)
    assert "TextCraft" in chosen


def test_what_is_not_installed_is_skipped_in_a_suite_and_an_error_by_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    card = EnvCard("agentgym/Ghost-v0", "nowhere:Ghost", "A ghost.", "ghost", ("no_such_module",))
    monkeypatch.setattr("agentgym.core.registry._cards", {card.id: card})
    monkeypatch.setattr("gymnasium.registry", {card.id: None})
    skipped = find_suite("all").select().skipped
    assert [s.name for s in skipped] == ["Ghost"]
    assert "agentgym[ghost]" in skipped[0].reason
    with pytest.raises(MissingExtra, match="ghost"):
        select("ghost")


def test_an_edition_that_is_not_there_is_skipped_with_its_reason() -> None:
    selection = find_suite("agenteval").select(edition="nosuch")
    assert not selection.choices
    assert any("nosuch" in s.reason for s in selection.skipped)


def test_choices_pass_as_they_are() -> None:
    choice = EnvChoice(env_id="agentgym/Maze-v0", max_rounds=7)
    assert select([choice, "textcraft"]).choices == (
        choice, EnvChoice(env_id="agentgym/TextCraft-v0"),
    )  # fmt: skip
    with pytest.raises(UnknownSuite, match="quick"):
        find_suite("quik")


def test_sizes_stand_beside_the_published_ones() -> None:
    sizes = {s.name: s for s in size_table()}
    assert sizes["TextCraft"].splits["eval"] > 0
    assert sizes["TextCraft"].published is not None
    assert sizes["TextCraft"].published.agenteval == 100
    assert sizes["WebShop"].published is not None


def test_published_ids(tmp_path: Path) -> None:
    (tmp_path / "textcraft_test.json").write_text(
        json.dumps([{"item_id": f"textcraft_{i}", "conversations": None} for i in (7, 3)])
    )
    (tmp_path / "maze_test.json").write_text('[{"item_id": "maze_4", "conversations": []}]')
    found = load_official(tmp_path)
    assert found == {"maze": ["maze_4"], "textcraft": ["textcraft_7", "textcraft_3"]}
    assert official_ids(["TextCraft"], tmp_path) == ["textcraft_7", "textcraft_3"]
    assert official_ids(["maze", "textcraft"], tmp_path)[0] == "maze_4"
    with pytest.raises(MissingData, match="no ids of wordle"):
        official_ids(["wordle"], tmp_path)


def test_published_ids_choose_the_tasks_of_the_official_edition(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('[{"item_id": "textcraft_5"}, {"item_id": "textcraft_2"}]')
    result = evaluate(
        "expert",
        envs="textcraft",
        edition="official",
        task_ids=official_ids(["textcraft"], tmp_path),
        run=tmp_path / "run",
    )
    assert sorted(e.task_id for e in result.episodes) == ["textcraft_2", "textcraft_5"]


def test_published_ids_from_the_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTGYM_DATA", str(tmp_path))
    with pytest.raises(MissingData, match="data fetch agenteval"):
        official_ids(["maze"])
    (tmp_path / "maze").mkdir()
    file = tmp_path / "maze" / "eval_ids.json"
    file.write_text('["maze_3"]')
    assert official_ids(["maze"]) == ["maze_3"]
    for text, message in (("[", "not JSON"), ("{}", "no list")):
        file.write_text(text)
        with pytest.raises(MissingData, match=message):
            official_ids(["maze"])


@pytest.mark.parametrize("text", ["{", '[{"id": "a_1"}]', "[3]"])
def test_files_of_another_layout(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(InvalidTrajectories):
        load_official(tmp_path)
