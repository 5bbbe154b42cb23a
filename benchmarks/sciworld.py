"""SciWorld against the package it stands on, on the same actions.

The solving paths of several tasks are played, turn about in one run, through

- `scienceworld.ScienceWorldEnv`: `load`, `reset` and `step`, as its users call them;
- `agentgym/SciWorld-v0`: `reset` and `step`, with the score, the sub-goals and all else a user
  gets by default.

Each has a Java process of its own, of the same Java and with the same class path, so that the texts
can be compared. Calls across the bridge are counted too. A first round warms both up and is not
counted.

    python benchmarks/sciworld.py [--rounds 3] [--write]
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from machine import write_result
from py4j.java_gateway import GatewayConnection
from scienceworld import ScienceWorldEnv
from scienceworld.constants import JAR_PATH

from agentgym.core.registry import make
from agentgym.envs.sciworld.env import SciWorldEnv
from agentgym.envs.sciworld.jvm import find_java
from agentgym.envs.sciworld.patch import write_patched_class
from agentgym.envs.sciworld.tasks import carried_path

TASKS = ("boil", "use-thermometer", "power-component", "find-plant", "test-conductivity")
LIMIT = 2.0

_calls = 0


@dataclass
class Tally:
    """What one side has done so far."""

    resets: int = 0
    reset_seconds: float = 0.0
    steps: int = 0
    step_seconds: float = 0.0
    calls: int = 0

    @contextmanager
    def reset(self) -> Iterator[None]:
        """Time one reset."""
        start = time.perf_counter()
        yield
        self.reset_seconds += time.perf_counter() - start
        self.resets += 1

    @contextmanager
    def walk(self, steps: int) -> Iterator[None]:
        """Time the steps of one episode and count their calls."""
        calls, start = _calls, time.perf_counter()
        yield
        self.step_seconds += time.perf_counter() - start
        self.calls += _calls - calls
        self.steps += steps

    @property
    def steps_per_second(self) -> float:
        """Steps in a second, resets not counted."""
        return self.steps / self.step_seconds


def count_calls() -> None:
    """Count every command sent to a Java process from now on."""
    send = GatewayConnection.send_command

    def counted(self: GatewayConnection, command: str) -> str:
        global _calls
        _calls += 1
        return str(send(self, command))

    GatewayConnection.send_command = counted


def play_package(env: ScienceWorldEnv, task: str, tally: Tally) -> list[str]:
    """Play a task's path through the package and return what it said."""
    path = carried_path(task, 0)
    with tally.reset():
        env.load(task, 0, "")
        seen = [env.reset()[0]]
    with tally.walk(len(path)):
        seen += [env.step(action)[0] for action in path]
    return seen


def play_ours(env: SciWorldEnv, task: str, tally: Tally) -> list[str]:
    """Play a task's path through agentgym and return what it said."""
    path = carried_path(task, 0)
    task_id = next(t.id for t in env.tasks if t.spec["task"] == task and t.spec["variation"] == 0)
    with tally.reset():
        seen = [env.reset(seed=0, options={"task_id": task_id})[0]]
    seen[0] = seen[0].removeprefix(env._goal + "\n")
    with tally.walk(len(path)):
        seen += [env.step(action)[0] for action in path]
    return seen


def run(rounds: int) -> tuple[Tally, Tally, int]:
    """Play the rounds; return both tallies and how many observations differed."""
    count_calls()
    package, ours, differ = Tally(), Tally(), 0
    java = Path(find_java())
    os.environ["PATH"] = f"{java.parent}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as folder:
        write_patched_class(Path(JAR_PATH), Path(folder))
        peer = ScienceWorldEnv("", serverPath=f"{folder}{os.pathsep}{JAR_PATH}")
        env = make("sciworld", linger=0)
        assert isinstance(env, SciWorldEnv)
        for number in range(rounds + 1):
            if number == 1:
                package, ours, differ = Tally(), Tally(), 0
            for task in TASKS:
                said, heard = play_package(peer, task, package), play_ours(env, task, ours)
                differ += sum(a != b for a, b in zip(said, heard, strict=True))
        env.close()
        peer.close()
    return package, ours, differ


def table(package: Tally, ours: Tally, differ: int) -> str:
    """Return the result as Markdown."""
    rows = ["| | steps/s | ms a step | calls a step | s a reset |", "|---|---|---|---|---|"]
    for name, tally in (("scienceworld 1.2.3", package), ("agentgym", ours)):
        rows.append(
            f"| {name} | {tally.steps_per_second:.1f} | {1000 / tally.steps_per_second:.1f} | "
            f"{tally.calls / tally.steps:.1f} | {tally.reset_seconds / tally.resets:.2f} |"
        )
    ratio = ours.steps_per_second / package.steps_per_second
    return "\n".join(
        (
            *rows,
            "",
            f"Ratio {ratio:.1f} (at least {LIMIT} is claimed), over {ours.steps} steps of "
            f"{len(TASKS)} tasks; {differ} of their observations differ.",
        )
    )


def main() -> int:
    """Run and print; return 1 where the claim does not hold."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="write the result file")
    arguments = parser.parse_args()
    package, ours, differ = run(arguments.rounds)
    body = table(package, ours, differ)
    print(body)
    if arguments.write:
        write_result("sciworld", "SciWorld", "python benchmarks/sciworld.py --write", body)
    return 0 if ours.steps_per_second >= LIMIT * package.steps_per_second else 1


if __name__ == "__main__":
    raise SystemExit(main())
