"""What a study would do, in words: nothing is played, made or trained."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from agentgym.baselines.config import SCRATCH, ModelConfig
from agentgym.baselines.estimate import Estimate, estimate
from agentgym.baselines.plan import describe_model, plan_evaluation
from agentgym.baselines.studies.settings import StudySettings
from agentgym.baselines.studies.stages import Stage, panel, stages
from agentgym.baselines.studies.start import planned
from agentgym.baselines.studies.study import Study

COMPACT = (
    "these estimates count the environments' own texts; the compact prompt that a model from "
    "scratch reads has about a ninth of their tokens"
)


def planned_stages(
    study: Study,
    settings: StudySettings,
    model: ModelConfig,
    folder: Path,
    arms: tuple[str, ...] = (),
) -> list[Stage]:
    """Return the arms of one model as they would be trained, with the model for every policy."""
    start = planned(settings, model)
    return list(stages(study, settings, start, panel(folder, model), arms, planned=True))


def plan(
    study: Study, settings: StudySettings, folder: Path, arms: tuple[str, ...] = ()
) -> list[str]:
    """Return what would be done, a line each.

    Raises:
        InvalidConfig: if the settings do not fit a trainer.
    """
    lines = [f"{study.name}: {study.title}", *study.notes]
    for model in settings.models:
        chosen = planned_stages(study, settings, model, folder, arms)
        lines.append(f"with {describe_model(model)}, {len(chosen)} arms one after the other:")
        for stage in chosen:
            lines += [f"  {line}" for line in _stage(study, stage)]
        if settings.lines:
            lines.append(f"  beside them, without training: {', '.join(settings.lines)}")
        lines += [f"all arms together: {line}" for line in _total(chosen)]
        if model.name == SCRATCH:
            lines.append(COMPACT)
    return lines


def _total(chosen: list[Stage]) -> list[str]:
    """Return what the arms cost together; what one has from another is counted in both."""
    costs = [estimate(stage.config) for stage in chosen if stage.baseline is not None]
    return sum(costs, Estimate()).lines() if costs else []


def _stage(study: Study, stage: Stage) -> Iterator[str]:
    arm = stage.arm
    yield f"{arm.title} ({arm.baseline}) in {stage.folder}"
    if arm.after:
        yield f"  begins with the policy of: {study.arm(arm.after).title}"
    if arm.shares:
        yield f"  has what would come out the same from: {arm.shares}"
    if stage.baseline is None:
        yield "  the model as it is"
        yield from (f"  {line}" for line in plan_evaluation(stage.config.eval))
    else:
        yield from (f"  {line}" for line in stage.baseline.plan(stage.config))
