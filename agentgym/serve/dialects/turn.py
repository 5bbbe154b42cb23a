"""What a session last said, as the dialects read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gymnasium.error import ResetNeeded

from agentgym.serve.entry import Entry, Reply
from agentgym.serve.store import SessionStore


@dataclass(frozen=True, slots=True)
class Turn:
    """An observation and what belongs to it.

    Attributes:
        observation: the text.
        reward: the change of the score.
        terminated: whether the task has ended.
        truncated: whether the rounds are spent.
        info: the environment's `info`.
    """

    observation: str
    reward: float
    terminated: bool
    truncated: bool
    info: Mapping[str, Any]

    @classmethod
    def of(cls, reply: Reply) -> Turn:
        """Read the answer to a reset, a step or an observe.

        Raises:
            AgentGymError: the error that it is.
        """
        said = reply.value()
        names = ("observation", "reward", "terminated", "truncated", "info")
        return cls(*(said[name] for name in names))

    @property
    def done(self) -> bool:
        """Whether the episode is over."""
        return self.terminated or self.truncated

    @property
    def score(self) -> float:
        """The score so far, in [0, 1]."""
        return float(self.info["score"])

    @property
    def success(self) -> bool:
        """Whether the task is solved."""
        return bool(self.info["success"])

    @property
    def first(self) -> bool:
        """Whether no round has been played yet."""
        return int(self.info["rounds"]) == 0

    @property
    def index(self) -> int:
        """The number of the task: 12 of "textcraft_12"."""
        return int(self.info["task_id"].rpartition("_")[2])


async def seen(store: SessionStore, entry: Entry) -> Turn | None:
    """Return what a session last said, or None before its first reset."""
    try:
        return Turn.of(await store.call(entry, "observe"))
    except ResetNeeded:
        return None


async def played(store: SessionStore, entry: Entry, verb: str, **args: Any) -> tuple[Turn, bool]:
    """Play a round, or tell the last one again where the episode is over.

    Clients of these protocols have no error for a step too many, and some ask again for what they
    have asked already. They are told how the episode ended, and nothing is played.

    Args:
        store: the session store.
        entry: the session.
        verb: "step" or "forfeit".
        args: of the verb.

    Returns:
        The turn, and whether a round was played.

    Raises:
        ResetNeeded: if no episode has begun.
        AgentGymError: if the session is lost, or the environment fails.
    """
    try:
        return Turn.of(await store.call(entry, verb, **args)), True
    except ResetNeeded:
        last = await seen(store, entry)
        if last is None or not last.done:
            raise
        return last, False
