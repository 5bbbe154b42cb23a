"""The digest of large files, read whole once.

Whether a file has changed is told from its size and time; only then is it read again. What was
found is kept in the cache folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from agentgym.core.data import cache_root
from agentgym.core.text import parse_json

_SMALL = 16 << 20
_MEMO = "sources.json"


def digest_of(paths: Sequence[Path]) -> str:
    """Return the SHA-256 of files together, in this order, 64 hex digits."""
    sum_ = hashlib.sha256()
    for path in paths:
        sum_.update(f"{path.name} {_digest(path)}\n".encode())
    return sum_.hexdigest()


def _digest(path: Path) -> str:
    found = path.stat()
    if found.st_size <= _SMALL:
        return _read(path)
    key = f"{path.resolve()} {found.st_size} {found.st_mtime_ns}"
    memo = _memo()
    if key not in memo:
        memo[key] = _read(path)
        _remember(memo)
    return memo[key]


def _read(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _memo() -> dict[str, str]:
    try:
        found = parse_json((cache_root() / "webshop" / _MEMO).read_bytes())
    except (OSError, ValueError):
        return {}
    return {str(k): str(v) for k, v in found.items()} if isinstance(found, dict) else {}


def _remember(memo: dict[str, str]) -> None:
    folder = cache_root() / "webshop"
    with contextlib.suppress(OSError):  # without a cache the file is read again next time
        folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=folder, prefix=".sources-")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(memo, file)
        os.replace(name, folder / _MEMO)
