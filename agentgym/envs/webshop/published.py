"""A published product, read as WebShop's own loader reads it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from agentgym.envs.webshop.product import Product, Review

DEFAULT_PRICE = 100.0
"""What a product without a price costs."""
NO_ATTRIBUTE = "DUMMY_ATTR"

_NOT_NUMBER = re.compile(r"[^\d.]")
_NUMBER = re.compile(r"\d+(\.\d*)?|\.\d+", re.ASCII)


def read_product(row: Mapping[str, Any], known: Mapping[str, Any], reviews: Any = None) -> Product:
    """Return a published product.

    Args:
        row: its entry in the file of items.
        known: its entry in the file of attributes, or {}.
        reviews: its entry in the file of reviews, if there is one.

    Raises:
        KeyError: if a field is missing.
        TypeError: if a field is not what it should be.
    """
    bullets = row["small_description"]
    rating = (reviews or {}).get("average_rating")
    return Product(
        asin=str(row["asin"]),
        title=str(row["name"]),
        category=str(row["category"]),
        query=str(row["query"]).lower().strip(),
        product_category=str(row["product_category"]),
        pricing=read_pricing(row.get("pricing")),
        description=str(row["full_description"] or ""),
        bullets=tuple(str(b) for b in (bullets if isinstance(bullets, list) else [bullets]) if b),
        attributes=tuple(known.get("attributes", (NO_ATTRIBUTE,))),
        options=read_options(row["customization_options"]),
        reviews=tuple(_review(review) for review in (reviews or {}).get("reviews", ())),
        rating=float(rating) if isinstance(rating, int | float) else None,
    )


def read_pricing(text: Any) -> tuple[float, ...]:
    """Return the price, or the lowest and the highest, that a published text names.

    >>> read_pricing("$1,299.00"), read_pricing("$5.99$12.00"), read_pricing(None)
    ((1299.0,), (5.99, 12.0), (100.0,))
    """
    if not text:
        return (DEFAULT_PRICE,)
    digits = [_NOT_NUMBER.sub("", part) for part in str(text).split("$")[1:]]
    prices = [float(d) for d in digits if _NUMBER.fullmatch(d)]
    return tuple(prices[:2]) or (DEFAULT_PRICE,)


def read_options(customization: Any) -> dict[str, tuple[str, ...]]:
    """Return the options of a product: lower case, with " | " for a slash, as published."""
    return {
        str(name).lower(): tuple(
            str(c["value"]).strip().replace("/", " | ").lower() for c in contents
        )
        for name, contents in (customization or {}).items()
        if contents is not None
    }


def _review(row: Mapping[str, Any]) -> Review:
    score = row.get("score", row.get("stars", 0))
    return Review(str(row.get("title", "")), float(score), str(row.get("review") or ""))
