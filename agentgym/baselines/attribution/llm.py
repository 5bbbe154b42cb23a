"""Attribution by a language model: one question an episode, all steps judged at once.

Any `ChatAgent` can judge. A call that fails is made again within the retries; an answer that cannot
be read is answered once with what was wrong with it. What then has no judgment for every step has
failed, and is counted so: no label is made up from the score, as the published code does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from agentgym.agents.base import ChatAgent, ContextOverflow, ModelError
from agentgym.agents.message import Message, Reply, Usage, require_reply, utf8
from agentgym.baselines.attribution.base import (
    Attribution,
    Attributor,
    FailureKind,
    Spent,
)
from agentgym.baselines.attribution.calls import CallLimits, Ledger
from agentgym.baselines.attribution.prompt import (
    VERSION,
    again_message,
    judge_messages,
    read_analyses,
    read_judgments,
)
from agentgym.core import TextEnv
from agentgym.rollout.episode import Episode
from agentgym.rollout.limits import RunAborted
from agentgym.rollout.plan import derive_seed

LONGEST_PAUSE = 60.0
"""Seconds; an endpoint that asks for more is asked again after so many."""


class _Failed(Exception):
    """Ends an episode's attribution, with the kind of failure."""

    def __init__(self, kind: FailureKind, message: str) -> None:
        super().__init__(message)
        self.kind, self.message = kind, utf8(message)


class LlmAttributor(Attributor):
    """Asks a language model which steps were GOOD and which were BAD.

    Args:
        agent: the model; temperature 0 and room for an answer to every step are what AgentEvolver
            uses (`OpenAIAgent(model, temperature=0.0, max_tokens=8192)`).
        limits: what may be asked.
    """

    name = "llm"
    central = True

    def __init__(self, agent: ChatAgent, limits: CallLimits | None = None) -> None:
        self.agent, self.limits = agent, limits or CallLimits()
        self.concurrency = self.limits.concurrency
        self.ledger = Ledger(self.limits)

    async def attribute(self, episode: Episode, env: TextEnv | None = None) -> Attribution:
        """Return the model's judgments; see `Attributor.attribute`.

        Raises:
            AttributionStopped: if too many episodes in a row fail, or the budget cannot be kept.
        """
        talk = _Talk(self, episode)
        try:
            labels = await talk.judge()
        except _Failed as failure:
            answer = self.failed(
                episode, failure.kind, failure.message, talk.spent, evidence=talk.evidence
            )
            if failure.kind != "budget":
                self.ledger.finished(failure.message)
            return answer
        self.ledger.finished("")
        return self.labelled(
            episode,
            [1.0 if good else -1.0 for good in labels],
            talk.spent,
            notes=tuple(read_analyses(talk.replies[-1], episode.rounds)),
            evidence=talk.evidence,
        )

    def describe(self) -> dict[str, Any]:
        """Return the model and the wording of the question."""
        return {"method": self.name, "prompt": VERSION, "model": self.agent.describe()}

    def content(self, episode: Episode) -> dict[str, Any]:
        """Return the question: what the model does not see cannot change its answer."""
        return {"messages": [message.to_openai() for message in judge_messages(episode)]}

    def state(self) -> dict[str, Any]:
        """Return what the budget has gone to."""
        return self.ledger.state()

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on with what is left of the budget."""
        self.ledger.restore(state)

    def recount(self, answer: Attribution) -> None:
        """Count the calls behind an answer: its first, and one for each time it was made again.

        Raises:
            AttributionStopped: if there is a budget in dollars and its calls have no price.
        """
        spent = answer.spent
        self.ledger.started += 1 + spent.retries
        self.ledger.add(
            Usage(spent.input_tokens, spent.output_tokens, cost=spent.cost, calls=spent.calls)
        )
        self.ledger.finished("")

    async def aclose(self) -> None:
        """Close the model's connections of the running event loop, where it has any."""
        close = getattr(self.agent, "aclose", None)
        if close is not None:
            await close()

    def close(self) -> None:
        """Release the model."""
        self.agent.close()


class _Talk:
    """The question about one episode, asked until it is answered or the retries are spent."""

    def __init__(self, attributor: LlmAttributor, episode: Episode) -> None:
        self.agent, self.ledger = attributor.agent, attributor.ledger
        self.limits = attributor.limits
        self.token, self.count = f"attribution/{episode.key}", episode.rounds
        self.messages: list[Message] = judge_messages(episode)
        self.replies: list[str] = []
        self.usage, self.started = Usage(), 0
        self.unreadable = ""

    @property
    def retries(self) -> int:
        return max(0, self.started - 1)

    @property
    def spent(self) -> Spent:
        return Spent.on(self.usage, self.retries)

    @property
    def evidence(self) -> dict[str, Any]:
        return {"model": self.agent.name, "prompt": VERSION, "replies": self.replies}

    async def judge(self) -> list[bool]:
        """Return one judgment a step.

        Raises:
            _Failed: if there is none.
        """
        try:
            while True:
                reply = await self._complete()
                text = utf8(reply.text)
                self.replies.append(text)
                labels = read_judgments(text, self.count)
                if labels is not None:
                    return labels
                self.unreadable = self._unreadable(reply)
                if len(self.replies) > 1 or self.retries >= self.limits.retries:
                    raise _Failed("unreadable", self.unreadable)
                self.messages += [Message("assistant", text), again_message(self.count)]
        finally:
            self.agent.release(self.token)

    async def _complete(self) -> Reply:
        """Return the model's reply, trying again where that may help."""
        while True:
            if reason := self.ledger.spent():
                raise _Failed("budget", reason)
            self.ledger.start()
            self.started += 1
            try:
                reply = await self.agent.complete(
                    self.messages, episode=self.token, seed=len(self.replies)
                )
                require_reply(reply)
                break
            except ContextOverflow as error:
                if self.unreadable:  # the question had room; with the reply to it, it has not
                    said = f"{self.unreadable}; asked again, {error}"
                    raise _Failed("unreadable", said) from error
                raise _Failed("too_long", str(error)) from error
            except ModelError as error:
                if not error.retryable or self.retries >= self.limits.retries:
                    raise _Failed("model", str(error)) from error
                await asyncio.sleep(self._pause(error))
            except (RunAborted, asyncio.CancelledError):
                raise
            except Exception as error:  # an agent is anyone's code
                raise _Failed("model", f"{type(error).__name__}: {error}") from error
        self.usage.add(reply.usage)
        self.ledger.add(reply.usage)
        return reply

    def _unreadable(self, reply: Reply) -> str:
        """Return what is wrong with a reply."""
        wrong = f"the reply does not hold one judgment for each of {self.count} steps"
        if reply.finish_reason != "length":
            return wrong
        return (
            f"{wrong}: it was cut off after {reply.usage.output_tokens} tokens (by max_tokens, or "
            "the end of the model's context)"
        )

    def _pause(self, error: ModelError) -> float:
        jitter = 0.75 + derive_seed(self.token, self.retries) / 2**32
        own = self.limits.pause * 2.0**self.retries * jitter
        return min(own if error.retry_after is None else error.retry_after, LONGEST_PAUSE)
