"""YAML of others, read as plain data.

Settings are data: numbers, texts, lists and mappings by text. What else YAML can write (dates,
sets, a list within itself) is refused with a line that says what to write instead, and what an
alias stands for is a copy of its own, so that changing one place changes no other.
"""

from __future__ import annotations

import json
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
        InvalidConfig: if it cannot be read as plain data.
        MissingExtra: if there is no reader of YAML.
    """
    yaml = require("yaml", "A configuration file", extra)
    try:
        return json.loads(json.dumps(yaml.safe_load(text)))
    except yaml.YAMLError as error:
        raise InvalidConfig(f"{name} is no YAML: {' '.join(str(error).split())}") from error
    except RecursionError as error:
        raise InvalidConfig(f"{name} is nested too deeply") from error
    except (TypeError, ValueError) as error:
        raise InvalidConfig(
            f"{name} may hold numbers, texts, lists and mappings only; a date or a text that looks "
            f"like one stands in quotes ({' '.join(str(error).split())})"
        ) from error


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
