"""Play the expert on every SciWorld mini task, and garbage for as long as wished.

    python scripts/sciworld_verify.py [--task boil ...] [--garbage 10000]

Prints, for each of the 30 tasks, how many tasks there are, how many the expert solves within the
rounds, how long its paths are, and which variations were tried for the edition and passed over,
with the reason. Ends with status 1 if a task of the edition is not solved.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter

import numpy as np

from agentgym.core import Task
from agentgym.core.checker import GARBAGE
from agentgym.core.registry import make
from agentgym.envs.sciworld import tasks
from agentgym.envs.sciworld.env import SciWorldEnv


def play(env: SciWorldEnv, task: Task) -> tuple[bool, int]:
    """Play the expert and return whether it succeeds and in how many rounds."""
    observation, info = env.reset(seed=0, options={"task_id": task.id})
    expert, ended = env.expert(), False
    while not ended:
        _, action = expert.act(observation, info)
        observation, _, terminated, truncated, info = env.step(action)
        ended = terminated or truncated
    return bool(info["success"]), int(info["rounds"])


def passed_over(name: str) -> str:
    """Return which variations were tried and left out, and why."""
    reasons: Counter[str] = Counter()
    for row in tasks.carried_paths().get(name, {}).values():
        if tasks.solved(row):
            continue
        if row["score"] != 100 and row["rounds"] < 300:
            reasons[f"the package's path reaches score {row['score']}"] += 1
        else:
            reasons["the path is too long"] += 1
    return "; ".join(f"{n}: {why}" for why, n in reasons.items()) or "none"


def verify(env: SciWorldEnv, only: list[str]) -> int:
    """Play every task, print the table, return how many are not solved."""
    print("| task | train | eval | solved | rounds | passed over |\n|---|---|---|---|---|---|")
    failed = 0
    for lesson in tasks.lessons():
        if only and lesson.name not in only:
            continue
        chosen = [t for t in env.tasks if t.kind == lesson.name]
        results = [play(env, task) for task in chosen]
        solved = sum(success for success, _ in results)
        rounds = [n for _, n in results] or [0]
        failed += len(chosen) - solved
        splits = Counter(t.split for t in chosen)
        print(
            f"| {lesson.name} | {splits['train']} | {splits['eval']} | {solved} of {len(chosen)} "
            f"| {min(rounds)}-{max(rounds)} | {passed_over(lesson.name)} |",
            flush=True,
        )
    return failed


def throw_garbage(env: SciWorldEnv, count: int) -> None:
    """Throw `count` garbage actions at the environment."""
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    start, resets = time.monotonic(), 1
    for i in range(count):
        draw = rng.random()
        if draw < 0.3:
            action = GARBAGE[int(rng.integers(len(GARBAGE)))]
        elif draw < 0.8:
            size = int(rng.integers(1, 60))
            action = "".join(chr(int(c)) for c in rng.integers(1, 0x2FFF, size=size))
        else:
            words = env.sample_action(rng).split()
            action = " ".join(words[int(j)] for j in rng.permutation(len(words)))
        *_, terminated, truncated, info = env.step(action)
        assert 0 <= info["score"] <= 1
        if terminated or truncated:
            resets += 1
            env.reset(seed=i)
    seconds = time.monotonic() - start
    print(f"{count} garbage actions, {resets} episodes, no exception, {seconds:.0f} s")


def main() -> int:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--task", action="append", default=[])
    parser.add_argument("--garbage", type=int, default=0)
    arguments = parser.parse_args()
    env = make("sciworld")
    assert isinstance(env, SciWorldEnv)
    if arguments.garbage:
        throw_garbage(env, arguments.garbage)
        failed = 0
    else:
        failed = verify(env, arguments.task)
    env.close()
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
