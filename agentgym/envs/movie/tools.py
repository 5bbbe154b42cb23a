"""The functions: search a film or a person, then look one thing up under the id.

Names, parameters, returned fields and the cut of long lists are the published ones; ids of the
invented industry and of The Movie Database both go through the same functions.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from agentgym.envs.movie.source import LANGUAGES, LISTED, MAIN_JOBS, Record, Source
from agentgym.envs.tools import Tools, tool
from agentgym.envs.tools.kinds import Text

MovieId = Annotated[Text, Field(examples=["16022", "14570"])]
PersonId = Annotated[Text, Field(examples=["4175", "5763"])]
Title = Annotated[Text, Field(examples=["The Map and the Storm"])]
Name = Annotated[Text, Field(examples=["Basile Hennequin"])]


class MovieTools(Tools):
    """Look-ups in one source; nothing changes.

    Args:
        source: where answers come from.
    """

    def __init__(self, source: Source) -> None:
        self.source = source

    def save(self) -> Any:
        """Return nothing: there is no state."""
        return []

    def load(self, saved: Any) -> None:
        """Do nothing."""

    @tool
    def get_search_movie(self, movie_name: Title) -> Any:
        """Search a movie by its title.

        Args:
            movie_name: the title

        Returns:
            the best match: id, overview and title
        """
        return self.source.search_film(movie_name)

    @tool
    def get_movie_details(self, movie_id: MovieId) -> Any:
        """Get a movie's title, budget, genres, revenue, vote_average and release_date.

        Args:
            movie_id: the movie's id, as get_search_movie gives it

        Returns:
            title, budget, genres, revenue, vote_average and release_date
        """
        found = self.source.film(movie_id)
        fields = ("title", "budget", "genres", "revenue", "vote_average", "release_date")
        return {field: found[field] for field in fields}

    @tool
    def get_movie_production_companies(self, movie_id: MovieId) -> Any:
        """Get the companies that produced a movie.

        Args:
            movie_id: the movie's id, as get_search_movie gives it

        Returns:
            production_companies
        """
        return {"production_companies": self.source.film(movie_id)["production_companies"]}

    @tool
    def get_movie_production_countries(self, movie_id: MovieId) -> Any:
        """Get the countries a movie was produced in.

        Args:
            movie_id: the movie's id, as get_search_movie gives it

        Returns:
            production_countries
        """
        return {"production_countries": self.source.film(movie_id)["production_countries"]}

    @tool
    def get_movie_cast(self, movie_id: MovieId) -> Any:
        """Get the first ten of a movie's cast.

        Args:
            movie_id: the movie's id, as get_search_movie gives it

        Returns:
            cast: id, name and character each
        """
        return {"cast": self.source.film_credits(movie_id)["cast"][:LISTED]}

    @tool
    def get_movie_crew(self, movie_id: MovieId) -> Any:
        """Get a movie's directors, producers and writers, filled up to ten with others.

        Args:
            movie_id: the movie's id, as get_search_movie gives it

        Returns:
            crew: id, name and job each
        """
        return {"crew": _main_crew(self.source.film_credits(movie_id)["crew"])}

    @tool
    def get_movie_keywords(self, movie_id: MovieId) -> Any:
        """Get a movie's keywords.

        Args:
            movie_id: the movie's id, as get_search_movie gives it

        Returns:
            keywords
        """
        return {"keywords": self.source.film_keywords(movie_id)}

    @tool
    def get_search_person(self, person_name: Name) -> Any:
        """Search a person by name.

        Args:
            person_name: the name

        Returns:
            the best match: id and name
        """
        return self.source.search_person(person_name)

    @tool
    def get_person_details(self, person_id: PersonId) -> Any:
        """Get a person's name, biography, birthday and place of birth.

        Args:
            person_id: the person's id, as get_search_person gives it

        Returns:
            name, biography, birthday and place_of_birth
        """
        return self.source.person(person_id)

    @tool
    def get_person_cast(self, person_id: PersonId) -> Any:
        """Get ten movies a person acted in.

        Args:
            person_id: the person's id, as get_search_person gives it

        Returns:
            cast: id and title of the movie and the character, each
        """
        return {"cast": self.source.person_credits(person_id)["cast"][:LISTED]}

    @tool
    def get_person_crew(self, person_id: PersonId) -> Any:
        """Get ten movies a person worked on without acting.

        Args:
            person_id: the person's id, as get_search_person gives it

        Returns:
            crew: id and title of the movie and the job, each
        """
        return {"crew": self.source.person_credits(person_id)["crew"][:LISTED]}

    @tool
    def get_person_external_ids(self, person_id: PersonId) -> Any:
        """Get a person's ids on other sites.

        Args:
            person_id: the person's id, as get_search_person gives it

        Returns:
            imdb_id, facebook_id, instagram_id and twitter_id; None where there is none
        """
        return self.source.person_links(person_id)

    @tool
    def get_movie_alternative_titles(self, movie_id: MovieId) -> Any:
        """Get a movie's titles in other countries.

        Args:
            movie_id: the movie's id, as get_search_movie gives it

        Returns:
            id, and titles: country code (iso_3166_1), title and type each
        """
        return self.source.film_titles(movie_id)

    @tool
    def get_movie_translation(self, movie_id: MovieId) -> Any:
        """Get the translations of a movie's page into six languages.

        They are Dutch, Mandarin, English, German, Russian and Japanese.

        Args:
            movie_id: the movie's id, as get_search_movie gives it

        Returns:
            id, and translations: iso_3166_1, iso_639_1, name, english_name and data each
        """
        found = self.source.film_translations(movie_id)
        rows = [dict(row) for row in found["translations"] if row["iso_3166_1"] in LANGUAGES]
        for row in rows:
            row["data"] = {key: value for key, value in row["data"].items() if key != "title"}
        return {"id": found["id"], "translations": rows}


def _main_crew(crew: list[Record]) -> list[Record]:
    """Return the main jobs, then one job each of others until there are ten."""
    listed = [member for member in crew if member["job"] in MAIN_JOBS]
    known = {member["id"] for member in listed}
    others = [member for member in crew if member["id"] not in known]
    return listed + others[: max(LISTED - len(listed), 0)]
