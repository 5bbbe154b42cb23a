"""From an arm and a profile to a trainer's configuration.

Settings are laid over each other in one order: the trainer's own profile, what the profile shares,
the trainer's section, what the arm changes; model, demonstrations and policy come last, from the
study. Whatever two arms do not differ in is therefore the same.
"""

from __future__ import annotations

import copy
import importlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentgym.agenteval.folder import slug
from agentgym.baselines.bc import at_folder
from agentgym.baselines.catalog import Baseline, find_baseline
from agentgym.baselines.checkpoints import MODEL
from agentgym.baselines.config import SCRATCH, ModelConfig, RunConfig
from agentgym.baselines.configfile import resolve
from agentgym.baselines.examples import DataConfig
from agentgym.baselines.grpo import GRPOConfig
from agentgym.baselines.overrides import apply_override
from agentgym.baselines.studies.settings import StudySettings, merged
from agentgym.baselines.studies.start import Start
from agentgym.baselines.studies.study import AS_IT_IS, Arm, Study
from agentgym.core.errors import InvalidConfig

SECTIONS = {"grpo": "grpo", "adca-grpo": "grpo"}
"""The section of the profile a trainer takes, where it is not called like the trainer."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One arm of one model, ready to be trained.

    Attributes:
        arm: the arm.
        baseline: its trainer; None where the policy is measured as it is.
        config: the trainer's settings.
        folder: its run.
    """

    arm: Arm
    baseline: Baseline | None
    config: RunConfig
    folder: Path

    @property
    def policy(self) -> Path:
        """The folder of the policy it leaves."""
        last = getattr(self.config, "iterations", 0) if self.arm.baseline == "agentevol" else 0
        return self.folder / (f"round-{last}/train/{MODEL}" if last else MODEL)


def panel(folder: Path, model: ModelConfig) -> Path:
    """Return where the arms of a model lie."""
    return folder / slug(model.name.rstrip("/").rpartition("/")[2])


def stages(
    study: Study,
    settings: StudySettings,
    start: Start,
    folder: Path,
    names: tuple[str, ...] = (),
    *,
    planned: bool = False,
) -> Iterator[Stage]:
    """Yield the stages of one model, in order.

    Args:
        study: the study.
        settings: the profile.
        start: what the arms begin with.
        folder: where the model's arms lie.
        names: only these arms and those they need; empty for all.
        planned: whether policies of earlier arms are still to be made; where a trainer's model is
            one of these, its configuration then names the model they are made from.

    Raises:
        InvalidConfig: if the settings do not fit a trainer.
    """
    made: dict[str, Path | None] = {}
    for arm in study.needed(names):
        begin = made[arm.after] if arm.after else None
        if planned and arm.baseline != "agentevol":
            begin = None
        config = config_of(arm, settings, start, begin)
        _check(arm, settings, start, config)
        baseline = _trainer(arm, settings)
        stage = Stage(arm, baseline, config, folder / arm.name)
        made[arm.name] = stage.policy if baseline else None
        yield stage


def _check(arm: Arm, settings: StudySettings, start: Start, config: RunConfig) -> None:
    """See that a model from scratch can read all that is played; its prompt knows no more."""
    if start.named != SCRATCH:
        return
    known = {tasks.env for tasks in (*settings.base.expert, *settings.large.expert)}
    explored = getattr(getattr(config, "explore", None), "envs", ())
    for tasks in (*config.eval.envs, *explored, *getattr(config, "tasks", ())):
        if tasks.env not in known:
            raise InvalidConfig(
                f"{settings.study}, {arm.title}: {tasks.env} is played, but a model from scratch "
                "reads only what is demonstrated to it. Name it in base.expert, or name a "
                "pretrained model (models.0.name)."
            )


def config_of(
    arm: Arm, settings: StudySettings, start: Start, policy: Path | None = None
) -> RunConfig:
    """Return the settings of an arm's trainer.

    Args:
        arm: the arm.
        settings: the profile.
        start: what the arms begin with.
        policy: the policy it begins with; None for the model.
    """
    trainer = _trainer(arm, settings)
    baseline = trainer or find_baseline("grpo")  # whose evaluation it is that is played
    section = SECTIONS.get(baseline.name, baseline.name)
    data: dict[str, Any] = {}
    if settings.use:
        data = _profile("adca-grpo" if section == "grpo" else section, settings.use)
    sections = settings.sections(start.named)
    data = merged(merged(data, sections["shared"]), sections[section])
    if baseline.name == "grpo":
        data = {key: value for key, value in data.items() if key in GRPOConfig.model_fields}
    data = copy.deepcopy(data)  # the profile's own stays as it is
    for key, value in arm.settings.items():
        apply_override(data, f"{key}={json.dumps(value)}")
    model, demos = start.model, _demonstrations(arm, settings, start, trainer)
    if baseline.name == "agentevol":
        data["policy"] = None if policy is None else str(policy)
    elif policy is not None:
        model = at_folder(model, policy)
    data |= {"seed": settings.seed, "model": model.model_dump(), "data": demos.model_dump()}
    cls: type[RunConfig] = getattr(importlib.import_module(baseline.module), baseline.settings)
    return resolve(cls, data, f"{settings.study}, {arm.title}")


def _trainer(arm: Arm, settings: StudySettings) -> Baseline | None:
    """Return an arm's trainer: of the policy the others begin with, BC where there is to be one."""
    if arm.baseline == AS_IT_IS:
        return find_baseline("bc") if settings.clone else None
    return find_baseline(arm.baseline)


def _demonstrations(
    arm: Arm, settings: StudySettings, start: Start, trainer: Baseline | None
) -> DataConfig:
    if arm.baseline == AS_IT_IS and trainer is not None:
        return start.base
    return {"base": start.base, "large": start.large, "": DataConfig()}[arm.data]


def _profile(baseline: str, name: str) -> dict[str, Any]:
    return find_baseline(baseline).config(name).model_dump(mode="json")
