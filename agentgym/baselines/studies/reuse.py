"""Runs that another study has made already.

The same arm stands in several studies: AgentEvol as published is in the tables of iterations, of
samples and of what is explored. What an arm becomes depends on its settings and on what it begins
with alone, so a finished run is taken over where the settings are the same key by key and every
file they name is the same byte by byte. Names of folders are compared from the model's folder on,
since that is where they must differ.
"""

from __future__ import annotations

import filecmp
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from agentgym.baselines.checkpoints import finished, is_main, wait_for
from agentgym.baselines.config import Settings
from agentgym.baselines.configfile import CONFIG_FILE, to_yaml
from agentgym.baselines.studies.stages import Stage
from agentgym.core.errors import InvalidConfig
from agentgym.core.yamltext import read_yaml_file
from agentgym.rollout.store import write_atomic


def require_studies(folders: Sequence[Path]) -> None:
    """Require that folders hold studies.

    Raises:
        InvalidConfig: naming the first that does not.
    """
    for folder in folders:
        if not (folder / CONFIG_FILE).is_file():
            raise InvalidConfig(
                f"there is no study in {folder}; --reuse takes what was the --out of another one"
            )


def take_over(stage: Stage, folders: Sequence[Path]) -> Path | None:
    """Copy a stage's run from another study that has made it, unless it has been begun here.

    Args:
        stage: what is to be trained.
        folders: other studies.

    Returns:
        The run that was copied; None if there is none.
    """
    if stage.baseline is None or (stage.folder / CONFIG_FILE).exists():
        return None
    source = next(_same(stage, folders), None)
    if source is not None:
        if is_main():
            copy_whole(source, stage.folder, stage.config)
        wait_for(stage.folder)
    return source


def copy_whole(source: Path, target: Path, config: Settings | None = None) -> None:
    """Copy a folder so that it is there as a whole or not at all.

    Args:
        source: the folder.
        target: what it becomes; nothing, or an empty folder.
        config: the settings of the run it is, with the names files have here; None for no run.
    """
    scratch = target.with_name(f".{target.name}")
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(source, scratch)
    if config is not None:
        write_atomic(scratch / CONFIG_FILE, to_yaml(config))
    if target.exists():
        target.rmdir()
    scratch.rename(target)


def _same(stage: Stage, folders: Sequence[Path]) -> Iterator[Path]:
    """Yield the finished runs of other studies that are this stage's."""
    place = stage.folder.parent
    ours, _ = _located(stage.config.model_dump(mode="json"), place)
    for folder in folders:
        there = folder / place.name
        for path in sorted(there.glob(f"*/{CONFIG_FILE}")):
            run = path.parent
            if finished(run) is None:
                continue
            theirs, named = _located(read_yaml_file(path), there)
            if ours == theirs and all(_equal(place / name, there / name) for name in named):
                yield run


def _located(data: Any, place: Path) -> tuple[Any, list[str]]:
    """Return settings with files named from a folder on, and the names of these files."""
    if isinstance(data, dict):
        pairs = [(key, *_located(value, place)) for key, value in data.items()]
        return {k: value for k, value, _ in pairs}, [n for *_, names in pairs for n in names]
    if isinstance(data, list):
        parts = [_located(value, place) for value in data]
        return [value for value, _ in parts], [name for _, names in parts for name in names]
    name = _inside(data, place) if isinstance(data, str) else ""
    return (f"./{name}", [name]) if name else (data, [])


def _inside(text: str, place: Path) -> str:
    """Return what follows the folder in a file's name; "" where it is no such name.

    The study may have been run from elsewhere, so the last two names of the folder must do.
    """
    if text.startswith(f"{place}/"):
        return text.removeprefix(f"{place}/")
    _, found, name = f"/{text}".rpartition(f"/{'/'.join(place.resolve().parts[-2:])}/")
    return name if found else ""


def _equal(one: Path, other: Path) -> bool:
    """Return whether two files, or two folders of files, are the same byte by byte."""
    if one.is_dir() and other.is_dir():
        names = [sorted(file.name for file in place.iterdir()) for place in (one, other)]
        return names[0] == names[1] and all(_equal(one / n, other / n) for n in names[0])
    return one.is_file() and other.is_file() and filecmp.cmp(one, other, shallow=False)
