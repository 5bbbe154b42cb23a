"""A process that starts one of its own and waits for it, which imports nothing that takes time."""

from __future__ import annotations

import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from agentgym.baselines.demonstration.parent import end_with_parent


def hold(path: Path) -> None:
    """Say which process this is, and do not end."""
    path.write_text(str(os.getpid()))
    time.sleep(600)


def start_and_hold(path: Path) -> None:
    """Have a process of this one hold, as a demonstration has one train."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context, end_with_parent) as pool:
        pool.submit(hold, path).result()
