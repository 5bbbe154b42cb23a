"""What a process and the processes it has started take: memory and processor time, on Linux.

Memory is the resident set of each: what several share is counted for all of them, so the sum is
rather too large than too small.
"""

from __future__ import annotations

import os
import time
from pathlib import Path


def family(root: int | None = None) -> list[int]:
    """Return a process (this one by default) and all that descend from it."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(entry.name))
    found = [os.getpid() if root is None else root]
    for pid in found:
        found.extend(children.get(pid, ()))
    return found


def memory(pids: list[int]) -> float:
    """Return the memory of processes, in MiB."""
    pages = 0
    for pid in pids:
        try:
            pages += int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        except OSError:
            continue
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def processor(pids: list[int]) -> float:
    """Return the processor time processes have used, in seconds."""
    ticks, own = 0, 0.0
    for pid in pids:
        if pid == os.getpid():
            own = time.process_time()  # finer than the ticks of others
            continue
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        ticks += int(fields[11]) + int(fields[12])
    return own + ticks / os.sysconf("SC_CLK_TCK")


def free() -> float:
    """Return the memory the machine still has, in MiB."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) / 1024
    return float("inf")
