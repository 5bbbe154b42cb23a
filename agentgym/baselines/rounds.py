"""The table of rounds: what each explored, kept and learned, and how well it then played."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentgym.baselines.evaluate import describe


def rounds_table(rows: Sequence[dict[str, Any]]) -> str:
    """Return the rounds as a Markdown table, one column an environment that was evaluated."""
    envs = list(dict.fromkeys(name for row in rows for name in row["eval"]))
    heads = [
        "round",
        "explored",
        "solved",
        "kept",
        "mean weight",
        "examples",
        "steps",
        "loss",
        *envs,
    ]
    lines = [_line(heads), _line(["---:"] * len(heads))]
    for row in rows:
        share = 100 * row["solved"] / max(row["explored"], 1)
        cells = [
            str(row["round"]),
            _count(row["explored"], row["failed"]),
            f"{row['solved']} ({share:.0f}%)" if row["explored"] else "",
            str(row["kept"]) if row["explored"] else "",
            f"{row['weight']:.2f}" if row["weight"] is not None else "",
            str(row["examples"]),
            str(row["steps"]),
            f"{row['loss']:.3f}",
            *(describe(row["eval"][name]) if name in row["eval"] else "" for name in envs),
        ]
        lines.append(_line(cells))
    return "\n".join(lines) + "\n"


def _count(explored: int, failed: int) -> str:
    return f"{explored} ({failed} failed)" if failed else str(explored) if explored else ""


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
