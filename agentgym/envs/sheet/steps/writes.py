"""Steps that write into cells: single ones, by condition, from lists, notes and other sheets."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from agentgym.core.draw import Draw
from agentgym.envs.sheet.domains import Domain, draw_number
from agentgym.envs.sheet.hand import Doing, Hand, listed, number, plain
from agentgym.envs.sheet.positions import position_of
from agentgym.envs.sheet.steps.base import Args, Step, put
from agentgym.envs.sheet.table import Table
from agentgym.envs.tools import Move


class SetCell(Step):
    """Set one value of one row."""

    name = "set"
    frames = (
        "set the {column} of {key} to {value}",
        "change the {column} of {key} to {value}",
        "enter {value} as the {column} of {key}",
    )

    def draw(self, table: Table, args: Args, draw: Draw) -> Args | None:
        """Draw a row, a column and a value that is not there yet."""
        column = draw.pick([c for c in table.columns if c.role != "key"])
        row = draw.below(len(table.rows))
        items = table.of(column.name)
        if column.role == "group":
            value = draw.pick(column.words)
        else:
            value = column.shown(draw_number(column, draw))
        new = value not in [column.shown(item) for item in items]
        usable = column.shown(items[row]) != value if column.role == "group" else new
        return {"key": table.keys[row], "column": column.name, "value": value} if usable else None

    def apply(self, table: Table, args: Args) -> None:
        """Set it."""
        put(table, table.keys.index(args["key"]), args["column"], args["value"])

    def plan(self, hand: Hand, args: Args) -> Doing:
        """Find the row and set the cell."""
        place = (hand.row(args["key"]), hand.at(args["column"]))
        told = f"{args['key']} is in row {place[0] + 1}, so the cell is {position_of(*place)}."
        yield from hand.change({place: args["value"]}, told)


class Deliveries(Step):
    """Add numbers to many rows."""

    name = "add-up"
    frames = (
        "add these figures to {column}: {list}",
        "book the following on top of {column}: {list}",
        "raise {column} by what came in today ({list})",
    )

    def draw(self, table: Table, args: Args, draw: Draw) -> Args | None:
        """Draw a column of whole numbers and rows."""
        columns = [c for c in table.roles("number") if c.decimals == 0]
        if not columns or len(table.rows) < 5:
            return None
        column = draw.pick(columns)
        keys = draw.sample(table.keys, draw.between(4, len(table.rows) - 1))
        return {"column": column.name, "by": {key: draw.between(1, 12) for key in keys}}

    def told(self, args: Args) -> Mapping[str, Any]:
        """Return the figures as a list."""
        return {**args, "list": ", ".join(f"{key} {by}" for key, by in args["by"].items())}

    def apply(self, table: Table, args: Args) -> None:
        """Add them."""
        at = table.at(args["column"])
        for row, key in zip(table.rows, table.keys, strict=True):
            row.items[at] += args["by"].get(key, 0)

    def plan(self, hand: Hand, args: Args) -> Doing:
        """Add in the head and write the column once."""
        at = hand.at(args["column"])
        cells = {}
        for key, by in args["by"].items():
            row = hand.row(key)
            cells[row, at] = plain(number(hand.grid[row][at]) + by)
        yield from hand.change(
            cells, f"I add each figure to its row and write {args['column']} anew."
        )


class RaiseGroup(Step):
    """Add an amount to every row of a group."""

    name = "raise-group"
    frames = (
        "raise {column} by {by} for every {thing} whose {group} is {word}",
        "add {by} to {column} wherever {group} is {word}",
        "for all {things} with {group} {word}, increase {column} by {by}",
    )

    def draw(self, table: Table, args: Args, draw: Draw) -> Args | None:
        """Draw a group of two rows or more, and a column."""
        if not table.roles("group") or not table.roles("number"):
            return None
        group, column = draw.pick(table.roles("group")), draw.pick(table.roles("number"))
        word = draw.pick(group.words)
        if table.of(group.name).count(word) < 2:
            return None
        by = Decimal(draw.between(2, 30)) * (Decimal("0.5") if column.decimals else 1)
        return {"column": column.name, "group": group.name, "word": word, "by": column.shown(by)}

    def apply(self, table: Table, args: Args) -> None:
        """Add it."""
        at, group = table.at(args["column"]), table.at(args["group"])
        for row in table.rows:
            if row.items[group] == args["word"]:
                row.items[at] += Decimal(args["by"])

    def plan(self, hand: Hand, args: Args) -> Doing:
        """Find the rows and write the column once."""
        at, group = hand.at(args["column"]), hand.at(args["group"])
        cells = {
            (r, at): plain(number(row[at]) + number(args["by"]))
            for r, row in enumerate(hand.grid)
            if r and row[group] == args["word"]
        }
        rows = listed([r + 1 for r, _ in cells])
        yield from hand.change(cells, f"{args['group']} is {args['word']} in the rows {rows}.")


class Adjust(Step):
    """Change a column of the few rows that come first or last by another."""

    name = "adjust-extremes"
    frames = (
        "lower {column} by {by} for the {count} {things} with the {end} {by_column}",
        "take {by} off {column} for the {count} {things} that have the {end} {by_column}",
    )

    def draw(self, table: Table, args: Args, draw: Draw) -> Args | None:
        """Draw two columns, how many rows and which end."""
        numbers = table.roles("number")
        if len(numbers) < 2 or len(table.rows) < 6:
            return None
        column, by_column = draw.sample(numbers, 2)
        by = Decimal(draw.between(1, 9)) * (Decimal("0.5") if column.decimals else 1)
        if min(table.numbers(column.name)) < by:
            return None
        end = draw.pick(("lowest", "highest"))
        return {"column": column.name, "by_column": by_column.name, "by": column.shown(by),
                "count": draw.pick((2, 3)), "end": end}  # fmt: skip

    def told(self, args: Args) -> Mapping[str, Any]:
        """Return the count in words."""
        return {**args, "count": {2: "two", 3: "three"}[args["count"]]}

    def apply(self, table: Table, args: Args) -> None:
        """Take it off."""
        at, by_at = table.at(args["column"]), table.at(args["by_column"])
        ranked = sorted(
            table.rows, key=lambda row: row.items[by_at], reverse=args["end"] == "highest"
        )
        for row in ranked[: args["count"]]:
            row.items[at] -= Decimal(args["by"])

    def plan(self, hand: Hand, args: Args) -> Doing:
        """Find the rows and write the column once."""
        at = hand.at(args["column"])
        figures = [number(text) for text in hand.column(args["by_column"])]
        order = sorted(range(len(figures)), key=figures.__getitem__)
        if args["end"] == "highest":
            order.reverse()
        rows = [r + 1 for r in order[: args["count"]]]
        cells = {(r, at): plain(number(hand.grid[r][at]) - number(args["by"])) for r in rows}
        names = listed([hand.grid[r][0] for r in rows])
        yield from hand.change(cells, f"The {args['end']} {args['by_column']} have {names}.")


class FromNotes(Step):
    """Correct what notes on cells say."""

    name = "from-notes"
    frames = (
        "correct the data as the notes on {list} say",
        "read the notes on the cells {list} and change the sheet accordingly",
    )

    def prepare(self, table: Table, domain: Domain, draw: Draw) -> Args:
        """Put notes on the names of a few rows."""
        rows = draw.sample(range(len(table.rows)), draw.between(2, 4))
        column = draw.pick(table.roles("number"))
        taken = {column.shown(item) for item in table.of(column.name)}
        keys = []
        for r in sorted(rows):
            value = column.shown(draw_number(column, draw))
            while value in taken:
                value = column.shown(draw_number(column, draw))
            taken.add(value)
            table.rows[r].note = f"{column.name}: {value}"
            keys.append(table.keys[r])
        return {"keys": keys}

    def draw(self, table: Table, args: Args, draw: Draw) -> Args | None:
        """Take what was prepared."""
        return args

    def told(self, args: Args) -> Mapping[str, Any]:
        """Return the names in quotes."""
        return {"list": listed([f'"{key}"' for key in args["keys"]])}

    def apply(self, table: Table, args: Args) -> None:
        """Correct it."""
        for r, row in enumerate(table.rows):
            if row.note:
                column, _, value = row.note.partition(": ")
                put(table, r, column, value)

    def plan(self, hand: Hand, args: Args) -> Doing:
        """Read each note, then write once."""
        cells = {}
        for key in args["keys"]:
            row = hand.row(key)
            arguments = {"position": position_of(row, 0)}
            note = yield Move(f"What does the note on {key} say?", "get_note", arguments)
            column, _, value = note.partition(": ")
            cells[row, hand.at(column)] = value
        yield from hand.change(cells, "Now I know all corrections.")


class FromSheet(Step):
    """Take new values over from another sheet."""

    name = "from-sheet"
    frames = (
        'take over the new figures for {column} from the sheet "{other}"',
        'bring {column} up to date with what the sheet "{other}" says',
    )

    def prepare(self, table: Table, domain: Domain, draw: Draw) -> Args:
        """Write the other sheet."""
        column = draw.pick(table.roles("number"))
        other = draw.pick(("Updates", "Corrections", "New Figures"))
        taken = set(table.of(column.name))
        lines: list[list[Any]] = [[table.key.name, column.name]]
        for key in draw.sample(table.keys, draw.between(3, 6)):
            value = draw_number(column, draw)
            while value in taken:
                value = draw_number(column, draw)
            taken.add(value)
            lines.append([key, float(value)])
        table.others[other] = {"rows": lines, "formats": ["General", column.format]}
        return {"other": other, "column": column.name}

    def draw(self, table: Table, args: Args, draw: Draw) -> Args | None:
        """Take what was prepared."""
        return args

    def apply(self, table: Table, args: Args) -> None:
        """Take them over."""
        for key, value in table.others[args["other"]]["rows"][1:]:
            if key in table.keys:
                put(table, table.keys.index(key), args["column"], value)

    def begin(self, hand: Hand, args: Args) -> Doing:
        """Look at the other sheet first: the task's own is then opened only once."""
        why = f'The new figures are in "{args["other"]}", so I look there first.'
        hand.others[args["other"]] = yield from hand.look_at(args["other"], why)

    def plan(self, hand: Hand, args: Args) -> Doing:
        """Write the column once."""
        at = hand.at(args["column"])
        cells = {
            (hand.row(key), at): value
            for key, value in hand.others[args["other"]][1:]
            if key in hand.column(hand.header[0])
        }
        yield from hand.change(cells, f"I bring the new figures into {args['column']}.")


WRITES: tuple[Step, ...] = (
    SetCell(),
    Deliveries(),
    RaiseGroup(),
    Adjust(),
    FromNotes(),
    FromSheet(),
)
