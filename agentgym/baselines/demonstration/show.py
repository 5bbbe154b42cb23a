"""The results and the table of a demonstration, made from the episodes on disk."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from agentgym.agenteval.intervals import Estimate
from agentgym.baselines.demonstration.draw import plot_arms
from agentgym.baselines.demonstration.experiment import Experiment
from agentgym.baselines.demonstration.learning import VIEWS, plot_learning
from agentgym.baselines.demonstration.run import (
    CURVES,
    LINES,
    arm_folder,
    find_arm,
    held_out,
    untrained,
)
from agentgym.baselines.demonstration.spent import Spent, spent
from agentgym.baselines.demonstration.statistics import Gap, Line, gap, line
from agentgym.rollout.episode import Episode
from agentgym.rollout.store import write_atomic

TABLE, RESULTS = "table.md", "results.json"
PLOT, LEARNING = "plot.png", "learning-{arm}.png"
CLAIMS = (("agentevol", "bc"), ("agentevol", "demos"), ("agentevol", "unfiltered"))
"""What the paper's claim comes to: AgentEvol above BC, and above both controls."""
FIRST = "agentevol-round-1"
"""AgentEvol's policy after one round, for which it has played about as much as DPO and GRPO."""
OTHERS = (("dpo", "bc"), ("grpo", "bc"), ("adca-grpo", "bc"), ("adca-grpo", "grpo"),
          (FIRST, "bc"), (FIRST, "dpo"), (FIRST, "grpo"), (FIRST, "adca-grpo"))  # fmt: skip
"""What else is compared."""


def measure(experiment: Experiment, folder: Path) -> tuple[list[Line], list[Gap]]:
    """Return what every arm reached, and the gaps the claim is about.

    Two arms are compared over the seeds both were trained with.
    """
    lines, gaps = [], []
    for setting in experiment.envs:
        env = setting.env
        lines += [line(env, name, held_out(folder, setting, name, ())) for name in LINES]
        found: dict[str, dict[int, list[Episode]]] = {}
        for name in experiment.arms:
            without = untrained(experiment, folder, env, name)
            seeds = tuple(seed for seed in experiment.seeds if seed not in without)
            found[name] = dict(zip(seeds, held_out(folder, setting, name, seeds), strict=True))
            given = spent(setting, name, arm_folder(folder, env, seeds[0], name)) if seeds else None
            if name == "agentevol" and setting.iterations > 1 and seeds:
                first = held_out(folder, setting, name, seeds, "round-1")
                found[FIRST] = dict(zip(seeds, first, strict=True))
                one_round = spent(setting, name, arm_folder(folder, env, seeds[0], name), 1)
                lines.append(line(env, FIRST, first, one_round))
            lines.append(line(env, name, list(found[name].values()), given, without))
        for one, other in [*CLAIMS, *OTHERS]:
            seeds = tuple(seed for seed in found.get(one, {}) if seed in found.get(other, {}))
            if seeds:
                pair = [(name, [found[name][seed] for seed in seeds]) for name in (one, other)]
                some = () if len(seeds) == len(experiment.seeds) else seeds
                gaps.append(gap(env, *pair).model_copy(update={"seeds": some}))
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
    text_of_points = (folder / CURVES).read_text(encoding="utf-8").splitlines()
    points = [json.loads(point) for point in text_of_points]
    for arm in VIEWS:
        plot_learning(points, arm, folder / LEARNING.format(arm=arm))
    return text


def table(lines: Sequence[Line], gaps: Sequence[Gap]) -> str:
    """Return what was reached as Markdown: success with its intervals, and each seed's."""
    rows = [
        "| environment | policy | solved, % (95% interval) | interval over tasks and seeds | "
        "seeds, % | held-out episodes | episodes played to learn, a seed | "
        "optimiser steps (BC's not counted), a seed |",
        "| --- | --- | --- | --- | --- | ---: | ---: | ---: |",
    ]
    for one in lines:
        seeds = "" if one.arm in LINES else ", ".join(f"{100 * s:.1f}" for s in one.seeds)
        count = f"{one.episodes}" + (f" ({one.failed} failed)" if one.failed else "")
        solved = percent(one.success) if one.episodes else "not trained"
        rows.append(
            f"| {one.env} | {title(one.arm)} | {solved} | {ends(one.wide)} | {seeds} | {count} | "
            f"{given(one.spent)} |"
        )
    rows += [
        "",
        "| environment | difference | points (95% interval) | intervals apart | "
        "interval over tasks and seeds | these apart |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for one_gap in gaps:
        names = f"{title(one_gap.arm)} - {title(one_gap.other)}"
        apart, wide_apart = ("yes" if so else "no" for so in (one_gap.apart, one_gap.wide_apart))
        if one_gap.seeds:
            names += f" (seeds {', '.join(map(str, one_gap.seeds))} alone)"
        rows.append(
            f"| {one_gap.env} | {names} | {percent(one_gap.difference)} | {apart} | "
            f"{ends(one_gap.wide)} | {wide_apart if ends(one_gap.wide) else ''} |"
        )
    notes = [
        f"- {one.env}, {title(one.arm)}, seed {seed} was not trained: {why}"
        for one in lines
        for seed, why in one.untrained.items()
    ]
    rows += ["", *notes] if notes else []
    return "\n".join(rows) + "\n"


def given(one: Spent | None) -> str:
    """Return what an arm was given as two cells of a table.

    >>> given(Spent(episodes=1200, steps=40))
    '1,200 | 40'
    """
    return f"{one.episodes:,} | {one.steps:,}" if one else " | "


def title(arm: str) -> str:
    """Return what a table calls an arm or a line."""
    if arm == FIRST:
        return f"{find_arm('agentevol').title}, one round"
    return arm if arm in LINES else find_arm(arm).title


def percent(estimate: Estimate) -> str:
    """Return an estimate as text.

    >>> percent(Estimate(value=0.5, low=0.4, high=0.6, tasks=90))
    '50.0 (40.0 to 60.0)'
    """
    if estimate.value is None:
        return ""
    text = f"{100 * estimate.value:.1f}"
    return f"{text} ({ends(estimate)})" if ends(estimate) else text


def ends(estimate: Estimate) -> str:
    """Return the ends of an interval as text; "" where there is none.

    >>> ends(Estimate(value=0.5, low=0.4, high=0.6, tasks=90)), ends(Estimate(value=0.5))
    ('40.0 to 60.0', '')
    """
    if estimate.low is None or estimate.high is None:
        return ""
    return f"{100 * estimate.low:.1f} to {100 * estimate.high:.1f}"
