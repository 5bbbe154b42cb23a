"""The plot of a demonstration: where every arm ended."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentgym.baselines.demonstration.run import LINES
from agentgym.baselines.demonstration.statistics import Line
from agentgym.core.extras import require


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
    arms = [one for one in lines if one.arm not in LINES]
    for at, one in enumerate(arms):
        if one.success.value is None:
            axis.text(at, 2, "not trained", rotation=90, ha="center", va="bottom", color="grey")
            continue
        value, low, high = one.success.value or 0.0, one.success.low, one.success.high
        axis.bar(at, 100 * value, color="#4878a8" if one.arm == "agentevol" else "#b8c4d0")
        if low is not None and high is not None:
            reach = [[100 * (value - low)], [100 * (high - value)]]
            axis.errorbar(at, 100 * value, reach, color="black", capsize=4)
        axis.plot([at] * len(one.seeds), [100 * s for s in one.seeds], "k.", alpha=0.6)
    for one, style in zip((x for x in lines if x.arm in LINES), ("-", "--", ":"), strict=False):
        height = 100 * (one.success.value or 0.0)
        axis.axhline(height, color="grey", linestyle=style, linewidth=1)
        axis.annotate(one.arm, (1, height), xycoords=("axes fraction", "data"), xytext=(3, 0),
                      textcoords="offset points", va="center", fontsize=8, color="grey",
                      annotation_clip=False)  # fmt: skip
    axis.set_xticks(
        range(len(arms)),
        [one.arm.replace("-round-", ", round ") for one in arms],
        rotation=35,
        ha="right",
    )
    axis.set_title(env)
    axis.set_ylim(0, 105)
