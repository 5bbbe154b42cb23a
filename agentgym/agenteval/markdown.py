"""The report of a run as Markdown: the table, the breakdowns, and where every number comes from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agentgym.agenteval.intervals import Estimate
from agentgym.agenteval.metrics import Measures
from agentgym.agenteval.render import AVERAGE, skipped_lines
from agentgym.agenteval.report import Report, Row
from agentgym.agenteval.text import NOTHING, percent, with_interval


def report_markdown(report: Report) -> str:
    """Return the report of a run as Markdown."""
    blocks = [f"# {report.agent_name}", _summary(report)]
    blocks += ["\n".join(f"> **Note.** {w}" + "\n>" for w in report.warnings).rstrip("\n>")]
    for edition in report.editions:
        rows = [row for row in report.rows if row.edition == edition]
        blocks += [f"## {edition} edition", _main(report, edition, rows), _spending(rows)]
        if report.attempts > 1:
            blocks.append(_repeated(report, edition, rows))
        blocks += [_kinds(row) for row in rows if len(row.kinds) > 1]
    blocks += ["## Where this comes from", _provenance(report)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def markdown_table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; every column but the first is aligned to the right."""
    rules = [":--", *("--:" for _ in head[1:])]
    rows = [head, rules, *lines]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in row) + " |"
        for row in rows
    )


def _summary(report: Report) -> str:
    total = sum(row.total.episodes for row in report.rows)
    planned = sum(row.planned for row in report.rows)
    return (
        f"{total} of {planned} episodes, {report.attempts} attempt(s) a task, action format "
        f"`{report.action_format}`, seed {report.seed}. Intervals are 95%, clustered by task; "
        "shares are in percent. Failed episodes count as score 0."
    )


def _main(report: Report, edition: str, rows: Sequence[Row]) -> str:
    head = ("environment", "tasks", "success", "score", "rounds", "invalid", "failed", "limited")
    lines = [(row.name, *_measures(row.total, of=row.tasks.size)) for row in rows]
    macro = report.macro.get(edition)
    if macro and len(rows) > 1:
        name = f"{AVERAGE} of {macro.environments}"
        lines.append((name, "", percent(macro.success), percent(macro.score), "", "", "", ""))
    return markdown_table(head, lines)


def _measures(m: Measures, of: int = 0) -> tuple[str, ...]:
    return (
        f"{m.tasks} of {of}" if m.tasks < of else str(m.tasks),
        percent(m.success),
        percent(m.score),
        with_interval(m.rounds),
        percent(m.invalid),
        str(m.failed),
        str(m.limited),
    )


def _spending(rows: Sequence[Row]) -> str:
    if not any(row.total.total_tokens for row in rows):
        return ""
    head = ("environment", "input tokens", "output tokens", "tokens, all", "$ an episode", "$, all")
    return "### Tokens and cost, an episode\n\n" + markdown_table(
        head,
        (
            (
                row.name,
                with_interval(row.total.input_tokens, 0),
                with_interval(row.total.output_tokens, 0),
                str(row.total.total_tokens),
                with_interval(row.total.cost, 4),
                NOTHING if row.total.total_cost is None else f"{row.total.total_cost:.4f}",
            )
            for row in rows
        ),
    )


def _repeated(report: Report, edition: str, rows: Sequence[Row]) -> str:
    ks = sorted({k for row in rows for k in row.total.best})
    head = (
        "environment",
        f"avg@{report.attempts}",
        *(f"best@{k}" for k in ks[1:]),
        *(f"pass^{k}" for k in ks[1:]),
    )
    lines = [
        (row.name, *_repeated_cells(row.total.success, row.total.best, row.total.every, ks))
        for row in rows
    ]
    scores = [
        (row.name, *_repeated_cells(row.total.score, row.total.best_score, {}, ks)) for row in rows
    ]
    macro = report.macro.get(edition)
    if macro and len(rows) > 1:
        lines.append((AVERAGE, *_repeated_cells(macro.success, macro.best, macro.every, ks)))
    return (
        "### Repeated attempts: success\n\n"
        + markdown_table(head, lines)
        + "\n\n### Repeated attempts: score\n\n"
        + markdown_table(head[: 1 + len(ks)], [line[: 1 + len(ks)] for line in scores])
    )


def _repeated_cells(
    mean: Estimate, best: dict[int, Estimate], every: dict[int, Estimate], ks: Sequence[int]
) -> list[str]:
    nothing = Estimate()
    return [
        percent(mean),
        *(percent(best.get(k, nothing)) for k in ks[1:]),
        *(percent(every.get(k, nothing)) for k in ks[1:]),
    ]


def _kinds(row: Row) -> str:
    head = ("kind", "tasks", "success", "score", "rounds", "invalid", "failed", "limited")
    lines = [(kind or NOTHING, *_measures(m)) for kind, m in row.kinds.items()]
    return f"### {row.name} by kind of task\n\n" + markdown_table(head, lines)


def _provenance(report: Report) -> str:
    head = ("environment", "edition", "split", "played", "in the split", "AgentEval", "max rounds",
            "version", "digest")  # fmt: skip
    lines = [
        (
            row.name,
            row.edition,
            row.tasks.split,
            str(row.tasks.planned_tasks),
            str(row.tasks.size),
            NOTHING if row.published_size is None else str(row.published_size),
            str(row.tasks.max_rounds),
            row.tasks.version,
            f"`{row.tasks.digest[:16]}`",
        )
        for row in report.rows
    ]
    agent = ", ".join(f"{key} `{value}`" for key, value in report.agent.items())
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    notes = [f"- {row.name}: {row.tasks.note}" for row in report.rows if row.tasks.note]
    left_out = [f"- {line}" for line in skipped_lines(report)]
    facts = [f"- Agent: {agent}", f"- Versions: {versions}", *notes, *left_out]
    return markdown_table(head, lines) + "\n\n" + "\n".join(facts)
