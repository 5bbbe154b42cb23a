"""The tokens of a text, and those of texts that begin as it does, for the cost of the rest.

A tokenizer first cuts a text at its special tokens and then treats each part by itself, so what
stands before a special token has the same tokens whatever follows. A text that shares its beginning
with one that is known therefore needs only to be cut from the last such token on that the two have
in common. Tokens that reach over what surrounds them, or that could be part of another token, are
no place to begin; where there is none, or where a tokenizer does more than its library's part, the
whole text is cut.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any


def anchors(tokenizer: Any) -> dict[int, str]:
    """Return the special tokens that part a text into pieces without regard to one another."""
    if not _is_usual(tokenizer) or tokenizer.split_special_tokens:
        return {}
    added = dict(tokenizer.added_tokens_decoder)
    texts = [token.content for token in added.values()]
    return {
        i: token.content
        for i, token in added.items()
        if token.special
        and not (token.normalized or token.lstrip or token.rstrip or token.single_word)
        and sum(token.content in text for text in texts) == 1
    }


def _is_usual(tokenizer: Any) -> bool:
    """Return whether a text is cut by the tokenizers library alone."""
    from transformers import PreTrainedTokenizerFast as Usual

    kind = type(tokenizer)
    return isinstance(tokenizer, Usual) and all(
        getattr(kind, name, None) is getattr(Usual, name, None) for name in ("__call__", WORK)
    )


WORK = "_encode_plus"
"""The method of a tokenizer that its call leaves the work to."""


class Tokenized:
    """A text and its tokens.

    Args:
        tokenizer: a tokenizer of transformers.
        text: the text; special tokens written in it are taken as such.
        places: its `anchors`.

    Attributes:
        ids: the tokens of the text.
    """

    def __init__(self, tokenizer: Any, text: str, places: Mapping[int, str]) -> None:
        self._tokenizer, self._places = tokenizer, places
        self.ids: list[int] = []
        self._at: list[int] = []  # token indices of the anchors,
        self._starts: list[int] = []  # and where their text begins
        self._ends: list[int] = []  # and ends
        self._append(text)

    def go_on(self, text: str, shared: int) -> None:
        """Take another text in place of this one.

        Args:
            text: the text.
            shared: how many characters it begins with that the text so far begins with.
        """
        last = bisect_right(self._ends, shared) - 1
        at, start = self.anchor(shared)
        kept = max(last, 0)
        del self.ids[at:], self._at[kept:], self._starts[kept:], self._ends[kept:]
        self._append(text[start:], at, start)

    def _append(self, text: str, at: int = 0, begin: int = 0) -> None:
        """Cut what stands after so many tokens, of so many characters."""
        if not self._places:
            self.ids += tokens_of(self._tokenizer, [text])[0]
            return
        encoded = _cut(self._tokenizer, text)
        self.ids += encoded.ids
        for n, token in enumerate(encoded.ids):
            if token in self._places:
                start, end = encoded.offsets[n]
                if text[start:end] == self._places[token]:
                    self._at.append(at + n)
                    self._starts.append(begin + start)
                    self._ends.append(begin + end)

    def anchor(self, length: int) -> tuple[int, int]:
        """Return the last place to begin from, for texts that share so many characters.

        Returns:
            How many tokens stand before it, and how many characters.
        """
        last = bisect_right(self._ends, length) - 1
        return (self._at[last], self._starts[last]) if last >= 0 else (0, 0)


def _cut(tokenizer: Any, text: str) -> Any:
    """Return what a fast tokenizer makes of a text: `ids`, and the `offsets` of each.

    The tokenizer's own call says the same through layers that cost more than cutting a short text.
    """
    plain = tokenizer.backend_tokenizer
    if plain.truncation or plain.padding or plain.encode_special_tokens:
        tokenizer("", add_special_tokens=False)  # which unsets them
    return plain.encode(text, add_special_tokens=False)


def tokens_of(tokenizer: Any, texts: Sequence[str]) -> list[list[int]]:
    """Return the tokens of each of some texts."""
    if not texts:
        return []
    rows = tokenizer(list(texts), add_special_tokens=False)["input_ids"]
    return [[int(i) for i in row] for row in rows]
