"""Steps a second of 32 environments: one after the other in this process, and over processes.

A light environment (TextCraft), one that computes (BabyAI), one that waits 5 ms a step as for a
service (Maze behind a pause) and one in a Java process (SciWorld) play the same recorded actions,
over the ends of episodes, in each kind of vector: the one Gymnasium makes in this process ("sync"),
ours in this process, ours over worker processes, and Gymnasium's with a process an environment
("async"; left out where it adds nothing or would start 32 JVMs). The kinds take turns within one
run, so that the ratios hold on a noisy machine, and what they observed is compared: it must be the
same.

    python benchmarks/vector.py
"""

from __future__ import annotations

import argparse
import hashlib
import statistics
import time
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from machine import load, write_result

import agentgym
from agentgym.core.vector import TextVectorEnv

STEPS = {"TextCraft": 40, "BabyAI": 20, "Maze": 4, "SciWorld": 3}
SEED = 1
WAITING = "Maze"
WAITERS = 8
"""Workers for the environment that waits: more than there are cores, since it leaves them idle."""


class Pause(gymnasium.Wrapper[str, str, str, str]):
    """Waits a while in each step."""

    def step(self, action: str) -> Any:
        """Wait, then step."""
        time.sleep(0.005)
        return super().step(action)


def paused() -> gymnasium.Env[str, str]:
    """Return an environment that waits."""
    return Pause(agentgym.make(WAITING))


def kinds(name: str, num_envs: int, workers: int) -> dict[str, Callable[[], Any]]:
    """Return what makes each kind of vector."""
    env_id = f"agentgym/{name}-v0"
    if name == WAITING:
        fns = [paused] * num_envs
        return {
            "gymnasium sync": lambda: gymnasium.vector.SyncVectorEnv(fns),
            "agentgym, in process": lambda: TextVectorEnv(fns),
            f"agentgym, {WAITERS} workers": lambda: TextVectorEnv(fns, workers=WAITERS),
        }

    def make(**options: Any) -> Callable[[], Any]:
        return lambda: gymnasium.make_vec(env_id, num_envs, **options)

    made = {
        "gymnasium sync": make(vectorization_mode="sync"),
        "agentgym, in process": make(),
        f"agentgym, {workers} workers": make(workers=workers),
    }
    if name != "SciWorld":
        made[f"gymnasium async, {num_envs} processes"] = make(vectorization_mode="async")
    return made


def recorded(name: str, num_envs: int, steps: int) -> list[list[str]]:
    """Return random sensible actions of every environment, step by step."""
    envs = [agentgym.make(name) for _ in range(num_envs)]
    rngs = [np.random.default_rng([SEED, i]) for i in range(num_envs)]
    for i, env in enumerate(envs):
        env.reset(seed=SEED + i)
    script = []
    ended = [False] * num_envs
    for _ in range(steps):
        actions = []
        for i, env in enumerate(envs):
            action = env.sample_action(rngs[i])
            actions.append(action)
            if ended[i]:  # the vectors begin the next episode in this step
                env.reset()
                ended[i] = False
            else:
                _, _, terminated, truncated, _ = env.step(action)
                ended[i] = terminated or truncated
        script.append(actions)
    for env in envs:
        env.close()
    return script


def play(envs: Any, script: list[list[str]]) -> tuple[float, str]:
    """Play a script; return the seconds it took and a digest of what was observed."""
    seen = hashlib.sha256()
    observations, _ = envs.reset(seed=SEED)
    start = time.perf_counter()
    for actions in script:
        observations, *_ = envs.step(actions)
        seen.update(repr(observations).encode())
    return time.perf_counter() - start, seen.hexdigest()


def measure(name: str, num_envs: int, workers: int, rounds: int) -> list[str]:
    """Return a table's rows for one environment."""
    script = recorded(name, num_envs, STEPS[name])
    vectors = {kind: make() for kind, make in kinds(name, num_envs, workers).items()}
    seconds: dict[str, list[float]] = {kind: [] for kind in vectors}
    digests = set()
    for _ in range(rounds + 1):
        for kind, envs in vectors.items():
            took, digest = play(envs, script)
            seconds[kind].append(took)
            digests.add(digest)
    for envs in vectors.values():
        envs.close()
    if len(digests) != 1:
        raise SystemExit(f"{name}: the kinds of vector observed different things")
    rows = []
    baseline = seconds["gymnasium sync"][1:]  # the first round fills caches
    for kind, took in seconds.items():
        ratios = [b / t for b, t in zip(baseline, took[1:], strict=True)]
        rate = num_envs * len(script) / statistics.median(took[1:])
        label = f"{name}, waiting" if name == WAITING else name
        rows.append(f"| {label} | {kind} | {rate:,.0f} | {statistics.median(ratios):.2f} |")
        print(rows[-1], flush=True)
    return rows


def main() -> None:
    """Measure and write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--envs", type=int, default=32)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    rows: list[str] = []
    for name in STEPS:
        rows += measure(name, options.envs, options.workers, options.rounds)
    body = (
        f"{options.envs} environments, {load()}; medians of {options.rounds} rounds in which the "
        "kinds took turns. The last column is the ratio to Gymnasium's vector in this process in "
        "the same round; what workers gain where an environment computes shows only while the "
        "cores are otherwise idle. Every kind observed the same, byte for byte.\n\n"
        "| environment | vector | steps/s | ratio |\n|---|---|---:|---:|\n" + "\n".join(rows)
    )
    path = write_result("vector", "Vectors", "python benchmarks/vector.py", body)
    print(f"written to {path}")


if __name__ == "__main__":
    main()
