"""The prompts of conversations that go on, as tokens, for the cost of what was added.

Writing a conversation anew each turn costs more than a small model's answer to it. Where its
template writes message after message (`hf_template`), only what is new is written, and only what is
new is cut into tokens (`hf_tokens`). The prompt is the same to the token: where that cannot be
seen, it is written in full.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from agentgym.agents.hf_template import CannotGrow, Growing
from agentgym.agents.hf_tokens import Tokenized, anchors

MOST = 4096
"""Conversations that are remembered; of more, the ones longest unheard of are written in full."""


@dataclass(slots=True)
class _Talk:
    messages: list[Any]
    tools: list[Mapping[str, Any]]
    growing: Growing
    header: str
    cut: Tokenized


class Prompts:
    """Prompts of conversations.

    Args:
        tokenizer: a tokenizer of transformers.
        template: the chat template; None takes the tokenizer's.
        options: further variables for it.
        plain: returns a message as the template is shown it.
        render: returns the text of a prompt from messages and tools, written in full.
    """

    def __init__(
        self,
        tokenizer: Any,
        template: str | None,
        options: Mapping[str, Any],
        *,
        plain: Callable[[Any], Mapping[str, Any]],
        render: Callable[[Sequence[Any], Sequence[Mapping[str, Any]]], str],
    ) -> None:
        self._tokenizer, self._template, self._options = tokenizer, template, options
        self._plain, self._render = plain, render
        self._talks: OrderedDict[str, _Talk] = OrderedDict()

    def of(
        self, episode: str, messages: Sequence[Any], tools: Sequence[Mapping[str, Any]] = ()
    ) -> list[int]:
        """Return the tokens of a conversation, up to where the reply begins.

        Args:
            episode: identifies the conversation; "" is one that does not go on.
            messages: the conversation so far.
            tools: the tool schemas it offers.
        """
        if not episode:
            return self._in_full(messages, tools)
        talk = self._talks.pop(episode, None)
        try:
            if talk is None or not _goes_on(talk, messages, tools):
                talk = self._begin(messages, tools)
            else:
                self._continue(talk, messages)
        except CannotGrow:
            return self._in_full(messages, tools)
        self._talks[episode] = talk
        if len(self._talks) > MOST:
            self._talks.popitem(last=False)
        return list(talk.cut.ids)

    def release(self, episode: str) -> None:
        """Forget a conversation."""
        self._talks.pop(episode, None)

    @cached_property
    def _anchors(self) -> dict[int, str]:
        return anchors(self._tokenizer)

    def _in_full(self, messages: Sequence[Any], tools: Sequence[Mapping[str, Any]]) -> list[int]:
        return Tokenized(self._tokenizer, self._render(messages, tools), {}).ids

    def _begin(self, messages: Sequence[Any], tools: Sequence[Mapping[str, Any]]) -> _Talk:
        growing = Growing(self._tokenizer, self._template, tools=tools, options=self._options)
        for message in messages:
            growing.add(self._plain(message))
        prompt, written = self._render(messages, tools), growing.text
        if not (written and prompt.startswith(written)):
            raise CannotGrow("a template writes otherwise when it is watched")
        cut = Tokenized(self._tokenizer, prompt, self._anchors)
        return _Talk(list(messages), list(tools), growing, prompt[len(written) :], cut)

    def _continue(self, talk: _Talk, messages: Sequence[Any]) -> None:
        before = talk.growing.ends[-1]
        for message in messages[len(talk.messages) :]:
            talk.growing.add(self._plain(message))
        talk.cut.go_on(talk.growing.text + talk.header, before)
        talk.messages = list(messages)


def _goes_on(talk: _Talk, messages: Sequence[Any], tools: Sequence[Mapping[str, Any]]) -> bool:
    known = len(talk.messages)
    return (
        len(messages) >= known
        and list(messages[:known]) == talk.messages
        and list(tools) == talk.tools
    )
