"""Your runs beside the published rows.

Published numbers are of the official edition. A run of the official edition joins their columns,
marked as yours and with what differs in its tasks; a run of any other edition stands in a block of
its own, under its own heading, because its numbers are of other tasks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from agentgym.agenteval.intervals import Estimate
from agentgym.agenteval.metrics import Measures
from agentgym.agenteval.report import Report, Row
from agentgym.core.errors import InvalidConfig
from agentgym.leaderboard.catalog import Link
from agentgym.leaderboard.paper import PaperTable


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class OwnRow(_Part):
    """One run in the terms of a published table.

    Attributes:
        agent: the agent's name.
        edition: the edition of its tasks.
        cells: one estimate a linked column, in [0, 1]; value None where the run has none.
        notes: what a reader must know before comparing.
    """

    agent: str
    edition: str
    cells: dict[str, Estimate]
    notes: tuple[str, ...] = ()


class Beside(_Part):
    """A published table and one's own runs.

    Attributes:
        table: the published table.
        own: runs of the table's edition, comparable column by column.
        apart: runs of other editions, by edition; not comparable with the published rows.
    """

    table: PaperTable
    own: tuple[OwnRow, ...] = ()
    apart: dict[str, tuple[OwnRow, ...]] = {}


def beside(table: PaperTable, reports: Sequence[Report]) -> Beside:
    """Put runs beside a published table.

    Args:
        table: from `paper_table`.
        reports: of the runs; those that share no environment with the table are left out.

    Raises:
        InvalidConfig: if runs are given and the table has no column that can be measured here.
    """
    if reports and not table.links:
        raise InvalidConfig(
            f"{table.alias} ({table.title}) has no results of single environments, so runs cannot "
            "stand beside it; agentgym-table3 is the table of main results"
        )
    rows = [own for report in reports for own in _own_rows(table, report)]
    apart: dict[str, tuple[OwnRow, ...]] = {}
    for row in rows:
        if row.edition != table.edition:
            apart[row.edition] = (*apart.get(row.edition, ()), row)
    return Beside(
        table=table, own=tuple(r for r in rows if r.edition == table.edition), apart=apart
    )


def _own_rows(table: PaperTable, report: Report) -> list[OwnRow]:
    found = []
    for edition in report.editions:
        rows = {row.name: row for row in report.rows if row.edition == edition}
        cells = {c: _cell(rows.get(link.env), link) for c, link in table.links.items()}
        if any(cell.value is not None for cell in cells.values()):
            used = [
                rows[e] for e in dict.fromkeys(x.env for x in table.links.values()) if e in rows
            ]
            notes = tuple(note for row in used for note in _notes(row, edition == table.edition))
            found.append(OwnRow(agent=report.agent_name, edition=edition, cells=cells, notes=notes))
    return found


def _cell(row: Row | None, link: Link) -> Estimate:
    measures = None if row is None else row.kinds.get(link.kind) if link.kind else row.total
    return Estimate() if measures is None else measured(measures, link.measure)


def measured(measures: Measures, name: str) -> Estimate:
    """Return a measure by name: "success", "score", "avg@8" or "best@8" (both of success).

    A measure of k attempts is empty unless every task had k.
    """
    if name == "success":
        return measures.success
    if name == "score":
        return measures.score
    found = re.fullmatch(r"(avg|best)@(\d+)", name)
    if found is None:
        raise InvalidConfig(f"unknown measure {name!r}; known: success, score, avg@K, best@K")
    k = int(found[2])
    if found[1] == "best":
        return measures.best.get(k, Estimate())
    return measures.success if measures.attempts >= k else Estimate()


def _notes(row: Row, published: bool) -> list[str]:
    notes = []
    if row.total.episodes < row.planned:
        notes.append(f"{row.name} not complete, {row.total.episodes} of {row.planned} episodes")
    if row.total.tasks < row.tasks.size:
        notes.append(f"{row.name} {row.total.tasks} of {row.tasks.size} tasks")
    elif published and row.published_size not in (None, row.tasks.size):
        notes.append(f"{row.name} {row.tasks.size} tasks here, {row.published_size} published")
    if row.total.failed:
        notes.append(f"{row.name} {row.total.failed} episodes failed and count as 0")
    return notes
