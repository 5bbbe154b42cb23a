"""Scripted language models for tests: they answer at once, from the conversation alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agentgym.agents import ChatAgent, Message, Reply, Usage

Script = Callable[[Sequence[Message], int], str]


class ScriptedModel(ChatAgent):
    """Answers with what a function makes of the messages and the seed."""

    name = "scripted"

    def __init__(self, script: Script) -> None:
        self.script = script
        self.calls = 0
        self.released: list[str] = []

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        episode: str = "",
        seed: int = 0,
    ) -> Reply:
        self.calls += 1
        text = self.script(messages, seed)
        return Reply(text, usage=Usage(input_tokens=10, output_tokens=5, calls=1))

    def release(self, episode: str) -> None:
        self.released.append(episode)


def halving(messages: Sequence[Message], seed: int) -> str:
    """Solve the Guess environment by halving, in the react format."""
    low, high, last = 1, 50, 0
    for message in messages[3:]:
        if message.role == "assistant":
            last = int(message.content.rsplit(" ", 1)[1])
        elif "higher" in message.content:
            low = last + 1
        elif "lower" in message.content:
            high = last - 1
    return f"Thought: between {low} and {high}\nAction: guess {(low + high) // 2}"


def seeded(messages: Sequence[Message], seed: int) -> str:
    """Guess a number that depends on the seed alone."""
    return f"Thought: so be it\nAction: guess {1 + seed % 50}"
