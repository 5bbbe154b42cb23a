"""Configurations on disk: profiles and YAML files, dotted overrides, the copy beside a run.

The settings as they were resolved are saved in the run's folder, and a folder that holds a run of
other settings is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from agentgym.baselines.config import Settings
from agentgym.baselines.overrides import apply_override, differences, unknown_keys
from agentgym.baselines.profiles import Profiles
from agentgym.core.errors import InvalidConfig, did_you_mean
from agentgym.core.extras import require
from agentgym.core.yamltext import read_yaml_file
from agentgym.rollout.store import write_atomic

CONFIG_FILE = "config.yaml"
S = TypeVar("S", bound=Settings)


def load_config(
    cls: type[S], baseline: str, source: str | Path = "tiny", overrides: Sequence[str] = ()
) -> S:
    """Return a configuration from a profile or a file, with overrides.

    Args:
        cls: the trainer's configuration.
        baseline: name of the trainer, the first part of its profiles' file names.
        source: a profile of the trainer ("tiny", "paper"), or the path of a YAML file.
        overrides: "a.b=value" each, the value written as in YAML.

    Raises:
        UnknownProfile: if there is neither such a profile nor such a file.
        InvalidConfig: if a key is unknown, a value cannot be used, or an override is set in vain.
    """
    data = _read(baseline, source)
    from agentgym.baselines.idle import require_read  # which reads these settings

    for override in overrides:
        apply_override(data, override)
    config = resolve(cls, data, str(source))
    require_read(config, overrides)
    return config


def resolve(cls: type[S], data: Mapping[str, Any], where: str = "the configuration") -> S:
    """Return the settings that plain data describes.

    Raises:
        InvalidConfig: naming the key that is unknown, or the value that cannot be used.
    """
    for path, names in unknown_keys(cls, data, ()):
        near = did_you_mean(path[-1], names, limit=30)
        raise InvalidConfig(f"{where}: there is no setting {'.'.join(path)!r}. {near}".rstrip())
    try:
        return cls.model_validate(dict(data))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        why = first["msg"].removeprefix("Value error, ")
        said = f"{key} cannot be {first['input']!r:.80}: {why}" if key else why
        raise InvalidConfig(f"{where}: {said}") from error


def profiles(baseline: str) -> list[str]:
    """Return the names of a trainer's profiles."""
    return _profiles(baseline).names()


def to_yaml(config: Settings) -> str:
    """Return settings as YAML, every key written out."""
    yaml = require("yaml", "A configuration file", "train")
    return str(yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False))


def save_config(config: Settings, folder: Path) -> None:
    """Write settings into a run's folder, or find them there as they are.

    Raises:
        InvalidConfig: if the folder holds something else.
    """
    check_folder(config, folder)
    if not (folder / CONFIG_FILE).exists():
        write_atomic(folder / CONFIG_FILE, to_yaml(config))


def check_folder(config: Settings, folder: Path) -> None:
    """Require that a run of some settings can go into a folder.

    Raises:
        InvalidConfig: if it is a file, holds a run of other settings, or something else.
    """
    for place in (folder, *folder.parents):
        if place.exists() and not place.is_dir():
            raise InvalidConfig(f"{place} is a file; name a folder for the run (--out)")
    path = folder / CONFIG_FILE
    if path.exists():
        changed = _changed(config, path)
        if changed is not None:
            key, before, after = changed
            raise InvalidConfig(
                f"{folder} holds a run with {key}={before!r}, now it is {after!r}. Name another "
                "folder, or repeat that run's settings to go on with it."
            )
        return
    if folder.exists() and any(folder.iterdir()):
        raise InvalidConfig(f"{folder} is not empty and holds no run; name another folder")


def same_config(config: Settings, folder: Path) -> bool:
    """Return whether a folder holds a run of these settings."""
    path = folder / CONFIG_FILE
    return path.is_file() and _changed(config, path) is None


def _changed(config: Settings, path: Path) -> tuple[str, Any, Any] | None:
    """Return the first setting that differs from those in a file: its name, then and now."""
    old = read_yaml_file(path)
    return next(iter(differences(old, config.model_dump(mode="json"), ())), None)


def _read(baseline: str, source: str | Path) -> dict[str, Any]:
    """Return the plain data of a profile or a file."""
    text = str(source)
    if text.endswith((".yaml", ".yml", ".json")) or "/" in text:
        place = Path(source).expanduser()
        if not place.is_file():
            raise InvalidConfig(f"there is no configuration file {place}")
        return read_yaml_file(place)
    return _profiles(baseline).read(text)


def _profiles(baseline: str) -> Profiles:
    return Profiles("agentgym.baselines", "configs", baseline, f"{baseline}-")
