"""The published texts and rewards, where they are others than ours.

Each function takes a turn of our environment and returns the fields of the answer that differ by
environment: `observation`, `reward`, and more where the published answer has more. The reward is
the published one: the score so far on the published scale, which a client takes from the last step
as the episode's.
"""

from __future__ import annotations

import re
from typing import Any

from agentgym.envs.tools.env import FORMAT_ERROR
from agentgym.serve.dialects.turn import Turn

LOST = -100
"""ScienceWorld's score once the task has been failed."""

_CALL = re.compile(
    r"^[ \t]*Action:(.*?)(?=^[ \t]*(?:Action|Observation|Thought):|\Z)", re.DOTALL | re.MULTILINE
)

_ADDED = re.compile(
    r": (?:it has to be crafted|it stands for any one of|there is no such item|you need \d+ ).*"
    r"|\. (?:Say one of: |Write a count and a name, such as: |The count must be from 1 to ).*",
    re.DOTALL,
)
"""What our TextCraft adds to a refusal."""
_NO_RECIPE = re.compile(r"Could not find a valid recipe for (?:(\d+) )?(.+?)\. (.*)", re.DOTALL)


def plainly(turn: Turn) -> dict[str, Any]:
    """Tell a turn as it is, with the score so far as reward."""
    return {"observation": turn.observation, "reward": turn.score}


def textcraft(turn: Turn) -> dict[str, Any]:
    """Tell a turn of TextCraft; what would have been right is not said."""
    observation = turn.observation
    if not turn.info["valid"]:
        observation = _ADDED.sub("", _NO_RECIPE.sub(_no_recipe, observation))
    return {"observation": observation, "reward": turn.score}


def _no_recipe(found: re.Match[str]) -> str:
    """Return the published refusal of a recipe, which shows an object of the server's program."""
    count, name, advice = found.groups()
    item = "minecraft:" + name.replace(" ", "_")
    tag = advice.startswith("It stands for")
    shown = f"tag={item!r}, item_id=None" if tag else f"tag=None, item_id={item!r}"
    object_ = f"ItemTagWithCount(item_tag=ItemTag({shown}), count={count or 1})"
    return f"Could not find a valid recipe for {object_}"


def babyai(turn: Turn) -> dict[str, Any]:
    """Tell a turn with Minigrid's reward, which falls with the steps taken, as reward and score."""
    reward = turn.info["minigrid_reward"]
    return {"observation": turn.observation, "reward": reward, "score": reward}


def sciworld(turn: Turn) -> dict[str, Any]:
    """Tell a turn with points, 100 for all; the first observation without the task's description.

    A task that has been failed has -100 points. It has ended at once then and with a score of 0,
    by a focus on the wrong thing or by an act that took away points there were, such as a move into
    the wrong box; one that ends because its moves are spent keeps the points it has.
    """
    goal = turn.info["goal"]
    observation = turn.observation
    if turn.first:
        observation = observation.removeprefix(f"{goal}\n")
    taken = turn.reward < 0 or turn.observation.startswith("You focus on")
    failed = turn.terminated and not turn.success and turn.score == 0 and taken
    points = LOST if failed else round(100 * turn.score)
    change = round(100 * turn.reward) + (LOST if failed else 0)
    return {
        "observation": observation,
        "task_description": goal,
        "reward": change,
        "score": points,
    }


def subgoals(turn: Turn) -> str:
    """Return SciWorld's sub-goals, a line each."""
    return "\n".join(
        f"{i}\t{str(row['done']).lower()}\t{row['kind']}\t{row['text']}"
        for i, row in enumerate(turn.info["subgoals"])
    )


def alfworld(turn: Turn) -> dict[str, Any]:
    """Tell a turn with the list of actions beside it, which the client appends itself."""
    return {
        **plainly(turn),
        "available_actions": turn.info["actions"],
        "world_type": "Text",
        "game": turn.index,
    }


def maze(turn: Turn) -> dict[str, Any]:
    """Tell a turn without correcting the agent; who walks too long has failed and loses 1."""
    observation = turn.observation
    if turn.truncated or observation.startswith("Failure"):
        return {"observation": "Failure\n", "reward": -1.0}
    if not turn.info["valid"]:
        observation = observation[max(observation.find("The goal is at position"), 0) :]
    return {"observation": observation, "reward": turn.score}


def wordle(turn: Turn) -> dict[str, Any]:
    """Tell a turn; what is wrong with a guess is not explained."""
    invalid = not turn.info["valid"]
    observation = "invalid word" if invalid else turn.observation
    return {"observation": observation, "reward": turn.score, "seed": turn.index}


def tool(turn: Turn) -> dict[str, Any]:
    """Tell a turn of a tool environment."""
    observation = turn.observation
    if observation.startswith("Observation: Format error"):
        observation = FORMAT_ERROR
    return {"observation": observation, "reward": turn.score}


def tool_in_the_end(turn: Turn) -> dict[str, Any]:
    """Tell a turn of a tool environment; a task that has ended is solved or worth nothing."""
    reward = float(turn.success) if turn.done else turn.score
    return {**tool(turn), "reward": reward}


def tool_all_or_nothing(turn: Turn) -> dict[str, Any]:
    """Tell a turn of a tool environment that has no partial reward."""
    return {**tool(turn), "reward": float(turn.success)}


def call_in(text: str) -> str:
    """Return the call in a reply: the last "Action:" with what follows it.

    >>> call_in("Thought: Find it.\\n\\nAction: get_id with Action Input: {}")
    'get_id with Action Input: {}'
    """
    found = _CALL.findall(text.replace("</s>", ""))
    return found[-1].strip() if found else text


def clickables(turn: Turn) -> dict[str, Any]:
    """Return what a page of the WebShop offers."""
    actions = turn.info["actions"]
    if actions is None:
        return {"has_search_bar": True, "clickables": ["search"]}
    labels = [action.removeprefix("click[").removesuffix("]") for action in actions]
    return {"has_search_bar": False, "clickables": labels}
