"""A message as chat templates are shown it: the arguments of a call parsed, where they parse.

What a model wrote as arguments may be nested without end; transformers goes through it level by
level on Python's stack, so what is nested deeper than any real call stays text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentgym.core.text import parse_json

DEEPEST = 64
"""Levels of lists and objects in a call's arguments."""


def as_shown(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message as chat templates take it.

    Args:
        message: a message of the chat-completions protocol.
    """
    data = dict(message)
    if data.get("tool_calls"):
        data["tool_calls"] = [_parsed(call) for call in data["tool_calls"]]
    return data


def _parsed(call: Mapping[str, Any]) -> dict[str, Any]:
    function = dict(call["function"])
    try:
        arguments = parse_json(function["arguments"])
    except (ValueError, TypeError):
        return dict(call)
    if _is_deep(arguments):
        return dict(call)
    return {**call, "function": {**function, "arguments": arguments}}


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEEPEST + 1):
        lists = [one.values() if isinstance(one, dict) else one for one in level
                 if isinstance(one, dict | list)]  # fmt: skip
        level = [item for one in lists for item in one]
        if not level:
            return False
    return True
