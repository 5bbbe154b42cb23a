"""The published evaluation ids: AgentEval's files, read from a folder.

AgentEval (the Hugging Face dataset AgentGym/AgentEval) is a list of ids without content, one file
an environment: `[{"item_id": "webshop_5238", "conversations": null}, ...]`. The tasks themselves
are the official editions'; these files say which of them are the evaluation.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from agentgym.core import AgentGymError
from agentgym.core.data import data_root
from agentgym.core.errors import MissingData

FOLDER = "agenteval"

# Prefixes of published ids that differ from the name of our task set.
_PREFIXES = {"sqlgym": "bird", "todo": "todolist", "lmrlgym_maze": "maze",
             "lmrlgym_wordle": "wordle"}  # fmt: skip


class InvalidIds(AgentGymError):
    """A file does not hold evaluation ids in the published layout."""


def load_official(path: str | os.PathLike[str] | None = None) -> dict[str, list[str]]:
    """Return the published ids by environment ("webshop"), each list in the file's order.

    Args:
        path: a file (.json or .jsonl) or a folder of them; None takes `agenteval/` in the data
            folder (`$AGENTGYM_DATA`).

    Raises:
        MissingData: if nothing is there.
        InvalidIds: if a file has another layout, or an id stands in it twice.
    """
    place = Path(path) if path is not None else data_root() / FOLDER
    files = sorted(place.glob("**/*.json*")) if place.is_dir() else [place]
    if not files or not files[0].is_file():
        raise MissingData(
            f"there are no AgentEval files at {place}. Download the dataset AgentGym/AgentEval on "
            "a connected machine, put its .json files there or set AGENTGYM_DATA to the folder "
            f"that holds '{FOLDER}/'. The mini edition needs nothing."
        )
    ids: dict[str, list[str]] = {}
    for file in files:
        for item_id in _read_ids(file):
            ids.setdefault(item_id.rpartition("_")[0], []).append(item_id)
    for name, listed in ids.items():
        twice = next((i for i in listed if listed.count(i) > 1), None) if _repeats(listed) else None
        if twice:
            raise InvalidIds(f"the id {twice!r} of {name} stands twice in {place}")
    return ids


def official_ids(names: Iterable[str], path: str | os.PathLike[str] | None = None) -> list[str]:
    """Return the published ids of some environments, for `evaluate(task_ids=...)`.

    Args:
        names: names of task sets ("textcraft", "babyai").
        path: as for `load_official`.

    Raises:
        MissingData: if there are no ids for one of the names.
    """
    ids = load_official(path)
    wanted = [name.lower() for name in names]
    missing = [name for name in wanted if name not in ids]
    if missing:
        raise MissingData(
            f"the AgentEval files hold no ids of {', '.join(missing)}; they have: {', '.join(ids)}"
        )
    return [item_id for name in wanted for item_id in ids[name]]


def _read_ids(file: Path) -> Iterator[str]:
    text = file.read_text(encoding="utf-8")
    try:
        if file.suffix == ".jsonl":
            items = [json.loads(line) for line in text.splitlines() if line.strip()]
        else:
            items = json.loads(text)
    except ValueError as error:
        raise InvalidIds(f"{file} is not JSON: {error}") from error
    if not isinstance(items, list):
        raise InvalidIds(f"{file} holds no list of items with an 'item_id'")
    for number, item in enumerate(items):
        yield _normal(item, file, number)


def _normal(item: Any, file: Path, number: int) -> str:
    item_id = item.get("item_id") if isinstance(item, dict) else None
    prefix, _, index = str(item_id).rpartition("_")
    if not isinstance(item_id, str) or not prefix or not index.isdecimal():
        raise InvalidIds(
            f"item {number} of {file} has the id {item_id!r}; expected one like 'webshop_12'"
        )
    prefix = prefix.lower()
    return f"{_PREFIXES.get(prefix, prefix)}_{int(index)}"


def _repeats(ids: list[str]) -> bool:
    return len(set(ids)) < len(ids)
