"""Which templates may be written as a conversation grows, and that the text is then the same."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("transformers")

from agentgym.agents.hf_template import CannotGrow, Growing
from tests.baselines.templates import CHATML, FAMILIES, tokenizer_of

TALK: list[dict[str, Any]] = [
    {"role": role, "content": f"{role} {n}"} for n in range(4) for role in ("user", "assistant")
]
LOOP = "{% for m in messages %}{{ m.role }}: {{ m.content }}<|im_end|>{% endfor %}"


def grown(template: str, talk: list[dict[str, Any]] = TALK, **more: Any) -> Growing:
    growing = Growing(tokenizer_of(template, "<|im_end|>"), **more)
    for message in talk:
        growing.add(message)
    return growing


@pytest.mark.parametrize(
    "template",
    [
        *(family.template for family in FAMILIES.values()),
        "{% set talk = messages %}" + LOOP.replace("in messages", "in talk"),
        "{% if messages[0].role == 'user' %}As told:{% endif %}" + LOOP,
        LOOP.replace("{{ m.role }}", "{% if loop.index0 and messages[loop.index0-1].role == 'user'"
                     " %}{{ loop.previtem.role }}{% endif %}"),
        "{% set n = namespace(i=0) %}{% for m in messages %}{% set n.i = n.i + 1 %}{{ n.i }}"
        "{{ m.content }}{% endfor %}{% if add_generation_prompt %}{{ bos_token }}:{% endif %}",
        "{% for t in tools or [] %}{{ t }}{% endfor %}" + LOOP + "{% if thinking %}T{% endif %}",
    ],
)  # fmt: skip
def test_the_text_after_each_message_is_that_of_the_shorter_conversation(template: str) -> None:
    growing = grown(template)
    render = tokenizer_of(template, "<|im_end|>").apply_chat_template
    closings = set()
    for n, end in enumerate(growing.ends, 1):
        text = render(TALK[:n], tokenize=False)
        assert text.startswith(growing.text[:end])
        closings.add(text[end:])
    assert len(closings) == 1  # what stands after the messages is the same after any number


@pytest.mark.parametrize(
    "template",
    [
        LOOP.replace("<|im_end|>", "{% if loop.last %}<|im_end|>{% endif %}"),
        LOOP.replace("<|im_end|>", "{% if messages[-1] == m %}<|im_end|>{% endif %}"),
        LOOP.replace("{{ m.role }}", "{{ loop.revindex }}"),
        LOOP.replace("{{ m.role }}", "{{ loop.nextitem.role }}"),
        LOOP.replace("in messages", "in messages[1:]"),
        LOOP.replace("in messages", "in messages if m.role == 'user'"),
        LOOP.replace("in messages", "in messages | reverse"),
        LOOP.replace("<|im_end|>", "{% if m.role == 'user' %}{% continue %}{% endif %}"),
        LOOP.replace("<|im_end|>", "{% if loop.index == 3 %}{% break %}{% endif %}"),
        LOOP.replace("<|im_end|>", "{% if add_generation_prompt %}!{% endif %}"),
        LOOP + LOOP,
        "{{ messages | length }}" + LOOP,
        "{{ messages }}" + LOOP,
        "{{ messages | tojson }}" + LOOP,
        "{% if messages is sequence %}{% endif %}" + LOOP,
        "{% set last = messages | last %}" + LOOP,
        LOOP + "{{ messages[0].role }}",
        "{% set n = namespace(i=0) %}" + LOOP + "{{ n.i }}",
        "{% macro say(t) %}{{ t }}{{ add_generation_prompt }}{% endmacro %}"
        + LOOP.replace("{{ m.role }}", "{{ say(m.role) }}"),
        "{% if true %}" + LOOP + "{% endif %}",
        "{{ raise_exception('no') }}" + LOOP,
        "no loop at all",
        # A loop over something else goes on, or ends, whatever the messages do.
        LOOP.replace("in messages", "in [messages[0], messages[0], messages[0]]"),
        "{{ messages[0].content }}{% for n in range(9) %}{{ n }}{% endfor %}",
        "{% set messages = [messages[0]] * 9 %}" + LOOP,
        LOOP.replace("in messages", "in messages[0].content"),
    ],
)
def test_a_template_that_may_write_otherwise_for_fewer_messages_is_refused(template: str) -> None:
    with pytest.raises(CannotGrow):
        grown(template)


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": None},
        {"role": "user", "content": "go", "reasoning": "so"},
        {"role": "user", "content": ("a", "b")},
        {"role": "user", "content": "\x00agentgym: a message ends\x00"},
    ],
)
def test_a_message_a_template_is_shown_otherwise_is_refused(message: dict[str, Any]) -> None:
    with pytest.raises(CannotGrow):
        grown(CHATML, [*TALK, message])


@pytest.mark.parametrize(
    "template",
    [
        "{% set n = namespace(i=0) %}" + LOOP.replace("{{ m.role }}", "{% set n.i = 1 %}"),
        "{% set comma = joiner(',') %}" + LOOP.replace("{{ m.role }}", "{{ comma() }}"),
        "{% set turn = cycler('a', 'b') %}" + LOOP.replace("{{ m.role }}", "{{ turn.next() }}"),
        LOOP.replace("{{ m.role }}", "{% if loop.changed(m.role) %}!{% endif %}"),
        LOOP.replace("{{ m.role }}", "{% if loop.previtem %}{{ loop.previtem.role }}{% endif %}"),
        LOOP.replace("{{ m.role }}", "{{ (messages | first).role }}"),
    ],
)
def test_a_template_that_remembers_does_not_write_messages_apart(template: str) -> None:
    assert grown(LOOP.replace("{{ m.role }}", "{{ loop.index0 if not loop.first }}")).apart
    assert not grown(template).apart


def test_a_message_nested_without_end_is_looked_through() -> None:
    deep: list[Any] = []
    for _ in range(50_000):
        deep = [deep]
    assert grown(CHATML, [*TALK, {"role": "user", "content": "go", "deep": deep}]).ends


def test_tools_and_options_reach_the_template() -> None:
    template = "{{ tools[0].name }}{{ mood }}" + LOOP
    growing = grown(template, tools=[{"name": "walk"}], options={"mood": "calm"})
    assert growing.text.startswith("walkcalm")
    with pytest.raises(CannotGrow, match="a way of its own"):
        grown(template, options={"continue_final_message": True})


def test_a_tokenizer_with_its_own_way_to_write_is_left_to_it() -> None:
    tokenizer = tokenizer_of(CHATML, "<|im_end|>")

    class Own(type(tokenizer)):  # type: ignore[misc]
        def apply_chat_template(self, *args: Any, **options: Any) -> Any:
            return super().apply_chat_template(*args, **options)

    tokenizer.__class__ = Own
    with pytest.raises(CannotGrow):
        Growing(tokenizer)
