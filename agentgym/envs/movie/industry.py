"""The film industry: films, the people who made them, and the prizes they won.

It is invented, so that no model can answer from memory, and generated rather than shipped: from the
vocabulary in `data/world.json` the draws of `core.draw` make the same 500 films and 1,500 people
everywhere. Careers hang together: nobody acts before coming of age or directs as a child, people
mostly work in their own country, and a prize is for a film of the year before.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date

FILMS, PEOPLE = 500, 1_500
FIRST_YEAR, LAST_YEAR = 1968, 2024
MOST_CREDITS = 10
"""The most films a person acts in, or works on; the published functions list no more than ten."""

PRIZE = "Golden Lantern"


@dataclass(slots=True)
class Film:
    """A film.

    Attributes:
        id: its number, as text.
        title: unique.
        overview: one sentence.
        released: day of release.
        country: ISO 3166-1 code of where it was made, first of `countries`.
        countries: codes of all countries that produced it.
        companies: names of the companies, the main one first.
        genres: (id, name) each, the main one first.
        keywords: what it is about.
        budget: in dollars.
        revenue: in dollars.
        vote: average vote, out of 10.
        runtime: in minutes.
        cast: (person id, character) each, the leading parts first.
        crew: (person id, job) each, the director first.
        titles: (country code, title) each, in other countries.
        translated: codes of the countries there are translations for.
    """

    id: str
    title: str
    overview: str
    released: date
    country: str
    countries: list[str]
    companies: list[str]
    genres: list[tuple[int, str]]
    keywords: list[str]
    budget: int
    revenue: int
    vote: float
    runtime: int
    cast: list[tuple[str, str]] = field(default_factory=list)
    crew: list[tuple[str, str]] = field(default_factory=list)
    titles: list[tuple[str, str]] = field(default_factory=list)
    translated: list[str] = field(default_factory=list)

    def having(self, job: str) -> list[str]:
        """Return the ids of those who had a job on it."""
        return [person for person, had in self.crew if had == job]


@dataclass(slots=True)
class Person:
    """Somebody who makes films.

    Attributes:
        id: a number, as text.
        name: unique.
        female: for the pronoun and the prize.
        trade: what they mostly do ("actor", "director", "writer", ...).
        born: birthday.
        birthplace: town, region and country.
        country: ISO 3166-1 code of where they work.
        links: ids elsewhere: imdb_id, facebook_id, instagram_id, twitter_id; None where there is
            none.
        biography: a few sentences.
        cast: (film id, character) each, in order of the id, which says nothing of the release.
        crew: (film id, job) each, in order of the id.
        prizes: (year, category, film id) each.
    """

    id: str
    name: str
    female: bool
    trade: str
    born: date
    birthplace: str
    country: str
    links: dict[str, str | None]
    biography: str = ""
    cast: list[tuple[str, str]] = field(default_factory=list)
    crew: list[tuple[str, str]] = field(default_factory=list)
    prizes: list[tuple[int, str, str]] = field(default_factory=list)

    @property
    def credits(self) -> int:
        """Number of films acted in and jobs had."""
        return len(self.cast) + len(self.crew)


class Industry:
    """Films and people by id, and by the names they are searched under.

    Attributes:
        films: by id, oldest first.
        people: by id.
        countries: name by ISO 3166-1 code.
        company_country: code by company.
    """

    def __init__(
        self,
        films: Sequence[Film],
        people: Sequence[Person],
        countries: dict[str, str],
        company_country: dict[str, str],
    ) -> None:
        self.films = {film.id: film for film in films}
        self.people = {person.id: person for person in people}
        self.countries, self.company_country = countries, company_country
        self._titles = {plain(film.title): film for film in films}
        self._names = {plain(person.name): person for person in people}
        self._alternative = {plain(t): film for film in films for _, t in film.titles}

    def find_film(self, title: str) -> Film | None:
        """Return the film of a title: exact but for case and punctuation, else of any country."""
        wanted = plain(title)
        return self._titles.get(wanted) or self._alternative.get(wanted)

    def find_person(self, name: str) -> Person | None:
        """Return the person of a name, exact but for case, punctuation and accents."""
        return self._names.get(plain(name))

    def films_like(self, title: str) -> Iterator[Film]:
        """Yield films whose title holds all the words of a text."""
        words = set(plain(title).split()) - {"the", "of", "and", "a"}
        if words:
            yield from (f for key, f in self._titles.items() if words <= set(key.split()))

    def people_like(self, name: str) -> Iterator[Person]:
        """Yield people whose name holds all the words of a text."""
        words = set(plain(name).split())
        if words:
            yield from (p for key, p in self._names.items() if words <= set(key.split()))


def plain(name: str) -> str:
    """Return a name in small letters without accents and punctuation."""
    text = unicodedata.normalize("NFKD", name[:300].casefold())
    kept = "".join(c if c.isalnum() else " " for c in text if not unicodedata.combining(c))
    return " ".join(kept.split())
