"""Reports: round trips, editions apart, warnings, and tables that fit a terminal."""

from __future__ import annotations

import io

import pytest
from rich.console import Console, RenderableType

from agentgym.agenteval import report_markdown, report_table, runs_table
from agentgym.agenteval.report import Report, build_report
from agentgym.core.errors import InvalidConfig
from agentgym.rollout.episode import Failure
from tests.agenteval.make import episode, run


def text_of(view: RenderableType, width: int = 100) -> str:
    console = Console(width=width, file=io.StringIO())
    console.print(view)
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_round_trip_through_json() -> None:
    report = run("a", {"TextCraft": [[1.0, 0.5]] * 3, "Maze": [[0.0, 1.0]] * 2}).report
    assert Report.model_validate_json(report.model_dump_json()) == report


def test_average_over_environments_not_over_tasks() -> None:
    report = run("a", {"TextCraft": [[1.0]] * 30, "Maze": [[0.0]] * 10}).report
    assert report.macro["mini"].success.value == 0.5
    assert report.macro["mini"].environments == 2


def test_editions_are_never_averaged_together() -> None:
    mini = run("a", {"TextCraft": [[1.0]] * 4})
    official = run("a", {"Maze": [[0.0]] * 4}, edition="official")
    config = {**mini.config, "task_sets": mini.config["task_sets"] | official.config["task_sets"]}
    report = build_report(config, mini.episodes + official.episodes)
    assert {e: m.success.value for e, m in report.macro.items()} == {"mini": 1.0, "official": 0.0}
    text = text_of(report_table(report))
    assert "mini edition" in text
    assert "official edition" in text
    assert text_of(runs_table([report])).count("environment ") == 2


def test_missing_failed_and_limited_episodes_are_told() -> None:
    made = run("a", {"TextCraft": [[1.0]] * 4})
    played = [
        made.episodes[0],
        episode(1, 1.0, status="failed"),
        episode(2, 0.5, status="limit"),
    ]
    report = build_report(made.config, played, stopped="out of money")
    assert not report.complete
    text = "\n".join(report.warnings)
    for part in (
        "out of money",
        "1 of 4 episodes have not",
        "1 of 3 episodes failed",
        "had: TextCraft 1 of 3.",
    ):
        assert part in text
    assert report.rows[0].total.success.value == pytest.approx(1 / 3)
    assert "out of money" in text_of(report_table(report))
    assert "out of money" in report_markdown(report)


def test_the_commonest_reason_of_failures_is_told_whatever_the_order() -> None:
    made = run("a", {"TextCraft": [[1.0]] * 4})
    down = Failure(where="model", type="ModelError", message="no connection to\nhttp://host/v1")
    bug = Failure(where="agent", type="KeyError", message="'x'")
    played = [
        episode(i, 0.0, status="failed").model_copy(update={"failure": failure})
        for i, failure in enumerate((bug, down, bug, down))
    ]
    first = build_report(made.config, played).warnings
    assert first == build_report(made.config, played[::-1]).warnings
    assert "(2): agent: KeyError: 'x'" in first[0]
    told = build_report(made.config, played[:2] + played[3:]).warnings[-1]
    assert "(2): model: ModelError: no connection to http://host/v1" in told


def test_a_run_without_episodes_still_reports() -> None:
    made = run("a", {"TextCraft": [[1.0]] * 4, "Maze": [[1.0]]})
    report = build_report(made.config, [])
    assert report.rows[0].total.success.value is None
    assert "–" in text_of(report_table(report))
    assert report_markdown(report)


def test_tables_fit_a_hundred_columns() -> None:
    scores = {name: [[1.0]] * 1000 for name in ("TextCraft", "SciWorld", "WebArena")}
    reports = [run(name, scores).report for name in ("expert", "random", "smollm2-135m")]
    for view in (report_table(reports[0], kinds=True), runs_table(reports)):
        text = text_of(view)
        assert max(map(len, text.splitlines())) <= 100
        assert "…" not in text
    assert "100.0 [99.6, 100.0]" in text_of(report_table(reports[0]))


def test_runs_side_by_side() -> None:
    a = run("a", {"TextCraft": [[1.0]] * 4, "Maze": [[1.0]] * 4}).report
    b = run("b", {"TextCraft": [[0.5]] * 4}).report
    text = text_of(runs_table([a, b], metric="score"))
    lines = {line.split()[0]: line for line in text.splitlines() if line.strip()}
    assert "50.0" in lines["TextCraft"]
    assert lines["Maze"].rstrip().endswith("–")
    assert lines["average"].rstrip().endswith("–"), "an average over fewer environments is none"
    assert "a #1" in text_of(runs_table([a, a]))
    with pytest.raises(InvalidConfig):
        runs_table([])


def test_what_was_left_out_is_listed() -> None:
    made = run("a", {"TextCraft": [[1.0]]}, execution={"skipped": {"BIRD": "why", "Movie": "why"}})
    assert "Left out: BIRD, Movie: why" in text_of(report_table(made.report))
    assert "BIRD, Movie: why" in report_markdown(made.report)


def test_markdown_cells_cannot_break_the_table() -> None:
    made = run("a", {"TextCraft": [[1.0], [0.0]]})
    odd = [e.model_copy(update={"kind": f"a|b\n{i}"}) for i, e in enumerate(made.episodes)]
    text = report_markdown(build_report(made.config, odd))
    assert "a\\|b 0" in text
