"""One sheet: cells in lines, merged areas, frozen lines; and what can be done to it.

Every change is made on a copy (`Sheet.copy`), so an operation that turns out to be impossible has
changed nothing. Rows and columns count from 0 here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple

from agentgym.envs.sheet.cells import EMPTY, GENERAL, Cell, Value, cell, shown
from agentgym.envs.sheet.formula import Formula, Node, Trouble, evaluate
from agentgym.envs.sheet.positions import COLUMNS, ROWS, position_of
from agentgym.envs.tools import WrongValue

Entry = tuple[Value | Formula, str]
"""A value, and the number format it brings or ""."""
Grid = list[list[str]]

_TEXT = itemgetter(Cell._fields.index("text"))
_DEEPEST = 12
"""Formulas that lean on each other; beyond, a cell shows #REF!."""


class Area(NamedTuple):
    """Merged cells, first and last included."""

    top: int
    left: int
    bottom: int
    right: int

    def __str__(self) -> str:
        return f"{position_of(self.top, self.left)}:{position_of(self.bottom, self.right)}"

    def meets(self, other: Area) -> bool:
        """Return whether a cell is in both."""
        return (
            self.top <= other.bottom
            and other.top <= self.bottom
            and self.left <= other.right
            and other.left <= self.right
        )

    def holds(self, other: Area) -> bool:
        """Return whether all of another area is in this one."""
        return (
            self.top <= other.top
            and other.bottom <= self.bottom
            and self.left <= other.left
            and other.right <= self.right
        )


class Sheet:
    """A sheet.

    Args:
        name: its name.
        rows: cells, all rows of one length.
        merges: merged areas, none meeting another.
        frozen: rows and columns that stay in place, (rows, columns).
    """

    def __init__(
        self,
        name: str,
        rows: Sequence[Sequence[Cell]] = (),
        merges: Sequence[Area] = (),
        frozen: tuple[int, int] = (0, 0),
    ) -> None:
        self.name = name
        self.rows = [list(row) for row in rows]
        self.merges = list(merges)
        self.frozen = frozen
        self._worked: dict[tuple[int, int, int], float | Trouble] = {}

    def copy(self) -> Sheet:
        """Return a copy; cells are shared, they never change."""
        return Sheet(self.name, self.rows, self.merges, self.frozen)

    # What it shows.

    @cached_property
    def plain(self) -> Grid:
        """What is shown in the used area, merged cells empty but for the first."""
        grid: list[Any] = [list(map(_TEXT, row)) for row in self.rows]
        for r, row in enumerate(grid):
            if None in row:
                grid[r] = self._computed(r)
        while grid and not any(grid[-1]):
            grid.pop()
        width = 0
        for row in grid:
            for c in range(len(row) - 1, width - 1, -1):
                if row[c]:
                    width = c + 1
                    break
        return [row if len(row) == width else row[:width] for row in grid]

    @cached_property
    def values(self) -> Grid:
        """What is shown in the used area, each merged cell showing what its area does."""
        if not self.merges:
            return self.plain
        grid = [row[:] for row in self.plain]
        for area in self.merges:
            for r in range(area.top, min(area.bottom + 1, len(grid))):
                for c in range(area.left, min(area.right + 1, len(grid[0]))):
                    grid[r][c] = grid[area.top][area.left]
        return grid

    def cell(self, row: int, column: int) -> Cell:
        """Return a cell, an empty one beyond those in use."""
        if row < len(self.rows) and column < len(self.rows[row]):
            return self.rows[row][column]
        return EMPTY

    def compute(self, formula: Formula) -> tuple[Value, str]:
        """Return the value of a formula (text where it is an error) and its number format."""
        try:
            value: Value = evaluate(formula, lambda r, c: self._value(r, c, 1))
        except Trouble as trouble:
            value = trouble.code
        return value, self._format_of(Cell(formula))

    def _computed(self, row: int) -> list[str]:
        """Return what a row shows that holds formulas."""
        texts = []
        for held in self.rows[row]:
            if isinstance(held.value, Formula):
                value, form = self.compute(held.value)
                texts.append(shown(value, form if held.format == GENERAL else held.format))
            else:
                texts.append(held.text or "")
        return texts

    def _format_of(self, cell: Cell) -> str:
        """Return a cell's format; a formula without one takes that of the first cell it names."""
        for _ in range(_DEEPEST):
            if cell.format != GENERAL or not isinstance(cell.value, Formula):
                break
            if cell.value.first is None:
                break
            cell = self.cell(*cell.value.first)
        return cell.format

    def _value(self, row: int, column: int, depth: int) -> Value:
        value = self.cell(row, column).value
        if isinstance(value, Formula):
            return self._result(row, column, value, depth)
        if isinstance(value, str) and value.startswith("#") and value.endswith("!"):
            raise Trouble(value)
        return value

    def _result(self, row: int, column: int, formula: Formula, depth: int) -> float:
        """Return what a cell's formula comes to when reached through `depth` others.

        It is worked out once: formulas that each name the one before many times would otherwise
        take exponential time.
        """
        key = (row, column, depth)
        if key not in self._worked:
            try:
                if depth > _DEEPEST:
                    raise Trouble("#REF!")
                self._worked[key] = evaluate(formula, lambda r, c: self._value(r, c, depth + 1))
            except Trouble as trouble:
                self._worked[key] = Trouble(trouble.code)
        found = self._worked[key]
        if isinstance(found, Trouble):
            raise Trouble(found.code)
        return found

    # What can be done to it.

    def write(self, row: int, column: int, lines: Sequence[Sequence[Entry]]) -> None:
        """Put values into the cells from a place on, keeping their notes and formats."""
        width = max(map(len, lines), default=0)
        self._reach(row + len(lines), column + width)
        for r, line in enumerate(lines, row):
            for c, (value, form) in enumerate(line, column):
                old = self.rows[r][c]
                keep = form if form and old.format == GENERAL else old.format
                self.rows[r][c] = cell(value, keep, old.note)

    def insert_rows(self, at: int, lines: Sequence[Sequence[Value]], like_before: bool) -> None:
        """Insert rows; they take the formats of the row before, or of the one that follows."""
        width = max(map(len, lines), default=0)
        self._reach(at, width)
        wide = len(self.rows[0]) if self.rows else width
        if len(self.rows) + len(lines) > ROWS:
            raise WrongValue(f"argument 'values_list' must leave at most {ROWS} rows")
        model = at - 1 if like_before else at
        made = []
        for line in lines:
            padded = [*line, *[None] * (wide - len(line))]
            made.append([cell(v, self.cell(model, c).format) for c, v in enumerate(padded)])
        self.rows[at:at] = made
        self._shift(0, at, len(lines))

    def insert_columns(self, at: int, lines: Sequence[Sequence[Value]], like_before: bool) -> None:
        """Insert columns; they take the formats of the column before, or of the one after."""
        self._reach(max(map(len, lines), default=0), at)
        if (len(self.rows[0]) if self.rows else 0) + len(lines) > COLUMNS:
            raise WrongValue(f"argument 'values_list' must leave at most {COLUMNS} columns")
        model = at - 1 if like_before else at
        for r, row in enumerate(self.rows):
            form = self.cell(r, model).format if model >= 0 else GENERAL
            row[at:at] = [cell(line[r] if r < len(line) else None, form) for line in lines]
        self._shift(1, at, len(lines))

    def delete_rows(self, indices: Sequence[int]) -> None:
        """Delete rows."""
        for at in sorted(indices, reverse=True):
            del self.rows[at : at + 1]
            self._shift(0, at, -1)

    def delete_columns(self, indices: Sequence[int]) -> None:
        """Delete columns."""
        for at in sorted(indices, reverse=True):
            for row in self.rows:
                del row[at : at + 1]
            self._shift(1, at, -1)

    def sort(self, column: int, descending: bool, end: int) -> None:
        """Sort the rows below the frozen ones, and before row `end`, by a column.

        Numbers come before text and text before truth values, the other way round where
        descending; empty cells come last; rows that tie keep their order.

        Raises:
            WrongValue: if cells among them are merged.
        """
        first = self.frozen[0]
        for area in self.merges:
            if area.bottom >= first and area.top < end:
                raise WrongValue(
                    f"the merged cells {area} stand among the rows to sort, and such rows cannot "
                    "be sorted; freeze them first if they are a header"
                )
        values = [self._sorted_as(r, column) for r in range(first, end)]
        self._worked.clear()  # the rows are about to move
        filled = [i for i, value in enumerate(values) if value is not None]
        filled.sort(key=lambda i: values[i] or (0, 0), reverse=descending)
        order = filled + [i for i, value in enumerate(values) if value is None]
        rows = self.rows[first:end]
        for to, i in enumerate(order):
            self.rows[first + to] = _carried(rows[i], to - i)

    def merge(self, area: Area) -> None:
        """Merge cells; the first keeps its value, the others lose theirs.

        Raises:
            WrongValue: if it is one cell, or would cut another merged area.
        """
        if area.top == area.bottom and area.left == area.right:
            raise WrongValue("argument 'end_position' must be another cell than 'start_position'")
        for other in self.merges:
            if area.meets(other) and not area.holds(other):
                raise WrongValue(f"{area} would cut the merged cells {other}; include all of them")
        self.merges = [other for other in self.merges if not area.meets(other)] + [area]
        self._reach(area.bottom + 1, area.right + 1)
        for r in range(area.top, area.bottom + 1):
            for c in range(area.left, area.right + 1):
                if (r, c) != (area.top, area.left):
                    self.rows[r][c] = self.rows[r][c]._replace(value=None, text="")

    def set_note(self, row: int, column: int, note: str) -> None:
        """Put a note on a cell; "" takes it away."""
        self._reach(row + 1, column + 1)
        self.rows[row][column] = self.rows[row][column]._replace(note=note)

    def _sorted_as(self, row: int, column: int) -> tuple[int, float | str] | None:
        try:
            value = self._value(row, column, 0)
        except Trouble as trouble:
            value = trouble.code
        if value is None or value == "":
            return None
        if isinstance(value, bool):
            return 2, value
        return (1, value.casefold()) if isinstance(value, str) else (0, value)

    def _reach(self, rows: int, columns: int) -> None:
        """Make room for this many rows and columns."""
        width = max(columns, len(self.rows[0]) if self.rows else 0)
        for row in self.rows:
            if len(row) < width:
                row.extend([EMPTY] * (width - len(row)))
        while len(self.rows) < rows:
            self.rows.append([EMPTY] * width)

    def _shift(self, axis: int, at: int, by: int) -> None:
        """Move what refers to lines: `by` were inserted at a line or, if -1, it was deleted."""
        frozen = list(self.frozen)
        if at < frozen[axis]:
            frozen[axis] += by
        self.frozen = (frozen[0], frozen[1])
        self.merges = [
            Area(*moved) for area in self.merges if (moved := _shifted(area, axis, at, by))
        ]
        self.merges = [a for a in self.merges if (a.top, a.left) != (a.bottom, a.right)]

        def move(node: Node) -> Node:
            area = node[1:] if node[0] == "range" else (*node[1:], *node[1:])
            moved = _shifted(area, axis, at, by)
            if moved is None:
                return ("lost",)
            return ("range", *moved) if node[0] == "range" else ("cell", *moved[:2])

        for row in self.rows:
            for c, held in enumerate(row):
                if held.text is None and isinstance(held.value, Formula):
                    row[c] = held._replace(value=held.value.moved(move))


def _shifted(area: Sequence[int], axis: int, at: int, by: int) -> tuple[int, int, int, int] | None:
    ends = list(area)
    first, last = ends[axis], ends[axis + 2]
    if by > 0:
        first, last = first + by * (first >= at), last + by * (last >= at)
    else:
        first, last = first - (first > at), last - (last >= at)
        if first > last:
            return None
    if last >= (ROWS, COLUMNS)[axis]:
        return None
    ends[axis], ends[axis + 2] = first, last
    return ends[0], ends[1], ends[2], ends[3]


def _carried(row: list[Cell], by: int) -> list[Cell]:
    """Return a row carried to another line: what its formulas name goes with it."""
    if not by or not any(held.text is None for held in row):
        return row

    def move(node: Node) -> Node:
        lines = [i + by if n % 2 == 0 else i for n, i in enumerate(node[1:])]
        return ("lost",) if min(lines[::2]) < 0 or max(lines[::2]) >= ROWS else (node[0], *lines)

    return [
        held._replace(value=held.value.moved(move)) if isinstance(held.value, Formula) else held
        for held in row
    ]
