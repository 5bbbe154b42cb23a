"""A model's reply as chat messages have it, read into what the action formats take."""

from __future__ import annotations

import json
from typing import Any

from agentgym.agents.message import Reply, ToolCall
from agentgym.serve.problem import BadRequest

_CALLS = 64


def read_message(message: Any) -> Reply:
    """Return a reply from an assistant message.

    Args:
        message: {"role", "content", "tool_calls"?} of the chat-completions protocol, or a list of
            messages that ends with one.

    Raises:
        BadRequest: if it is neither.
    """
    if isinstance(message, list) and message:
        message = message[-1]
    if not isinstance(message, dict):
        raise BadRequest('messages must be the model\'s message, {"role": …, "content": …}')
    content, calls = message.get("content"), message.get("tool_calls") or []
    if not isinstance(calls, list) or len(calls) > _CALLS:
        raise BadRequest(f"'tool_calls' must be a list of at most {_CALLS} calls")
    if content is None and not calls:
        raise BadRequest("the message has neither 'content' nor 'tool_calls'")
    if not isinstance(content, str | None):
        raise BadRequest("'content' must be text")
    return Reply(content or "", tuple(_call(call) for call in calls))


def _call(call: Any) -> ToolCall:
    function = call.get("function", call) if isinstance(call, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise BadRequest("a tool call must be {'function': {'name': …, 'arguments': …}}")
    arguments = function.get("arguments", "{}")
    if not isinstance(arguments, str):  # some templates have the arguments decoded already
        arguments = json.dumps(arguments)
    return ToolCall(function["name"], arguments, str(call.get("id") or ""))
