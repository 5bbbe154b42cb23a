"""Conversations continued as tokens, so that a policy is trained on exactly what it sampled.

A chat template writes a conversation anew each turn, and what it writes need not be what the model
wrote: the tokenizer may cut the same text differently, the template may trim it, and special tokens
are no part of the text. Here the tokens of a conversation only ever grow: what was given, what was
sampled, and then what the template puts between the end of a reply and the beginning of the next.
That piece depends on no reply, so it is read off a rendering with a stand-in in the reply's place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agentgym.agents.message import Message
from agentgym.baselines.chat import ChatTemplate

STAND_IN = "reply-stands-here"


@dataclass(frozen=True, slots=True)
class _Kept:
    tokens: list[int]
    messages: int


@dataclass
class Continuations:
    """The conversations that are under way.

    Attributes:
        template: how conversations are written.
        turns: how many turns have been continued.
        rewritten: how many of them the template would have written with other tokens, had the
            conversation been written anew.
    """

    template: ChatTemplate
    turns: int = 0
    rewritten: int = 0
    _kept: dict[str, _Kept] = field(default_factory=dict)

    def prompt(
        self, episode: str, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()
    ) -> list[int]:
        """Return the tokens a model is given, up to where its reply begins.

        Args:
            episode: identifies the conversation; "" is one that is not continued.
            messages: the conversation so far. Of a conversation that is under way, the first
                message that is new is the reply that was sampled.
            tools: the tool schemas that are offered.

        Raises:
            InvalidConfig: if the chat template refuses the conversation.
        """
        template = replace(self.template, tools=tuple(tools)) if tools else self.template
        plain = [message.to_openai() for message in messages]
        anew = template.prompt_ids(plain)
        kept = self._kept.get(episode)
        if kept is None or kept.messages >= len(messages):
            return anew
        tokens = kept.tokens + self._bridge(template, plain, kept)
        self.turns += 1
        self.rewritten += tokens != anew
        return tokens

    def add(
        self, episode: str, messages: int, prompt: Sequence[int], sampled: Sequence[int]
    ) -> None:
        """Keep what was sampled after a prompt of so many messages."""
        if episode:
            self._kept[episode] = _Kept([*prompt, *sampled], messages)

    def release(self, episode: str) -> None:
        """Forget a conversation."""
        self._kept.pop(episode, None)

    def _bridge(
        self, template: ChatTemplate, messages: list[dict[str, Any]], kept: _Kept
    ) -> list[int]:
        """Return what stands between the last reply's tokens and the beginning of the next.

        A reply that was cut off is closed with the token the template ends a reply with; one that
        ended by itself keeps the end it chose.
        """
        mark = STAND_IN
        while any(mark in str(message.get("content")) for message in messages):
            mark += "-"
        stood = dict(messages[kept.messages], content=mark)
        text = template.prompt([*messages[: kept.messages], stood, *messages[kept.messages + 1 :]])
        rest = text[text.index(mark) + len(mark) :]
        after = [int(i) for i in template.tokenizer(rest, add_special_tokens=False)["input_ids"]]
        ends = template.ends | {template.tokenizer.eos_token_id}
        first = next((i for i, token in enumerate(after) if token in ends), None)
        if first is None:  # a template that gives replies no end
            return after
        return after[first + (kept.tokens[-1] in ends) :]
