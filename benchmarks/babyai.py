"""BabyAI against Minigrid itself, on the same primitive steps.

Every level is walked at random through actions that stand for one primitive move each. The same
moves are then played, episode by episode in turn, through

- `gymnasium.make("BabyAI-...")`, as a user of Minigrid gets it: picture observation, Gymnasium's
  default wrappers;
- the same level unwrapped: Minigrid's bare step;
- `agentgym/BabyAI-v0`: the text observation, the score and the list of available actions.

The best of several repetitions counts for each, as the machine may be busy with other things.

    python -m benchmarks.babyai [--repetitions 5] [--write]
"""

from __future__ import annotations

import argparse
import contextlib
import io
import time
from collections.abc import Callable
from typing import Any

import gymnasium
import minigrid
import numpy as np

from agentgym.core import Task
from agentgym.envs.babyai.env import BabyAIEnv
from agentgym.envs.babyai.levels import LEVELS, gym_id
from agentgym.envs.babyai.plan import CHECK, WAIT
from benchmarks.machine import write_result

STEPS = 60
LIMIT = 1.3

Episode = tuple[str, int, list[str], list[int]]


def begin(env: BabyAIEnv, level: str, seed: int) -> None:
    """Begin any level and seed, whether it is a task of the edition or not."""
    env._start(Task("babyai_0", 0, "eval", level, {"level": level, "seed": seed}))


def walk(env: BabyAIEnv, level: str, seed: int) -> Episode:
    """Return an episode of random single moves, as texts and as Minigrid's numbers."""
    rng = np.random.default_rng(seed)
    begin(env, level, seed)
    texts: list[str] = []
    moves: list[int] = []
    for _ in range(STEPS):
        options = env._options
        assert options is not None
        single = [
            (t, options.moves(t)[0])
            for t in options.texts
            if t != CHECK and len(options.moves(t)) == 1 and options.moves(t) != (WAIT,)
        ]
        text, move = single[int(rng.integers(len(single)))]
        texts.append(text)
        moves.append(move)
        _, _, terminated, truncated, _ = env.step(text)
        if terminated or truncated:
            break
    return level, seed, texts, moves


def timed(step: Callable[[Any], Any], actions: list[Any]) -> float:
    """Return the seconds that playing the actions takes."""
    start = time.perf_counter()
    for action in actions:
        step(action)
    return time.perf_counter() - start


def measure(episodes: list[Episode], env: BabyAIEnv) -> tuple[float, float, float]:
    """Play every episode on each side in turn; return the seconds of wrapped, bare and ours."""
    wrapped = bare = ours = 0.0
    for level, seed, texts, moves in episodes:
        with contextlib.redirect_stdout(io.StringIO()):  # Minigrid prints rejected missions
            peer = gymnasium.make(gym_id(level))
            peer.reset(seed=seed)
            twin = gymnasium.make(gym_id(level)).unwrapped
            twin.reset(seed=seed)
        begin(env, level, seed)
        wrapped += timed(peer.step, moves)
        ours += timed(env.step, texts)
        bare += timed(twin.step, moves)
    return wrapped, bare, ours


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="write results/babyai.md")
    arguments = parser.parse_args()
    env = BabyAIEnv(max_rounds=10**6)
    episodes = [walk(env, level, seed) for level in LEVELS for seed in (11, 12)]
    steps = sum(len(texts) for _, _, texts, _ in episodes)
    runs = [measure(episodes, env) for _ in range(arguments.repetitions)]
    wrapped, bare, ours = (min(column) / steps * 1e6 for column in zip(*runs, strict=True))
    report = "\n".join(
        [
            f"{steps} steps over {len(LEVELS)} levels, the three sides in turn, best of "
            f"{arguments.repetitions}. Minigrid {minigrid.__version__}, Gymnasium "
            f"{gymnasium.__version__}, numpy {np.__version__}.",
            "",
            "| | µs a step | agentgym / it |",
            "|---|---:|---:|",
            f"| Minigrid, as `gymnasium.make` gives it | {wrapped:.0f} | {ours / wrapped:.2f} |",
            f"| Minigrid, unwrapped | {bare:.0f} | {ours / bare:.2f} |",
            f"| `agentgym/BabyAI-v0` | {ours:.0f} | 1 |",
            "",
            f"Wanted: at most {LIMIT} times Minigrid's own time, without its wrappers. The text "
            "costs less than the picture observation it replaces.",
        ]
    )
    print(report)
    if arguments.write:
        command = f"python -m benchmarks.babyai --repetitions {arguments.repetitions} --write"
        write_result("babyai", "BabyAI: time per primitive step", command, report)
    if ours > LIMIT * bare:
        raise SystemExit("slower than wanted")


if __name__ == "__main__":
    main()
