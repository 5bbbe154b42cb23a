"""Trajectories as Parquet, one row an episode.

The columns are declared, not inferred, so that an empty list or a missing token count in the first
rows cannot change the file's layout, and the same schema serves Hugging Face `datasets`. `pyarrow`
is imported when first used.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from agentgym.core import require
from agentgym.core.text import parse_json
from agentgym.rollout.episode import Episode, Step
from agentgym.rollout.store import atomic_path
from agentgym.trajectories.files import Record, encode
from agentgym.trajectories.schema import InvalidTrajectories

Layout = Literal["episodes", "items", "messages"]

CARD_KEY = b"agentgym_card"
BATCH = 64
"""Episodes read or written at a time: what bounds the memory."""


def write_episodes(
    episodes: Iterable[Episode], path: Path, card: Callable[[], Mapping[str, Any]]
) -> None:
    """Write episodes; `card` is asked for once all have gone by."""
    write_rows((episode_row(episode) for episode in episodes), path, "episodes", card)


def write_rows(
    rows: Iterable[Mapping[str, Any]],
    path: Path,
    layout: Layout,
    card: Callable[[], Mapping[str, Any]] | None = None,
) -> None:
    """Write rows of a declared layout.

    Raises:
        MissingExtra: if pyarrow is not installed.
        InvalidTrajectories: if a row does not fit the columns.
    """
    pq = require("pyarrow.parquet", "The Parquet format", "data")
    columns = schema(layout)
    with (
        atomic_path(path) as temporary,
        pq.ParquetWriter(temporary, columns, compression="zstd") as writer,
    ):
        for batch in iter_batches(rows, columns):
            writer.write_batch(batch)
        if card is not None:
            writer.add_key_value_metadata({CARD_KEY.decode(): json.dumps(card())})


def iter_batches(rows: Iterable[Mapping[str, Any]], columns: Any) -> Iterator[Any]:
    """Yield record batches of `BATCH` rows.

    Raises:
        InvalidTrajectories: if a row does not fit the columns.
    """
    pa = require("pyarrow", "The Parquet format", "data")
    names = frozenset(columns.names)
    held: list[Mapping[str, Any]] = []

    def batch() -> Any:
        try:
            return pa.RecordBatch.from_pylist(held, schema=columns)
        except (pa.ArrowException, TypeError, ValueError, UnicodeError) as error:
            raise InvalidTrajectories(
                f"a record does not fit Parquet's columns: {error}. Write .jsonl, which holds "
                "every text."
            ) from error

    for row in rows:
        unknown = sorted(key for key in row if key not in names)
        if unknown:
            raise InvalidTrajectories(
                f"record {row.get('item_id', '')!r} has keys that are no columns: "
                f"{', '.join(unknown)}. Write .json or .jsonl, which hold any."
            )
        held.append(row)
        if len(held) == BATCH:
            yield batch()
            held = []
    if held:
        yield batch()


def iter_rows(path: Path) -> Iterator[Record]:
    """Yield the rows of a Parquet file as the records JSON would hold.

    Raises:
        MissingExtra: if pyarrow is not installed.
        InvalidTrajectories: if it is not a Parquet file.
    """
    pa = require("pyarrow", "The Parquet format", "data")
    number = 0
    with _opened(path) as file:
        try:
            for batch in file.iter_batches(batch_size=BATCH):
                for row in batch.to_pylist():
                    yield Record(f"{path}, row {number}", restore(row))
                    number += 1
        except (pa.ArrowException, OSError) as error:
            raise InvalidTrajectories(f"{path}, row {number}: {error}") from error
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            # Columns of our names with something else in them: another program's file.
            raise InvalidTrajectories(
                f"{path}, row {number} is not as it was written here: {error!r}"
            ) from error


def read_card(path: Path) -> Any:
    """Return the card a Parquet file holds, or None."""
    with _opened(path) as file:
        metadata = file.metadata.metadata or {}
    found = metadata.get(CARD_KEY)
    return parse_json(found) if found is not None else None


def episode_row(episode: Episode) -> dict[str, Any]:
    """Return an episode as a row: options, which have no fixed columns, become JSON text."""
    row = episode.model_dump()
    row["env_options"] = encode(row["env_options"]).decode()
    return row


def restore(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row as the record it was written from."""
    if "steps" in row and isinstance(row.get("env_options"), str):
        row["env_options"] = parse_json(row["env_options"])
        row["failure"] = _absent(row.get("failure"))
        for step in row["steps"] or ():
            step["usage"], step["sampled"] = _absent(step["usage"]), _absent(step["sampled"])
    elif "item_id" in row:
        # Columns a file has for all items are absent, not null, in items that lack them.
        for name in ("reward", "success"):
            if row.get(name, 0) is None:
                del row[name]
        for turn in row.get("conversations") or ():
            turn.setdefault("loss", None)
    return row


def schema(layout: Layout) -> Any:
    """Return the columns of a layout as a `pyarrow.Schema`."""
    pa = require("pyarrow", "The Parquet format", "data")
    columns = {"episodes": _episode_columns, "items": _item_columns, "messages": _message_columns}
    return pa.schema(columns[layout](pa))


def _item_columns(pa: Any) -> list[tuple[str, Any]]:
    turn = pa.struct([("from", pa.string()), ("loss", pa.bool_()), ("value", pa.string())])
    return [
        ("item_id", pa.string()),
        ("conversations", pa.list_(turn)),
        ("reward", pa.float64()),
        ("success", pa.int64()),
    ]


def _message_columns(pa: Any) -> list[tuple[str, Any]]:
    text, real = pa.string(), pa.float64()
    function = pa.struct([("name", text), ("arguments", text)])
    call = pa.struct([("id", text), ("type", text), ("function", function)])
    message = [("role", text), ("content", text)]
    message += [("tool_calls", pa.list_(call)), ("tool_call_id", text)]
    return [
        ("messages", pa.list_(pa.struct(message))),
        ("weights", pa.list_(real)),
        ("task_id", text),
        ("env_id", text),
        ("score", real),
    ]


def _episode_columns(pa: Any) -> list[tuple[str, Any]]:
    """Return a column for each field: one added to the record becomes a column, or fails loudly."""
    text, number, real = pa.string(), pa.int64(), pa.float64()
    counts = [(name, number) for name in ("input_tokens", "output_tokens", "cached_tokens")]
    numbers = pa.list_(number)
    sampled = [("prompt_ids", numbers), ("token_ids", numbers), ("logprobs", pa.list_(real))]
    columns = {
        "tool_calls": pa.list_(pa.struct([("name", text), ("arguments", text), ("id", text)])),
        "usage": pa.struct([*counts, ("cost", real), ("calls", number)]),
        "sampled": pa.struct(sampled),
        "failure": pa.struct([("where", text), ("type", text), ("message", text)]),
        "env_options": text,
    }
    plain = {str: text, int: number, float: real, bool: pa.bool_()}

    def of(model: Any) -> list[tuple[str, Any]]:
        return [
            (name, columns[name] if name in columns else plain.get(field.annotation, text))
            for name, field in model.model_fields.items()
        ]

    columns["steps"] = pa.list_(pa.struct(of(Step)))
    return of(Episode)


def _absent(value: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return None for a struct whose every field is null, as some readers return a null struct."""
    if value is None or all(v is None for v in value.values()):
        return None
    return value


def _opened(path: Path) -> Any:
    pa = require("pyarrow", "The Parquet format", "data")
    pq = require("pyarrow.parquet", "The Parquet format", "data")
    if not path.is_file():
        raise InvalidTrajectories(f"there is no file {path}")
    try:
        return pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise InvalidTrajectories(
            f"{path} cannot be read as Parquet: {error}. It was cut off or is of another format; "
            "write or fetch it again."
        ) from error
