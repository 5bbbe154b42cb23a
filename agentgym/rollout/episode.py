"""The record of an episode: everything that happened, enough to replay it.

One `Episode` is one line of a run folder and one item of a trajectory dataset. It is written once,
when the episode ends, and holds no clock value but its duration, so that two runs of the same plan
give equal records once `timing` is left out.
"""

from __future__ import annotations

import hashlib
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from agentgym.agents.message import Sampled, ToolCall, Usage, canonical

SCHEMA_VERSION = 1

Status = Literal["completed", "limit", "failed"]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Step(_Record):
    """One round.

    Attributes:
        reply: the agent's whole reply, as the conversation holds it.
        thought: the part that reasons, or "".
        action: the bare action that was played; None where the reply held none.
        observation: what the environment answered.
        reward: change of the score.
        score: score after the round, in [0, 1].
        valid: whether the action could be carried out.
        loss: whether a learner should imitate the reply.
        tool_calls: the calls the model made, where it made any.
        reasoning: reasoning the endpoint returned apart from the reply.
        usage: tokens and cost of the model calls of this round.
        sampled: the tokens behind the reply, where the agent gives them and they were asked for.
    """

    reply: str
    thought: str = ""
    action: str | None = None
    observation: str
    reward: float = 0.0
    score: float = 0.0
    valid: bool = True
    loss: bool = True
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    usage: Usage | None = None
    sampled: Sampled | None = None


class Failure(_Record):
    """Why an episode did not come to its own end.

    Attributes:
        where: the boundary that was crossed: "environment", "agent", "model" or "limit".
        type: name of the error's class.
        message: what it said.
    """

    where: Literal["environment", "agent", "model", "limit"]
    type: str
    message: str


class Episode(_Record):
    """One agent's attempt at one task.

    Attributes:
        schema_version: version of this layout.
        env_id: Gymnasium id.
        edition: edition of the tasks.
        tasks_digest: digest of the task set the task is from.
        task_id: the task.
        kind: the task's kind.
        split: the task's split.
        attempt: which of the repeated attempts, from 0.
        seed: the seed `reset` was given.
        max_rounds: rounds the episode was allowed.
        env_options: other options the environment was made with.
        agent: the agent's name.
        action_format: how replies were read ("react").
        instructions: first message of the conversation.
        acknowledgement: second message of the conversation.
        goal: the task's goal.
        observation: the first observation.
        steps: the rounds.
        score: final score, in [0, 1].
        success: whether the task was achieved.
        terminated: whether the task ended by itself.
        truncated: whether the rounds were spent.
        status: "completed" (terminated or truncated), "limit" (a budget or the context ended
            it), "failed" (a call broke and the retries were spent).
        failure: what broke, unless completed.
        duration: wall-clock seconds; not part of what is compared.
    """

    schema_version: int = SCHEMA_VERSION
    env_id: str
    edition: str
    tasks_digest: str = ""
    task_id: str
    kind: str = ""
    split: str = ""
    attempt: int = 0
    seed: int = 0
    max_rounds: int = 0
    env_options: dict[str, Any] = Field(default_factory=dict)
    agent: str
    action_format: str = "react"
    instructions: str = ""
    acknowledgement: str = ""
    goal: str = ""
    observation: str = ""
    steps: tuple[Step, ...] = ()
    score: float = 0.0
    success: bool = False
    terminated: bool = False
    truncated: bool = False
    status: Status = "completed"
    failure: Failure | None = None
    duration: float = 0.0

    @property
    def key(self) -> str:
        """Identifies the attempt within a run: environment, edition, task, attempt."""
        return episode_key(self.env_id, self.edition, self.task_id, self.attempt)

    @property
    def rounds(self) -> int:
        """Number of rounds played."""
        return len(self.steps)

    @property
    def invalid_actions(self) -> int:
        """Rounds in which the action could not be carried out or the reply held none."""
        return sum(not step.valid for step in self.steps)

    @property
    def actions(self) -> tuple[str | None, ...]:
        """The bare actions, None where a reply held none."""
        return tuple(step.action for step in self.steps)

    @property
    def usage(self) -> Usage:
        """Tokens and cost of the whole episode."""
        total = Usage()
        for step in self.steps:
            if step.usage is not None:
                total.add(step.usage)
        return total

    @property
    def digest(self) -> str:
        """SHA-256 of all but the duration: equal digests mean the same episode."""
        data = self.model_dump(mode="json", exclude={"duration"})
        return hashlib.sha256(canonical(data).encode()).hexdigest()


def episode_key(env_id: str, edition: str, task_id: str, attempt: int) -> str:
    """Return the key under which an attempt is stored in a run."""
    return f"{env_id}|{edition}|{task_id}|{attempt}"
