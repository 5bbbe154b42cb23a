"""Checkpoints: a run that was cut short goes on as if nothing had happened.

A checkpoint holds weights, optimiser, schedule, random states and the place in the data, so the
steps after it are, bit for bit, those of a run that was never stopped. It counts only once it is
whole: its last file is a mark, and a folder without one is a save that was interrupted.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentgym.baselines.config import Settings
from agentgym.baselines.configfile import CONFIG_FILE, save_config
from agentgym.baselines.progress import Say
from agentgym.core import AgentGymError
from agentgym.rollout.store import write_atomic

CHECKPOINTS = "checkpoints"
WHOLE = "agentgym.json"
COUNTS = "counts.json"
RESULT = "result.json"
MODEL = "model"
"""The folder of a run's policy."""


class RunDied(AgentGymError):
    """The main process of a run ended without leaving what the others wait for."""


def checkpoint_folder(folder: Path) -> Path:
    """Return where a run's checkpoints lie."""
    return folder / CHECKPOINTS


def mark_whole(checkpoint: Path, step: int) -> None:
    """Say that everything of a checkpoint has been written."""
    write_atomic(checkpoint / WHOLE, json.dumps({"step": step}) + "\n")


def latest(folder: Path) -> tuple[Path, int] | None:
    """Return a run's last whole checkpoint and its step, or None; broken ones are removed."""
    found: list[tuple[int, Path]] = []
    for path in checkpoint_folder(folder).glob("checkpoint-*"):
        match = re.fullmatch(r"checkpoint-(\d+)", path.name)
        if match is None:
            continue
        if (path / WHOLE).is_file():
            found.append((int(match[1]), path))
        elif is_main():
            shutil.rmtree(path, ignore_errors=True)
    if not found:
        return None
    step, path = max(found)
    return path, step


def counts_file(folder: Path) -> Path:
    """Return the file of what a run had counted where it is taken up: a checkpoint, or its start.

    Of checkpoints it is among what is written before the mark.
    """
    found = latest(folder)
    return (found[0] if found else checkpoint_folder(folder)) / COUNTS


def finished(folder: Path) -> dict[str, Any] | None:
    """Return the result of a run that has come to its end, or None."""
    path = folder / RESULT
    if not path.is_file():
        return None
    result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return result


def finish(folder: Path, result: Mapping[str, Any]) -> None:
    """Record that a run has come to its end; its checkpoints are no longer needed."""
    write_atomic(folder / RESULT, json.dumps(dict(result), indent=2) + "\n")
    shutil.rmtree(checkpoint_folder(folder), ignore_errors=True)


def begin(config: Settings, folder: Path) -> None:
    """Look whether a run can be begun and record its settings, once for all its processes.

    Raises:
        InvalidConfig: if a setting cannot be used, or the folder holds another run.
        AgentGymError: what else `checks.check` raises; of a finished run nothing is required.
    """
    if finished(folder) is None:
        from agentgym.baselines.checks import check  # which knows the trainers

        check(config)
    if is_main():
        save_config(config, folder)
    wait_for(folder / CONFIG_FILE)


def done_before(folder: Path, say: Say) -> dict[str, Any] | None:
    """Return the result of a run that is finished and say so, or None."""
    done = finished(folder)
    if done is not None:
        say(f"{folder} is finished")
    return done


def conclude(folder: Path, result: dict[str, Any]) -> dict[str, Any]:
    """Record a run's result, once for all its processes, and return it."""
    if is_main():
        finish(folder, result)
    wait_for(folder / RESULT)
    return result


def is_main() -> bool:
    """Whether this is the process that writes, of the several a launcher may have started."""
    return int(os.environ.get("RANK", "0")) == 0


def ranks() -> int:
    """How many processes train together."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def wait_for(path: Path, seconds: float = 86_400.0) -> None:
    """Wait until the main process has written a file; it does so atomically.

    Raises:
        RunDied: if it is not there in time.
    """
    end = time.monotonic() + seconds
    while not path.exists():
        if time.monotonic() > end:
            raise RunDied(f"the main process has not written {path} in {seconds:.0f} s")
        time.sleep(0.2)
