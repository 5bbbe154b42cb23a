"""Run folders survive crashes and refuse to mix runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentgym.agents.expert import ExpertAgent
from agentgym.core.errors import InvalidConfig
from agentgym.rollout import EnvChoice, RunFolder, plan, rollout
from agentgym.rollout.store import RunFolderError, write_atomic

GUESS = EnvChoice(env_id="tests.toy:tests/Guess-v0")


def test_round_trip_in_plan_order(tmp_path: Path):
    jobs = plan([GUESS], attempts=2)
    with RunFolder.create(tmp_path / "run", {"a": 1}) as run:
        episodes = rollout(jobs, ExpertAgent(), run=run, concurrency=7)
    again = RunFolder.open(tmp_path / "run")
    assert again.episodes() == episodes
    assert again.config == {"a": 1}


def test_another_configuration_is_refused(tmp_path: Path):
    RunFolder.create(tmp_path, {"seed": 1, "versions": {"x": 1}}).close()
    RunFolder.create(tmp_path, {"seed": 1, "versions": {"x": 2}}).close()
    with pytest.raises(InvalidConfig, match="'seed': 1, now 2"):
        RunFolder.create(tmp_path, {"seed": 2})


def test_versions_of_earlier_sittings_are_kept(tmp_path: Path):
    for number in (1, 1, 2, 3):
        RunFolder.create(tmp_path, {"versions": {"x": number}}).close()
    config = RunFolder.open(tmp_path).config
    assert config["versions"] == {"x": 3}
    assert config["earlier_versions"] == [{"x": 1}, {"x": 2}]


def test_two_writers_are_refused(tmp_path: Path):
    first = RunFolder.create(tmp_path, {})
    with pytest.raises(RunFolderError, match="another process"):
        RunFolder.create(tmp_path, {})
    first.close()
    RunFolder.create(tmp_path, {}).close()


def test_a_damaged_line_is_named(tmp_path: Path):
    with RunFolder.create(tmp_path, {}) as run:
        rollout(plan([GUESS], tasks=3), ExpertAgent(), run=run)
    log = tmp_path / "episodes.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(lines[0] + b'{"env_id": 3}\n' + lines[2])
    with pytest.raises(RunFolderError, match="line 2"):
        RunFolder.open(tmp_path).episodes()


def test_no_run_there(tmp_path: Path):
    with pytest.raises(RunFolderError, match="no run folder"):
        RunFolder.open(tmp_path / "nowhere")
    (tmp_path / "file").write_text("x")
    with pytest.raises(RunFolderError, match="is a file"):
        RunFolder.create(tmp_path / "file", {})


def test_atomic_write_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    target = tmp_path / "report.md"
    write_atomic(target, "first")

    def fail(*args: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_atomic(target, "second")
    assert target.read_text() == "first"
    assert os.listdir(tmp_path) == ["report.md"]
