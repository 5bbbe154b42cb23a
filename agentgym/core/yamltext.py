"""YAML of others, read as plain data.

Settings are data: numbers, texts, lists and mappings by text. What else YAML can write (dates,
sets, a list within itself) is refused with a line that says what to write instead, and what an
alias stands for is a copy of its own, so that changing one place changes no other. A key that is
set twice is refused too: YAML's reader takes the last and forgets the first without a word. What
`<<` merges into a mapping may be set again there, which is what merging is for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from agentgym.core.errors import InvalidConfig
from agentgym.core.extras import require


def read_yaml(text: str, name: str, *, extra: str = "train") -> Any:
    """Return the value of YAML text, in JSON's types.

    Args:
        text: the YAML.
        name: what to call it in errors.
        extra: the extra that brings the reader of YAML.

    Raises:
        InvalidConfig: if it cannot be read as plain data, or a mapping sets a key twice.
        MissingExtra: if there is no reader of YAML.
    """
    yaml = require("yaml", "A configuration file", extra)
    try:
        return json.loads(json.dumps(_load(yaml, text, name)))
    except yaml.YAMLError as error:
        raise InvalidConfig(f"{name} is no YAML: {' '.join(str(error).split())}") from error
    except RecursionError as error:
        raise InvalidConfig(f"{name} is nested too deeply") from error
    except (TypeError, ValueError) as error:
        raise InvalidConfig(
            f"{name} may hold numbers, texts, lists and mappings only; a date or a text that looks "
            f"like one stands in quotes ({' '.join(str(error).split())})"
        ) from error


def _load(yaml: Any, text: str, name: str) -> Any:
    """Return what YAML text says; two values for one key are refused."""

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        def compose_mapping_node(self, anchor: Any) -> Any:
            # Here a mapping is what was written; later it holds what it merges too.
            node = super().compose_mapping_node(anchor)
            keys = [key for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
            _require_once(((self._key(key), key.start_mark.line + 1) for key in keys), name)
            return node

        def _key(self, node: Any) -> Any:
            return node.value if node.value == "<<" else self.construct_object(node)

    loader = Loader(text)
    try:
        return loader.get_single_data()
    finally:
        loader.dispose()


def _require_once(keys: Iterable[tuple[Any, int]], name: str) -> None:
    """Require that no two keys of a mapping are the same, here or in JSON, where all are texts.

    Args:
        keys: the keys and their lines.
        name: what to call the text in errors.
    """
    lines: dict[Any, int] = {}
    for key, line in keys:
        [written] = json.loads(json.dumps({key: None}))
        first = lines.get(key) or lines.get(written)
        if first:
            raise InvalidConfig(
                f"{name} sets {written!r} twice in one place, in line {first} and in line {line}, "
                "and only one could count: keep one of them"
            )
        lines[key] = lines[written] = line


def read_yaml_file(path: Path, *, extra: str = "train") -> dict[str, Any]:
    """Return the settings in a YAML file; those of an empty one are none.

    Args:
        path: the file.
        extra: the extra that brings the reader of YAML.

    Raises:
        InvalidConfig: if there is no such file, or it holds no settings.
    """
    if not path.is_file():
        raise InvalidConfig(f"there is no file {path}")
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InvalidConfig(f"{path} is no text in UTF-8: {error}") from error
    return settings_of(read_yaml(text, str(path), extra=extra), str(path))


def settings_of(data: Any, name: str) -> dict[str, Any]:
    """Return what was read, where it is settings by name; nothing at all is none.

    Raises:
        InvalidConfig: if it is anything else.
    """
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise InvalidConfig(f"{name} must hold settings (key: value), not {type(data).__name__}")
    return data
