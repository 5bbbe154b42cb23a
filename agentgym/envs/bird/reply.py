"""Finding the query in what an agent wrote."""

from __future__ import annotations

import re

_FENCE = "```"
# Only ever matched at one place: a pattern for a whole block takes hours on a fence and blanks.
_LANGUAGE = re.compile(r"[ \t]*(?:sqlite|sql)?[ \t]*\r?\n?", re.IGNORECASE)


def find_sql(text: str) -> str:
    r"""Return the query in a text: its last fenced block, else the whole text.

    A fence that was opened and never closed counts to the end of the text.

    >>> find_sql("Here it is:\n```sql\nSELECT 1;\n```")
    'SELECT 1'
    """
    parts = text.split(_FENCE)
    if len(parts) > 1:
        closed = parts[1:-1:2]
        block = closed[-1] if closed else parts[-1]
        text = _LANGUAGE.sub("", block, count=1)
    return text.strip().rstrip(";").strip()
