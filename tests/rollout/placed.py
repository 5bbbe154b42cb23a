"""Environments and agents for the Ray tests: they need a machine of a kind, and break at will.

They live in a module of their own because the actors of the cluster import them by name.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium

from agentgym.agents import Agent
from agentgym.core import EnvNeeds, TaskSet
from agentgym.rollout.host import EnvHost
from tests.toy import GuessEnv


class PlacedEnv(GuessEnv):
    """Guess, on machines that have a "jvm" only, two sessions a worker."""

    name = "placed"
    needs = EnvNeeds(cpus=0.25, memory_mb=64, sessions=2, resources={"jvm": 1})

    @classmethod
    def load_tasks(cls, edition: str, data_dir: str | None) -> TaskSet:
        rows = [(t.split, t.kind, t.spec) for t in GuessEnv.load_tasks(edition, data_dir)]
        return TaskSet.build("placed", edition, "1", rows)


class NowhereEnv(GuessEnv):
    """Guess, on machines no test has."""

    name = "nowhere"
    needs = EnvNeeds(memory_mb=64, resources={"browser": 2, "jvm": 1})


class EnormousEnv(GuessEnv):
    """Guess, in a worker of a million cores."""

    name = "enormous"
    needs = EnvNeeds(cpus=1e6, memory_mb=64)


class Fatal(Agent):
    """Guesses by halving, and ends the process it is in with SIGKILL at the tasks it is told.

    Args:
        folder: where it keeps count, since its process does not live to.
        fatal: how often each of these tasks is deadly, by task id.
    """

    name = "fatal"

    def __init__(self, folder: Path, fatal: Mapping[str, int]) -> None:
        self.folder, self.fatal = folder, dict(fatal)

    def act(self, observation: str, info: dict[str, Any]) -> str:
        task = info["task_id"]
        if info["rounds"] == 0:
            self.low, self.high = 1, 50
        elif "higher" in observation:
            self.low = self.last + 1
        elif "lower" in observation:
            self.high = self.last - 1
        if info["rounds"] == 1 and self.deaths(task) < self.fatal.get(task, 0):
            (self.folder / f"{task}-{time.monotonic_ns()}").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        self.last = (self.low + self.high) // 2
        return f"guess {self.last}"

    def deaths(self, task: str) -> int:
        """Return how often a task has been deadly so far."""
        return len(list(self.folder.glob(f"{task}-*")))


def look(host: EnvHost) -> tuple[str, frozenset[str], int]:
    """Return a worker's node, the environments it has, and how many episodes are in it."""
    import ray

    envs = [env for _, env in host._active.values()]
    idle = [env for kept in host._idle.values() for env in kept]
    node = ray.get_runtime_context().get_node_id()
    return node, frozenset(env.name for env in (*envs, *idle)), len(envs)


for _name, _class in (("Placed", PlacedEnv), ("Nowhere", NowhereEnv), ("Enormous", EnormousEnv)):
    if f"tests/{_name}-v0" not in gymnasium.registry:
        gymnasium.register(
            f"tests/{_name}-v0",
            entry_point=f"tests.rollout.placed:{_class.__name__}",
            disable_env_checker=True,
            order_enforce=False,
        )
