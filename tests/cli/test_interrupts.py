"""Ctrl-C in a real process: the first waits for what is under way, the second does not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agentgym.rollout import RunFolder

ROOT = Path(__file__).parents[2]

SLOW = """
import time
from pathlib import Path
from agentgym import Agent

class Slow(Agent):
    name = "slow"
    def __init__(self, seconds):
        self.seconds = seconds
    def act(self, observation, info):
        if info["task_id"] != "maze_1000":
            Path("waiting").touch()
            end = time.monotonic() + self.seconds
            while time.monotonic() < end and not Path("go").exists():
                time.sleep(0.05)
        return "move up"
"""

pytestmark = pytest.mark.skipif(os.name != "posix", reason="sends signals")


def begin(folder: Path, seconds: float) -> subprocess.Popen[str]:
    """Start an evaluation whose second episode waits in its agent: so long, or for a file "go"."""
    (folder / "slow_agent.py").write_text(SLOW)
    words = ["eval", "slow_agent:Slow", "-o", f"seconds={seconds}", "--env", "maze",
             "-t", "maze_1000", "-t", "maze_1001", "--max-rounds", "3", "-c", "1",
             "--out", "r"]  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-m", "agentgym", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # What a shell starts in the background has Ctrl-C ignored, and hands that on.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 60
    while not (folder / "waiting").exists():
        assert time.monotonic() < deadline, "the second episode never began"
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    return process


def test_the_first_ctrl_c_waits_for_what_is_under_way(tmp_path: Path) -> None:
    process = begin(tmp_path, 60)
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert process.poll() is None, "it did not wait"
    (tmp_path / "go").touch()
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Ctrl-C again stops at once" in errors
    assert "What had finished is in r." in errors
    assert "Go on with: agentgym eval slow_agent:Slow" in errors
    assert "Traceback" not in errors
    assert len(RunFolder.open(tmp_path / "r").episodes()) >= 1


def test_the_second_ctrl_c_leaves_at_once(tmp_path: Path) -> None:
    process = begin(tmp_path, 600)
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Go on with: agentgym eval" in errors
    assert "Traceback" not in errors
    (kept,) = RunFolder.open(tmp_path / "r").episodes()
    assert kept.task_id == "maze_1000"
