"""Published tables for people: terminal and Markdown, alone or with runs beside them."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from agentgym.agenteval.intervals import Estimate
from agentgym.agenteval.markdown import markdown_table
from agentgym.agenteval.render import headed, new_table
from agentgym.agenteval.text import NOTHING
from agentgym.leaderboard.beside import Beside, OwnRow
from agentgym.leaderboard.catalog import CATALOG
from agentgym.leaderboard.paper import UNKNOWN, PaperTable


def catalog_table() -> RenderableType:
    """Return the list of published tables, paper by paper."""
    parts: list[RenderableType] = []
    for paper in dict.fromkeys(entry.paper for entry in CATALOG):
        table = new_table()
        table.add_column("name", no_wrap=True, min_width=27)
        table.add_column("what it shows", no_wrap=True, min_width=33)
        table.add_column("file", no_wrap=True, style="dim")
        for entry in (e for e in CATALOG if e.paper == paper):
            table.add_row(entry.alias, entry.title, entry.id)
        parts.append(headed(paper, table))
    return Group(*parts)


def paper_view(view: Beside | PaperTable) -> RenderableType:
    """Return the terminal view of a published table, with the runs beside it."""
    view = view if isinstance(view, Beside) else Beside(table=view)
    parts: list[RenderableType] = [_published(view)]
    parts += _notes(view.own)
    for edition, rows in view.apart.items():
        parts += [_apart(view.table, edition, rows), *_notes(rows)]
    parts += [Text(f"source: {line}", style="dim") for line in view.table.sources]
    if any(not cell.known for row in view.table.rows for cell in row):
        parts.append(Text(f"{UNKNOWN}: published, but not found by us", style="dim"))
    return Group(*parts)


def _published(view: Beside) -> RenderableType:
    table, numeric = new_table(), _numeric(view.table)
    for name in view.table.columns:
        right = name in numeric
        table.add_column(name, justify="right" if right else "left", overflow="fold", no_wrap=right)
    for row in view.table.rows:
        table.add_row(*(cell.text for cell in row))
    if view.own:
        table.add_section()
        for own in view.own:
            table.add_row(*_own_cells(view.table, own), style="bold green")
    return headed(_heading(view.table), table)


def _apart(paper: PaperTable, edition: str, rows: Sequence[OwnRow]) -> RenderableType:
    """Return the block of runs of another edition, with only the columns they have."""
    columns = [c for c in paper.links if any(r.cells[c].value is not None for r in rows)]
    table = new_table()
    table.add_column("agent", overflow="fold")
    for name in columns:
        link = paper.links[name]
        table.add_column(f"{name}\n{link.measure}", justify="right", no_wrap=True)
    for row in rows:
        table.add_row(row.agent, *(_number(row.cells[c]) for c in columns))
    heading = f"Your runs · {edition} edition: other tasks, not comparable with the rows above"
    return headed(heading, table)


def paper_markdown(view: Beside | PaperTable) -> str:
    """Return a published table as Markdown, with the runs beside it."""
    view = view if isinstance(view, Beside) else Beside(table=view)
    paper = view.table
    lines = [[cell.text for cell in row] for row in paper.rows]
    lines += [_own_cells(paper, own) for own in view.own]
    blocks = [f"# {_heading(paper)}", markdown_table(paper.columns, lines), *_bullets(view.own)]
    for edition, rows in view.apart.items():
        columns = [c for c in paper.links if any(r.cells[c].value is not None for r in rows)]
        head = ["agent", *(f"{c} ({paper.links[c].measure})" for c in columns)]
        cells = [[row.agent, *(_number(row.cells[c]) for c in columns)] for row in rows]
        blocks += [
            f"## Your runs: {edition} edition",
            "Other tasks than the published rows: not comparable with them.",
            markdown_table(head, cells),
            *_bullets(rows),
        ]
    blocks.append("\n".join(f"- Source: {line}" for line in paper.sources))
    return "\n\n".join(blocks) + "\n"


def _heading(table: PaperTable) -> str:
    edition = f" · {table.edition} edition" if table.links else ""
    return f"{table.title} · {table.paper}{edition}"


def _numeric(table: PaperTable) -> set[str]:
    """Return the columns in which every known cell is a number."""
    return {
        name
        for name in table.columns
        if all(c.value is not None or c.text in (UNKNOWN, "-") for c in table.column(name))
    }


def _own_cells(table: PaperTable, own: OwnRow) -> list[str]:
    """Return a run as a row of the published table, its name in the first column."""
    name = f"{own.agent} (yours)"
    return [
        name if i == 0 else _number(own.cells[c]) if c in own.cells else ""
        for i, c in enumerate(table.columns)
    ]


def _number(estimate: Estimate) -> str:
    return NOTHING if estimate.value is None else f"{100 * estimate.value:.2f}"


def _notes(rows: Sequence[OwnRow]) -> list[Text]:
    return [Text(f"! {row.agent}: {'; '.join(row.notes)}", "yellow") for row in rows if row.notes]


def _bullets(rows: Sequence[OwnRow]) -> list[str]:
    lines = [f"- {row.agent}: {'; '.join(row.notes)}" for row in rows if row.notes]
    return ["\n".join(lines)] if lines else []
