"""What a study requires of its settings and of this machine, looked at before anything is made."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from agentgym.baselines import checks
from agentgym.baselines.bc import NoPolicy
from agentgym.baselines.checkpoints import finished
from agentgym.baselines.config import SCRATCH
from agentgym.baselines.configfile import check_folder
from agentgym.baselines.demonstration.start import template_of
from agentgym.baselines.studies.settings import StudySettings, load_settings, profiles
from agentgym.baselines.studies.stages import panel, stages
from agentgym.baselines.studies.start import planned
from agentgym.baselines.studies.study import Study
from agentgym.core.errors import AgentGymError, InvalidConfig


def faults(
    study: Study, settings: StudySettings, folder: Path, arms: tuple[str, ...] = ()
) -> Iterator[AgentGymError]:
    """Yield what stands in the way of a study: of each arm that is not finished."""
    for model in settings.models:
        start, place = planned(settings, model), panel(folder, model)
        chosen = list(stages(study, settings, start, place, arms, planned=True))
        waiting = [stage for stage in chosen if finished(stage.folder) is None]
        if waiting and model.name == SCRATCH:
            yield from _compact(settings)
        if waiting:
            yield from checks.faults(settings)
        for stage in waiting:
            config = stage.config
            if stage.arm.after and getattr(config, "policy", None) is not None:
                config = config.model_copy(update={"policy": None})  # it is still to be made
            yield from (f for f in checks.faults(config) if not isinstance(f, NoPolicy))


def check(study: Study, settings: StudySettings, folder: Path, arms: tuple[str, ...] = ()) -> None:
    """Require that a study can be run on this machine.

    Raises:
        AgentGymError: the first of its faults.
    """
    for fault in faults(study, settings, folder, arms):
        raise fault


def review(
    study: Study, settings: StudySettings, folder: Path, arms: tuple[str, ...], source: str
) -> list[str]:
    """Return what this machine lacks for a study, a line each; see `checks.review`.

    Args:
        study: the study.
        settings: its settings.
        folder: where its runs go.
        arms: only these arms and those they need; empty for all.
        source: the profile or file the settings began with.

    Raises:
        InvalidConfig: if a setting cannot be used anywhere, or the folder holds something else.
    """
    check_folder(settings, folder)
    expected: Iterator[AgentGymError] = iter(())
    if source in profiles(study):
        expected = faults(study, load_settings(study, source), folder, arms)
    return checks.review(faults(study, settings, folder, arms), expected)


def _compact(settings: StudySettings) -> Iterator[AgentGymError]:
    """Yield why there would be no compact prompt for a model from scratch."""
    if not settings.base.expert:
        yield InvalidConfig(
            "a model from scratch is made for environments whose expert demonstrates: name them in "
            "base.expert, or name a pretrained model (models.0.name)"
        )
    for tasks in (*settings.base.expert, *settings.large.expert):
        yield from checks.caught(lambda env=tasks.env: template_of(env))  # type: ignore[misc]
