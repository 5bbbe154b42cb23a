"""The published workbook, read from an Excel file into the engine.

The sheets that hold the solutions ("Answer1", ...) stand in the same file; they are left out, as an
agent could open them.
"""

from __future__ import annotations

from datetime import date, datetime, time
from functools import lru_cache
from pathlib import Path
from typing import Any

from agentgym.core.data import data_root
from agentgym.core.errors import InvalidConfig, MissingData
from agentgym.core.extras import require
from agentgym.envs.sheet.cells import EMPTY, GENERAL, Cell, Value, cell
from agentgym.envs.sheet.formula import Formula, read_formula
from agentgym.envs.sheet.positions import COLUMNS, ROWS
from agentgym.envs.sheet.sheet import Area, Sheet

FILES = ("sheet_workbook.xlsx", "Test Sheet-For Copy.xlsx")
"""Names of the workbook; the second is the one AgentGym gives it."""


def find_workbook(data_dir: str | None) -> Path:
    """Return the workbook's file.

    Raises:
        MissingData: if there is none in the data folder; the message names the place.
    """
    folder = data_root(data_dir) / "sheet"
    for name in FILES:
        if (folder / name).is_file():
            return folder / name
    raise MissingData(
        f"the official edition of sheet needs {FILES[0]} in {folder}: AgentGym's workbook, which "
        f'it calls "{FILES[1]}" (agentenv-tool/Toolusage/toolusage/utils/sheet)'
    )


def read_workbook(path: Path, answers: bool = False) -> tuple[Sheet, ...]:
    """Return the sheets of an Excel file.

    Args:
        path: the file.
        answers: whether to return the solutions in place of the tasks' sheets.

    Raises:
        MissingExtra: if openpyxl is not installed.
        InvalidConfig: if the file is no workbook.
    """
    return _read(path, path.stat().st_mtime_ns, answers)


@lru_cache(maxsize=4)
def _read(path: Path, changed: int, answers: bool) -> tuple[Sheet, ...]:
    openpyxl = require("openpyxl", "Sheet's official edition", "sheet")
    try:
        book = openpyxl.load_workbook(path)
        kept = [ws for ws in book.worksheets if ws.title.startswith("Answer") is answers]
        sheets = tuple(map(_sheet, kept))
    except Exception as error:  # whatever a damaged file makes openpyxl raise
        raise InvalidConfig(
            f"{path} is no Excel workbook ({type(error).__name__}: {error}); fetch it anew"
        ) from error
    if not sheets:
        raise InvalidConfig(f"{path} has no sheet for a task")
    return sheets


def _sheet(held: Any) -> Sheet:
    rows = [
        [_cell(read) for read in line]
        for line in held.iter_rows(max_row=min(ROWS, held.max_row), max_col=COLUMNS)
    ]
    while rows and all(held == EMPTY for held in rows[-1]):
        rows.pop()
    width = max((c + 1 for row in rows for c, held in enumerate(row) if held != EMPTY), default=0)
    merges = [
        Area(r.min_row - 1, r.min_col - 1, r.max_row - 1, r.max_col - 1)
        for r in held.merged_cells.ranges
    ]
    return Sheet(held.title, [row[:width] for row in rows], sorted(merges))


def _cell(held: Any) -> Cell:
    comment = getattr(held, "comment", None)
    note = str(comment.text) if comment is not None else ""
    form = str(getattr(held, "number_format", GENERAL))
    return cell(_value(held.value), form, note)


def _value(value: Any) -> Value | Formula:
    if isinstance(value, str):
        if value.startswith("=") and len(value) > 1:
            try:
                return read_formula(value)
            except ValueError:
                return value
        return value or None
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat(*((" ",) if isinstance(value, datetime) else ()))
    return str(value)
