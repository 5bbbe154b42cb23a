"""The expert of MAZE: it has the map, walks a shortest way and says why each step is on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agentgym.core import Expert
from agentgym.envs.maze.grid import Cell

if TYPE_CHECKING:
    from agentgym.envs.maze.env import MazeEnv

_TOWARDS = {"up": "above me", "down": "below me", "left": "to my left", "right": "to my right"}


class MazeExpert(Expert):
    """Walks a shortest way from wherever the agent stands.

    Args:
        env: the environment whose current episode is played.
    """

    def __init__(self, env: MazeEnv) -> None:
        self._env = env
        self._ways = env.grid.distances(env.goal)

    def act(self, observation: str, info: Mapping[str, Any]) -> tuple[str, str]:
        """Return the reason for the next step of a shortest way, and the step."""
        env, ways = self._env, self._ways
        here = env.position
        free = dict(env.grid.moves(here))
        wanted = _wanted(here, env.goal)
        # Among equally short ways, one that heads for the goal reads most naturally.
        direction = min(free, key=lambda d: (ways[free[d]], d not in wanted))
        last = env.path[-2] if len(env.path) > 1 else here
        came = next((d for d, cell in free.items() if cell == last), "")
        return _reason(direction, wanted, list(free), came, ways[here]), f"move {direction}"


def _wanted(here: Cell, goal: Cell) -> list[str]:
    """Return the directions that lessen the distance to the goal, the larger difference first."""
    down, right = goal[0] - here[0], goal[1] - here[1]
    vertical = ["down" if down > 0 else "up"] if down else []
    horizontal = ["right" if right > 0 else "left"] if right else []
    return vertical + horizontal if abs(down) >= abs(right) else horizontal + vertical


def _reason(direction: str, wanted: list[str], free: list[str], came: str, left: int) -> str:
    """Return a sentence for a step, of what the agent was told and no more of the map.

    Args:
        direction: the step.
        wanted: the directions that head for the goal.
        free: the directions without a wall.
        came: the direction that leads back to the last cell, or "".
        left: moves to the goal, this one included.
    """
    goal = f"The goal is {' and '.join(_TOWARDS[d] for d in wanted)}"
    if left == 1:
        return f"{goal}, right next to me: moving {direction} reaches it."
    if direction == came:
        return f"{goal}, but this way leads nowhere, so I turn back {direction}."
    onward = [d for d in wanted if d in free and d != came]
    blocked = [d for d in wanted if d not in free]
    if direction in wanted:
        if [d for d in free if d != came] == [direction]:
            return f"{goal}, and {direction} is the only way on."
        if blocked:
            return f"{goal}; there is a wall {_TOWARDS[blocked[0]]}, so I go {direction}."
        return f"{goal}, and the way {direction} is open and brings me closer."
    if onward:
        return f"{goal}, but heading {onward[0]} is the longer way, so I go {direction}."
    if not blocked:
        return f"{goal}, but I come from there, so I go on {direction}."
    walls = (
        f"{'walls' if len(blocked) > 1 else 'a wall'} {' and '.join(_TOWARDS[d] for d in blocked)}"
    )
    return f"{goal}, but with {walls} the way there leads {direction}."
