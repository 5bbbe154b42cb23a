"""The local workbook: sheets by name, changed copy by copy, saved as JSON values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agentgym.core.errors import InvalidState
from agentgym.envs.sheet.cells import EMPTY, GENERAL, LONGEST, Cell, Value, cell, shown
from agentgym.envs.sheet.formula import Formula, read_formula
from agentgym.envs.sheet.positions import COLUMNS, ROWS, place_of
from agentgym.envs.sheet.sheet import Area, Entry, Grid, Sheet
from agentgym.envs.tools import ToolError, WrongValue

MOST_SHOWN = 16_000
"""Characters a sheet takes when it is shown, so that every answer stays readable."""


class Workbook:
    """Sheets by name.

    Args:
        sheets: the sheets in order; they are shared and never changed.
    """

    def __init__(self, sheets: Sequence[Sheet]) -> None:
        self.sheets: dict[str, Sheet] = {sheet.name: sheet for sheet in sheets}
        self._numbers = {name: i for i, name in enumerate(self.sheets)}

    @classmethod
    def of(cls, spec: Mapping[str, Any]) -> Workbook:
        """Return the workbook of a task.

        Args:
            spec: by sheet name {"rows": values, "formats": a number format a column,
                "notes": {"A4": text}}, all but the rows optional.
        """
        return cls([_sheet_of(name, about) for name, about in spec.items()])

    @property
    def names(self) -> list[str]:
        """The names of the sheets, in order."""
        return list(self.sheets)

    def number(self, name: str) -> int:
        """Return the id of a sheet."""
        return self._numbers[name]

    def values(self, name: str) -> Grid:
        """Return what is shown in the used area; it is not to be changed."""
        return self.sheets[name].values

    def plain(self, name: str) -> Grid:
        """Return what is shown in the used area, merged cells empty but for the first."""
        return self.sheets[name].plain

    def notes(self, name: str) -> dict[tuple[int, int], str]:
        """Return the notes by place."""
        rows = self.sheets[name].rows
        return {
            (r, c): held.note
            for r, row in enumerate(rows)
            for c, held in enumerate(row)
            if held.note
        }

    def merges(self, name: str) -> list[Area]:
        """Return the merged areas."""
        return list(self.sheets[name].merges)

    def frozen(self, name: str) -> tuple[int, int]:
        """Return how many rows and columns are frozen."""
        return self.sheets[name].frozen

    def delete(self, name: str) -> None:
        """Delete a sheet."""
        if len(self.sheets) == 1:
            raise ToolError(f"{name} is the only sheet, and a workbook keeps one at least")
        del self.sheets[name]

    def freeze(self, name: str, axis: int, count: int) -> None:
        """Freeze the first rows (axis 0) or columns (axis 1)."""
        rows, columns = self.sheets[name].frozen
        frozen = (rows, count) if axis else (count, columns)
        self._change(name, lambda sheet: setattr(sheet, "frozen", frozen))

    def insert(
        self, name: str, axis: int, at: int, lines: Sequence[Sequence[Value]], like_before: bool
    ) -> None:
        """Insert rows or columns."""
        insert = Sheet.insert_columns if axis else Sheet.insert_rows
        self._change(name, lambda sheet: insert(sheet, at, lines, like_before))

    def remove(self, name: str, axis: int, lines: Sequence[int]) -> None:
        """Delete rows or columns."""
        remove = Sheet.delete_columns if axis else Sheet.delete_rows
        self._change(name, lambda sheet: remove(sheet, lines))

    def write(self, name: str, row: int, column: int, lines: Sequence[Sequence[Entry]]) -> None:
        """Put values into cells."""
        self._change(name, lambda sheet: sheet.write(row, column, lines))

    def compute(self, name: str, formula: str) -> str:
        """Return what a formula would show."""
        value, form = self.sheets[name].compute(read_formula(formula))
        return shown(value, form)

    def sort(self, name: str, column: int, descending: bool) -> None:
        """Sort the rows below the frozen ones."""
        end = len(self.sheets[name].plain)
        self._change(name, lambda sheet: sheet.sort(column, descending, end))

    def merge(self, name: str, area: Area) -> None:
        """Merge cells."""
        self._change(name, lambda sheet: sheet.merge(area))

    def set_note(self, name: str, row: int, column: int, note: str) -> None:
        """Put a note on a cell."""
        self._change(name, lambda sheet: sheet.set_note(row, column, note))

    def save(self) -> Any:
        """Return a JSON copy: by sheet its cells, merged areas, frozen lines."""
        return {
            name: {
                "id": self._numbers[name],
                "rows": [[_saved(held) for held in row] for row in sheet.rows],
                "merges": [list(area) for area in sheet.merges],
                "frozen": list(sheet.frozen),
            }
            for name, sheet in self.sheets.items()
        }

    def load(self, saved: Any) -> None:
        """Restore what `save` returned.

        Raises:
            InvalidState: if it cannot have come from there.
        """
        try:
            sheets = {name: _loaded(name, held) for name, held in saved.items()}
            numbers = {name: int(held["id"]) for name, held in saved.items()}
        except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
            raise InvalidState(f"the snapshot's workbook cannot be read: {error}") from error
        if not sheets:
            raise InvalidState("the snapshot's workbook has no sheet")
        self.sheets, self._numbers = sheets, {**self._numbers, **numbers}

    def close(self) -> None:
        """Release nothing."""

    def _change(self, name: str, change: Callable[[Sheet], object]) -> None:
        changed = self.sheets[name].copy()
        change(changed)
        grid = changed.values
        size = sum(len("".join(row)) + 4 * len(row) for row in grid)
        if size > MOST_SHOWN:
            raise WrongValue(
                f"the sheet would take {size} characters to show, at most {MOST_SHOWN} are kept; "
                "write less, or nearer to the data"
            )
        self.sheets[name] = changed


def _sheet_of(name: str, about: Mapping[str, Any]) -> Sheet:
    formats = about.get("formats", ())
    rows = []
    for r, line in enumerate(about["rows"]):
        forms = [formats[c] if r and c < len(formats) else GENERAL for c in range(len(line))]
        rows.append([cell(_plain(v), f) for v, f in zip(line, forms, strict=True)])
    sheet = Sheet(name, rows)
    for position, note in about.get("notes", {}).items():
        row, column = place_of(position)
        sheet.rows[row][column] = sheet.rows[row][column]._replace(note=note)
    return sheet


def _plain(value: Any) -> Value:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _saved(held: Cell) -> Any:
    if held == EMPTY:
        return None
    value = {"formula": str(held.value)} if isinstance(held.value, Formula) else held.value
    return [value, held.format, held.note]


def _loaded(name: str, held: Mapping[str, Any]) -> Sheet:
    rows = [[_loaded_cell(held) for held in row] for row in held["rows"]]
    widths = {len(row) for row in rows}
    if len(rows) > ROWS or len(widths) > 1 or max(widths, default=0) > COLUMNS:
        raise ValueError(f"the rows of {name} have no one length, or are too many")
    merges = [Area(*map(int, area)) for area in held["merges"]]
    for area in merges:
        if not (0 <= area.top <= area.bottom < ROWS and 0 <= area.left <= area.right < COLUMNS):
            raise ValueError(f"there is no area {tuple(area)}")
    frozen_rows, frozen_columns = map(int, held["frozen"])
    return Sheet(name, rows, merges, (frozen_rows, frozen_columns))


def _loaded_cell(saved: Any) -> Cell:
    if saved is None:
        return EMPTY
    value, form, note = saved
    if isinstance(value, dict):
        value = read_formula(value["formula"], grown=True)
    elif isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    elif not (value is None or isinstance(value, str | float | bool)):
        raise ValueError(f"a cell holds {value!r}")
    if not isinstance(form, str) or not isinstance(note, str) or len(form) > 40:
        raise ValueError(f"a cell has the format {form!r}")
    if isinstance(value, str) and len(value) > LONGEST:
        raise ValueError("a cell's text is too long")
    return cell(value, form, note)
