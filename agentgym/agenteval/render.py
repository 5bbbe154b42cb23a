"""Reports for people: a terminal table, several runs side by side, and Markdown.

Everything here returns something to show and shows nothing itself. Terminal tables fit 100 columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from agentgym.agenteval.intervals import Estimate
from agentgym.agenteval.metrics import Measures
from agentgym.agenteval.report import Macro, Report, Row
from agentgym.agenteval.text import (
    NOTHING,
    percent,
    plain,
    short_percent,
    tokens,
)
from agentgym.core.errors import InvalidConfig

Metric = Literal["success", "score"]

AVERAGE = "average"


def report_table(report: Report, *, kinds: bool = False) -> RenderableType:
    """Return the terminal table of a run.

    Args:
        report: the run.
        kinds: whether to break every environment down by kind of task.
    """
    parts: list[RenderableType] = []
    for edition in report.editions:
        rows = [row for row in report.rows if row.edition == edition]
        parts.append(_edition_table(report, edition, rows, kinds))
    parts += [Text(f"! {warning}", style="yellow") for warning in report.warnings]
    parts += [Text(line, style="dim") for line in skipped_lines(report)]
    return Group(*parts)


def skipped_lines(report: Report) -> list[str]:
    """Return what was left out, the environments of one reason on one line."""
    reasons: dict[str, list[str]] = {}
    for name, reason in report.skipped.items():
        reasons.setdefault(reason, []).append(name)
    return [f"Left out: {', '.join(names)}: {reason}" for reason, names in reasons.items()]


def _edition_table(
    report: Report, edition: str, rows: Sequence[Row], kinds: bool
) -> RenderableType:
    k = f", {report.attempts} attempts a task" if report.attempts > 1 else ""
    heading = f"{report.agent_name} · {edition} edition · {report.action_format}{k}"
    table = new_table()
    table.add_column("environment", no_wrap=True)
    for name in ("tasks", "success %", "score %", "rounds", "invalid", "tokens", "failed"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*_cells(row.name, row.total, of=row.tasks.size))
        if kinds and len(row.kinds) > 1:
            for kind, measures in row.kinds.items():
                table.add_row(*_cells(f"  {kind}", measures), style="dim")
    macro = report.macro.get(edition)
    if macro and len(rows) > 1:
        table.add_section()
        table.add_row(
            f"{AVERAGE} of {macro.environments}", "", percent(macro.success), percent(macro.score)
        )
    return headed(heading, table)


def _cells(name: str, m: Measures, of: int = 0) -> list[str]:
    """Return the cells of a line: rounds, invalid and tokens without their intervals."""
    invalid = NOTHING if m.invalid.value is None else f"{100 * m.invalid.value:.1f}%"
    return [
        name,
        f"{m.tasks}/{of}" if m.tasks < of else str(m.tasks),
        percent(m.success),
        percent(m.score),
        plain(m.rounds),
        invalid,
        tokens(m.total_tokens, m.episodes),
        str(m.failed),
    ]


def new_table() -> Table:
    """Return an empty table in the look all tables of results share."""
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")


def headed(heading: str, table: Table) -> RenderableType:
    """Return a table under a heading, which may be wider than the table."""
    return Group(Text(heading, style="bold"), table)


def runs_table(reports: Sequence[Report], *, metric: Metric = "success") -> RenderableType:
    """Return several runs side by side: a line an environment, a column a run.

    Runs of different editions get a table each: their numbers are of different tasks.

    Raises:
        InvalidConfig: if there are no runs, or the metric is not known.
    """
    if not reports:
        raise InvalidConfig("there are no runs to show; name at least one")
    if metric not in ("success", "score"):
        raise InvalidConfig(f"metric must be 'success' or 'score', got {metric!r}")
    editions = dict.fromkeys(e for report in reports for e in report.editions)
    notes = dict.fromkeys(
        f"! {report.agent_name}: {w}" for report in reports for w in report.warnings
    )
    left_out = dict.fromkeys(line for report in reports for line in skipped_lines(report))
    return Group(
        *(_side_by_side(reports, edition, metric) for edition in editions),
        *(Text(line, style="yellow") for line in notes),
        *(Text(line, style="dim") for line in left_out),
    )


def _side_by_side(reports: Sequence[Report], edition: str, metric: Metric) -> RenderableType:
    shown = [r for r in reports if edition in r.editions]
    heading = f"{metric} % [95% interval] · {edition} edition"
    table = new_table()
    table.add_column("environment", no_wrap=True)
    table.add_column("tasks", justify="right", no_wrap=True)
    agents = [report.agent_name for report in shown]
    for i, name in enumerate(agents):
        number = f" #{agents[: i + 1].count(name)}" if agents.count(name) > 1 else ""
        table.add_column(name + number, justify="right", overflow="fold")
    names = dict.fromkeys(row.name for r in shown for row in r.rows if row.edition == edition)
    for name in names:
        rows = [_find(report, name, edition) for report in shown]
        counts = dict.fromkeys(str(row.total.tasks) for row in rows if row)
        cells = [short_percent(getattr(row.total, metric)) if row else NOTHING for row in rows]
        table.add_row(name, "/".join(counts), *cells)
    if len(names) > 1:
        table.add_section()
        # An average over other environments than the rest of the line would mislead.
        cells = [_average_cell(r.macro.get(edition), metric, len(names)) for r in shown]
        table.add_row(AVERAGE, "", *cells, style="bold")
    return headed(heading, table)


def _average_cell(macro: Macro | None, metric: Metric, environments: int) -> str:
    if macro is None or macro.environments < environments:
        return NOTHING
    estimate: Estimate = getattr(macro, metric)
    return short_percent(estimate)


def _find(report: Report, name: str, edition: str) -> Row | None:
    return next((r for r in report.rows if r.name == name and r.edition == edition), None)
