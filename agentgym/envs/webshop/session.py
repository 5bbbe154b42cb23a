"""A visit to the shop: which page is open, what has been chosen, and what an action does to it.

The moves are the published ones: a search works from every page; a new page of results forgets the
options that were chosen; "< Prev" leads from a sub-page to its product and from a product to its
results; labels are compared without regard to case. What cannot be done changes nothing and is
answered with what could be.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from agentgym.core.command import Command, Param
from agentgym.core.text import shorten
from agentgym.envs.webshop import pages
from agentgym.envs.webshop.pages import Page, Part
from agentgym.envs.webshop.product import Product
from agentgym.envs.webshop.stock import Stock

COMMANDS = (
    Command(
        "search",
        "search[{keywords}]",
        "Search the shop.",
        (Param("keywords", "the words to look for"),),
    ),
    Command(
        "click",
        "click[{value}]",
        "Click a button, a product's code or an option's value on the page.",
        (Param("value", "what to click, as it stands on the page"),),
    ),
)

_MOST_LISTED = 40


class Session:
    """A visit, from the search page to the purchase.

    Args:
        stock: what the shop has.
        instruction: what is asked for; it heads every page.
        show_attributes: whether products have a page of attributes.
    """

    def __init__(self, stock: Stock, instruction: str, show_attributes: bool) -> None:
        self._stock, self._instruction = stock, instruction
        self._show_attributes = show_attributes
        self.where = pages.SEARCH
        """The page: "Search", "Results", "Item", or the name of a sub-page."""
        self.keywords = ""
        self.number = 1
        self.product: Product | None = None
        self.chosen: dict[str, str] = {}
        self.visited: list[str] = []
        self.bought = False
        self._open()

    def act(self, action: str) -> str | None:
        """Carry out an action.

        Returns:
            None, or where it cannot be carried out what would have been right.
        """
        verb, value = _read(action)
        if verb == "search":
            if not value:
                return "Say what to search for, such as search[blue cotton shirt]."
            self.keywords = value
            self._results(1)
        elif verb == "click":
            part = self.clickables.get(value)
            if part is None or value == pages.SEARCH.lower():
                return self._missed(value)
            self._click(part)
        else:
            return f"{self._quoted(action)} is no action. Write search[keywords] or click[value]."
        self._open()
        return None

    def hits(self) -> tuple[int, ...]:
        """Return the places of the products found by the present search."""
        return self._stock.find(self.keywords)

    def save(self) -> dict[str, Any]:
        """Return the visit as JSON values."""
        return {
            "where": self.where,
            "keywords": self.keywords,
            "number": self.number,
            "asin": self.product.asin if self.product else None,
            "chosen": dict(self.chosen),
            "visited": list(self.visited),
            "bought": self.bought,
        }

    def load(self, saved: Mapping[str, Any]) -> None:
        """Return to a saved moment.

        Raises:
            KeyError: if a field is missing, or the stock has no such product.
            ValueError: if a field holds what `save` cannot have put there.
        """
        self.where, self.keywords, self.number = saved["where"], saved["keywords"], saved["number"]
        self.product = None
        if saved["asin"] is not None:
            self.product = self._stock.get(saved["asin"])
            if self.product is None:
                raise KeyError(saved["asin"])
        self.chosen, self.visited = dict(saved["chosen"]), list(saved["visited"])
        self.bought = bool(saved["bought"])
        known = (pages.SEARCH, "Results", "Item", *pages.SUB_PAGES)
        on_product = self.where in ("Item", *pages.SUB_PAGES)
        if self.where not in known or on_product != (self.product is not None):
            raise ValueError(f"the page cannot be {self.where!r}")
        if not isinstance(self.keywords, str) or type(self.number) is not int or self.number < 1:
            raise ValueError("the keywords or the number of the page cannot be read")
        self._open()

    def _click(self, part: Part) -> None:
        label = part.text.lower()
        buttons = {name.lower(): name for name in pages.SUB_PAGES}
        if label == pages.BUY.lower():
            self.bought = True
        elif label == pages.BACK.lower():
            self.where, self.keywords, self.number, self.product = pages.SEARCH, "", 1, None
            self.chosen, self.visited = {}, []
        elif label == pages.NEXT.lower() and self.where == "Results":
            self._results(self.number + 1)
        elif label == pages.PREVIOUS.lower():
            if self.where == "Results":
                self._results(self.number - 1)
            elif self.where == "Item":
                self._results(self.number)
            else:
                self.where = "Item"
        elif label in buttons:
            self.where = buttons[label]
        else:
            self._choose(part)

    def _choose(self, part: Part) -> None:
        """Open a product, or choose a value of an option."""
        if part.kind == "link":
            self.product = self._stock.get(part.text)
            self.visited += [part.text] if part.text not in self.visited else []
        else:
            self.chosen[part.name.lower()] = part.text
        self.where = "Item"

    def _results(self, number: int) -> None:
        self.where, self.number, self.product, self.chosen = "Results", number, None, {}

    def _open(self) -> None:
        self.page = self._build()
        self.clickables = pages.clickables(self.page)

    def _build(self) -> Page:
        if self.where == pages.SEARCH:
            return pages.search_page(self._instruction)
        if self.product is None:
            hits, first = self.hits(), (self.number - 1) * pages.PER_PAGE
            shown = [self._stock.product(place) for place in hits[first : first + pages.PER_PAGE]]
            return pages.results_page(self._instruction, shown, self.number, len(hits))
        if self.where == "Item":
            return pages.item_page(
                self._instruction, self.product, self.chosen, self._show_attributes
            )
        return pages.sub_page(self._instruction, self.product, self.where)

    def _missed(self, value: str) -> str:
        labels = [label for label in self.clickables if label != pages.SEARCH.lower()]
        if value == pages.SEARCH.lower():
            return "To search, write the words: search[blue cotton shirt]."
        if not labels:
            return "There is nothing to click on this page: search[keywords] first."
        near = difflib.get_close_matches(value[:80], labels, n=1, cutoff=0.7)
        if near:
            return f"This page has no {self._quoted(value)}. Did you mean click[{near[0]}]?"
        listed = ", ".join(labels[:_MOST_LISTED]) + ", …" * (len(labels) > _MOST_LISTED)
        return f"This page has no {self._quoted(value)}. You can click: {listed}."

    @staticmethod
    def _quoted(text: str) -> str:
        return f"'{shorten(text)}'" if text.strip() else "nothing"


def _read(action: str) -> tuple[str, str]:
    """Return the verb and the value of an action, lower case; the verb is "" where it is none.

    >>> _read("Search[Mug [2 pack]]"), _read("click")
    (('search', 'mug [2 pack]'), ('', ''))
    """
    verb, bracket, rest = action.strip().partition("[")
    value, closed, _ = rest.rpartition("]")
    if not bracket or not closed:
        return "", ""
    return verb.strip().lower(), value.strip().lower()
