"""Where a database lies: in a file, or in memory where no file can be written."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote


@dataclass(frozen=True)
class Place:
    """A database that can be opened any number of times, for reading only.

    Attributes:
        key: identifies it; two places of one key are the same database.
        path: the file, or None.
        image: its bytes where there is no file.
    """

    key: str
    path: Path | None
    image: bytes | None = field(default=None, repr=False, compare=False)

    @classmethod
    def file(cls, path: Path) -> Place:
        """Return the place of a file."""
        return cls(str(path.resolve()), path.resolve())

    @classmethod
    def memory(cls, name: str, image: bytes) -> Place:
        """Return the place of a database that is only in memory."""
        return cls(f"memory:{name}", None, image)

    def connect(self) -> sqlite3.Connection:
        """Return a new connection that cannot write.

        Raises:
            sqlite3.Error: if it cannot be opened.
        """
        if self.path is None:
            connection = sqlite3.connect(":memory:", check_same_thread=False)
            connection.deserialize(self.image or b"")
            return connection
        # Immutable: SQLite then takes no locks and looks for no journal, so nothing is ever made
        # beside the file.
        uri = f"file:{quote(str(self.path))}?mode=ro&immutable=1"
        return sqlite3.connect(uri, uri=True, check_same_thread=False, isolation_level=None)
