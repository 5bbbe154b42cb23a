"""The action grammar of an environment, declared once.

A `Command` is one line of the grammar: "craft {count} {item} using {ingredients}". From it come
the line in the instructions, the JSON schema a model calls as a tool, and the translation between
a tool call and the bare action text, both ways, so that the three action formats cannot disagree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from agentgym.core.text import shorten

ParamType = Literal["string", "integer", "number", "boolean", "array", "object", "any"]
"""JSON types; the last three are for calls (`agentgym.core.call`), which need no template."""

_FIELD = re.compile(r"\{(\w+)\}")
# A field that stands in brackets already is shown in one pair of them.
_SHOWN = re.compile(r"\[\{(\w+)\}\]|\{(\w+)\}")
# Digits are bounded, since Python refuses to read or write whole numbers of thousands of them.
_PATTERNS: dict[ParamType, str] = {
    "string": r"\S(?:.*\S)?",
    "integer": r"-?\d{1,30}",
    "number": r"-?\d{1,30}(?:\.\d{1,30})?",
    "boolean": r"true|false",
}
_PYTHON: dict[ParamType, str] = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "array": "list",
    "object": "dict",
    "any": "object",
}


@dataclass(frozen=True, slots=True)
class Param:
    """One argument of a command.

    Attributes:
        name: the field of the template it fills.
        description: what it is, one phrase.
        type: JSON type.
        choices: the values allowed, or empty where any of the type will do.
        required: whether it must be given; an argument of a template always is.
    """

    name: str
    description: str
    type: ParamType = "string"
    choices: tuple[str, ...] = ()
    required: bool = True

    @property
    def signature(self) -> str:
        """The parameter as Python declares it: "count: int".

        >>> Param("colour", "its colour", required=False).signature
        'colour: str = None'
        """
        return f"{self.name}: {_PYTHON[self.type]}{'' if self.required else ' = None'}"

    def schema(self) -> dict[str, Any]:
        """Return the parameter's JSON schema."""
        schema: dict[str, Any] = {"type": self.type, "description": self.description}
        if self.choices:
            schema["enum"] = list(self.choices)
        return schema

    def text(self, value: Any) -> str:
        """Return `value` as it stands in an action.

        Raises:
            ValueError: if the value has the wrong type or is not one of the choices.
        """
        scalar = isinstance(value, str | int | float)
        if not scalar or (isinstance(value, bool) and self.type != "boolean"):
            raise self._wrong(f"of type {self.type}", value)
        if isinstance(value, float) and value.is_integer() and self.type == "integer":
            value = int(value)
        text = str(value).lower() if self.type == "boolean" else str(value).strip()
        if not re.fullmatch(_PATTERNS[self.type], text, re.DOTALL):
            raise self._wrong(f"of type {self.type}", value)
        if self.choices and text not in self.choices:
            raise self._wrong(f"one of {', '.join(self.choices)}", value)
        return text

    def _wrong(self, expected: str, value: Any) -> ValueError:
        # A container is not quoted: it may be deep, long, or a set, whose order is chance.
        scalar = isinstance(value, str | int | float) or value is None
        shown = shorten(repr(value)) if scalar else f"a {type(value).__name__}"
        return ValueError(f"argument {self.name!r} must be {expected}, got {shown}")


@dataclass(frozen=True)
class Command:
    """One kind of action.

    Args:
        name: identifier, used as the tool's name ("craft").
        template: the action text with one `{field}` a parameter.
        description: what it does, one sentence.
        params: the parameters, each a field of the template.

    >>> get = Command("get", "get {count} {item}", "Take an item.",
    ...               (Param("count", "how many", "integer"), Param("item", "the item's name")))
    >>> get.render({"count": 2, "item": "oak log"})
    'get 2 oak log'
    >>> get.match("get 2 oak log")
    {'count': 2, 'item': 'oak log'}
    """

    name: str
    template: str
    description: str
    params: tuple[Param, ...] = ()

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise ValueError(f"command name {self.name!r} must be an identifier")
        fields = _FIELD.findall(self.template)
        if sorted(fields) != sorted(p.name for p in self.params):
            raise ValueError(
                f"command {self.name!r}: template fields {fields} and parameters "
                f"{[p.name for p in self.params]} must be the same"
            )
        for param in self.params:
            if param.type not in _PATTERNS or not param.required:
                raise ValueError(
                    f"command {self.name!r}: {param.name!r} cannot stand in a template"
                )

    @property
    def usage(self) -> str:
        """The template as people read it: "get [count] [item]", and "search[keywords]"."""
        return _SHOWN.sub(lambda m: f"[{m[1] or m[2]}]", self.template)

    @property
    def takes_any_text(self) -> bool:
        """Whether the template is a single field, so that any text matches it."""
        return _FIELD.fullmatch(self.template.strip()) is not None

    def render(self, arguments: Mapping[str, Any]) -> str:
        """Return the action text of a call with these arguments.

        Raises:
            ValueError: naming the argument that is missing, unknown or of the wrong type.
        """
        names = [p.name for p in self.params]
        expected = f"{self.name} takes {', '.join(names) if names else 'no arguments'}"
        for name in arguments:
            if name not in names:
                raise ValueError(f"unknown argument {shorten(name)!r}: {expected}")
        for name in names:
            if name not in arguments:
                raise ValueError(f"missing argument {name!r}: {expected}")
        texts = {p.name: p.text(arguments[p.name]) for p in self.params}
        return _FIELD.sub(lambda m: texts[m[1]], self.template)

    def match(self, action: str) -> dict[str, Any] | None:
        """Return the arguments with which this command renders to `action`, or None."""
        found = self._pattern.fullmatch(action.strip())
        if found is None:
            return None
        return {p.name: _value(p.type, found[p.name]) for p in self.params}

    def schema(self) -> dict[str, Any]:
        """Return the command as an OpenAI-style tool."""
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": {
                    "type": "object",
                    "properties": {p.name: p.schema() for p in self.params},
                    "required": [p.name for p in self.params],
                    "additionalProperties": False,
                },
            },
        }

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        types = {p.name: p for p in self.params}
        parts = []
        for i, part in enumerate(_FIELD.split(self.template)):
            if i % 2 == 0:
                parts.append(re.escape(part))
                continue
            param = types[part]
            inner = "|".join(map(re.escape, param.choices)) or _PATTERNS[param.type]
            parts.append(f"(?P<{part}>{inner})")
        return re.compile("".join(parts), re.DOTALL)


def grammar(commands: Iterable[Command]) -> str:
    """Return the lines that list the commands in an environment's instructions.

    >>> print(grammar([Command("look", "look around", "Describe the room.")]))
    - look around: Describe the room.
    """
    return "\n".join(f"- {c.usage}: {c.description}" for c in commands)


def match_call(commands: Iterable[Command], action: str) -> tuple[Command, dict[str, Any]] | None:
    """Return the first command that can render to `action` and its arguments, or None.

    Commands are tried in order, so the more specific ones stand first.
    """
    for command in commands:
        arguments = command.match(action)
        if arguments is not None:
            return command, arguments
    return None


def _value(kind: ParamType, text: str) -> Any:
    if kind == "integer":
        return int(text)
    if kind == "number":
        return float(text)
    if kind == "boolean":
        return text == "true"
    return text
