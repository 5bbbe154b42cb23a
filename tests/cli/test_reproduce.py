"""`agentgym reproduce`: a plan without doing, and settings that cannot be used."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("yaml")
pytest.importorskip("trl")

from tests.cli.conftest import Run


def test_a_dry_run_shows_the_settings_and_what_would_be_done(run: Run) -> None:
    shown = run("reproduce", "demonstration", "--dry-run")
    assert shown.exit_code == 0, shown.output
    assert "env: maze" in shown.stdout
    assert "held-out tasks" in shown.stdout
    assert not Path("runs").exists()
    shown = run("reproduce", "demonstration", "--dry-run", "--json")
    assert set(json.loads(shown.stdout)) == {"config", "plan"}


@pytest.mark.parametrize(
    ("profile", "told"), [("smal", "Did you mean small?"), ("mine.yaml", "there is no file")]
)
def test_what_cannot_be_used_is_one_line_and_exit_code_2(run: Run, profile: str, told: str) -> None:
    shown = run("reproduce", "demonstration", "--profile", profile)
    assert shown.exit_code == 2
    assert told in shown.stderr
    assert not Path("runs").exists()


def test_settings_can_be_changed(run: Run) -> None:
    shown = run("reproduce", "demonstration", "--dry-run", "--set", "seeds=[5]", "--json")
    assert shown.exit_code == 0, shown.output
    assert json.loads(shown.stdout)["config"]["seeds"] == [5]
    shown = run("reproduce", "demonstration", "--set", "envs.0.optim.max_steps=5")
    assert shown.exit_code == 2
    assert "decided by steps and evol_steps" in shown.stderr
