"""What is said over one of OpenEnv's WebSockets, message by message."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from gymnasium.error import ResetNeeded

from agentgym.rollout.profile import EnvProfile
from agentgym.serve.dialects import openenv_schema as schema
from agentgym.serve.dialects.openenv_schema import MessageError
from agentgym.serve.dialects.turn import Turn, seen
from agentgym.serve.entry import Entry
from agentgym.serve.store import SessionStore
from agentgym.serve.wire import decode

_LONGEST = 255  # characters of an episode's name, as OpenEnv has it


class Conversation:
    """A session and the client it belongs to.

    Args:
        store: the session store.
        entry: the session.
        profile: the environment, whose instructions the first observation carries.
    """

    def __init__(self, store: SessionStore, entry: Entry, profile: EnvProfile) -> None:
        self._store, self.entry, self._profile = store, entry, profile
        self._episode: str | None = None

    async def answer(self, text: str) -> dict[str, Any] | None:
        """Return the answer to a message, or None where it says goodbye.

        Raises:
            MessageError: if it is no message.
            AgentGymError: what the session raises.
        """
        message = _message(text)
        kind, data = message["type"], message.get("data")
        self._store.find(self.entry.id, self.entry.owner)  # it may have expired; this says so
        if kind == "reset":
            return {"type": "observation", "data": await self.reset(_object(data, "data"))}
        if kind == "step":
            return {"type": "observation", "data": await self.step(schema.read_action(data))}
        if kind == "state":
            turn = await seen(self._store, self.entry)
            return {"type": "state", "data": schema.state(turn, self._episode)}
        if kind == "close":
            return None
        raise MessageError("UNKNOWN_TYPE", f"Unknown message type: {str(kind)[:80]}")

    async def reset(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Begin an episode."""
        args, episode = read_reset(data)
        turn = Turn.of(await self._store.call(self.entry, "reset", **args))
        self._episode = episode or secrets.token_hex(16)
        return schema.observation(turn, self._profile.instructions)

    async def step(self, action: str) -> dict[str, Any]:
        """Play an action.

        Raises:
            ResetNeeded: before the first reset and after the end.
        """
        try:
            turn = Turn.of(await self._store.call(self.entry, "step", action=action))
        except ResetNeeded as error:
            raise ResetNeeded(f"{error}; send a reset") from error
        return schema.observation(turn)


def read_reset(data: Mapping[str, Any]) -> tuple[dict[str, Any], str | None]:
    """Return what a session is reset with, and the name the client gives the episode.

    What else is sent is passed over, as OpenEnv passes over what its environment does not take.

    Raises:
        MessageError: if a value is of the wrong kind.
    """
    seed, episode = data.get("seed"), data.get("episode_id")
    if seed is not None and (type(seed) is not int or not 0 <= seed < 2**63):
        raise schema.invalid("seed", "Input should be a whole number from 0", seed)
    if episode is not None and not (isinstance(episode, str) and len(episode) <= _LONGEST):
        raise schema.invalid("episode_id", f"Input should be text of at most {_LONGEST}", episode)
    args: dict[str, Any] = {} if seed is None else {"seed": seed}
    for name in ("task_id", "split"):
        value = data.get(name)
        if value is not None:
            if not (isinstance(value, str) and len(value) <= 2 * _LONGEST):
                raise schema.invalid(name, "Input should be a short text", value)
            args[name] = value
    return args, episode


def _message(text: str) -> dict[str, Any]:
    try:
        message = decode(text.encode())
    except (ValueError, RecursionError) as error:
        raise MessageError("INVALID_JSON", f"Invalid JSON: {str(error)[:200]}") from error
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise schema.invalid("type", 'Input should be "reset", "step", "state" or "close"', None)
    return message


def _object(data: Any, name: str) -> dict[str, Any]:
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise schema.invalid(name, "Input should be an object", data)
    return data
