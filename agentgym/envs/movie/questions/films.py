"""Questions about one film: search it, look at one thing."""

from __future__ import annotations

from typing import Any, ClassVar

from agentgym.core.draw import Draw
from agentgym.envs.movie.industry import Industry
from agentgym.envs.movie.looking import Reader
from agentgym.envs.movie.questions.base import (
    ARRAY,
    DATE,
    NUMBER,
    STRING,
    YES_NO,
    Question,
    any_film,
    film_called,
)
from agentgym.envs.tools.question import Args, Looking, Spec, listed, name, number, text, yes_no


class OfDetails(Question):
    """A field of a film's details."""

    level = "simple"
    field: ClassVar[str]

    def draw(self, world: Industry, draw: Draw) -> Args | None:
        """Return any film."""
        return {"film": any_film(world, draw).title}

    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """Search the film and look at its details."""
        found = yield from reader.film_id(args["film"])
        details = yield from reader.details(found, "Its details say it.")
        return details[self.field]


class Budget(OfDetails):
    """What a film cost."""

    name = "budget"
    field = "budget"
    frames = (
        'What is the budget of the movie "{film}"?' + NUMBER,
        "How many dollars did it cost to make {film}?" + NUMBER,
    )

    def answer(self, world: Industry, args: Args) -> Spec:
        """Return the budget."""
        return number(film_called(world, args["film"]).budget)


class Release(OfDetails):
    """When a film came out."""

    name = "release-date"
    field = "release_date"
    frames = (
        'What is the release date of the movie "{film}"?' + DATE,
        "On which day did {film} come out?" + DATE,
    )

    def answer(self, world: Industry, args: Args) -> Spec:
        """Return the day."""
        return {"date": film_called(world, args["film"]).released.isoformat()}


class Vote(OfDetails):
    """How a film is rated."""

    name = "vote"
    field = "vote_average"
    frames = (
        'What is the average vote score of the movie "{film}"?' + NUMBER,
        "How is {film} rated on average?" + NUMBER,
    )

    def answer(self, world: Industry, args: Args) -> Spec:
        """Return the vote; two decimals will do."""
        return number(film_called(world, args["film"]).vote, 0.005)


class Profit(OfDetails):
    """What a film made beyond its cost."""

    name = "profit"
    level = "moderate"
    frames = (
        "By how many dollars did the revenue of {film} exceed its budget? A loss is negative."
        + NUMBER,
        "What is the revenue of {film} minus its budget?" + NUMBER,
    )

    def answer(self, world: Industry, args: Args) -> Spec:
        """Return the difference."""
        film = film_called(world, args["film"])
        return number(film.revenue - film.budget)

    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """Search the film and look at its details."""
        found = yield from reader.film_id(args["film"])
        details = yield from reader.details(found, "Revenue and budget are both in its details.")
        return details["revenue"] - details["budget"]


class Genre(OfDetails):
    """Whether a film is of a genre."""

    name = "genre"
    frames = (
        'Is the movie "{film}" a {genre} film?' + YES_NO,
        "Does {film} count as {genre}?" + YES_NO,
    )

    def draw(self, world: Industry, draw: Draw) -> Args | None:
        """Return a film with one of its genres or one of another film."""
        film, other = any_film(world, draw), any_film(world, draw)
        source = film if draw.chance(0.5) else other
        return {"film": film.title, "genre": draw.pick(source.genres)[1]}

    def answer(self, world: Industry, args: Args) -> Spec:
        """Return Yes or No."""
        genres = [genre for _, genre in film_called(world, args["film"]).genres]
        return yes_no(args["genre"] in genres)

    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """Search the film and look at its details."""
        found = yield from reader.film_id(args["film"])
        details = yield from reader.details(found, "Its details list the genres.")
        return "Yes" if args["genre"] in [g["name"] for g in details["genres"]] else "No"


class Companies(OfDetails):
    """Who produced a film."""

    name = "companies"
    frames = (
        'Which production company worked on "{film}"?' + ARRAY.format("the names of the companies"),
        "Which companies produced {film}?" + ARRAY.format("their names"),
    )

    def answer(self, world: Industry, args: Args) -> Spec:
        """Return the names."""
        return listed(film_called(world, args["film"]).companies)

    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """Search the film and look at its companies."""
        number = yield from reader.film_id(args["film"])
        found = yield from reader.of_film(
            "get_movie_production_companies", number, "There is a function for the companies."
        )
        return [company["name"] for company in found["production_companies"]]


class MadeIn(OfDetails):
    """Whether a film was made in a country."""

    name = "country"
    frames = (
        'Was the movie "{film}" produced in {country}?' + YES_NO,
        "Is {country} among the countries that produced {film}?" + YES_NO,
    )

    def draw(self, world: Industry, draw: Draw) -> Args | None:
        """Return a film with one of its countries or one of another film."""
        film, other = any_film(world, draw), any_film(world, draw)
        iso = draw.pick((film if draw.chance(0.5) else other).countries)
        return {"film": film.title, "country": world.countries[iso]}

    def answer(self, world: Industry, args: Args) -> Spec:
        """Return Yes or No."""
        countries = film_called(world, args["film"]).countries
        return yes_no(args["country"] in [world.countries[iso] for iso in countries])

    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """Search the film and look at its countries."""
        number = yield from reader.film_id(args["film"])
        found = yield from reader.of_film(
            "get_movie_production_countries", number, "There is a function for the countries."
        )
        names = [country["name"] for country in found["production_countries"]]
        return "Yes" if args["country"] in names else "No"


class Director(OfDetails):
    """Who directed a film."""

    name = "director"
    frames = (
        'Who directed the movie "{film}"?' + STRING.format("the director's name"),
        "Name the director of {film}." + STRING.format("the name"),
    )

    def answer(self, world: Industry, args: Args) -> Spec:
        """Return the name."""
        return name(world.people[film_called(world, args["film"]).having("Director")[0]].name)

    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """Search the film and look at its crew."""
        number = yield from reader.film_id(args["film"])
        _, who = yield from reader.director(number, "The director is in the crew.")
        return who


class Producers(OfDetails):
    """Who produced a film, by name."""

    name = "producers"
    frames = (
        'Who was the producer of the movie "{film}"?' + ARRAY.format("the name of the producer"),
        "Which people produced {film}?" + ARRAY.format("their names"),
    )

    def draw(self, world: Industry, draw: Draw) -> Args | None:
        """Return a film that has a producer."""
        film = any_film(world, draw)
        return {"film": film.title} if film.having("Producer") else None

    def answer(self, world: Industry, args: Args) -> Spec:
        """Return the names."""
        numbers = film_called(world, args["film"]).having("Producer")
        return listed([world.people[i].name for i in numbers], "name")

    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """Search the film and look at its crew."""
        number = yield from reader.film_id(args["film"])
        found = yield from reader.of_film("get_movie_crew", number, "Producers are in the crew.")
        return [member["name"] for member in found["crew"] if member["job"] == "Producer"]


class Character(OfDetails):
    """Which part somebody played."""

    name = "character"
    frames = (
        "What character did {person} play in {film}?" + STRING.format("the character's name"),
        'Which role did {person} have in the movie "{film}"?' + STRING.format("the role"),
    )

    def draw(self, world: Industry, draw: Draw) -> Args | None:
        """Return a film and one of its cast."""
        film = any_film(world, draw)
        return {"film": film.title, "person": world.people[draw.pick(film.cast)[0]].name}

    def answer(self, world: Industry, args: Args) -> Spec:
        """Return the part."""
        cast = film_called(world, args["film"]).cast
        return text(next(p for i, p in cast if world.people[i].name == args["person"]))

    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """Search the film and look at its cast."""
        number = yield from reader.film_id(args["film"])
        found = yield from reader.of_film("get_movie_cast", number, "The cast tells the roles.")
        return next(m["character"] for m in found["cast"] if m["name"] == args["person"])


class TitleAbroad(OfDetails):
    """What a film is called in another country."""

    name = "title-abroad"
    frames = (
        "Under which title did {film} come out in {country}?" + STRING.format("the title"),
        'What is the movie "{film}" called in {country}?' + STRING.format("the title"),
    )

    def draw(self, world: Industry, draw: Draw) -> Args | None:
        """Return a film and a country it has a title in."""
        film = any_film(world, draw)
        if not film.titles:
            return None
        return {"film": film.title, "country": world.countries[draw.pick(film.titles)[0]]}

    def answer(self, world: Industry, args: Args) -> Spec:
        """Return the title."""
        titles = film_called(world, args["film"]).titles
        return text(next(t for iso, t in titles if world.countries[iso] == args["country"]))

    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """Search the film and look at its other titles."""
        number = yield from reader.film_id(args["film"])
        thought = f"Its other titles come with a country code; I need that of {args['country']}."
        found = yield from reader.of_film("get_movie_alternative_titles", number, thought)
        code = CODES[args["country"]]
        return next(row["title"] for row in found["titles"] if row["iso_3166_1"] == code)


class Translation(OfDetails):
    """Whether there is a translation."""

    name = "translation"
    frames = (
        'Is there a {language} translation available for the movie "{film}"?' + YES_NO,
        "Has the page of {film} been translated into {language}?" + YES_NO,
    )

    def draw(self, world: Industry, draw: Draw) -> Args | None:
        """Return a film and a language."""
        language = draw.pick(("German", "Japanese", "Mandarin", "Russian", "Dutch"))
        return {"film": any_film(world, draw).title, "language": language}

    def answer(self, world: Industry, args: Args) -> Spec:
        """Return Yes or No."""
        return yes_no(TONGUES[args["language"]] in film_called(world, args["film"]).translated)

    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """Search the film and look at its translations."""
        number = yield from reader.film_id(args["film"])
        found = yield from reader.of_film(
            "get_movie_translation", number, "There is a function for the translations."
        )
        there = [row["english_name"] for row in found["translations"]]
        return "Yes" if args["language"] in there else "No"


CODES = {"Germany": "DE", "France": "FR", "Spain": "ES", "Italy": "IT", "Mexico": "MX"}
TONGUES = {"German": "DE", "Japanese": "JP", "Mandarin": "CN", "Russian": "RU", "Dutch": "NL"}
