"""The published tables, as published: every cell keeps its text, and what is unknown stays so.

>>> table = paper_table("agentgym-table3")
>>> table.cell("AgentEvol", "Baby").value
82.7
"""

from __future__ import annotations

import csv
import math
from functools import lru_cache
from importlib import resources

from pydantic import BaseModel, ConfigDict

from agentgym.core.errors import UnknownName, did_you_mean
from agentgym.leaderboard.catalog import CATALOG, Entry, Link

UNKNOWN = "?"


class UnknownTable(UnknownName):
    """There is no published table of this name."""


class UnknownCell(UnknownName):
    """A table has no such row or column."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Cell(_Part):
    """One published cell.

    Attributes:
        text: what is printed there; "?" where it was not found.
        value: the number, where the cell is one.
        approximate: whether the number was read off a figure ("~0.33").
    """

    text: str
    value: float | None = None
    approximate: bool = False

    @classmethod
    def read(cls, text: str) -> Cell:
        """Return the cell of a text.

        >>> Cell.read("~0.33").value, Cell.read("?").value, Cell.read("76.50").text
        (0.33, None, '76.50')
        """
        text = text.strip()
        approximate = text.startswith("~")
        try:
            value: float | None = float(text.removeprefix("~"))
        except ValueError:
            value = None
        if value is not None and not math.isfinite(value):
            value = None  # "nan" is a word here
        return cls(text=text, value=value, approximate=approximate)

    @property
    def known(self) -> bool:
        """Whether the published cell is known."""
        return self.text != UNKNOWN


class PaperTable(_Part):
    """A published table.

    Attributes:
        id: name of its file.
        alias: the name people use.
        title: what it shows.
        paper: where it was published.
        sources: the lines that say where the numbers were read.
        columns: the column names; the first ones may name the row.
        rows: one cell a column.
        edition: the edition its numbers are of.
    """

    id: str
    alias: str
    title: str
    paper: str
    sources: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    edition: str = "official"

    @property
    def links(self) -> dict[str, Link]:
        """What its columns measure, for those that can be measured here."""
        return next(entry.links for entry in CATALOG if entry.id == self.id)

    def column(self, name: str) -> list[Cell]:
        """Return the cells of a column.

        Raises:
            UnknownCell: if there is no such column.
        """
        if name not in self.columns:
            raise UnknownCell("column", name, self.columns)
        return [row[self.columns.index(name)] for row in self.rows]

    def cell(self, row: str, column: str) -> Cell:
        """Return the cell of the first row in which a cell has the text `row`.

        Raises:
            UnknownCell: if there is no such row or column.
        """
        cells = self.column(column)
        for i, line in enumerate(self.rows):
            if any(cell.text == row for cell in line):
                return cells[i]
        raise UnknownCell("row", row, [line[0].text for line in self.rows])


def paper_tables() -> tuple[PaperTable, ...]:
    """Return every published table, in the catalogue's order."""
    return tuple(_read(entry.id) for entry in CATALOG)


def paper_table(name: str) -> PaperTable:
    """Return a published table by id ("A2_main_results") or alias ("agentgym-table3").

    Raises:
        UnknownTable: if there is none; the message offers the nearest.
    """
    folded = name.lower().removesuffix(".csv")
    for entry in CATALOG:
        if folded in (entry.id.lower(), entry.alias, entry.id.partition("_")[0].lower()):
            if folded == "a6":
                break  # three tables begin with it
            return _read(entry.id)
    hint = "" if _near(name) else "`agentgym leaderboard paper` lists them all."
    raise UnknownTable("table", name, [e.alias for e in CATALOG] + [e.id for e in CATALOG], hint)


def _near(name: str) -> bool:
    known = [e.alias for e in CATALOG] + [e.id for e in CATALOG]
    return did_you_mean(name, known).startswith("Did")


@lru_cache(maxsize=64)
def _read(table_id: str) -> PaperTable:
    entry = next(e for e in CATALOG if e.id == table_id)
    path = resources.files("agentgym") / "leaderboard" / "tables" / f"{table_id}.csv"
    return parse_table(entry, path.read_text(encoding="utf-8"))


def parse_table(entry: Entry, text: str) -> PaperTable:
    """Return the table of a file: "# source: ..." lines, a header, and rows as long as it.

    Raises:
        ValueError: if a row has another length, which would shift its numbers under other columns.
    """
    lines = text.splitlines()
    sources = tuple(x[1:].strip().removeprefix("source:").strip() for x in lines if x[:1] == "#")
    header, *body = list(csv.reader(x for x in lines if x.strip() and x[:1] != "#"))
    for row in body:
        if len(row) != len(header):
            raise ValueError(f"{entry.id}: {row} has {len(row)} cells, not {len(header)}")
    return PaperTable(
        id=entry.id,
        alias=entry.alias,
        title=entry.title,
        paper=entry.paper,
        sources=sources,
        columns=tuple(header),
        rows=tuple(tuple(Cell.read(x) for x in row) for row in body),
    )
