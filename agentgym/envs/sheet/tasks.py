"""The tasks: our own sheets with one to four things to do, and the published ones from a folder.

A mini task's spec holds `goal`, `sheet` (the name of the sheet it is about), `book` (the workbook
it begins with), `answer` (what the sheet must show in the end, row by row), `steps` (what the
expert does), and where the task is about them `notes`, `merges`, `frozen` and `sheets`, as
`score.is_done` reads them. The answer is worked out on plain rows with decimal numbers, without the
functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from agentgym.core.data import find_data
from agentgym.core.draw import Draw
from agentgym.core.errors import InvalidConfig
from agentgym.core.task import TaskSet
from agentgym.core.text import parse_json
from agentgym.envs.sheet.domains import DOMAINS, draw_table
from agentgym.envs.sheet.score import matched
from agentgym.envs.sheet.steps import BY_NAME
from agentgym.envs.sheet.table import Table
from agentgym.envs.tools.published import read_published

NAME = "sheet"
FILE = "sheet.jsonl"
SEED = "sheet mini 1"
TRAIN, EVAL = 10, 3
"""Mini tasks of each recipe."""

RECIPES: tuple[tuple[str, ...], ...] = (
    ("set",),
    ("total",),
    ("sort-down",),
    ("sort-up",),
    ("raise-group",),
    ("drop-group",),
    ("drop-limit",),
    ("drop-wrong",),
    ("drop-columns",),
    ("add-rows",),
    ("add-up",),
    ("compute",),
    ("judge",),
    ("rank",),
    ("clean-words",),
    ("clean-units",),
    ("from-notes",),
    ("from-sheet",),
    ("adjust-extremes",),
    ("merge-groups",),
    ("add-up", "sort-down"),
    ("add-rows", "sort-up"),
    ("drop-group", "sort-down"),
    ("keep-largest", "sort-down"),
    ("drop-empty", "merge-title"),
    ("set", "note"),
    ("drop-columns", "freeze"),
    ("from-notes", "sort-down"),
    ("compute", "sort-down", "note"),
    ("drop-empty", "clean-units", "sort-up"),
    ("drop-wrong", "compute", "sort-down"),
    ("from-sheet", "drop-limit", "sort-up"),
    ("drop-repeated", "rank", "freeze"),
    ("clean-words", "drop-group", "delete-sheet", "sort-down"),
    ("drop-empty", "drop-columns", "judge", "sort-up"),
)
"""What a task consists of, in order."""

SHEET = re.compile(r'"(Sheet\d{1,2})"')
"""How a published goal names its sheet."""

_OPENINGS = (
    'In "{sheet}", {steps}.',
    'The sheet "{sheet}" {about}. Please {steps}.',
    'Open "{sheet}", which {about}, and {steps}.',
    'This is about the sheet "{sheet}", which {about}: {steps}.',
)
_JOINTS = (", then ", ". Then ", ". After that, ")

Row = tuple[str, str, dict[str, Any]]


def mini_tasks() -> TaskSet:
    """Return 10 train and 3 eval tasks of each of the 35 recipes."""
    seen: set[str] = set()
    rows = [row for recipe in RECIPES for row in _rows_of(recipe, seen)]
    note = "Drawn by us: sheets of ten kinds, and one to four things to do to each."
    return TaskSet.build(NAME, "mini", "1", Draw(SEED).shuffled(rows), note)


def official_tasks(data_dir: str | None) -> TaskSet:
    """Return the published tasks in their order; all of them are for evaluation.

    Args:
        data_dir: the data folder; it must hold `sheet/sheet.jsonl`.

    Raises:
        MissingData: if it does not.
        InvalidConfig: if a line of it is no task.
    """
    path = find_data(NAME, FILE, folder=data_dir) / FILE
    rows = []
    for number, row in enumerate(read_published(path)):
        try:
            spec = {
                "goal": row["goal"],
                "sheet": SHEET.findall(row["goal"])[0],
                "answer": _grid(row["answer"]),
            }
        except (ValueError, TypeError, IndexError) as error:
            raise InvalidConfig(
                f"{path}: task {number} names no sheet or has no values as its answer ({error}); "
                "the file must be the published one"
            ) from error
        rows.append(("eval", row["difficulty"], spec))
    note = "The published tasks; their workbook has to be brought as well."
    return TaskSet.build(NAME, "official", "agentboard-1", rows, note)


def level_of(recipe: Sequence[str]) -> str:
    """Return how hard a recipe is: "easy", "moderate" or "hard"."""
    if len(recipe) > 2:
        return "hard"
    return "easy" if len(recipe) == 1 and RECIPES.index(tuple(recipe)) < 10 else "moderate"


def _rows_of(recipe: Sequence[str], seen: set[str]) -> Iterator[Row]:
    draw = Draw(f"{SEED} {' '.join(recipe)}")
    made = 0
    while made < TRAIN + EVAL:
        spec = _drawn(recipe, draw)
        if spec is None or spec["goal"] in seen:
            continue
        seen.add(spec["goal"])
        split = "train" if made < TRAIN else "eval"
        made += 1
        yield split, f"{level_of(recipe)}/{'+'.join(recipe)}", spec


def _drawn(recipe: Sequence[str], draw: Draw) -> dict[str, Any] | None:
    """Return a task of a recipe, or None if this draw makes no good one."""
    domain = draw.pick(DOMAINS)
    table = draw_table(domain, draw)
    prepared = {}
    for name in reversed(recipe):  # the first step's preparation meets the sheet last
        prepared[name] = BY_NAME[name].prepare(table, domain, draw)
        if prepared[name] is None:
            return None
    begin = table.copy()
    steps, clauses = [], []
    for name in recipe:
        step = BY_NAME[name]
        args = step.draw(table, prepared[name] or {}, draw)
        if args is None:
            return None
        clauses.append(step.say(table, args, draw))
        step.apply(table, args)
        steps.append({"name": name, "args": args})
    if matched(begin.grid, table.grid) == 1.0:
        return None
    spec = {
        "goal": _told(table, clauses, draw),
        "sheet": table.sheet,
        "book": begin.book(),
        "answer": table.grid,
        "steps": steps,
    }
    return {**spec, **_also(table, recipe)}


def _also(table: Table, recipe: Sequence[str]) -> dict[str, Any]:
    """Return what else must be so in the end."""
    also: dict[str, Any] = {}
    if "note" in recipe:
        also["notes"] = table.notes
    if table.merges:
        also["merges"] = list(table.merges)
    if table.frozen is not None:
        also["frozen"] = table.frozen
    if "delete-sheet" in recipe:
        also["sheets"] = [table.sheet, *table.others]
    return also


def _told(table: Table, clauses: Sequence[str], draw: Draw) -> str:
    text = clauses[0]
    for n, clause in enumerate(clauses[1:], 2):
        joint = " and finally " if n == len(clauses) > 2 else draw.pick(_JOINTS)
        text += joint + clause
    return draw.pick(_OPENINGS).format(sheet=table.sheet, about=table.about, steps=text)


def _grid(answer: Any) -> list[list[str]]:
    held = parse_json(answer) if isinstance(answer, str) else answer
    grid = [[str(value) for value in row] for row in held]
    if not grid or len({len(row) for row in grid}) > 1:
        raise ValueError("its rows are not of one length")
    return grid
