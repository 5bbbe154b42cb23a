"""How many calls a second the tool environments answer from their local worlds.

For each environment the expert's calls on its eval tasks are recorded once and then played again:
through `step` (a call read from text, validated, carried out, answered and scored), and as calls of
the tools alone (validated and carried out). One process, one environment object. Environments that
are not registered are left out.

    python benchmarks/tools.py --output benchmarks/results/tools.md
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path
from typing import Any

from machine import load, machine

ENVS = ("Weather", "Movie", "Academia", "TODOList", "Sheet")

Script = list[tuple[str, list[str]]]
"""Tasks and the actions that are played on them."""


def main() -> None:
    """Measure and write the result page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--output", type=Path, help="write the page here as well")
    args = parser.parse_args()
    page = report(args.repeats)
    print(page)
    if args.output:
        args.output.write_text(page, encoding="utf-8")


def report(repeats: int) -> str:
    """Return the result page."""
    lines = [
        "# Tool environments: speed",
        "",
        f"Command: `python benchmarks/tools.py` ({repeats} repeats). Machine: {machine()}, "
        f"{load()}.",
        "",
        "| environment | tools alone, calls/s (median) | (best) | steps/s (median) | (best) "
        "| resets/s (median) |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    lines += [row(name, repeats) for name in registered()]
    lines += [
        "",
        "The expert's calls on the eval tasks. *Tools alone*: arguments validated and the function "
        "carried out in the local world. *Steps*: the action read from text, the call, the answer "
        "written, the score; without resets. Processor time of one process.",
        "",
    ]
    return "\n".join(lines)


def registered() -> list[str]:
    """Return the tool environments that there are."""
    from agentgym.core import cards

    known = {card.short_name for card in cards()}
    return [name for name in ENVS if name in known]


def row(name: str, repeats: int) -> str:
    """Return one line of the table."""
    import agentgym

    env = agentgym.make(name)
    script = record(env)
    play(env, script)  # fills what is computed when it is first asked for
    play_tools(env, script)
    steps, resets = zip(*(play(env, script) for _ in range(repeats)), strict=True)
    calls = [play_tools(env, script) for _ in range(repeats)]
    return (
        f"| {name} | {statistics.median(calls):,.0f} | {max(calls):,.0f} "
        f"| {statistics.median(steps):,.0f} | {max(steps):,.0f} "
        f"| {statistics.median(resets):,.0f} |"
    )


def record(env: Any) -> Script:
    """Return the expert's actions on the eval tasks."""
    script = []
    for task in env.tasks.split("eval"):
        observation, info = env.reset(seed=0, options={"task_id": task.id})
        expert, actions, ended = env.expert(), [], False
        while not ended:
            actions.append(expert.act(observation, info)[1])
            observation, _, terminated, truncated, info = env.step(actions[-1])
            ended = terminated or truncated
        script.append((task.id, actions))
    return script


def play(env: Any, script: Script, rounds: int = 20) -> tuple[float, float]:
    """Return steps and resets a second."""
    clock, stepping, resetting, steps = time.process_time, 0.0, 0.0, 0
    for task_id, actions in script * rounds:
        begin = clock()
        env.reset(seed=0, options={"task_id": task_id})
        middle = clock()
        for action in actions:
            env.step(action)
        stepping += clock() - middle
        resetting += middle - begin
        steps += len(actions)
    return steps / stepping, rounds * len(script) / resetting


def play_tools(env: Any, script: Script, rounds: int = 20) -> float:
    """Return calls of the tools a second."""
    from agentgym.core import read_call

    calls = [(task_id, [read_call(action) for action in actions]) for task_id, actions in script]
    clock, calling, count = time.process_time, 0.0, 0
    for task_id, made in calls * rounds:
        env.reset(seed=0, options={"task_id": task_id})
        begin = clock()
        for name, arguments in made:
            env.kit.call(name, arguments)
        calling += clock() - begin
        count += len(made)
    return count / calling


if __name__ == "__main__":
    main()
