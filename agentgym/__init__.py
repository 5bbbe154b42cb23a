"""agentgym: play, measure, train and rank language-model agents on text environments.

Importing the package registers every environment with Gymnasium and imports nothing heavy; what
stands on the environments is loaded when it is first used.

>>> import gymnasium, agentgym
>>> env = gymnasium.make("agentgym/TextCraft-v0")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import agentgym.envs  # noqa: F401  (registers the environments)
from agentgym.core import (
    AgentGymError,
    Command,
    Edition,
    Expert,
    Opening,
    Outcome,
    Param,
    Task,
    TaskSet,
    TextEnv,
    make,
)
from agentgym.core.registry import EnvCard as _EnvCard
from agentgym.core.registry import register as _register

if TYPE_CHECKING:
    from agentgym.agenteval.evaluate import evaluate
    from agentgym.agents import Agent

__version__ = "0.1.0"

# Plays what a server serves, and is therefore none of the environments of the suite.
_register(
    _EnvCard(
        "agentgym/Remote-v0",
        "agentgym.serve.client.env:RemoteEnv",
        "Play an environment of a server as if it were here.",
        listed=False,
    )
)

_LAZY = {"Agent": "agentgym.agents", "evaluate": "agentgym.agenteval"}

__all__ = [
    "Agent",
    "AgentGymError",
    "Command",
    "Edition",
    "Expert",
    "Opening",
    "Outcome",
    "Param",
    "Task",
    "TaskSet",
    "TextEnv",
    "__version__",
    "evaluate",
    "make",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        import importlib

        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'agentgym' has no attribute {name!r}")
