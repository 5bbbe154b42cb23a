"""Plain data of a configuration: dotted overrides, keys nobody reads, and what differs."""

from __future__ import annotations

import typing
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from agentgym.core.errors import InvalidConfig
from agentgym.core.text import numeral, shorten
from agentgym.core.yamltext import read_yaml


def parse_override(override: str) -> tuple[str, Any]:
    """Return the dotted key of an override and its value.

    Raises:
        InvalidConfig: if it is not written a.b=value, or the value is no YAML.

    >>> parse_override("optim.lr=1.0e-4")
    ('optim.lr', 0.0001)
    """
    key, equals, text = override.partition("=")
    if not equals or not key.strip(" ."):
        raise InvalidConfig(f"an override is written a.b=value, not {override!r}")
    value = read_yaml(text, f"the value of {shorten(override)!r}") if text else ""
    return key.strip(), value


def apply_override(data: dict[str, Any], override: str) -> None:
    """Set one dotted key; a number goes into a list ("eval.envs.0.tasks=10")."""
    key, value = parse_override(override)
    *path, last = key.split(".")
    place: Any = data
    for part in path:
        place = _enter(place, part, key)
    if isinstance(place, list):
        place[_position(place, last, key)] = value
    else:
        place[last] = value


def _enter(place: Any, part: str, key: str) -> Any:
    if isinstance(place, list):
        at = _position(place, part, key)
        if not isinstance(place[at], dict | list):
            place[at] = {}
        return place[at]
    if not isinstance(place.get(part), dict | list):
        place[part] = {}
    return place[part]


def _position(items: list[Any], part: str, key: str) -> int:
    at = numeral(part)
    if at is None or at >= len(items):
        named = f", named 0 to {len(items) - 1}" if items else "; give the whole list"
        raise InvalidConfig(f"{key!r}: the list there has {len(items)} entries{named}")
    return at


def unknown_keys(
    cls: type[BaseModel], data: Any, path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """Yield the path of every key no field takes, with the names that would have been right."""
    if not isinstance(data, Mapping):
        return
    for key, value in data.items():
        field = cls.model_fields.get(str(key))
        if field is None:
            yield (*path, str(key)), list(cls.model_fields)
            continue
        for inner in _models(field.annotation):
            values = value if isinstance(value, list | tuple) else [value]
            for item in values:
                yield from unknown_keys(inner, item, (*path, str(key)))


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models within a type: `X | None`, `list[X]`, `tuple[X, ...]`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in typing.get_args(annotation):
        yield from _models(argument)


def differences(old: Any, new: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Any, Any]]:
    """Yield what differs: the dotted key, the old value and the new."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in {**old, **new}:
            yield from differences(old.get(key), new.get(key), (*path, str(key)))
    elif old != new:
        yield ".".join(path), old, new


def laid_over(under: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings laid over others; sections in both are laid over each other."""
    both = {**under, **data}
    for name in under.keys() & data.keys():
        if isinstance(under[name], Mapping) and isinstance(data[name], Mapping):
            both[name] = laid_over(under[name], data[name])
    return both
