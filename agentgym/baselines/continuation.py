"""Conversations continued as tokens, so that a policy is trained on exactly what it sampled.

A chat template writes a conversation anew each turn, and what it writes need not be what the model
wrote: the tokenizer may cut the same text differently, the template may trim it, and special tokens
are no part of the text. Here the tokens of a conversation only ever grow: what was given, what was
sampled, and then what the template puts between the end of a reply and the beginning of the next.
That piece depends on no reply, so it is read off a rendering with a stand-in in the reply's place;
a template that writes each message by itself (`agents.hf_template`) writes only what is new.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agentgym.agents.hf_prompt import Prompts
from agentgym.agents.hf_shown import as_shown
from agentgym.agents.hf_template import CannotGrow, Growing
from agentgym.agents.message import Message
from agentgym.baselines.chat import ChatTemplate

STAND_IN = "reply-stands-here"


@dataclass(frozen=True, slots=True)
class _Kept:
    tokens: list[int]
    messages: int


@dataclass(slots=True)
class _Stood:
    """A conversation with a stand-in for every reply that was sampled, as it is written."""

    growing: Growing
    header: str
    tools: tuple[Mapping[str, Any], ...]


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
    _stood: dict[str, _Stood] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._prompts = Prompts(
            self.template.tokenizer,
            None,
            self.template.options or {},
            plain=as_shown,
            render=lambda messages, tools: replace(self.template, tools=tools).prompt(messages),
        )

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
        anew = self._prompts.of(episode, plain, template.tools)
        kept = self._kept.get(episode)
        if kept is None or kept.messages >= len(messages):
            return anew
        tokens = kept.tokens + self._bridge(episode, template, plain, kept)
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
        self._stood.pop(episode, None)
        self._prompts.release(episode)

    def _bridge(
        self, episode: str, template: ChatTemplate, messages: list[dict[str, Any]], kept: _Kept
    ) -> list[int]:
        """Return what stands between the last reply's tokens and the beginning of the next.

        A reply that was cut off is closed with the token the template ends a reply with; one that
        ended by itself keeps the end it chose.
        """
        rest = self._rest(episode, template, messages, kept)
        after = [int(i) for i in template.tokenizer(rest, add_special_tokens=False)["input_ids"]]
        ends = template.ends | {template.tokenizer.eos_token_id}
        first = next((i for i, token in enumerate(after) if token in ends), None)
        if first is None:  # a template that gives replies no end
            return after
        return after[first + (kept.tokens[-1] in ends) :]

    def _rest(
        self, episode: str, template: ChatTemplate, messages: list[dict[str, Any]], kept: _Kept
    ) -> str:
        """Return what the template writes after the last reply's text."""
        mark = STAND_IN
        while any(mark in str(message.get("content")) for message in messages):
            mark += "-"
        number = kept.messages
        added = [dict(messages[number], content=mark), *messages[number + 1 :]]
        stood = self._stood.pop(episode, None)
        with contextlib.suppress(CannotGrow):
            if (
                mark == STAND_IN
                and stood is not None
                and len(stood.growing.ends) == number
                and stood.tools == tuple(template.tools)
            ):
                for message in added:
                    stood.growing.add(as_shown(message))
                if stood.growing.apart:
                    self._stood[episode] = stood
                    text = stood.growing.text[stood.growing.ends[number - 1] :] + stood.header
                    return text[text.index(mark) + len(mark) :]
        talk = [*messages[:number], *added]
        text = template.prompt(talk)
        with contextlib.suppress(CannotGrow):
            growing = Growing(template.tokenizer, tools=template.tools, options=template.options)
            for message in talk:
                growing.add(as_shown(message))
            before = growing.ends[number - 1]
            if (
                mark == STAND_IN
                and growing.apart
                and text.startswith(growing.text)
                and text.index(mark) >= before
            ):
                header = text[len(growing.text) :]
                self._stood[episode] = _Stood(growing, header, tuple(template.tools))
        return text[text.index(mark) + len(mark) :]
