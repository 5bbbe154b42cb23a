"""A text that begins as a known one has the known tokens up to the last place that parts both."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("transformers")

from agentgym.agents.hf_tokens import Tokenized, anchors, tokens_of

PIECES = [" ", "\n", "\n\n", "a", "ab", "north", "<|end|>", "<|act|>", "<|wide|>", "<|", "x<|", "é",
          "<|end|>more", "e\u0301", "|>"]  # fmt: skip
text = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)


@lru_cache
def tokenizer_of(kind: str) -> Any:
    from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    raw = Tokenizer(models.BPE())
    if kind == "bytes":
        raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    else:
        raw.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Prepend("_")])
        raw.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    trainer = trainers.BpeTrainer(vocab_size=330, show_progress=False)
    raw.train_from_iterator(["north a ab north\n\n", *PIECES] * 3, trainer)
    raw.add_special_tokens(
        [
            AddedToken("<|end|>", normalized=False, special=True),
            AddedToken("<|act|>", normalized=False, special=True),
            AddedToken("<|wide|>", normalized=False, special=True, rstrip=True, lstrip=True),
            AddedToken("x<|", normalized=False, special=True),
        ]
    )
    raw.add_tokens(["<|end|>more"])
    return PreTrainedTokenizerFast(tokenizer_object=raw)


def test_a_token_that_minds_what_is_around_it_is_no_place_to_begin() -> None:
    # <|end|> could be the beginning of <|end|>more, and <|wide|> takes the spaces around it.
    assert sorted(anchors(tokenizer_of("bytes")).values()) == ["<|act|>", "x<|"]


def test_a_tokenizer_that_does_more_than_cut_is_asked_itself() -> None:
    kind = type(tokenizer_of("bytes"))

    class Filling(kind):  # type: ignore[misc, valid-type]
        def _encode_plus(self, text: Any, **options: Any) -> Any:
            return super()._encode_plus([one.replace("north", "a") for one in text], **options)

    tokenizer = Filling(tokenizer_object=tokenizer_of("bytes").backend_tokenizer)
    assert anchors(tokenizer) == {}
    known = Tokenized(tokenizer, "a<|act|>north", anchors(tokenizer))
    known.go_on("a<|act|>north north", 8)
    assert known.ids == tokens_of(tokenizer, ["a<|act|>a a"])[0]


@pytest.mark.parametrize("kind", ["bytes", "spaces"])
@settings(max_examples=300)
@given(known=text, other=text, cut=st.integers(0, 60))
def test_the_rest_gives_what_the_whole_gives(kind: str, known: str, other: str, cut: int) -> None:
    tokenizer = tokenizer_of(kind)
    whole = Tokenized(tokenizer, known, anchors(tokenizer))
    shared = known[:cut]
    at, start = whole.anchor(len(shared))
    new = shared + other
    rest, full, of_known = tokens_of(tokenizer, [new[start:], new, known])
    assert whole.ids == of_known
    assert whole.ids[:at] + rest == full
    whole.go_on(new, len(shared))
    assert whole.ids == full
    # What it now is, is known again.
    whole.go_on(shared + known, len(shared))
    assert whole.ids == tokens_of(tokenizer, [shared + known])[0]


def test_no_text_has_no_tokens() -> None:
    assert tokens_of(tokenizer_of("bytes"), []) == []
