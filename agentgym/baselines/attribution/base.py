"""Who says which step of an episode helped, and what that looks like.

An attributor is handed an episode that has ended and returns a credit for each of its steps, with
what it rests on. It never guesses: where it cannot say, the attribution is marked as failed, has no
credits, and the advantage falls back on the outcome alone. A failure is one of a few kinds, so that
it can be counted.
"""

from __future__ import annotations

import asyncio
import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from agentgym.agents.base import ChatAgent
from agentgym.agents.message import Usage, canonical
from agentgym.baselines.attribution.lines import AttributionLines
from agentgym.baselines.config import SamplingConfig
from agentgym.baselines.progress import Say, silent
from agentgym.core import TextEnv
from agentgym.rollout.episode import Episode
from agentgym.rollout.limits import RunAborted

FailureKind = Literal["model", "unreadable", "too_long", "budget", "environment"]


class AttributionStopped(RunAborted):
    """Attribution cannot go on: too much of it fails, or its record does not fit."""


class Spent(BaseModel):
    """What an attribution cost.

    Attributes:
        calls: model calls that were answered.
        retries: calls that were made again after a failure.
        input_tokens: tokens of the prompts.
        output_tokens: tokens of the replies.
        cost: US dollars; None where no price is known.
        env_steps: steps played in an environment; those of a restored snapshot not counted.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    calls: int = 0
    retries: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    env_steps: int = 0

    @classmethod
    def on(cls, usage: Usage, retries: int) -> Spent:
        """Return what model calls cost."""
        return cls(
            calls=usage.calls,
            retries=retries,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cost=usage.cost,
        )

    def __add__(self, other: Spent) -> Spent:
        costs = [c for c in (self.cost, other.cost) if c is not None]
        return Spent(
            calls=self.calls + other.calls,
            retries=self.retries + other.retries,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost=sum(costs) if costs else None,
            env_steps=self.env_steps + other.env_steps,
        )


class Attribution(BaseModel):
    """What is said of one episode's steps, and by whom.

    Attributes:
        episode: the episode's key.
        method: which attributor said it ("llm"), or the rule that left it out.
        status: "labelled"; "skipped", as it was not worth asking; "failed".
        credits: one number a step, +1 and -1 for GOOD and BAD; None where there are none.
        notes: why, one a step, from attributors that say so.
        failure: what kind of failure it was, where it failed.
        message: what went wrong, or why it was skipped.
        cached: whether it was said before and is only repeated here.
        spent: what it cost when it was made.
        evidence: what it rests on: the model's replies, the scores that were compared.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    episode: str
    method: str
    status: Literal["labelled", "skipped", "failed"]
    credits: tuple[float, ...] | None = None
    notes: tuple[str, ...] = ()
    failure: FailureKind | None = None
    message: str = ""
    cached: bool = False
    spent: Spent = Field(default_factory=Spent)
    evidence: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _failures_have_no_credits(self) -> Self:
        if (self.status == "failed") != (self.failure is not None):
            raise ValueError("a failed attribution, and no other, names its kind of failure")
        if self.status == "failed" and self.credits is not None:
            raise ValueError("a failed attribution has no credits")
        if self.status == "labelled" and self.credits is None:
            raise ValueError("a labelled attribution has credits")
        return self


class Attributor(ABC):
    """Says which steps of an episode helped."""

    name: str = "attributor"
    concurrency: int = 1
    """How many episodes `attribute` may be asked about at a time."""
    central: bool = False
    """Whether, of several processes, the main one asks for all: what may be spent is the run's."""

    def meet(self, policy: ChatAgent, sampling: SamplingConfig) -> None:
        """Get to know the policy that is trained, and how it samples, where that matters."""

    @property
    def environment_seconds(self) -> float:
        """Seconds that were spent in environments so far."""
        return 0.0

    @abstractmethod
    async def attribute(self, episode: Episode, env: TextEnv | None = None) -> Attribution:
        """Return the credits of an episode's steps.

        Args:
            episode: the record of what happened; it has one step at least.
            env: an environment of the episode's options to play in, which is left elsewhere;
                attributors that need one make their own where none is given.

        Raises:
            AttributionStopped: if going on makes no sense, whatever the episode.
        """

    async def attribute_all(
        self, episodes: Sequence[Episode], env: TextEnv | None = None, say: Say = silent
    ) -> list[Attribution]:
        """Return the attributions of several episodes, in their order; see `attribute`.

        Args:
            episodes: the records.
            env: see `attribute`.
            say: takes lines of progress.
        """
        gate = asyncio.Semaphore(self.concurrency)
        lines = AttributionLines(say, len(episodes))

        async def one(episode: Episode) -> Attribution:
            async with gate:
                answer = await self.attribute(episode, env)
            lines.hear(answer)
            return answer

        tasks = [asyncio.ensure_future(one(episode)) for episode in episodes]
        try:
            return list(await asyncio.gather(*tasks))
        finally:
            lines.end()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def describe(self) -> dict[str, Any]:
        """Return what determines the attributor's answers besides the episode; JSON, no secrets."""
        return {"method": self.name}

    def content(self, episode: Episode) -> dict[str, Any]:
        """Return what of an episode determines the answer; JSON values."""
        return {
            "env": [episode.env_id, episode.edition, episode.tasks_digest, episode.env_options],
            "task": [episode.task_id, episode.seed, episode.max_rounds],
            "actions": list(episode.actions),
            "score": episode.score,
        }

    def key(self, episode: Episode) -> str:
        """Return what an answer is kept under: equal for equal content, whoever played it."""
        parts = {"attributor": self.describe(), "content": self.content(episode)}
        return hashlib.sha256(canonical(parts).encode()).hexdigest()

    def state(self) -> dict[str, Any]:
        """Return what has been spent and counted so far, JSON values, for a checkpoint."""
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a `state` of the same run."""

    def recount(self, answer: Attribution) -> None:
        """Count an answer that was given, and paid for, as though it were given now."""

    async def aclose(self) -> None:
        """Close what belongs to the running event loop."""

    def close(self) -> None:
        """Release everything; twice without harm."""

    def labelled(
        self, episode: Episode, credits: list[float], spent: Spent, **more: Any
    ) -> Attribution:
        """Return an attribution that worked."""
        return Attribution(
            episode=episode.key,
            method=self.name,
            status="labelled",
            credits=tuple(credits),
            spent=spent,
            **more,
        )

    def failed(
        self, episode: Episode, kind: FailureKind, message: str, spent: Spent, **more: Any
    ) -> Attribution:
        """Return an attribution that did not."""
        return Attribution(
            episode=episode.key,
            method=self.name,
            status="failed",
            failure=kind,
            message=message,
            spent=spent,
            **more,
        )
