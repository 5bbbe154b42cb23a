"""The expert: plays a path that solves the task, and says what each move is for.

The path comes from the package's own agent, which sees the whole world; `reasons` explains its
moves from what it does next and from what has just been seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentgym.core import Expert
from agentgym.envs.sciworld.reasons import Moment, reason


class GoldExpert(Expert):
    """Plays a known path.

    Args:
        path: actions that solve the task from its beginning.
        goal: the task's description.
        history: the actions of the episode so far; the path goes on after as many of them as are
            its own, so an episode that has left the path may not be solved.
        subgoals: the sub-goals as they stand.
    """

    def __init__(
        self,
        path: Sequence[str],
        goal: str,
        history: Sequence[str | None] = (),
        subgoals: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        self._path, self._goal = tuple(path), goal
        self._at = 0
        while self._at < min(len(path), len(history)) and path[self._at] == history[self._at]:
            self._at += 1
        self._done = _achieved(subgoals)

    def act(self, observation: str, info: Mapping[str, Any]) -> tuple[str, str]:
        """Return the next action of the path and what it is for."""
        done = _achieved(info["subgoals"])
        news = [text for text in done if text not in self._done]
        self._done = done
        if self._at >= len(self._path):
            return "All is prepared; what is left needs a little time to happen.", "wait1"
        moment = Moment(self._path, self._at, self._goal, observation, tuple(news))
        self._at += 1
        return reason(moment), moment.action


def _achieved(subgoals: Sequence[Mapping[str, Any]]) -> list[str]:
    return [str(row["text"]) for row in subgoals if row["done"] and row["text"]]
