"""Where a run lies: a name made of what is run and a counter, and no clock.

Repeating a command whose run was cut short continues that run; repeating one whose run is complete
starts the next number.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentgym.core.errors import InvalidConfig
from agentgym.core.text import parse_json
from agentgym.rollout.store import RunFolder, RunFolderError

RUNS = "runs"
REPORT_JSON, REPORT_MD = "report.json", "report.md"


def open_run(
    run: str | os.PathLike[str] | None, config: Mapping[str, Any], *, root: str = RUNS
) -> RunFolder:
    """Return the folder of a run, taken up where it was left.

    Args:
        run: the folder; None takes `root`/NAME-N, the first N that continues an unfinished run of
            this configuration or is free.
        config: the configuration; its "name" names the folder.
        root: the folder of the run folders.

    Raises:
        InvalidConfig: if the folder that was named holds a run of another configuration.
        RunFolderError: if the folder that was named is in use or is not a folder.
    """
    if run is not None:
        return RunFolder.create(run, config)
    for number in itertools.count(1):
        path = Path(root) / f"{config['name']}-{number}"
        if is_complete(path):
            continue
        try:
            return RunFolder.create(path, config)
        except (InvalidConfig, RunFolderError):
            continue  # another run lies there, or another process is at it
    raise AssertionError("unreachable: the numbers do not end")


def is_complete(path: Path) -> bool:
    """Return whether a folder holds the report of a run that played all it planned."""
    try:
        report = parse_json((path / REPORT_JSON).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(report, dict) and bool(report.get("complete"))


def slug(text: str, limit: int = 60) -> str:
    """Return text as part of a folder's name.

    >>> slug("hf:HuggingFaceTB/SmolLM2-135M-Instruct")
    'hf-huggingfacetb-smollm2-135m-instruct'
    """
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-.")[:limit].rstrip("-.") or "run"
