"""The page of a recorded run: what each policy reached on the held-out tasks, and the curves.

    agentgym train agentevol --config benchmarks/smollm2/agentevol.yaml --out runs/smollm2
    agentgym train bc --config benchmarks/smollm2/control.yaml --out runs/smollm2-demos \
        model.name=runs/smollm2/round-0/train/model
    python -m benchmarks.smollm2.report runs/smollm2 runs/smollm2-demos

Every policy plays the same tasks, so differences are taken task by task.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from agentgym.agenteval.intervals import Estimate, bounded_mean, paired_difference
from agentgym.baselines.progress import CURVE, read_curve
from agentgym.rollout.episode import Episode
from agentgym.rollout.store import RunFolder
from benchmarks.machine import write_result

NAME = "smollm2_agentevol"
RESULTS = Path(__file__).parent.parent / "results"
COMMAND = "agentgym train agentevol --config benchmarks/smollm2/agentevol.yaml --out runs/smollm2"
ABOUT = """SmolLM2-135M-Instruct with a LoRA adapter (rank 16), float32, on one core that other
work shared. Cloning: 27 demonstrations of BabyAI (mini; at most eight rounds), 45 steps of four.
AgentEvol: one round, one sample for each of 120 train tasks, among them the 40 the demonstrations
are from; what was solved is merged with the demonstrations and learned for 45 steps from the policy
cloning gave. The prompt is compact (`benchmarks/smollm2/babyai.jinja`), without instructions and
thoughts. Evaluation: 100 held-out tasks spread over the levels, once each, greedy, at most eight
rounds, which the expert keeps to in three of four. One seed: the intervals are over tasks and tell
nothing about other seeds. A difference whose interval holds 0 is not shown.
"""
CHECKED = """The control learns for as many steps as AgentEvol from the same policy, on the
demonstrations alone.
"""
UNCHECKED = """There is no control here that learns for as many steps on the demonstrations alone,
so what AgentEvol adds to further cloning is not shown.
"""
CLONED, EVOLVED, CONTROL = "cloning", "AgentEvol", "demonstrations only"


def main() -> None:
    """Write the page, the curves and the plot."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path, help="folder of the AgentEvol run")
    parser.add_argument("control", type=Path, nargs="?", help="folder of the control's run")
    parser.add_argument("--untrained", type=Path, help="run folder of the model before training")
    args = parser.parse_args()
    stages = {CLONED: args.run / "round-0/train", EVOLVED: args.run / "round-1/train"}
    if args.control:
        stages[CONTROL] = args.control
    played = {name: held_out(folder) for name, folder in stages.items()}
    if args.untrained:
        played = {"untrained": episodes_of(args.untrained), **played}
    curves = {name: list(read_curve(folder / CURVE)) for name, folder in stages.items()}
    lines = [
        json.dumps({"stage": name, **point}) for name, points in curves.items() for point in points
    ]
    (RESULTS / f"{NAME}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    plot(curves, played, RESULTS / f"{NAME}.png")
    about = ABOUT + (CHECKED if args.control else UNCHECKED)
    tables = [about, table(played), differences(played), explored(args.run), f"![]({NAME}.png)"]
    body = "\n".join(tables)
    print(body)
    write_result(NAME, "AgentEvol on SmolLM2-135M", COMMAND, body)


def held_out(folder: Path) -> list[Episode]:
    """Return the episodes of a training run's last evaluation."""
    last = max((folder / "eval").glob("step-*"))
    return episodes_of(next(last.iterdir()))


def episodes_of(folder: Path) -> list[Episode]:
    """Return the episodes of a run folder, by task."""
    return sorted(RunFolder.open(folder).episodes(), key=lambda e: e.task_id)


def table(played: dict[str, list[Episode]]) -> str:
    """Return what each policy reached."""
    rows = [
        "| policy | solved, % (95% interval) | rounds, if solved | refused actions, % | episodes |",
        "|---|---|---:|---:|---:|",
    ]
    for name, episodes in played.items():
        steps = [step for e in episodes for step in e.steps]
        won = [e.rounds for e in episodes if e.success]
        refused = 100 * np.mean([not step.valid for step in steps])
        rounds = f"{np.mean(won):.1f}" if won else ""
        rows.append(
            f"| {name} | {percent(bounded_mean(success(episodes)))} | {rounds} | {refused:.0f} "
            f"| {len(episodes)} |"
        )
    return "\n".join(rows) + "\n"


def differences(played: dict[str, list[Episode]]) -> str:
    """Return what AgentEvol gained, task by task."""
    rows = ["| difference | points (95% interval) | only the first | only the second |"]
    rows.append("|---|---|---:|---:|")
    for one, other in ((EVOLVED, CLONED), (CONTROL, CLONED), (EVOLVED, CONTROL)):
        if one not in played or other not in played:
            continue
        high, low = success(played[one]), success(played[other])
        rows.append(
            f"| {one} over {other} | {percent(paired_difference(low, high))} "
            f"| {int(np.sum(high > low))} | {int(np.sum(low > high))} |"
        )
    return "\n".join(rows) + "\n"


def explored(run: Path) -> str:
    """Return the table of rounds the run left."""
    return (run / "rounds.md").read_text(encoding="utf-8")


def success(episodes: list[Episode]) -> Any:
    """Return 1 where an episode was solved, by task."""
    return np.array([float(e.success) for e in episodes])


def percent(estimate: Estimate) -> str:
    """Return an estimate in percent with its interval."""
    low, high = estimate.low or 0.0, estimate.high or 0.0
    return f"{100 * (estimate.value or 0.0):.1f} ({100 * low:.1f} to {100 * high:.1f})"


def plot(curves: dict[str, Any], played: dict[str, list[Episode]], path: Path) -> None:
    """Draw the loss over steps, and what each policy solved."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.5, 3.8), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2)
    after = max(p["step"] for p in curves[CLONED])
    for name, points in curves.items():
        loss = [(p["step"], p["loss"]) for p in points if p["group"] == "train" and "loss" in p]
        at = 0 if name == CLONED else after
        left.plot([at + x for x, _ in loss], [y for _, y in loss], marker=".", label=name)
    left.set_xlabel("optimiser step")
    left.set_ylabel("loss of a batch of four, nats a token")
    left.set_yscale("log")
    left.legend()
    for at, (name, episodes) in enumerate(played.items()):
        e = bounded_mean(success(episodes))
        value, low, high = (100 * (x or 0.0) for x in (e.value, e.low, e.high))
        right.bar(at, value, color="#4878a8" if name == EVOLVED else "#b8c4d0")
        right.errorbar(at, value, [[value - low], [high - value]], color="black", capsize=4)
    right.set_xticks(range(len(played)), list(played), rotation=15)
    right.set_ylabel("held-out tasks solved, %")
    right.set_ylim(0, 100)
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
