"""The plots of a demonstration: where every arm ended, and how the learning went."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from agentgym.baselines.demonstration.run import LINES
from agentgym.baselines.demonstration.statistics import Line
from agentgym.core.extras import require

BLUE, GREY = "#4878a8", "#9aa7b4"
Point = dict[str, Any]


def plot_arms(lines: Sequence[Line], path: Path) -> None:
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


def plot_curves(points: Sequence[Point], path: Path) -> None:
    """Draw what was measured on the way: BC by steps, which shows its plateau, and the rounds.

    Args:
        points: those of `curves.jsonl`.
        path: the picture.

    Raises:
        MissingExtra: if matplotlib is not installed.
    """
    require("matplotlib", "The plot", "plot")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    measured = [point for point in points if point["group"] == "eval"]
    envs = list(dict.fromkeys(point["env"] for point in measured))
    figure = Figure(figsize=(4.2 * len(envs), 6.4), layout="constrained")
    FigureCanvasAgg(figure)
    rows = figure.subplots(2, len(envs), squeeze=False)
    for column, env in enumerate(envs):
        here = [point for point in measured if point["env"] == env]
        steps, rounds = rows[0][column], rows[1][column]
        cloned = curve([p for p in here if p["arm"] == "bc"], by_step)
        _seeds(steps, cloned, "BC", GREY)
        steps.set(title=env, xlabel="optimiser steps of BC")
        begun = {seed: {0: max(one.items())[1]} for seed, one in cloned.items() if one}
        for arm, color in (("agentevol", BLUE), ("unfiltered", "#c07850")):
            found = curve([p for p in here if p["arm"] == arm], by_round)
            _seeds(rounds, {s: begun.get(s, {}) | one for s, one in found.items()}, arm, color)
        rounds.set(xlabel="round (0 is BC)")
        rounds.xaxis.get_major_locator().set_params(integer=True)
        rounds.legend(frameon=False, fontsize=8)
        top = 1.1 * max((*steps.get_ylim(), *rounds.get_ylim()))  # one scale for both
        steps.set_ylim(0, top)
        rounds.set_ylim(0, top)
    for row in rows:
        row[0].set_ylabel("held-out episodes solved, %")
    figure.savefig(path, dpi=120)


def by_step(point: Point) -> int:
    """Return the optimiser step of a point."""
    return int(point["step"])


def by_round(point: Point) -> int:
    """Return the round of AgentEvol a point is of."""
    return int(point["stage"].partition("/")[0].removeprefix("round-"))


def curve(points: Sequence[Point], where: Any) -> dict[int, dict[int, float]]:
    """Return the part solved, in percent, by seed and by where a point lies."""
    found: dict[int, dict[int, float]] = {}
    for point in points:
        value = next(v for key, v in point.items() if key.endswith("/success"))
        found.setdefault(point["seed"], {})[where(point)] = 100 * value
    return found


def _seeds(axis: Any, seeds: dict[int, dict[int, float]], name: str, color: str) -> None:
    """Draw every seed thinly and their mean on top, where all of them have a point."""
    if not seeds:
        return
    for one in seeds.values():
        axis.plot(*zip(*sorted(one.items()), strict=True), color=color, linewidth=0.8, alpha=0.5)
    shared = sorted(set.intersection(*map(set, seeds.values())))
    means = [float(np.mean([one[at] for one in seeds.values()])) for at in shared]
    axis.plot(shared, means, "o-", color=color, label=name)
