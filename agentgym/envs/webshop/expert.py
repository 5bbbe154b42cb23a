"""Who shops: the expert, and the rule of the paper.

The expert knows the whole stock, and what each product would score with the options that were asked
for. From that it works out a visit a careful person could have made: words that bring up something
that fits, a look at a product that promises as much and falls short, and the purchase. Its reasons
are the ones to be read off the pages. If somebody else has moved in between, it plans from there.

`FirstHit` is the paper's rule baseline: it searches for the instruction and buys the first hit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from agentgym.core.expert import Expert
from agentgym.core.text import shorten
from agentgym.envs.webshop import pages
from agentgym.envs.webshop.nouns import Nouns
from agentgym.envs.webshop.product import NO_LIMIT, Goal, Product
from agentgym.envs.webshop.reward import Reward, attributes_met, reward
from agentgym.envs.webshop.session import Session
from agentgym.envs.webshop.stock import Stock

Move = tuple[str, str]
"""Thought and action."""


class Find(NamedTuple):
    """Words that bring up what is wanted, and where it stands among the hits.

    Attributes:
        words: the words to search for.
        rank: its place among the hits, from 0.
        product: the product.
    """

    words: str
    rank: int
    product: Product


class Shopper(Expert):
    """Plays the current episode.

    Args:
        stock: what the shop has.
        session: the episode's visit; it is read, not changed.
        goal: what is asked for.
        nouns: how the reward finds the nouns of a title.
    """

    def __init__(self, stock: Stock, session: Session, goal: Goal, nouns: Nouns) -> None:
        self._stock, self._session, self._goal, self._nouns = stock, session, goal, nouns
        self._found: Find | None = None
        self._looked = False

    def act(self, observation: str, info: Mapping[str, Any]) -> Move:
        """Return the next move of a visit that ends with what was asked for."""
        session = self._session
        found = self._plan()
        if session.where in pages.SUB_PAGES:
            return "I have read enough here, so I go back to the product.", _click(pages.PREVIOUS)
        if session.where == "Item" and session.product is not None:
            return self._on_product(session.product, found)
        if session.where == "Results" and session.keywords == found.words:
            return self._among_results(found)
        return self._search(found)

    def _plan(self) -> Find:
        """Return what to buy and how to come to it; the product is chosen once."""
        if self._found is None:
            self._found = self._best()
        return self._found

    def _best(self) -> Find:
        tries = list(dict.fromkeys(_queries(self._goal)))
        finds = [find for words in tries if (find := self._first_fit(words))]
        near = [find for find in finds if find.rank < pages.PER_PAGE]
        if near:  # the first, most natural words that bring it to the first page
            return near[0]
        if finds:
            return min(finds, key=lambda find: find.rank)
        product = self._stock.get(self._goal.asin)
        if product is None:
            raise LookupError(f"the stock has no {self._goal.asin}")
        return self._by_title(product)

    def _first_fit(self, words: str) -> Find | None:
        for rank, place in enumerate(self._stock.find(words)):
            product = self._stock.product(place)
            if self._worth(product).total == 1.0:
                return Find(words, rank, product)
        return None

    def _by_title(self, product: Product) -> Find:
        """Return a search for the very title, if nothing a person would say brings it up."""
        words = " ".join(product.title.lower().replace("[", " ").replace("]", " ").split())
        hits = self._stock.find(words)
        place = self._stock.place(product.asin)
        return Find(words, hits.index(place) if place in hits else 0, product)

    def _worth(self, product: Product) -> Reward:
        return reward(product, self._goal, _wanted(product, self._goal), self._nouns)

    def _search(self, found: Find) -> Move:
        goal = self._goal
        wish = goal.query or "this"
        if goal.attributes:
            wish += f" that should be {_join(goal.attributes)}"
        if goal.options:
            wish += f", in {_join(_values(goal))}"
        if goal.price_upper < NO_LIMIT:
            wish += f", for at most ${goal.price_upper:.2f}"
        thought = f"I am asked for {wish}. I search for the words that say most about it."
        return thought, f"search[{found.words}]"

    def _among_results(self, found: Find) -> Move:
        session = self._session
        page = found.rank // pages.PER_PAGE + 1
        other = self._promising(found)
        if other is not None and not self._looked and session.number == page:
            self._looked = True
            thought = (
                f"{other.asin} stands high among the results and is the right kind of thing, so I "
                f"look at it first: {shorten(other.title, 60)} for {_price(other)}."
            )
            return thought, _click(other.asin)
        if session.number < page:
            thought = (
                f"None of the products on page {session.number} has all I need, so I turn to the "
                "next page."
            )
            return thought, _click(pages.NEXT)
        if session.number > page:
            return "What I want stood on an earlier page, so I turn back.", _click(pages.PREVIOUS)
        product = found.product
        thought = (
            f"{product.asin}, {shorten(product.title, 80)}, is what I am looking for, and at "
            f"{_price(product)} it can be had for what I may spend, so I open it."
        )
        return thought, _click(product.asin)

    def _promising(self, found: Find) -> Product | None:
        """Return a product on the same page that reads alike, ranks higher and falls short."""
        first = found.rank // pages.PER_PAGE * pages.PER_PAGE
        for place in self._session.hits()[first : found.rank]:
            product = self._stock.product(place)
            if product.query == self._goal.query and product.asin not in self._session.visited:
                return product
        return None

    def _on_product(self, product: Product, found: Find) -> Move:
        goal, session = self._goal, self._session
        if product.asin != found.product.asin:
            return self._reason_against(product), _click(pages.PREVIOUS)
        wanted = _wanted(product, goal)
        for name, value in session.chosen.items():
            if name not in wanted and product.surcharges.get(name, {}).get(value):
                thought = f"The {name} {value} costs extra and was not asked for, so I start over."
                return thought, _click(pages.PREVIOUS)
        for name, value in wanted.items():
            if session.chosen.get(name) != value:
                return f"It should be {name} {value}, which there is, so I choose it.", _click(
                    value
                )
        price = product.cost(session.chosen)
        limit = f", within the ${goal.price_upper:.2f} I may spend" * (goal.price_upper < NO_LIMIT)
        options = f" The options are chosen: {_join(list(wanted.values()))}." if wanted else ""
        has = f"It is {_join(goal.attributes)}, as asked." if goal.attributes else "It is right."
        return f"{has}{options} It costs ${price:.2f}{limit}, so I buy it.", _click(pages.BUY)

    def _reason_against(self, product: Product) -> str:
        goal, worth = self._goal, self._worth(product)
        lacks = [a for a in goal.attributes if not attributes_met(product, [a])]
        wanted = _wanted(product, goal)
        if lacks:
            why = f"nothing here says that it is {_join(lacks)}"
        elif worth.options[0] < worth.options[1]:
            missing = [v for v in _values(goal) if v not in wanted.values()]
            why = f"it does not come in {_join(missing or _values(goal))}"
        elif not worth.price:
            why = f"it would cost ${product.cost(wanted):.2f}, more than ${goal.price_upper:.2f}"
        else:
            why = "it is not quite the kind of thing I was asked for"
        return f"I look at {shorten(product.title, 60)}: {why}, so I go back to the results."


class FirstHit(Expert):
    """The rule baseline of the WebShop paper (arXiv 2207.01206, section 5).

    Args:
        session: the episode's visit.
        goal: what is asked for; only its instruction is used.
    """

    def __init__(self, session: Session, goal: Goal) -> None:
        self._session, self._goal = session, goal

    def act(self, observation: str, info: Mapping[str, Any]) -> Move:
        """Search for the instruction, open the first hit, buy it as it is."""
        session = self._session
        first = next((p.text for p in session.page if p.kind == "link"), None)
        if session.where == "Results" and first is not None:
            return "The first hit will do.", _click(first)
        if session.where == "Item":
            return "I buy it as it is.", _click(pages.BUY)
        if session.where in pages.SUB_PAGES:
            return "I go back to the product.", _click(pages.PREVIOUS)
        words = self._goal.instruction.replace("[", " ").replace("]", " ")
        return "I search for the instruction.", f"search[{' '.join(words.split())}]"


def _queries(goal: Goal) -> Iterator[str]:
    """Yield searches, from what a person would type first to the instruction itself."""
    kind, attributes, values = goal.query, " ".join(goal.attributes), " ".join(_values(goal))
    first = goal.attributes[0] if goal.attributes else ""
    for words in (
        f"{attributes} {kind}",
        f"{attributes} {kind} {values}",
        f"{first} {kind} {values}",
        f"{kind} {values}",
        f"{kind} {attributes} {_plain_title(goal.title, 3)}",
        f"{_plain_title(goal.title, 6)} {attributes}",
        f"{_plain_title(goal.title, 12)} {attributes} {values}",
        goal.instruction.lower(),
    ):
        clean = " ".join(words.replace("[", " ").replace("]", " ").lower().split())
        if clean:
            yield clean


def _plain_title(title: str, words: int) -> str:
    kept = ["".join(c for c in word if c.isalnum() or c in "-'") for word in title.split()]
    return " ".join([word for word in kept if word][:words])


def _wanted(product: Product, goal: Goal) -> dict[str, str]:
    """Return the options to choose on a product, of those it has, in the order of its page."""
    if isinstance(goal.options, Mapping):
        return {
            name: value
            for name, values in product.options.items()
            if (value := goal.options.get(name)) in values and value is not None
        }
    found = (
        (n, next((v for v in goal.options if v in vs), None)) for n, vs in product.options.items()
    )
    return {name: value for name, value in found if value is not None}


def _values(goal: Goal) -> list[str]:
    return list(goal.options.values() if isinstance(goal.options, Mapping) else goal.options)


def _join(items: tuple[str, ...] | list[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def _price(product: Product) -> str:
    return " to ".join(f"${price:.2f}" for price in product.pricing[:2])


def _click(label: str) -> str:
    return f"click[{label.lower()}]"
