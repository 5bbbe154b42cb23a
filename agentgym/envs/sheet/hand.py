"""The expert's hand: it makes the calls, and knows of the sheet what they answered."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from agentgym.envs.sheet.positions import position_of
from agentgym.envs.tools import Move

Doing = Generator[Move, Any, None]
"""Part of a plan: yields moves and is sent what they answer."""
Place = tuple[int, int]


class Hand:
    """What the expert has seen.

    Attributes:
        grid: all values of the sheet it works on.
        others: the values of other sheets, by name.
        frozen: whether it has frozen the header.
    """

    def __init__(self) -> None:
        self.grid: list[list[str]] = []
        self.others: dict[str, list[list[str]]] = {}
        self.frozen = False

    @property
    def header(self) -> list[str]:
        """The first row."""
        return self.grid[0]

    def at(self, column: str) -> int:
        """Return the place of a column, from 0."""
        return self.header.index(column)

    def column(self, name: str) -> list[str]:
        """Return what a column shows below its header."""
        at = self.at(name)
        return [row[at] for row in self.grid[1:]]

    def row(self, key: str) -> int:
        """Return the place of the row that is about something, from 0."""
        return next(r for r, row in enumerate(self.grid) if r and key in row[:2])

    def call(self, thought: str, name: str, arguments: Mapping[str, Any]) -> Doing:
        """Make a call that answers with all values."""
        self.grid = yield Move(thought, name, arguments)

    def look_at(self, sheet: str, why: str) -> Generator[Move, Any, list[list[str]]]:
        """Open a sheet and return its values."""
        yield Move(why, "open_sheet", {"name": sheet})
        grid: list[list[str]] = yield Move(f'What is in "{sheet}"?', "get_all_values")
        return grid

    def change(self, cells: Mapping[Place, Any], thought: str) -> Doing:
        """Set cells in one call; what lies between them is written as it was."""
        top, left = (min(place[axis] for place in cells) for axis in (0, 1))
        bottom, right = (max(place[axis] for place in cells) for axis in (0, 1))
        if len(cells) == 1:
            position = position_of(top, left)
            arguments = {"position": position, "value": cells[top, left]}
            yield from self.call(thought, "update_cell", arguments)
            return
        lines = [
            [cells.get((r, c), self.grid[r][c]) for c in range(left, right + 1)]
            for r in range(top, bottom + 1)
        ]
        arguments = {
            "start_position": position_of(top, left),
            "end_position": position_of(bottom, right),
            "values_list": lines,
        }
        yield from self.call(thought, "update_range", arguments)

    def delete_rows(self, rows: Sequence[int], thought: str) -> Doing:
        """Delete rows, given from 0."""
        numbers = [r + 1 for r in rows]
        arguments = {"dimension": "row", "index_list": numbers}
        yield from self.call(thought, "delete_batch_data", arguments)


def number(text: str) -> Decimal:
    """Return the number a cell shows.

    Raises:
        ValueError: if it shows none.
    """
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError(f"{text!r} is no number") from None


def plain(value: Decimal) -> int | float:
    """Return a number as it is written in a call."""
    return int(value) if value == value.to_integral_value() else float(value)


def listed(words: Sequence[object]) -> str:
    """Return words as a sentence has them.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    texts = [str(word) for word in words]
    return ", ".join(texts[:-1]) + " and " + texts[-1] if len(texts) > 1 else texts[0]
