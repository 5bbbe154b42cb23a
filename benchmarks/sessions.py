"""What a session of every environment costs: memory and processor time, in a process of its own.

For each id a fresh Python process, with whatever it starts (a JVM) counted in,

1. imports agentgym, makes the environment and resets it: memory then, processor time until then;
2. plays random sensible actions in some episodes and notes them, which also warms it up;
3. plays the same episodes again: processor time of a reset and of a step, the choice of the action
   not counted;
4. opens a thousand sessions more (31 of what plays in another process), or as many as a
   gigabyte holds, and plays each into the middle of an episode: memory each has added.

Processor time is what a busy machine does not distort; a step of an idle one takes as long.

    python benchmarks/sessions.py [NAME ...] [--write]
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
from typing import Any

import numpy as np
from machine import load, write_result
from processes import family, memory, processor

EPISODES, ROUNDS = 40, 15
SESSIONS, BLOCKING_SESSIONS, MOST_MIB = 1000, 31, 1024.0

Episode = tuple[str, list[str]]


def record(env: Any, task: str, seed: int) -> Episode:
    """Play random sensible actions and return them."""
    rng, actions, ended = np.random.default_rng(seed), [], False
    env.reset(seed=seed, options={"task_id": task})
    while not ended and len(actions) < ROUNDS:
        actions.append(env.sample_action(rng))
        _, _, terminated, truncated, _ = env.step(actions[-1])
        ended = terminated or truncated
    return task, actions


def replay(env: Any, episodes: list[Episode]) -> dict[str, float]:
    """Play episodes again; return the milliseconds of a reset and of a step."""
    pids, seconds, counts = family(), [0.0, 0.0], [0, 0]
    for seed, (task, actions) in enumerate(episodes):
        before = processor(pids)
        env.reset(seed=seed, options={"task_id": task})
        between = processor(pids)
        for action in actions:
            env.step(action)
        seconds[0] += between - before
        seconds[1] += processor(pids) - between
        counts[0] += 1
        counts[1] += len(actions)
    return {"reset": 1000 * seconds[0] / counts[0], "step": 1000 * seconds[1] / counts[1]}


def settled() -> float:
    """Return the memory of this family, once garbage is collected."""
    gc.collect()
    return memory(family())


def measure(name: str) -> dict[str, float]:
    """Measure one environment in this process."""
    from agentgym.core import make

    env = make(name)
    ids = [task.id for task in env.tasks]
    env.reset(seed=0, options={"task_id": ids[0]})
    row = {"cpu": processor(family()), "first": settled()}
    count = EPISODES // 2 if env.blocking else EPISODES
    spread = [ids[i * len(ids) // count] for i in range(count)]
    episodes = [record(env, task, seed) for seed, task in enumerate(spread)]
    rounds = max(1, 2000 // sum(len(actions) for _, actions in episodes))
    row |= replay(env, episodes * (1 if env.blocking else rounds))
    if env.blocking:
        env._session.call(lambda jvm: jvm.gateway.jvm.java.lang.System.gc())
    before, more = settled(), []
    for i in range(BLOCKING_SESSIONS if env.blocking else SESSIONS):
        more.append(make(name))
        task, actions = episodes[i % count]
        more[-1].reset(seed=i % count, options={"task_id": task})
        for action in actions[: len(actions) // 2]:
            more[-1].step(action)
        if i % 10 == 9 and memory(family()) - before > MOST_MIB:
            break
    row |= {"sessions": len(more) + 1, "full": settled()}
    row["session"] = 1024 * (row["full"] - before) / len(more)
    for each in (env, *more):
        each.close()
    return row


def table(rows: dict[str, dict[str, float]]) -> str:
    """Return the result as Markdown."""
    lines = [
        "| environment | MiB, the first session | s until then | KiB, each further session | "
        "MiB, this many sessions | ms a reset | ms a step |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {name} | {row['first']:.0f} | {row['cpu']:.1f} | {max(row['session'], 0):,.0f} | "
        f"{row['full']:,.0f} ({row['sessions']:,}) | {row['reset']:.2f} | {row['step']:.3f} |"
        for name, row in rows.items()
    ]
    notes = (
        "Times are processor time of the process and of what it starts. Memory is the resident set "
        "of both together; the first session's includes Python, NumPy and the environment's data. "
        "The figures are of the mini edition with default options.",
        f"The machine was shared ({load()}).",
    )
    return "\n".join(lines) + "\n\n" + "\n\n".join(notes)


def main() -> int:
    """Measure each environment in a process of its own, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--write", action="store_true", help="write the result file")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(arguments.names[0])))
        return 0
    from agentgym.core import cards, find_card

    chosen = [find_card(name) for name in arguments.names] or [c for c in cards() if c.installed]
    rows = {}
    for name in (card.short_name for card in chosen):
        command = [sys.executable, __file__, "--one", name]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        rows[name] = json.loads(done.stdout.splitlines()[-1])
        print(name, rows[name], flush=True)
    body = table(rows)
    print(body)
    if arguments.write:
        command_line = "python benchmarks/sessions.py --write"
        write_result("sessions", "What a session costs", command_line, body)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
