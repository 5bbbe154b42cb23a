"""A comparison for people: terminal table and Markdown."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from agentgym.agenteval.compare import Comparison, Difference, Pair
from agentgym.agenteval.markdown import markdown_table
from agentgym.agenteval.render import AVERAGE, Metric, headed, new_table
from agentgym.agenteval.text import NOTHING, p_value, signed_points

HEAD = ("environment", "tasks", "success", "difference", "p", "better", "worse", "score", "p")


def comparison_table(comparison: Comparison, *, metric: Metric = "success") -> RenderableType:
    """Return the terminal tables of a comparison, one for each pair and edition.

    Args:
        comparison: from `compare`.
        metric: which difference is shown.
    """
    parts: list[RenderableType] = []
    for pair in comparison.pairs:
        parts += _pair_table(pair, metric)
    return Group(*parts)


def comparison_markdown(comparison: Comparison) -> str:
    """Return a comparison as Markdown, the flipped tasks included."""
    blocks = ["# Comparison, paired by task", LEGEND]
    for pair in comparison.pairs:
        blocks.append(f"## {pair.second} against {pair.first}")
        blocks += [f"> **Note.** {warning}" for warning in pair.warnings]
        for edition in _editions(pair):
            lines = [_cells(row) for row in pair.rows if row.edition == edition]
            blocks.append(f"### {edition} edition\n\n" + markdown_table(HEAD, lines))
            if len(lines) > 1:
                blocks.append(_average_line(pair, edition))
        blocks += [_flips(row) for row in pair.rows if row.better or row.worse]
    return "\n\n".join(blocks) + "\n"


LEGEND = (
    "Differences are the second run minus the first, in percentage points, with 95% intervals over "
    "the tasks both played. p: exact sign test for success, permutation test for the score. "
    "Better and worse: tasks at which the second run succeeded more or less often."
)


def _pair_table(pair: Pair, metric: Metric) -> list[RenderableType]:
    parts: list[RenderableType] = []
    averages = pair.score if metric == "score" else pair.success
    for edition in _editions(pair):
        table = new_table()
        table.add_column("environment", no_wrap=True)
        for name in ("tasks", "success %", f"Δ {metric}, points", "p", "better", "worse"):
            table.add_column(name, justify="right", no_wrap=True)
        rows = [row for row in pair.rows if row.edition == edition]
        for row in rows:
            name, tasks, rates, success, success_p, better, worse, score, score_p = _cells(row)
            change, p = (score, score_p) if metric == "score" else (success, success_p)
            table.add_row(name, tasks, rates, change, p, better, worse)
        if len(rows) > 1 and edition in averages:
            table.add_section()
            table.add_row(AVERAGE, "", "", signed_points(averages[edition]), style="bold")
        heading = f"{pair.second} minus {pair.first}: {metric}, by task · {edition} edition"
        parts.append(headed(heading, table))
    parts += [Text(f"! {warning}", style="yellow") for warning in pair.warnings]
    return parts


def _cells(row: Difference) -> list[str]:
    if row.first_success is None or row.second_success is None:
        return [row.name, "0", *[NOTHING] * 7]
    return [
        row.name,
        str(row.tasks),
        f"{100 * row.first_success:.1f} → {100 * row.second_success:.1f}",
        signed_points(row.success),
        p_value(row.success_p),
        str(row.better),
        str(row.worse),
        signed_points(row.score),
        p_value(row.score_p),
    ]


def _average_line(pair: Pair, edition: str) -> str:
    success, score = pair.success.get(edition), pair.score.get(edition)
    if success is None or score is None:
        return ""
    return (
        f"Average over the environments: success {signed_points(success)}, "
        f"score {signed_points(score)}."
    )


def _flips(row: Difference) -> str:
    lines = [f"**{row.name}**: {row.better} task(s) better, {row.worse} worse."]
    lines += [f"- {which}: {', '.join(ids)}" for which, ids in row.flipped.items() if ids]
    return "\n".join(lines)


def _editions(pair: Pair) -> list[str]:
    return list(dict.fromkeys(row.edition for row in pair.rows))
