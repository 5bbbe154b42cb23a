"""Steps that change the order and the looks: sorting, freezing, merging, notes, other sheets."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from agentgym.core.draw import Draw
from agentgym.envs.sheet.domains import Domain
from agentgym.envs.sheet.hand import Doing, Hand, number
from agentgym.envs.sheet.positions import position_of
from agentgym.envs.sheet.steps.base import Args, Step
from agentgym.envs.sheet.table import Column, Table
from agentgym.envs.tools import Move


class Sort(Step):
    """Sort the rows by a column."""

    def __init__(self, name: str, order: str, frames: tuple[str, ...]) -> None:
        self.name, self.order, self.frames = name, order, frames  # type: ignore[misc]

    def draw(self, table: Table, args: Args, draw: Draw) -> Args | None:
        """Draw a column in which nothing occurs twice, and which is not in that order yet."""
        columns = [c for c in table.columns if c.role in ("number", "computed", "key")]
        column = draw.pick([c for c in columns if c.role != "key" or self.order == "asc"])
        items = table.of(column.name)
        if None in items or len(set(items)) < len(items):
            return None
        ordered = sorted(items, key=_rank, reverse=self.order == "des")
        return {"column": column.name} if ordered != items else None

    def apply(self, table: Table, args: Args) -> None:
        """Sort."""
        at = table.at(args["column"])
        table.rows.sort(key=lambda row: _rank(row.items[at]), reverse=self.order == "des")

    def plan(self, hand: Hand, args: Args) -> Doing:
        """Sort; the header has to be frozen unless it stands above numbers in descending order."""
        at = hand.at(args["column"])
        if not hand.frozen and (self.order == "asc" or not _numeric(hand.column(args["column"]))):
            hand.frozen = True
            told = "The header must not be sorted with the rest, so I freeze it."
            yield Move(told, "freeze_data", {"dimension": "rows", "num": 1})
        told = f"{args['column']} is column {at + 1}."
        if not hand.frozen:
            told += " In descending order the header's text stays above the numbers."
        arguments = {"col_num": at + 1, "order": self.order}
        yield from hand.call(told, "sort_sheet_by_col", arguments)


def _rank(item: Any) -> Any:
    return item.casefold() if isinstance(item, str) else item


def _numeric(texts: list[str]) -> bool:
    try:
        return all(number(text) is not None for text in texts)
    except ValueError:
        return False


class Freeze(Step):
    """Freeze the header."""

    name = "freeze"
    frames = ("freeze the header row", "keep the header row in place by freezing it")

    def draw(self, table: Table, args: Args, draw: Draw) -> Args | None:
        """Nothing is to be drawn."""
        return {}

    def apply(self, table: Table, args: Args) -> None:
        """Remember that it is wanted."""
        table.frozen = 1

    def plan(self, hand: Hand, args: Args) -> Doing:
        """Freeze it, if that has not been done."""
        if not hand.frozen:
            hand.frozen = True
            yield Move("The header is row 1.", "freeze_data", {"dimension": "rows", "num": 1})


class MergeGroups(Step):
    """Merge the cells that belong to one group."""

    name = "merge-groups"
    frames = (
        "merge the cells of each {group} in the first column, so that it stands in front of all "
        "its {things}",
        "merge each {group} in column A with the empty cells below it that belong to it",
    )

    def prepare(self, table: Table, domain: Domain, draw: Draw) -> Args:
        """Put the group first, sort by it, and leave all but the first of each empty."""
        column = table.roles("group")[0]
        at = table.at(column.name)
        table.columns.insert(0, table.columns.pop(at))
        for row in table.rows:
            row.items.insert(0, row.items.pop(at))
        table.rows.sort(key=lambda row: column.words.index(str(row.items[0])))
        last = None
        for row in table.rows:
            row.items[0], last = (None if row.items[0] == last else row.items[0]), row.items[0]
        return {"group": column.name}

    def draw(self, table: Table, args: Args, draw: Draw) -> Args | None:
        """Take what was prepared."""
        return args

    def apply(self, table: Table, args: Args) -> None:
        """Let every row show its group, and remember the areas."""
        starts = [r for r, row in enumerate(table.rows) if row.items[0] is not None]
        for start, end in zip(starts, [*starts[1:], len(table.rows)], strict=True):
            for row in table.rows[start:end]:
                row.items[0] = table.rows[start].items[0]
            if end - start > 1:
                table.merges.append(f"A{start + 2}:A{end + 1}")

    def plan(self, hand: Hand, args: Args) -> Doing:
        """Merge each block."""
        texts = [row[0] for row in hand.grid]
        starts = [r for r, text in enumerate(texts) if text and r]
        for start, end in zip(starts, [*starts[1:], len(texts)], strict=True):
            if end - start > 1:
                arguments = {
                    "start_position": position_of(start, 0),
                    "end_position": position_of(end - 1, 0),
                }
                told = f"{texts[start]} goes from row {start + 1} to row {end}."
                yield from hand.call(told, "merge_cells", arguments)


class MergeTitle(Step):
    """Merge the title of the first two columns."""

    name = "merge-title"
    frames = (
        "merge the titles of the first and second column into a single cell",
        "merge A1 with the empty cell to its right, as the title belongs to both columns",
    )

    def prepare(self, table: Table, domain: Domain, draw: Draw) -> Args:
        """Leave the second title empty."""
        table.columns[1] = Column("", "nameless", words=table.columns[1].words)
        return {}

    def draw(self, table: Table, args: Args, draw: Draw) -> Args | None:
        """Take what was prepared."""
        return args

    def apply(self, table: Table, args: Args) -> None:
        """Let both show the title."""
        table.columns[1] = Column(table.columns[0].name, "nameless")
        table.merges.append("A1:B1")

    def plan(self, hand: Hand, args: Args) -> Doing:
        """Merge them."""
        arguments = {"start_position": "A1", "end_position": "B1"}
        yield from hand.call("The titles stand in A1 and B1.", "merge_cells", arguments)


class AddNote(Step):
    """Put a note on the name of a row."""

    name = "note"
    frames = (
        'put the note "{note}" on the cell that names the {thing} with the {end} {column}',
        'attach "{note}" as a note to the name of the {thing} that has the {end} {column}',
    )

    def draw(self, table: Table, args: Args, draw: Draw) -> Args | None:
        """Draw a column, an end and the text."""
        column = draw.pick([c for c in table.columns if c.role in ("number", "computed")])
        end = draw.pick(("highest", "lowest"))
        figures = table.of(column.name)
        if None in figures or len(set(figures)) < len(figures) or table.columns[0].role != "key":
            return None
        texts = ("to be checked", "discussed on Monday", "seen by the board", "top of the list",
                 "ask again next week")  # fmt: skip
        args = {"column": column.name, "end": end, "note": draw.pick(texts)}
        return None if self._row(table, args).note else args

    def _row(self, table: Table, args: Args) -> Any:
        at = table.at(args["column"])
        choose = max if args["end"] == "highest" else min
        return choose(table.rows, key=lambda row: row.items[at])

    def apply(self, table: Table, args: Args) -> None:
        """Put it there."""
        self._row(table, args).note = args["note"]

    def plan(self, hand: Hand, args: Args) -> Doing:
        """Find the row and write the note."""
        figures: list[Decimal] = [number(text) for text in hand.column(args["column"])]
        figure = max(figures) if args["end"] == "highest" else min(figures)
        row = figures.index(figure) + 1
        name = hand.grid[row][0]
        told = f"The {args['end']} {args['column']} is {figure}, in row {row + 1}: {name}."
        arguments = {"position": position_of(row, 0), "content": args["note"]}
        yield Move(told, "update_note", arguments)


class DeleteSheet(Step):
    """Delete another sheet."""

    name = "delete-sheet"
    frames = ('delete the sheet "{other}"', 'remove the sheet "{other}" from the workbook')

    def prepare(self, table: Table, domain: Domain, draw: Draw) -> Args:
        """Add a sheet that nobody needs."""
        other = draw.pick(("Draft", "Old", "Scratch"))
        rows = [[table.key.name, "Remark"], [table.keys[0], "checked"], [table.keys[1], "open"]]
        table.others[other] = {"rows": rows}
        return {"other": other}

    def draw(self, table: Table, args: Args, draw: Draw) -> Args | None:
        """Take what was prepared."""
        return args

    def apply(self, table: Table, args: Args) -> None:
        """Leave it out."""
        del table.others[args["other"]]

    def plan(self, hand: Hand, args: Args) -> Doing:
        """Delete it."""
        told = f'The sheet "{args["other"]}" goes as well.'
        yield Move(told, "del_sheet", {"name": args["other"]})


LOOKS: tuple[Step, ...] = (
    Sort(
        "sort-down", "des",
        ("sort the {things} by {column} in descending order",
         "sort the sheet by {column}, the highest first",
         "put the rows in descending order of {column}"),
    ),
    Sort(
        "sort-up", "asc",
        ("sort the {things} by {column} in ascending order",
         "order the rows by {column}, ascending",
         "arrange the {things} in ascending order of {column}"),
    ),
    Freeze(), MergeGroups(), MergeTitle(), AddNote(), DeleteSheet(),
)  # fmt: skip
