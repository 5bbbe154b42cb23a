"""The official tasks: the published games, numbered as AgentGym numbers them.

AgentGym's ids go through two lists: `mappings_train.json` (2,420 games of json_2.1.1/train) and
`mappings_test.json` (200 games of json_2.1.1/valid_train), whose tasks follow on. Neither list nor
game is shipped; both are looked for in the data folder:

    alfworld/mappings_train.json            or alfworld/configs/mappings_train.json
    alfworld/mappings_test.json             or alfworld/configs/mappings_test.json
    alfworld/json_2.1.1/train/<type>/<trial>/game.tw-pddl        json_2.1.1/ may be left out
    alfworld/json_2.1.1/valid_train/<type>/<trial>/game.tw-pddl

A game that is not in its own folder of games is looked for in the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agentgym.core.data import DATA_VARIABLE, data_root, find_eval_ids
from agentgym.core.errors import InvalidConfig, MissingData
from agentgym.core.task import TaskSet
from agentgym.core.text import parse_json
from agentgym.envs.alfworld.tasks import NAME

FOLDS = {"train": ("mappings_train.json", "train"), "eval": ("mappings_test.json", "valid_train")}
"""Of each split, its list, and the folder of its games."""
GAMES = ("train", "valid_train", "valid_seen", "valid_unseen")

_LONGEST_NAME = 255
"""Bytes of a folder's name that file systems allow."""
_HOW = (
    f"The official edition of {NAME} needs two things in {{place}}: the published games, unpacked "
    "to json_2.1.1/ there ('alfworld-download' of the alfworld package gets them), and AgentGym's "
    "numbering of them, mappings_train.json and mappings_test.json (from its repository, "
    f"agentenv-alfworld/configs/). Set {DATA_VARIABLE} to the folder that holds '{NAME}/'. The "
    "mini edition needs nothing."
)


def official_tasks(data_dir: str | None) -> TaskSet:
    """Return the published tasks in their numbering; ids from the test list are the eval split.

    Args:
        data_dir: the data folder.

    Raises:
        MissingData: if the lists or the games are not there.
        InvalidConfig: if a list is not one.
    """
    place = data_root(data_dir) / NAME
    games_root(place)
    rows = [(split, *row) for split in FOLDS for row in _rows(place, split)]
    published = find_eval_ids(NAME, len(rows), data_dir)
    if published is not None:
        rows = [
            ("eval" if i in published else "train", kind, spec)
            for i, (_, kind, spec) in enumerate(rows)
        ]
    version = "2.1.1-1" if published is None else "2.1.1-listed-1"
    note = (
        "Numbered by AgentGym's two lists; the test list (games of valid_train) is the eval split."
    )
    return TaskSet.build(NAME, "official", version, rows, note)


def _rows(place: Path, split: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    name, fold = FOLDS[split]
    file = next((f for f in (place / name, place / "configs" / name) if f.is_file()), None)
    if file is None:
        raise MissingData(f"there is no {name} in {place}. {_HOW.format(place=place)}")
    try:
        entries = parse_json(file.read_text(encoding="utf-8"))
        if not isinstance(entries, list):
            raise TypeError(f"it holds a {type(entries).__name__}")
        for entry in entries:
            kind, trial = str(entry["task_type"]), str(entry["task_id"])
            if not _plain_name(kind) or not _plain_name(trial):
                raise ValueError(f"{kind!r} and {trial!r} are not names of folders")
            yield kind.partition("-")[0], {"fold": fold, "game": f"{kind}/{trial}"}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidConfig(
            f"{file} must hold a JSON list of objects with 'task_type' and 'task_id' ({error!r})"
        ) from error


def _plain_name(text: str) -> bool:
    named = bool(text) and Path(text).name == text and not {"\\", "\0"}.intersection(text)
    return named and text != ".." and len(text.encode(errors="replace")) <= _LONGEST_NAME


def games_root(place: Path) -> Path:
    """Return the folder that holds the folders of games.

    Args:
        place: ALFWorld's folder of data.

    Raises:
        MissingData: if there is none.
    """
    for root in (place / "json_2.1.1", place):
        if any((root / fold).is_dir() for fold in GAMES):
            return root
    raise MissingData(f"there are no games in {place}. {_HOW.format(place=place)}")


def game_folder(spec: Mapping[str, Any], data_dir: str | None) -> Path:
    """Return the folder of a task's game.

    Args:
        spec: the task's spec.
        data_dir: the data folder.

    Raises:
        MissingData: if it is not there.
    """
    root = games_root(data_root(data_dir) / NAME)
    folds = dict.fromkeys((str(spec["fold"]), *GAMES))
    for fold in folds:
        folder = root / fold / str(spec["game"])
        if folder.is_dir():
            return folder
    raise MissingData(
        f"the game {spec['game']} is in none of {', '.join(folds)} of {root}. Unpack all of "
        "json_2.1.1 there"
    )
