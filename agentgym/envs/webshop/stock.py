"""What a shop has: its products by place and code, and their search.

`Stock` is all the rest of the environment sees of a catalogue. A small one is kept in memory with
its index in the cache folder (or in memory too, where that cannot be written); the published ones
stay on disk (`warehouse.py`). Searches are remembered, since every episode of a task begins with
one and agents repeat theirs; how many is bounded.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from agentgym.envs.webshop import cache
from agentgym.envs.webshop.product import Product
from agentgym.envs.webshop.search import Search, open_index, version, write_index

REMEMBERED = 4096
"""Searches whose hits are kept."""
_LONGEST_REMEMBERED = 300
INDEX = "index"


class Stock(ABC):
    """The products of a shop.

    Args:
        search: the search over them, whose hits are places.
    """

    def __init__(self, search: Search) -> None:
        self._search = search
        self._remembered = lru_cache(maxsize=REMEMBERED)(search.find)

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def product(self, place: int) -> Product:
        """Return the product at a place, from 0."""

    @abstractmethod
    def place(self, asin: str) -> int | None:
        """Return the place of the product of this code, or None."""

    def find(self, words: str) -> tuple[int, ...]:
        """Return the places of the products that fit words best, best first, 50 at most."""
        if len(words) > _LONGEST_REMEMBERED:
            return self._search.find(words)
        return self._remembered(words)

    def get(self, asin: str) -> Product | None:
        """Return the product of this code, or None."""
        place = self.place(asin)
        return None if place is None else self.product(place)


class SmallStock(Stock):
    """Products in memory, their index in the cache folder.

    Args:
        name: a name for the cached index.
        products: the products, in an order that never changes.
    """

    def __init__(self, name: str, products: Sequence[Product]) -> None:
        self._products = tuple(products)
        self._places = {product.asin: i for i, product in enumerate(self._products)}
        super().__init__(Search(_index(name, self._products)))

    def __len__(self) -> int:
        return len(self._products)

    def product(self, place: int) -> Product:
        """Return the product at a place."""
        return self._products[place]

    def place(self, asin: str) -> int | None:
        """Return the place of the product of this code, or None."""
        return self._places.get(asin)


def digest(products: Iterable[Product]) -> str:
    """Return the SHA-256 of products, every field of them, as 64 hex digits."""
    names = [field.name for field in fields(Product)]
    sum_ = hashlib.sha256()
    for product in products:
        row = [getattr(product, name) for name in names]
        sum_.update(json.dumps(row, ensure_ascii=True).encode() + b"\n")
    return sum_.hexdigest()


def index_name(name: str, content: str) -> str:
    """Return the cached folder's name for content of this digest."""
    return f"{name}-tantivy-{version()}-{content[:20]}"


def _index(name: str, products: Sequence[Product]) -> Any:
    def build(folder: Path) -> None:
        (folder / INDEX).mkdir()
        write_index((p.searchable for p in products), folder / INDEX)

    place = index_name(name, digest(products))
    try:
        for _ in range(2):
            folder = cache.built(place, build)
            try:
                index = open_index(folder / INDEX)
                if index.searcher().num_docs == len(products):
                    return index
            except ValueError:  # damaged where the seal does not look
                pass
            cache.discard(folder)
    except OSError:  # the cache cannot be written: an index of this size fits in memory
        pass
    return write_index((p.searchable for p in products), None)
