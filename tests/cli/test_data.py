"""`agentgym data` and `agentgym models`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentgym.cli.options import key_values
from agentgym.core.errors import InvalidConfig
from tests.cli.conftest import Run


def test_the_data_there_is(run: Run) -> None:
    shown = run("data", "list")
    assert shown.exit_code == 0
    for words in ("AgentTraj-mini", "AgentEval", "built in", "Data folder"):
        assert words in shown.stdout
    data = json.loads(run("data", "list", "--json").stdout)
    assert {"name": "Maze", "edition": "official"}.items() <= data["editions"][3].items()


def test_agenttraj_mini_is_built_and_verified(run: Run, tmp_path: Path) -> None:
    shown = run("data", "build-mini", "mini", "--env", "wordle")
    assert shown.exit_code == 0, shown.output
    assert "1000 of 1000 train tasks" in shown.stdout
    assert "✓ Every digest is as recorded" in shown.stdout
    assert run("data", "verify-mini", "mini").exit_code == 0
    (file,) = (p for p in (tmp_path / "mini").iterdir() if p.name.endswith(".jsonl.gz"))
    from agentgym.trajectories import read, write

    write(read(file)[:-1], file)
    failed = run("data", "verify-mini", "mini")
    assert failed.exit_code == 1
    assert "✗" in failed.stdout


def test_published_data_from_a_folder(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTGYM_DATA", str(tmp_path / "data"))
    source = tmp_path / "hub"
    source.mkdir()
    ids = [{"item_id": f"textcraft_{i}", "conversations": None} for i in (3, 1)]
    (source / "textcraft_test.json").write_text(json.dumps(ids))
    shown = run("data", "fetch", "textcraft", "--source", str(source))
    assert shown.exit_code == 0, shown.output
    assert "2 ids" in shown.stdout
    turns = [
        {"from": "human", "loss": None, "value": "Rules."},
        {"from": "gpt", "loss": False, "value": "OK."},
        {"from": "human", "loss": None, "value": "Goal."},
        {"from": "gpt", "loss": True, "value": "Thought: I\nAction: inventory"},
    ]
    (source / "textcraft_train.json").write_text(
        json.dumps([{"item_id": "textcraft_9", "conversations": turns}])
    )
    shown = run("data", "fetch", "agenttraj-l", "--source", str(source), "--out", "t.json")
    assert shown.exit_code == 0, shown.output
    assert json.loads((tmp_path / "t.json").read_text())[0]["item_id"] == "textcraft_9"
    assert run("data", "fetch", "agenttraj-l").exit_code == 2


def test_a_data_set_that_is_not_there(run: Run) -> None:
    assert run("data", "fetch", "agenteval", "--source", "./nowhere").exit_code == 1
    assert run("data", "fetch", "texcraft", "--source", ".").exit_code == 2
    assert run("data", "show", "nothing.jsonl").exit_code == 1


def test_the_models_there_are(run: Run) -> None:
    assert "smollm2" in run("models", "list").stdout
    rows = json.loads(run("models", "list", "--json").stdout)
    assert rows[0]["here"] is False
    failed = run("models", "path", "smollm2")
    assert failed.exit_code == 1
    assert "agentgym models fetch smollm2" in failed.stderr
    assert run("models", "path", "smollm").exit_code == 2


def test_a_model_from_a_file_that_is_another(run: Run, tmp_path: Path) -> None:
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    failed = run("models", "fetch", "smollm2", "--from", "model.gguf")
    assert failed.exit_code == 1
    assert "SHA-256" in failed.stderr


def test_options_are_read_as_values() -> None:
    found = key_values(["a=1", "b-c=true", "d=x=y", 'e=["f"]', "g=None", "h="])
    assert found == {"a": 1, "b_c": True, "d": "x=y", "e": ["f"], "g": None, "h": ""}
    with pytest.raises(InvalidConfig, match="KEY=VALUE"):
        key_values(["a"])
