"""The Movie Database, the service the published tasks were answered from.

It needs a read access token in `MOVIE_KEY`, as the published server did. Only reading requests are
made. https://developer.themoviedb.org/reference
"""

from __future__ import annotations

from typing import Any

from agentgym.envs.movie.source import Record
from agentgym.envs.tools import Cassette, LiveClient, LiveError, NotFound, key_from
from agentgym.envs.tools.kinds import one_line

HOST = "https://api.themoviedb.org/3"


class MovieDatabase:
    """Answers of the live service, in the form of `Source`.

    Args:
        cassette: a tape for its answers.
        host: another address.
        options: of `LiveClient`.
    """

    def __init__(self, cassette: Cassette | None = None, host: str = HOST, **options: Any) -> None:
        self._client = LiveClient(
            host,
            cassette=cassette,
            secret_headers=lambda: {
                "Authorization": f"Bearer {key_from('MOVIE_KEY', 'The Movie Database')}"
            },
            none_on=(404,),
            **options,
        )

    def search_film(self, title: str) -> list[Record]:
        """Return the first match."""
        found = self._search("movie", title)
        return [{key: found.get(key) for key in ("id", "overview", "title")}]

    def search_person(self, name: str) -> list[Record]:
        """Return the first match."""
        found = self._search("person", name)
        return [{key: found.get(key) for key in ("id", "name")}]

    def film(self, number: str) -> Record:
        """Return what is known of a film."""
        return self._get(f"movie/{_number(number)}")

    def film_credits(self, number: str) -> Record:
        """Return who made a film."""
        return _credits(self._get(f"movie/{_number(number)}/credits"), "name")

    def film_keywords(self, number: str) -> list[str]:
        """Return a film's keywords."""
        found = self._get(f"movie/{_number(number)}/keywords")
        return [row["name"] for row in found.get("keywords", ())]

    def film_titles(self, number: str) -> Record:
        """Return a film's titles in other countries."""
        return self._get(f"movie/{_number(number)}/alternative_titles")

    def film_translations(self, number: str) -> Record:
        """Return which translations of a film's page there are."""
        return self._get(f"movie/{_number(number)}/translations")

    def person(self, number: str) -> Record:
        """Return what is known of a person."""
        found = self._get(f"person/{_number(number)}")
        return {k: found.get(k) for k in ("name", "biography", "birthday", "place_of_birth")}

    def person_credits(self, number: str) -> Record:
        """Return what a person has made."""
        return _credits(self._get(f"person/{_number(number)}/movie_credits"), "title")

    def person_links(self, number: str) -> Record:
        """Return a person's ids elsewhere."""
        found = self._get(f"person/{_number(number)}/external_ids")
        return {k: found.get(k) for k in ("imdb_id", "facebook_id", "instagram_id", "twitter_id")}

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _search(self, kind: str, query: str) -> Record:
        params = {"query": query, "include_adult": "false", "language": "en-US", "page": "1"}
        found = self._get(f"search/{kind}", params).get("results") or []
        if not found:
            raise NotFound(f"nothing is called {one_line(query)}; search by the name alone")
        first: Record = found[0]
        return first

    def _get(self, path: str, params: Record | None = None) -> Record:
        found = self._client.get(path, params)
        if found is None:
            raise NotFound(
                f"there is nothing with the id {path.split('/')[1]}; search for it first"
            )
        if not isinstance(found, dict):
            raise LiveError(f"The Movie Database answered a {type(found).__name__}")
        return found


def _number(given: str) -> str:
    """Return an id that can stand in an address."""
    if not (given.isascii() and given.isdigit() and len(given) < 12):
        raise NotFound(f"there is nothing with the id {one_line(given)}; an id is a number")
    return given


def _credits(found: Record, name: str) -> Record:
    return {
        "cast": [
            {"id": row.get("id"), name: row.get(name), "character": row.get("character")}
            for row in found.get("cast", ())
        ],
        "crew": [
            {"id": row.get("id"), name: row.get(name), "job": row.get("job")}
            for row in found.get("crew", ())
        ],
    }
