"""Own results in a published table's shape: its columns, and never its rows."""

from __future__ import annotations

from agentgym.leaderboard import paper_table
from agentgym.leaderboard.shape import columns_of, published_markdown, selected, shaped
from tests.agenteval.make import run


def test_a_row_a_method_and_a_column_an_environment() -> None:
    table = paper_table("agentgym-table3")
    reports = [
        run("BC (base)", {"Maze": [[1.0], [0.0]], "BabyAI": [[0.5], [0.25]]}).report,
        run("AgentEvol", {"Maze": [[1.0], [1.0]]}).report,
    ]
    assert shaped(columns_of(table, reports), reports) == (
        "| method | WS | ALF | TC | Sci | Baby | MZ | WD | WT | MV | TL | BD |\n"
        "| :-- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |\n"
        "| BC (base) | – | – | – | – | 37.50 | 50.00 | – | – | – | – | – |\n"
        "| AgentEvol | – | – | – | – | – | 100.00 | – | – | – | – | – |"
    )


def test_environments_the_paper_does_not_have_stand_behind_its_own() -> None:
    table = paper_table("agentevolver-table5")
    reports = [run("GRPO", {"Maze": [[1.0, 0.0], [0.0, 0.0]]}).report]
    columns = columns_of(table, reports, ("avg@K", "best@K"))
    assert [column.head for column in columns] == [
        "AppWorld_avg8", "AppWorld_best8", "BFCL_avg8", "BFCL_best8", "Maze avg@2", "Maze best@2"
    ]  # fmt: skip
    assert shaped(columns, reports).splitlines()[-1] == "| GRPO | – | – | – | – | 25.00 | 50.00 |"
    assert [c.head for c in columns_of(table, reports)][4:] == ["Maze"]


def test_published_rows_are_as_printed_with_what_is_unknown() -> None:
    table = selected(paper_table("agentgym-table4"), ("ablation", ("iterations",)))
    assert published_markdown(table).startswith(
        "| ablation | setting | WS | ALF | Baby | TC | note |\n"
        "| :-- | --: | --: | --: | --: | --: | --: |\n"
        "| iterations | M=1..4 | ? | ? | ? | ? | plot; rises then converges; M=4 chosen |\n\n"
        "- Source: "
    )
    assert published_markdown(table).endswith("- `?`: published, but not found by us")
    whole = paper_table("agentgym-table6")
    assert selected(whole, None) == whole
    assert "not found" not in published_markdown(whole)
