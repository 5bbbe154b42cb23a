"""The published data: BIRD's train, dev and Mini-Dev sets, from their unpacked archives.

Below `<data folder>/bird/` the archives lie as they unpack, or a folder deeper:

    train/train.json  train/train_tables.json  train/train_databases/<db>/<db>.sqlite
    dev_20240627/dev.json  dev_tables.json  dev_databases/<db>/<db>.sqlite
    minidev/MINIDEV/mini_dev_sqlite.json  dev_tables.json  dev_databases/<db>/<db>.sqlite

AgentGym numbers train from 0 and dev behind it (9,428 and 1,534 questions). Questions need only the
JSON files; a database is looked for when a question about it is played.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from agentgym.core.data import DATA_VARIABLE, data_root, find_eval_ids
from agentgym.core.errors import InvalidConfig, MissingData
from agentgym.core.task import TaskSet
from agentgym.core.text import parse_json
from agentgym.envs.bird.place import Place
from agentgym.envs.bird.schema import published_sentences

FOLDER = "bird"
DEPTH = 3
"""How many folders below `bird/` an archive may have been unpacked."""


@dataclass(frozen=True, slots=True)
class Archive:
    """One published set.

    Attributes:
        name: what it is called here.
        files: names its questions may have.
        tables: name of the file that describes its databases.
        databases: name of the folder that holds them.
    """

    name: str
    files: tuple[str, ...]
    tables: str
    databases: str


TRAIN = Archive("train", ("train.json",), "train_tables.json", "train_databases")
DEV = Archive("dev", ("dev.json",), "dev_tables.json", "dev_databases")
MINI_DEV = Archive("mini-dev", ("mini_dev_sqlite.json",), "dev_tables.json", "dev_databases")
ARCHIVES = {archive.name: archive for archive in (TRAIN, DEV, MINI_DEV)}


def official_tasks(name: str, data_dir: str | None) -> TaskSet:
    """Return train and dev: ids from 0, and behind them dev's.

    Args:
        name: prefix of the task ids.
        data_dir: the data folder; a list of eval ids in `bird/eval_ids.json` there is used.

    Raises:
        MissingData: if the questions of either are not there.
        InvalidConfig: if a file is not what it should be.
    """
    rows = [*_rows(TRAIN, "train", data_dir), *_rows(DEV, "eval", data_dir)]
    evals = find_eval_ids(FOLDER, len(rows), data_dir)
    if evals is None:
        note = "BIRD's train set is train and its dev set is eval."
        return TaskSet.build(name, "official", "bird-1", rows, note)
    split = [
        ("eval" if i in evals else "train", kind, spec) for i, (_, kind, spec) in enumerate(rows)
    ]
    note = "Eval ids from eval_ids.json; every other question is train."
    return TaskSet.build(name, "official", "bird-listed-1", split, note)


def mini_dev_tasks(name: str, data_dir: str | None) -> TaskSet:
    """Return BIRD's Mini-Dev, all of it for evaluation.

    Raises:
        MissingData: if it is not there.
        InvalidConfig: if a file is not what it should be.
    """
    rows = _rows(MINI_DEV, "eval", data_dir)
    return TaskSet.build(name, "mini-dev", "bird-1", rows, "BIRD's Mini-Dev (SQLite).")


def published_place(archive: str, database: str, data_dir: str | None) -> Place:
    """Return where a published database lies.

    Raises:
        MissingData: if it is not there.
    """
    wanted = ARCHIVES[archive]
    folder = _home(wanted, data_dir)
    path = folder / wanted.databases / database / f"{database}.sqlite"
    if not path.is_file():
        raise MissingData(
            f"the database {database} of BIRD {wanted.name} is not at {path}; unpack "
            f"{wanted.databases}.zip there"
        )
    return Place.file(path)


def published_text(archive: str, database: str, data_dir: str | None) -> str:
    """Return the published description of a database.

    Raises:
        MissingData: if the file that describes it is not there.
        InvalidConfig: if the file does not describe it.
    """
    wanted = ARCHIVES[archive]
    path = _home(wanted, data_dir) / wanted.tables
    texts = _tables(path) if path.is_file() else None
    if texts is None:
        raise MissingData(f"BIRD {wanted.name} needs {wanted.tables} beside its questions: {path}")
    if database not in texts:
        raise InvalidConfig(f"{path} does not describe the database {database}")
    return texts[database]


def _rows(
    archive: Archive, split: str, data_dir: str | None
) -> list[tuple[str, str, Mapping[str, Any]]]:
    folder = _home(archive, data_dir)
    path = next(folder / file for file in archive.files if (folder / file).is_file())
    rows: list[tuple[str, str, Mapping[str, Any]]] = []
    for i, entry in enumerate(_read(path)):
        try:
            spec: dict[str, Any] = {
                "db": str(entry["db_id"]),
                "question": str(entry["question"]),
                "evidence": str(entry.get("evidence") or ""),
                "sql": str(entry["SQL"]),
                "difficulty": str(entry.get("difficulty") or "unrated"),
                "ordered": " order by " in f" {entry['SQL']} ".lower(),
                "archive": archive.name,
            }
        except (KeyError, TypeError, AttributeError) as error:
            raise InvalidConfig(
                f"question {i} of {path} lacks {error}; the file must be the published one"
            ) from error
        rows.append((split, spec["difficulty"], spec))
    return rows


def _read(path: Path) -> list[Any]:
    try:
        held = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidConfig(f"{path} cannot be read as JSON ({error}); unpack it anew") from error
    if not isinstance(held, list):
        raise InvalidConfig(f"{path} must hold a JSON list, it holds {type(held).__name__}")
    return held


@lru_cache(maxsize=8)
def _tables(path: Path) -> dict[str, str]:
    try:
        return {str(entry["db_id"]): published_sentences(entry) for entry in _read(path)}
    except (KeyError, TypeError, IndexError) as error:
        raise InvalidConfig(
            f"{path} is no description of databases ({type(error).__name__}: {error}); the file "
            "must be the published one"
        ) from error


def _home(archive: Archive, data_dir: str | None) -> Path:
    """Return the folder that holds an archive's questions, the shallowest where there are more."""
    root = data_root(data_dir) / FOLDER
    for file in archive.files:
        for depth in range(DEPTH + 1):
            found = sorted(root.glob("*/" * depth + file))
            if found:
                return found[0].parent
    raise MissingData(
        f"the official edition of bird needs {' or '.join(archive.files)} of BIRD {archive.name} "
        f"in {root}. Download it from https://bird-bench.github.io and unpack it there, or set "
        f"{DATA_VARIABLE} to the folder that holds 'bird/'. The mini edition needs nothing."
    )
