"""How a sheet is held against the sheet it should have become.

The score is the published ratio. It looks at the overlap alone, so what is missing or too much at
the end of rows and columns does not lower it; whether a task is done is asked strictly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentgym.envs.sheet.positions import place_of
from agentgym.envs.sheet.sheet import Area
from agentgym.envs.sheet.tools import SheetTools

Grid = Sequence[Sequence[str]]


def matched(grid: Grid, goal: Grid) -> float:
    """Return the share of equal cells in the part that both sheets have.

    That part has as many rows as the one with fewer, and as many columns as the narrower first row.

    >>> matched([["a", "1"], ["b", "2"]], [["a", "1"], ["b", "3"], ["c", "4"]])
    0.75
    """
    rows = min(len(grid), len(goal))
    columns = min(len(grid[0]), len(goal[0])) if rows else 0
    if not rows * columns:
        return 0.0
    equal = sum(
        1
        for r in range(rows)
        for a, b in zip(grid[r][:columns], goal[r][:columns], strict=True)
        if a == b
    )
    return equal / (rows * columns)


def is_done(kit: SheetTools, spec: Mapping[str, Any]) -> bool:
    """Return whether a workbook is as a task asks.

    Args:
        kit: the workbook.
        spec: the task's: `sheet` and `answer`, the values it must show, neither more nor less; and
            where the task is about them `notes` (all that are wanted, by position), `merges` (all
            merged areas), `frozen` (rows) and `sheets` (the names that are left).
    """
    name, book = spec["sheet"], kit.book
    if name not in book.names or book.values(name) != spec["answer"]:
        return False
    if "sheets" in spec and book.names != list(spec["sheets"]):
        return False
    if "frozen" in spec and book.frozen(name)[0] != spec["frozen"]:
        return False
    if "merges" in spec and sorted(book.merges(name)) != sorted(map(_area, spec["merges"])):
        return False
    if "notes" not in spec:
        return True
    notes = {place: _folded(note) for place, note in book.notes(name).items()}
    return notes == {place_of(p): _folded(note) for p, note in spec["notes"].items()}


def _folded(note: str) -> str:
    return " ".join(note.split()).casefold().rstrip(".!")


def _area(text: str) -> Area:
    start, _, end = text.partition(":")
    return Area(*place_of(start), *place_of(end))
