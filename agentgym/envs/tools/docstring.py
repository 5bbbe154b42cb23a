"""What a tool's docstring says: its summary, its arguments and its result.

A tool is described once, in a Google-style docstring; models read what is written there.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, NamedTuple

_SECTION = re.compile(r"^(Args|Returns|Raises):\s*$", re.MULTILINE)
_ARGUMENT = re.compile(r"^(\w+): ?(.*)$")


class Described(NamedTuple):
    """A docstring in parts.

    Attributes:
        summary: what the tool does, one paragraph.
        arguments: descriptions by parameter.
        returns: what it returns, or "".
    """

    summary: str
    arguments: dict[str, str]
    returns: str


def read_docstring(function: Callable[..., Any]) -> Described:
    """Return the parts of a function's docstring.

    Raises:
        TypeError: if it has none, a parameter is not described, or it describes one it has not.
    """
    text = inspect.getdoc(function)
    name = getattr(function, "__name__", repr(function))
    if not text:
        raise TypeError(f"the tool {name} needs a docstring: it is what a model is told")
    parts = _SECTION.split(text)
    sections = {head: _lines(body) for head, body in zip(parts[1::2], parts[2::2], strict=True)}
    arguments = _arguments(sections.get("Args", []))
    declared = list(inspect.signature(function).parameters)[1:]  # without self
    if list(arguments) != declared:
        raise TypeError(
            f"the docstring of {name} describes {list(arguments)}, its parameters are {declared}"
        )
    return Described(
        _joined(parts[0].splitlines()), arguments, _joined(sections.get("Returns", []))
    )


def _lines(body: str) -> list[str]:
    return inspect.cleandoc("\n" + body).splitlines()


def _joined(lines: list[str]) -> str:
    return " ".join(" ".join(lines).split())


def _arguments(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    name = ""
    for line in lines:
        start = _ARGUMENT.match(line)
        if start:
            name = start[1]
            found[name] = start[2]
        elif line.strip() and name:
            found[name] = f"{found[name]} {line.strip()}"
    return found
