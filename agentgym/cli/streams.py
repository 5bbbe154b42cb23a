"""The streams a command is given: made fit for whatever is printed and typed.

A terminal need not speak Unicode, a file name need not be text, and a stream may be closed. None of
that is a reason to fail: what the encoding lacks is written with plain characters.
"""

from __future__ import annotations

import codecs
import io
import os
import sys

_PLAIN = {
    "✓": "+",
    "✗": "x",
    "×": "x",
    "·": "-",
    "–": "-",
    "—": "-",
    "−": "-",
    "…": "...",
    "→": "->",
    "•": "*",
    "±": "+/-",
}


def _plain(error: UnicodeError) -> tuple[str, int]:
    """Return the plain characters for those an encoding lacks; a handler for `codecs`."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_PLAIN.get(character, "?") for character in lacking), error.end


def prepare() -> None:
    """Make the standard streams take every text, and replace those that are closed."""
    codecs.register_error("agentgym-plain", _plain)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace" if mode == "r" else "agentgym-plain")
