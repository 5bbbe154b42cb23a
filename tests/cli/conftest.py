"""Running commands as a user does, in a folder of their own."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import tests.toy  # noqa: F401  (registers the toy environment)
from agentgym.cli import app

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs `agentgym WORDS...` in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for variable in ("AGENTGYM_DEBUG", "AGENTGYM_DATA", "COLUMNS", "FORCE_COLOR"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("AGENTGYM_CACHE", str(tmp_path / "cache"))

    def call(*words: str, typed: str = "") -> Result:
        return CliRunner().invoke(app, list(words), input=typed, prog_name="agentgym")

    return call
