"""The tables of the mini shop: which kinds of product there are and what can be said of them.

Everything the shop sells is written down in `data/`: one file a department in `data/kinds/`, what
departments share in `data/shop.json`, and what does not go together in `data/never.json`. A trait
is one short phrase with the sentence that claims it. A product has exactly one trait of each facet
and some of the features, so that two products of a kind are told apart by traits, and no text of a
product claims a trait it does not have (the tests hold the tables to that).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from itertools import combinations
from typing import Any

_ARTICLE = re.compile(r"^(?:a|an) ")


@dataclass(frozen=True, slots=True)
class Trait:
    """Something a product is or has.

    Attributes:
        attribute: the phrase that goals ask for and the published `Attributes` list ("side
            pockets"); lower case.
        phrase: the same as it is spoken, with its article ("a tie waist").
        place: where it is spoken: "before" the noun, "after" it, "with" it, or "as" it.
        title: as a title has it ("Tie Waist").
        sentence: the claim, a sentence or two.
    """

    attribute: str
    phrase: str
    place: str
    title: str
    sentence: str

    @classmethod
    def read(cls, text: str) -> Trait:
        """Read "tag | Title | Sentence." or "tag | Sentence."; a mark says where it is spoken.

        "+" stands for "with", "~" for "as"; a tag that begins with "for" comes after the noun.

        >>> Trait.read("+a tie waist | A tie waist for a closer fit.")
        Trait(attribute='tie waist', phrase='a tie waist', place='with', title='Tie Waist', ...)
        """
        parts = [part.strip() for part in text.split("|")]
        mark, phrase = parts[0][0], parts[0].lstrip("+~")
        place = {"+": "with", "~": "as"}.get(
            mark, "after" if phrase.startswith("for ") else "before"
        )
        attribute = _ARTICLE.sub("", phrase)
        title = parts[1] if len(parts) > 2 else titled(attribute)
        return cls(attribute, phrase, place, title, parts[-1])


@dataclass(frozen=True, slots=True)
class Choice:
    """An option of a kind: its values in their natural order, and what each adds to the price."""

    name: str
    values: tuple[str, ...]
    surcharges: Mapping[str, float]

    @property
    def ordered(self) -> bool:
        """Whether the values are steps of a scale, of which a shop has a run."""
        return self.name in _SCALES

    @classmethod
    def read(cls, name: str, text: str) -> Choice:
        """Read "small|large:6", where large costs 6 dollars more."""
        pairs = [value.partition(":") for value in text.split("|")]
        extra = {value: float(dollars) for value, _, dollars in pairs if dollars}
        return cls(name, tuple(value for value, _, _ in pairs), extra)


_SCALES = frozenset(("size", "capacity", "length", "height", "weight", "pack", "count", "set size",
                     "pieces", "tiers", "kit", "quantity", "supply"))  # fmt: skip


@dataclass(frozen=True)
class Department:
    """A part of the shop, and who makes what is sold there."""

    name: str
    category: str
    brands: tuple[str, ...]
    models: tuple[str, ...]
    contexts: tuple[str, ...]


@dataclass(frozen=True)
class Kind:
    """A kind of product.

    Attributes:
        name: its key in the tables ("dress").
        department: where it is sold.
        query: the shop's search for it ("women's dresses").
        path: its place in the shop; two kinds share at most the first level.
        number: "one", "many" or "some": whether it is a dress, leggings or coffee.
        asks: what shoppers call it, without an article.
        nouns: what titles call it.
        prices: the lowest and highest price, in dollars.
        facets: one trait of each is had.
        features: some are had.
        uses: what titles say it is for.
        choices: the options.
        about: sentences of descriptions that claim no trait.
        praise: sentences of good reviews.
        gripes: sentences of bad ones.
        never: what an attribute or an option's value does not go together with.
        held_out: whether train goals leave it out.
    """

    name: str
    department: Department
    query: str
    path: str
    number: str
    asks: tuple[str, ...]
    nouns: tuple[str, ...]
    prices: tuple[int, int]
    facets: tuple[tuple[Trait, ...], ...]
    features: tuple[Trait, ...]
    uses: tuple[str, ...]
    choices: tuple[Choice, ...]
    about: tuple[str, ...]
    praise: tuple[str, ...]
    gripes: tuple[str, ...]
    never: Mapping[str, frozenset[str]]
    held_out: bool

    def refused(self, attributes: Iterable[str]) -> set[str]:
        """Return the attributes and option values that do not go together with some attributes."""
        never = self.never
        return {
            other for attribute in attributes if attribute in never for other in never[attribute]
        }

    @cached_property
    def traits(self) -> dict[str, Trait]:
        """Every trait by its attribute."""
        every = [t for facet in self.facets for t in facet] + list(self.features)
        return {t.attribute: t for t in every}


@cache
def own_attributes(name: str) -> frozenset[str]:
    """Return the attributes of a kind that no other kind has, nor all the words of, nor fewer."""
    whole, parts = _owners()
    kind = next(kind for kind in load_kinds() if kind.name == name)
    return frozenset(
        attribute
        for attribute in kind.traits
        if parts[frozenset(attribute.split())] == {name}
        and all(whole.get(part, {name}) == {name} for part in _parts(attribute))
    )


@cache
def _owners() -> tuple[dict[frozenset[str], set[str]], dict[frozenset[str], set[str]]]:
    """Return the kinds that have an attribute of exactly some words, and of these and more."""
    whole: dict[frozenset[str], set[str]] = {}
    parts: dict[frozenset[str], set[str]] = {}
    for kind in load_kinds():
        for attribute in kind.traits:
            for part in _parts(attribute):
                parts.setdefault(part, set()).add(kind.name)
            whole.setdefault(frozenset(attribute.split()), set()).add(kind.name)
    return whole, parts


def _parts(attribute: str) -> list[frozenset[str]]:
    """Return every choice of words from an attribute."""
    words = attribute.split()
    return [frozenset(c) for n in range(1, len(words) + 1) for c in combinations(words, n)]


def titled(phrase: str) -> str:
    """Return a phrase in the capitals of a title.

    >>> titled("machine washable"), titled("glow in the dark")
    ('Machine Washable', 'Glow in the Dark')
    """
    small = ("in", "the", "of", "and", "for", "to", "with")
    return " ".join(w if w in small and i else w[:1].upper() + w[1:]
                    for i, w in enumerate(phrase.split()))  # fmt: skip


@cache
def table(name: str) -> Any:
    """Return the table `data/<name>.json`."""
    text = (files("agentgym.envs.webshop") / "data" / f"{name}.json").read_text(encoding="utf-8")
    return json.loads(text)


@cache
def load_kinds() -> tuple[Kind, ...]:
    """Return every kind, by department and then as written."""
    return tuple(
        _kind(name, _department(department), row)
        for department in table("shop")["departments"]
        for name, row in table(f"kinds/{department}").items()
    )


@cache
def _department(name: str) -> Department:
    row = table("shop")["departments"][name]
    models = table("shop")["models"][row["models"]]
    return Department(
        name, row["category"], tuple(row["brands"]), tuple(models), tuple(row["contexts"])
    )


def _kind(name: str, department: Department, row: Mapping[str, Any]) -> Kind:
    pairs = [pair.split("|") for pair in table("never").get(name, ())]
    low, high = row["price"]
    return Kind(
        name=name,
        department=department,
        query=row["query"],
        path=row["path"],
        number=row["number"],
        asks=tuple(row["ask"]),
        nouns=tuple(row["nouns"]),
        prices=(low, high),
        facets=tuple(tuple(Trait.read(t) for t in facet) for facet in row["facets"].values()),
        features=tuple(Trait.read(t) for t in row["features"]),
        uses=tuple(row["uses"]),
        choices=tuple(Choice.read(n, v) for n, v in row["options"].items()),
        about=tuple(row["about"]),
        praise=tuple(row["praise"]),
        gripes=tuple(row["gripes"]),
        never={one: frozenset(_partners(one, pairs)) for pair in pairs for one in pair},
        held_out=name in table("shop")["held_out"],
    )


def _partners(one: str, pairs: Iterable[Sequence[str]]) -> Iterator[str]:
    for pair in pairs:
        if one in pair:
            yield pair[1 - pair.index(one)]
