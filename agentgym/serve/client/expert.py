"""The expert of an environment elsewhere, asked move by move."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from agentgym.core import Expert


class Adviser(Protocol):
    """What a remote expert needs of its environment."""

    def moment(self) -> Any:
        """Return what is different in every round of every episode."""

    def advice(self, asker: object, *, fresh: bool = False) -> tuple[str, str]:
        """Ask the server's expert for (thought, action), a fresh one where another was asked."""


class RemoteExpert(Expert):
    """Asks the server's expert, which sees the session as it stands.

    It is asked for its first move at once, so that an environment without an expert says so when
    one is asked for, as it would here.

    Args:
        env: the environment.
    """

    def __init__(self, env: Adviser) -> None:
        self._env = env
        self._first: tuple[Any, tuple[str, str]] | None = (env.moment(), env.advice(self))

    def act(self, observation: str, info: Mapping[str, Any]) -> tuple[str, str]:
        """Return the expert's reason and action.

        Raises:
            Forbidden: if the server's experts give no advice.
        """
        first, self._first = self._first, None
        if first is not None and first[0] == self._env.moment():
            return first[1]
        return self._env.advice(self, fresh=first is not None)
