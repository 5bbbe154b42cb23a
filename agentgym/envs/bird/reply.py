"""Finding the query in what an agent wrote."""

from __future__ import annotations

import re

_FENCE = re.compile(r"```[ \t]*(?:sqlite|sql)?[ \t]*\r?\n?(.*?)```", re.DOTALL | re.IGNORECASE)
_OPEN = re.compile(r"```[ \t]*(?:sqlite|sql)?[ \t]*\r?\n?", re.IGNORECASE)


def find_sql(text: str) -> str:
    r"""Return the query in a text: its last fenced block, else the whole text.

    A fence that was opened and never closed counts to the end of the text.

    >>> find_sql("Here it is:\n```sql\nSELECT 1;\n```")
    'SELECT 1'
    """
    blocks = _FENCE.findall(text)
    if blocks:
        text = blocks[-1]
    else:
        text = _OPEN.split(text)[-1]
    return text.strip().rstrip(";").strip()
