"""Playing a tool environment in a test: one call, or a task by its expert."""

from __future__ import annotations

from typing import Any

from agentgym.core import Task
from agentgym.core.call import write_call
from agentgym.envs.tools import ToolEnv


def call(env: ToolEnv, name: str, **arguments: Any) -> tuple[str, bool]:
    """Make a call; return what it answers, without the layout, and whether it was valid."""
    observation, *_, info = env.step(write_call(name, arguments))
    said = observation.removeprefix("Observation: ").removesuffix("\nGive me one action.")
    return said, info["valid"]


def play(env: ToolEnv, task: Task) -> tuple[list[str], bool]:
    """Play a task by the expert; return the calls it made and whether it succeeded."""
    observation, info = env.reset(options={"task_id": task.id})
    expert, ended, calls = env.expert(), False, []
    while not ended:
        thought, action = expert.act(observation, info)
        assert thought
        calls.append(action)
        observation, _, terminated, truncated, info = env.step(action)
        assert info["valid"], (task.id, action, observation)
        ended = terminated or truncated
    return calls, info["success"]
