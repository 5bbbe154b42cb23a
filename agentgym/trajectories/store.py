"""Reading and writing trajectories.

One pair of functions for episodes (`read`, `write`) and one for published items (`read_items`,
`write_items`); the suffix names the format. Episodes survive every format without loss, and each
file carries its card: inside JSON and Parquet, beside JSONL ("name.card.json"), so that a JSONL
file stays one episode a line as in a run folder.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import ValidationError

from agentgym.core.errors import UnknownName
from agentgym.rollout.episode import SCHEMA_VERSION, Episode
from agentgym.rollout.store import RunFolder
from agentgym.trajectories import hf, parquet
from agentgym.trajectories.chat import chat_examples
from agentgym.trajectories.dataset import TrajectoryDataset
from agentgym.trajectories.files import (
    Record,
    atomic_writer,
    decode,
    encode,
    find_format_of,
    iter_lines,
    load_json,
)
from agentgym.trajectories.published import (
    PublishedItem,
    describe_errors,
    parse_item,
    to_evaluation,
    to_item,
)
from agentgym.trajectories.schema import About, Card, CardBuilder, InvalidTrajectories

PathLike = str | os.PathLike[str]
Layout = Literal["episodes", "published", "evaluation", "messages"]

LAYOUTS: dict[str, str] = {
    "episodes": "everything, without loss",
    "published": "AgentTraj's item_id and conversations",
    "evaluation": "the published evaluation output: conversations, item_id, reward, success",
    "messages": "chat messages with loss weights, for trainers",
}


class UnknownLayout(UnknownName):
    """There is no layout of this name."""


def write(
    episodes: Iterable[Episode],
    path: PathLike,
    *,
    layout: str = "episodes",
    about: About | None = None,
    official_ids: bool = False,
) -> Card:
    """Write trajectories to a file, or to a folder as a Hugging Face dataset.

    The file is written beside its name and renamed, so it is whole or absent. An iterator is
    consumed as it is written and never held in memory (JSON, JSONL and Parquet).

    Args:
        episodes: a dataset or any iterable of episodes.
        path: its suffix names the format: .json, .jsonl (both also with .gz), .parquet; a name
            without suffix is a folder for `datasets.load_from_disk`.
        layout: "episodes", "published", "evaluation" or "messages"; only "episodes" is lossless.
        about: name, licence and source; a dataset brings its own.
        official_ids: whether published layouts use the published id prefixes.

    Returns:
        The card of what was written.

    Raises:
        UnknownLayout: if there is no such layout.
        InvalidTrajectories: if the suffix names no format or a record cannot be written.
    """
    if layout not in LAYOUTS:
        raise UnknownLayout("layout", layout, LAYOUTS)
    if about is None and isinstance(episodes, TrajectoryDataset):
        about = episodes.about
    builder = CardBuilder(about)
    target = Path(path)
    if layout == "episodes":
        _write_episodes(_counted(episodes, builder), target, builder)
    elif layout == "messages":
        _write_records(chat_examples(_counted(episodes, builder)), target, "messages")
    else:
        convert = to_evaluation if layout == "evaluation" else to_item
        items = (
            convert(e, official_ids=official_ids).to_json() for e in _counted(episodes, builder)
        )
        _write_records(items, target, "items")
    return builder.build()


def read(path: PathLike, *, verify: bool = True, allow_torn: bool = False) -> TrajectoryDataset:
    """Read episodes from a file, a run folder, or a Hugging Face dataset on disk.

    Args:
        path: what `write` or a rollout made.
        verify: whether to compare the episodes with the digest on their card, if there is one.
        allow_torn: whether to leave out a last JSONL line that was cut off.

    Raises:
        InvalidTrajectories: if the file is malformed, in another layout, or does not match its
            card; the message names the line and what to do.
    """
    source = Path(path)
    card = read_card(source)
    episodes = tuple(iter_episodes(source, allow_torn=allow_torn))
    dataset = TrajectoryDataset(episodes, card.about if card else None)
    if verify and card is not None and card.digest != dataset.digest:
        raise InvalidTrajectories(
            f"{source} does not match its card: the card counts {card.episodes} episodes with "
            f"digest {card.digest[:12]}, the file holds {len(dataset)} with {dataset.digest[:12]}. "
            "It was changed after it was written; read it with verify=False and write it again to "
            "accept the change."
        )
    return dataset


def iter_episodes(path: PathLike, *, allow_torn: bool = False) -> Iterator[Episode]:
    """Yield episodes one at a time; JSONL and Parquet are never held in memory whole.

    Raises:
        InvalidTrajectories: as `read` does.
    """
    source = Path(path)
    if not source.exists():
        raise InvalidTrajectories(f"there is no file or folder {source}")
    if source.is_dir():
        yield from _folder_episodes(source)
    elif find_format_of(source).kind == "jsonl":
        for where, line in iter_lines(source, allow_torn=allow_torn):
            yield _episode_of_line(where, line)
    else:
        for record in _records(source):
            yield parse_episode(record.data, record.where)


def read_card(path: PathLike) -> Card | None:
    """Return the card of a file or folder, or None where there is none.

    Raises:
        InvalidTrajectories: if there is one that cannot be read.
    """
    source = Path(path)
    if not source.exists():
        raise InvalidTrajectories(f"there is no file or folder {source}")
    if source.is_dir():
        found = hf.read_card(source)
    else:
        kind = find_format_of(source).kind
        if kind == "parquet":
            found = parquet.read_card(source)
        elif kind == "jsonl":
            beside = card_path(source)
            found = load_json(beside) if beside.is_file() else None
        else:
            data = load_json(source)
            found = data.get("card") if isinstance(data, dict) else None
    if found is None:
        return None
    try:
        return Card.model_validate(found)
    except ValidationError as error:
        raise InvalidTrajectories(
            f"the card of {source} cannot be read: {describe_errors(error)}"
        ) from error


def card_path(path: Path) -> Path:
    """Return where the card of a JSONL file lies: beside it, as "name.card.json"."""
    name = path.name
    for suffix in (".gz", ".jsonl", ".ndjson"):
        name = name.removesuffix(suffix)
    return path.with_name(f"{name}.card.json")


def parse_episode(data: Any, where: str = "record") -> Episode:
    """Return an episode that was read from JSON.

    Raises:
        InvalidTrajectories: naming the place and each field that is wrong.
    """
    if not isinstance(data, dict):
        raise InvalidTrajectories(f"{where}: expected an episode, found {type(data).__name__}")
    if "item_id" in data and "env_id" not in data:
        raise InvalidTrajectories(
            f"{where}: this is an item of the published layout; read it with "
            "agentgym.trajectories.read_items and turn it into an episode with to_episode"
        )
    _require_known_version(data.get("schema_version"), where)
    try:
        return Episode.model_validate(data)
    except ValidationError as error:
        raise InvalidTrajectories(f"{where}: {describe_errors(error)}") from error


def read_items(path: PathLike) -> list[PublishedItem]:
    """Read a file in the published layout (AgentTraj, AgentEval, evaluation output).

    Raises:
        InvalidTrajectories: naming file, item and field of what is wrong.
    """
    return list(iter_items(path))


def iter_items(path: PathLike) -> Iterator[PublishedItem]:
    """Yield the items of a file in the published layout.

    Raises:
        InvalidTrajectories: naming file, item and field of what is wrong.
    """
    source = Path(path)
    records = hf.iter_rows(source) if source.is_dir() else _records(source)
    for record in records:
        yield parse_item(record.data, record.where)


def write_items(items: Iterable[PublishedItem], path: PathLike) -> int:
    """Write items in the published layout; returns how many.

    Raises:
        InvalidTrajectories: if an item has keys that Parquet's columns cannot hold.
    """
    return _write_records((item.to_json() for item in items), Path(path), "items")


def _counted(episodes: Iterable[Episode], builder: CardBuilder) -> Iterator[Episode]:
    for episode in episodes:
        builder.add(episode)
        yield episode


def _write_episodes(episodes: Iterator[Episode], path: Path, builder: CardBuilder) -> None:
    if not path.suffix:
        hf.save_episodes(episodes, path, _card_of(builder))
        return
    kind, compressed = find_format_of(path)
    if kind == "parquet":
        parquet.write_episodes(episodes, path, _card_of(builder))
        return
    rows = (encode(episode.model_dump()) for episode in episodes)
    with atomic_writer(path, compressed) as file:
        if kind == "jsonl":
            file.writelines(row + b"\n" for row in rows)
        else:
            file.write(b'{"episodes": [')
            file.writelines(b"".join(parts) for parts in _joined(rows))
            file.write(b'\n], "card": ' + encode(_card_of(builder)()) + b"}\n")
    if kind == "jsonl":
        with atomic_writer(card_path(path), compressed=False) as file:
            file.write(encode(_card_of(builder)()) + b"\n")


def _card_of(builder: CardBuilder) -> Callable[[], dict[str, Any]]:
    """Return what gives the card once every episode has gone by."""
    return lambda: builder.build().model_dump(mode="json")


def _joined(rows: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
    for i, row in enumerate(rows):
        yield (b",\n" if i else b"\n"), row


def _write_records(records: Iterable[Any], path: Path, schema: parquet.Layout) -> int:
    count = 0

    def counted() -> Iterator[dict[str, Any]]:
        nonlocal count
        for record in records:
            count += 1
            yield cast(dict[str, Any], record)

    if not path.suffix:
        hf.save_rows(counted(), path, schema)
        return count
    kind, compressed = find_format_of(path)
    if kind == "parquet":
        parquet.write_rows(counted(), path, schema)
        return count
    with atomic_writer(path, compressed) as file:
        if kind == "jsonl":
            file.writelines(encode(record) + b"\n" for record in counted())
        else:
            file.write(b"[")
            file.writelines(b"".join(parts) for parts in _joined(map(encode, counted())))
            file.write(b"\n]\n")
    return count


def _records(path: Path) -> Iterator[Record]:
    kind = find_format_of(path).kind
    if kind == "parquet":
        yield from parquet.iter_rows(path)
    elif kind == "jsonl":
        for where, line in iter_lines(path):
            yield Record(where, decode(where, line))
    else:
        data = load_json(path)
        rows = data.get("episodes") if isinstance(data, dict) else data
        if not isinstance(rows, list):
            raise InvalidTrajectories(
                f"{path}: expected a list of items, or an object with 'episodes', found "
                f"{type(data).__name__}"
            )
        for i, row in enumerate(rows):
            yield Record(f"{path}, item {i}", row)


def _episode_of_line(where: str, line: bytes) -> Episode:
    try:
        episode = Episode.model_validate_json(line)
    except ValidationError:  # say what is wrong, or read what only Python's JSON reads
        return parse_episode(decode(where, line), where)
    _require_known_version(episode.schema_version, where)
    return episode


def _require_known_version(version: object, where: str) -> None:
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise InvalidTrajectories(
            f"{where}: written in layout {version}, and this agentgym reads up to "
            f"{SCHEMA_VERSION}. Upgrade it: pip install --upgrade agentgym"
        )


def _folder_episodes(folder: Path) -> Iterator[Episode]:
    if (folder / "episodes.jsonl").is_file():
        yield from RunFolder.open(folder).episodes()
        return
    for record in hf.iter_rows(folder):
        yield parse_episode(record.data, record.where)
