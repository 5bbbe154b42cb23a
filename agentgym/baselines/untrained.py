"""Arms that could not be trained: why, kept beside their run, so that a comparison goes on.

A trainer alone raises `NothingToLearn`, and whoever called it decides. A comparison of several arms
goes on with the others, says in its table why one has no number, and tries it again with the next
call of the same command.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agentgym.baselines.checkpoints import RESULT, is_main
from agentgym.baselines.examples import NothingToLearn
from agentgym.baselines.progress import Say
from agentgym.rollout.store import write_atomic

UNTRAINED = "untrained.json"


def try_to_train(train: Callable[[Path, Say], Any], folder: Path, say: Say) -> None:
    """Train an arm, or keep why what it played gave nothing to learn from.

    Args:
        train: the trainer, its settings given.
        folder: the arm's run.
        say: takes lines of progress.
    """
    try:
        train(folder, say)
    except NothingToLearn as error:
        say(f"not trained: {error}")
        if is_main():
            write_atomic(folder / UNTRAINED, json.dumps({"reason": str(error)}) + "\n")
        return
    if is_main():
        (folder / UNTRAINED).unlink(missing_ok=True)


def why_untrained(folder: Path) -> str:
    """Return why an arm was not trained; "" where it was, or has not come to its end."""
    path = folder / UNTRAINED
    if (folder / RESULT).exists() or not path.is_file():
        return ""
    return str(json.loads(path.read_text(encoding="utf-8"))["reason"])
