"""A call's arguments are shown parsed, and as they were written where they cannot be."""

from __future__ import annotations

from typing import Any

import pytest

from agentgym.agents.hf_shown import DEEPEST, as_shown


def shown(arguments: Any) -> Any:
    call = {"id": "c", "type": "function", "function": {"name": "go", "arguments": arguments}}
    message = {"role": "assistant", "content": "", "tool_calls": [call]}
    data = as_shown(message)
    assert message["tool_calls"][0]["function"]["arguments"] is arguments  # the caller's own stays
    assert data["tool_calls"][0]["id"] == "c"
    return data["tool_calls"][0]["function"]["arguments"]


def test_arguments_that_parse_are_parsed() -> None:
    assert shown('{"to": ["north", 2]}') == {"to": ["north", 2]}
    assert shown("[" * DEEPEST + "]" * DEEPEST) != "[" * DEEPEST + "]" * DEEPEST


@pytest.mark.parametrize("depth", [DEEPEST + 2, 400, 100_000])
def test_arguments_nested_without_end_stay_text(depth: int) -> None:
    text = "[" * depth + "]" * depth
    assert shown(text) == text


@pytest.mark.parametrize("arguments", ["{", "", {"to": "north"}, None])
def test_what_is_no_json_text_stays_as_it_is(arguments: Any) -> None:
    assert shown(arguments) == arguments


def test_a_message_without_calls_is_shown_as_it_is() -> None:
    message = {"role": "user", "content": "go"}
    assert as_shown(message) == message
