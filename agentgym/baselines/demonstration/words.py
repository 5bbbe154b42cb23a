"""A tokenizer of whole words, made from the texts a model will read while it learns.

A model of half a million weights has no use for pieces of words. Here every word is one token, with
the space before it, so that tokens put together again give the text back; what is not in the texts
is one token too, `UNKNOWN`. The texts are those of training tasks alone. Where an environment names
its things in several words ("red ball"), such a name is one token (`PHRASES`): a model this small
would spend its demonstrations on learning to read names.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

PAD, UNKNOWN, ACT, END, OTHER = "<|pad|>", "<|unknown|>", "<|act|>", "<|end|>", "<|other|>"
SPECIAL = (PAD, UNKNOWN, ACT, END, OTHER)
"""Tokens no text holds: ACT opens a reply and END closes it; OTHER stands for an observation the
template has no fields for, such as a refusal."""

PATTERN = r"\n| ?[^\s<]+| |<"


PHRASES = {
    "babyai": r" (?:red|green|blue|purple|yellow|grey)"
    r" (?:ball|box|key|(?:(?:open|closed|locked) )?door)",
}
"""What is one token in an environment's texts though it is several words: a regular expression."""


def word_tokenizer(texts: Iterable[str], template: str, phrases: str = "") -> Any:
    """Return a tokenizer of the words of some texts, sorted, with a chat template.

    Args:
        texts: what there is to read.
        template: the chat template.
        phrases: a regular expression of several words that are one token; see `PHRASES`.

    >>> tokenizer = word_tokenizer(["move up", "wall up"], "")
    >>> tokenizer.convert_ids_to_tokens(tokenizer("move up<|end|>")["input_ids"])
    ['move', ' up', '<|end|>']
    """
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    pattern = f"{phrases}|{PATTERN}" if phrases else PATTERN
    split = pre_tokenizers.Split(Regex(pattern), "isolated")
    words = sorted({word for text in texts for word, _ in split.pre_tokenize_str(text)})
    vocabulary = {word: i for i, word in enumerate((*SPECIAL, *words))}
    raw = Tokenizer(models.WordLevel(vocabulary, unk_token=UNKNOWN))
    raw.pre_tokenizer = split
    raw.decoder = decoders.Fuse()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw,
        pad_token=PAD,
        unk_token=UNKNOWN,
        eos_token=END,
        additional_special_tokens=[ACT, OTHER],
        clean_up_tokenization_spaces=False,
    )
    tokenizer.chat_template = template
    return tokenizer
