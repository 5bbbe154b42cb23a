"""The published tables: carried whole, unknown where unknown, and never mixed with other tasks."""

from __future__ import annotations

import csv
import io
from importlib import resources

import pytest
from rich.console import Console, RenderableType

from agentgym.core.errors import InvalidConfig
from agentgym.leaderboard import (
    CATALOG,
    PaperTable,
    beside,
    catalog_table,
    paper_markdown,
    paper_table,
    paper_tables,
    paper_view,
)
from agentgym.leaderboard.beside import measured
from agentgym.leaderboard.paper import Cell, UnknownCell, UnknownTable, parse_table
from tests.agenteval.make import run

FOLDER = resources.files("agentgym") / "leaderboard" / "tables"


def text_of(view: RenderableType, width: int = 100) -> str:
    console = Console(width=width, file=io.StringIO())
    console.print(view)
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_every_file_has_an_entry_and_every_entry_a_file() -> None:
    files = sorted(f.name for f in FOLDER.iterdir() if f.name.endswith(".csv"))
    assert files == sorted(f"{e.id}.csv" for e in CATALOG)
    aliases = [e.alias for e in CATALOG]
    assert len(set(aliases)) == len(aliases)


@pytest.mark.parametrize("entry", CATALOG, ids=lambda e: e.id)
def test_every_cell_of_every_file_is_carried_as_it_is(entry) -> None:  # type: ignore[no-untyped-def]
    table = paper_table(entry.alias)
    lines = (FOLDER / f"{entry.id}.csv").read_text(encoding="utf-8").splitlines()
    rows = list(csv.reader(x for x in lines if not x.startswith("#")))
    assert [list(table.columns)] + [[c.text for c in row] for row in table.rows] == [
        [cell.strip() for cell in row] for row in rows
    ]
    assert table.sources
    assert all(table.sources)
    assert all(column in table.columns for column in entry.links)


def test_numbers_of_the_main_table() -> None:
    table = paper_table("agentgym-table3")
    assert table.cell("AgentEvol", "Sci").value == 38.0
    assert table.cell("BC_large", "Sci").value == 74.47
    assert table.cell("GPT-4-Turbo", "TC").value == 77.0
    assert len(table.rows) == 13


def test_the_measure_of_each_main_column_fits_its_numbers() -> None:
    """Success rates are counts of the column's tasks; the columns linked as scores are not."""
    table, tasks = paper_table("agentgym-table3"), paper_table("agentgym-table2")
    names = {"Maze": "MAZE"}
    for column, link in table.links.items():
        size = tasks.cell(names.get(link.env, link.env), "AgentEval").value
        assert size is not None
        counts = [c.value / 100 * size for c in table.column(column) if c.value is not None]
        whole = all(abs(c - round(c)) < 1e-6 for c in counts)
        assert whole == (link.measure == "success"), column


def test_unknown_stays_unknown_and_approximate_is_marked() -> None:
    assert paper_table("A1_env_stats").cell("MAZE", "AgentTraj") == Cell(text="?")
    assert not Cell.read("?").known
    assert Cell.read("~0.33") == Cell(text="~0.33", value=0.33, approximate=True)
    assert Cell.read("5e-7").value == 5e-7
    assert Cell.read("55 (text)") == Cell(text="55 (text)")
    assert Cell.read("nan") == Cell(text="nan")


@pytest.mark.parametrize(
    "name", ["agentgym-table3", "A2_main_results", "a2", "A2_main_results.csv"]
)
def test_names(name: str) -> None:
    assert paper_table(name).id == "A2_main_results"


def test_names_that_are_wrong() -> None:
    with pytest.raises(UnknownTable, match="Did you mean agentgym-table3"):
        paper_table("agentgym-tabel3")
    with pytest.raises(UnknownTable, match="leaderboard paper"):
        paper_table("zzz")
    with pytest.raises(UnknownTable):
        paper_table("A6")
    with pytest.raises(UnknownCell, match="AgentEvol"):
        paper_table("a2").cell("AgentEvo", "WS")
    with pytest.raises(UnknownCell):
        paper_table("a2").column("XX")


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="has 2 cells, not 3"):
        parse_table(CATALOG[0], "# source: x\na,b,c\n1,2\n")


def test_round_trip() -> None:
    for table in paper_tables():
        assert PaperTable.model_validate_json(table.model_dump_json()) == table


def test_a_mini_run_stands_apart_and_says_so() -> None:
    mini = run("tiny", {"TextCraft": [[1.0]] * 4, "SciWorld": [[0.5]] * 2})
    view = beside(paper_table("a2"), [mini.report])
    assert view.own == ()
    (row,) = view.apart["mini"]
    assert row.cells["TC"].value == 1.0
    assert row.cells["Sci"].value == 0.5, "SciWorld's column is a mean score"
    assert row.cells["WS"].value is None
    text = text_of(paper_view(view))
    published, apart = text.split("Your runs · mini edition: other tasks, not comparable")
    assert "tiny" not in published
    assert "official edition" in published
    assert "100.00" in apart
    assert "Your runs: mini edition" in paper_markdown(view)


def test_an_official_run_joins_the_columns_with_what_differs() -> None:
    own = run("mine", {"TextCraft": [[1.0]] * 3 + [[0.0]]}, edition="official")
    view = beside(paper_table("a2"), [own.report])
    assert view.apart == {}
    assert view.own[0].cells["TC"].value == 0.75
    assert view.own[0].notes == ("TextCraft 4 tasks here, 100 published",)
    text = text_of(paper_view(view))
    line = next(x for x in text.splitlines() if "mine (yours)" in x)
    assert "75.00" in line
    assert "4 tasks here" in text
    assert "| mine (yours) | – | – | 75.00 |" in paper_markdown(view)


def test_columns_by_kind_and_by_attempts() -> None:
    own = run("mine", {"TextCraft": [[1.0], [0.0]]}, edition="official")
    view = beside(paper_table("agentgym-rl-table3"), [own.report])
    assert view.own[0].cells["Overall"].value == 0.5
    assert view.own[0].cells["Depth1"].value is None, "no task of that kind was played"
    total = run("r", {"TextCraft": [[1.0] + [0.0] * 3]}).report.rows[0].total
    assert measured(total, "avg@4").value == 0.25
    assert measured(total, "avg@8").value is None, "four attempts do not make avg@8"
    assert measured(total, "best@4").value == 1.0
    with pytest.raises(InvalidConfig):
        measured(total, "pass@4")


def test_runs_beside_a_table_that_cannot_take_them() -> None:
    with pytest.raises(InvalidConfig, match="agentgym-table3"):
        beside(paper_table("agentgym-hyperparameters"), [run("a", {"Maze": [[1.0]]}).report])
    other = run("a", {"Guess": [[1.0]]}).report
    assert beside(paper_table("a2"), [other]).apart == {}


@pytest.mark.parametrize("entry", CATALOG, ids=lambda e: e.id)
def test_every_table_can_be_looked_at(entry) -> None:  # type: ignore[no-untyped-def]
    table = paper_table(entry.id)
    text = text_of(paper_view(table))
    assert max(map(len, text.splitlines())) <= 100
    assert table.title in text
    assert paper_markdown(table).count("\n| ") >= len(table.rows)


def test_the_list_names_every_table() -> None:
    text = text_of(catalog_table())
    assert all(e.alias in text for e in CATALOG)
    assert max(map(len, text.splitlines())) <= 100
