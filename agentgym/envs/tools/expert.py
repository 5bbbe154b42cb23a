"""The expert of a tool environment: a plan that reads each result before its next call.

A plan is a generator: it yields a `Move` and is sent that call's result, so it is written in the
order a careful person would call the functions. If somebody else has moved in between, it begins
anew from where the episode stands.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from agentgym.core.call import write_call
from agentgym.core.expert import Expert

if TYPE_CHECKING:
    from agentgym.envs.tools.env import ToolEnv


class Move(NamedTuple):
    """One call of a plan.

    Attributes:
        thought: why, in a sentence.
        name: the function.
        arguments: its arguments.
    """

    thought: str
    name: str
    arguments: Mapping[str, Any] = {}


Plan = Generator[Move, Any, None]
"""Yields moves, is sent their results; its last move ends the task."""


class PlanExpert(Expert):
    """Plays a plan.

    Args:
        env: the environment, for its last result.
        begin: makes a fresh plan for the present state of the episode.
    """

    def __init__(self, env: ToolEnv, begin: Callable[[], Plan]) -> None:
        self._env, self._begin = env, begin
        self._plan: Plan | None = None
        self._rounds = -1

    def act(self, observation: str, info: Mapping[str, Any]) -> tuple[str, str]:
        """Return the next move of the plan."""
        if self._plan is None or self._env.rounds != self._rounds + 1 or not info["valid"]:
            self._plan = self._begin()
            move = next(self._plan)
        else:
            try:
                move = self._plan.send(self._env.last_result)
            except StopIteration:
                self._plan = self._begin()
                move = next(self._plan)
        self._rounds = self._env.rounds
        return move.thought, write_call(move.name, move.arguments)
