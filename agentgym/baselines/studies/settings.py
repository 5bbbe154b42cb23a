"""What a profile decides: the model, the demonstrations, and how each trainer is set.

A trainer's section holds plain settings, as in a file of its own; it stands on what is `shared`,
and that on the trainer's own profile where `use` names one, so that a published setting is written
once. Model, demonstrations and starting policy are the study's to decide, never a section's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from agentgym.baselines.config import SCRATCH, ModelConfig, Settings
from agentgym.baselines.configfile import resolve
from agentgym.baselines.examples import DataConfig
from agentgym.baselines.overrides import apply_override
from agentgym.baselines.profiles import Profiles
from agentgym.baselines.studies.study import Study
from agentgym.core.errors import InvalidConfig
from agentgym.core.yamltext import read_yaml_file

PACKAGE = "agentgym.baselines.studies"
SECTIONS = ("shared", "bc", "agentevol", "dpo", "grpo")
DECIDED = {
    "seed": "seed",
    "model": "models",
    "data": "base and large",
    "policy": "the study",
}
"""What a trainer's section may not hold, and what decides it instead."""


class StudySettings(Settings):
    """A profile of a study.

    Attributes:
        study: name of the study.
        use: the profile of each trainer that its section stands on ("paper"); "" for none.
        seed: of every arm.
        threads: torch's threads; None leaves them as they are.
        models: the models; every arm is trained with each. One from scratch reads a compact prompt
            as whole words and replies with bare actions; any other its own chat template.
        base: the initial demonstrations.
        large: demonstrations of all that is explored.
        clone: whether arms that improve a policy begin with one that cloned `base`; else with the
            model as it is. For studies whose first arm is `study.AS_IT_IS`.
        lines: agents that are not trained, played beside the arms ("random", "expert").
        shared: settings of every trainer.
        bc: settings of BC.
        agentevol: settings of AgentEvol.
        dpo: settings of DPO.
        grpo: settings of ADCA-GRPO, and of GRPO those that it has.
        own: by the name of a model, sections laid over these for that model.
    """

    study: str
    use: str = ""
    seed: int = Field(0, ge=0, lt=2**32)
    threads: int | None = Field(None, ge=1, le=1024)
    models: tuple[ModelConfig, ...] = (ModelConfig(),)
    base: DataConfig = DataConfig()
    large: DataConfig = DataConfig()
    clone: bool = False
    lines: tuple[Literal["random", "expert"], ...] = ()
    shared: dict[str, Any] = Field(default_factory=dict)
    bc: dict[str, Any] = Field(default_factory=dict)
    agentevol: dict[str, Any] = Field(default_factory=dict)
    dpo: dict[str, Any] = Field(default_factory=dict)
    grpo: dict[str, Any] = Field(default_factory=dict)
    own: dict[str, dict[str, dict[str, Any]]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check(self) -> StudySettings:
        names = [model.name for model in self.models]
        if len(set(names)) < len(names) or not names:
            raise ValueError("name every model once, and at least one")
        for model in self.models:
            if model.name == SCRATCH and model.chat_template is not None:
                raise ValueError(
                    "a model from scratch reads the compact prompts of its environments; leave "
                    "chat_template to pretrained models"
                )
        for name, sections in self.own.items():
            if name not in names:
                raise ValueError(f"own: {name} is none of the models ({', '.join(names)})")
            for section in sections:
                if section not in SECTIONS:
                    raise ValueError(f"own: there is no section {section}: {', '.join(SECTIONS)}")
        for owner in (None, *self.own):
            for section, keys in self.sections(owner).items():
                for key in keys:
                    if key in DECIDED:
                        raise ValueError(f"{section}.{key} is decided by {DECIDED[key]}")
        return self

    def sections(self, model: str | None = None) -> dict[str, dict[str, Any]]:
        """Return what is shared and the trainers' sections, for a model by its name."""
        own = self.own.get(model or "", {})
        return {name: merged(getattr(self, name), own.get(name, {})) for name in SECTIONS}


def profiles(study: Study) -> list[str]:
    """Return the names of a study's profiles."""
    return _profiles(study).names()


def load_settings(
    study: Study, source: str | Path = "cpu", overrides: Sequence[str] = ()
) -> StudySettings:
    """Return the settings of a study from a profile or a YAML file, with overrides.

    Args:
        study: the study.
        source: a profile ("cpu", "paper"), or the path of a YAML file.
        overrides: "a.b=value" each, the value written as in YAML.

    Raises:
        UnknownProfile: if there is neither such a profile nor such a file.
        InvalidConfig: if a key is unknown, a value cannot be used, an override is set in vain, or
            the settings are of another study.
    """
    from agentgym.baselines.studies.idle import require_read  # which reads these settings

    data = _read(study, source)
    for override in overrides:
        apply_override(data, override)
    named = data.setdefault("study", study.name)
    if named != study.name:
        raise InvalidConfig(
            f"{source}: study={named!r}, but this is {study.name}. The command names the study: "
            "leave the key out, or run agentgym reproduce with the name of the other"
        )
    settings = resolve(StudySettings, data, str(source))
    require_read(study, settings, overrides)
    return settings


def merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings laid over others, key by key; a list takes the place of a list.

    >>> merged({"optim": {"lr": 1, "epochs": 3}, "k": [1, 2]}, {"optim": {"lr": 2}, "k": [3]})
    {'optim': {'lr': 2, 'epochs': 3}, 'k': [3]}
    """
    result = dict(under)
    for key, value in over.items():
        old = result.get(key)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        result[key] = merged(old, value) if both else value  # type: ignore[arg-type]
    return result


def _read(study: Study, source: str | Path) -> dict[str, Any]:
    text = str(source)
    if text.endswith((".yaml", ".yml")) or "/" in text:
        return read_yaml_file(Path(source).expanduser())
    return _profiles(study).read(text)


def _profiles(study: Study) -> Profiles:
    return Profiles(PACKAGE, "profiles", study.name, f"{study.family}-")
