"""Which tokens are learned, token by token, for templates of several families."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("transformers")

from agentgym.agents.hf_template import CannotGrow
from agentgym.agents.message import ToolCall
from agentgym.baselines.chat import ChatTemplate, RewritesHistory, texts_of
from agentgym.core.errors import InvalidConfig
from tests.baselines import templates
from tests.baselines.templates import FAMILIES, tokenizer_of


class InFull(ChatTemplate):
    """Writes and cuts a conversation anew for every reply, which is right whatever the template."""

    _anchors: dict[int, str] = {}  # noqa: RUF012

    def _grown(self, *_: Any) -> Any:
        raise CannotGrow("it is not asked to")


@lru_cache
def template_of(family: str) -> ChatTemplate:
    chosen = FAMILIES[family]
    tokenizer = tokenizer_of(chosen.template, chosen.eos)
    ends = frozenset(tokenizer.convert_tokens_to_ids(list(chosen.ends)))
    return ChatTemplate(tokenizer, ends)


def conversation(replies: list[str], observations: list[str] | None = None) -> list[dict[str, Any]]:
    observations = observations or [f"You see door {i}." for i in range(len(replies))]
    messages = [
        {"role": "user", "content": "You are in a maze."},
        {"role": "assistant", "content": "OK. I'll follow your instructions."},
    ]
    for observation, reply in zip(observations, replies, strict=True):
        messages.append({"role": "user", "content": observation})
        messages.append({"role": "assistant", "content": reply})
    return messages


def flags(messages: list[dict[str, Any]], learned: list[bool]) -> list[float]:
    """Weigh the replies after the acknowledgement as told, everything else with 0."""
    rest = iter([False, *learned])
    return [float(next(rest)) if m["role"] == "assistant" else 0.0 for m in messages]


plain = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc"), exclude_characters="<|>[]"),
    min_size=1,
    max_size=20,
).map(lambda text: text.strip() or "x")
texts = st.one_of(plain, st.tuples(plain, plain).map("\n".join), plain.map("\n\n{}".format))


@pytest.mark.parametrize("family", sorted(FAMILIES))
@settings(max_examples=25)
@given(data=st.data())
def test_the_flagged_replies_are_learned_and_nothing_else(family: str, data: st.DataObject) -> None:
    replies = data.draw(st.lists(texts, min_size=1, max_size=4))
    learned = data.draw(st.lists(st.booleans(), min_size=len(replies), max_size=len(replies)))
    messages = conversation(replies, data.draw(st.lists(texts, min_size=len(replies),
                                                         max_size=len(replies))))  # fmt: skip
    template = template_of(family)
    encoded = template.encode(messages, flags(messages, learned))

    tokenizer = template.tokenizer
    wanted = [FAMILIES[family].learned(r) for r, on in zip(replies, learned, strict=True) if on]
    got = [tokenizer.decode(list(encoded.input_ids[s.start : s.end])) for s in encoded.spans]
    assert got == wanted
    # All the tokens together are the conversation, and no other token has a label or a weight.
    assert tokenizer.decode(list(encoded.input_ids)) == template._render(messages)
    inside = {i for span in encoded.spans for i in range(span.start, span.end)}
    for i, (token, label, weight) in enumerate(
        zip(encoded.input_ids, encoded.labels, encoded.weights, strict=True)
    ):
        assert (label, weight) == ((token, 1.0) if i in inside else (-100, 0.0))


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_what_stands_before_a_reply_is_the_prompt_the_policy_is_given(family: str) -> None:
    messages = conversation(["Thought: north.\nAction: move north", "south it is", "end"])
    template = template_of(family)
    encoded = template.encode(messages, flags(messages, [True] * 3))
    assert len(encoded.spans) == 3
    for span in encoded.spans:
        before = list(encoded.input_ids[: span.start])
        assert template.tokenizer.decode(before) == template.prompt(messages[: span.message])
        if family != "llama-3":  # this tokenizer reads "\n\n" differently before a word
            assert before == template.prompt_ids(messages[: span.message])


OTHERS = {
    "rewriting": templates.REWRITING,
    "no end": templates.NO_END,
    "asks whether a reply follows": (
        "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>"
        "{% if loop.last and add_generation_prompt %}<|im_start|>assistant\n{% endif %}{% endfor %}"
    ),
    "closes the last turn only": (
        "{% for m in messages %}<|{{ m['role'] }}|>\n{{ m['content'] }}"
        "{% if m['role'] == 'assistant' %}<|end|>{% elif not loop.last %}\n{% endif %}{% endfor %}"
        "{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
    ),
    "refuses some": templates.CHATML.replace(
        "{{ m['content'] }}",
        "{% if 'x' in m['content'] %}{{ raise_exception('no x: ' ~ loop.index) }}{% endif %}"
        "{{ m['content'] }}",
    ),
    "no token parts it": (
        "{% for m in messages %}[{{ m['role'] }}]{{ m['content'] }}{% endfor %}</s>"
    ),
}
odd = st.lists(
    st.sampled_from([" ", "\n", "\n\n", "a", "x", "north", "<|im_end|>", "<|end|>", "<|", "|>",
                     "</s>", "<|im_start|>assistant\n", "</think>", "é"]), max_size=6,
).map("".join)  # fmt: skip


@pytest.mark.parametrize("name", [*sorted(FAMILIES), *sorted(OTHERS)])
@settings(max_examples=40)
@given(data=st.data())
def test_one_run_of_a_template_gives_what_a_run_for_every_reply_gives(
    name: str, data: st.DataObject
) -> None:
    family = FAMILIES.get(name)
    chosen = tokenizer_of(
        OTHERS[name] if family is None else family.template, family.eos if family else "<|im_end|>"
    )
    ends = frozenset(chosen.convert_tokens_to_ids(list(family.ends if family else ["<|end|>"])))
    roles = data.draw(
        st.lists(st.sampled_from(["user", "assistant", "tool"]), min_size=1, max_size=7)
    )
    messages = [{"role": r, "content": data.draw(st.one_of(texts, odd))} for r in roles]
    weights = [float(r == "assistant" and data.draw(st.booleans())) for r in roles]

    def outcome(template: ChatTemplate) -> Any:
        try:
            return template.encode(messages, weights)
        except (RewritesHistory, InvalidConfig, ValueError, KeyError, IndexError) as error:
            return type(error), str(error)

    assert outcome(ChatTemplate(chosen, ends)) == outcome(InFull(chosen, ends))


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_what_it_takes_to_write_an_episode_grows_with_the_episode(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    template = template_of(family)
    render, spent = type(template.tokenizer).apply_chat_template, []

    def counted(self: Any, messages: Any, **options: Any) -> Any:
        spent.append(len(messages))
        return render(self, messages, **options)

    monkeypatch.setattr("transformers.PreTrainedTokenizerBase.apply_chat_template", counted)
    short, long = (conversation(["go"] * n) for n in (10, 20))
    template.encode(short)
    of_short = sum(spent)
    spent.clear()
    template.encode(long)
    assert sum(spent) < 2.1 * of_short < 3 * 2.1 * len(short)


def test_tags_and_prefixes_agree_on_one_template() -> None:
    messages = conversation(["go\n", "  back", "\n\n\nthen on"])
    weights = flags(messages, [True, False, True])
    assert template_of("tagged").encode(messages, weights) == template_of("chatml").encode(
        messages, weights
    )


def test_a_reply_that_begins_with_what_its_header_ends_with_is_still_learned_alone() -> None:
    # "\n" + "\n\nno" would merge into one token if the text were written at once.
    template = template_of("chatml")
    messages = conversation(["\n\nno", "yes"])
    encoded = template.encode(messages, flags(messages, [True, True]))
    first, second = encoded.spans
    decode = template.tokenizer.decode
    assert decode(list(encoded.input_ids[first.start : first.end])) == "\n\nno<|im_end|>"
    assert decode(list(encoded.input_ids[second.start : second.end])) == "yes<|im_end|>"


def test_a_template_that_rewrites_history_is_refused_and_each_turn_still_can_be_learned() -> None:
    template = ChatTemplate(tokenizer_of(templates.REWRITING, "<|im_end|>"))
    messages = conversation(["<think>why</think>go", "<think>so</think>on"])
    weights = flags(messages, [True, True])
    with pytest.raises(RewritesHistory, match="per_turn=true"):
        template.encode(messages, weights)
    turns = list(template.encode_turns(messages, weights))
    decoded = [template.tokenizer.decode([i for i in t.labels if i != -100]) for t in turns]
    assert decoded == ["<think>why</think>go<|im_end|>", "<think>so</think>on<|im_end|>"]
    assert "why" not in template.tokenizer.decode(list(turns[1].input_ids))


def test_a_template_whose_replies_have_no_end_is_refused() -> None:
    template = ChatTemplate(tokenizer_of(templates.NO_END, "<|im_end|>"))
    messages = conversation(["go"])
    with pytest.raises(InvalidConfig, match="could not learn to stop"):
        template.encode(messages, flags(messages, [True]))


def test_only_replies_can_be_learned() -> None:
    messages = conversation(["go"])
    with pytest.raises(InvalidConfig, match="message 0"):
        template_of("chatml").encode(messages, [1.0, 0.0, 0.0, 1.0])


def test_a_template_that_refuses_a_conversation_says_why() -> None:
    template = ChatTemplate(
        tokenizer_of("{{ raise_exception('roles must alternate') }}", "<|im_end|>")
    )
    with pytest.raises(InvalidConfig, match="roles must alternate"):
        template.encode(conversation(["go"]))


def test_weights_of_replies_are_carried_to_their_tokens() -> None:
    messages = conversation(["one", "two"])
    encoded = template_of("llama-3").encode(messages, [0, 0, 0, 0.25, 0, 2.0])
    assert [span.weight for span in encoded.spans] == [0.25, 2.0]
    assert sorted(set(encoded.weights)) == [0.0, 0.25, 2.0]
    assert encoded.learned == sum(label != -100 for label in encoded.labels)


def test_tool_calls_reach_the_template_with_parsed_arguments() -> None:
    template = ChatTemplate(
        tokenizer_of(
            "{% for t in tools %}{{ t.function.name }};{% endfor %}{% for m in messages %}"
            "<|im_start|>{{ m['role'] }}\n{{ m['content'] }}{% for c in m.get('tool_calls', []) %}"
            "{{ c.function.name }}({{ c.function.arguments['to'] }}){% endfor %}<|im_end|>\n"
            "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}",
            "<|im_end|>",
        ),
        tools=({"type": "function", "function": {"name": "go"}},),
    )
    from agentgym.agents.message import Message

    call = Message("assistant", "I go. ", (ToolCall("go", '{"to": "north"}', "1"),)).to_openai()
    encoded = template.encode([{"role": "user", "content": "Where?"}, call])
    learned = [label for label in encoded.labels if label != -100]
    assert template.tokenizer.decode(learned) == "I go. go(north)<|im_end|>"
    assert template.tokenizer.decode(list(encoded.input_ids)).startswith("go;")


def test_the_part_up_to_a_reply_is_what_encoding_the_shorter_conversation_gives() -> None:
    template = template_of("phi-3")
    messages = conversation(["one", "two", "three"])
    encoded = template.encode(messages, flags(messages, [True] * 3))
    cut = encoded.until(encoded.spans[1])
    assert cut.spans == encoded.spans[:2]
    assert template.tokenizer.decode(list(cut.input_ids)).endswith("two<|end|>")


def test_texts_are_gathered_once_in_order() -> None:
    assert texts_of([conversation(["go", "go"]), conversation(["on"])])[:4] == [
        "You are in a maze.", "OK. I'll follow your instructions.", "You see door 0.", "go",
    ]  # fmt: skip
