"""Steps a second of MAZE and Wordle, and whether their cost stays flat; peers in the same run.

    python benchmarks/maze_wordle.py --peers PEER_VENV/bin/python --out benchmarks/results

Every environment is made as a user makes it, reset with a seed for each episode, and played by a
random policy whose actions were drawn beforehand, in a process of its own. Time is the processor
time of that process (each contender is one thread), runs of the contenders take turns, and the best
of each counts: what others do on the machine disturbs that least.

Peers (`pip install gem-llm textarena` in another virtual environment) download word lists from
nltk when they start, which an offline machine cannot; there nltk is given the same 2,315 words
that our hidden words come from. Neither has a maze of text; TextArena's FrozenLake, four moves on
a grid of 16 cells, is the nearest. Prompts and turn limits differ, so ratios tell orders of size.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from machine import load, machine

WORDS = Path(__file__).parents[1] / "agentgym" / "envs" / "wordle" / "data" / "words_5.txt"
MOVES = ("up", "down", "left", "right")
TARGET = 50_000
EPISODES = 1000

Episode = Callable[[int], int]
"""Plays the episode of a seed and returns its steps."""


def words() -> list[str]:
    """Return the words that can be hidden."""
    return WORDS.read_text("ascii").partition("[hidden]")[2].partition("[")[0].split()


def ours(env_id: str, template: str, choices: list[str]) -> Episode:
    """Return an episode of an agentgym environment through `gymnasium.make`."""
    import gymnasium

    import agentgym  # noqa: F401  registers the ids

    env = gymnasium.make(env_id)
    draw = drawn([template.format(c) for c in choices])

    def episode(seed: int) -> int:
        env.reset(seed=seed)
        steps, ended = 0, False
        while not ended:
            _, _, terminated, truncated, _ = env.step(draw())
            steps, ended = steps + 1, terminated or truncated
        return steps

    return episode


def gem_wordle() -> Episode:
    """Return an episode of gem's Wordle, five letters."""
    stub_nltk()
    import gem

    env = gem.make("game:Wordle-v0-hard", max_turns=6)
    draw = drawn([f"\\boxed{{{w}}}" for w in words()])

    def episode(seed: int) -> int:
        env.reset(seed=seed)
        steps, ended = 0, False
        while not ended:
            _, _, terminated, truncated, _ = env.step(draw())
            steps, ended = steps + 1, terminated or truncated
        return steps

    return episode


def textarena(env_id: str, choices: list[str]) -> Episode:
    """Return an episode of a TextArena game."""
    stub_nltk()
    import textarena as ta

    env = ta.make(env_id)
    draw = drawn([f"[{c}]" for c in choices])

    def episode(seed: int) -> int:
        env.reset(num_players=1, seed=seed)
        steps, ended = 0, False
        while not ended:
            env.get_observation()
            ended, _ = env.step(action=draw())
            steps += 1
        env.close()
        return steps

    return episode


def stub_nltk() -> None:
    """Give nltk what it would download."""
    import nltk

    class Corpus:
        def words(self, _: str = "en") -> list[str]:
            return words()

    nltk.download = lambda *_, **__: True
    nltk.pos_tag = lambda tokens: [(token, "NN") for token in tokens]
    nltk.corpus.words = Corpus()


def drawn(actions: list[str]) -> Callable[[], str]:
    """Return a function that gives pre-drawn random actions, one a call."""
    rng = random.Random(0)
    sequence, position = [rng.choice(actions) for _ in range(4096)], 0

    def draw() -> str:
        nonlocal position
        position = (position + 1) & 4095
        return sequence[position]

    return draw


CONTENDERS: dict[str, tuple[str, Callable[[], Episode]]] = {
    "agentgym Maze": ("maze", lambda: ours("agentgym/Maze-v0", "move {}", list(MOVES))),
    "textarena FrozenLake": ("maze", lambda: textarena("FrozenLake-v0", list(MOVES))),
    "textarena FrozenLake -raw": ("maze", lambda: textarena("FrozenLake-v0-raw", list(MOVES))),
    "agentgym Wordle": ("wordle", lambda: ours("agentgym/Wordle-v0", "{}", spaced())),
    "gem Wordle": ("wordle", gem_wordle),
    "textarena Wordle": ("wordle", lambda: textarena("Wordle-v0", words())),
    "textarena Wordle -raw": ("wordle", lambda: textarena("Wordle-v0-raw", words())),
}


def spaced() -> list[str]:
    """Return the words as actions of our Wordle."""
    return [" ".join(word) for word in words()]


def measure(name: str, seconds: float) -> dict[str, float]:
    """Measure one contender in this process: speed, then the cost of a thousand episodes."""
    episode = CONTENDERS[name][1]()
    for seed in range(20):
        episode(seed)
    steps = episodes = 0
    start = time.process_time()
    while time.process_time() - start < seconds:
        steps, episodes = steps + episode(episodes), episodes + 1
    elapsed = time.process_time() - start
    rates = {"steps": steps / elapsed, "episodes": episodes / elapsed}
    if name.startswith("agentgym"):
        tenths = [seconds_a_step(episode, EPISODES // 10) for _ in range(10)]
        rates["drift"] = min(tenths[-3:]) / min(tenths[:3])
    return rates


def seconds_a_step(episode: Episode, episodes: int) -> float:
    """Return the seconds a step takes over some episodes, the same ones at every call."""
    start = time.process_time()
    steps = sum(episode(seed) for seed in range(episodes))
    return (time.process_time() - start) / steps


def run_all(peers: str | None, seconds: float, repeats: int) -> dict[str, list[dict[str, float]]]:
    """Measure every contender in turn, each time in a fresh process."""
    results: dict[str, list[dict[str, float]]] = {}
    for turn in range(repeats):
        for name in CONTENDERS:
            python = sys.executable if name.startswith("agentgym") else peers
            if python is None:
                continue
            command = [python, __file__, "--worker", name, "--seconds", str(seconds)]
            print(f"{turn + 1}/{repeats} {name} ...", flush=True)
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                print(f"  failed: {done.stderr.strip().splitlines()[-1:]}")
                continue
            results.setdefault(name, []).append(json.loads(done.stdout.splitlines()[-1]))
            print(f"  {results[name][-1]['steps']:,.0f} steps/s")
    return results


def report(results: dict[str, list[dict[str, float]]], command: str) -> str:
    """Return the results as a page of Markdown."""
    repeats = max(map(len, results.values()))
    lines = [
        "# MAZE and Wordle: steps a second",
        "",
        f"`{command}`",
        "",
        f"{machine()}, {load()}; one process at a time, best of {repeats} runs.",
        "",
        "| environment | steps/s | episodes/s | ours is | cost of the last of 1,000 episodes |",
        "|---|---:|---:|---:|---:|",
    ]
    best = {name: max(runs, key=lambda r: r["steps"]) for name, runs in results.items()}
    own = {CONTENDERS[n][0]: r["steps"] for n, r in best.items() if n.startswith("agentgym")}
    for name, run in best.items():
        ours_here = name.startswith("agentgym")
        ratio = "" if ours_here else f"{own[CONTENDERS[name][0]] / run['steps']:.1f} x"
        drift = f"{median(r['drift'] for r in results[name]):.2f} x the first" if ours_here else ""
        lines.append(
            f"| {name} | {run['steps']:,.0f} | {run['episodes']:,.0f} | {ratio} | {drift} |"
        )
    verdict = "met" if min(own.values()) >= TARGET else "missed"
    return "\n".join([*lines, "", f"Target of {TARGET:,} steps/s: {verdict}.", "", notes(), ""])


def notes() -> str:
    """Return what a reader must know to read the table: the head of this file."""
    return (__doc__ or "").partition("\n\n")[2].partition("\n\n")[2].strip()


def main() -> None:
    """Measure, print and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--peers", help="the Python that has gem-llm and textarena")
    parser.add_argument("--seconds", type=float, default=3.0, help="length of one measurement")
    parser.add_argument("--repeats", type=int, default=3, help="measurements of each contender")
    parser.add_argument("--out", type=Path, help="folder for maze_wordle.md")
    parser.add_argument("--worker", choices=list(CONTENDERS), help=argparse.SUPPRESS)
    arguments: Any = parser.parse_args()
    if arguments.worker:
        print(json.dumps(measure(arguments.worker, arguments.seconds)))
        return
    results = run_all(arguments.peers, arguments.seconds, arguments.repeats)
    peers = " --peers PEER_VENV/bin/python" if arguments.peers else ""
    page = report(
        results,
        f"python benchmarks/maze_wordle.py{peers} --seconds {arguments.seconds:g} "
        f"--repeats {arguments.repeats}",
    )
    print(page)
    if arguments.out:
        arguments.out.mkdir(parents=True, exist_ok=True)
        (arguments.out / "maze_wordle.md").write_text(page, "utf-8")


if __name__ == "__main__":
    main()
