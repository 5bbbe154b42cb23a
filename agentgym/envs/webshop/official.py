"""The published catalogues: read once from the published files, then opened from the cache folder.

Products are read one at a time and stored with their goals in a warehouse, whose name holds the
digest of the files; from then on only that is opened.
"""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from agentgym.core.data import DATA_VARIABLE, data_root
from agentgym.core.errors import InvalidConfig, MissingData
from agentgym.core.text import parse_json
from agentgym.envs.webshop import cache, jsonstream
from agentgym.envs.webshop.goalmaker import HUMAN_FILE, Human, Synthetic
from agentgym.envs.webshop.product import Product
from agentgym.envs.webshop.published import read_product
from agentgym.envs.webshop.sources import digest_of
from agentgym.envs.webshop.stock import index_name
from agentgym.envs.webshop.warehouse import Warehouse, write_warehouse

NAME = "webshop"
CATALOGUES = {
    "1000": ("items_shuffle_1000.json", "items_ins_v2_1000.json"),
    "all": ("items_shuffle.json", "items_ins_v2.json"),
}
REVIEWS_FILE = "reviews.json"
FORMAT = 1
"""Changes whenever what is stored changes."""


def open_catalogue(products: str, data_dir: str | None) -> Warehouse:
    """Return the published catalogue, stored in the cache folder the first time.

    Args:
        products: "1000" or "all".
        data_dir: the data folder.

    Raises:
        MissingData: if a file is not there.
        InvalidConfig: if there is no such catalogue, or a file cannot be read.
        OSError: if the cache folder cannot be written.
    """
    if products not in CATALOGUES:
        raise InvalidConfig(f"products must be one of {', '.join(CATALOGUES)}, got {products!r}")
    folder = _require(CATALOGUES[products], data_dir)
    files = [folder / name for name in (*CATALOGUES[products], HUMAN_FILE, REVIEWS_FILE)]
    content = digest_of([path for path in files if path.is_file()])
    name = index_name(f"official-{products}-{FORMAT}", content)
    for _ in range(2):
        place = cache.built(name, lambda target: _store(folder, products, target))
        try:
            return Warehouse(place)
        except ValueError:  # damaged where the seal does not look
            cache.discard(place)
    raise InvalidConfig(f"{place} is damaged and cannot be replaced: remove it and try again")


def _require(names: Sequence[str], data_dir: str | None) -> Path:
    """Return the folder of the files; where one is not there, say who has them."""
    folder = data_root(data_dir) / NAME
    missing = [name for name in names if not (folder / name).is_file()]
    if missing:
        raise MissingData(
            f"the official edition of {NAME} needs {', '.join(missing)} in {folder}. The setup.sh "
            "of github.com/princeton-nlp/WebShop downloads the files (-d small: 1,000 products, -d "
            f"all: all); set {DATA_VARIABLE} to the folder that holds '{NAME}/'. The mini edition "
            "needs nothing"
        )
    return folder


def _store(source: Path, products: str, target: Path) -> None:
    items, attributes = (source / name for name in CATALOGUES[products])
    human = _whole(source / HUMAN_FILE) if (source / HUMAN_FILE).is_file() else {}
    reviews = _reviews(source / REVIEWS_FILE) if (source / REVIEWS_FILE).is_file() else {}
    lookup = target / "attributes.sqlite"
    with closing(sqlite3.connect(lookup, isolation_level=None)) as table:
        _tabulate(attributes, table)
        makers = (Synthetic(), Human(human))

        def stream() -> Iterator[Product]:
            seen: set[str] = set()
            for i, row in enumerate(jsonstream.entries(items)):
                try:
                    asin = str(row["asin"])
                    if asin == "nan" or len(asin) > 10 or asin in seen:
                        continue
                    seen.add(asin)
                    known = _known(table, asin)
                    product = read_product(row, known, reviews.get(asin))
                except (KeyError, TypeError, ValueError, AttributeError) as error:
                    raise InvalidConfig(
                        f"product {i} of {items} is not in the published format: {error!r}"
                    ) from error
                for maker in makers:
                    maker.take(product, known)
                yield product

        goals = itertools.chain.from_iterable(maker.rows() for maker in makers)
        write_warehouse(stream(), target, goals)
    lookup.unlink()


def _tabulate(path: Path, table: sqlite3.Connection) -> None:
    """Put the file of attributes where it can be looked up without holding it in memory."""
    table.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")
    table.execute("CREATE TABLE known (asin TEXT PRIMARY KEY, body TEXT) WITHOUT ROWID")
    table.execute("BEGIN")
    rows = ((asin, json.dumps(body)) for asin, body in jsonstream.items(path))
    table.executemany("INSERT OR REPLACE INTO known VALUES (?, ?)", rows)
    table.execute("COMMIT")


def _known(table: sqlite3.Connection, asin: str) -> dict[str, Any]:
    row = table.execute("SELECT body FROM known WHERE asin = ?", (asin,)).fetchone()
    found = parse_json(row[0]) if row else {}
    if not isinstance(found, dict):
        raise TypeError(f"the attributes of {asin} are {type(found).__name__}")
    return found


def _whole(path: Path) -> Any:
    try:
        found = parse_json(path.read_bytes())
    except ValueError as error:
        raise InvalidConfig(f"{path} cannot be read: {error}. Fetch it again") from error
    if not isinstance(found, dict):
        raise InvalidConfig(f"{path} must hold an object by product code; fetch it again")
    return found


def _reviews(path: Path) -> dict[str, Any]:
    try:
        return {str(row["asin"]): row for row in jsonstream.entries(path)}
    except (KeyError, TypeError) as error:
        raise InvalidConfig(f"{path} is not the published file of reviews: {error!r}") from error
