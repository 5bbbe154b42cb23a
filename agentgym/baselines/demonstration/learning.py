"""How the learning of every arm went: a picture a trainer, a panel an environment.

Each shows what tells most about its trainer: BC what it solves after more and more steps, which is
its plateau; AgentEvol the same after each round, beside its unfiltered control; DPO how many of the
pairs it learns from it puts in order; GRPO and ADCA-GRPO what the groups they sample reach. The
first two are measured on held-out tasks, the others on what is learned.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from agentgym.core.extras import require

BLUE, BROWN = "#4878a8", "#c07850"
Point = Mapping[str, Any]
Curve = dict[int, float]
"""A value by step or round."""


@dataclass(frozen=True)
class View:
    """What a picture shows of one arm's points.

    Attributes:
        group: "eval" or "train", as in `curve.jsonl`.
        key: how the name of what is shown ends; parts of one are shown as percent.
        across: what the points lie by.
        along: the label of that.
        up: the label of the value.
        window: over how many points the mean is taken, where single ones say little.
    """

    group: str
    key: str
    across: Callable[[Point], int]
    along: str
    up: str
    window: int = 1

    def curves(self, points: Sequence[Point], arm: str) -> dict[int, Curve]:
        """Return the values of an arm by seed, in percent."""
        found: dict[int, Curve] = {}
        for point in points:
            if point["arm"] == arm and point["group"] == self.group:
                value = next((v for k, v in point.items() if k.endswith(self.key)), None)
                if value is not None:
                    found.setdefault(point["seed"], {})[self.across(point)] = 100 * value
        return found


def by_step(point: Point) -> int:
    """Return the optimiser step of a point."""
    return int(point["step"])


def by_round(point: Point) -> int:
    """Return the round of AgentEvol a point is of."""
    return int(point["stage"].partition("/")[0].removeprefix("round-"))


STEPS, HELD_OUT = "optimiser step", "held-out episodes solved, %"
# A sampling plays eight tasks or so, so that its success says more of them than of the policy.
SAMPLED = View("train", "success", by_step, STEPS, "sampled episodes solved, %", window=5)
VIEWS: dict[str, View] = {
    "bc": View("eval", "/success", by_step, STEPS, HELD_OUT),
    "agentevol": View("eval", "/success", by_round, "round (0 is BC)", HELD_OUT),
    "dpo": View("train", "rewards/accuracies", by_step, STEPS, "pairs in order, %"),
    "grpo": SAMPLED,
    "adca-grpo": SAMPLED,
}
"""The arms that are drawn."""


def plot_learning(points: Sequence[Point], arm: str, path: Path) -> bool:
    """Draw how an arm learned.

    Args:
        points: those of `curves.jsonl`.
        arm: one of `VIEWS`.
        path: the picture.

    Returns:
        Whether there was anything to draw.

    Raises:
        MissingExtra: if matplotlib is not installed.
    """
    require("matplotlib", "The plot", "plot")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    view = VIEWS[arm]
    envs = list(dict.fromkeys(p["env"] for p in points if p["arm"] == arm))
    if not envs:
        return False
    figure = Figure(figsize=(4.0 * len(envs), 3.4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, len(envs), squeeze=False)[0]
    for axis, env in zip(axes, envs, strict=True):
        here = [point for point in points if point["env"] == env]
        for name, color, seeds in _lines(here, arm, view):
            _draw(axis, seeds, name, color, view.window)
        axis.set(title=env, xlabel=view.along)
        axis.set_ylim(0, 105 if arm == "dpo" else 1.15 * axis.get_ylim()[1])
        axis.xaxis.get_major_locator().set_params(integer=True)
        axis.legend(frameon=False, fontsize=8, loc="lower right" if arm == "bc" else "best")
    axes[0].set_ylabel(view.up)
    figure.savefig(path, dpi=120)
    return True


def _lines(
    points: Sequence[Point], arm: str, view: View
) -> list[tuple[str, str, dict[int, Curve]]]:
    """Return what a panel holds: names, colours and curves."""
    found = view.curves(points, arm)
    if arm != "agentevol":
        return [(arm, BLUE, found)]
    cloned = VIEWS["bc"].curves(points, "bc")
    begun = {seed: {0: max(one.items())[1]} for seed, one in cloned.items()}
    control = view.curves(points, "unfiltered")
    return [
        (name, color, {seed: begun.get(seed, {}) | one for seed, one in curves.items()})
        for name, color, curves in ((arm, BLUE, found), ("unfiltered", BROWN, control))
        if curves
    ]


def _draw(axis: Any, seeds: Mapping[int, Curve], name: str, color: str, window: int) -> None:
    """Draw every seed thinly and their mean on top, where all of them have a point."""
    for one in seeds.values():
        axis.plot(*zip(*sorted(one.items()), strict=True), color=color, linewidth=0.8, alpha=0.45)
    shared = sorted(set.intersection(*map(set, seeds.values()))) if seeds else []
    means = [fmean(one[at] for one in seeds.values()) for at in shared]
    label = name + (f", mean of {len(seeds)} seeds" if len(seeds) > 1 else "")
    if window > 1:
        label += f" and {window} points"
        means = smooth(means, window)
    axis.plot(shared, means, ".-", color=color, label=label)


def smooth(values: Sequence[float], window: int) -> list[float]:
    """Return the mean of so many values around each, of fewer at both ends.

    >>> smooth([0.0, 3.0, 6.0, 3.0], 3)
    [1.5, 3.0, 4.0, 4.5]
    """
    half = window // 2
    return [fmean(values[max(0, i - half) : i + half + 1]) for i in range(len(values))]
