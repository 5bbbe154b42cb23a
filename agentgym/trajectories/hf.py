"""Trajectories as Hugging Face `datasets`, in the columns of the Parquet files.

`datasets` is imported when first used. A dataset on disk carries its card in a file of its own,
which `datasets` leaves alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from agentgym.core import require
from agentgym.rollout.episode import Episode
from agentgym.trajectories import parquet
from agentgym.trajectories.files import Record, load_json
from agentgym.trajectories.schema import InvalidTrajectories

CARD_FILE = "agentgym_card.json"


def to_hf(episodes: Iterable[Episode]) -> Any:
    """Return episodes as a `datasets.Dataset`, one row an episode.

    Raises:
        MissingExtra: if `datasets` is not installed.
    """
    return rows_to_hf((parquet.episode_row(e) for e in episodes), "episodes")


def rows_to_hf(rows: Iterable[Mapping[str, Any]], layout: parquet.Layout) -> Any:
    """Return rows of a declared layout as a `datasets.Dataset`.

    Raises:
        MissingExtra: if `datasets` is not installed.
        InvalidTrajectories: if a row does not fit the columns.
    """
    datasets = require("datasets", "Hugging Face datasets", "data")
    pa = require("pyarrow", "Hugging Face datasets", "data")
    columns = parquet.schema(layout)
    return datasets.Dataset(
        datasets.table.InMemoryTable(
            pa.Table.from_batches(list(parquet.iter_batches(rows, columns)), schema=columns)
        )
    )


def iter_hf(dataset: Any, where: str = "the dataset") -> Iterator[Record]:
    """Yield the rows of a `datasets.Dataset` or of every split of a `DatasetDict`."""
    if isinstance(dataset, Mapping):
        for name, split in dataset.items():
            yield from iter_hf(split, f"{where}, split {name}")
        return
    for i, row in enumerate(dataset.with_format(None)):
        yield Record(f"{where}, row {i}", parquet.restore(dict(row)))


def from_hf(dataset: Any) -> list[Episode]:
    """Return the episodes of a `datasets.Dataset` that `to_hf` made, from disk or the hub.

    Raises:
        InvalidTrajectories: if a row is no episode.
    """
    from agentgym.trajectories.store import parse_episode

    return [parse_episode(record.data, record.where) for record in iter_hf(dataset)]


def is_hf_folder(folder: Path) -> bool:
    """Return whether a folder was written by `save_to_disk`."""
    return (folder / "state.json").is_file() or (folder / "dataset_dict.json").is_file()


def iter_rows(folder: Path) -> Iterator[Record]:
    """Yield the rows of a dataset on disk.

    Raises:
        InvalidTrajectories: if the folder holds none.
    """
    if not is_hf_folder(folder):
        raise InvalidTrajectories(
            f"{folder} is neither a run folder (episodes.jsonl) nor a Hugging Face dataset "
            "(state.json); name a file in it"
        )
    datasets = require("datasets", "Hugging Face datasets", "data")
    yield from iter_hf(datasets.load_from_disk(str(folder)), str(folder))


def read_card(folder: Path) -> Any:
    """Return the card of a dataset on disk, or None."""
    path = folder / CARD_FILE
    return load_json(path) if path.is_file() else None


def save_episodes(
    episodes: Iterable[Episode], folder: Path, card: Callable[[], Mapping[str, Any]]
) -> None:
    """Write episodes as a dataset on disk; `card` is asked for once all have gone by."""
    dataset = to_hf(episodes)
    _save(dataset, folder, json.dumps(card()))


def save_rows(rows: Iterable[Mapping[str, Any]], folder: Path, layout: parquet.Layout) -> None:
    """Write rows of a declared layout as a dataset on disk."""
    _save(rows_to_hf(rows, layout), folder)


def _save(dataset: Any, folder: Path, card: str | None = None) -> None:
    """Write beside the name and rename, so that the folder is whole or absent."""
    if folder.exists() and not is_hf_folder(folder):
        raise InvalidTrajectories(
            f"{folder} exists and is no Hugging Face dataset, so it is left alone; name another "
            "folder, or a file with a suffix (.jsonl, .parquet, .json)"
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    try:
        dataset.save_to_disk(str(temporary / "new"))
        if card is not None:
            (temporary / "new" / CARD_FILE).write_text(card + "\n", encoding="utf-8")
        if folder.exists():
            os.replace(folder, temporary / "old")
        os.replace(temporary / "new", folder)
    finally:
        with contextlib.suppress(OSError):
            shutil.rmtree(temporary)
