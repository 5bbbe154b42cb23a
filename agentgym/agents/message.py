"""What passes between a conversation and a language model.

Plain data, in the terms of the chat-completions protocol, so that every model agent (an HTTP
endpoint, a model in this process) takes and gives the same.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call a model made.

    Attributes:
        name: the tool's name.
        arguments: its arguments as the JSON text the model wrote, which may not parse.
        id: the call's id, which the tool's answer refers to.
    """

    name: str
    arguments: str
    id: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""

    def to_openai(self) -> dict[str, Any]:
        """Return the message in the form the chat-completions protocol takes."""
        data: dict[str, Any] = {"role": self.role, "content": self.content}
        if self.tool_calls:
            data["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                }
                for call in self.tool_calls
            ]
        if self.tool_call_id:
            data["tool_call_id"] = self.tool_call_id
        return data


@dataclass(slots=True)
class Usage:
    """What a model call cost.

    Attributes:
        input_tokens: tokens of the prompt.
        output_tokens: tokens the model wrote, reasoning included.
        cached_tokens: the part of the prompt that was not computed again.
        cost: in US dollars; None where no price is known.
        calls: number of model calls.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None
    calls: int = 0

    def add(self, other: Usage) -> None:
        """Add another usage to this one; a cost that is not known adds nothing."""
        self.input_tokens += other.input_tokens
        self.output_tokens += other.output_tokens
        self.cached_tokens += other.cached_tokens
        if other.cost is not None:
            self.cost = (self.cost or 0.0) + other.cost
        self.calls += other.calls

    def __add__(self, other: Usage) -> Usage:
        total = Usage()
        total.add(self)
        total.add(other)
        return total

    @property
    def tokens(self) -> int:
        """Input and output tokens together."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class Sampled:
    """The tokens behind a reply, for training on exactly what was sampled.

    Attributes:
        prompt_ids: token ids the model was given.
        token_ids: token ids the model wrote, the end-of-turn token included where it wrote one.
        logprobs: natural log-probability of each written token under the sampling policy.
    """

    prompt_ids: tuple[int, ...]
    token_ids: tuple[int, ...]
    logprobs: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer.

    Attributes:
        text: what it wrote, without reasoning the endpoint returns apart.
        tool_calls: the calls it made.
        reasoning: reasoning the endpoint returned apart from the text.
        finish_reason: "stop", "length", "tool_calls" or what the endpoint said.
        usage: tokens and cost.
        sampled: the tokens, from agents that run the model in this process.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    finish_reason: str = "stop"
    usage: Usage = field(default_factory=Usage)
    sampled: Sampled | None = None


def require_reply(reply: object) -> None:
    """Require what `Reply` declares: an agent is anyone's code, and gives back anything.

    Raises:
        TypeError: if it is no reply, or a part of it is of the wrong kind.
        ValueError: if it counts tokens, calls or dollars that cannot be.
    """
    if not isinstance(reply, Reply):
        raise TypeError(f"complete() must return a Reply, got a {type(reply).__name__}")
    if not (isinstance(reply.text, str) and isinstance(reply.reasoning, str)):
        raise TypeError("the text and the reasoning of a Reply must be str")
    for call in reply.tool_calls:
        if not isinstance(call, ToolCall):
            raise TypeError(f"tool_calls must hold ToolCall, not {type(call).__name__}")
        if not all(isinstance(part, str) for part in (call.name, call.arguments, call.id)):
            raise TypeError("name, arguments and id of a ToolCall must be str")
    if not isinstance(reply.usage, Usage) or not isinstance(reply.sampled, Sampled | None):
        raise TypeError("usage must be a Usage, sampled a Sampled or None")
    if reply.sampled is not None and not all(map(math.isfinite, reply.sampled.logprobs)):
        raise ValueError(
            "the logprobs of sampled tokens must be finite, or no record can hold them"
        )
    usage = reply.usage
    counts = (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.calls)
    if not all(isinstance(n, int) and n >= 0 for n in counts):
        raise ValueError(f"a usage counts in whole numbers from 0, got {usage}")
    if usage.cost is not None and not 0.0 <= usage.cost < math.inf:
        raise ValueError(f"a cost is a finite number from 0, got {usage.cost}")


def utf8(text: str) -> str:
    r"""Return text that can be written as UTF-8: lone surrogates become U+FFFD.

    >>> utf8("caf\u00e9 \ud800") == "caf\u00e9 \ufffd"
    True
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def canonical(value: Mapping[str, Any]) -> str:
    """Return JSON that is the same text for the same content, for keys and digests."""
    return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
