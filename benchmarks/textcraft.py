"""How fast TextCraft steps and resets, and whether that stays flat.

Plays precomputed random actions (a step's time holds no drawing of actions) through
`gymnasium.make("agentgym/TextCraft-v0")` with the defaults, one process, one environment object.
As peers it plays small text games of `gem-llm` and `textarena` the same way, in the interpreter
given by --peer-python, in turn with our own runs. Games differ in what a step does, so the ratio
says which order of magnitude to expect, no more.

    python -m venv peers && peers/bin/pip install gem-llm textarena
    python benchmarks/textcraft.py --peer-python peers/bin/python \\
        --output benchmarks/results/textcraft.md
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from machine import load, machine

ENV = "agentgym/TextCraft-v0"
PEERS = {
    "gem": ("game:GuessTheNumber-v0-easy", "game:Mastermind-v0-easy"),
    "textarena": ("GuessTheNumber-v0-raw", "Mastermind-v0-raw", "GuessTheNumber-v0"),
}
EPISODES = 1000

Rates = tuple[float, float, float]
"""Steps a second without resets, steps a second with resets, resets a second."""


def main() -> None:
    """Measure and write the result page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--peer-python", help="an interpreter with gem-llm and textarena")
    parser.add_argument("--output", type=Path, help="write the page here as well")
    parser.add_argument("--peer-run", nargs=2, metavar=("PACKAGE", "GAME"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.peer_run:
        print(json.dumps(peer_rates(*args.peer_run)))
        return
    page = report(args.repeats, args.peer_python)
    print(page)
    if args.output:
        args.output.write_text(page, encoding="utf-8")


def report(repeats: int, peer_python: str | None) -> str:
    """Return the result page."""
    env, script = prepare()
    play_script(env, script)
    ours: list[Rates] = []
    peers: dict[tuple[str, str], list[Rates]] = {}
    flat: list[tuple[float, float]] = []
    for _ in range(repeats):
        ours.append(play_script(env, script))
        flat.append(flatness(script))
        for package, games in PEERS.items() if peer_python else ():
            for game in games:
                peers.setdefault((package, game), []).append(ask_peer(peer_python, package, game))
    command = "python benchmarks/textcraft.py" + (" --peer-python PYTHON" if peer_python else "")
    first, last = (statistics.median(column) for column in zip(*flat, strict=True))
    lines = [
        "# TextCraft: speed",
        "",
        f"Command: `{command}` ({repeats} repeats). Machine: {machine()}, {load()}.",
        "",
        "| environment | steps/s (median) | steps/s (best) | with resets | resets/s "
        "| TextCraft is faster by |",
        "|---|---|---|---|---|---|",
        row(f"{ENV} (defaults)", ours, None),
        *(row(f"{package}: {game}", rates, ours) for (package, game), rates in peers.items()),
        "",
        "Processor time of one process. Steps/s leaves the resets out; 'with resets' is steps over "
        "all the time, medians. The ratio is of the median steps/s without resets.",
        "",
        f"Flat: in {EPISODES} episodes of one environment object, the same 100 episodes took "
        f"{first * 1e3:.1f} ms at the beginning and {last * 1e3:.1f} ms at the end "
        f"({last / first:.2f} times; medians of {repeats}).",
        "",
    ]
    return "\n".join(lines)


def row(name: str, rates: list[Rates], base: list[Rates] | None) -> str:
    """Return one line of the table."""
    steps, whole, resets = (statistics.median(column) for column in zip(*rates, strict=True))
    best = max(rate[0] for rate in rates)
    ratio = "" if base is None else f"{statistics.median(r[0] for r in base) / steps:.1f} times"
    return f"| {name} | {steps:,.0f} | {best:,.0f} | {whole:,.0f} | {resets:,.0f} | {ratio} |"


def prepare() -> tuple[Any, list[tuple[str, list[str]]]]:
    """Return the environment and 200 eval episodes of random sensible actions."""
    import gymnasium
    import numpy as np

    import agentgym  # noqa: F401  registers the environments

    env = gymnasium.make(ENV)
    rng = np.random.default_rng(0)
    script = []
    for task in env.unwrapped.tasks.split("eval"):  # type: ignore[attr-defined]
        env.reset(seed=0, options={"task_id": task.id})
        actions, ended = [], False
        while not ended:
            actions.append(env.unwrapped.sample_action(rng))  # type: ignore[attr-defined]
            _, _, terminated, truncated, _ = env.step(actions[-1])
            ended = terminated or truncated
        script.append((task.id, actions))
    return env, script


def play_script(env: Any, script: list[tuple[str, list[str]]]) -> Rates:
    """Play every episode of the script three times."""
    clock, stepping, resetting, steps = time.process_time, 0.0, 0.0, 0
    for task_id, actions in script * 3:
        begin = clock()
        env.reset(seed=0, options={"task_id": task_id})
        middle = clock()
        for action in actions:
            env.step(action)
        stepping += clock() - middle
        resetting += middle - begin
        steps += len(actions)
    return steps / stepping, steps / (stepping + resetting), 3 * len(script) / resetting


def flatness(script: list[tuple[str, list[str]]]) -> tuple[float, float]:
    """Return the seconds that the first and the last 100 of 1,000 episodes take."""
    import gymnasium

    env = gymnasium.make(ENV)
    times = []
    for i in range(EPISODES):
        task_id, actions = script[i % 100]
        begin = time.process_time()
        env.reset(seed=0, options={"task_id": task_id})
        for action in actions:
            env.step(action)
        times.append(time.process_time() - begin)
    # The very first round over the 100 tasks fills caches; the second is what to compare with.
    return sum(times[100:200]), sum(times[-100:])


def ask_peer(python: str | None, package: str, game: str) -> Rates:
    """Measure a peer in its own interpreter."""
    command = [str(python), __file__, "--peer-run", package, game]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    steps, whole, resets = json.loads(found.stdout.strip().splitlines()[-1])
    return steps, whole, resets


def peer_rates(package: str, game: str) -> Rates:
    """Play a peer's game with random actions drawn beforehand, a second and a half."""
    reset, step, actions = gem_game(game) if package == "gem" else textarena_game(game)
    clock, stepping, resetting, steps, resets = time.process_time, 0.0, 0.0, 0, 0
    end = clock() + 1.5  # processor time, as everywhere here: a busy machine disturbs it less
    while clock() < end:
        begin = clock()
        reset(resets)
        middle = clock()
        done = False
        while not done:
            done = step(actions[steps % len(actions)])
            steps += 1
        stepping += clock() - middle
        resetting += middle - begin
        resets += 1
    return steps / stepping, steps / (stepping + resetting), resets / resetting


def gem_game(game: str) -> tuple[Callable[[int], Any], Callable[[str], bool], list[str]]:
    """Return reset, step and actions of a gem game."""
    import gem

    env = gem.make(game)
    env.reset(seed=0)
    actions = [env.sample_random_action() for _ in range(5000)]

    def step(action: str) -> bool:
        _, _, terminated, truncated, _ = env.step(action)
        return bool(terminated or truncated)

    return lambda seed: env.reset(seed=seed), step, actions


def textarena_game(game: str) -> tuple[Callable[[int], Any], Callable[[str], bool], list[str]]:
    """Return reset, step and actions of a TextArena game."""
    import textarena

    # A fresh object now and then: the default wrappers keep every observation for ever.
    holder = [textarena.make(game)]
    draw = random.Random(0)
    if game.startswith("Mastermind"):
        codes = [draw.sample(range(1, 7), 4) for _ in range(5000)]
        actions = ["[" + " ".join(map(str, code)) + "]" for code in codes]
    else:
        actions = [f"[{draw.randint(1, 20)}]" for _ in range(5000)]

    def reset(seed: int) -> None:
        if seed % 50 == 49:
            holder[0] = textarena.make(game)
        holder[0].reset(num_players=1, seed=seed)
        holder[0].get_observation()

    def step(action: str) -> bool:
        done, _ = holder[0].step(action)
        if not done:
            holder[0].get_observation()
        return bool(done)

    return reset, step, actions


if __name__ == "__main__":
    main()
