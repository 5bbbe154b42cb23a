"""The shapes of OpenEnv's messages: actions, observations, states, errors, and their schemas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentgym import __version__
from agentgym.core.registry import EnvCard
from agentgym.rollout.profile import EnvProfile
from agentgym.serve.dialects.turn import Turn

ACTION_NAMES = ("action", "text", "message")
"""Fields an action's text may stand in: ours first, then those OpenEnv's text environments use."""

_TOLD = ("task_id", "goal", "score", "success", "valid", "rounds", "actions")


class MessageError(Exception):
    """A message is not what the protocol asks for.

    Args:
        code: OpenEnv's code of the error.
        message: what is wrong.
        details: what is wrong in detail, in pydantic's layout.
    """

    def __init__(self, code: str, message: str, details: Mapping[str, Any] | None = None) -> None:
        self.code, self.details = code, dict(details or {})
        super().__init__(message)


def invalid(field: str, wanted: str, got: Any) -> MessageError:
    """Return the error of a field that is wrong."""
    kind = type(got).__name__
    one = {"type": "value_error", "loc": [field], "msg": f"{wanted}, got {kind}"}
    return MessageError(
        "VALIDATION_ERROR", f"Invalid message: {field}: {wanted}", {"errors": [one]}
    )


def read_action(data: Any) -> str:
    """Return the text of an action.

    Raises:
        MessageError: if it has none, or something beside it but `metadata`.
    """
    if isinstance(data, str):
        return data
    if not isinstance(data, dict):
        raise invalid("action", 'Input should be {"action": text}', data)
    given = [name for name in ACTION_NAMES if name in data]
    others = [name for name in data if name not in (*ACTION_NAMES, "metadata")]
    if others:
        raise invalid(str(others[0])[:80], "Extra inputs are not permitted", data[others[0]])
    if len(given) != 1 or not isinstance(data[given[0]], str):
        raise invalid("action", 'Input should be {"action": text}', data.get("action"))
    text: str = data[given[0]]
    return text


def observation(turn: Turn, instructions: str | None = None) -> dict[str, Any]:
    """Return a turn as the data of an observation message.

    Args:
        turn: the turn.
        instructions: the rules and the grammar, which come with the first observation.
    """
    told: dict[str, Any] = {"text": turn.observation, **{name: turn.info[name] for name in _TOLD}}
    told["truncated"] = turn.truncated
    if instructions is not None:
        told["instructions"] = instructions
    return {
        "observation": told,
        "reward": None if instructions is not None else turn.reward,
        "done": turn.done,
    }


def state(turn: Turn | None, episode: str | None = None) -> dict[str, Any]:
    """Return the state of an episode; before the first one there is little to tell."""
    if turn is None:
        return {"episode_id": None, "step_count": 0}
    return {
        "episode_id": episode,
        "step_count": turn.info["rounds"],
        **{name: turn.info[name] for name in ("task_id", "goal", "score", "success")},
        "done": turn.done,
    }


def error(code: str, message: str, details: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return an error message."""
    return {"type": "error", "data": {"message": message, "code": code, **(details or {})}}


def metadata(card: EnvCard, profile: EnvProfile) -> dict[str, Any]:
    """Return what the environment tells of itself."""
    return {
        "name": card.short_name,
        "description": card.summary,
        "readme_content": profile.instructions,
        "version": __version__,
        "author": None,
        "documentation_url": None,
    }


def _object(title: str, properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {"title": title, "type": "object", "properties": properties, "required": required}


_TEXT, _FLAG, _NUMBER, _WHOLE = ({"type": t} for t in ("string", "boolean", "number", "integer"))
_METADATA = {"type": "object", "description": "Passed over."}
_TASK = {"task_id": _TEXT, "goal": _TEXT, "score": _NUMBER, "success": _FLAG}

SCHEMAS = {
    "action": {
        **_object(
            "TextAction",
            {"action": {**_TEXT, "description": "One bare action."}, "metadata": _METADATA},
            ["action"],
        ),
        "additionalProperties": False,
    },
    "observation": _object(
        "TextObservation",
        {
            "text": {**_TEXT, "description": "What the agent is told."},
            **_TASK,
            "valid": _FLAG,
            "rounds": _WHOLE,
            "actions": {
                "description": "What can be done now; null where that is open.",
                "anyOf": [{"type": "array", "items": _TEXT}, {"type": "null"}],
            },
            "truncated": _FLAG,
            "instructions": {**_TEXT, "description": "The rules; after a reset only."},
            "done": _FLAG,
            "reward": {"anyOf": [_NUMBER, {"type": "null"}]},
        },
        ["text"],
    ),
    "state": _object(
        "State",
        {
            "episode_id": {"anyOf": [_TEXT, {"type": "null"}]},
            "step_count": {**_WHOLE, "minimum": 0},
            **_TASK,
            "done": _FLAG,
        },
        ["step_count"],
    ),
}
"""JSON schemas of what is sent and received."""
