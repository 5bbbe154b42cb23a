"""Text of others: made fit to be quoted, and read without surprises.

What others wrote is refused with a `ValueError` where it cannot be read, whatever the reason, so
that whoever reads it has one error to answer: Python also gives up on deep nesting and on numbers
of thousands of digits, each in its own way.
"""

from __future__ import annotations

import json
from typing import Any

_MOST_DIGITS = 18


def shorten(text: str, limit: int = 80) -> str:
    """Return text fit to be quoted in an observation: one line, printable, bounded.

    >>> shorten("go to\\x00  the\\nkitchen")
    'go to the kitchen'
    """
    printable = "".join(c if c.isprintable() else " " for c in text[: 4 * limit])
    line = " ".join(printable.split())
    return line if len(line) <= limit and len(text) <= 4 * limit else line[: limit - 1] + "…"


def parse_json(text: str | bytes) -> Any:
    """Return the value of JSON text.

    Raises:
        ValueError: if it is not JSON, or nested too deeply to be read.

    >>> parse_json("[" * 100_000)
    Traceback (most recent call last):
        ...
    ValueError: it is nested too deeply
    """
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def numeral(text: str) -> int | None:
    """Return the number that digits write, or None for other text and endless digits.

    >>> numeral("12"), numeral("-1"), numeral("9" * 5_000)
    (12, None, None)
    """
    return int(text) if text.isdecimal() and len(text) <= _MOST_DIGITS else None
