"""What would be set in vain in a study: what decides nothing, and what the arms differ in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agentgym.baselines.config import SCRATCH
from agentgym.baselines.idle import keys_of, unread
from agentgym.baselines.studies.settings import SECTIONS, StudySettings
from agentgym.baselines.studies.stages import SECTIONS as CALLED
from agentgym.baselines.studies.stages import Stage, stages
from agentgym.baselines.studies.start import planned
from agentgym.baselines.studies.study import AS_IT_IS, Arm, Study
from agentgym.core.errors import InvalidConfig


def require_read(study: Study, settings: StudySettings, overrides: Sequence[str]) -> None:
    """Require that an arm reads everything that was set on top of a profile.

    Raises:
        InvalidConfig: naming what no arm would read, and why.
    """
    for key in keys_of(overrides):
        why = _unread(study, settings, key)
        if why:
            raise InvalidConfig(f"{key} would be set in vain: {why}")


def _unread(study: Study, settings: StudySettings, key: str) -> str:
    head, _, rest = key.partition(".")
    if head in SECTIONS:
        return _unread_section(study, settings, head, rest)
    if head == "models" and ".scratch" in key:
        return _unread_shape(settings, rest.partition(".")[0])
    scratch = any(model.name == SCRATCH for model in settings.models)  # made from both
    if head == "clone" and not any(arm.baseline == AS_IT_IS for arm in study.arms):
        return f"all arms of {study.name} that improve a policy begin with one that cloned base"
    if head == "large" and not scratch and not any(arm.data == "large" for arm in study.arms):
        return f"no arm of {study.name} learns these demonstrations"
    if head == "base" and not scratch and not _learns_base(study, settings):
        return f"no arm of {study.name} learns these demonstrations; set clone=true"
    return ""


def _unread_shape(settings: StudySettings, place: str) -> str:
    number = int(place) if place.isdecimal() else 0
    name = settings.models[min(number, len(settings.models) - 1)].name
    if name == SCRATCH:
        return ""
    return f"it is the shape of a model from scratch, and the model is {name}"


def _learns_base(study: Study, settings: StudySettings) -> bool:
    as_it_is = any(arm.baseline == AS_IT_IS for arm in study.arms)
    return (as_it_is and settings.clone) or any(arm.data == "base" for arm in study.arms)


def _unread_section(study: Study, settings: StudySettings, section: str, key: str) -> str:
    arms = [arm for arm in study.arms if section in ("shared", _section(arm, clone=settings.clone))]
    if not arms:
        return f"no arm of {study.name} is of {section}; its settings are of other studies"
    if key and all(_decides(arm, key) for arm in arms):
        return f"the arms of {study.name} differ in it; another study takes it from the profile"
    if key and all(_laid_over(settings, arm, section, key) for arm in arms):
        return f"what lies over {section} has it too: set it in the trainer's section, or in own"
    names = {arm.name for arm in arms}
    found = [unread(s.config, key) for s in _planned(study, settings) if s.arm.name in names]
    return found[0] if found and all(found) else ""


def _section(arm: Arm, *, clone: bool) -> str:
    """Return the section of the profile an arm takes."""
    if arm.baseline == AS_IT_IS:
        return "bc" if clone else "grpo"
    return CALLED.get(arm.baseline, arm.baseline)


def _decides(arm: Arm, key: str) -> bool:
    return any(key == own or key.startswith(f"{own}.") for own in arm.settings)


def _laid_over(settings: StudySettings, arm: Arm, section: str, key: str) -> bool:
    """Return whether what is laid over a section has a key of it, for every model."""
    for model in settings.models:
        own = settings.own.get(model.name, {})
        over = [own.get(section, {})]
        if section == "shared":
            over.append(settings.sections(model.name)[_section(arm, clone=settings.clone)])
        if not any(_has(data, key) for data in over):
            return False
    return True


def _has(data: Any, key: str) -> bool:
    for part in key.split("."):
        if not isinstance(data, Mapping) or part not in data:
            return False
        data = data[part]
    return True


def _planned(study: Study, settings: StudySettings) -> list[Stage]:
    return [
        stage
        for model in settings.models
        for stage in stages(study, settings, planned(settings, model), Path(), planned=True)
    ]
