"""The functions that change: insert, delete, write, sort, merge, note; twenty with those that look.

Names and parameters are the published ones, and so is what they answer: the sheet as it is after a
change.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from agentgym.envs.sheet.cells import Value, read_entered, read_plain
from agentgym.envs.sheet.formula import read_formula
from agentgym.envs.sheet.looking import (
    Column,
    Looking,
    Operator,
    Positions,
    Row,
    area_of,
    formula_of,
)
from agentgym.envs.sheet.positions import COLUMNS, ROWS, Position, place_of
from agentgym.envs.sheet.sheet import Area
from agentgym.envs.tools import Text, ToolError, WrongValue, tool

Lines = Annotated[
    list[list[Any]],
    Field(min_length=1, max_length=ROWS, examples=[[["a", "b"]], [["new", 1], ["other", 2]]]),
]


class SheetTools(Looking):
    """All functions on a workbook of which one sheet is open; see `Looking`."""

    @tool
    def del_sheet(self, name: Text) -> Any:
        """Delete a sheet.

        Args:
            name: the name of the sheet

        Returns:
            a confirmation
        """
        known = self._known(name)
        self.book.delete(known)
        if known == self.name:
            self.name = None
        return f"You have deleted sheet {known} successfully"

    @tool
    def freeze_data(
        self,
        dimension: Literal["rows", "columns"],
        num: Annotated[int, Field(ge=0, le=COLUMNS, examples=[1, 2])],
    ) -> Any:
        """Freeze the first rows or columns; sorting leaves frozen rows, such as a header, in place.

        Args:
            dimension: 'rows' or 'columns'
            num: how many; 0 freezes none

        Returns:
            a confirmation
        """
        self.book.freeze(self._open(), 0 if dimension == "rows" else 1, num)
        return f"You have successfully freeze the {dimension} {num}"

    @tool
    def insert_cols(self, values_list: Lines, col_idx: Column) -> Any:
        """Insert columns; those from that place on move to the right.

        Args:
            values_list: a list of columns, each a list of its values from row 1 on, header included
            col_idx: the number the first of them is to have, from 1

        Returns:
            all values of the sheet
        """
        return self._insert(1, values_list, col_idx, "col_idx")

    @tool
    def insert_rows(self, values_list: Lines, row_idx: Row) -> Any:
        """Insert rows; those from that place on move down.

        Args:
            values_list: a list of rows, each a list of its values from column A on
            row_idx: the number the first of them is to have, from 1

        Returns:
            all values of the sheet
        """
        return self._insert(0, values_list, row_idx, "row_idx")

    @tool
    def delete_batch_data(
        self,
        dimension: Literal["row", "col"],
        index_list: Annotated[
            list[Annotated[int, Field(ge=1)]],
            Field(min_length=1, max_length=ROWS, examples=[[2], [2, 4], [3]]),
        ],
    ) -> Any:
        """Delete rows or columns.

        Args:
            dimension: 'row' or 'col'
            index_list: the numbers of the rows or columns, from 1, as they are before the deletion

        Returns:
            all values of the sheet
        """
        name, axis = self._open(), 0 if dimension == "row" else 1
        grid = self.book.plain(name)
        size = len(grid[0]) if axis and grid else len(grid)
        most = COLUMNS if axis else ROWS  # empty ones may be deleted as well, as in the original
        outside = [i for i in index_list if i > most]
        if outside:
            raise WrongValue(
                f"argument 'index_list' must name {dimension}s from 1 to {most}, got {outside[0]}"
            )
        chosen = sorted(set(index_list))
        if len(chosen) >= size - (axis == 0):
            raise ToolError(
                "Warning: You cannot delete whole sheet at once, please try other functions"
            )
        self.book.remove(name, axis, [i - 1 for i in chosen])
        return self._all()

    @tool
    def update_cell(
        self, position: Position, value: Annotated[Any, Field(examples=["new", 7, "12"])]
    ) -> Any:
        """Set the value of a cell.

        Args:
            position: the cell, in A1 notation
            value: the value: a number, text, or a formula that begins with '='

        Returns:
            all values of the sheet
        """
        name = self._open()
        self.book.write(name, *place_of(position), [[read_entered(value, "value")]])
        return self._all()

    @tool
    def update_cell_by_formula(
        self,
        result_position: Position,
        operator: Operator,
        start_position: Position | None = None,
        end_position: Position | None = None,
        position_list: Positions | None = None,
    ) -> Any:
        """Set a cell to the result of an operator on other cells: give either position_list, or
        start_position and end_position of a range.

        Args:
            result_position: the cell to set, in A1 notation
            operator: what is done with the numbers of the cells
            start_position: the first cell of the range
            end_position: the last cell of the range
            position_list: the cells, in A1 notation

        Returns:
            all values of the sheet
        """
        name = self._open()
        formula = formula_of(operator, start_position, end_position, position_list)
        self.book.write(name, *place_of(result_position), [[(read_formula(formula), "")]])
        return self._all()

    @tool
    def update_range(
        self, start_position: Position, end_position: Position, values_list: Lines
    ) -> Any:
        """Set the values of a range of cells.

        Args:
            start_position: its first cell (top left), in A1 notation
            end_position: its last cell (bottom right), in A1 notation
            values_list: a list of rows, each a list of the values of its cells

        Returns:
            all values of the sheet
        """
        name, area = self._open(), area_of(start_position, end_position)
        values = _read(values_list)
        grid = self.book.plain(name)
        height, width = len(grid), len(grid[0]) if grid else 0
        if grid and area.holds(Area(0, 0, height - 1, width - 1)):
            raise ToolError(
                "Warning: You cannot update whole sheet at once, please try other functions"
            )
        rows, columns = area.bottom - area.top + 1, area.right - area.left + 1
        if len(values) > rows or max(map(len, values)) > columns:
            raise WrongValue(
                f"argument 'values_list' must fit into {area}, {rows} rows of {columns} cells, got "
                f"{len(values)} rows of up to {max(map(len, values))}"
            )
        self.book.write(name, area.top, area.left, [[(v, "") for v in row] for row in values])
        return self._all()

    @tool
    def sort_sheet_by_col(self, col_num: Column, order: Literal["asc", "des"]) -> Any:
        """Sort the rows of the sheet by a column. The header is a row like any other unless it is
        frozen. Text counts as more than numbers, so 'des' puts a header above numbers.

        Args:
            col_num: the number of the column, from 1
            order: 'asc' or 'des'

        Returns:
            all values of the sheet
        """
        name = self._open()
        grid = self.book.plain(name)
        width = len(grid[0]) if grid else 0
        if col_num > width:
            raise WrongValue(
                f"argument 'col_num' must be a column from 1 to {width}, got {col_num}"
            )
        self.book.sort(name, col_num - 1, order == "des")
        return self._all()

    @tool
    def merge_cells(self, start_position: Position, end_position: Position) -> Any:
        """Merge a range of cells into one; it keeps the value of the first.

        Args:
            start_position: its first cell (top left), in A1 notation
            end_position: its last cell (bottom right), in A1 notation

        Returns:
            all values of the sheet; each merged cell shows the value of all
        """
        self.book.merge(self._open(), area_of(start_position, end_position))
        return self._all()

    @tool
    def update_note(
        self, position: Position, content: Annotated[str, StringConstraints(max_length=1_000)]
    ) -> Any:
        """Put a note on a cell, in place of the one that is there.

        Args:
            position: the cell, in A1 notation
            content: the text of the note; empty text takes a note away

        Returns:
            a confirmation
        """
        self.book.set_note(self._open(), *place_of(position), content)
        return f"Updated! the {position}'s note is {content}"

    def _insert(self, axis: int, values_list: list[list[Any]], index: int, argument: str) -> Any:
        name, values = self._open(), _read(values_list)
        grid = self.book.plain(name)
        size = len(grid[0]) if axis and grid else len(grid)
        if index > size + 1:
            raise WrongValue(f"argument {argument!r} must be from 1 to {size + 1}, got {index}")
        most = ROWS if axis else COLUMNS
        if max(map(len, values)) > most:
            raise WrongValue(f"argument 'values_list' must hold at most {most} values a line")
        self.book.insert(name, axis, index - 1, values, index == size + 1)
        return self._all()


# The published environment has no such function.
del SheetTools.catalogue["check_valid_actions"]


def _read(values_list: Sequence[Sequence[Any]]) -> list[list[Value]]:
    return [[read_plain(value, "values_list") for value in line] for line in values_list]
