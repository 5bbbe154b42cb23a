"""The mini edition's products: a shop we wrote.

Products are generated from the tables in `data/` by draws that never change, so the catalogue is
the same everywhere without being stored; the tests hold its digest. `generate_products` writes as
many more as one likes in the same way, with brands and models that are put together from syllables:
a catalogue of millions to measure with.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from agentgym.core.draw import Draw
from agentgym.envs.webshop.drafts import Draft, family
from agentgym.envs.webshop.kinds import Kind, load_kinds, table
from agentgym.envs.webshop.product import Product
from agentgym.envs.webshop.writing import product_of

A_KIND = 30
"""Products of each kind in the mini shop."""
_FAMILY = (1, 2, 2, 3, 3, 4)


@dataclass(frozen=True, slots=True)
class Item:
    """A product and what it was written from."""

    draft: Draft
    product: Product


def mini_products() -> tuple[Product, ...]:
    """Return the products of the mini shop, in an order that never changes."""
    return tuple(item.product for item in mini_items())


@cache
def mini_items() -> tuple[Item, ...]:
    """Return the products of the mini shop with what they were written from."""
    draw = Draw("webshop mini 1")
    items = [
        Item(draft, product_of(draft, draw))
        for number, kind in enumerate(load_kinds())
        for draft in _of_a_kind(kind, number * 1000, draw)
    ]
    return tuple(draw.shuffled(items))


def _of_a_kind(kind: Kind, first: int, draw: Draw) -> list[Draft]:
    """Return the products of one kind: families, as many as it takes."""
    drafts: list[Draft] = []
    names = [(brand, model) for brand in kind.department.brands for model in kind.department.models]
    for i, (brand, model) in enumerate(draw.shuffled(names)):
        size = min(draw.pick(_FAMILY), A_KIND - len(drafts))
        drafts += family(kind, first + i, brand, model, draw, size)
        if len(drafts) >= A_KIND:
            break
    return drafts


def generate_products(n: int, seed: str = "1") -> Iterator[Product]:
    """Yield a catalogue of any size, one product at a time.

    Args:
        n: number of products.
        seed: another seed, another catalogue.

    >>> [p.query for p in generate_products(2)] == [p.query for p in generate_products(2)]
    True
    """
    kinds = load_kinds()
    made = turn = 0
    while made < n:
        kind = kinds[turn % len(kinds)]
        draw = Draw(f"webshop {seed} {turn}")
        size = min(draw.pick(_FAMILY), n - made)
        for draft in family(kind, turn, _coined(draw), _model(kind, draw), draw, size):
            made += 1
            yield product_of(draft, draw)
        turn += 1


def _coined(draw: Draw) -> str:
    """Return an invented brand."""
    parts = table("shop")["syllables"]
    brand = draw.pick(parts["first"]) + draw.pick(parts["middle"]) + draw.pick(parts["last"])
    return f"{brand} {draw.pick(_HOUSES)}" if draw.chance(0.3) else brand


_HOUSES = ("& Co", "Works", "House", "Goods", "Supply", "Studio")


def _model(kind: Kind, draw: Draw) -> str:
    return f"{draw.pick(kind.department.models)} {draw.between(100, 999)}"
