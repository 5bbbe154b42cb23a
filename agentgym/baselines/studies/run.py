"""Running a study: one arm after the other, in a folder that can be taken up again.

Trainers and evaluations resume by themselves and a finished arm is not trained again, so the same
call goes on wherever it was stopped. Under a launcher every process runs every arm; the main one
writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from agentgym.agenteval.evaluate import evaluate
from agentgym.baselines.checkpoints import begin, conclude, done_before, is_main, wait_for
from agentgym.baselines.config import EvalConfig, RunConfig
from agentgym.baselines.configfile import check_folder
from agentgym.baselines.entries import entries
from agentgym.baselines.examples import env_choice
from agentgym.baselines.progress import Journal, Say, to_stderr
from agentgym.baselines.studies.check import check
from agentgym.baselines.studies.reuse import copy_whole, require_studies, take_over
from agentgym.baselines.studies.settings import StudySettings
from agentgym.baselines.studies.stages import Stage, panel, stages
from agentgym.baselines.studies.start import prepare
from agentgym.baselines.studies.study import Study
from agentgym.baselines.untrained import try_to_train

LINES = "lines"
"""The folder of agents that are not trained."""


def run(
    study: Study,
    settings: StudySettings,
    folder: Path,
    say: Say = to_stderr,
    *,
    arms: tuple[str, ...] = (),
    reuse: Sequence[Path] = (),
) -> None:
    """Run a study; the same call again goes on where it was stopped.

    Args:
        study: the study.
        settings: the profile.
        folder: where everything goes: `MODEL/ARM` are the trainers' runs, `MODEL/lines` the agents
            that are not trained.
        say: takes lines of progress.
        arms: only these arms and those they need; empty for all.
        reuse: folders of other studies; a finished run of theirs that would come out the same here
            is copied.

    Raises:
        InvalidConfig: if the folder holds another study, or a setting cannot be used.
    """
    require_studies(reuse)
    check_folder(settings, folder)
    check(study, settings, folder, arms)  # all settings, before anything is made
    begin(settings, folder)
    if settings.threads:
        import torch

        torch.set_num_threads(settings.threads)
    for model in settings.models:
        place = panel(folder, model)
        start = prepare(settings, model, place)
        chosen = list(stages(study, settings, start, place, arms))
        for stage in chosen:
            about = f"{stage.arm.title}: "
            source = take_over(stage, reuse)
            if source is not None:
                say(f"{about}taken over from {source}")
            _train(stage, place, lambda line, about=about: say(about + line))  # type: ignore[misc]
        for name in settings.lines:
            _line(name, chosen[0].config.eval, place / LINES / name)


def _train(stage: Stage, place: Path, say: Say) -> None:
    """Train an arm, or go on with it; of one that finds nothing to learn, keep why."""
    _share(stage, place)
    if stage.baseline is None:
        measure_as_it_is(stage.config, stage.folder, say)
    else:
        try_to_train(partial(stage.baseline.train, stage.config), stage.folder, say)


def measure_as_it_is(config: RunConfig, folder: Path, say: Say = to_stderr) -> dict[str, Any]:
    """Evaluate the model of a configuration without training it.

    Args:
        config: names the model and the evaluation.
        folder: the run's folder.
        say: takes lines of progress.
    """
    begin(config, folder)
    done = done_before(folder, say)
    if done is not None:
        return done
    result: dict[str, Any] = {}
    if is_main():
        from agentgym.baselines.evaluate import evaluate_policy
        from agentgym.baselines.model import load_policy

        journal = Journal(folder, say, tensorboard=config.tensorboard)
        journal.begin(0)
        policy = load_policy(config.model.model_copy(update={"lora": None}))
        result["eval"] = evaluate_policy(policy, config.eval, folder, 0, journal)
        journal.close()
    return conclude(folder, result)


def _share(stage: Stage, place: Path) -> None:
    """Copy what would come out the same from the arm that has it."""
    if not stage.arm.shares:
        return
    other, _, inner = stage.arm.shares.partition("/")
    source, target = place / other / inner, stage.folder / inner
    begin(stage.config, stage.folder)
    if is_main() and not target.exists():
        copy_whole(source, target)
    wait_for(target)


def _line(name: str, config: EvalConfig, folder: Path) -> None:
    """Play the evaluation with an agent that is not trained."""
    if not is_main():
        return
    for _, place, tasks in entries(config.envs):
        evaluate(
            name,
            [env_choice(tasks)],
            tasks=tasks.tasks,
            attempts=1 if name == "expert" else config.attempts,
            seed=config.seed,
            run=folder / place,
            executor=config.sampling.executor,
        )
