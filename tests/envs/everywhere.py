"""Checks that several environments share: the same under any hash seed, and as the README says."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import agentgym

ROOT = Path(__file__).parents[2]


def outputs_under_hash_seeds(script: str, seeds: Sequence[str] = ("0", "1")) -> list[str]:
    """Run a script in a process for each hash seed and return what each printed."""
    return [
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in seeds
    ]


def readme_episode(readme: Path) -> tuple[str, str]:
    """Return what a README's script prints, and what the README says it prints."""
    script, said = re.findall(r"```(?:python|text)\n(.*?)```", readme.read_text("utf-8"), re.DOTALL)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(script, str(readme), "exec"), {"agentgym": agentgym})
    return out.getvalue(), said
