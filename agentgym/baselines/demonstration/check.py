"""What a demonstration requires of its settings and of this machine, looked at first of all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from agentgym.baselines import checks
from agentgym.baselines.config import SCRATCH, ModelConfig, RunConfig
from agentgym.baselines.configfile import check_folder
from agentgym.baselines.demonstration.arms import ARMS, Cell
from agentgym.baselines.demonstration.experiment import EnvSettings, Experiment
from agentgym.baselines.demonstration.rules import rule_of
from agentgym.baselines.demonstration.start import template_of
from agentgym.core.errors import AgentGymError, InvalidConfig


def check(experiment: Experiment) -> None:
    """Require that a demonstration can be run on this machine.

    Raises:
        AgentGymError: the first of its faults.
    """
    for fault in faults(experiment):
        raise fault


def review(experiment: Experiment, folder: Path) -> list[str]:
    """Return what this machine lacks for a demonstration, a line each; see `checks.review`.

    Raises:
        InvalidConfig: if a setting cannot be used anywhere, or the folder holds something else.
    """
    check_folder(experiment, folder)
    return checks.review(faults(experiment))


def faults(experiment: Experiment) -> Iterator[AgentGymError]:
    """Yield what stands in the way of a demonstration."""
    for setting in experiment.envs:
        yield from checks.caught(lambda env=setting.env: template_of(env))  # type: ignore[misc]
        yield from checks.caught(lambda env=setting.env: rule_of(env))  # type: ignore[misc]
        for config in _configs(experiment, setting):
            yield from checks.faults(config)


def _configs(experiment: Experiment, setting: EnvSettings) -> Iterator[RunConfig]:
    """Yield the arms' settings as they would be, with the model for what is still to be made."""
    here = Path()
    cell = Cell(setting, experiment.seeds[0], experiment.threads, here, here, here)
    model = ModelConfig(name=SCRATCH, scratch=setting.model)
    demos = {"files": (), "expert": (setting.tasks("train", setting.demos),)}
    for arm in ARMS:
        if arm.name not in experiment.arms:
            continue
        try:
            config = arm.config(cell)
        except ValidationError as error:
            why = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
            raise InvalidConfig(f"{setting.env}, {arm.title}: {why}") from error
        update: dict[str, Any] = {"model": model, "data": config.data.model_copy(update=demos)}  # type: ignore[attr-defined]
        if hasattr(config, "policy"):
            update["policy"] = None
        yield config.model_copy(update=update)
