"""A result as text: the first rows under the names of their columns."""

from __future__ import annotations

from typing import Any

from agentgym.envs.bird.query import Answer

ROWS = 20
CELL = 60
COLUMNS = 40


def draw_table(answer: Answer) -> str:
    """Return the first 20 rows of a result, and how many there are.

    >>> print(draw_table(Answer(("id", "name"), [(1, "Ada"), (2, None)], 0)))
    id | name
    ---+-----
    1  | Ada
    2  | NULL
    (2 rows)
    """
    columns = [_cell(name) for name in answer.columns[:COLUMNS]]
    rows = [[_cell(value) for value in row[:COLUMNS]] for row in answer.rows[:ROWS]]
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    lines = [
        " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip()
        for row in [columns, *rows]
    ]
    lines.insert(1, "-+-".join("-" * width for width in widths))
    count = len(answer.rows)
    shown = f", the first {ROWS} shown" if count > ROWS else ""
    lines.append(f"({count} row{'' if count == 1 else 's'}{shown})")
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if value is None:
        return "NULL"
    text = f"{len(value)} bytes" if isinstance(value, bytes) else " ".join(str(value).split())
    return text if len(text) <= CELL else f"{text[: CELL - 1]}…"
