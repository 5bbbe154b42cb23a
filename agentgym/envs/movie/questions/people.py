"""Questions that go from a film to its people, or from a person to their films."""

from __future__ import annotations

import re
from typing import Any

from agentgym.core.draw import Draw
from agentgym.envs.movie.industry import PRIZE, Industry
from agentgym.envs.movie.looking import Reader
from agentgym.envs.movie.questions.base import (
    DATE,
    MOST_CALLS,
    NUMBER,
    STRING,
    Question,
    any_film,
    any_person,
    film_called,
    person_called,
)
from agentgym.envs.tools.question import Args, Looking, Spec, listed, name, number, text, top

SITES = {"Facebook": "facebook_id", "Instagram": "instagram_id", "Twitter": "twitter_id"}


class Birthplace(Question):
    """Where somebody was born."""

    name = "birthplace"
    level = "simple"
    frames = (
        "Where was {person} born?" + STRING.format("the location"),
        "What is the birthplace of {person}?" + STRING.format("the place"),
    )

    def draw(self, world: Industry, draw: Draw) -> Args | None:
        """Return anybody."""
        return {"person": any_person(world, draw).name}

    def answer(self, world: Industry, args: Args) -> Spec:
        """Return the place."""
        return text(person_called(world, args["person"]).birthplace)

    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """Search the person and look at the details."""
        found = yield from reader.person_id(args["person"])
        details = yield from reader.of_person("get_person_details", found, "The details say it.")
        return details["place_of_birth"]


class Birthday(Birthplace):
    """When somebody was born."""

    name = "birthday"
    frames = (
        "When was {person} born?" + DATE,
        "What is the birthday of {person}?" + DATE,
    )

    def answer(self, world: Industry, args: Args) -> Spec:
        """Return the day."""
        return {"date": person_called(world, args["person"]).born.isoformat()}

    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """Search the person and look at the details."""
        found = yield from reader.person_id(args["person"])
        details = yield from reader.of_person("get_person_details", found, "The details say it.")
        return details["birthday"]


class Link(Question):
    """Somebody's id on another site."""

    name = "link"
    level = "simple"
    frames = (
        "What is the {site} id of {person}?" + STRING.format("the id"),
        "Under which id is {person} on {site}?" + STRING.format("the id"),
    )

    def draw(self, world: Industry, draw: Draw) -> Args | None:
        """Return somebody and a site they are on."""
        person, site = any_person(world, draw), draw.pick(tuple(SITES))
        return {"person": person.name, "site": site} if person.links[SITES[site]] else None

    def answer(self, world: Industry, args: Args) -> Spec:
        """Return the id."""
        return text(str(person_called(world, args["person"]).links[SITES[args["site"]]]))

    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """Search the person and look at the ids."""
        found = yield from reader.person_id(args["person"])
        links = yield from reader.of_person(
            "get_person_external_ids", found, "Ids on other sites have a function of their own."
        )
        return links[SITES[args["site"]]]


class DirectorsBirthplace(Question):
    """Where a film's director was born."""

    name = "directors-birthplace"
    level = "moderate"
    frames = (
        "Where was the director of {film} born?" + STRING.format("the birthplace"),
        'In which place was the director of the movie "{film}" born?' + STRING.format("the place"),
    )

    def draw(self, world: Industry, draw: Draw) -> Args | None:
        """Return any film."""
        return {"film": any_film(world, draw).title}

    def answer(self, world: Industry, args: Args) -> Spec:
        """Return the place."""
        number = film_called(world, args["film"]).having("Director")[0]
        return text(world.people[number].birthplace)

    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """Search the film, find its director, look the director up."""
        film = yield from reader.film_id(args["film"])
        number, who = yield from reader.director(film, "First, who directed it?")
        thought = f"It was {who}; the crew has the id."
        details = yield from reader.of_person("get_person_details", number, thought)
        return details["place_of_birth"]


class PrizeFilm(Question):
    """Who directed, or played a part in, the film somebody won a prize for."""

    name = "prize-film-director"
    level = "moderate"
    frames = (
        f"{{person}} won the {PRIZE} for {{category}}. Who directed the film it was for?"
        + STRING.format("the director's name"),
        f"Who directed the movie for which {{person}} won the {PRIZE} for {{category}}?"
        + STRING.format("the name"),
    )

    def draw(self, world: Industry, draw: Draw) -> Args | None:
        """Return a winner who did not direct the film."""
        person = any_person(world, draw)
        won = [(c, f) for _, c, f in person.prizes if c != "Best Director"]
        if not won:
            return None
        category, film = draw.pick(won)
        if person.id in world.films[film].having("Director"):
            return None
        return {"person": person.name, "category": category}

    def answer(self, world: Industry, args: Args) -> Spec:
        """Return the name."""
        prizes = person_called(world, args["person"]).prizes
        film = next(f for _, category, f in prizes if category == args["category"])
        return name(world.people[world.films[film].having("Director")[0]].name)

    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """Read the biography, search the film it names, look at its crew."""
        number = yield from reader.person_id(args["person"])
        thought = "Prizes are told in the biography."
        found = yield from reader.of_person("get_person_details", number, thought)
        won = rf"won the {PRIZE} for {args['category']} for (.+?)\.(?: In \d|$)"
        title = re.findall(won, found["biography"])[0]
        film = yield from reader.film_id(title, f"It was for {title}.")
        _, who = yield from reader.director(film, "Who directed that?")
        return who


class InBoth(Question):
    """Who acted in two films."""

    name = "in-both"
    level = "moderate"
    frames = (
        "Which actor or actress was in the cast of both {film} and {other}?"
        + STRING.format("the name"),
        'Who acted in "{film}" as well as in "{other}"?' + STRING.format("the name"),
    )

    def draw(self, world: Industry, draw: Draw) -> Args | None:
        """Return two films with one name in common."""
        person = any_person(world, draw)
        if len(person.cast) < 2:
            return None
        one, two = (world.films[i] for i, _ in draw.sample(person.cast, 2))
        both = {i for i, _ in one.cast} & {i for i, _ in two.cast}
        return {"film": one.title, "other": two.title} if len(both) == 1 else None

    def answer(self, world: Industry, args: Args) -> Spec:
        """Return the name."""
        others = {i for i, _ in film_called(world, args["other"]).cast}
        cast = film_called(world, args["film"]).cast
        return name(next(world.people[i].name for i, _ in cast if i in others))

    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """Compare the casts of both."""
        casts = []
        for title in (args["film"], args["other"]):
            number = yield from reader.film_id(title)
            found = yield from reader.of_film("get_movie_cast", number, f"Who is in {title}?")
            casts.append([member["name"] for member in found["cast"]])
        return next(who for who in casts[0] if who in casts[1])


class Compare(Question):
    """Which of two films is better rated."""

    name = "better-rated"
    level = "moderate"
    field = "vote_average"
    frames = (
        "{film} versus {other}, which has a higher rating?" + STRING.format("the film name"),
        'Which of "{film}" and "{other}" is rated higher?' + STRING.format("the film name"),
    )

    def draw(self, world: Industry, draw: Draw) -> Args | None:
        """Return two films that differ."""
        one, two = any_film(world, draw), any_film(world, draw)
        same = self._of(one) == self._of(two)
        return None if same else {"film": one.title, "other": two.title}

    def _of(self, film: Any) -> Any:
        return film.vote

    def answer(self, world: Industry, args: Args) -> Spec:
        """Return the title."""
        films = [film_called(world, args[key]) for key in ("film", "other")]
        return text(max(films, key=self._of).title)

    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """Look at the details of both."""
        values = {}
        for title in (args["film"], args["other"]):
            number = yield from reader.film_id(title)
            details = yield from reader.details(number, f"The details of {title} tell.")
            values[title] = details[self.field]
        return self._choose(values)

    def _choose(self, values: dict[str, Any]) -> str:
        return max(values, key=lambda title: values[title])


class Earned(Compare):
    """Which of two films earned more."""

    name = "earned-more"
    field = "revenue"
    frames = (
        "In '{film}' and '{other}', which of the two movies had higher earnings?"
        + STRING.format("the film name"),
        "Which movie brought in more money, {film} or {other}?" + STRING.format("the film name"),
    )

    def _of(self, film: Any) -> Any:
        return film.revenue


class Earlier(Compare):
    """Which of two films came out earlier."""

    name = "earlier"
    field = "release_date"
    frames = (
        "Which movie was released earlier, {film} or {other}?" + STRING.format("the film name"),
        "Of {film} and {other}, which came out first?" + STRING.format("the film name"),
    )

    def _of(self, film: Any) -> Any:
        return -film.released.toordinal()

    def _choose(self, values: dict[str, Any]) -> str:
        return min(values, key=lambda title: str(values[title]))


class FirstFilm(Question):
    """The first film somebody acted in."""

    name = "first-film"
    level = "hard"
    frames = (
        "In which movie did {person} act first?" + STRING.format("the title"),
        "What is the title of the earliest released movie with {person} in the cast?"
        + STRING.format("the title"),
    )

    def draw(self, world: Industry, draw: Draw) -> Args | None:
        """Return somebody with three films or more."""
        person = any_person(world, draw)
        days = [world.films[i].released for i, _ in person.cast]
        fits = 3 <= len(days) <= MOST_CALLS - 2 and days.count(min(days)) == 1
        return {"person": person.name} if fits else None

    def answer(self, world: Industry, args: Args) -> Spec:
        """Return the title."""
        films = [world.films[i] for i, _ in person_called(world, args["person"]).cast]
        return text(min(films, key=lambda film: film.released).title)

    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """List the films, then look at each."""
        rows = yield from reader.acted(args["person"])
        found = yield from reader.all_details(rows)
        return min(found, key=lambda title: str(found[title]["release_date"]))


class GenreCount(Question):
    """In how many films of a genre somebody acted."""

    name = "genre-count"
    level = "hard"
    frames = (
        "In how many {genre} movies has {person} acted?" + NUMBER,
        "How many of the movies with {person} in the cast are {genre} films?" + NUMBER,
    )

    def draw(self, world: Industry, draw: Draw) -> Args | None:
        """Return somebody with three films or more and a genre of one of them."""
        person = any_person(world, draw)
        if not 3 <= len(person.cast) <= MOST_CALLS - 2:
            return None
        film = world.films[draw.pick(person.cast)[0]]
        return {"person": person.name, "genre": draw.pick(film.genres)[1]}

    def answer(self, world: Industry, args: Args) -> Spec:
        """Return how many."""
        films = [world.films[i] for i, _ in person_called(world, args["person"]).cast]
        return number(sum(args["genre"] in [g for _, g in film.genres] for film in films))

    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """List the films, then look at each."""
        rows = yield from reader.acted(args["person"])
        found = yield from reader.all_details(rows)
        names = [[genre["name"] for genre in film["genres"]] for film in found.values()]
        return sum(args["genre"] in genres for genres in names)


class BiggestFilm(Question):
    """The film of a director that earned most."""

    name = "biggest-film"
    level = "hard"
    frames = (
        "Which of the movies directed by {person} earned the most?" + STRING.format("the title"),
        "What is the title of {person}'s highest grossing movie as a director?"
        + STRING.format("the title"),
    )

    def draw(self, world: Industry, draw: Draw) -> Args | None:
        """Return a director of three films or more."""
        person = any_person(world, draw)
        films = [world.films[i] for i, job in person.crew if job == "Director"]
        ahead = top({film.title: film.revenue for film in films})
        fits = 3 <= len(films) <= MOST_CALLS - 2 and len(person.crew) <= 10
        return {"person": person.name} if fits and ahead else None

    def answer(self, world: Industry, args: Args) -> Spec:
        """Return the title."""
        person = person_called(world, args["person"])
        films = [world.films[i] for i, job in person.crew if job == "Director"]
        return text(max(films, key=lambda film: film.revenue).title)

    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """List the films, then look at each."""
        rows = yield from reader.directed(args["person"])
        found = yield from reader.all_details(rows)
        return max(found, key=lambda title: int(found[title]["revenue"]))


class FromPlace(Question):
    """Who of a film's cast was born in a place."""

    name = "cast-born-in"
    level = "hard"
    frames = (
        "Who in the cast of {film} was born in {place}? Please provide the names in an array.",
        'Which members of the cast of "{film}" come from {place}? Please provide the names in an '
        "array.",
    )

    def draw(self, world: Industry, draw: Draw) -> Args | None:
        """Return a film and a birthplace of its cast."""
        film = any_film(world, draw)
        if len(film.cast) > MOST_CALLS - 2:
            return None
        return {"film": film.title, "place": world.people[draw.pick(film.cast)[0]].birthplace}

    def answer(self, world: Industry, args: Args) -> Spec:
        """Return the names."""
        people = [world.people[i] for i, _ in film_called(world, args["film"]).cast]
        return listed([p.name for p in people if p.birthplace == args["place"]], "name")

    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """Look at the cast, then at everybody in it."""
        film = yield from reader.film_id(args["film"])
        found = yield from reader.of_film("get_movie_cast", film, "Who is in the cast?")
        there = []
        for i, member in enumerate(found["cast"], 1):
            thought = f"Of {len(found['cast'])} people, number {i} is {member['name']}."
            details = yield from reader.of_person("get_person_details", str(member["id"]), thought)
            if details["place_of_birth"] == args["place"]:
                there.append(member["name"])
        return there


class Oldest(Question):
    """Who of a film's cast is the oldest."""

    name = "oldest-of-cast"
    level = "hard"
    frames = (
        "Who is the oldest member of the cast of {film}?" + STRING.format("the name"),
        'Of everybody in the cast of "{film}", who was born first?' + STRING.format("the name"),
    )

    def draw(self, world: Industry, draw: Draw) -> Args | None:
        """Return a film whose cast has one eldest."""
        film = any_film(world, draw)
        ages = {i: -world.people[i].born.toordinal() for i, _ in film.cast}
        fits = len(film.cast) <= MOST_CALLS - 2 and top(ages) is not None
        return {"film": film.title} if fits else None

    def answer(self, world: Industry, args: Args) -> Spec:
        """Return the name."""
        people = [world.people[i] for i, _ in film_called(world, args["film"]).cast]
        return name(min(people, key=lambda person: person.born).name)

    def plan(self, reader: Reader, args: Args) -> Looking[Any]:
        """Look at the cast, then at everybody in it."""
        film = yield from reader.film_id(args["film"])
        found = yield from reader.of_film("get_movie_cast", film, "Who is in the cast?")
        born = {}
        for i, member in enumerate(found["cast"], 1):
            thought = f"Number {i} of {len(found['cast'])} is {member['name']}. When born?"
            details = yield from reader.of_person("get_person_details", str(member["id"]), thought)
            born[member["name"]] = str(details["birthday"])
        return min(born, key=lambda who: born[who])
