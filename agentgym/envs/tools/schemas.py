"""JSON schemas of tools: as models are offered them, and in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_WORDS = {
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_DROPPED = ("title", "default", "examples")


def cleaned(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema without what says nothing to a model: titles, defaults of null, examples."""
    kept: dict[str, Any] = {}
    for key, value in schema.items():
        if key in _DROPPED and not (key == "default" and value is not None):
            continue
        if key == "properties":
            kept[key] = {name: cleaned(inner) for name, inner in value.items()}
        elif isinstance(value, Mapping):
            kept[key] = cleaned(value)
        elif isinstance(value, list):
            kept[key] = [cleaned(v) if isinstance(v, Mapping) else v for v in value]
        else:
            kept[key] = value
    if len(kept.get("anyOf", [])) == 2 and {"type": "null"} in kept["anyOf"]:
        other = next(s for s in kept.pop("anyOf") if s != {"type": "null"})
        kept = {**other, **kept}  # an optional argument is left out, not null
    return kept


def expected(schema: Mapping[str, Any]) -> str:
    """Return what a schema asks for, in words.

    >>> expected({"type": "number", "minimum": -90, "maximum": 90})
    'a number from -90 to 90'
    >>> expected({"type": "string", "enum": ["asc", "des"]})
    "one of 'asc', 'des'"
    """
    if "enum" in schema:
        return f"one of {', '.join(repr(v) for v in schema['enum'])}"
    if "const" in schema:
        return repr(schema["const"])
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(expected(s) for s in schema["anyOf"]))
    kind = schema.get("type", "")
    if schema.get("format") == "date":
        return "a date written YYYY-MM-DD"
    words = _WORDS.get(kind, "a JSON value")
    if kind == "array" and schema.get("items"):
        words += f" ({expected(schema['items'])} each)"
    return words + _range(schema) + _size(schema)


def _range(schema: Mapping[str, Any]) -> str:
    low = schema.get("minimum")
    high = schema.get("maximum")
    if low is not None and high is not None:
        return f" from {low:g} to {high:g}"
    if low is not None:
        return f" from {low:g}"
    if high is not None:
        return f" of at most {high:g}"
    above = schema.get("exclusiveMinimum")
    return f" above {above:g}" if above is not None else ""


def _size(schema: Mapping[str, Any]) -> str:
    low = schema.get("minLength", schema.get("minItems"))
    high = schema.get("maxLength", schema.get("maxItems"))
    unit = "characters" if schema.get("type") == "string" else "items"
    if low == 1 and unit == "characters":
        return " that is not empty" + (f", at most {high} characters" if high else "")
    if low is not None and high is not None:
        return f" of {low} to {high} {unit}"
    if low is not None:
        return f" of at least {low} {unit}"
    return f" of at most {high} {unit}" if high is not None else ""
