"""Text of others, made fit to be quoted."""

from __future__ import annotations


def shorten(text: str, limit: int = 80) -> str:
    """Return text fit to be quoted in an observation: one line, printable, bounded.

    >>> shorten("go to\\x00  the\\nkitchen")
    'go to the kitchen'
    """
    printable = "".join(c if c.isprintable() else " " for c in text[: 4 * limit])
    line = " ".join(printable.split())
    return line if len(line) <= limit and len(text) <= 4 * limit else line[: limit - 1] + "…"
