"""The functions that look: open a sheet, read it, search it, calculate with it, finish.

A sheet has to be opened before anything else; afterwards everything is about that sheet.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from agentgym.core.errors import InvalidState, did_you_mean
from agentgym.core.text import shorten
from agentgym.envs.sheet.book import Book
from agentgym.envs.sheet.pattern import read_pattern
from agentgym.envs.sheet.positions import COLUMNS, ROWS, Position, place_of, position_of
from agentgym.envs.sheet.sheet import Area
from agentgym.envs.tools import NotFound, Text, ToolError, Tools, WrongCall, WrongValue, tool

Operator = Literal["SUM", "AVERAGE", "COUNT", "MAX", "MIN", "MINUS", "PRODUCT"]
Row = Annotated[int, Field(ge=1, le=ROWS, examples=[1, 2, 3])]
Column = Annotated[int, Field(ge=1, le=COLUMNS, examples=[1, 2, 3])]
Positions = Annotated[
    list[Position], Field(min_length=1, max_length=200, examples=[["B2", "C2"], ["C2", "D3"]])
]
Query = Annotated[str, StringConstraints(min_length=1, max_length=300)]

OPEN_FIRST = "Please open a sheet before operating it"
"""The published answer before a sheet is open."""


class Looking(Tools):
    """A workbook of which one sheet is open.

    Args:
        book: the workbook.
        asked: the sheet the task is about; whether it was ever opened is remembered.
    """

    def __init__(self, book: Book, asked: str) -> None:
        self.book, self.asked = book, asked
        self.name: str | None = None
        self.seen = False

    def save(self) -> Any:
        """Return the workbook, the sheet that is open and whether the task's was ever opened."""
        book = self.book.save()
        return None if book is None else {"book": book, "open": self.name, "seen": self.seen}

    def load(self, saved: Any) -> None:
        """Restore what `save` returned.

        Raises:
            InvalidState: if it cannot have come from there.
        """
        if not isinstance(saved, dict) or not {"book", "open", "seen"} <= set(saved):
            raise InvalidState("the snapshot holds no workbook")
        self.book.load(saved["book"])
        name = saved["open"]
        if name is not None and name not in self.book.names:
            raise InvalidState(f"the snapshot has the sheet {name!r} open, which there is not")
        self.name, self.seen = name, bool(saved["seen"])

    def close(self) -> None:
        """Release the workbook."""
        self.book.close()

    @tool
    def open_sheet(self, name: Text) -> Any:
        """Open a sheet by its name; all other functions work on the sheet that is open.

        Args:
            name: the name of the sheet

        Returns:
            the sheet that is open now
        """
        self.name = self._known(name)
        self.seen = self.seen or self.name == self.asked
        return f"<Worksheet {self.name!r} id:{self.book.number(self.name)}>"

    @tool
    def get_A1_annotation(self, row: Row, col: Column) -> Any:
        """Translate a row and a column into A1 notation.

        Args:
            row: the number of the row, from 1
            col: the number of the column, from 1

        Returns:
            the position, such as 'B3'
        """
        self._open()
        return position_of(row - 1, col - 1)

    @tool
    def get_all_values(self) -> Any:
        """Show all values of the sheet.

        Returns:
            its rows, each a list of values as they are shown
        """
        self._open()
        return self._all()

    @tool
    def get_range_values(self, start_position: Position, end_position: Position) -> Any:
        """Show the values of a range of cells.

        Args:
            start_position: its first cell (top left), in A1 notation
            end_position: its last cell (bottom right), in A1 notation

        Returns:
            its rows, each a list of values as they are shown
        """
        area = area_of(start_position, end_position)
        rows = self.book.values(self._open())[area.top : area.bottom + 1]
        return [row[area.left : area.right + 1] for row in rows]

    @tool
    def get_cell_value(self, position: Position) -> Any:
        """Show the value of a cell.

        Args:
            position: the cell, in A1 notation

        Returns:
            the value as it is shown
        """
        row, column = place_of(position)
        grid = self.book.plain(self._open())
        return grid[row][column] if row < len(grid) and column < len(grid[row]) else ""

    @tool
    def get_value_by_formula(
        self,
        operator: Operator,
        start_position: Position | None = None,
        end_position: Position | None = None,
        position_list: Positions | None = None,
    ) -> Any:
        """Calculate with the numbers of cells and leave the sheet as it is: give either
        position_list, or start_position and end_position of a range.

        Args:
            operator: what is done with the numbers of the cells
            start_position: the first cell of the range
            end_position: the last cell of the range
            position_list: the cells, in A1 notation

        Returns:
            the result as it would be shown
        """
        name = self._open()
        return self.book.compute(
            name, formula_of(operator, start_position, end_position, position_list)
        )

    @tool
    def filter_cells(
        self, query: Query, in_row: Row | None = None, in_column: Column | None = None
    ) -> Any:
        """Find the cells whose value holds a text or matches a regular expression.

        Args:
            query: the text or regular expression; '^12$' finds the cells that show exactly 12
            in_row: the number of the row to search; all where it is left out
            in_column: the number of the column to search; all where it is left out

        Returns:
            the positions of the cells
        """
        name = self._open()
        try:
            pattern = read_pattern(query)
        except ValueError as error:
            raise WrongValue(
                f"argument 'query' must be text or a plain regular expression: {error}"
            ) from None
        return [
            position_of(r, c)
            for r, row in enumerate(self.book.plain(name))
            if in_row is None or r == in_row - 1
            for c, text in enumerate(row)
            if (in_column is None or c == in_column - 1) and pattern.found_in(text)
        ]

    @tool
    def get_note(self, position: Position) -> Any:
        """Show the note on a cell.

        Args:
            position: the cell, in A1 notation

        Returns:
            the text of the note; empty text where there is none
        """
        return self.book.notes(self._open()).get(place_of(position), "")

    @tool(ends=True)
    def finish(self) -> Any:  # type: ignore[override]  # as published, it takes nothing
        """End the task; call it once the sheet is as asked.

        Returns:
            all values of the sheet
        """
        return self._all() if self.name is not None else []

    def _open(self) -> str:
        if self.name is None:
            raise ToolError(f"{OPEN_FIRST}. Call open_sheet with the name of the sheet.")
        return self.name

    def _known(self, name: str) -> str:
        if name in self.book.names:
            return name
        near = did_you_mean(name[:80], self.book.names, limit=20)
        raise NotFound(f"WorksheetNotFound: there is no sheet {shorten(name)!r}. {near}".strip())

    def _all(self) -> list[list[str]]:
        assert self.name is not None
        return [row[:] for row in self.book.values(self.name)]


def area_of(start: str, end: str) -> Area:
    """Return the range between two positions, in whatever order they are given."""
    (top, left), (bottom, right) = place_of(start), place_of(end)
    return Area(min(top, bottom), min(left, right), max(top, bottom), max(left, right))


def formula_of(
    operator: str, start: str | None, end: str | None, positions: Sequence[str] | None
) -> str:
    """Return the formula of an operator on cells.

    Raises:
        ToolError: if it is not said on which, or there are not two for MINUS.
    """
    if positions:
        if operator == "MINUS" and len(positions) != 2:
            raise WrongValue(
                "argument 'position_list' must hold two cells for MINUS, the second is taken from "
                f"the first, got {len(positions)}"
            )
        return f"={operator}({','.join(positions)})"
    if start is None or end is None:
        raise WrongCall(
            "give position_list, or both start_position and end_position: the cells to calculate "
            "with"
        )
    if operator == "MINUS":
        raise WrongValue(
            "argument 'operator' must not be MINUS for a range; give position_list of two"
        )
    return f"={operator}({start}:{end})"
