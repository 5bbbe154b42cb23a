"""What an environment tells of itself, as the rollout's action formats want it."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from agentgym.core.call import CallCommand
from agentgym.core.command import Command, Param
from agentgym.rollout.profile import EnvProfile
from agentgym.serve.store import SessionStore

_KEPT = 256


class Profiles:
    """Profiles by environment and options, asked of a worker once.

    Args:
        store: the session store.
    """

    def __init__(self, store: SessionStore) -> None:
        self._store = store
        self._kept: OrderedDict[str, EnvProfile] = OrderedDict()

    async def get(self, env_id: str, options: Mapping[str, Any]) -> EnvProfile:
        """Return the profile of an environment made with some options.

        Args:
            env_id: id or short name.
            options: those a client may set.

        Raises:
            UnknownEnvironment: if it is not served.
            InvalidConfig: if an option may not be set.
        """
        key = json.dumps([env_id, options], sort_keys=True, default=str)
        profile = self._kept.get(key)
        if profile is None:
            said = (await self._store.about(env_id, options)).value()
            profile = self._kept[key] = read_profile(said, options)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return profile


def read_profile(about: Mapping[str, Any], options: Mapping[str, Any]) -> EnvProfile:
    """Return the profile in a worker's answer to "about"."""
    return EnvProfile(
        env_id=about["environment"],
        edition=about["edition"],
        tasks_digest=about["tasks_digest"],
        instructions=about["instructions"],
        commands=tuple(read_command(command) for command in about["commands"]),
        max_rounds=about["max_rounds"],
        multiline=about["multiline_actions"],
        options=dict(options),
    )


def read_command(data: Mapping[str, Any]) -> Command:
    """Return the command that a worker described as data."""
    if data["kind"] == "call":
        return CallCommand(
            data["name"], description=data["description"], parameters=data["parameters"]
        )
    params = tuple(
        Param(p["name"], p["description"], p["type"], tuple(p["choices"]), p["required"])
        for p in data["params"]
    )
    return Command(data["name"], data["template"], data["description"], params)
