"""A result as text: the first rows under the names of their columns."""

from __future__ import annotations

from typing import Any

from agentgym.envs.bird.query import Answer

ROWS = 20
CELL = 60
NARROW = 20
COLUMNS = 36
WIDE = 12
"""From more columns on cells are cut at 20 characters instead of 60."""


def draw_table(answer: Answer) -> str:
    """Return the first 20 rows of a result, and how many there are.

    >>> print(draw_table(Answer(("id", "name"), [(1, "Ada"), (2, None)], 0)))
    id | name
    ---+-----
    1  | Ada
    2  | NULL
    (2 rows)
    """
    limit = CELL if len(answer.columns) <= WIDE else NARROW
    columns = [_cell(name, limit) for name in answer.columns[:COLUMNS]]
    rows = [[_cell(value, limit) for value in row[:COLUMNS]] for row in answer.rows[:ROWS]]
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    lines = [
        " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip()
        for row in [columns, *rows]
    ]
    lines.insert(1, "-+-".join("-" * width for width in widths))
    count = len(answer.rows)
    shown = f", the first {ROWS} shown" if count > ROWS else ""
    if len(answer.columns) > COLUMNS:
        shown += f"; {len(answer.columns)} columns, the first {COLUMNS} shown"
    lines.append(f"({count} row{'' if count == 1 else 's'}{shown})")
    return "\n".join(lines)


def _cell(value: Any, limit: int) -> str:
    if value is None:
        return "NULL"
    text = (
        f"{len(value)} bytes" if isinstance(value, bytes) else " ".join(str(value)[:1000].split())
    )
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
