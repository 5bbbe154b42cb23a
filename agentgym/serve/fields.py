"""The fields of a request, read strictly: what is wrong is named, and nothing else is let through.

The values go on to a worker process as they are, so they are checked here for what no environment
should have to meet: other kinds of values, numbers out of range, nesting without end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from starlette.requests import Request

from agentgym.core.errors import did_you_mean
from agentgym.serve.problem import BadRequest
from agentgym.serve.wire import decode

_DEPTH = 64  # of nested lists and objects in a value that is passed on
_LARGEST = 2**63 - 1
_NAME = 512  # characters of a name


class Fields:
    """The fields of a JSON object.

    Args:
        values: the object.
        known: the names it may have.

    Raises:
        BadRequest: if it is no object, or has a field of another name.
    """

    __slots__ = ("_values",)

    def __init__(self, values: Any, known: Iterable[str]) -> None:
        if not isinstance(values, dict):
            raise BadRequest(f"a JSON object is wanted, got {_kind(values)}")
        for name in values:
            if name not in known:
                hint = did_you_mean(name[:80], known)
                raise BadRequest(f"unknown field {name[:80]!r}. {hint}".rstrip())
        self._values: dict[str, Any] = values

    def text(self, name: str) -> str:
        """Return a field that must be text."""
        value = self._values.get(name)
        if not isinstance(value, str):
            raise self._wrong(name, "text")
        return value

    def name(self, name: str) -> str | None:
        """Return a field that is a short text, or None where it is not given."""
        value = self._values.get(name)
        if value is not None and not (isinstance(value, str) and len(value) <= _NAME):
            raise self._wrong(name, f"text of at most {_NAME} characters")
        return value

    def number(self, name: str, least: int = 0) -> int | None:
        """Return a field that is a whole number, or None where it is not given."""
        value = self._values.get(name)
        if value is None:
            return None
        if not isinstance(value, int) or value is True or value is False:
            raise self._wrong(name, "a whole number")
        if not least <= value <= _LARGEST:
            raise BadRequest(f"the field {name!r} must be from {least} to 2**63 - 1")
        return value

    def flag(self, name: str) -> bool:
        """Return a field that is true or false, which it is where it is not given."""
        value = self._values.get(name)
        if value is not None and not isinstance(value, bool):
            raise self._wrong(name, "true or false")
        return bool(value)

    def object(self, name: str) -> dict[str, Any] | None:
        """Return a field that is an object, or None where it is not given."""
        value = self._values.get(name)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self._wrong(name, "an object")
        require_shallow(name, value)
        return value

    def _wrong(self, name: str, wanted: str) -> BadRequest:
        if self._values.get(name) is None:
            return BadRequest(f"the field {name!r} is missing; it must be {wanted}")
        return BadRequest(f"the field {name!r} must be {wanted}, got {_kind(self._values[name])}")


async def body_of(request: Request) -> bytes:
    """Return the body of a request."""
    message = await request.receive()
    if message["type"] == "http.request" and not message.get("more_body"):
        body: bytes = message.get("body", b"")  # the usual case: it came in one piece
        return body
    parts = []
    while message["type"] == "http.request":
        parts.append(message.get("body", b""))
        if not message.get("more_body"):
            return b"".join(parts)
        message = await request.receive()
    raise BadRequest("the connection was closed before the whole body had come")


def parse(body: bytes) -> Any:
    """Return the value of a JSON body; no body is an empty object.

    Raises:
        BadRequest: if it is no JSON.
    """
    if not body:
        return {}
    try:
        return decode(body)
    except (ValueError, RecursionError) as error:
        why = str(error)[:200] or "it is nested too deeply"
        raise BadRequest(f"the body is no JSON: {why}") from error


async def json_of(request: Request) -> Any:
    """Return the JSON value of a request's body.

    Raises:
        BadRequest: if it is no JSON.
    """
    return parse(await body_of(request))


def query_number(query: Mapping[str, str], name: str, default: int, most: int) -> int:
    """Return a whole number from 0 to `most` of a query.

    Raises:
        BadRequest: if it is none.
    """
    text = query.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= 18 and int(text) <= most):
        raise BadRequest(f"{name!r} must be a whole number from 0 to {most}, got {text[:40]!r}")
    return int(text)


def require_shallow(name: str, value: Any) -> None:
    """Require that a value is not nested deeper than any code here can follow.

    Raises:
        BadRequest: if it is.
    """
    layer, depth = [value] if isinstance(value, dict | list) else [], 0
    while layer:
        depth += 1
        if depth > _DEPTH:
            raise BadRequest(f"the field {name!r} is nested too deeply; at most {_DEPTH} levels")
        layer = [
            child
            for parent in layer
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, dict | list)
        ]


def _kind(value: Any) -> str:
    """Return what a JSON value is, for a message."""
    if value is None:
        return "null"
    for kind, told in _KINDS:
        if isinstance(value, kind):
            return told
    return type(value).__name__


_KINDS: tuple[tuple[type, str], ...] = (
    (bool, "true or false"),
    (str, "text"),
    (int, "a number"),
    (float, "a number"),
    (list, "a list"),
    (dict, "an object"),
)
