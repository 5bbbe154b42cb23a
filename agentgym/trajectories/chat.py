"""Trajectories as training examples: chat messages with a loss weight a message.

The layout is the one trainers take ({"messages": [{"role", "content"}, …]}), with `weights` beside
it, so that the loss flags of the data decide what is learned and not the roles alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypedDict

from agentgym.agents.message import Message
from agentgym.rollout.conversation import Conversation
from agentgym.rollout.episode import Episode
from agentgym.trajectories.published import PublishedItem


class ChatExample(TypedDict):
    """One conversation to learn from.

    Attributes:
        messages: chat messages as the chat-completions protocol has them.
        weights: one number a message, 1.0 where it should be imitated, else 0.0.
        task_id: the task.
        env_id: the environment; "" where it is not known.
        score: final score in [0, 1]; None where it is not known.
    """

    messages: list[dict[str, Any]]
    weights: list[float]
    task_id: str
    env_id: str
    score: float | None


def conversation(episode: Episode) -> list[Message]:
    """Return an episode's messages, tool calls and their answers included."""
    talk = Conversation(episode.instructions, episode.acknowledgement, episode.observation)
    for step in episode.steps:
        # The record writes calls out in the reply; as a message they are calls, and not text too.
        text = step.thought if step.tool_calls else step.reply
        talk.add(Message("assistant", text, step.tool_calls), step.observation)
    return talk.messages


def chat_example(source: Episode | PublishedItem, *, whole: bool = False) -> ChatExample:
    """Return a trajectory as a training example.

    Args:
        source: an episode or a published item.
        whole: whether to keep what follows the last reply to be imitated (the final observation);
            by default the example ends there, since nothing after it can be learned from.
    """
    if isinstance(source, Episode):
        messages = [message.to_openai() for message in conversation(source)]
        weights = _weights(messages, [step.loss for step in source.steps])
        env_id, task_id = source.env_id, source.task_id
        score: float | None = source.score
    else:
        messages = [dict(message) for message in source.messages()]
        weights = source.weights()
        env_id = source.id.env.env_id if source.id.env else ""
        task_id, score = source.id.task_id, source.score
    if not whole:
        end = max((i + 1 for i, weight in enumerate(weights) if weight), default=len(weights))
        messages, weights = messages[:end], weights[:end]
    return ChatExample(
        messages=messages, weights=weights, task_id=task_id, env_id=env_id, score=score
    )


def chat_examples(
    sources: Iterable[Episode | PublishedItem], *, whole: bool = False
) -> Iterator[ChatExample]:
    """Yield the examples that hold something to learn, one a trajectory."""
    for source in sources:
        example = chat_example(source, whole=whole)
        if any(example["weights"]):
            yield example


def _weights(messages: list[dict[str, Any]], flags: list[bool]) -> list[float]:
    # The first assistant message is the scripted acknowledgement; the others are the steps.
    steps = iter([False, *flags])
    return [float(next(steps)) if message["role"] == "assistant" else 0.0 for message in messages]
