"""What AgentGym's servers answered, environment by environment, as a table.

A row names the routes, fields and options by which a client of one published server finds here what
it finds there. Where a published text or reward is another than ours, `tell` says it the published
way, from what our environment tells (`published_texts`). What a published server got wrong is not
in here; docs/serve-clients.md says what that is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from agentgym.core.task import Task
from agentgym.serve.dialects import published_texts as texts
from agentgym.serve.dialects.turn import Turn

ENDLESS = 10_000
"""Rounds where the published server had no limit: the client's own is the one that counts."""


@dataclass(frozen=True)
class Published:
    """One published server.

    Attributes:
        env: short name of our environment.
        paths: where it is served, under the dialect's prefix.
        key: the field that names a session: "id" in the first dialect, "env_idx" in the second.
        index: the field of a reset that names the item.
        hello: what the root answers.
        step: the fields of the answer to a step.
        reset: the fields of the answer to a reset; or its form, "pair" for [observation, null] and
            "text" for the observation alone.
        create: the fields of the answer to a create beside the id, which needs an episode then.
        observation: the fields of the answer to an observation; none for the text alone.
        detail: the fields of the answer to a detail, or none where there is no such route.
        reads: further routes to read from, each a function of a turn.
        constants: further routes that always answer the same.
        tell: says a turn the published way: observation, reward and what else differs.
        action: reads the action from what a client sends.
        options: what our environment is made with, to tell what the published one told.
        begins: whether a created session is in an episode already.
        wraps: whether an item's number is taken modulo the number of tasks.
        answers_errors: whether an error is an answer with status 200 that a client reads.
    """

    env: str
    paths: tuple[str, ...]
    key: Literal["id", "env_idx"]
    index: str
    hello: str
    step: tuple[str, ...]
    reset: tuple[str, ...] | Literal["pair", "text"]
    create: tuple[str, ...] = ()
    observation: tuple[str, ...] = ()
    detail: tuple[str, ...] = ()
    reads: Mapping[str, Callable[[Turn], Any]] = field(default_factory=dict)
    constants: Mapping[str, Any] = field(default_factory=dict)
    tell: Callable[[Turn], dict[str, Any]] = texts.plainly
    action: Callable[[str], str] = str
    options: Mapping[str, Any] = field(default_factory=lambda: {"max_rounds": ENDLESS})
    begins: bool = False
    wraps: bool = False
    answers_errors: bool = False

    @property
    def lists(self) -> bool:
        """Whether there is a route that lists the sessions: in the second dialect."""
        return self.key == "env_idx"


TASK_FIELDS: dict[str, Callable[[Task], Any]] = {
    "task_name": lambda task: task.spec["task"],
    "var_num": lambda task: int(task.spec["variation"]),
    "task_type": lambda task: task.kind,
    "maze_name": lambda task: f"{task.kind}_maze",
}
"""Fields that tell of the task and not of the turn."""

_BASIC = ("observation", "done", "reward", "deleted")
_PLAYED = ("observation", "reward", "done")


def _tool(env: str, path: str, tell: Callable[[Turn], dict[str, Any]]) -> Published:
    """Return the row of a tool environment; the five differ in nothing but their reward."""
    return Published(
        env, (path,), "env_idx", "id", "ok",
        step=_PLAYED, reset="text", tell=tell, action=texts.call_in, begins=True,
    )  # fmt: skip


PUBLISHED = (
    Published(
        "TextCraft", ("textcraft",), "id", "data_idx", "This is environment TextCraft.",
        create=("observation", "done", "reward"),
        step=_PLAYED,
        reset=("id", "observation", "done", "reward"),
        detail=_BASIC,
        tell=texts.textcraft,
        begins=True, wraps=True,
    ),
    Published(
        "BabyAI", ("babyai",), "id", "data_idx", "This is environment BabyAI.",
        step=("observation", "reward", "score", "done"),
        reset=("observation", "reward", "score", "deleted", "done"),
        observation=("observation", "reward", "score", "deleted", "done"),
        detail=("observation", "reward", "score", "deleted", "done"),
        tell=texts.babyai,
    ),
    Published(
        "SciWorld", ("sciworld",), "id", "data_idx", "This is environment ScienceWorld.",
        step=("observation", "reward", "score", "done"),
        reset=("task_name", "var_num", "task_description", "observation", "reward", "score",
               "deleted", "done"),
        detail=("deleted", "done", "task_name", "var_num", "task_description", "observation",
                "reward", "score"),
        reads={
            "task_description": lambda turn: turn.info["goal"],
            "goals": lambda turn: {"goals": texts.subgoals(turn)},
        },
        tell=texts.sciworld,
        options={"max_rounds": ENDLESS, "hints": False},
    ),
    Published(
        "ALFWorld", ("alfworld",), "id", "game", "This is environment AlfWorld.",
        step=("observation", "reward", "available_actions", "done"),
        reset=("id", "observation", "available_actions", "task_type"),
        detail=("world_type", "game", "observation", "available_actions", "done", "reward",
                "deleted"),
        reads={"available_actions": lambda turn: turn.info["actions"]},
        tell=texts.alfworld,
        options={"max_rounds": 50, "actions_in_observation": "never"},
        answers_errors=True,
    ),
    Published(
        "MAZE", ("lmrlgym/maze", "maze"), "id", "game", "This is environment LMRL-Gym.",
        step=_PLAYED, reset=("observation",),
        detail=("maze_name", "observation", "done", "reward", "deleted"),
        constants={"available_actions": ["move left", "move right", "move up", "move down"]},
        tell=texts.maze,
        options={"max_rounds": 51},
    ),
    Published(
        "Wordle", ("lmrlgym/wordle", "wordle"), "id", "seed", "This is environment LMRL-Gym.",
        step=_PLAYED, reset=("id", "observation"),
        detail=("seed", *_BASIC),
        tell=texts.wordle,
    ),
    Published(
        "WebShop", ("webshop",), "env_idx", "session_id", "ok",
        step=("state", "reward", "done", "info"), reset="pair",
        reads={
            "available_actions": texts.clickables,
            "instruction_text": lambda turn: turn.info["goal"],
        },
        options={"max_rounds": ENDLESS, "hints": False, "show_attributes": False},
        begins=True,
    ),
    Published(
        "BIRD", ("bird", "sqlgym"), "env_idx", "item_id", "ok",
        step=("state", "reward", "done", "info"), reset="pair",
        options={"evidence": False},
    ),
    _tool("Academia", "academia", texts.tool),
    _tool("Movie", "movie", texts.tool),
    _tool("Sheet", "sheet", texts.tool),
    _tool("TODOList", "todo", texts.tool_in_the_end),
    _tool("Weather", "weather", texts.tool_all_or_nothing),
)  # fmt: skip
