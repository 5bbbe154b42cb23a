"""The sheet of a mini task as plain columns and rows, for working a goal out without the functions.

Numbers are decimals, so that a goal is exact; a column says with how many digits they are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from agentgym.envs.sheet.positions import position_of

Item = str | Decimal | None


@dataclass(frozen=True)
class Column:
    """A column.

    Attributes:
        name: its header.
        role: "key" (names the row), "group" (a few words that recur) or "number".
        decimals: digits a number is shown with; None for text.
        low: the least number drawn, in units of the last digit.
        high: the greatest.
        words: what is drawn for text.
        unit: what its numbers count ("pcs"), or "".
    """

    name: str
    role: str = "number"
    decimals: int | None = None
    low: int = 0
    high: int = 0
    words: tuple[str, ...] = ()
    unit: str = ""

    @property
    def format(self) -> str:
        """The number format of its cells."""
        if self.decimals is None:
            return "General"
        return "0." + "0" * self.decimals if self.decimals else "0"

    def shown(self, item: Item) -> str:
        """Return how an item is shown in this column."""
        if isinstance(item, Decimal):
            return f"{item:.{self.decimals or 0}f}"
        return item or ""


@dataclass
class Line:
    """A row: its items, and the note on its first cell."""

    items: list[Any]
    note: str = ""

    def copy(self) -> Line:
        """Return a copy."""
        return Line(list(self.items), self.note)


@dataclass
class Table:
    """A sheet with a header, and what else is in its workbook.

    Attributes:
        sheet: its name.
        about: what it holds, after "which".
        thing: what a row is about ("product").
        things: the same for several.
        columns: the columns.
        rows: the rows below the header.
        others: further sheets, as a task's spec has them.
        merges: merged areas.
        frozen: rows that a task wants frozen, or None where it does not say.
    """

    sheet: str
    about: str
    thing: str
    things: str
    columns: list[Column]
    rows: list[Line]
    others: dict[str, Any] = field(default_factory=dict)
    merges: list[str] = field(default_factory=list)
    frozen: int | None = None

    def copy(self) -> Table:
        """Return a copy."""
        return Table(
            self.sheet, self.about, self.thing, self.things, list(self.columns),
            [row.copy() for row in self.rows], dict(self.others), list(self.merges), self.frozen,
        )  # fmt: skip

    def at(self, name: str) -> int:
        """Return the place of a column."""
        return next(i for i, column in enumerate(self.columns) if column.name == name)

    def of(self, name: str) -> list[Item]:
        """Return the items of a column."""
        at = self.at(name)
        return [row.items[at] for row in self.rows]

    def numbers(self, name: str) -> list[Decimal]:
        """Return the items of a column of numbers."""
        return [item for item in self.of(name) if isinstance(item, Decimal)]

    def roles(self, role: str) -> list[Column]:
        """Return the columns of a role that are filled."""
        return [
            c
            for c in self.columns
            if c.role == role and any(x is not None for x in self.of(c.name))
        ]

    @property
    def key(self) -> Column:
        """The column that names the rows."""
        return next(column for column in self.columns if column.role == "key")

    @property
    def keys(self) -> list[str]:
        """The names of the rows."""
        return [str(item) for item in self.of(self.key.name)]

    @property
    def grid(self) -> list[list[str]]:
        """What the sheet shows, merged cells aside."""
        body = [
            [c.shown(x) for c, x in zip(self.columns, row.items, strict=True)] for row in self.rows
        ]
        return [[column.name for column in self.columns], *body]

    @property
    def notes(self) -> dict[str, str]:
        """The notes by position; each is on the first cell of its row."""
        return {position_of(r, 0): row.note for r, row in enumerate(self.rows, 1) if row.note}

    def book(self) -> dict[str, Any]:
        """Return the workbook as a task's spec has it."""
        about: dict[str, Any] = {
            "rows": [
                [c.name or None for c in self.columns],
                *(_plain(row.items) for row in self.rows),
            ],
            "formats": [column.format for column in self.columns],
        }
        if self.notes:
            about["notes"] = self.notes
        return {self.sheet: about, **self.others}


def _plain(items: Sequence[Item]) -> list[Any]:
    return [float(item) if isinstance(item, Decimal) else item for item in items]
