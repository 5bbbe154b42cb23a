"""Options that are numbers, read strictly.

Options come from code, from a command line and from JSON, so a number may arrive as a string, a
truth value, a NaN or NumPy's own kind. What is no number of the wanted kind is refused where it is
given, with its name, instead of failing far away once it is used.
"""

from __future__ import annotations

import math
import operator
from numbers import Real
from typing import Any

from agentgym.core.errors import InvalidConfig


def whole(name: str, value: Any, least: int = 1) -> int:
    """Return an option that is a whole number.

    Args:
        name: what the option is called.
        value: what was given; NumPy's whole numbers are taken too, truth values are not.
        least: the smallest number that can be used.

    Raises:
        InvalidConfig: if it is no whole number, or too small.

    >>> whole("max_rounds", 12)
    12
    """
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool) or number < least:
        wanted = "a positive whole number" if least == 1 else f"a whole number from {least}"
        raise InvalidConfig(f"{name} must be {wanted}, got {value!r}")
    return number


def amount(name: str, value: Any, least: float = 0.0) -> float:
    """Return an option that is a finite number.

    Args:
        name: what the option is called.
        value: what was given; truth values are not taken.
        least: the smallest number that can be used.

    Raises:
        InvalidConfig: if it is no finite number, or too small.

    >>> amount("linger", 2)
    2.0
    """
    sound = isinstance(value, Real) and not isinstance(value, bool)
    if not sound or not math.isfinite(value) or value < least:
        raise InvalidConfig(f"{name} must be a number from {least:g}, got {value!r}")
    return float(value)
