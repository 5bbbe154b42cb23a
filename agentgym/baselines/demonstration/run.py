"""Running a demonstration: every arm of every cell, in a folder that can be taken up again.

A cell is an environment and a seed; its arms run one after the other, since all begin with BC's
policy, and cells run side by side in processes of their own. Trainers and evaluations resume by
themselves, so the same call goes on wherever it was stopped. Everything that is shown is read back
from the episodes on disk.
"""

from __future__ import annotations

import json
import multiprocessing
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import Any

from agentgym.agenteval.evaluate import evaluate
from agentgym.agents.base import Agent
from agentgym.agents.expert import ExpertAgent
from agentgym.agents.random import RandomAgent
from agentgym.baselines.checkpoints import RESULT
from agentgym.baselines.configfile import save_config
from agentgym.baselines.demonstration.arms import ARMS, Arm, Cell
from agentgym.baselines.demonstration.check import check
from agentgym.baselines.demonstration.experiment import EnvSettings, Experiment
from agentgym.baselines.demonstration.parent import end_with_parent
from agentgym.baselines.demonstration.rules import rule_of
from agentgym.baselines.demonstration.start import prepare
from agentgym.baselines.examples import env_choice
from agentgym.baselines.freeing import set_aside
from agentgym.baselines.progress import Say, to_stderr
from agentgym.baselines.untrained import try_to_train, why_untrained
from agentgym.core.errors import UnknownName
from agentgym.rollout.episode import Episode
from agentgym.rollout.store import RunFolder, write_atomic

CURVES = "curves.jsonl"
TIMES = "times.json"
LINES = ("expert", "rule", "random")
"""Policies that are not trained, drawn as lines."""


class UnknownArm(UnknownName):
    """There is no arm of this name."""


def run(experiment: Experiment, folder: Path, say: Say = to_stderr) -> None:
    """Run a demonstration; the same call again goes on where it was stopped.

    Args:
        experiment: the settings.
        folder: where everything goes: `ENV/seed-N/ARM` are the runs, `ENV/lines` the policies that
            are not trained, `curves.jsonl` everything that was measured on the way.
        say: takes lines of progress.

    Raises:
        InvalidConfig: if the folder holds another demonstration.
        UnknownArm: if there is no such arm.
    """
    for name in experiment.arms:
        find_arm(name)
    check(experiment)
    save_config(experiment, folder)
    cells = [(setting, seed) for seed in experiment.seeds for setting in experiment.envs]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(experiment.jobs, context, end_with_parent) as pool:
        waiting = {
            pool.submit(run_cell, experiment, setting, seed, folder): f"{setting.env}, seed {seed}"
            for setting, seed in cells
        }
        waiting |= {
            pool.submit(run_lines, experiment, setting, folder): f"{setting.env}, lines"
            for setting in experiment.envs
        }
        for number, future in enumerate(as_completed(waiting), 1):
            try:
                future.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)  # what has begun may end
                raise
            say(f"{number} of {len(waiting)} parts are done: {waiting[future]}")
    write_atomic(folder / CURVES, "".join(f"{json.dumps(p)}\n" for p in curves(experiment, folder)))


def run_cell(experiment: Experiment, setting: EnvSettings, seed: int, folder: Path) -> None:
    """Run every arm of a cell, in this process; of one that finds nothing to learn, keep why."""
    import torch

    torch.set_num_threads(experiment.threads)
    set_aside()
    cell = make_cell(experiment, setting, seed, folder)
    for name in experiment.arms:
        place = cell.folder / name
        if not (place / RESULT).exists():
            began = time.perf_counter(), time.process_time()
            train = partial(find_arm(name).train, cell)
            try_to_train(train, place, _prefixed(f"{setting.env}, seed {seed}, {name}: "))
            _add_time(cell.folder / TIMES, name, *began)


def run_lines(experiment: Experiment, setting: EnvSettings, folder: Path) -> None:
    """Play the held-out tasks with the expert, the rule and at random."""
    agents: dict[str, Agent] = {
        "expert": ExpertAgent(),
        "rule": rule_of(setting.env),
        "random": RandomAgent(),
    }
    for name in LINES:
        evaluate(
            agents[name],
            [env_choice(setting.measured())],
            tasks=setting.held_out,
            attempts=1 if name == "expert" else setting.attempts,
            run=_line_folder(folder, setting, name),
            executor="inline",
        )


def make_cell(experiment: Experiment, setting: EnvSettings, seed: int, folder: Path) -> Cell:
    """Return a cell, its demonstrations and its untrained model made."""
    place = folder / setting.env / f"seed-{seed}"
    demos, base = prepare(setting, place, seed=seed)
    return Cell(setting, seed, experiment.threads, demos, base, place)


def find_arm(name: str) -> Arm:
    """Return an arm.

    Raises:
        UnknownArm: if there is none of this name.
    """
    for arm in ARMS:
        if arm.name == name:
            return arm
    raise UnknownArm("arm", name, [arm.name for arm in ARMS])


def untrained(experiment: Experiment, folder: Path, env: str, arm: str) -> dict[int, str]:
    """Return the seeds an arm was not trained with, and why."""
    reasons = {s: why_untrained(arm_folder(folder, env, s, arm)) for s in experiment.seeds}
    return {seed: why for seed, why in reasons.items() if why}


def held_out(
    folder: Path, setting: EnvSettings, name: str, seeds: tuple[int, ...], part: str = ""
) -> Any:
    """Return the held-out episodes of an arm, those of each seed, or of a line as of one seed.

    Args:
        folder: the demonstration.
        setting: the environment.
        name: the arm or line.
        seeds: of an arm.
        part: a part of the arm's run ("round-1"); "" for the whole, whose last evaluation counts.
    """
    if name in LINES:
        return [RunFolder.open(_line_folder(folder, setting, name)).episodes()]
    return [_episodes(arm_folder(folder, setting.env, seed, name) / part) for seed in seeds]


def arm_folder(folder: Path, env: str, seed: int, arm: str) -> Path:
    """Return where the run of an arm lies."""
    return folder / env / f"seed-{seed}" / arm


def curves(experiment: Experiment, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield every point of every curve, with the cell and the arm it belongs to."""
    for setting in experiment.envs:
        for seed in experiment.seeds:
            for arm in experiment.arms:
                place = arm_folder(folder, setting.env, seed, arm)
                for file in sorted(place.rglob("curve.jsonl")):
                    stage = str(file.parent.relative_to(place))
                    for text in file.read_text(encoding="utf-8").splitlines():
                        point = json.loads(text)
                        yield {"env": setting.env, "seed": seed, "arm": arm, "stage": stage} | point


def _episodes(place: Path) -> list[Episode]:
    """Return the episodes of the last evaluation of an arm's run: of its last round and step."""
    runs = [path.parent for path in place.rglob("eval/step-*/*/config.json")]
    return RunFolder.open(
        max(runs, key=lambda path: (_round(path, place), path.parent.name))
    ).episodes()


def _round(path: Path, place: Path) -> int:
    first = path.relative_to(place).parts[0]
    return int(first.partition("-")[2]) if first.startswith("round-") else 0


def _line_folder(folder: Path, setting: EnvSettings, name: str) -> Path:
    return folder / setting.env / "lines" / name


def _prefixed(prefix: str) -> Say:
    return lambda text: to_stderr(prefix + text)


def _add_time(path: Path, arm: str, wall: float, cpu: float) -> None:
    """Keep what an arm cost; of one that was stopped and taken up, the last part."""
    times = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    times[arm] = {
        "wall_s": round(time.perf_counter() - wall, 1),
        "cpu_s": round(time.process_time() - cpu, 1),
    }
    write_atomic(path, json.dumps(times, indent=2) + "\n")
