"""Chat templates of several families, each with the text a reply must be learned as.

The tokenizer is a small byte-level BPE that knows the families' special tokens; nothing is
downloaded.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SMOLLM2 = (
    "{% for m in messages %}{% if loop.first and m['role'] != 'system' %}"
    "<|im_start|>system\nYou are a helpful AI assistant named SmolLM<|im_end|>\n{% endif %}"
    "<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
TAGGED = (
    "{% for m in messages %}{% if m['role'] == 'assistant' %}<|im_start|>assistant\n"
    "{% generation %}{{ m['content'] }}<|im_end|>{% endgeneration %}{{ '\\n' }}"
    "{% else %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
TAGGED_WITHOUT_END = TAGGED.replace(
    "<|im_end|>{% endgeneration %}", "{% endgeneration %}<|im_end|>"
)
LLAMA2 = (
    "{% for m in messages %}{% if m['role'] == 'user' %}<s>[INST] {{ m['content'].strip() }} "
    "[/INST]{% else %} {{ m['content'].strip() }} </s>{% endif %}{% endfor %}"
)
LLAMA3 = (
    "{{ '<|begin_of_text|>' }}{% for m in messages %}<|start_header_id|>{{ m['role'] }}"
    "<|end_header_id|>\n\n{{ m['content'] | trim }}<|eot_id|>{% endfor %}"
    "{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}"
)
PHI3 = (
    "{% for m in messages %}<|{{ m['role'] }}|>\n{{ m['content'] }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% else %}<|endoftext|>{% endif %}"
)
REWRITING = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n"
    "{{ m['content'] if loop.last else m['content'].split('</think>')[-1] }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
QWEN3 = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{% if loop.last and "
    "m['role'] == 'assistant' and '<think>' not in m['content'] %}<think>\n\n</think>\n\n"
    "{% endif %}{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
NO_END = "{% for m in messages %}### {{ m['role'] }}: {{ m['content'] }}\n{% endfor %}" + (
    "{% if add_generation_prompt %}### assistant: {% endif %}"
)


class Family(NamedTuple):
    """A template, its tokens, and what of a reply's content is learned."""

    template: str
    eos: str
    ends: tuple[str, ...]
    learned: Callable[[str], str]


def _chatml(content: str) -> str:
    return f"{content}<|im_end|>"


FAMILIES = {
    "chatml": Family(CHATML, "<|im_end|>", (), _chatml),
    "smollm2": Family(SMOLLM2, "<|im_end|>", (), _chatml),
    "tagged": Family(TAGGED, "<|im_end|>", (), _chatml),
    "tagged-without-end": Family(TAGGED_WITHOUT_END, "<|im_end|>", (), _chatml),
    "llama-2": Family(LLAMA2, "</s>", (), lambda content: f" {content.strip()} </s>"),
    "llama-3": Family(
        LLAMA3, "<|end_of_text|>", ("<|eot_id|>",), lambda content: f"{content.strip()}<|eot_id|>"
    ),
    "phi-3": Family(PHI3, "<|endoftext|>", ("<|end|>",), lambda content: f"{content}<|end|>"),
}
SPECIAL = (
    "<|pad|>", "<|im_start|>", "<|im_end|>", "<s>", "</s>", "<|begin_of_text|>", "<|end_of_text|>",
    "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|user|>", "<|assistant|>",
    "<|end|>", "<|endoftext|>",
)  # fmt: skip
CORPUS = [
    "user assistant system [INST] [/INST]\n\n", "Thought: I go north.\nAction: move north\n\n",
    "You are at the door; move north or south.", " \n\n \n\n", "The goal is at position 5, 3.",
]  # fmt: skip


@lru_cache
def _raw() -> str:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=420,
        special_tokens=list(SPECIAL),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    raw.train_from_iterator(CORPUS * 4, trainer)
    return str(raw.to_str())


def tokenizer_of(template: str, eos: str) -> Any:
    """Return a tokenizer with this template."""
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(_raw()),
        pad_token="<|pad|>",
        eos_token=eos,
        additional_special_tokens=[t for t in SPECIAL if t not in ("<|pad|>", eos)],
    )
    tokenizer.chat_template = template
    return tokenizer
