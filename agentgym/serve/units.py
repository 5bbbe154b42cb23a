"""Numbers as people write them: "4GB", "30m"."""

from __future__ import annotations

import math
import re
from typing import Any

from agentgym.core.errors import InvalidConfig

_BYTES = {"": 1, "b": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12,
          "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}  # fmt: skip
_SECONDS = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_NUMBER = re.compile(r"\s*(\d{1,15}(?:\.\d{1,9})?)\s*([a-z]*)\s*", re.ASCII | re.IGNORECASE)


def size(name: str, value: Any) -> int:
    """Return a number of bytes.

    Args:
        name: what the option is called.
        value: a number, or text such as "512MB", "4GiB" or "4G".

    Raises:
        InvalidConfig: if it is no such thing.

    >>> size("max_memory", "4GB"), size("max_body", "1.5MiB"), size("max_body", 100)
    (4000000000, 1572864, 100)
    """
    found = _split(value)
    if found is not None:
        number, unit = found
        factor = _BYTES.get(unit if unit == "b" else unit.removesuffix("b"))
        if factor is not None:
            return round(number * factor)
    raise InvalidConfig(f"{name} must be a size such as 512MB, 4GB or 4GiB, got {value!r}")


def duration(name: str, value: Any) -> float:
    """Return a number of seconds.

    Args:
        name: what the option is called.
        value: a number of seconds, or text such as "90s", "30m" or "2h".

    Raises:
        InvalidConfig: if it is no such thing.

    >>> duration("session_ttl", "30m"), duration("call_timeout", "1.5h"), duration("grace", 2)
    (1800.0, 5400.0, 2.0)
    """
    found = _split(value)
    if found is not None and found[1] in _SECONDS:
        return found[0] * _SECONDS[found[1]]
    raise InvalidConfig(f"{name} must be a time such as 90s, 30m or 2h, got {value!r}")


def _split(value: Any) -> tuple[float, str] | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return (float(value), "") if math.isfinite(value) and value >= 0 else None
    match = _NUMBER.fullmatch(value) if isinstance(value, str) else None
    return (float(match[1]), match[2].lower()) if match else None
