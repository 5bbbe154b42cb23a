"""A user's own code is checked against the package's types, strictly."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from agentgym.core import installed

ROOT = Path(__file__).parents[1]

PROGRAM = """\
from collections.abc import Mapping
from typing import Any

import agentgym
from agentgym import Agent
from agentgym.agenteval import compare, load_run
from agentgym.core.checker import check_env
from agentgym.trajectories import collect


class Greedy(Agent):
    name = "greedy"

    def act(self, observation: str, info: Mapping[str, Any]) -> str:
        return str((info["actions"] or [self.env.sample_action(self.rng)])[0])


env = agentgym.make("textcraft")
reveal_type(env.step("inventory"))
reveal_type(env.tasks[0])
reveal_type(env.fork())
reveal_type(agentgym.evaluate(Greedy(), envs=["maze"], tasks=3).report.rows[0].total.success.value)
reveal_type(compare([load_run("a"), load_run("b")]).pairs)
reveal_type(collect("maze", tasks=2))
reveal_type(check_env("maze"))
agentgym.evaluate(Greedy(), envs=["maze"], taks=3)
collect("maze", taks=2)
"""

REVEALED = [
    "tuple[str, float, bool, bool, dict[str, Any]]",
    "agentgym.core.task.Task",
    "agentgym.core.env.TextEnv",
    "float | None",
    "tuple[agentgym.agenteval.compare.Pair, ...]",
    "agentgym.trajectories.dataset.TrajectoryDataset",
    "list[agentgym.core.checker.Check]",
]


@pytest.mark.slow
@pytest.mark.skipif(not installed("mypy"), reason="pip install mypy")
def test_a_strict_checker_sees_the_types(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    # What other packages type is left out: reading numpy and torch alone takes a minute.
    flags = ("--no-site-packages", "--ignore-missing-imports", "--follow-imports=silent")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", *flags, "program.py"],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    found = re.findall(r'Revealed type is "(.*)"', done.stdout)
    assert [t.replace("builtins.", "") for t in found] == REVEALED, done.stdout + done.stderr
    errors = [line for line in done.stdout.splitlines() if " error: " in line]
    assert len(errors) == 2, done.stdout  # the misspelt options, and nothing else
    assert all("taks" in line for line in errors)


def test_the_package_says_that_it_is_typed() -> None:
    assert (ROOT / "agentgym" / "py.typed").is_file()
