"""Who acts.

There are two kinds of agents. An `Agent` is handed the observation and returns an action: the
expert, a random policy, a person, your own code. A `ChatAgent` is a language model: it is handed
the whole conversation and returns a reply, from which the rollout reads an action. Episodes run
many at a time, so an agent never keeps the state of an episode in itself: `Agent.start` gives each
episode its own copy, and a `ChatAgent` is told with every call which episode it is for.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from agentgym.agents.message import Message, Reply
from agentgym.core import AgentGymError, TextEnv


class ModelError(AgentGymError):
    """A model call failed.

    Args:
        message: what went wrong.
        retryable: whether the same call may succeed later (a timeout, a 429, a 5xx).
        retry_after: seconds the endpoint asked to wait, if it did.
    """

    def __init__(
        self, message: str, *, retryable: bool = False, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.retryable, self.retry_after = retryable, retry_after


class ContextOverflow(ModelError):
    """The conversation no longer fits the model's context; the episode ends here."""


class Agent(ABC):
    """An agent that maps an observation to an action.

    >>> class First(Agent):
    ...     name = "first"
    ...     def act(self, observation, info):
    ...         return (info["actions"] or ["look"])[0]
    """

    name: str = "agent"

    env: TextEnv
    """The environment of this episode; set by `start`."""
    rng: np.random.Generator
    """This episode's own generator; set by `start`."""

    def start(self, env: TextEnv, seed: int) -> Self:
        """Return the copy of this agent that plays one episode, just reset.

        Args:
            env: the environment, at its first observation.
            seed: follows from the run's seed, the task and the attempt.
        """
        player = copy.copy(self)
        player.env, player.rng = env, np.random.default_rng(seed)
        player.begin()
        return player

    def begin(self) -> None:
        """Prepare for an episode; `self.env` and `self.rng` are there. Override where needed."""

    @abstractmethod
    def act(
        self, observation: str, info: Mapping[str, Any]
    ) -> str | tuple[str, str] | tuple[str, None] | None:
        """Return the bare action, or (thought, action); None for an action forfeits the round.

        Args:
            observation: the text that `reset` or `step` last returned.
            info: the info that came with it.
        """

    def describe(self) -> dict[str, Any]:
        """Return what identifies this agent in a run's configuration; JSON values, no secrets."""
        return {"name": self.name, "class": type(self).__name__}

    def close(self) -> None:
        """Release what the agent holds; twice without harm."""


class ChatAgent(ABC):
    """A language model that continues a conversation."""

    name: str = "model"
    supports_tools: bool = False
    """Whether `complete` passes tool schemas on and returns tool calls."""

    @abstractmethod
    async def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        episode: str = "",
        seed: int = 0,
    ) -> Reply:
        """Return the model's reply to a conversation.

        Args:
            messages: the conversation so far; the last one is the environment's.
            tools: OpenAI-style tool schemas; empty unless `supports_tools`.
            episode: identifies the episode, so that work can be reused from turn to turn: each
                call of an episode extends the conversation of the call before.
            seed: for sampling; follows from the run's seed, the task, the attempt and the turn.

        Raises:
            ModelError: if the call failed; `retryable` says whether to try again.
            ContextOverflow: if the conversation is too long for the model.
        """

    def crowded(self, lanes: int) -> None:
        """Hear how many of the episodes that may be under way have no place to be played in.

        An agent that waits until everybody asks must not wait for these: a place is had once
        another episode has ended.
        """

    def release(self, episode: str) -> None:
        """Forget what was kept for an episode that has ended."""

    def describe(self) -> dict[str, Any]:
        """Return what determines this agent's replies (model, sampling); JSON, no secrets."""
        return {"name": self.name, "class": type(self).__name__}

    def close(self) -> None:
        """Release the model; twice without harm."""
