"""From a conversation to tokens, and which of them are learned.

A reply is learned exactly where the policy would have written it: from the end of the prompt the
chat template makes for that turn, up to and including the token that ends the turn. Nothing before
it (instructions, observations, the template's headers) and nothing after it is. A template that
marks replies with `{% generation %}` tags is taken at its word; for any other, the text up to each
turn shows where the reply begins. Where it can be seen that a template writes message after message
(`agents.hf_template`) one run of it gives all these texts, else it is rendered once up to each.

One sequence can stand for all turns of an episode only if a turn's prompt is a prefix of what
follows. A template that writes earlier turns differently later on (one that drops past reasoning)
breaks this, and is refused with a way out: an example a turn.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from agentgym.agents.hf_shown import as_shown
from agentgym.agents.hf_template import CannotGrow, Growing
from agentgym.agents.hf_tokens import Tokenized, anchors, tokens_of
from agentgym.core import AgentGymError
from agentgym.core.errors import InvalidConfig

Messages = Sequence[Mapping[str, Any]]


A_TURN = (
    "Train on an example a turn (data.per_turn=true), or give a template that leaves earlier turns "
    "alone (model.chat_template=FILE)."
)


class RewritesHistory(AgentGymError):
    """A chat template writes earlier turns of a conversation differently once it goes on.

    Args:
        where: what it writes differently.
        advice: what whoever trains can do about it.
    """

    def __init__(self, where: str, advice: str = A_TURN) -> None:
        super().__init__(where, advice)
        self.where = where

    def __str__(self) -> str:
        return " ".join(self.args)


@dataclass(frozen=True, slots=True)
class Span:
    """Where a reply lies in a sequence.

    Attributes:
        start: its first token.
        end: one past its last token, which ends the turn.
        message: the message's index in the conversation.
        weight: its loss weight, above 0.
    """

    start: int
    end: int
    message: int
    weight: float


@dataclass(frozen=True, slots=True)
class Encoded:
    """A conversation as tokens.

    Attributes:
        input_ids: the tokens.
        spans: the replies that are learned, in order.
    """

    input_ids: tuple[int, ...]
    spans: tuple[Span, ...]

    @property
    def weights(self) -> list[float]:
        """The loss weight of each token: its reply's within a reply, else 0."""
        weights = [0.0] * len(self.input_ids)
        for span in self.spans:
            weights[span.start : span.end] = [span.weight] * (span.end - span.start)
        return weights

    @property
    def labels(self) -> list[int]:
        """The tokens where they are learned, -100 where they are not."""
        pairs = zip(self.input_ids, self.weights, strict=True)
        return [token if weight else -100 for token, weight in pairs]

    @property
    def learned(self) -> int:
        """Number of tokens that are learned."""
        return sum(span.end - span.start for span in self.spans)

    def until(self, span: Span) -> Encoded:
        """Return the part up to the end of a reply."""
        kept = tuple(s for s in self.spans if s.end <= span.end)
        return Encoded(self.input_ids[: span.end], kept)


@dataclass(frozen=True, slots=True)
class _Written:
    """A conversation as text.

    Attributes:
        whole: all of it.
        prompts: the text up to where each reply begins, as its policy was given it.
        alone: returns the text of the conversation that ends with a reply.
        grown: whether all of it comes from one run of the template.
    """

    whole: str
    prompts: Mapping[int, str]
    alone: Callable[[int], str]
    grown: bool


@dataclass(frozen=True)
class ChatTemplate:
    """A tokenizer's way to write conversations.

    Attributes:
        tokenizer: a tokenizer with a chat template.
        ends: the tokens that end a reply; default the tokenizer's end token.
        options: further variables for the template.
        tools: tool schemas offered in the conversations, as the rollout offered them.
    """

    tokenizer: Any
    ends: frozenset[int] = frozenset()
    options: Mapping[str, Any] | None = None
    tools: Sequence[Mapping[str, Any]] = ()

    @property
    def tagged(self) -> bool:
        """Whether the template marks what the model writes."""
        template = self.tokenizer.chat_template
        return "{% generation" in template or "{%- generation" in template

    def encode(self, messages: Messages, weights: Sequence[float] | None = None) -> Encoded:
        """Return a conversation as tokens, with the place of every reply.

        Args:
            messages: chat messages of roles "user", "assistant", "tool" or "system".
            weights: a loss weight a message; default 1 for every assistant message.

        Raises:
            RewritesHistory: if the template writes a turn's prompt differently later on.
            InvalidConfig: if the template refuses the conversation or gives replies no end.
        """
        if weights is None:
            weights = [float(message["role"] == "assistant") for message in messages]
        replies = [i for i, message in enumerate(messages) if message["role"] == "assistant"]
        for i, (message, weight) in enumerate(zip(messages, weights, strict=True)):
            if weight and message["role"] != "assistant":
                raise InvalidConfig(
                    f"message {i} is of role {message['role']!r} and flagged to be learned; only "
                    "the assistant's replies can be"
                )
        written = self._written(messages, [i for i in replies if weights[i]])
        whole, prompts = written.whole, written.prompts
        for i, prompt in prompts.items():
            if not whole.startswith(prompt):
                raise RewritesHistory(rewritten(i, prompt, whole))
        cut = Tokenized(self.tokenizer, whole, self._anchors)
        ids, heads = cut.ids, self._heads(cut, list(prompts.values()))
        # Where a token spans the border of a prompt and its reply, which sampling never gives, the
        # parts are written one by one, as the policy reads and writes them.
        merged = any(ids[at : at + len(head)] != head for at, head in heads)
        if merged:
            ids, starts = self._piecewise(prompts, whole)
        else:
            starts = {i: at + len(head) for i, (at, head) in zip(prompts, heads, strict=True)}
        marked = self._marked(messages, replies) if self.tagged and not merged else None
        spans = []
        after = self._after(written, starts, None if merged else cut)
        for (i, start), reply in zip(starts.items(), after, strict=True):
            end = start + self._end(reply)
            if reply[: end - start] != ids[start:end]:
                raise RewritesHistory(rewritten(i, written.alone(i), whole))
            if marked is not None:
                start, end = max(start, marked[i][0]), marked[i][1]
            spans.append(Span(start, end, i, float(weights[i])))
        return Encoded(tuple(ids), tuple(spans))

    def encode_turns(self, messages: Messages, weights: Sequence[float]) -> Iterator[Encoded]:
        """Yield a sequence a learned reply, each with its prompt just as the policy was given it.

        What a template that rewrites history needs; an episode costs as many sequences as turns.
        """
        for i, weight in enumerate(weights):
            if weight:
                yield self.encode(messages[: i + 1], [0.0] * i + [weight])

    def prompt(self, messages: Messages) -> str:
        """Return the text the policy is given, up to where its reply begins."""
        return self._render(messages, add_generation_prompt=True)

    def text(self, messages: Messages) -> str:
        """Return a conversation as text."""
        return self._render(messages)

    def prompt_ids(self, messages: Messages) -> list[int]:
        """Return the tokens the policy is given, as `HFAgent.encode` does."""
        return self._tokens(self.prompt(messages))

    def _written(self, messages: Messages, learned: Sequence[int]) -> _Written:
        """Write a conversation, up to each reply that is learned and up to the end of each."""
        if len(learned) > 1:
            with contextlib.suppress(CannotGrow):
                return self._grown(messages, learned)
        prompts = {i: self.prompt(messages[:i]) for i in learned}
        return _Written(
            self._render(messages), prompts, lambda i: self._render(messages[: i + 1]), False
        )

    def _grown(self, messages: Messages, learned: Sequence[int]) -> _Written:
        """Return the same from one run of the template, where that gives the same.

        Raises:
            CannotGrow: where it need not.
        """
        growing = Growing(self.tokenizer, tools=self.tools, options=self.options)
        for message in messages:
            growing.add(as_shown(message))
        text, ends = growing.text, growing.ends
        try:
            whole, first = self._render(messages), self.prompt(messages[:1])
        except InvalidConfig as error:
            raise CannotGrow(str(error)) from error
        if not (learned[0] and whole.startswith(text) and first.startswith(text[: ends[0]])):
            raise CannotGrow("a template writes otherwise when it is watched")
        header, closing = first[ends[0] :], whole[len(text) :]
        prompts = {i: text[: ends[i - 1]] + header for i in learned}
        return _Written(whole, prompts, lambda i: text[: ends[i]] + closing, True)

    def _heads(self, cut: Tokenized, prompts: Sequence[str]) -> list[tuple[int, list[int]]]:
        """Return each prompt's tokens: how many it has from the whole text, and the rest.

        Args:
            cut: the whole text, which begins with every prompt.
            prompts: the prompts.
        """
        places = [cut.anchor(len(prompt)) for prompt in prompts]
        rest = [prompt[start:] for prompt, (_, start) in zip(prompts, places, strict=True)]
        tokens = tokens_of(self.tokenizer, rest)
        return [(at, head) for (at, _), head in zip(places, tokens, strict=True)]

    def _after(
        self, written: _Written, starts: Mapping[int, int], cut: Tokenized | None
    ) -> Iterator[list[int]]:
        """Yield the tokens from each reply's first on, as the conversation up to it has them.

        Args:
            written: the conversation.
            starts: each reply's first token.
            cut: the whole text; None where replies are tokenised by themselves.
        """
        # Texts that are there are cut at once; others are written one by one, so that of two that
        # fail the first is heard.
        together = len(starts) if written.grown else 1
        replies = list(starts)
        for group in (replies[n : n + together] for n in range(0, len(replies), together or 1)):
            texts, skipped = [], []
            for i in group:
                alone, prompt = written.alone(i), written.prompts[i]
                if cut is None:
                    begin, skip = len(prompt), 0
                else:
                    at, begin = cut.anchor(len(prompt)) if alone.startswith(prompt) else (0, 0)
                    skip = starts[i] - at
                texts.append(alone[begin:])
                skipped.append(skip)
            tokens = tokens_of(self.tokenizer, texts)
            yield from (ids[skip:] for ids, skip in zip(tokens, skipped, strict=True))

    def _piecewise(
        self, prompts: Mapping[int, str], whole: str
    ) -> tuple[list[int], dict[int, int]]:
        """Tokenise between the beginnings of replies, so that no token spans one."""
        ids: list[int] = []
        starts: dict[int, int] = {}
        done = 0
        for i, prompt in prompts.items():
            ids = ids + self._tokens(whole[done : len(prompt)])
            starts[i], done = len(ids), len(prompt)
        return ids + self._tokens(whole[done:]), starts

    def _marked(
        self, messages: Messages, replies: Sequence[int]
    ) -> dict[int, tuple[int, int]] | None:
        """Return where the template's tags say each reply lies; None where a mark is missing."""
        marked = self.tokenizer.apply_chat_template(
            [as_shown(message) for message in messages],
            tokenize=True,
            return_dict=True,
            return_assistant_tokens_mask=True,
            **self._arguments,
        )
        ids, mask = marked["input_ids"], [0, *marked["assistant_masks"], 0]
        edges = [i for i in range(len(ids) + 1) if mask[i] != mask[i + 1]]
        runs = list(zip(edges[::2], edges[1::2], strict=True))
        if len(runs) != len(replies):
            return None
        found = {}
        stops = self._stops | self._special
        for i, (start, end) in zip(replies, runs, strict=True):
            # The token that ends the turn is the policy's to write, wherever the tag stands.
            inside = ids[end - 1] in stops
            found[i] = start, end + (not inside and end < len(ids) and ids[end] in stops)
        return found

    def _end(self, reply: Sequence[int]) -> int:
        """Return how many tokens a reply has, with the one that ends it.

        Args:
            reply: the tokens from the reply's first on, and what the template writes after it.
        """
        for count, token in enumerate(reply, 1):
            if token in self._stops:
                return count
        for count in range(len(reply), 0, -1):
            if reply[count - 1] in self._special:
                return count
        raise InvalidConfig(
            "the chat template ends a reply with no special token, so a model could not learn to "
            f"stop: {self.tokenizer.decode(list(reply))[-80:]!r}. Give a template that does with "
            "model.chat_template=FILE."
        )

    @cached_property
    def _stops(self) -> frozenset[int]:
        return self.ends | {i for i in [self.tokenizer.eos_token_id] if i is not None}

    @cached_property
    def _anchors(self) -> dict[int, str]:
        return anchors(self.tokenizer)

    @cached_property
    def _special(self) -> frozenset[int]:
        added = self.tokenizer.added_tokens_decoder.items()
        return frozenset(i for i, token in added if token.special)

    @property
    def _arguments(self) -> dict[str, Any]:
        return {"tools": [dict(tool) for tool in self.tools] or None, **(self.options or {})}

    def _render(self, messages: Messages, add_generation_prompt: bool = False) -> str:
        from jinja2.exceptions import TemplateError

        try:
            text = self.tokenizer.apply_chat_template(
                [as_shown(message) for message in messages],
                tokenize=False,
                add_generation_prompt=add_generation_prompt,
                **self._arguments,
            )
        except TemplateError as error:
            raise InvalidConfig(f"the chat template refuses the conversation: {error}") from error
        return str(text)

    def _tokens(self, text: str) -> list[int]:
        # The template has written every special token there is to be.
        return [int(i) for i in self.tokenizer(text, add_special_tokens=False)["input_ids"]]


def texts_of(conversations: Iterable[Messages]) -> list[str]:
    """Return every text of some conversations once, in order of first appearance."""
    texts = (str(m.get("content") or "") for messages in conversations for m in messages)
    return list(dict.fromkeys(texts))


def _alike(a: str, b: str) -> int:
    """Return how many characters two texts begin with in common."""
    return next(
        (i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b))
    )


def rewritten(message: int, part: str, whole: str) -> str:
    """Return where a whole conversation is no longer as it was up to a message."""
    at = _alike(part, whole)
    return (
        f"the chat template rewrites history: up to message {message} a conversation has "
        f"{part[at : at + 60]!r} where the whole one has {whole[at : at + 60]!r}. "
        "One sequence cannot stand for every turn then."
    )
