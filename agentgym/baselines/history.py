"""Whether a chat template leaves earlier turns as they were, seen before anything is played.

A template may write a reply differently once the conversation goes on (Qwen3's leaves an empty
thought in the last turn alone, others drop past reasoning). What is learned as one sequence cannot
have been sampled so then. A short made-up conversation shows it, as text, with a tokenizer alone.
"""

from __future__ import annotations

from typing import Any

from agentgym.baselines.chat import ChatTemplate, RewritesHistory, rewritten
from agentgym.baselines.config import SCRATCH, ModelConfig

RULES = ("You are in a house.", "OK.", "You are at a door.")
SEEN = "It is open."
PLAIN = "Thought: It opens.\nAction: open door", "Thought: I go on.\nAction: go in"
"""Replies as they are asked for."""
THINKING = tuple(f"<think>\nA door.\n</think>\n\n{reply}" for reply in PLAIN)
"""The same of a model that reasons before."""


def template_of(config: ModelConfig) -> ChatTemplate | None:
    """Return how a model's conversations are written, or None where its files do not say."""
    if config.name == SCRATCH:
        from agentgym.baselines.model import make_tokenizer

        tokenizer: Any = make_tokenizer((), config.scratch.vocab)
    else:
        from transformers import AutoTokenizer

        from agentgym.agents.models import resolve

        try:
            tokenizer = AutoTokenizer.from_pretrained(resolve(config.name, "hf"))
        except (OSError, ValueError):
            return None  # loading the model says what is wrong
    if config.chat_template is not None:
        tokenizer.chat_template = config.chat_template.read_text(encoding="utf-8")
    if not isinstance(tokenizer.chat_template, str):
        return None
    return ChatTemplate(tokenizer, options=config.template_options)


def require_lasting(template: ChatTemplate, replies: tuple[str, ...] = PLAIN) -> None:
    """Require that a template writes these replies the same once the conversation goes on.

    Args:
        template: how conversations are written.
        replies: two of them; of one that reasons, what follows the reasoning is looked for.

    Raises:
        RewritesHistory: if it does not; the message says where.
        InvalidConfig: if it refuses the conversation.
    """
    texts = (*RULES, replies[0], SEEN, replies[1])
    messages = [
        {"role": "assistant" if i % 2 else "user", "content": text} for i, text in enumerate(texts)
    ]
    whole = template.text(messages)
    for i, plain in ((3, PLAIN[0]), (5, PLAIN[1])):
        alone = template.text(messages[: i + 1])
        end = alone.rfind(plain) + len(plain) if plain in alone else 0
        for part in (template.prompt(messages[:i]), alone[:end]):
            if not whole.startswith(part):
                raise RewritesHistory(rewritten(i, part, whole))
