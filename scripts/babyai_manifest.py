"""Find the seeds of BabyAI's mini edition.

For every level, seeds are tried in order from `--first` on (the official items use seeds 0 to 22)
and kept if the expert solves the task within the rounds, its moves are all valid, and no kept
seed begins the same way. The result is written to agentgym/envs/babyai/data/mini.json.

    python scripts/babyai_manifest.py            # write the manifest, a few minutes
    python scripts/babyai_manifest.py --check    # play every task of the present manifest
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import minigrid

from agentgym.core import Task
from agentgym.envs.babyai.env import BabyAIEnv
from agentgym.envs.babyai.levels import LEVELS
from agentgym.envs.babyai.world import build

PLACE = Path(__file__).parent.parent / "agentgym/envs/babyai/data/mini.json"
VERSION = "1"
SEEDS = 30
TRIES = 400


def expert_rounds(env: BabyAIEnv, level: str, seed: int) -> int | None:
    """Return how many rounds the expert needs, or None if it does not succeed."""
    observation, info = env._start(
        Task("babyai_0", 0, "eval", level, {"level": level, "seed": seed})
    )
    expert = env.expert()
    while True:
        _, action = expert.act(observation, info)
        observation, _, terminated, truncated, info = env.step(action)
        if not info["valid"]:
            return None
        if terminated or truncated:
            return env.rounds if info["success"] else None


def opening(level: str, seed: int) -> tuple[object, ...]:
    """Return what identifies the beginning of an episode."""
    world = build(level, seed)
    pose = (*(int(n) for n in world.agent_pos), int(world.agent_dir))
    return world.mission, pose, world.grid.encode().tobytes()


def find_seeds(env: BabyAIEnv, level: str, first: int, rounds: int) -> list[int]:
    """Return the first `SEEDS` seeds of a level that are fit for the edition."""
    kept: list[int] = []
    seen = set()
    needed = []
    tried = 0
    for seed in range(first, first + TRIES):
        tried += 1
        start = opening(level, seed)
        if start in seen:
            continue
        spent = expert_rounds(env, level, seed)
        if spent is not None and spent <= rounds:
            seen.add(start)
            kept.append(seed)
            needed.append(spent)
        if len(kept) == SEEDS:
            break
    mean = sum(needed) / max(1, len(needed))
    print(f"{level:24} kept {len(kept)} of {tried}; rounds mean {mean:.1f} max {max(needed)}")
    return kept


def check(env: BabyAIEnv) -> None:
    """Let the expert play every task."""
    for task in env.tasks:
        spent = expert_rounds(env, task.spec["level"], task.spec["seed"])
        if spent is None:
            raise SystemExit(f"{task.id} ({task.kind}) is not solved")
    print(f"all {len(env.tasks)} tasks solved")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="play the present manifest instead")
    parser.add_argument("--first", type=int, default=1000, help="first seed to try")
    parser.add_argument("--levels", nargs="*", default=list(LEVELS), help="only these, not written")
    arguments = parser.parse_args()
    env = BabyAIEnv()
    if arguments.check:
        check(env)
        return
    rounds = env.editions["mini"].max_rounds
    seeds = {level: find_seeds(env, level, arguments.first, rounds) for level in arguments.levels}
    if tuple(arguments.levels) == LEVELS:
        head = {"version": VERSION, "minigrid": minigrid.__version__, "rounds": rounds}
        lines = ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in seeds.items())
        PLACE.write_text(json.dumps(head)[:-1] + ', "seeds": {\n' + lines + "\n}}\n")


if __name__ == "__main__":
    main()
