"""The published reward of a purchase.

    reward = type * (attributes met + options met + price met)
                    / (attributes asked for + options asked for + 1)

`type` is 1, or 0.5 where neither the query, nor two levels of the category, nor a fifth of the
title's nouns agree, or 0.1 where fewer than a tenth of the nouns do, or 0 where none does. An
attribute or option counts as met where its words and the product's are alike by more than 85 of 100
(`thefuzz.token_set_ratio`, which is written here on the standard library as thefuzz 0.19 computes
it); an attribute also where title, bullets or description hold it.

Two oddities are part of it, because scores are compared with published ones. The first colour word
found in a chosen value stands for the value ("navy blue" reads "blue",
"tired" reads "red"); and a wanted option keeps its name beside its
value, so that a chosen value is compared with "color navy blue". Both make options easier to meet,
never harder.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

from agentgym.envs.webshop.nouns import Nouns, rule_nouns
from agentgym.envs.webshop.product import Goal, Product
from agentgym.envs.webshop.words import words

ALIKE = 85
"""Words are alike where the ratio is above this."""

COLORS = words("colors")
"""The published colour words, in the order in which they are looked for."""

_NOT_WORD = re.compile(r"\W")


class Reward(NamedTuple):
    """What a purchase is worth, and why.

    Attributes:
        total: the reward, in [0, 1].
        type: 1, 0.5, 0.1 or 0: how far it is the kind of thing that was asked for.
        attributes: attributes met, and asked for.
        options: options met, and asked for.
        price: whether it costs no more than it may.
        title_score: part of the wanted title's nouns that the bought one's has.
        query_match: whether both come from one query.
        category_match: whether two levels of the category agree.
    """

    total: float
    type: float
    attributes: tuple[int, int]
    options: tuple[int, int]
    price: bool
    title_score: float
    query_match: bool
    category_match: bool


def reward(
    product: Product, goal: Goal, chosen: Mapping[str, str], nouns: Nouns = rule_nouns
) -> Reward:
    """Return what buying a product is worth.

    Args:
        product: what was bought.
        goal: what was asked for.
        chosen: the options chosen, by name.
        nouns: how the nouns of a title are found.
    """
    query = product.query == goal.query
    category = category_match(product.product_category, goal.product_category)
    title = title_score(product.title, goal.title, nouns)
    kind = type_factor(query, category, title)
    attributes = attributes_met(product, goal.attributes)
    options = options_met(list(chosen.values()), wanted_options(goal))
    price = product.cost(chosen) <= goal.price_upper
    asked = len(goal.attributes) + len(goal.options) + 1
    total = kind * (attributes + options + price) / asked
    return Reward(
        total,
        kind,
        (attributes, len(goal.attributes)),
        (options, len(goal.options)),
        price,
        title,
        query,
        category,
    )


def category_match(one: str, other: str) -> bool:
    """Return whether two categories share at least two levels, wherever they stand.

    >>> category_match("Home › Kitchen › Mugs", "Kitchen › Home › Plates")
    True
    """
    levels = [{level.strip() for level in path.split("›")} for path in (one, other)]
    return len(levels[0] & levels[1]) >= 2


def title_score(bought: str, wanted: str, nouns: Nouns = rule_nouns) -> float:
    """Return the part of the wanted title's nouns that the bought title has; 0.2 without any."""
    asked = nouns(wanted)
    return len(set(nouns(bought)) & set(asked)) / len(asked) if asked else 0.2


def type_factor(query: bool, category: bool, title: float) -> float:
    """Return the factor for the kind of thing.

    >>> [type_factor(True, True, t) for t in (1.0, 0.15, 0.05, 0.0)]
    [1.0, 1.0, 0.1, 0.0]
    >>> type_factor(False, False, 0.15)
    0.5
    """
    if title == 0.0:
        return 0.0
    if title < 0.1:
        return 0.1
    return 1.0 if query or category or title > 0.2 else 0.5


def attributes_met(product: Product, wanted: Sequence[str]) -> int:
    """Return how many of the wanted attributes a product has, or names in its texts."""
    texts = [product.title.lower(), " ".join(product.bullets).lower(), product.description.lower()]
    return sum(
        any(token_set_ratio(own, attribute) > ALIKE for own in product.attributes)
        or any(attribute in text for text in texts)
        for attribute in wanted
    )


def options_met(chosen: Sequence[str], wanted: Sequence[str]) -> int:
    """Return how many of the wanted options are among the chosen values."""
    values = [color_of(value) for value in chosen]
    return sum(any(token_set_ratio(v, option) > ALIKE for v in values) for option in wanted)


def wanted_options(goal: Goal) -> list[str]:
    """Return the wanted options as the published code compares them.

    A named option keeps its name beside its value, unless the value is nothing but a colour word.
    """
    if not isinstance(goal.options, Mapping):
        return [color_of(value) for value in goal.options]
    pairs = ((name, value) for name, value in goal.options.items())
    found = ((next((c for c in COLORS if c in pair), None), pair) for pair in pairs)
    return [color or str(pair) for color, pair in found]


def color_of(value: str) -> str:
    """Return the first published colour word that a value holds, or the value.

    >>> color_of("light navy"), color_of("15.6 inch"), color_of("tired")
    ('light', '15.6 inch', 'red')
    """
    return next((color for color in COLORS if color in value), value)


@lru_cache(maxsize=50_000)
def token_set_ratio(one: str, other: str) -> int:
    """Return how alike two texts are as sets of words, 0 to 100.

    >>> token_set_ratio("essential oil", "essential oils"), token_set_ratio("red", "dark red")
    (96, 100)
    """
    mine, yours = _bag(one), _bag(other)
    if not mine or not yours:
        return 0
    common = " ".join(sorted(mine & yours))
    first = f"{common} {' '.join(sorted(mine - yours))}".strip()
    second = f"{common} {' '.join(sorted(yours - mine))}".strip()
    return max(_ratio(common, first), _ratio(common, second), _ratio(first, second))


def _bag(text: str) -> set[str]:
    """Return the lower-case words of a text, read as ASCII."""
    plain = text.encode("ascii", "ignore").decode("ascii")
    return set(_NOT_WORD.sub(" ", plain).lower().split())


def _ratio(one: str, other: str) -> int:
    if one == other:
        return 100
    if not one or not other:
        return 0
    return round(100 * SequenceMatcher(None, one, other).ratio())
