"""What is sold and what is asked for.

A `Product` has the fields of WebShop's product data under plain names, so that one class serves
both editions. What the published loader derives (price tag, text to index, the price paid) is
derived here too, once. One thing is ours: `surcharges`, by which an option's value has a price of
its own; in the published data it has none, whatever the price tag says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

NO_LIMIT = 1_000_000.0
"""The published stand-in for "no upper price"."""
NO_RATING = "N.A."


class Review(NamedTuple):
    """What a buyer wrote.

    Attributes:
        title: the heading.
        score: stars, 1 to 5.
        body: the text.
    """

    title: str
    score: float
    body: str = ""


@dataclass(frozen=True, slots=True)
class Product:
    """One product.

    Attributes:
        asin: its code of ten capital letters and digits ("B0C7MUG4T2").
        title: the published `name` and `Title`.
        category: the department ("fashion", "garden").
        query: the search under which the published data has it, lower case ("men's t-shirts").
        product_category: its place in the shop, "Clothing › Men › Shirts".
        pricing: dollars; one price, or the lowest and the highest.
        description: the published `Description`, one text.
        bullets: the published `BulletPoints`, shown under Features.
        attributes: the published `Attributes`, short lower-case phrases ("long lasting").
        options: values by option name, all lower case ({"color": ("red", "navy")}).
        surcharges: dollars that a value adds to the lowest price ({"size": {"xx-large": 3.0}}).
        reviews: what buyers wrote.
        rating: mean stars, or None where there is none.
    """

    asin: str
    title: str
    category: str
    query: str
    product_category: str
    pricing: tuple[float, ...] = (100.0,)
    description: str = ""
    bullets: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    surcharges: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    reviews: tuple[Review, ...] = ()
    rating: float | None = None

    @property
    def price_tag(self) -> str:
        """The price as the pages show it: "$9.99" or "$9.99 to $14.5".

        >>> Product("B0", "Mug", "kitchen", "mugs", "Kitchen", (9.99, 14.5)).price_tag
        '$9.99 to $14.5'
        """
        return " to ".join(f"${price}" for price in self.pricing[:2])

    @property
    def shown_rating(self) -> str:
        """The rating as the pages show it."""
        return NO_RATING if self.rating is None else str(self.rating)

    def cost(self, chosen: Mapping[str, str]) -> float:
        """Return the dollars paid with these options.

        With surcharges it is the lowest price and what the chosen values add. Without them a
        product with a price range costs its middle: the published server draws such a price anew
        in every process, so that the same purchase is sometimes too dear and sometimes not.

        >>> mug = Product("B0", "Mug", "kitchen", "mugs", "Kitchen", (9.0, 12.0),
        ...               surcharges={"size": {"large": 3.0}})
        >>> mug.cost({}), mug.cost({"size": "large"})
        (9.0, 12.0)
        """
        if self.surcharges:
            added = (self.surcharges.get(name, {}).get(v, 0.0) for name, v in chosen.items())
            return round(self.pricing[0] + sum(added), 2)
        return round(sum(self.pricing[:2]) / len(self.pricing[:2]), 2)

    @property
    def searchable(self) -> str:
        """The text that is indexed: title, description, first bullet and options, as published."""
        options = ", and ".join(f"{name}: {', '.join(vs)}" for name, vs in self.options.items())
        first = self.bullets[0] if self.bullets else ""
        return " ".join((self.title, self.description, first, options)).lower()


@dataclass(frozen=True, slots=True)
class Goal:
    """What a shopper asks for, and the product it was made from.

    Attributes:
        asin: the product it was made from; another one that fits as well scores as high.
        instruction: what the shopper says.
        attributes: what the product must have, at least one.
        options: the values to choose: by option name, or bare as in the human instructions.
        price_upper: the most it may cost, in dollars; `NO_LIMIT` where nothing was said.
        title: the product's title.
        query: the product's query.
        product_category: the product's place in the shop.
    """

    asin: str
    instruction: str
    attributes: tuple[str, ...]
    options: Mapping[str, str] | tuple[str, ...]
    price_upper: float
    title: str
    query: str
    product_category: str

    @classmethod
    def of(
        cls,
        product: Product,
        instruction: str,
        attributes: Sequence[str],
        options: Mapping[str, str] | Sequence[str] = (),
        price_upper: float = NO_LIMIT,
    ) -> Goal:
        """Return a goal made from a product."""
        wanted = dict(options) if isinstance(options, Mapping) else tuple(options)
        return cls(
            product.asin, instruction, tuple(attributes), wanted, float(price_upper),
            product.title, product.query, product.product_category,
        )  # fmt: skip

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any], product: Product) -> Goal:
        """Return the goal of a task's spec, as `to_spec` writes it; the rest is the product's."""
        return cls.of(
            product, spec["instruction"], spec["attributes"], spec["options"], spec["price_upper"]
        )

    def to_spec(self) -> dict[str, Any]:
        """Return the task spec of this goal: JSON values, without what the product knows."""
        named = isinstance(self.options, Mapping)
        return {
            "asin": self.asin,
            "instruction": self.instruction,
            "attributes": list(self.attributes),
            "options": dict(self.options) if named else list(self.options),  # type: ignore[arg-type]
            "price_upper": self.price_upper,
        }
