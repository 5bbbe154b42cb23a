"""Folders that are built once and then only read.

A folder is built beside its place and moved there whole, so that nobody ever reads half of one, and
of two processes that build at once the first to finish wins and the other takes what is there. A
seal, written last, holds the length of each file and a checksum of its beginning and end: a folder
whose seal does not fit is damaged or unfinished, and is built anew. Of large files only the ends
are read, because a gigabyte must open within a second; what is damaged in the middle is noticed by
whoever reads it.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path

from agentgym.core.data import cache_root
from agentgym.core.text import parse_json

SEAL = "seal.json"
_END = 1 << 20


def built(name: str, build: Callable[[Path], None]) -> Path:
    """Return the cached folder of this name, built if it is not there or damaged.

    Args:
        name: the folder's name; it holds the digest of all that its content follows from.
        build: fills an empty folder.

    Raises:
        OSError: if the cache cannot be written.
    """
    place = cache_root() / "webshop" / name
    if sound(place):
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=place.parent))
    try:
        build(fresh)
        seal(fresh)
        _move(fresh, place)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return place


def discard(place: Path) -> None:
    """Take away a folder that turned out to be damaged; it is built anew when next asked for."""
    grave = Path(tempfile.mkdtemp(prefix=f".{place.name}-", dir=place.parent))
    with contextlib.suppress(OSError):  # somebody else has taken it away
        os.replace(place, grave / "damaged")
    shutil.rmtree(grave, ignore_errors=True)


def seal(folder: Path) -> None:
    """Write down what a finished folder holds."""
    text = json.dumps(_survey(folder), sort_keys=True)
    (folder / SEAL).write_text(text, encoding="utf-8")


def sound(folder: Path) -> bool:
    """Return whether a folder is there and holds what its seal says."""
    try:
        said = parse_json((folder / SEAL).read_bytes())
        return bool(said == _survey(folder))
    except (OSError, ValueError):
        return False


def _move(fresh: Path, place: Path) -> None:
    """Move a finished folder to its place, unless a sound one has come there in the meantime."""
    for _ in range(20):
        try:
            os.rename(fresh, place)
            return
        except OSError:  # there is a folder already
            if sound(place):
                return
            discard(place)
    raise OSError(f"{place} cannot be replaced; remove it")


def _survey(folder: Path) -> dict[str, list[int]]:
    files = sorted(p for p in folder.rglob("*") if p.is_file() and p.name not in (SEAL, _LOCK))
    return {p.relative_to(folder).as_posix(): _fingerprint(p) for p in files}


# tantivy leaves its (empty) lock files behind, and makes them anew when an index is opened.
_LOCK = ".tantivy-meta.lock"


def _fingerprint(path: Path) -> list[int]:
    size = path.stat().st_size
    with path.open("rb") as file:
        sum_ = zlib.crc32(file.read(_END))
        if size > _END:
            file.seek(max(_END, size - _END))
            sum_ = zlib.crc32(file.read(_END), sum_)
    return [size, sum_]
