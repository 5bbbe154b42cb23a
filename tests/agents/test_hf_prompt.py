"""Prompts of conversations that go on are, token by token, those written in full."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("transformers")

from agentgym.agents.hf_prompt import Prompts
from tests.baselines import templates
from tests.baselines.templates import FAMILIES, tokenizer_of

TEMPLATES = {
    **{name: family.template for name, family in FAMILIES.items()},
    "rewriting": templates.REWRITING,
    "no end": templates.NO_END,
}
said = st.lists(
    st.sampled_from([" ", "\n", "go", "north", "<|im_end|>", "<|end|>", "</s>", "<|", "</think>"]),
    max_size=5,
).map("".join)


class Counted:
    """Prompts, and how many messages were written in full."""

    def __init__(self, template: str) -> None:
        self.tokenizer, self.written = tokenizer_of(template, "<|im_end|>"), 0
        self.prompts = Prompts(self.tokenizer, None, {}, plain=dict, render=self.render)

    def render(self, messages: Any, tools: Any) -> str:
        self.written += len(messages)
        return str(
            self.tokenizer.apply_chat_template(
                messages, tools=tools or None, tokenize=False, add_generation_prompt=True
            )
        )

    def anew(self, messages: Any) -> list[int]:
        text = self.render(messages, ())
        return [int(i) for i in self.tokenizer(text, add_special_tokens=False)["input_ids"]]


@pytest.mark.parametrize("name", sorted(TEMPLATES))
@settings(max_examples=30)
@given(texts=st.lists(said, min_size=2, max_size=9))
def test_each_turn_has_the_prompt_written_in_full(name: str, texts: list[str]) -> None:
    counted = Counted(TEMPLATES[name])
    talk = [{"role": ("user", "assistant")[n % 2], "content": t} for n, t in enumerate(texts)]
    for n in range(1, len(talk) + 1, 2):
        assert counted.prompts.of("e", talk[:n]) == counted.anew(talk[:n])


def talk(n: int) -> list[dict[str, str]]:
    return [{"role": ("user", "assistant")[i % 2], "content": f"text {i}"} for i in range(n)]


def test_only_what_is_new_is_written() -> None:
    counted = Counted(templates.CHATML)
    for n in range(3, 40, 2):
        counted.prompts.of("e", talk(n))
    assert counted.written == 3


def test_conversations_do_not_mix_and_another_one_begins_anew() -> None:
    counted = Counted(templates.CHATML)
    first, second = talk(3), [{"role": "user", "content": "other"}]
    longer = [*first[:2], {"role": "user", "content": "changed"}, *talk(4)[3:], *second]
    for episode, messages in (
        ("a", first),
        ("b", second),
        ("a", longer),
        ("b", first),
        ("", first),
    ):
        assert counted.prompts.of(episode, messages) == counted.anew(messages)
    counted.prompts.release("a")
    counted.prompts.release("never heard of")
    assert counted.prompts.of("a", first) == counted.anew(first)


def test_other_tools_begin_anew() -> None:
    counted = Counted("{{ tools[0].name }}" + templates.CHATML)
    for name in ("walk", "run"):
        ids = counted.prompts.of("e", talk(3), [{"name": name}])
        assert counted.tokenizer.decode(ids).startswith(name)


def test_a_prompt_handed_out_is_the_callers() -> None:
    counted = Counted(templates.CHATML)
    counted.prompts.of("e", talk(3)).clear()
    assert counted.prompts.of("e", talk(5)) == counted.anew(talk(5))
