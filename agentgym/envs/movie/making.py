"""Making the invented industry: people first, then films in order of release, then the prizes."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from datetime import date, timedelta
from functools import cache
from importlib import resources
from typing import Any

from agentgym.core.draw import Draw
from agentgym.envs.movie.industry import (
    FILMS,
    FIRST_YEAR,
    LAST_YEAR,
    MOST_CREDITS,
    PEOPLE,
    PRIZE,
    Film,
    Industry,
    Person,
    plain,
)

SEED = "movie industry 1"
TRADES = ("actor", "director", "writer", "producer", "composer", "editor", "cinematographer")
SHARES = (62, 9, 11, 9, 3, 3, 3)
JOBS = {
    "director": "Director",
    "writer": "Writer",
    "producer": "Producer",
    "composer": "Original Music Composer",
    "editor": "Editor",
    "cinematographer": "Director of Photography",
}
CREW = ("director", "writer", "producer", "composer", "editor", "cinematographer")
OLDEST = 78
"""At what age, at the latest, somebody still makes films."""

HOME = 0.78
"""How often a film takes somebody from its own country."""

PATTERNS = {
    "en": ("{a}", "{a} of {place}", "{a} and {b}"),
    "de": ("{a}", "{a} von {place}", "{a} und {b}"),
    "fr": ("{a}", "{a} de {place}", "{a} et {b}"),
    "es": ("{a}", "{a} de {place}", "{a} y {b}"),
    "it": ("{a}", "{a} di {place}", "{a} e {b}"),
}
TRANSLATED = ("US", "DE", "JP", "CN", "RU", "NL")


@cache
def load_industry() -> Industry:
    """Return the industry of the mini edition; it is made once and never changed."""
    path = resources.files("agentgym.envs.movie") / "data" / "world.json"
    words = json.loads(path.read_text(encoding="utf-8"))
    draw = Draw(SEED)
    people = _people(draw, words["countries"])
    films = _films(draw, words)
    _staff(draw, films, people, words["roles"])
    _award(films, people)
    for person in people:
        person.cast.sort(key=lambda credit: int(credit[0]))
        person.crew.sort(key=lambda credit: int(credit[0]))
    by_id = {film.id: film for film in films}
    nations = {c["iso"]: c for c in words["countries"]}
    for person in people:
        person.biography = _biography(person, by_id, nations)
    names = {iso: c["name"] for iso, c in nations.items()}
    homes = {company: iso for iso, c in nations.items() for company in c["studios"]}
    return Industry(films, people, names, homes)


def _people(draw: Draw, countries: Sequence[dict[str, Any]]) -> list[Person]:
    weights = [c["weight"] for c in countries]
    people: list[Person] = []
    seen: set[str] = set()
    number = 2_000
    while len(people) < PEOPLE:
        home = draw.weighted(countries, weights)
        female = draw.chance(0.48)
        given = draw.pick(home["people"]["female" if female else "male"])
        name = f"{given} {draw.pick(home['people']['family'])}"
        trade = draw.weighted(TRADES, SHARES)
        if plain(name) in seen:
            continue
        seen.add(plain(name))
        number += draw.between(1, 40)
        born = date(1928, 1, 1) + timedelta(draw.below(365 * 70))
        place = draw.pick(home["cities"])
        links = _links(draw, name, number)
        people.append(Person(str(number), name, female, trade, born, place, home["iso"], links))
    return people


def _links(draw: Draw, name: str, number: int) -> dict[str, str | None]:
    joined = plain(name).replace(" ", "")
    forms = (joined, f"{joined}official", f"the{joined}", f"{joined[0]}{plain(name).split()[-1]}")
    return {
        "imdb_id": f"nm{number * 37 % 9_000_000 + 1_000_000}",
        **{
            f"{site}_id": f"{draw.pick(forms)}{number % 97}" if draw.chance(share) else None
            for site, share in (("facebook", 0.6), ("instagram", 0.7), ("twitter", 0.6))
        },
    }


def _films(draw: Draw, words: dict[str, Any]) -> list[Film]:
    countries, genres = words["countries"], words["genres"]
    weights = [c["weight"] for c in countries]
    days = sorted(
        date(LAST_YEAR + 1, 1, 1)
        - timedelta(1 + int((LAST_YEAR - FIRST_YEAR + 1) * 365 * draw.unit() ** 1.3))
        for _ in range(FILMS)
    )
    films: list[Film] = []
    taken: set[str] = set()
    # Numbers say nothing about the order of release: the order has to be looked up.
    numbers = draw.sample(range(700, 20_000), FILMS)
    for day, number in zip(days, numbers, strict=True):
        home = draw.weighted(countries, weights)
        partners = [c for c in draw.sample(countries, 2) if c is not home and draw.chance(0.3)]
        main = draw.pick(genres)
        kinds = [main, *(g for g in draw.sample(genres, 2) if g is not main and draw.chance(0.5))]
        budget = int(2 + 148 * draw.unit() ** 2.2) * 1_000_000 + draw.below(10) * 100_000
        revenue = int(budget / 1000 * (0.15 + 6 * draw.unit() ** 2.5)) * 1000 + draw.below(1000)
        title, abroad = _title(draw, words, taken)
        films.append(
            Film(
                id=str(number),
                title=title,
                overview=f"{_begin(draw.pick(main['plots']))}.",
                released=day,
                country=home["iso"],
                countries=[home["iso"], *(c["iso"] for c in partners)],
                companies=[draw.pick(c["studios"]) for c in (home, *partners)],
                genres=[(g["id"], g["name"]) for g in kinds],
                keywords=list(
                    dict.fromkeys(k for g in kinds for k in draw.sample(g["keywords"], 2))
                ),
                budget=budget,
                revenue=revenue,
                vote=round(min(max(6.4 + 0.95 * draw.bell(), 2.5), 9.4), 3),
                runtime=draw.between(78, 164),
                titles=[(iso, t) for iso, t in abroad if iso != home["iso"] and draw.chance(0.6)],
                translated=[t for t in TRANSLATED if t == "US" or draw.chance(0.55)],
            )
        )
    return films


def _title(draw: Draw, words: dict[str, Any], taken: set[str]) -> tuple[str, list[tuple[str, str]]]:
    """Return a title nobody has yet, and how it is called elsewhere, by country."""
    while True:
        a, b = draw.sample(words["nouns"], 2)
        place, form = draw.pick(words["places"]), draw.weighted((0, 1, 2), (1, 5, 4))
        said = {
            tongue: frames[form].format(
                a=f"The {a['en']}" if tongue == "en" else a[tongue],
                b=f"the {b['en']}" if tongue == "en" else b[tongue],
                place=place,
            )
            for tongue, frames in PATTERNS.items()
        }
        if plain(said["en"]) not in taken:
            taken.add(plain(said["en"]))
            lands = (("DE", "de"), ("FR", "fr"), ("ES", "es"), ("IT", "it"), ("MX", "es"))
            return said["en"], [(iso, said[tongue]) for iso, tongue in lands]


def _begin(text: str) -> str:
    return text[0].upper() + text[1:]


def _staff(
    draw: Draw, films: Sequence[Film], people: Sequence[Person], roles: dict[str, Any]
) -> None:
    """Give every film its people, and everybody at least one film."""
    by_id = {person.id: person for person in people}
    pools = {t: _Pool([p for p in people if p.trade == t]) for t in TRADES}
    for film in films:
        for trade in CREW:
            count = draw.weighted((1, 2), (3, 1)) if trade in ("writer", "producer") else 1
            for person in pools[trade].choose(draw, film, count, least=26):
                _hire(film, person, JOBS[trade])
        if draw.chance(0.2):
            _hire(film, by_id[film.crew[0][0]], "Writer")
        for person in pools["actor"].choose(draw, film, draw.between(5, 8), least=17):
            _act(draw, film, person, roles)
    for person in people:
        if not person.cast and not person.crew:
            ages = {film.id: film.released.year - person.born.year for film in films}
            fit = [f for f in films if 17 <= ages[f.id] <= OLDEST and len(f.cast) < MOST_CREDITS]
            film = draw.pick(fit)
            if person.trade == "actor":
                _act(draw, film, person, roles)
            else:
                _hire(film, person, JOBS[person.trade])


class _Pool:
    """People of one trade, the oldest first."""

    def __init__(self, people: Sequence[Person]) -> None:
        self._people = sorted(people, key=lambda p: (p.born, p.name))
        self._years = [p.born.year for p in self._people]

    def choose(self, draw: Draw, film: Film, count: int, least: int) -> list[Person]:
        """Return people of the right age: mostly of the country, as often new as known."""
        year = film.released.year
        start = bisect_left(self._years, year - OLDEST)
        end = bisect_right(self._years, year - least)
        busy = {number for number, _ in film.crew}
        fit = [
            p
            for p in self._people[start:end]
            if len(p.cast) + len(p.crew) < MOST_CREDITS and p.id not in busy
        ]
        home = [p for p in fit if p.country in film.countries]
        chosen: list[Person] = []
        for _ in range(count):
            source = home if home and draw.chance(HOME) else fit
            found = [p for p in _some(draw, source) if p not in chosen]
            if found:
                new = draw.chance(0.5)
                chosen.append(min(found, key=lambda p: p.credits) if new else found[0])
        return chosen


def _some(draw: Draw, people: Sequence[Person]) -> list[Person]:
    """Return up to five of the people."""
    if not people:
        return []
    return list({p.id: p for p in (draw.pick(people) for _ in range(5))}.values())


def _hire(film: Film, person: Person, job: str) -> None:
    film.crew.append((person.id, job))
    person.crew.append((film.id, job))


def _act(draw: Draw, film: Film, person: Person, roles: dict[str, Any]) -> None:
    while True:
        first, last = draw.pick(roles["first"]), draw.pick(roles["last"])
        form = draw.pick(roles["job"]) if draw.chance(0.25) else "{first} {last}"
        part = _begin(form.format(first=first, last=last))
        if all(part != other for _, other in film.cast):
            break
    film.cast.append((person.id, part))
    person.cast.append((film.id, part))


def _award(films: Sequence[Film], people: Sequence[Person]) -> None:
    """Give each year's prizes to the best films of the year before; nobody wins one twice."""
    by_id = {person.id: person for person in people}
    for year in range(FIRST_YEAR + 1, LAST_YEAR + 1):
        ranked = sorted((f for f in films if f.released.year == year - 1), key=lambda f: -f.vote)
        chances: dict[str, list[tuple[str, str]]] = {
            "Best Director": [(f.crew[0][0], f.id) for f in ranked],
            "Best Actress": [(p, f.id) for f in ranked for p, _ in f.cast[:3] if by_id[p].female],
            "Best Actor": [(p, f.id) for f in ranked for p, _ in f.cast[:3] if not by_id[p].female],
        }
        for category, found in chances.items():
            for number, film in found[:6]:
                if all(category != won for _, won, _ in by_id[number].prizes):
                    by_id[number].prizes.append((year, category, film))
                    break


def _biography(person: Person, films: dict[str, Film], nations: dict[str, dict[str, Any]]) -> str:
    he, his = ("She", "her") if person.female else ("He", "his")
    kind = nations[person.country]["adjective"]
    trade = "actress" if person.trade == "actor" and person.female else person.trade
    article = "an" if f"{kind}"[0] in "AEIO" else "a"
    born = f"{person.born:%B} {person.born.day}, {person.born.year}"
    parts = [f"{person.name} (born {born}) is {article} {kind} {trade}."]
    worked = {i: films[i] for i, _ in (*person.cast, *person.crew)}
    if worked:
        known = max(worked.values(), key=lambda film: film.vote)
        parts.append(f"{he} is best known for {his} work on {known.title}.")
    for year, category, film in person.prizes:
        won = f"{he.lower()} won the {PRIZE} for {category}"
        parts.append(f"In {year}, {won} for {films[film].title}.")
    return " ".join(parts)
