"""A catalogue on disk: for a million products that must not fill the memory.

Products are rows of an SQLite file, found by place or code, beside the index of their texts. Both
are written from a stream and read page by page as they are needed, so that opening takes no time
and memory holds what was looked at last. The file also holds the goals made from the products.
"""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from agentgym.core.errors import InvalidConfig
from agentgym.envs.webshop.product import Product, Review
from agentgym.envs.webshop.search import Search, open_index, write_index
from agentgym.envs.webshop.stock import INDEX, Stock

PRODUCTS = "products.sqlite"
_KEPT = 2048
_FIELDS = [field.name for field in fields(Product)]
_SCHEMA = """
CREATE TABLE product (place INTEGER PRIMARY KEY, asin TEXT NOT NULL, body BLOB NOT NULL);
CREATE TABLE goal (kind TEXT NOT NULL, number INTEGER NOT NULL, label TEXT NOT NULL,
                   spec TEXT NOT NULL);
"""

GoalRow = tuple[str, str, Mapping[str, Any]]
"""Which goals ("synthetic", "human"), the kind the results are broken down by, and the spec."""


class Warehouse(Stock):
    """The products in a folder that `write_warehouse` has filled.

    Args:
        folder: the folder.

    Raises:
        ValueError: if it cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(Search(open_index(folder / INDEX)))
        self._file = folder / PRODUCTS
        self._process, self._connection = -1, self._connect()
        try:
            (self._size,) = self._one("SELECT count(*) FROM product")
        except sqlite3.DatabaseError as error:
            raise ValueError(f"{self._file} cannot be read: {error}") from error
        if self._size != len(self._search):
            raise ValueError(f"{folder} has {self._size} products and an index of others")
        self._kept = lru_cache(maxsize=_KEPT)(self._read)

    def __len__(self) -> int:
        return int(self._size)

    def product(self, place: int) -> Product:
        """Return the product at a place.

        Raises:
            IndexError: if there is none.
            InvalidConfig: if the file is damaged.
        """
        return self._kept(place)

    def place(self, asin: str) -> int | None:
        """Return the place of the product of this code, or None."""
        row = self._one("SELECT place FROM product WHERE asin = ?", asin)
        return None if row is None else int(row[0])

    def goals(self, which: str) -> list[tuple[str, dict[str, Any]]]:
        """Return the goals of one sort in the order they were made: label and spec."""
        query = "SELECT label, spec FROM goal WHERE kind = ? ORDER BY number"
        rows = self._connected().execute(query, (which,))
        return [(label, json.loads(spec)) for label, spec in rows]

    def _read(self, place: int) -> Product:
        row = self._one("SELECT body FROM product WHERE place = ?", place)
        if row is None:
            raise IndexError(f"there is no product {place}")
        try:
            return decode(row[0])
        except (ValueError, TypeError, zlib.error) as error:
            raise self._damaged() from error

    def _one(self, query: str, *values: Any) -> Any:
        return self._connected().execute(query, values).fetchone()

    def _connected(self) -> sqlite3.Connection:
        if self._process != os.getpid():  # SQLite's connections must not be carried over a fork
            self._connection = self._connect()
        return self._connection

    def _connect(self) -> sqlite3.Connection:
        self._process = os.getpid()
        address = f"{self._file.resolve().as_uri()}?mode=ro&immutable=1"
        return sqlite3.connect(address, uri=True, check_same_thread=False)

    def _damaged(self) -> InvalidConfig:
        return InvalidConfig(f"{self._file} is damaged: remove {self._file.parent} and try again")


def write_warehouse(
    products: Iterable[Product], folder: Path, goals: Iterable[GoalRow] = ()
) -> None:
    """Fill an empty folder with products and goals.

    Args:
        products: the products, read once; each is written before the next is asked for.
        folder: where to.
        goals: read once, after the products.
    """
    (folder / INDEX).mkdir()
    connection = sqlite3.connect(folder / PRODUCTS, isolation_level=None)
    try:
        connection.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")
        connection.executescript(_SCHEMA)
        connection.execute("BEGIN")
        write_index(_stored(products, connection), folder / INDEX)
        connection.execute("CREATE UNIQUE INDEX by_asin ON product (asin)")
        rows = ((which, i, label, json.dumps(spec)) for i, (which, label, spec) in enumerate(goals))
        connection.executemany("INSERT INTO goal VALUES (?, ?, ?, ?)", rows)
        connection.execute("CREATE INDEX by_kind ON goal (kind, number)")
        connection.execute("COMMIT")
    finally:
        connection.close()


def _stored(products: Iterable[Product], connection: sqlite3.Connection) -> Iterator[str]:
    """Store products as they come, and yield their texts to be indexed."""
    insert = "INSERT INTO product VALUES (?, ?, ?)"
    for place, product in enumerate(products):
        connection.execute(insert, (place, product.asin, encode(product)))
        yield product.searchable


def encode(product: Product) -> bytes:
    """Return a product as compressed JSON."""
    row = [getattr(product, name) for name in _FIELDS]
    return zlib.compress(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace"), 1)


def decode(body: bytes) -> Product:
    """Return the product that `encode` wrote.

    Raises:
        ValueError: if it cannot be read.
    """
    values = dict(zip(_FIELDS, json.loads(zlib.decompress(body)), strict=True))
    for name in ("pricing", "bullets", "attributes"):
        values[name] = tuple(values[name])
    values["options"] = {name: tuple(vs) for name, vs in values["options"].items()}
    values["reviews"] = tuple(Review(*review) for review in values["reviews"])
    return Product(**values)
