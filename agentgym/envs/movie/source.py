"""Where answers come from: the invented industry, or The Movie Database.

Both give the same small records, so that the tools do not know which they ask.
"""

from __future__ import annotations

from typing import Any, Protocol

from agentgym.envs.movie.industry import Film, Industry, Person
from agentgym.envs.tools import NotFound
from agentgym.envs.tools.kinds import one_line

Record = dict[str, Any]

LISTED = 10
"""Credits that are listed, as published."""

MAIN_JOBS = ("Director", "Producer", "Writer")

LANGUAGES = {
    "US": ("en", "English", "English"),
    "DE": ("de", "Deutsch", "German"),
    "JP": ("ja", "日本語", "Japanese"),
    "CN": ("zh", "普通话", "Mandarin"),
    "RU": ("ru", "Pусский", "Russian"),
    "NL": ("nl", "Nederlands", "Dutch"),
}
"""Translations are shown for these countries only, as published."""


class Source(Protocol):
    """What the tools ask. Every method raises `NotFound` where there is nothing."""

    def search_film(self, title: str) -> list[Record]:
        """Return the best match: [{"id", "overview", "title"}]."""

    def search_person(self, name: str) -> list[Record]:
        """Return the best match: [{"id", "name"}]."""

    def film(self, number: str) -> Record:
        """Return title, budget, genres, revenue, vote_average, release_date, and producers."""

    def film_credits(self, number: str) -> Record:
        """Return {"cast": [{"id", "name", "character"}], "crew": [{"id", "name", "job"}]}."""

    def film_keywords(self, number: str) -> list[str]:
        """Return the keywords."""

    def film_titles(self, number: str) -> Record:
        """Return {"id", "titles": [{"iso_3166_1", "title", "type"}]}."""

    def film_translations(self, number: str) -> Record:
        """Return {"id", "translations": [...]}."""

    def person(self, number: str) -> Record:
        """Return name, biography, birthday and place_of_birth."""

    def person_credits(self, number: str) -> Record:
        """Return {"cast": [{"id", "title", "character"}], "crew": [{"id", "title", "job"}]}."""

    def person_links(self, number: str) -> Record:
        """Return imdb_id, facebook_id, instagram_id and twitter_id."""


class LocalSource:
    """Answers from the invented industry.

    Args:
        industry: films and people; only read.
    """

    def __init__(self, industry: Industry) -> None:
        self._industry = industry

    def search_film(self, title: str) -> list[Record]:
        """Return the film of this title, else the first whose title holds its words."""
        film = self._industry.find_film(title) or next(self._industry.films_like(title), None)
        if film is None:
            raise NotFound(f"no movie is called {one_line(title)}; search by its title alone")
        return [{"id": film.id, "overview": film.overview, "title": film.title}]

    def search_person(self, name: str) -> list[Record]:
        """Return the person of this name, else the first whose name holds its words."""
        person = self._industry.find_person(name) or next(self._industry.people_like(name), None)
        if person is None:
            raise NotFound(f"nobody is called {one_line(name)}; search by the full name alone")
        return [{"id": person.id, "name": person.name}]

    def film(self, number: str) -> Record:
        """Return what is known of a film."""
        film = self._film(number)
        homes = self._industry.company_country
        return {
            "title": film.title,
            "budget": film.budget,
            "genres": [{"id": genre, "name": name} for genre, name in film.genres],
            "revenue": film.revenue,
            "vote_average": film.vote,
            "release_date": film.released.isoformat(),
            "production_companies": [
                {"name": company, "origin_country": homes[company]} for company in film.companies
            ],
            "production_countries": [
                {"iso_3166_1": iso, "name": self._industry.countries[iso]} for iso in film.countries
            ],
        }

    def film_credits(self, number: str) -> Record:
        """Return who made a film."""
        film, people = self._film(number), self._industry.people
        return {
            "cast": [{"id": i, "name": people[i].name, "character": part} for i, part in film.cast],
            "crew": [{"id": i, "name": people[i].name, "job": job} for i, job in film.crew],
        }

    def film_keywords(self, number: str) -> list[str]:
        """Return a film's keywords."""
        return list(self._film(number).keywords)

    def film_titles(self, number: str) -> Record:
        """Return a film's titles in other countries."""
        film = self._film(number)
        titles = [{"iso_3166_1": iso, "title": title, "type": ""} for iso, title in film.titles]
        return {"id": film.id, "titles": titles}

    def film_translations(self, number: str) -> Record:
        """Return which translations of a film's page there are."""
        film = self._film(number)
        rows = []
        for iso in film.translated:
            code, own, english = LANGUAGES[iso]
            overview = film.overview if iso == "US" else ""
            data = {"homepage": "", "overview": overview, "runtime": film.runtime, "tagline": ""}
            rows.append(
                {
                    "iso_3166_1": iso,
                    "iso_639_1": code,
                    "name": own,
                    "english_name": english,
                    "data": data,
                }
            )
        return {"id": film.id, "translations": rows}

    def person(self, number: str) -> Record:
        """Return what is known of a person."""
        person = self._person(number)
        return {
            "name": person.name,
            "biography": person.biography,
            "birthday": person.born.isoformat(),
            "place_of_birth": person.birthplace,
        }

    def person_credits(self, number: str) -> Record:
        """Return what a person has made."""
        person, films = self._person(number), self._industry.films
        return {
            "cast": [
                {"id": i, "title": films[i].title, "character": part} for i, part in person.cast
            ],
            "crew": [{"id": i, "title": films[i].title, "job": job} for i, job in person.crew],
        }

    def person_links(self, number: str) -> Record:
        """Return a person's ids elsewhere."""
        return dict(self._person(number).links)

    def _film(self, number: str) -> Film:
        film = self._industry.films.get(number)
        if film is None:
            raise NotFound(f"there is no movie with the id {one_line(number)}; search for it first")
        return film

    def _person(self, number: str) -> Person:
        person = self._industry.people.get(number)
        if person is None:
            raise NotFound(f"nobody has the id {one_line(number)}; search for the person first")
        return person
