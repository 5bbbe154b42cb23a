"""Your results in the shape of a published table: a row a method, a column an environment.

The columns are those of the published table that belong to an environment, in its order, then the
environments it does not have. The published rows stand in a table of their own: numbers of
different editions, or of different models, are never rows of one table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agentgym.agenteval.intervals import Estimate
from agentgym.agenteval.markdown import markdown_table
from agentgym.agenteval.report import Report
from agentgym.agenteval.text import NOTHING
from agentgym.leaderboard.beside import measured
from agentgym.leaderboard.catalog import Link
from agentgym.leaderboard.paper import PaperTable


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        head: what it is called.
        link: the environment and its measure.
    """

    head: str
    link: Link


def columns_of(
    table: PaperTable, reports: Sequence[Report], measures: Sequence[str] = ("success",)
) -> list[Column]:
    """Return the columns of one's own table beside a published one.

    Args:
        table: the published table.
        reports: what was measured.
        measures: what is told of an environment the published table has no column for; "K" stands
            for the number of attempts.
    """
    columns = [Column(head, link) for head, link in table.links.items()]
    known = {link.env for link in table.links.values()}
    attempts = max((report.attempts for report in reports), default=1)
    names = dict.fromkeys(row.name for report in reports for row in report.rows)
    for name in names:
        if name not in known:
            for measure in measures:
                measure = measure.replace("K", str(attempts))
                head = name if measure == "success" else f"{name} {measure}"
                columns.append(Column(head, Link(name, measure)))
    return columns


def shaped(columns: Sequence[Column], reports: Sequence[Report]) -> str:
    """Return results as a Markdown table, in percent; "–" stands where nothing was played."""
    lines = [
        [report.agent_name, *(_text(cell(report, column.link)) for column in columns)]
        for report in reports
    ]
    return markdown_table(["method", *(column.head for column in columns)], lines)


def cell(report: Report, link: Link) -> Estimate:
    """Return what a report says of a column."""
    for row in report.rows:
        if row.name == link.env:
            measures = row.kinds.get(link.kind) if link.kind else row.total
            return Estimate() if measures is None else measured(measures, link.measure)
    return Estimate()


def selected(table: PaperTable, where: tuple[str, tuple[str, ...]] | None) -> PaperTable:
    """Return some rows of a published table: those with one of some texts in a column.

    Raises:
        UnknownCell: if it has no such column.
    """
    if where is None:
        return table
    name, texts = where
    kept = [row for row, cell in zip(table.rows, table.column(name), strict=True)
            if cell.text in texts]  # fmt: skip
    return table.model_copy(update={"rows": tuple(kept)})


def published_markdown(table: PaperTable) -> str:
    """Return a published table as Markdown, every cell as it was printed, with its sources."""
    body = markdown_table(table.columns, ([cell.text for cell in row] for row in table.rows))
    lines = [f"- Source: {line}" for line in table.sources]
    if any(not cell.known for row in table.rows for cell in row):
        lines.append("- `?`: published, but not found by us")
    return f"{body}\n\n" + "\n".join(lines)


def _text(estimate: Estimate) -> str:
    return NOTHING if estimate.value is None else f"{100 * estimate.value:.2f}"
