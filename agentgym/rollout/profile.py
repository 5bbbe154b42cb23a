"""What a conversation must know of an environment: small, picklable, the same in any process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agentgym.core import Command, TextEnv


@dataclass(frozen=True)
class EnvProfile:
    """An environment as seen from outside its process.

    Attributes:
        env_id: Gymnasium id.
        edition: edition of the tasks.
        tasks_digest: digest of the task set.
        instructions: the rules and the grammar.
        commands: the action grammar.
        max_rounds: rounds before truncation.
        multiline: whether an action may have several lines.
        options: options the environment was made with, beside the edition.
    """

    env_id: str
    edition: str
    tasks_digest: str
    instructions: str
    commands: tuple[Command, ...]
    max_rounds: int
    multiline: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, env_id: str, env: TextEnv, options: Mapping[str, Any] | None = None) -> EnvProfile:
        """Read the profile off an environment."""
        return cls(
            env_id=env_id,
            edition=env.edition,
            tasks_digest=env.tasks.digest,
            instructions=env.instructions,
            commands=env.commands,
            max_rounds=env.max_rounds,
            multiline=env.multiline_actions,
            options=dict(options or {}),
        )
