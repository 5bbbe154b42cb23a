"""An evaluation is the same at any concurrency and under any hash seed, on real environments."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentgym.core import cards

ROOT = Path(__file__).parents[2]
NAMES = [c.id for c in cards() if c.installed and c.short_name != "SciWorld"]  # Java: its own tests

PROGRAM = """
import sys
from agentgym.agents.expert import ExpertAgent
from agentgym.agents.random import RandomAgent
from agentgym.rollout import EnvChoice, plan, rollout
from tests.models import ScriptedModel, seeded

concurrency, names = int(sys.argv[1]), sys.argv[2:]
jobs = plan([EnvChoice(env_id=name) for name in names], tasks=2, attempts=2)
for agent in (ExpertAgent(), RandomAgent(), ScriptedModel(seeded)):
    episodes = rollout(jobs, agent, concurrency=concurrency)
    assert all(e.status == "completed" for e in episodes)
    print(*(e.digest for e in episodes))
"""


def played(concurrency: int, hash_seed: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(concurrency), *NAMES],
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_records_are_the_same_at_any_concurrency_and_hash_seed() -> None:
    first = played(1, "0")
    lines = [line.split() for line in first.splitlines()]
    assert [len(line) for line in lines] == [4 * len(NAMES)] * 3
    assert lines[0] != lines[1] != lines[2]
    assert played(16, "1") == first
    assert played(64, "4242") == first
