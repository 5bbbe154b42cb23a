"""The calls on a session: what each is named, and what it must be given.

HTTP and WebSocket read the same fields for the same call, so they are read here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from agentgym.serve.fields import Fields
from agentgym.serve.problem import BadRequest

RESET = ("seed", "task_id", "split")
"""The fields that say which episode to begin."""


class Verb(NamedTuple):
    """A call on a session.

    Attributes:
        about: what it does, one line.
        fields: the names of what it may be given.
        read: returns its arguments.
    """

    about: str
    fields: tuple[str, ...]
    read: Callable[[Fields], dict[str, Any]]


def arguments(verb: str, values: Any) -> dict[str, Any]:
    """Return the arguments of a call.

    Args:
        verb: one of `VERBS`.
        values: the fields it was given.

    Raises:
        BadRequest: if they are not what it takes.
    """
    known = VERBS[verb]
    return known.read(Fields(values, known.fields))


def episode(fields: Fields) -> dict[str, Any]:
    """Return which episode to begin."""
    return {
        "seed": fields.number("seed"),
        "task_id": fields.name("task_id"),
        "split": fields.name("split"),
    }


def _step(fields: Fields) -> dict[str, Any]:
    return {"action": fields.text("action"), "seq": fields.number("seq", 1)}


def _reset(fields: Fields) -> dict[str, Any]:
    return {**episode(fields), "seq": fields.number("seq", 1)}


def _forfeit(fields: Fields) -> dict[str, Any]:
    return {"message": fields.text("message"), "seq": fields.number("seq", 1)}


def _restore(fields: Fields) -> dict[str, Any]:
    state = fields.object("state")
    if state is None:
        raise BadRequest("the field 'state' is missing; it must be a snapshot")
    return {"state": state, "seq": fields.number("seq", 1)}


def _expert(fields: Fields) -> dict[str, Any]:
    return {"fresh": fields.flag("fresh")}


def _sample(fields: Fields) -> dict[str, Any]:
    return {"seed": fields.number("seed") or 0, "rng": fields.object("rng")}


def _nothing(fields: Fields) -> dict[str, Any]:
    return {}


VERBS = {
    "step": Verb("Play an action", ("action", "seq"), _step),
    "reset": Verb("Begin an episode", (*RESET, "seq"), _reset),
    "observe": Verb("Give the last answer of the episode again", (), _nothing),
    "forfeit": Verb("Spend a round without acting", ("message", "seq"), _forfeit),
    "state": Verb("Take a snapshot", (), _nothing),
    "restore": Verb("Return to a snapshot", ("state", "seq"), _restore),
    "render": Verb("Show the present state", (), _nothing),
    "expert": Verb("Ask the expert for a move", ("fresh",), _expert),
    "sample": Verb("Draw a random action that makes sense here", ("seed", "rng"), _sample),
}
"""Every call on a session; what they answer is in `schema`."""
