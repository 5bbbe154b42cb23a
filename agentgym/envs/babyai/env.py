"""BabyAI as a text environment: sentences in, high-level actions out, Minigrid in between.

An action is looked up among those available from the present view and played as primitive moves;
Minigrid alone decides about success, failure and time. The texts are the published ones. What was
wrong in the published server is put right (README, "What differs"): a score that could count
twice, missions that lost their order, episodes that went on after their end, and listed actions
that could not be carried out.
"""

from __future__ import annotations

from collections.abc import Mapping
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
    require,
)
from agentgym.envs.babyai import tasks
from agentgym.envs.babyai.drawing import draw
from agentgym.envs.babyai.plan import CHECK, WAIT, Options
from agentgym.envs.babyai.view import describe, look

_OBJECT = Param("object", 'an object in view, such as "red ball" or "blue closed door"')
_DOOR = Param("door", 'a door in view, such as "red open door"')
_NUMBER = Param("number", "which of the objects of that name, the nearest being 1", "integer")

COMMANDS = (
    Command("turn_left", "turn left", "Turn a quarter to the left."),
    Command("turn_right", "turn right", "Turn a quarter to the right."),
    Command("move_forward", "move forward", "Take one step ahead."),
    Command("go_to_goal", "go to goal", "Walk onto the goal square, where there is one."),
    Command(
        "go_to", "go to {object} {number}", "Walk up to an object and face it.", (_OBJECT, _NUMBER)
    ),
    Command(
        "pickup",
        "pickup {object} {number}",
        'Walk up to an object and pick it up ("pick up" will do too); you can carry one.',
        (_OBJECT, _NUMBER),
    ),
    Command("drop", "drop", "Put what you carry on the free cell in front of you."),
    Command(
        "toggle_and_go_through",
        "toggle and go through {door} {number}",
        "Open a closed door, or a locked one whose key (of its color) you carry, and step into it.",
        (_DOOR, _NUMBER),
    ),
    Command(
        "go_through",
        "go through {door} {number}",
        "Walk to an open door and step into it.",
        (_DOOR, _NUMBER),
    ),
    Command("toggle", "toggle", "Open or close the door, or open the box, right in front of you."),
    Command("check_available_actions", CHECK, "List the actions that are possible now."),
)

_INSTRUCTIONS = f"""\
You are in a world of rooms seen from above, with walls, doors, keys, balls and boxes. You are \
given a goal and have to reach it with actions. You see what lies ahead of you, up to 6 steps \
forward and 3 to each side, but not through walls and closed doors: turn around to see the rest. \
After each action you are told what you see and which actions are available.

Your actions:
{grammar(COMMANDS)}

Objects of the same name are numbered from the nearest on, anew after every action. To "go to" an \
object means to face it from the next cell. Do the parts of a goal in the order it names: \
"A, then B" and "B after you A" both mean A first."""


class BabyAIEnv(TextEnv):
    """Follow an instruction in a grid world.

    Args:
        kwargs: the options of `TextEnv`.

    Raises:
        MissingExtra: if Minigrid is not installed.
    """

    name = "babyai"
    title = "BabyAI"
    editions: ClassVar[Mapping[str, Edition]] = {
        "mini": Edition(40, "Thirty seeds of each of 40 levels, all solved by the expert."),
        "official": Edition(20, "The 900 published items: level N mod 40, seed N div 40."),
    }
    commands = COMMANDS
    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "render_modes": ["ansi", "rgb_array"],
        "render_fps": 4,
    }

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        require("minigrid", "The BabyAI environment", "babyai")
        self.world: Any = None
        self._options: Options | None = None
        self._menu = ""
        self._reward = 0.0

    @classmethod
    def load_tasks(cls, edition: str, data_dir: str | None) -> TaskSet:
        """Return the task set of an edition."""
        return tasks.mini_tasks() if edition == "mini" else tasks.official_tasks(data_dir)

    @property
    def instructions(self) -> str:
        """The rules and the action grammar."""
        return _INSTRUCTIONS

    def _begin(self, task: Task) -> Opening:
        from agentgym.envs.babyai.world import build  # Minigrid is imported with the first episode

        self.world = build(task.spec["level"], task.spec["seed"])
        self._reward = 0.0
        goal = str(self.world.mission)
        return Opening(f"Your goal: {goal}\n{self._look()}{self._menu}", goal)

    def _act(self, action: str) -> Outcome:
        options = self._options
        assert options is not None
        text = normalise(action)
        if text not in options:
            return Outcome(options.refusal(text) + self._menu, 0.0, valid=False)
        if text == CHECK:
            listing = "You can take the following actions: " + ", ".join(options.texts)
            return Outcome(listing + self._menu, 0.0)
        return self._play(options.moves(text))

    def _play(self, moves: tuple[int, ...]) -> Outcome:
        world = self.world
        reward, terminated, truncated = 0.0, False, False
        for move in moves:
            _, reward, terminated, truncated, _ = world.step(move)
            if terminated or truncated:
                break
        text = self._look()
        if terminated and reward > 0:
            self._reward = float(reward)
            return Outcome(f"{text}\n The task is completed.{self._menu}", 1.0, True, True)
        if terminated:
            return Outcome(f"{text}\n The task has failed.", 0.0, True)
        if truncated:
            limit = f"\n The task has failed: its {world.max_steps} moves are spent."
            return Outcome(text + limit, 0.0, True)
        if moves == (WAIT,):
            text = "No change in state."
        return Outcome(text + self._menu, 0.0)

    def _look(self) -> str:
        """Take in the present view: its description, and the actions it offers."""
        view = look(self.world)
        self._options = Options(view)
        self._menu = '\nAvailable actions: ["' + '", "'.join(self._options.texts) + '"]'
        return describe(view)

    def _actions(self) -> list[str] | None:
        return list(self._options.texts) if self._options else None

    def _info(self) -> dict[str, Any]:
        return {"minigrid_reward": self._reward, "primitive_steps": self.world.step_count}

    def _make_expert(self) -> Expert:
        from agentgym.envs.babyai.expert import BabyAIExpert

        return BabyAIExpert(self.world, self.max_rounds)

    def _render_text(self) -> str:
        return draw(self.world)

    def _render_rgb(self) -> NDArray[np.uint8]:
        picture: NDArray[np.uint8] = self.world.get_frame(highlight=True, tile_size=32)
        return picture

    def _close(self) -> None:
        self.world, self._options = None, None


def normalise(action: str) -> str:
    """Return an action as it is listed: lower case, single spaces, "pickup" in one word.

    >>> normalise(' Pick up  the Red ball 1. ')
    'pickup the red ball 1'
    """
    text = " ".join(action.lower().split()).strip(" .\"'`")
    return "pickup" + text[7:] if text.startswith("pick up") else text
