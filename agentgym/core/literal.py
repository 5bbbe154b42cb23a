"""Values a model wrote, read as JSON or as a Python literal, and never evaluated.

Models write arguments both ways (`{"a": true}` and `{'a': True}`), so both are read, JSON first.
What comes out is always JSON: lists for tuples, text for keys, and no sets, bytes or complex
numbers. Nesting is measured before anything is parsed, since parsers, and everything that walks
the value later, would otherwise run out of stack.
"""

from __future__ import annotations

import ast
import re
import warnings
from typing import Any

from agentgym.core.text import parse_json, shorten

MOST_DEPTH = 32
"""How deep lists and objects may be nested."""

# A string that never ends takes the rest, or every quote would be tried as its beginning.
_STRING = re.compile(
    r"'{3}.*?(?:'{3}|\Z)|\"{3}.*?(?:\"{3}|\Z)"
    r"|\"(?:[^\"\\]|\\.)*(?:\"|\\?\Z)|'(?:[^'\\]|\\.)*(?:'|\\?\Z)",
    re.DOTALL,
)
_SKELETON = re.compile(r"[\w\s.,:()\[\]{}+\-]*")
_EXPONENT = re.compile(r"(?<=[\d.])[eE][+\-]?(?=\d)")
# A sum or a row of signs is no literal, and thousands of them are a tree thousands deep.
_SUM = re.compile(r"[+\-]\s*[+\-(\[{]|[\w.)\]}]\s*[+\-]")
_BRACKET = re.compile(r"[\[\]{}()]")
_WORD = re.compile(r"[^\W\d]\w*")
_NAMES = {"true": True, "false": False, "null": None}
_WORDS = frozenset({*_NAMES, "True", "False", "None", "s", "rs"})  # s stands for a string


def read_value(text: str) -> Any:
    """Return the JSON value that text writes, as JSON or as a Python literal.

    Raises:
        ValueError: if it is neither, or nested deeper than `MOST_DEPTH`; the message says what is
            wrong with it.

    >>> read_value('{"a": [1, true]}'), read_value("{'a': (1, True)}")
    ({'a': [1, True]}, {'a': [1, True]})
    >>> read_value("__import__('os')")
    Traceback (most recent call last):
        ...
    ValueError: it is neither JSON nor a literal value
    """
    if text.count("[") + text.count("{") + text.count("(") > MOST_DEPTH:
        _require_shallow(text)
    try:
        value = parse_json(text)
    except ValueError as error:
        return _read_literal(text, error)
    return value


def _require_shallow(text: str) -> None:
    depth = 0
    for mark in _BRACKET.findall(_STRING.sub("", text)):
        depth += 1 if mark in "[{(" else -1
        if depth > MOST_DEPTH:
            raise ValueError(f"it is nested more than {MOST_DEPTH} deep, which is not read")


def _read_literal(text: str, json_error: ValueError) -> Any:
    skeleton = _EXPONENT.sub("0", _STRING.sub("s", text))
    known = _SKELETON.fullmatch(skeleton) and _WORDS.issuperset(_WORD.findall(skeleton))
    if not known or _SUM.search(skeleton):
        raise _explained(text, json_error)
    try:
        with warnings.catch_warnings():  # of escapes such as "\\d", which mean what they say
            warnings.simplefilter("ignore")
            return _plain(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        raise _explained(text, json_error) from None


def _explained(text: str, error: ValueError) -> ValueError:
    """Say where reading as JSON stopped, where that is anywhere but at the beginning."""
    place = getattr(error, "pos", 0)
    if not place:
        return ValueError("it is neither JSON nor a literal value")
    near = shorten(text[max(0, place - 12) : place + 12])
    return ValueError(f"it cannot be read as JSON near {near!r} ({getattr(error, 'msg', error)})")


def _plain(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=str() | int() | float() | None as value):
            return value
        case ast.Name(id=name) if name in _NAMES:
            return _NAMES[name]
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=ast.Constant(value=value)) if (
            isinstance(value, int | float) and not isinstance(value, bool)
        ):
            return -value if isinstance(node.op, ast.USub) else value
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_plain(item) for item in items]
        case ast.Dict(keys=keys, values=values) if None not in keys:
            names = [_plain(key) for key in keys if key is not None]
            if any(isinstance(name, list | dict) for name in names):
                raise ValueError("a key is text")
            return {str(n): _plain(v) for n, v in zip(names, values, strict=True)}
    raise ValueError(f"{type(node).__name__} is no literal")
