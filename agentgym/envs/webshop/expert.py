"""Who shops: the expert, and the rule of the paper.

The expert knows the whole stock, and what each product would score with the options that were asked
for. From that it works out a visit a careful person could have made: words that bring up something
that fits, a look at a product that promises as much and falls short, a look for what the title
does not say, and the purchase. The looks are left out where the rounds do not allow them. Its
reasons are the ones to be read off the pages. If somebody else has moved in between, it plans from
there.

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
        rounds: how many the episode may take.
    """

    def __init__(
        self, stock: Stock, session: Session, goal: Goal, nouns: Nouns, rounds: int
    ) -> None:
        self._stock, self._session, self._goal, self._nouns = stock, session, goal, nouns
        self._rounds = rounds
        self._found: Find | None = None
        self._looked = self._read = False

    def act(self, observation: str, info: Mapping[str, Any]) -> Move:
        """Return the next move of a visit that ends with what was asked for."""
        session = self._session
        found = self._plan()
        spare = self._rounds - int(info.get("rounds", 0)) - self._needed(found)
        if session.where in pages.SUB_PAGES:
            return self._after_reading(), _click(pages.PREVIOUS)
        if session.where == "Item" and session.product is not None:
            return self._on_product(session.product, found, spare)
        if session.where == "Results" and session.keywords == found.words:
            return self._among_results(found, spare)
        return self._search(found)

    def _needed(self, found: Find) -> int:
        """Return the rounds that the purchase itself takes from here."""
        options = len(_wanted(found.product, self._goal)) - len(self._session.chosen)
        if self._session.where == "Item":
            return options + 1
        turns = abs(found.rank // pages.PER_PAGE + 1 - self._session.number)
        return options + 2 + turns + (self._session.where == pages.SEARCH)

    def _plan(self) -> Find:
        """Return what to buy and how to come to it; the product is chosen once."""
        if self._found is None:
            self._found = self._best()
        return self._found

    def _best(self) -> Find:
        finds = []
        for words in dict.fromkeys(_queries(self._goal)):
            find = self._first_fit(words)
            if find is not None and find.rank < pages.PER_PAGE:
                return find  # the first, most natural words that bring it to the first page
            finds += [find] if find is not None else []
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
        wish = f"I am asked for {goal.query or 'one thing'}"
        points = [*goal.attributes, *_values(goal)]
        if goal.price_upper < NO_LIMIT:
            points.append(f"no more than ${goal.price_upper:.2f}")
        if points:
            wish += f"; what counts is {_join(points)}"
        thought = f"{wish}. I search for the words that say most about it."
        return thought, f"search[{found.words}]"

    def _among_results(self, found: Find, spare: int) -> Move:
        session = self._session
        page = found.rank // pages.PER_PAGE + 1
        other = self._promising(found)
        if other is not None and not self._looked and spare >= 2 and session.number == page:
            self._looked = True
            thought = (
                f"{other.asin} stands higher among the results, is the right kind of thing and not "
                f"too dear, so I look at it first: {shorten(other.title, 60)} for {_price(other)}."
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
            f"{self._passed_over(found)}{product.asin}, {shorten(product.title, 80)}, looks like "
            f"what I was asked for, at {_price(product)}, so I open it."
        )
        return thought, _click(product.asin)

    def _promising(self, found: Find) -> Product | None:
        """Return a product on the same page that reads alike, ranks higher and falls short."""
        for product in self._before(found):
            alike = (
                product.query == found.product.query and product.asin not in self._session.visited
            )
            if alike and product.pricing[0] <= self._goal.price_upper:
                return product
        return None

    def _passed_over(self, found: Find) -> str:
        """Say how many of the hits before it on its page are too dear, if any are."""
        dear = sum(p.pricing[0] > self._goal.price_upper for p in self._before(found))
        limit = f"${self._goal.price_upper:.2f}"
        if dear > 1:
            return f"{dear} of the hits before it cost more than {limit}. "
        return f"One hit before it costs more than {limit}. " if dear else ""

    def _before(self, found: Find) -> list[Product]:
        first = found.rank // pages.PER_PAGE * pages.PER_PAGE
        return [self._stock.product(place) for place in self._session.hits()[first : found.rank]]

    def _on_product(self, product: Product, found: Find, spare: int) -> Move:
        goal, session = self._goal, self._session
        if product.asin != found.product.asin:
            return self._reason_against(product), _click(pages.PREVIOUS)
        unsaid = [a for a in goal.attributes if a not in product.title.lower()]
        page = self._where_said(product, unsaid)
        if page and spare >= 2 and not self._read:
            self._read = True
            return f"The title does not say {_join(unsaid)}, so I look under {page}.", _click(page)
        wanted = _wanted(product, goal)
        for name, value in session.chosen.items():
            if name not in wanted and product.surcharges.get(name, {}).get(value):
                thought = f"The {name} {value} costs extra and was not asked for, so I start over."
                return thought, _click(pages.PREVIOUS)
        for name, value in wanted.items():
            if session.chosen.get(name) != value:
                return f"The {name} should be {value}, which there is, so I choose it.", _click(
                    value
                )
        price = product.cost(session.chosen)
        limit = f", within the ${goal.price_upper:.2f} I may spend" * (goal.price_upper < NO_LIMIT)
        has = f"It has what counts: {_join([*goal.attributes, *wanted.values()])}."
        return f"{has} It costs ${price:.2f}{limit}, so I buy it.", _click(pages.BUY)

    def _where_said(self, product: Product, attributes: list[str]) -> str:
        """Return the sub-page that says what the title leaves out, or ""."""
        texts = {"Features": " ".join(product.bullets), "Description": product.description}
        counts = {name: sum(a in text.lower() for a in attributes) for name, text in texts.items()}
        best = max(counts, key=lambda name: counts[name])
        if counts[best]:
            return best
        listed = any(a in product.attributes for a in attributes)
        return "Attributes" if listed and "attributes" in self._session.clickables else ""

    def _after_reading(self) -> str:
        """Say what the open sub-page says of what was asked for."""
        said = " ".join(part.text for part in self._session.page[4:]).lower()
        found = [a for a in self._goal.attributes if a in said]
        if not found:
            return "There is nothing more for me here, so I go back to the product."
        return f"Here it says {_join(found)}, so I go back to the product."

    def _reason_against(self, product: Product) -> str:
        goal, worth = self._goal, self._worth(product)
        lacks = [a for a in goal.attributes if not attributes_met(product, [a])]
        wanted = _wanted(product, goal)
        if lacks:
            why = f"nothing is said of {_join(lacks)}"
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
