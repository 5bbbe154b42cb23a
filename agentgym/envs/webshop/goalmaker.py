"""The published goals: what AgentGym's server makes of the published products.

A synthetic goal is made for every combination of the options of a product that has an instruction,
with an upper price drawn from the four tens above the product's price. Human goals are as people
wrote them, with an upper price drawn alike. The order is then the published shuffle's. The
published code drew the prices of human goals, and the price of a product with a price range, from
an unseeded generator; here the first come from the published seed and the second is the middle of
the range.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any

from agentgym.core.errors import InvalidConfig
from agentgym.envs.webshop.product import NO_LIMIT, Goal, Product
from agentgym.envs.webshop.shuffle import Published
from agentgym.envs.webshop.warehouse import GoalRow, Warehouse

GOALS = ("synthetic", "human")
HUMAN_FILE = "items_human_ins.json"
MOST_GOALS = 200_000
"""Goals of one sort that are kept; a task set is in memory whole."""
PRICES = [10.0 * i for i in range(1, 100)]
"""The upper prices there are."""


class Synthetic:
    """Makes the goals for every combination of options of the products that have an instruction."""

    which = "synthetic"

    def __init__(self) -> None:
        self._draws = Published()
        self._rows: list[GoalRow] = []
        self._full = False

    def take(self, product: Product, known: Mapping[str, Any]) -> None:
        """Make the goals of the next product."""
        text, attributes = known.get("instruction"), known.get("instruction_attributes")
        if text is None or not attributes:
            return
        upper, price_text = upper_price(product.cost({}), self._draws)
        names = sorted(product.options)
        if math.prod(len(product.options[name]) for name in names) + len(self._rows) > MOST_GOALS:
            self._full = True
        if self._full:
            return
        for values in itertools.product(*(product.options[name] for name in names)):
            options = dict(zip(names, values, strict=True))
            said = ", and ".join(f"{name}: {value}" for name, value in options.items())
            with_ = f" with {said}" if said else ""
            goal = Goal.of(product, f"{text}{with_}{price_text}", attributes, options, upper)
            self._rows.append((self.which, product.category, goal.to_spec()))

    def rows(self) -> list[GoalRow]:
        """Return the goals, or one row that says there are too many."""
        return [(f"too many {self.which}", "", {})] if self._full else self._rows


class Human(Synthetic):
    """Makes the goals that people wrote."""

    which = "human"

    def __init__(self, written: Mapping[str, Any]) -> None:
        super().__init__()
        self._written = written

    def take(self, product: Product, known: Mapping[str, Any]) -> None:
        """Make the goals of the next product."""
        for row in self._written.get(product.asin, ()):
            attributes = row["instruction_attributes"]
            if not attributes:
                continue
            upper, price_text = upper_price(product.cost({}), self._draws)
            text = row["instruction"].strip(".") + price_text
            goal = Goal.of(product, text, attributes, row.get("instruction_options") or [], upper)
            self._rows.append((self.which, product.category, goal.to_spec()))


def upper_price(price: float, draws: Published) -> tuple[float, str]:
    """Return the upper price of a goal and how the instruction says it.

    Two of the four tens above the price are drawn, and the higher one is taken.
    """
    above = [p for p in PRICES if p > price][:4]
    if len(above) < 2:
        return NO_LIMIT, ""
    upper = max(draws.pair(above))
    return upper, f", and price lower than {upper:.2f} dollars"


def shuffled_goals(catalogue: Warehouse, which: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the goals of one sort in the published order: kind and spec.

    Raises:
        InvalidConfig: if there is no such sort, there are none, or too many.
    """
    if which not in GOALS:
        raise InvalidConfig(f"goals must be one of {', '.join(GOALS)}, got {which!r}")
    goals = catalogue.goals(which)
    if not goals and catalogue.goals(f"too many {which}"):
        raise InvalidConfig(
            f"these products make more than {MOST_GOALS} {which} goals, too many to hold; "
            "use goals='human', as the WebShop paper does with all products"
        )
    if not goals and which == "human":
        raise InvalidConfig(
            f"goals='human' needs {HUMAN_FILE} beside the products, with instructions for some of "
            "them"
        )
    if not goals:
        raise InvalidConfig(
            "no product has an instruction: is items_ins_v2 the one of these items?"
        )
    return Published().shuffled(goals)
