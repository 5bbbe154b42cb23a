"""The expert: plays the script of a rehearsal, and writes a new one where the episode left it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentgym.core import Expert
from agentgym.envs.babyai.plan import CHECK
from agentgym.envs.babyai.rehearsal import Move, Stance, script, stance_of
from agentgym.envs.babyai.world import World


class BabyAIExpert(Expert):
    """Solves the mission of a world in high-level actions.

    Args:
        world: the world the current episode is played in.
        max_rounds: how many rounds the episode has.
    """

    def __init__(self, world: World, max_rounds: int) -> None:
        self._world = world
        self._max_rounds = max_rounds
        self._moves: list[Move] = []
        self._expected: tuple[int, Stance] | None = None
        self._introduced = False

    def act(self, observation: str, info: Mapping[str, Any]) -> tuple[str, str]:
        """Return the next move of the script; see `Expert.act`."""
        world, here = self._world, stance_of(self._world)
        if not self._moves or self._expected != (world.step_count, here):
            self._moves = script(world, self._max_rounds - int(info["rounds"]))
        if not self._moves:
            return self._look_around(info)
        move = self._moves.pop(0)
        self._expected = (world.step_count + move.length, move.stance._replace(changes=0))
        return self._say(move, str(info["goal"])), move.action

    def _say(self, move: Move, goal: str) -> str:
        text = f"{move.reason}, so I {_phrase(move.action)}."
        if not self._introduced:
            self._introduced = True
            text = f"My goal is to {goal}. {text}"
        return text

    def _look_around(self, info: Mapping[str, Any]) -> tuple[str, str]:
        """Where the bot knows no way, which no task of the mini edition starts with."""
        actions = [a for a in info["actions"] or ["turn right"] if a != CHECK]
        action = actions[int(info["rounds"]) % len(actions)]
        return f"I see no way to my goal from here, so I try to {action}.", action


def _phrase(action: str) -> str:
    """Return an action as it stands after "I"."""
    if action in ("toggle", "drop"):
        return f"{action} it"
    return action.replace("pickup", "pick up")
