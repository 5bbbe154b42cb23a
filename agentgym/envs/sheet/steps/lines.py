"""Steps that delete or insert rows and columns."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from agentgym.core.draw import Draw
from agentgym.envs.sheet.domains import Domain, draw_number
from agentgym.envs.sheet.hand import Doing, Hand, listed, number
from agentgym.envs.sheet.steps.base import Args, Step
from agentgym.envs.sheet.table import Column, Item, Line, Table


class Drop(Step):
    """A step that deletes rows."""

    @abstractmethod
    def goes(self, table: Table, args: Args) -> list[bool]:
        """Return, by row, whether it goes."""

    @abstractmethod
    def seen(self, hand: Hand, args: Args) -> list[int]:
        """Return the places of the rows that go, from 0, as the sheet shows them."""

    def _fits(self, table: Table, args: Args) -> Args | None:
        """Return the arguments if something goes and three rows stay."""
        gone = sum(self.goes(table, args))
        return args if gone and len(table.rows) - gone >= 3 else None

    def apply(self, table: Table, args: Args) -> None:
        """Delete them."""
        gone = self.goes(table, args)
        table.rows = [row for row, goes in zip(table.rows, gone, strict=True) if not goes]

    @abstractmethod
    def why(self, hand: Hand, args: Args) -> str:
        """Return what the rows that go have in common, as a sentence begins."""

    def plan(self, hand: Hand, args: Args) -> Doing:
        """Delete them in one call."""
        rows = self.seen(hand, args)
        where = f"row {rows[0] + 1}" if len(rows) == 1 else f"rows {listed([r + 1 for r in rows])}"
        together = " together" if len(rows) > 1 else ""
        told = f"{self.why(hand, args)} {where}, which I delete{together}."
        yield from hand.delete_rows(rows, told)


class DropGroup(Drop):
    """Delete a group."""

    name = "drop-group"
    frames = (
        "delete all {things} whose {group} is {word}",
        "remove every row with the {group} {word}",
        "throw out the {things} with {group} {word}",
    )

    def draw(self, table: Table, args: Args, draw: Draw) -> Args | None:
        """Draw a group."""
        if not table.roles("group"):
            return None
        group = draw.pick(table.roles("group"))
        return self._fits(table, {"group": group.name, "word": draw.pick(group.words)})

    def goes(self, table: Table, args: Args) -> list[bool]:
        """Return whether a row is of the group."""
        return [item == args["word"] for item in table.of(args["group"])]

    def why(self, hand: Hand, args: Args) -> str:
        """Return what the rows that go have in common."""
        return f"{args['group']} is {args['word']} in"

    def seen(self, hand: Hand, args: Args) -> list[int]:
        """Return the rows of the group."""
        return [r for r, text in enumerate(hand.column(args["group"]), 1) if text == args["word"]]


class KeepLargest(Drop):
    """Keep the largest group."""

    name = "keep-largest"
    frames = (
        "find the {group} with the most {things} and delete the rows of all others",
        "keep only the {group} that has the most {things}",
    )

    def draw(self, table: Table, args: Args, draw: Draw) -> Args | None:
        """Draw a column in which one group is ahead."""
        if not table.roles("group"):
            return None
        group = draw.pick(table.roles("group")).name
        sizes = sorted(Counter(table.of(group)).values())
        return self._fits(table, {"group": group}) if sizes[-1] > sizes[-2:][0] else None

    def goes(self, table: Table, args: Args) -> list[bool]:
        """Return whether a row is of a smaller group."""
        items = table.of(args["group"])
        return [item != max(items, key=items.count) for item in items]

    def why(self, hand: Hand, args: Args) -> str:
        """Return what the rows that go have in common."""
        word, count = Counter(hand.column(args["group"])).most_common(1)[0]
        return f"{args['group']} is most often {word}, {count} times; something else is in"

    def seen(self, hand: Hand, args: Args) -> list[int]:
        """Count, then return the rows of the others."""
        texts = hand.column(args["group"])
        word = Counter(texts).most_common(1)[0][0]
        return [r for r, text in enumerate(texts, 1) if text != word]


class DropBelow(Drop):
    """Delete what is below or above a limit."""

    name = "drop-limit"
    frames = (
        "delete the {things} whose {column} is {side} {limit}",
        "remove every {thing} whose {column} is {side} {limit}",
    )

    def draw(self, table: Table, args: Args, draw: Draw) -> Args | None:
        """Draw a column and a limit."""
        column = draw.pick(table.roles("number"))
        figures = sorted(table.numbers(column.name))
        if len(figures) < 6:
            return None
        side = draw.pick(("below", "above"))
        at = draw.between(1, 3)
        limit = column.shown(figures[at if side == "below" else -at - 1])
        return self._fits(table, {"column": column.name, "side": side, "limit": limit})

    def goes(self, table: Table, args: Args) -> list[bool]:
        """Return whether a row is beyond the limit."""
        limit, below = Decimal(args["limit"]), args["side"] == "below"
        return [x < limit if below else x > limit for x in table.numbers(args["column"])]

    def why(self, hand: Hand, args: Args) -> str:
        """Return what the rows that go have in common."""
        return f"{args['column']} is {args['side']} {args['limit']} in"

    def seen(self, hand: Hand, args: Args) -> list[int]:
        """Compare each row."""
        limit, sign = number(args["limit"]), 1 if args["side"] == "below" else -1
        figures = [number(text) for text in hand.column(args["column"])]
        return [r for r, figure in enumerate(figures, 1) if (limit - figure) * sign > 0]


class DropWrong(Drop):
    """Delete the rows in which a value cannot be right."""

    name = "drop-wrong"
    frames = (
        "delete the {things} for which a wrong value of {wrong} was recorded",
        "remove all rows that contain {wrong}, which marks a faulty record",
    )

    def prepare(self, table: Table, domain: Domain, draw: Draw) -> Args | None:
        """Make a few rows wrong."""
        wrong = Decimal(draw.pick((-1, -99)))
        columns = [c for c in table.roles("number") if c.decimals == 0]
        if not columns:
            return None
        for row in draw.sample(table.rows, draw.between(2, 4)):
            row.items[table.at(draw.pick(columns).name)] = wrong
        return {"wrong": str(wrong)}

    def draw(self, table: Table, args: Args, draw: Draw) -> Args | None:
        """Take what was prepared."""
        return self._fits(table, args)

    def goes(self, table: Table, args: Args) -> list[bool]:
        """Return whether a row holds the wrong value."""
        return [Decimal(args["wrong"]) in row.items for row in table.rows]

    def why(self, hand: Hand, args: Args) -> str:
        """Return what the rows that go have in common."""
        return f"The wrong value {args['wrong']} is in"

    def seen(self, hand: Hand, args: Args) -> list[int]:
        """Find the rows that show it."""
        return [r for r, row in enumerate(hand.grid) if args["wrong"] in row]


class DropRepeated(Drop):
    """Delete rows that are there already."""

    name = "drop-repeated"
    frames = (
        "delete the rows that occur a second time, keeping the first of each",
        "remove repeated rows so that every {thing} is listed once",
    )

    def prepare(self, table: Table, domain: Domain, draw: Draw) -> Args:
        """Repeat a few rows further down."""
        for row in draw.sample(table.rows, 2):
            at = next(i for i, other in enumerate(table.rows) if other is row)
            table.rows.insert(draw.between(at + 1, len(table.rows)), Line(list(row.items)))
        return {}

    def draw(self, table: Table, args: Args, draw: Draw) -> Args | None:
        """Take what was prepared."""
        return self._fits(table, args)

    def goes(self, table: Table, args: Args) -> list[bool]:
        """Return whether a row was there before."""
        return [row.items in [o.items for o in table.rows[:r]] for r, row in enumerate(table.rows)]

    def why(self, hand: Hand, args: Args) -> str:
        """Return what the rows that go have in common."""
        return "What stands further up already is repeated in"

    def seen(self, hand: Hand, args: Args) -> list[int]:
        """Compare each row with those above."""
        return [r for r, row in enumerate(hand.grid) if row in hand.grid[:r]]


class DropEmpty(Drop):
    """Delete empty rows."""

    name = "drop-empty"
    frames = ("delete the empty rows", "remove all rows in which nothing is written")

    def prepare(self, table: Table, domain: Domain, draw: Draw) -> Args:
        """Leave a few rows empty between the others."""
        for _ in range(draw.between(1, 3)):
            empty: list[Item] = [None] * len(table.columns)
            table.rows.insert(draw.between(1, len(table.rows) - 1), Line(empty))
        return {}

    def draw(self, table: Table, args: Args, draw: Draw) -> Args | None:
        """Take what was prepared."""
        return self._fits(table, args)

    def goes(self, table: Table, args: Args) -> list[bool]:
        """Return whether a row is empty."""
        return [all(item is None for item in row.items) for row in table.rows]

    def why(self, hand: Hand, args: Args) -> str:
        """Return what the rows that go have in common."""
        return "Nothing is written in"

    def seen(self, hand: Hand, args: Args) -> list[int]:
        """Find the rows that show nothing."""
        return [r for r, row in enumerate(hand.grid) if not any(row)]


class DropColumns(Step):
    """Delete columns."""

    name = "drop-columns"
    frames = (
        "delete the {columns} {list}",
        "remove the {columns} {list} from the sheet",
    )

    def draw(self, table: Table, args: Args, draw: Draw) -> Args | None:
        """Draw one or two columns, not only the last ones."""
        names = [c.name for c in table.columns if c.role in ("group", "number")]
        if len(names) < 4:
            return None
        chosen = draw.sample(names[:-1], draw.between(1, 2))
        return {"columns": sorted(chosen, key=names.index)}

    def told(self, args: Args) -> Mapping[str, Any]:
        """Return the names in quotes."""
        names = [f'"{name}"' for name in args["columns"]]
        return {"list": listed(names), "columns": "column" if len(names) == 1 else "columns"}

    def apply(self, table: Table, args: Args) -> None:
        """Delete them."""
        for name in args["columns"]:
            at = table.at(name)
            del table.columns[at]
            for row in table.rows:
                del row.items[at]

    def plan(self, hand: Hand, args: Args) -> Doing:
        """Delete them in one call."""
        numbers = [hand.at(name) + 1 for name in args["columns"]]
        arguments = {"dimension": "col", "index_list": numbers}
        told = f"I delete column {listed(numbers)}."
        yield from hand.call(told, "delete_batch_data", arguments)


class AddRows(Step):
    """Insert new rows."""

    name = "add-rows"
    frames = (
        "insert {list} {where}",
        "add the new {things} {list} {where}",
    )

    def draw(self, table: Table, args: Args, draw: Draw) -> Args | None:
        """Draw one or two rows and where they go."""
        if any(c.role not in ("key", "group", "number") for c in table.columns):
            return None
        fresh = [word for word in table.key.words if word not in table.keys]
        made = []
        for key in draw.sample(fresh, draw.between(1, 2)):
            items = [key]
            for column in table.columns:
                if column.role == "group":
                    items.append(draw.pick(column.words))
                elif column.role == "number":
                    value = draw_number(column, draw)
                    while value in table.of(column.name):
                        value = draw_number(column, draw)
                    items.append(column.shown(value))
            made.append(items)
        columns = list(zip(*made, strict=True))
        if len(made) == 2 and any(
            a == b for (a, b), c in zip(columns, table.columns, strict=True) if c.role == "number"
        ):
            return None
        below = draw.pick(["", *table.keys[:-1]])
        return {"rows": made, "below": below}

    def told(self, args: Args) -> Mapping[str, Any]:
        """Return the rows, and where they go, in words."""
        where = f"directly below {args['below']}" if args["below"] else "directly below the header"
        return {"list": listed([f"({', '.join(row)})" for row in args["rows"]]), "where": where}

    def apply(self, table: Table, args: Args) -> None:
        """Insert them."""
        at = table.keys.index(args["below"]) + 1 if args["below"] else 0
        made = [Line(list(row)) for row in args["rows"]]
        for line in made:
            for i, column in enumerate(table.columns):
                if column.decimals is not None:
                    line.items[i] = Decimal(line.items[i])
        table.rows[at:at] = made

    def plan(self, hand: Hand, args: Args) -> Doing:
        """Insert them in one call."""
        at = hand.row(args["below"]) + 2 if args["below"] else 2
        arguments = {"values_list": args["rows"], "row_idx": at}
        yield from hand.call(f"The first new row is to be row {at}.", "insert_rows", arguments)


class Rank(Step):
    """Insert a column with ranks."""

    name = "rank"
    frames = (
        'insert a column "{title}" right after {after} with the rank of each {thing} by {column} '
        "(1 is the highest)",
        'add the column "{title}" directly behind {after}, counting the {things} from 1 for the '
        "highest {column}",
    )

    def draw(self, table: Table, args: Args, draw: Draw) -> Args | None:
        """Draw a column to rank by and one whose neighbour lends whole numbers its format."""
        places = [i for i, c in enumerate(table.columns[1:]) if c.decimals in (None, 0)]
        column = draw.pick(table.roles("number"))
        if not places or len(set(table.of(column.name))) < len(table.rows):
            return None
        after = table.columns[draw.pick(places)].name
        return {"column": column.name, "after": after, "title": f"{column.name} Rank"}

    def apply(self, table: Table, args: Args) -> None:
        """Rank by counting those above."""
        figures = table.numbers(args["column"])
        at = table.at(args["after"]) + 1
        table.columns.insert(at, Column(args["title"], "rank", 0))
        for row, figure in zip(table.rows, figures, strict=True):
            row.items.insert(at, Decimal(1 + sum(other > figure for other in figures)))

    def plan(self, hand: Hand, args: Args) -> Doing:
        """Rank by sorting, and insert the column in one call."""
        figures = [number(text) for text in hand.column(args["column"])]
        order = sorted(figures, reverse=True)
        values = [args["title"], *(order.index(figure) + 1 for figure in figures)]
        arguments = {"values_list": [values], "col_idx": hand.at(args["after"]) + 2}
        told = f"The ranks by {args['column']} go into a new column after {args['after']}."
        yield from hand.call(told, "insert_cols", arguments)


LINES: tuple[Step, ...] = (
    DropGroup(), KeepLargest(), DropBelow(), DropWrong(), DropRepeated(), DropEmpty(),
    DropColumns(), AddRows(), Rank(),
)  # fmt: skip
