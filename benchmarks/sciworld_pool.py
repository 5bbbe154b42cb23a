"""SciWorld's shared Java processes against one Java process a session.

So many sessions are opened in one Python process, a thread each, and play the beginnings of the
carried paths, with

- 1, 2 and 4 JVMs that share the sessions evenly (option `sessions_per_jvm`);
- a JVM for every session, each with a heap of 256 MiB at most.

Measured are the wall time until every session has begun, the memory of Python and all Java
processes once all have played, and the steps a second of all together. Each way has a Python
process of its own. A way that the machine has no memory for is left out.

    python benchmarks/sciworld_pool.py [--sessions 1 8 32] [--steps 30] [--write]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from machine import load, write_result
from processes import family, free, memory, processor

from agentgym.core.registry import make
from agentgym.envs.sciworld.env import SciWorldEnv
from agentgym.envs.sciworld.pool import pool
from agentgym.envs.sciworld.tasks import carried_path

LIMIT = 3072.0
"""MiB that 32 sessions may take with the defaults."""
SPARE = 8192.0
"""MiB the machine must have left for others."""


def begin(env: SciWorldEnv, number: int) -> list[str]:
    """Begin an episode of a task that follows from the number; return its path."""
    task = env.tasks[number * 7 % len(env.tasks)]
    env.reset(seed=0, options={"task_id": task.id})
    return carried_path(task.spec["task"], int(task.spec["variation"]))


def play(env: SciWorldEnv, number: int, steps: int) -> None:
    """Play so many steps, in as many episodes as it takes."""
    path = begin(env, number)
    for _ in range(steps):
        if not path:
            number += 1
            path = begin(env, number)
        if env.step(path.pop(0))[2]:
            path = []


def measure(sessions: int, per_jvm: int, memory_mb: int, steps: int) -> dict[str, float]:
    """Measure one way in this process."""
    start = time.perf_counter()
    envs = [
        make("sciworld", sessions_per_jvm=per_jvm, memory_mb=memory_mb) for _ in range(sessions)
    ]
    with ThreadPoolExecutor(sessions) as threads:
        list(threads.map(begin, envs, range(sessions)))
        begun = time.perf_counter() - start
        list(threads.map(play, envs, range(sessions), [10] * sessions))  # warm the compilers up
        before, start = processor(family()), time.perf_counter()
        list(threads.map(play, envs, range(sessions), [steps] * sessions))
        seconds, used = time.perf_counter() - start, processor(family()) - before
    row = {
        "jvms": len(pool.processes),
        "begun": begun,
        "memory": memory(family()),
        "rate": sessions * steps / seconds,
        "cpu": 1000 * used / (sessions * steps),
    }
    for env in envs:
        env.close()
    return row


def ways(sessions: int) -> dict[str, tuple[int, int]]:
    """Return (sessions a JVM, heap in MiB) of each way to hold so many sessions."""
    found = {
        f"{count} shared": (-(-sessions // count), 1024) for count in (1, 2, 4) if count < sessions
    }
    return {**found, "one each": (1, 256)}


def table(rows: list[tuple[int, str, dict[str, float] | None]], steps: int) -> str:
    """Return the result as Markdown."""
    lines = [
        "| sessions | JVMs | s until all have begun | MiB in all | steps/s | CPU ms a step |",
        "|---:|---|---:|---:|---:|---:|",
    ]
    for sessions, way, row in rows:
        if row is None:
            lines.append(f"| {sessions} | {way} | | not enough memory free | | |")
            continue
        lines.append(
            f"| {sessions} | {way} | {row['begun']:.1f} | {row['memory']:,.0f} | "
            f"{row['rate']:.0f} | {row['cpu']:.1f} |"
        )
    return "\n".join(
        (
            *lines,
            "",
            f"{steps} steps a session, resets included, after 10 that are not counted. Memory is "
            "the resident set of Python and of every JVM. The default is 16 sessions a JVM: 2 "
            f"shared at 32 sessions, which may take {LIMIT:,.0f} MiB. The machine was shared "
            f"({load()}); processor time a step is what that distorts least.",
        )
    )


def main() -> int:
    """Measure each way in a process of its own; return 1 where the claim does not hold."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--sessions", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--write", action="store_true", help="write the result file")
    parser.add_argument("--one", type=int, nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(*arguments.one, arguments.steps)))
        return 0
    rows: list[tuple[int, str, dict[str, float] | None]] = []
    for sessions in arguments.sessions:
        for way, (per_jvm, heap) in ways(sessions).items():
            jvms = -(-sessions // per_jvm)
            row = None
            if free() - jvms * (heap if per_jvm == 1 else 512) > SPARE:
                command = [sys.executable, __file__, "--steps", str(arguments.steps)]
                command += ["--one", str(sessions), str(per_jvm), str(heap)]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                row = json.loads(done.stdout.splitlines()[-1])
            rows.append((sessions, way, row))
            print(sessions, way, row, flush=True)
    body = table(rows, arguments.steps)
    print(body)
    if arguments.write:
        command_line = "python benchmarks/sciworld_pool.py --write"
        write_result("sciworld_pool", "SciWorld: shared Java processes", command_line, body)
    held = [row["memory"] for sessions, way, row in rows
            if row and sessions == 32 and way == "2 shared"]  # fmt: skip
    return 0 if all(mib < LIMIT for mib in held) else 1


if __name__ == "__main__":
    raise SystemExit(main())
