"""Names the machine a result was measured on."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def machine() -> str:
    """Return the processor, the number of cores and the Python version, one line."""
    model = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    except OSError:
        pass
    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}"


def load() -> str:
    """Return how busy the machine is: the load average of the last minutes."""
    return f"load average {os.getloadavg()[1]:.1f}" if hasattr(os, "getloadavg") else "load unknown"


def write_result(name: str, title: str, command: str, body: str) -> Path:
    """Write a benchmark's result beside the others and return where."""
    path = Path(__file__).parent / "results" / f"{name}.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        f"# {title}\n\nCommand: `{command}`\n\nMachine: {machine()}\n\n{body.strip()}\n"
    )
    return path
