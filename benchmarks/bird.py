"""How many BIRD episodes a second one process plays, and whether connections leak.

Plays the mini edition's questions in turn with their gold queries (a reset, a step), through
`gymnasium.make("agentgym/BIRD-v0")` with the defaults. The speed of the median query is that of an
environment which plays the question whose query takes the median time; the mean is over all
questions. Then 100,000 episodes over the pool count connections and open files.

    python benchmarks/bird.py --write
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from pathlib import Path

import gymnasium
from machine import load, write_result

import agentgym
from agentgym.envs.bird.pool import POOL

ENV = "agentgym/BIRD-v0"
MANY = 100_000


def main() -> None:
    """Measure, print, and write the page if asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--episodes", type=int, default=MANY)
    parser.add_argument("--write", action="store_true", help="write benchmarks/results/bird.md")
    args = parser.parse_args()
    body = report(args.episodes)
    print(body)
    if args.write:
        write_result("bird", "BIRD: speed", "python benchmarks/bird.py --write", body)


def report(episodes: int) -> str:
    """Return the body of the result page."""
    assert agentgym
    env = gymnasium.make(ENV)
    tasks = list(env.unwrapped.tasks)
    costs = {task.id: best_of(env, task) for task in tasks}
    ranked = sorted(costs.values())
    median = statistics.median(ranked)
    mean = statistics.fmean(ranked)
    before = handles()
    start = time.perf_counter()
    for i in range(episodes):
        play(env, tasks[i % len(tasks)])
    elapsed = time.perf_counter() - start
    env.close()
    return "\n".join(
        [
            f"{load()}. {len(tasks)} questions over ten databases.",
            "",
            "| what | figure |",
            "|---|---:|",
            f"| episodes a second, median query | {1 / median:,.0f} |",
            f"| episodes a second, mean over all questions | {1 / mean:,.0f} |",
            f"| slowest question | {ranked[-1] * 1000:.1f} ms |",
            f"| {episodes:,} episodes in turn | {episodes / elapsed:,.0f} a second |",
            f"| connections opened in all | {POOL.opened} |",
            f"| connections open at the end | {POOL.opened - POOL.closed}, {POOL.idle} idle |",
            f"| open files before and after those episodes | {before} and {handles()} |",
        ]
    )


def best_of(env: gymnasium.Env, task: agentgym.Task, repeats: int = 7) -> float:
    """Return the median time of an episode, in seconds, once its database is open."""
    play(env, task)
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        play(env, task)
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def play(env: gymnasium.Env, task: agentgym.Task) -> None:
    """Play one episode with the gold query."""
    env.reset(options={"task_id": task.id})
    *_, info = env.step(task.spec["sql"])
    assert info["success"], task.id


def handles() -> int | str:
    """Return the number of open files of this process, where that can be told."""
    folder = Path("/proc/self/fd")
    return len(os.listdir(folder)) if folder.exists() else "unknown"


if __name__ == "__main__":
    main()
