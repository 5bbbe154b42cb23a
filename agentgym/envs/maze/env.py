"""The MAZE environment: published sentences, published moves, any maze.

An episode is one walk from a start to a goal. The agent is told both positions and the walls next
to it, never the map. A move into a wall is a valid action that leads nowhere, as published; what is
no move at all costs a round and is answered with what would have been one.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from agentgym.core import (
    Command,
    Edition,
    Expert,
    Opening,
    Outcome,
    Param,
    Task,
    TaskSet,
    TextEnv,
    grammar,
    shorten,
)
from agentgym.core.errors import InvalidConfig, InvalidState
from agentgym.envs.maze.expert import MazeExpert
from agentgym.envs.maze.grid import FLOOR, STEPS, Cell, Grid
from agentgym.envs.maze.picture import draw, sketch
from agentgym.envs.maze.tasks import generated_tasks, mini_tasks, official_tasks, puzzle_of

ACTIONS = tuple(f"move {direction}" for direction in STEPS)

_DELTAS = {f"move {direction}": delta for direction, delta in STEPS.items()}

_MOVE = Command(
    "move",
    "move {direction}",
    "Walk one cell; a wall stops you.",
    (Param("direction", "where to walk", choices=tuple(STEPS)),),
)


class MazeEnv(TextEnv):
    """Walk to the goal of a maze.

    Args:
        size: (rows, columns) of mazes generated for you instead of the edition's tasks, two odd
            numbers from 5 to 201, border included.
        style: how they are generated: "winding", "even", "loops" or "rooms".
        options: those of `TextEnv`. With `size`, `max_rounds` defaults to rows x columns, which no
            shortest way exceeds.

    Raises:
        InvalidConfig: if a size cannot be generated, or goes with the official edition.
        UnknownName: if there is no such style.

    >>> env = MazeEnv()
    >>> observation, info = env.reset(options={"task_id": "maze_0"})
    >>> info["actions"]
    ['move up', 'move down', 'move left', 'move right']
    """

    name = "maze"
    title = "MAZE"
    editions: ClassVar[Mapping[str, Edition]] = {
        "mini": Edition(50, "1,200 generated mazes, four styles in five sizes, 7 x 7 to 21 x 21."),
        "official": Edition(15, "The published layouts: 25 starts in the double T maze (eval)."),
    }
    commands = (_MOVE,)
    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "render_modes": ["ansi", "rgb_array"],
        "render_fps": 4,
    }

    def __init__(
        self, *, size: tuple[int, int] | None = None, style: str | None = None, **options: Any
    ) -> None:
        super().__init__(**options)
        if style is not None and not isinstance(style, str):
            raise InvalidConfig(f"style must be the name of a maze style, got {style!r}")
        if style is not None and size is None:
            raise InvalidConfig("style goes with a size: MazeEnv(size=(15, 15), style='loops')")
        if size is not None:
            if self.edition != "mini":
                raise InvalidConfig("size goes with the mini edition; the official mazes are fixed")
            self.tasks = generated_tasks(_pair(size), style or "even")
            if options.get("max_rounds") is None:
                self.max_rounds = size[0] * size[1]
        self.grid: Grid
        self.goal: Cell
        self.path: list[Cell] = []

    @classmethod
    def load_tasks(cls, edition: str, data_dir: str | None) -> TaskSet:
        """Return the task set of an edition; both are part of the package."""
        return mini_tasks() if edition == "mini" else official_tasks()

    @property
    def instructions(self) -> str:
        """The rules and the grammar."""
        return (
            "You are in a maze. Reach the goal in as few moves as you can. Every turn you are told "
            "the position of the goal, your own position and which of the four cells next to you "
            "are walls. A position is written x, y: moving down adds 1 to x, moving up takes 1 "
            "away; moving right adds 1 to y, moving left takes 1 away. Moving into a wall leaves "
            "you where you are and still costs a turn. The maze ends with Success at the goal.\n"
            f"You can take these actions, one a turn:\n{grammar(self.commands)}\n"
            f"where direction is one of {', '.join(STEPS)}.\n"
            "Example: at position 5, 6 with the goal at position 8, 6 and a wall above you, "
            '"move down" leads to position 6, 6.'
        )

    @property
    def position(self) -> Cell:
        """Where the agent stands."""
        return self.path[-1]

    def _begin(self, task: Task) -> Opening:
        self.grid, start, self.goal = puzzle_of(task.spec)
        self.path = [start]
        self._limit = task.spec.get("moves")
        x, y = self.goal
        self._head = f"The goal is at position {x}, {y}. Your current position is at position "
        return Opening(self._describe(start), f"reach position {x}, {y}")

    def _act(self, action: str) -> Outcome:
        path = self.path
        if self._limit is not None and len(path) > self._limit:
            return Outcome("Failure\n", 0.0, done=True)
        here = path[-1]
        delta = _DELTAS.get(action) or _DELTAS.get(_normal(action))
        if delta is None:
            path.append(here)
            return Outcome(f"{_correction(action)} {self._describe(here)}", 0.0, valid=False)
        there = (here[0] + delta[0], here[1] + delta[1])
        if self.grid.rows[there[0]][there[1]] != FLOOR:
            there = here
        path.append(there)
        if there == self.goal:
            return Outcome("Success\n", 1.0, done=True, success=True)
        return Outcome(self._describe(there), 0.0)

    def _describe(self, cell: Cell) -> str:
        return f"{self._head}{cell[0]}, {cell[1]}. {self.grid.walls_near(cell)}"

    def _actions(self) -> list[str]:
        return list(ACTIONS)

    def _make_expert(self) -> Expert:
        return MazeExpert(self)

    def _save(self) -> list[list[int]]:
        return [list(cell) for cell in self.path]

    def _load(self, saved: Any) -> None:
        try:
            path = [(operator.index(x), operator.index(y)) for x, y in saved]
        except (TypeError, ValueError) as error:
            raise InvalidState(f"the snapshot holds no way walked in a maze: {error}") from error
        if path[:1] != self.path or not all(self._joined(a, b) for a, b in pairwise(path)):
            raise InvalidState("the snapshot's way starts elsewhere or leads through walls")
        if self.goal in path and not self._terminated:
            raise InvalidState("the snapshot's way has reached the goal, but the episode goes on")
        self.path = path

    def _joined(self, here: Cell, there: Cell) -> bool:
        return there == here or there in dict(self.grid.moves(here)).values()

    def _render_text(self) -> str:
        return sketch(self.grid, self.path, self.goal)

    def _render_rgb(self) -> NDArray[np.uint8]:
        return draw(self.grid, self.path, self.goal)


def _pair(size: Any) -> tuple[int, int]:
    """Return a size that was given, perhaps as a list; what it holds is checked elsewhere."""
    if not isinstance(size, tuple | list) or not all(isinstance(n, int) for n in size):
        raise InvalidConfig(f"size is (rows, columns), such as (15, 15); got {size!r}")
    return tuple(size)


def _normal(action: str) -> str:
    """Return the move an action means, whatever its case and spaces, "move" said or not."""
    words = action[:80].lower().split()
    return "move " + words[0] if len(words) == 1 else " ".join(words)


def _correction(action: str) -> str:
    quoted = shorten(action)
    wrong = f'"{quoted}" is not a move' if quoted else "That was no move"
    return f'{wrong}; say "move up", "move down", "move left" or "move right".'
