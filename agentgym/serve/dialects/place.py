"""Options in an address: "webshop;edition=official;max_rounds=20".

Clients written for other servers are given a base URL and nothing else, and put "/create" or "/ws"
behind it, so a query at its end would be lost. Parameters of a path segment (RFC 3986, section 3.3)
stay where they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import unquote

from agentgym.serve.problem import BadRequest

_WORDS = {"true": True, "false": False}


def read_place(segment: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the options of a path segment.

    Raises:
        BadRequest: if what stands behind a semicolon is no option.

    >>> read_place("webshop;edition=official;max_rounds=20")
    ('webshop', {'edition': 'official', 'max_rounds': 20})
    """
    name, *parts = segment.split(";")
    pairs = []
    for part in filter(None, parts):
        key, equals, value = part.partition("=")
        if not (key and equals):
            raise BadRequest(
                f"{part[:80]!r} in the address is no option; write name;option=value, as in "
                "webshop;edition=official"
            )
        pairs.append((unquote(key), unquote(value)))
    return unquote(name).lower(), read_options(pairs)


def read_options(pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return options written as text: true, false, whole numbers, and else text."""
    return {key: _value(value) for key, value in pairs}


def with_defaults(
    mine: Mapping[str, Any], operators: Mapping[str, Any], clients: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the options to create with: the client's go before the operator's, mine come last."""
    return {**{k: v for k, v in mine.items() if k not in operators}, **clients}


def _value(text: str) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    number = text.removeprefix("-")
    return int(text) if number.isascii() and number.isdigit() and len(number) < 19 else text
