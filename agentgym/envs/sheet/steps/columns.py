"""Steps that are about a whole column: compute it, judge by it, sum it up, clean it."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from agentgym.core.draw import Draw
from agentgym.envs.sheet.domains import Domain
from agentgym.envs.sheet.hand import Doing, Hand, listed, number, plain
from agentgym.envs.sheet.positions import position_of
from agentgym.envs.sheet.steps.base import Args, Step, put
from agentgym.envs.sheet.table import Column, Line, Table


class FillColumn(Step):
    """Fill an empty column with what follows from others in the same row."""

    name = "compute"
    frames = (
        'fill in the column "{target}" with {rule}',
        'complete the column "{target}", which is {rule}',
        'work out "{target}" for every {thing} ({rule})',
    )

    def prepare(self, table: Table, domain: Domain, draw: Draw) -> Args | None:
        """Add the empty column at the end."""
        if not domain.rules:
            return None
        target, rule, names = draw.pick(domain.rules)
        decimals = max(table.columns[table.at(name)].decimals or 0 for name in names)
        if rule == "average":  # of two or four, so that it can be written out
            decimals += len(names) // 2
        table.columns.append(Column(target, "computed", decimals))
        for row in table.rows:
            row.items.append(None)
        return {"target": target, "rule": rule, "columns": list(names)}

    def draw(self, table: Table, args: Args, draw: Draw) -> Args | None:
        """Take what was prepared."""
        return args

    def told(self, args: Args) -> Mapping[str, Any]:
        """Return the rule in words."""
        names = listed(args["columns"])
        first, second = args["columns"][:2]
        words = {
            "sum": f"the sum of {names}",
            "average": f"the average of {names}",
            "difference": f"{first} minus {second}",
            "higher": f"the higher of {names}",
        }
        return {**args, "rule": words[args["rule"]]}

    def apply(self, table: Table, args: Args) -> None:
        """Compute it by row."""
        target, places = table.at(args["target"]), [table.at(name) for name in args["columns"]]
        for row in table.rows:
            items = [row.items[place] for place in places]
            figures = [item for item in items if isinstance(item, Decimal)]
            if args["rule"] == "sum":
                row.items[target] = sum(figures, Decimal(0))
            elif args["rule"] == "average":
                row.items[target] = sum(figures, Decimal(0)) / len(figures)
            elif args["rule"] == "difference":
                row.items[target] = figures[0] - figures[1]
            else:
                row.items[target] = max(figures)

    def plan(self, hand: Hand, args: Args) -> Doing:
        """Compute all and write the column once: a formula a row would take a call a row."""
        target = hand.at(args["target"])
        cells = {}
        for r in range(1, len(hand.grid)):
            figures = [number(hand.grid[r][hand.at(name)]) for name in args["columns"]]
            total = sum(figures)
            rules = {"sum": total, "average": total / len(figures),
                     "difference": figures[0] - figures[1], "higher": max(figures)}  # fmt: skip
            cells[r, target] = plain(Decimal(rules[args["rule"]]))
        yield from hand.change(
            cells, f"I work {args['target']} out row by row and write it at once."
        )


class Judge(Step):
    """Fill an empty column with one of two words, by a limit."""

    name = "judge"
    frames = (
        'fill in the column "Remark": "{high}" where {column} is at least {limit}, else "{low}"',
        'write "{high}" into "Remark" for every {thing} with a {column} of {limit} or more, and '
        '"{low}" for the others',
    )

    def prepare(self, table: Table, domain: Domain, draw: Draw) -> Args:
        """Add the empty column at the end."""
        table.columns.append(Column("Remark", "remark"))
        for row in table.rows:
            row.items.append(None)
        return {}

    def draw(self, table: Table, args: Args, draw: Draw) -> Args | None:
        """Draw a column and a limit with rows on either side."""
        column = draw.pick(table.roles("number"))
        figures = sorted(table.numbers(column.name))
        limit = figures[draw.between(2, len(figures) - 2)]
        high, low = draw.pick((("ok", "check"), ("yes", "no"), ("A", "B"), ("enough", "short")))
        return {"column": column.name, "limit": column.shown(limit), "high": high, "low": low}

    def apply(self, table: Table, args: Args) -> None:
        """Judge each row."""
        at, target = table.at(args["column"]), table.at("Remark")
        for row in table.rows:
            enough = row.items[at] >= Decimal(args["limit"])
            row.items[target] = args["high"] if enough else args["low"]

    def plan(self, hand: Hand, args: Args) -> Doing:
        """Judge all and write the column once."""
        target, limit = hand.at("Remark"), number(args["limit"])
        cells = {
            (r, target): args["high"] if number(text) >= limit else args["low"]
            for r, text in enumerate(hand.column(args["column"]), 1)
        }
        yield from hand.change(cells, f"I hold each {args['column']} against {args['limit']}.")


class Total(Step):
    """Fill the one cell of a last row that sums a column up."""

    name = "total"
    frames = (
        "put the {word} of {column} into the last row",
        "fill in the {word} of the column {column} in the row {label}",
        "compute the {word} of {column} and enter it in the row {label} at the bottom",
    )
    _WORDS = (
        ("SUM", "sum", "Total"),
        ("MAX", "maximum", "Highest"),
        ("MIN", "minimum", "Lowest"),
    )

    def prepare(self, table: Table, domain: Domain, draw: Draw) -> Args:
        """Add the last row, empty but for its label."""
        operator, word, label = draw.pick(self._WORDS)
        table.rows.append(Line([label, *[None] * (len(table.columns) - 1)]))
        return {"operator": operator, "word": word, "label": label}

    def draw(self, table: Table, args: Args, draw: Draw) -> Args | None:
        """Draw a column."""
        return {**args, "column": draw.pick(table.roles("number")).name}

    def apply(self, table: Table, args: Args) -> None:
        """Sum the column up."""
        figures = table.numbers(args["column"])
        operator = args["operator"]
        low, high = min(figures), max(figures)
        total = {"SUM": sum(figures, Decimal(0)), "MAX": high, "MIN": low}[operator]
        put(table, len(table.rows) - 1, args["column"], total)

    def plan(self, hand: Hand, args: Args) -> Doing:
        """Let a formula do it."""
        at, last = hand.at(args["column"]), hand.row(args["label"])
        arguments = {
            "start_position": position_of(1, at),
            "end_position": position_of(last - 1, at),
            "result_position": position_of(last, at),
            "operator": args["operator"],
        }
        told = f"{args['column']} runs from row 2 to row {last}; its {args['word']} belongs below."
        yield from hand.call(told, "update_cell_by_formula", arguments)


class Clean(Step):
    """Write the words of a group in one way."""

    name = "clean-words"
    frames = (
        "make the column {column} consistent: it should only read {words}",
        "tidy up {column}, where only the spellings {words} are right",
    )

    def prepare(self, table: Table, domain: Domain, draw: Draw) -> Args:
        """Misspell a few."""
        column = draw.pick([c for c in table.roles("group") if all(len(w) > 2 for w in c.words)]
                           or table.roles("group"))  # fmt: skip
        at = table.at(column.name)
        for row in draw.sample(table.rows, draw.between(2, 5)):
            word = str(row.items[at])
            ways = [
                w
                for w in (word.upper(), word.lower(), f" {word}", f"{word}.", word.title())
                if w != word
            ]
            row.items[at] = draw.pick(ways)
        return {"column": column.name, "words": list(column.words)}

    def draw(self, table: Table, args: Args, draw: Draw) -> Args | None:
        """Take what was prepared."""
        return args

    def told(self, args: Args) -> Mapping[str, Any]:
        """Return the words in quotes."""
        return {**args, "words": listed([f'"{word}"' for word in args["words"]])}

    def apply(self, table: Table, args: Args) -> None:
        """Spell them as they should be."""
        at, right = table.at(args["column"]), {word.lower(): word for word in args["words"]}
        for row in table.rows:
            row.items[at] = right[str(row.items[at]).lower().strip(" .")]

    def plan(self, hand: Hand, args: Args) -> Doing:
        """Find what is spelled otherwise and write the column once."""
        at, cells = hand.at(args["column"]), {}
        for r, text in enumerate(hand.column(args["column"]), 1):
            word = next(w for w in args["words"] if w.lower() == text.lower().strip(" ."))
            if word != text:
                cells[r, at] = word
        rows = listed([r + 1 for r, _ in cells])
        yield from hand.change(cells, f"{args['column']} is misspelled in row {rows}.")


class Units(Step):
    """Leave only the numbers in a column where some carry their unit."""

    name = "clean-units"
    frames = (
        'remove the unit "{unit}" that some values in {column} carry and leave the plain numbers',
        'strip the "{unit}" from the values in {column}, which should be plain numbers',
    )

    def prepare(self, table: Table, domain: Domain, draw: Draw) -> Args:
        """Write the unit behind a few."""
        column = draw.pick(table.roles("number"))
        at = table.at(column.name)
        for row in draw.sample(table.rows, draw.between(3, 6)):
            row.items[at] = f"{column.shown(row.items[at])} {column.unit}"
        return {"column": column.name, "unit": column.unit}

    def draw(self, table: Table, args: Args, draw: Draw) -> Args | None:
        """Take what was prepared."""
        return args

    def apply(self, table: Table, args: Args) -> None:
        """Make numbers of them."""
        at = table.at(args["column"])
        for row in table.rows:
            row.items[at] = Decimal(str(row.items[at]).split()[0])

    def plan(self, hand: Hand, args: Args) -> Doing:
        """Find them and write the column once."""
        at = hand.at(args["column"])
        cells = {
            (r, at): plain(number(text.removesuffix(args["unit"]).strip()))
            for r, text in enumerate(hand.column(args["column"]), 1)
            if text.endswith(args["unit"])
        }
        yield from hand.change(cells, f"{len(cells)} values carry the unit; I write plain numbers.")


COLUMNS: tuple[Step, ...] = (FillColumn(), Judge(), Total(), Clean(), Units())
