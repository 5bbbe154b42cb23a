"""Commands that are calls: a function's name and arguments in JSON.

Where an action is a call of a function with arguments of any shape, its text is the published one
of AgentGym's tool environments, `name with Action Input: {...}`; a JSON tool call is read as well.
`CallCommand` joins such functions to the action grammar: the JSON schema a model is offered is the
function's own, and a tool call and the action text translate into each other without loss.
Whether the arguments are right is the environment's to say, in one place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, get_args

from agentgym.core.command import Command, Param, ParamType
from agentgym.core.literal import read_value
from agentgym.core.text import shorten

_LABEL = "Action Input:"
_ANY_LABEL = re.compile(r"(?i)action[ _]?input[ \t]?:")
_FENCE = re.compile(r"```(?:json|python)?\s*(.*?)\s*```", re.DOTALL)
_NAME_KEYS = ("name", "function_name", "function", "tool", "action")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "action_input")


class Call(NamedTuple):
    """A function's name and its arguments, not yet held against its parameters."""

    name: str
    arguments: dict[str, Any]


def write_call(name: str, arguments: Mapping[str, Any]) -> str:
    """Return the action text of a call.

    Raises:
        ValueError: if an argument is no JSON value.

    >>> write_call("get_elevation", {"latitude": 52.5, "longitude": 13.4})
    'get_elevation with Action Input: {"latitude": 52.5, "longitude": 13.4}'
    """
    try:
        text = json.dumps(dict(arguments), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise ValueError(f"the arguments of {shorten(name)} must be plain JSON values") from None
    return f"{name} with {_LABEL} {text}"


def read_call(text: str) -> Call:
    """Return the call that an action writes.

    Args:
        text: `name with Action Input: {...}`, over several lines if need be and with or without
            "Action:" before it, or a JSON tool call, `{"name": ..., "arguments": {...}}`.

    Raises:
        ValueError: if it is neither; the message says what to change.

    >>> read_call("get_cell_value with Action Input: {'position': 'A1'}")
    Call(name='get_cell_value', arguments={'position': 'A1'})
    """
    text = text.strip()
    if text[:7].lower() == "action:":
        text = text[7:].lstrip()
    if text[:1] in ("{", "`"):
        fenced = _FENCE.fullmatch(text)
        text = fenced[1] if fenced else text
        if text.startswith("{"):
            return _tool_call(_value(text, "the tool call"))
    start = text.find(_LABEL)
    end = start + len(_LABEL)
    if start < 0:
        label = _ANY_LABEL.search(text)
        if label is None:
            raise ValueError("'Action Input:' and the arguments are missing")
        start, end = label.span()
    name = text[:start].rstrip()
    if name[-4:].lower() == "with":
        name = name[:-4].rstrip()
    return Call(_name(name), _arguments(text[end:].strip()))


@dataclass(frozen=True)
class CallCommand(Command):
    """A command that is a call.

    Args:
        name: the function's name.
        template: left empty; the text follows from the call.
        description: what the function does.
        params: left empty; they follow from `parameters`.
        parameters: JSON schema of the arguments, an object with `properties` and `required`.

    >>> add = CallCommand("add", description="Add numbers.", parameters={
    ...     "properties": {"numbers": {"type": "array"}}, "required": ["numbers"]})
    >>> add.render({"numbers": [1, 2]})
    'add with Action Input: {"numbers": [1, 2]}'
    >>> add.match("Action: add with Action Input: {'numbers': (1, 2)}")
    {'numbers': [1, 2]}
    """

    template: str = ""
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise ValueError(f"command name {self.name!r} must be an identifier")
        required = self.parameters.get("required", ())
        params = tuple(
            Param(name, schema.get("description", ""), _type(schema), required=name in required)
            for name, schema in self.parameters.get("properties", {}).items()
        )
        object.__setattr__(self, "params", params)

    @property
    def usage(self) -> str:
        """The call as people read it, optional arguments with a question mark."""
        fields = (f'"{p.name}"{"" if p.required else "?"}: {p.type}' for p in self.params)
        return f"{self.name} with {_LABEL} {{{', '.join(fields)}}}"

    @property
    def takes_any_text(self) -> bool:
        """Whether any text matches: never, a call begins with its name."""
        return False

    def render(self, arguments: Mapping[str, Any]) -> str:
        """Return the action text of a call with these arguments.

        Raises:
            ValueError: if an argument is no JSON value.
        """
        return write_call(self.name, arguments)

    def match(self, action: str) -> dict[str, Any] | None:
        """Return the arguments of an action that calls this function, or None."""
        if self.name not in action:
            return None
        try:
            call = read_call(action)
        except ValueError:
            return None
        return call.arguments if call.name == self.name else None

    def schema(self) -> dict[str, Any]:
        """Return the command as an OpenAI-style tool."""
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": {"type": "object", "properties": {}, **self.parameters},
            },
        }


def _type(schema: Mapping[str, Any]) -> ParamType:
    kind: Any = schema.get("type")
    return kind if kind in get_args(ParamType) else "any"


def _name(text: str) -> str:
    if text.isidentifier() and len(text) <= 80:
        return text
    if not text:
        raise ValueError("the function's name is missing before 'with Action Input:'")
    if len(text) > 80 or not text.replace(".", "_").replace("-", "_").isidentifier():
        raise ValueError(f"{shorten(text)!r} is no function's name")
    return text


def _value(text: str, what: str) -> Any:
    try:
        return read_value(text)
    except ValueError as error:
        raise ValueError(f"{what} cannot be read: {error}") from None


def _arguments(text: str) -> dict[str, Any]:
    if text.startswith("```"):
        fenced = _FENCE.fullmatch(text)
        text = fenced[1] if fenced else text
    value = _value(text, "the Action Input") if text else {}
    return _named(value, "the Action Input")


def _named(value: Any, what: str) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ValueError(
            f"{what} must be an object that names each argument, such as "
            f'{{"name": "value"}}, not a {type(value).__name__}'
        )
    return value


def _tool_call(data: Any) -> Call:
    data = _named(data, "the tool call")
    inner = data.get("function")
    if isinstance(inner, dict):  # OpenAI's own nesting
        data = inner
    name = next((data[key] for key in _NAME_KEYS if isinstance(data.get(key), str)), None)
    if name is None:
        raise ValueError('the tool call has no "name"')
    arguments: Any = next((data[key] for key in _ARGUMENT_KEYS if key in data), {})
    if isinstance(arguments, str):
        arguments = _value(arguments, '"arguments"') if arguments.strip() else {}
    return Call(_name(name.strip()), _named(arguments, '"arguments"'))
