"""The results and the table of a demonstration, made from the episodes on disk."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from agentgym.agenteval.intervals import Estimate
from agentgym.baselines.demonstration.draw import plot_arms, plot_curves
from agentgym.baselines.demonstration.experiment import Experiment
from agentgym.baselines.demonstration.run import (
    CURVES,
    LINES,
    arm_folder,
    find_arm,
    held_out,
)
from agentgym.baselines.demonstration.spent import Spent, spent
from agentgym.baselines.demonstration.statistics import Gap, Line, gap, line
from agentgym.rollout.store import write_atomic

TABLE, RESULTS = "table.md", "results.json"
PLOT, CURVES_PLOT = "plot.png", "curves.png"
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
    """Write the results, the table and the plots of a finished demonstration; return the table.

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
    plot_arms(lines, folder / PLOT)
    points = (folder / CURVES).read_text(encoding="utf-8").splitlines()
    plot_curves([json.loads(point) for point in points], folder / CURVES_PLOT)
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
