"""The mini edition's databases as SQLite files, built once and kept in the cache.

They are generated from the sources in `databases/`, which takes a moment each, so a file is kept
under the digest of its sources and opened read-only by every process. A file is written aside and
moved into place, so that two processes that build at once do no harm; one that is damaged is built
anew; and where nothing can be written, the database is built in memory.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import inspect
import json
import os
import sqlite3
import tempfile
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from agentgym.core import draw as draws
from agentgym.core.data import cache_root
from agentgym.core.draw import Draw
from agentgym.envs.bird import names
from agentgym.envs.bird.databases import NAMES
from agentgym.envs.bird.place import Place

LAYOUT = "1"
"""Changes when the way a file is built does."""


@dataclass(frozen=True, slots=True)
class Source:
    """What a database is made from.

    Attributes:
        name: the database.
        schema: CREATE TABLE statements.
        columns: descriptions: {table: {column: {"description", "values"?}}}.
        questions: {"question", "evidence", "sql", "difficulty", "split", "ordered", "topics"} each.
        digest: of the texts the rows follow from; it names the file in the cache.
    """

    name: str
    schema: str
    columns: dict[str, dict[str, dict[str, str]]]
    questions: list[dict[str, Any]]
    digest: str


@cache
def load_source(name: str) -> Source:
    """Return the sources of a database.

    Raises:
        KeyError: if there is no such database.
    """
    if name not in NAMES:
        raise KeyError(name)
    folder = resources.files("agentgym.envs.bird.databases") / name
    texts = {
        file: (folder / file).read_text(encoding="utf-8")
        for file in ("schema.sql", "rows.py", "columns.json", "questions.json")
    }
    parts = (LAYOUT, name, texts["schema.sql"], texts["rows.py"])
    shared = (inspect.getsource(names), inspect.getsource(draws))
    digest = hashlib.sha256("\0".join((*parts, *shared)).encode()).hexdigest()[:16]
    return Source(
        name,
        texts["schema.sql"],
        json.loads(texts["columns.json"]),
        json.loads(texts["questions.json"]),
        digest,
    )


def read_pairs(name: str) -> list[dict[str, Any]]:
    """Return a database's pairs: {"question", "sql", "score", "why"} each, for the tests."""
    path = resources.files("agentgym.envs.bird.databases") / name / "pairs.json"
    pairs: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return pairs


def build(name: str, target: str | os.PathLike[str] = ":memory:") -> sqlite3.Connection:
    """Build a database and return the connection that wrote it.

    Args:
        name: the database.
        target: a file that does not exist yet, or ":memory:".

    Raises:
        sqlite3.IntegrityError: if the rows break a key; the tests build every database.
    """
    source = load_source(name)
    rows = importlib.import_module(f"agentgym.envs.bird.databases.{name}.rows")
    connection = sqlite3.connect(target, check_same_thread=False)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("PRAGMA journal_mode = MEMORY")
    connection.executescript(source.schema)
    with connection:
        for table, block in rows.populate(Draw(name)):
            block = list(block)
            if block:
                places = ", ".join("?" * len(block[0]))
                connection.executemany(f"INSERT INTO {table} VALUES ({places})", block)
    return connection


@lru_cache(maxsize=len(NAMES))
def find_database(name: str) -> Place:
    """Return where a database lies, building it first if need be."""
    path = _place(name)
    if _is_whole(path):
        return Place.file(path)
    try:
        _write(name, path)
        return Place.file(path)
    except OSError:  # a read-only or full disk
        with contextlib.closing(build(name)) as connection:
            return Place.memory(name, connection.serialize())


def _place(name: str) -> Path:
    return cache_root() / "bird" / f"{name}-{load_source(name).digest}.sqlite"


def _is_whole(path: Path) -> bool:
    """Return whether a file is what was once built: its seal is of its content."""
    try:
        seal = path.with_suffix(".sha256").read_text(encoding="ascii")
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == seal
    except (OSError, UnicodeDecodeError):
        return False


def _write(name: str, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, made = tempfile.mkstemp(prefix=f".{name}-", suffix=".sqlite", dir=path.parent)
    os.close(handle)
    draft = Path(made)
    try:
        build(name, draft).close()
        with draft.open("rb") as file:
            seal = hashlib.file_digest(file, "sha256").hexdigest()
        # Two builders write the same bytes, so it does not matter whose seal lies by whose file.
        sealed = draft.with_suffix(".sha256")
        sealed.write_text(seal, encoding="ascii")
        draft.replace(path)
        sealed.replace(path.with_suffix(".sha256"))
    finally:
        draft.unlink(missing_ok=True)
        draft.with_suffix(".sha256").unlink(missing_ok=True)


def digest_rows(connection: sqlite3.Connection) -> str:
    """Return the digest of every table's columns and rows, the same on every machine."""
    digest = hashlib.sha256()
    tables = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    ).fetchall()
    for (table,) in sorted(tables):
        found = connection.execute(f'SELECT * FROM "{table}"')
        columns = [column[0] for column in found.description]
        digest.update(f"\0{table}\0{columns}\0".encode())
        for row in sorted(map(repr, found)):
            digest.update(row.encode())
    return digest.hexdigest()
