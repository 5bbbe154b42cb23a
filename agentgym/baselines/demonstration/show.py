"""The table and the plot of a demonstration, made from the episodes on disk."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentgym.agenteval.intervals import Estimate
from agentgym.baselines.demonstration.experiment import Experiment
from agentgym.baselines.demonstration.run import LINES, arm_folder, find_arm, held_out
from agentgym.baselines.demonstration.spent import Spent, spent
from agentgym.baselines.demonstration.statistics import Gap, Line, gap, line
from agentgym.core.extras import require
from agentgym.rollout.store import write_atomic

TABLE, PLOT, RESULTS = "table.md", "plot.png", "results.json"
CLAIMS = (("agentevol", "bc"), ("agentevol", "demos"), ("agentevol", "unfiltered"))
"""What the paper's claim comes to: AgentEvol above BC, and above both controls."""


def measure(experiment: Experiment, folder: Path) -> tuple[list[Line], list[Gap]]:
    """Return what every arm reached, and the gaps the claim is about."""
    lines, gaps = [], []
    for setting in experiment.envs:
        found = {
            name: held_out(folder, setting, name, experiment.seeds)
            for name in (*LINES, *experiment.arms)
        }
        for name, episodes in found.items():
            given = None
            if name not in LINES:
                place = arm_folder(folder, setting.env, experiment.seeds[0], name)
                given = spent(setting, name, place)
            lines.append(line(setting.env, name, episodes, given))
        others = [("dpo", "bc"), ("grpo", "bc"), ("adca-grpo", "bc"), ("adca-grpo", "grpo")]
        for one, other in [*CLAIMS, *others]:
            if one in found and other in found:
                gaps.append(gap(setting.env, (one, found[one]), (other, found[other])))
    return lines, gaps


def show(experiment: Experiment, folder: Path) -> str:
    """Write the results, the table and the plot of a finished demonstration; return the table.

    Raises:
        MissingExtra: if matplotlib is not installed; the table is written before.
    """
    lines, gaps = measure(experiment, folder)
    results = {
        "lines": [one.model_dump() for one in lines],
        "gaps": [one.model_dump() for one in gaps],
    }
    write_atomic(folder / RESULTS, json.dumps(results, indent=2) + "\n")
    text = table(lines, gaps)
    write_atomic(folder / TABLE, text)
    plot(lines, folder / PLOT)
    return text


def table(lines: Sequence[Line], gaps: Sequence[Gap]) -> str:
    """Return what was reached as Markdown: success with its interval, and each seed's."""
    rows = [
        "| environment | policy | solved, % (95% interval) | seeds, % | held-out episodes | "
        "episodes learned from, a seed | optimiser steps, a seed |",
        "| --- | --- | --- | --- | ---: | ---: | ---: |",
    ]
    for one in lines:
        seeds = "" if one.arm in LINES else ", ".join(f"{100 * s:.1f}" for s in one.seeds)
        count = f"{one.episodes}" + (f" ({one.failed} failed)" if one.failed else "")
        rows.append(
            f"| {one.env} | {title(one.arm)} | {percent(one.success)} | {seeds} | {count} | "
            f"{given(one.spent)} |"
        )
    rows += ["", "| environment | difference | points (95% interval) | intervals apart |"]
    rows.append("| --- | --- | --- | --- |")
    for one_gap in gaps:
        names = f"{title(one_gap.arm)} - {title(one_gap.other)}"
        apart = "yes" if one_gap.apart else "no"
        rows.append(f"| {one_gap.env} | {names} | {percent(one_gap.difference)} | {apart} |")
    return "\n".join(rows) + "\n"


def given(one: Spent | None) -> str:
    """Return what an arm was given as two cells of a table.

    >>> given(Spent(episodes=1200, steps=40))
    '1,200 | 40'
    """
    return f"{one.episodes:,} | {one.steps:,}" if one else " | "


def title(arm: str) -> str:
    """Return what a table calls an arm or a line."""
    return arm if arm in LINES else find_arm(arm).title


def percent(estimate: Estimate) -> str:
    """Return an estimate as text.

    >>> percent(Estimate(value=0.5, low=0.4, high=0.6, tasks=90))
    '50.0 (40.0 to 60.0)'
    """
    if estimate.value is None:
        return ""
    text = f"{100 * estimate.value:.1f}"
    if estimate.low is None or estimate.high is None:
        return text
    return f"{text} ({100 * estimate.low:.1f} to {100 * estimate.high:.1f})"


def plot(lines: Sequence[Line], path: Path) -> None:
    """Draw the arms with their intervals and seeds, and the lines; one panel an environment.

    Raises:
        MissingExtra: if matplotlib is not installed.
    """
    require("matplotlib", "The plot", "plot")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    envs = list(dict.fromkeys(one.env for one in lines))
    figure = Figure(figsize=(4.2 * len(envs), 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, len(envs), sharey=True, squeeze=False)[0]
    for axis, env in zip(axes, envs, strict=True):
        _panel(axis, env, [one for one in lines if one.env == env])
    axes[0].set_ylabel("held-out episodes solved, %")
    figure.savefig(path, dpi=120)


def _panel(axis: Any, env: str, lines: Sequence[Line]) -> None:
    arms = [one for one in lines if one.arm not in LINES and one.success.value is not None]
    for at, one in enumerate(arms):
        value, low, high = one.success.value or 0.0, one.success.low, one.success.high
        axis.bar(at, 100 * value, color="#4878a8" if one.arm == "agentevol" else "#b8c4d0")
        if low is not None and high is not None:
            reach = [[100 * (value - low)], [100 * (high - value)]]
            axis.errorbar(at, 100 * value, reach, color="black", capsize=4)
        axis.plot([at] * len(one.seeds), [100 * s for s in one.seeds], "k.", alpha=0.6)
    for one, style in zip((x for x in lines if x.arm in LINES), ("-", "--", ":"), strict=False):
        axis.axhline(100 * (one.success.value or 0.0), color="grey", linestyle=style, linewidth=1)
        axis.annotate(one.arm, (len(arms) - 0.5, 100 * (one.success.value or 0.0)), ha="right",
                      va="bottom", fontsize=8, color="grey")  # fmt: skip
    axis.set_xticks(range(len(arms)), [one.arm for one in arms], rotation=35, ha="right")
    axis.set_title(env)
    axis.set_ylim(0, 105)
