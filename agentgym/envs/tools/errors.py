"""What a tool answers when it cannot do what was asked.

These errors are answers, not failures: the environment turns them into an observation, and nothing
has changed. Their labels are the ones the published servers used, `ERROR | Type(message)`.
"""

from __future__ import annotations

from typing import ClassVar

from agentgym.core.errors import AgentGymError


class ToolError(AgentGymError):
    """A tool cannot do what was asked; the message says what to change.

    Raise it before changing anything.
    """

    label: ClassVar[str] = "ToolError"


class WrongCall(ToolError):
    """An argument is missing, or there is no parameter of its name."""

    label = "TypeError"


class WrongValue(ToolError):
    """An argument has a value that cannot be used."""

    label = "ValueError"


class NotFound(ToolError):
    """There is nothing under the name, id or position that was given."""

    label = "KeyError"
