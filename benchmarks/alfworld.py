"""How fast ALFWorld steps, resets, snapshots and forks, what it keeps in memory, and the original.

Steps are drawn at random from the listed actions beforehand, and played through
`gymnasium.make("agentgym/ALFWorld-v0")` with the defaults (observation, and info with the list of
actions), one process. The original (`pip install 'agentgym[alfworld-original]'`) plays the same
actions in the same games, in this interpreter, or in the one given by --original-python.

    python benchmarks/alfworld.py --original-python original/bin/python \\
        --output benchmarks/results/alfworld.md
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
from machine import load, machine

import agentgym  # noqa: F401 (registers the environments)
from agentgym.envs.alfworld.env import AlfworldEnv
from agentgym.envs.alfworld.homes import problem_of

ROOT = Path(__file__).parents[1]
# This file is called as the original's package is, which has to be found all the same.
sys.path[:] = [folder for folder in sys.path if Path(folder).resolve() != ROOT / "benchmarks"]

ENV = "agentgym/ALFWorld-v0"
GAMES = 60
"""Games that are stepped through."""
LIVE = 1000
COMPARED = ("pick_and_place_simple", "pick_two_obj_and_place", "look_at_obj_in_light")
STEPS = 12
"""Steps a game is compared over."""


def main() -> None:
    """Measure and write the result page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--original-python", help="an interpreter with the original ALFWorld")
    parser.add_argument("--output", type=Path, help="write the page here as well")
    parser.add_argument("--original-run", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.original_run:
        print(json.dumps(original_times()))
        return
    page = report(args.repeats, args.original_python)
    print(page)
    if args.output:
        args.output.write_text(page, encoding="utf-8")


def report(repeats: int, original_python: str | None) -> str:
    """Return the result page."""
    env = gymnasium.make(ENV, split="train")
    scripts = prepare(env)
    rates = [play(env, scripts) for _ in range(repeats)]
    cold, warm = resets(env)
    rows = [
        ("steps/s, without resets", f"{statistics.median(rates):,.0f}", "20,000 at least"),
        ("steps/s, best of the repeats", f"{max(rates):,.0f}", ""),
        ("reset to a game not yet met", f"{cold:.2f} ms", "2 ms at most"),
        ("reset to a game met before", f"{warm * 1e3:.0f} µs", ""),
        *((name, f"{us:.0f} µs", "microseconds") for name, us in copies().items()),
        (f"{LIVE:,} live environments, each in a game of its own", f"{memory():.0f} MB", "500 MB"),
        ("the expert solves all 1,200 mini tasks", f"{solved_all():.1f} s", "60 s"),
    ]
    command = "python benchmarks/alfworld.py" + (
        " --original-python PYTHON" * bool(original_python)
    )
    return "\n".join(
        [
            "# ALFWorld: speed",
            "",
            f"Command: `{command}` ({repeats} repeats). Machine: {machine()}, {load()}.",
            "",
            "| what | measured | wanted |",
            "|---|---:|---|",
            *(f"| {' | '.join(row)} |" for row in rows),
            "",
            "Processor time of one process, medians. Steps and resets are through "
            f'`gymnasium.make("{ENV}")`.',
            "",
            *compared(original_python),
        ]
    )


def timed(work: Callable[[], object]) -> float:
    """Return the processor time of a piece of work, in seconds."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def prepare(env: gymnasium.Env[str, str]) -> list[tuple[str, list[str]]]:
    """Return games and random actions that fill an episode of each."""
    rng = random.Random(0)
    tasks = rng.sample(env.unwrapped.tasks.split("train"), GAMES)  # type: ignore[attr-defined]
    scripts = []
    for task in tasks:
        _, info = env.reset(seed=0, options={"task_id": task.id})
        actions: list[str] = []
        ended = False
        while not ended:
            actions.append(rng.choice(info["actions"]))
            _, _, terminated, truncated, info = env.step(actions[-1])
            ended = terminated or truncated
        scripts.append((task.id, actions))
    return scripts


def play(env: gymnasium.Env[str, str], scripts: list[tuple[str, list[str]]]) -> float:
    """Return the steps a second."""
    spent, count = 0.0, 0
    for task_id, actions in scripts * 5:
        env.reset(seed=0, options={"task_id": task_id})
        begun = time.process_time()
        for action in actions:
            env.step(action)
        spent += time.process_time() - begun
        count += len(actions)
    return count / spent


def resets(env: gymnasium.Env[str, str]) -> tuple[float, float]:
    """Return the milliseconds of a reset to a game not yet met, and to one met just before."""
    cold, warm = [], []
    for task in env.unwrapped.tasks.split("eval"):  # type: ignore[attr-defined]
        options = {"task_id": task.id}
        cold.append(timed(lambda options=options: env.reset(seed=0, options=options)) * 1e3)  # type: ignore[misc]
        warm.append(timed(lambda options=options: env.reset(seed=0, options=options)) * 1e3)  # type: ignore[misc]
    return statistics.median(cold), statistics.median(warm)


def copies() -> dict[str, float]:
    """Return the microseconds of copying an episode of 20 rounds."""
    env = AlfworldEnv()
    _, info = env.reset(seed=0)
    rng = random.Random(0)
    for _ in range(20):
        info = env.step(rng.choice(info["actions"]))[-1]
    state, saved = env.get_state(), env._save()
    works: dict[str, Callable[[], object]] = {
        "snapshot of the engine's state": env._save,
        "return of the engine to a state": lambda: env._load(saved),
        "snapshot (`get_state`)": env.get_state,
        "return (`set_state`)": lambda: env.set_state(state),
        "fork": env.fork,
    }
    return {
        name: statistics.median(timed(work) for _ in range(300)) * 1e6
        for name, work in works.items()
    }


def memory() -> float:
    """Return what live environments add to the memory of a fresh process, in MB."""
    code = f"""
import os
from agentgym.envs.alfworld.env import AlfworldEnv
def used():
    pages = int(open("/proc/self/statm").read().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
first = AlfworldEnv(split="train")
first.reset(seed=0)
before, live = used(), []
for task in first.tasks.split("train")[:{LIVE}]:
    live.append(AlfworldEnv(split="train"))
    _, info = live[-1].reset(seed=0, options={{"task_id": task.id}})
    live[-1].step(info["actions"][0])
print(used() - before)
"""
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return float(out.stdout)


def solved_all() -> float:
    """Return the seconds in which the expert solves every mini task."""
    env = AlfworldEnv()
    begun = time.process_time()
    for task in env.tasks:
        observation, info = env.reset(seed=0, options={"task_id": task.id})
        expert, ended = env.expert(), False
        while not ended:
            observation, _, done, truncated, info = env.step(expert.act(observation, info)[1])
            ended = done or truncated
        assert info["success"], task.id
    return time.process_time() - begun


# The original.


def chosen() -> list[tuple[Any, list[str]]]:
    """Return the tasks that are compared, with the actions."""
    env = AlfworldEnv(split="train", words="alfworld-0.4")
    found = []
    for kind in COMPARED:
        task = next(task for task in env.tasks.split("train") if task.kind == kind)
        _, info = env.reset(seed=0, options={"task_id": task.id})
        rng, actions = random.Random(kind), []
        for _ in range(STEPS):
            actions.append(rng.choice(info["actions"]))
            info = env.step(actions[-1])[-1]
        found.append((task, actions))
    return found


def our_times() -> list[list[float]]:
    """Return the seconds of our resets and steps in the compared games."""
    env = AlfworldEnv(split="train", words="alfworld-0.4")
    times = []
    for task, actions in chosen():
        options = {"task_id": task.id}
        begin, step = [], []
        for _ in range(200):
            begin.append(timed(lambda options=options: env.reset(seed=0, options=options)))  # type: ignore[misc]
            step.append(timed(lambda actions=actions: [env.step(a) for a in actions]) / STEPS)  # type: ignore[misc]
        times.append([statistics.median(begin), statistics.median(step)])
    return times


def original_times() -> list[list[float]]:
    """Return the seconds of a load with a reset and of a step in the compared games."""
    from agentgym.envs.alfworld.original import Original
    from agentgym.envs.alfworld.words import MOVE

    times = []
    for task, actions in chosen():
        begun = time.process_time()
        original = Original(problem_of(task.spec), MOVE)
        original.reset()
        middle = time.process_time()
        for action in actions:
            original.play(action)
        times.append([middle - begun, (time.process_time() - middle) / len(actions)])
    return times


def compared(python: str | None) -> list[str]:
    """Return the lines that compare with the original."""
    if importlib.util.find_spec("textworld") is not None:
        theirs = original_times()
    elif python is None:
        return ["The original is not installed here, so there is nothing to compare with.", ""]
    else:
        out = subprocess.run(
            [python, __file__, "--original-run"],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        )
        theirs = json.loads(out.stdout.splitlines()[-1])
    lines = [
        "| game | receptacles | things | original: load and reset | a step | ours: reset | a step "
        "| steps: times faster |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for (task, _), their, our in zip(chosen(), theirs, our_times(), strict=True):
        problem = problem_of(task.spec)
        sizes = (len(problem.of(name)) for name in ("receptacletype", "objecttype"))
        cells = (
            task.kind,
            *map(str, sizes),
            f"{their[0]:.2f} s",
            f"{their[1] * 1e3:.0f} ms",
            f"{our[0] * 1e6:.0f} µs",
            f"{our[1] * 1e6:.0f} µs",
            f"{their[1] / our[1]:,.0f}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return [
        *lines,
        "",
        "The same actions in the same games; the original is alfworld 0.4.2 on textworld 1.7.0, "
        "its engine with ALFWorld's wrapper of names alone, ours is the whole environment. "
        "`alfworld_differential.md` shows that both answer the same.",
        "",
    ]


if __name__ == "__main__":
    main()
