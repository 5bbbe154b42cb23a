"""Files of records: which format a name means, and writing that is whole or absent.

A reader yields one record at a time with the place it stands at, so that every error can name file
and line, and a file larger than memory can be read. JSON is the exception: it is one value and is
read whole.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, cast

from agentgym.rollout.store import atomic_path
from agentgym.trajectories.schema import InvalidTrajectories

Kind = Literal["json", "jsonl", "parquet"]

SUFFIXES: dict[str, Kind] = {
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}


class FileFormat(NamedTuple):
    """What a file's name says of its content."""

    kind: Kind
    compressed: bool


class Record(NamedTuple):
    """A decoded record and where it stands ("runs.jsonl, line 3")."""

    where: str
    data: Any


def find_format_of(path: Path) -> FileFormat:
    """Return the format a file's suffix names: .json, .jsonl, .parquet; .gz after the first two.

    Raises:
        InvalidTrajectories: if the suffix names none.
    """
    compressed = path.suffix.lower() == ".gz"
    suffix = Path(path.stem).suffix.lower() if compressed else path.suffix.lower()
    kind = SUFFIXES.get(suffix)
    if kind is None or (compressed and kind == "parquet"):
        raise InvalidTrajectories(
            f"{path.name}: the suffix names no format. Known: .json, .jsonl, .json.gz, .jsonl.gz, "
            ".parquet, or a folder for Hugging Face datasets"
        )
    return FileFormat(kind, compressed)


@contextlib.contextmanager
def atomic_writer(path: Path, compressed: bool) -> Iterator[IO[bytes]]:
    """Give a binary file that becomes `path` when the block ends without error."""
    with atomic_path(path) as temporary, temporary.open("wb") as raw:
        if not compressed:
            yield raw
            return
        # No name and no time in the header: the same records give the same bytes.
        with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
            yield cast(IO[bytes], packed)


def encode(value: Any) -> bytes:
    """Return a value as one line of JSON, without the line end.

    Raises:
        InvalidTrajectories: if it holds what JSON cannot, such as a number that is not finite.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        return text.encode("utf-8")
    except UnicodeEncodeError:  # a lone surrogate has no UTF-8, but it has an escape
        return json.dumps(value, ensure_ascii=True, allow_nan=False).encode("ascii")
    except (TypeError, ValueError) as error:
        raise InvalidTrajectories(
            f"a record cannot be written as JSON: {error}. Options must be JSON values and "
            "numbers finite."
        ) from error


def iter_lines(path: Path, *, allow_torn: bool = False) -> Iterator[tuple[str, bytes]]:
    """Yield (where, line) for every line of a JSONL file that is not blank.

    Args:
        path: the file, compressed or not.
        allow_torn: whether to leave out a last line without its end.

    Raises:
        InvalidTrajectories: if the file ends in the middle of a line or of its compressed data.
    """
    with _opened(path) as file:
        for number, line in enumerate(file, 1):
            where = f"{path}, line {number}"
            if not line.endswith(b"\n") and not _is_json(line):
                if allow_torn:
                    return
                raise InvalidTrajectories(
                    f"{where}: the file ends in the middle of a record, so its writer was "
                    "interrupted. Read it with allow_torn=True to leave that record out, or make "
                    "it again."
                )
            if line.strip():
                yield where, line


def decode(where: str, line: bytes) -> Any:
    """Return the value of a line of JSON.

    Raises:
        InvalidTrajectories: if it is not JSON; the message names the column.
    """
    try:
        return json.loads(line)
    except RecursionError as error:
        raise InvalidTrajectories(f"{where}: the JSON is nested too deeply") from error
    except ValueError as error:
        raise InvalidTrajectories(
            f"{where}: this is not JSON ({error}). Every line must hold one whole record; correct "
            "or delete the line."
        ) from error


def load_json(path: Path) -> Any:
    """Return the value a JSON file holds.

    Raises:
        InvalidTrajectories: if it is not JSON.
    """
    with _opened(path) as file:
        content = file.read()
    try:
        return json.loads(content)
    except RecursionError as error:
        raise InvalidTrajectories(f"{path}: the JSON is nested too deeply") from error
    except ValueError as error:
        hint = ""
        lines = content.strip().splitlines()
        if len(lines) > 1 and _is_json(lines[0]):
            hint = " The first line is JSON by itself: name the file .jsonl if each line is."
        raise InvalidTrajectories(f"{path}: this is not JSON ({error}).{hint}") from error


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    if not path.is_file():
        raise InvalidTrajectories(f"there is no file {path}")
    opener = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with cast(IO[bytes], opener(path, "rb")) as file:
            yield file
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InvalidTrajectories(
            f"{path}: the compressed data is damaged or ends too early ({error}); fetch or write "
            "the file again"
        ) from error


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True
