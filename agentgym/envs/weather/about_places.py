"""Questions about several places, and those that take several steps."""

from __future__ import annotations

from typing import Any

from agentgym.core.draw import Draw
from agentgym.envs.tools import Move, Plan
from agentgym.envs.weather import phrases
from agentgym.envs.weather.about_days import begin, draw_place, subject, tensed, where
from agentgym.envs.weather.asking import (
    MEASURES,
    Learnt,
    Setting,
    Spot,
    When,
    ask_days,
    ask_home,
    ask_spot,
    ask_today,
    called,
    finish,
    looked_up,
    place_of,
)
from agentgym.envs.weather.climate import FIRST
from agentgym.envs.weather.places import Place, distance_km, load_places
from agentgym.envs.weather.question import EXACT, NUMBER, ONE_DECIMAL, Ask, Question
from agentgym.envs.weather.tools import level_of


def some_places(draw: Draw, count: int, near: Place | None = None) -> list[str]:
    """Draw places by full name, of different short names; near one, where it is given."""
    pool = load_places()
    if near is not None:
        around = sorted(pool, key=lambda p: between(p, near))
        pool = tuple(around[1:40])
    chosen: dict[str, str] = {}
    while len(chosen) < count:
        place = draw.pick(pool)
        if near is None or place.name != near.name:
            chosen.setdefault(place.name, place.full_name)
    return list(chosen.values())


def either(names: list[str]) -> str:
    """Return places as a choice: "Oslo, Bergen or Rome"."""
    words = [called(place_of(name)) for name in names]
    return f"{', '.join(words[:-1])} or {words[-1]}"


def place_answer(place: Place) -> dict[str, Any]:
    """Return the spec of an answer that names a place."""
    return {"text": place.name, "also": [place.full_name, called(place), f"{place.name}, "
            f"{place.region or place.country}"]}  # fmt: skip


class TwoPlaces(Question):
    """One day at two places: which has more, or by how much."""

    kind = "two-places"

    def draw(self, draw: Draw, setting: Setting) -> Ask | None:
        """Draw two places and a day; the values must be apart."""
        how = draw.pick(["which", "difference"])
        day = draw.pick([phrases.past_day, phrases.coming_day])(draw, setting.today)
        when = day if draw.below(3) else phrases.old_day(draw, setting.today, FIRST)
        measure = draw.pick(["highest", "lowest", "mean", "rain"])
        ask: dict[str, Any] = {"places": some_places(draw, 2), "how": how, "measure": measure}
        ask["when"] = when.shown()
        a, b = self._values(ask)
        return ask if abs(a - b) >= MEASURES[measure].apart else None

    def goal(self, ask: Ask) -> str:
        """Return the question."""
        what, when = MEASURES[ask["measure"]], ask["when"]["words"]
        if ask["how"] == "which":
            has = tensed(when, "had", "has", "will have")
            return (
                f"Which city {has} the higher {what.words} {when}, {either(ask['places'])}? Please "
                "answer with the name of the city."
            )
        first, second = (called(place_of(name)) for name in ask["places"])
        return (
            f"By how many {what.unit} do {first} and {second} differ in the {what.words} {when}? "
            f"{ONE_DECIMAL}"
        )

    def answer(self, ask: Ask, setting: Setting) -> dict[str, Any]:
        """Return the place of the larger value, or the difference."""
        a, b = self._values(ask)
        if ask["how"] == "which":
            return place_answer(place_of(ask["places"][0 if a > b else 1]))
        return {"number": round(abs(a - b), 1), "within": EXACT}

    def plan(self, ask: Ask) -> Plan:
        """Date, then each place and its value."""
        when, values = When.read(ask["when"]), []
        today = None if when.dated else (yield from ask_today())
        for name in ask["places"]:
            place = place_of(name)
            spot = yield from ask_spot(place)
            why = f"Now the {MEASURES[ask['measure']].words} of {place.name} on {when.start}."
            found = yield from ask_days(spot, ask["measure"], when, today, why)
            values.append(found[when.start])
        a, b = values
        which = place_of(ask["places"][0 if a > b else 1]).name
        answer = which if ask["how"] == "which" else round(abs(a - b), 1)
        yield from finish(answer, f"It is {a} in the first place and {b} in the second.")

    @staticmethod
    def _values(ask: Ask) -> list[float]:
        when = When.read(ask["when"])
        return [looked_up(place_of(n), ask["measure"], when)[0] for n in ask["places"]]


class Distance(Question):
    """How far two places are apart."""

    kind = "distance"

    def draw(self, draw: Draw, setting: Setting) -> Ask | None:
        """Draw the user's place and another, or two."""
        home = draw.below(2) == 0
        names = some_places(draw, 1 if home else 2)
        return None if setting.home.full_name in names else {"places": names}

    def goal(self, ask: Ask) -> str:
        """Return the question."""
        names = [called(place_of(name)) for name in ask["places"]]
        start = names[-2] if len(names) == 2 else "here"
        return (
            f"How many kilometres is it from {start} to {names[-1]} as the crow flies? Please "
            "answer with a number, rounded to a whole kilometre."
        )

    def answer(self, ask: Ask, setting: Setting) -> dict[str, Any]:
        """Return the kilometres."""
        ends = [place_of(name) for name in ask["places"]]
        first = ends[-2] if len(ends) == 2 else setting.home
        return {"number": round(between(first, ends[-1]), 1), "within": 1.0}

    def plan(self, ask: Ask) -> Plan:
        """Both ends, then the distance."""
        *others, goal = (place_of(name) for name in ask["places"])
        start = (yield from ask_spot(others[0])) if others else (yield from ask_home())
        end = yield from ask_spot(goal)
        away = yield from ask_distance(start, end, "With both ends known, I ask how far it is.")
        yield from finish(round(away), f"It is {away} km.")


class Nearest(Question):
    """Which of three places is nearest to the user."""

    kind = "nearest"

    def draw(self, draw: Draw, setting: Setting) -> Ask | None:
        """Draw three places; the nearest must stand out."""
        names = some_places(draw, 3, near=setting.home if draw.below(2) else None)
        away = sorted(between(place_of(n), setting.home) for n in names)
        return {"places": names} if away[0] > 1 and away[1] - away[0] > 0.08 * away[1] else None

    def goal(self, ask: Ask) -> str:
        """Return the question."""
        return (
            f"Which of these cities is the nearest to where I am: {either(ask['places'])}? Please "
            "answer with the name of the city."
        )

    def answer(self, ask: Ask, setting: Setting) -> dict[str, Any]:
        """Return the place."""
        places = [place_of(name) for name in ask["places"]]
        return place_answer(min(places, key=lambda p: between(p, setting.home)))

    def plan(self, ask: Ask) -> Plan:
        """The user's place, then each city and its distance."""
        home = yield from ask_home()
        away = yield from ask_distances(home, ask["places"])
        best = place_of(min(away, key=away.__getitem__))
        yield from finish(best.name, f"{best.name} is the nearest, {away[best.full_name]} km away.")


class Elevation(Question):
    """Which place lies higher, or by how much."""

    kind = "elevation"

    def draw(self, draw: Draw, setting: Setting) -> Ask | None:
        """Draw two or three places of clearly different heights."""
        how = draw.pick(["which", "difference"])
        names = some_places(draw, 2 if how == "difference" else draw.between(2, 3))
        heights = sorted(place_of(name).elevation for name in names)
        return {"places": names, "how": how} if heights[-1] - heights[-2] >= 20 else None

    def goal(self, ask: Ask) -> str:
        """Return the question."""
        if ask["how"] == "which":
            return (
                f"Which city lies highest above the sea: {either(ask['places'])}? Please answer "
                "with the name of the city."
            )
        first, second = (called(place_of(name)) for name in ask["places"])
        return f"How many metres do {first} and {second} differ in elevation? {NUMBER}"

    def answer(self, ask: Ask, setting: Setting) -> dict[str, Any]:
        """Return the place, or the difference in metres."""
        places = [place_of(name) for name in ask["places"]]
        if ask["how"] == "which":
            return place_answer(max(places, key=lambda p: p.elevation))
        return {"number": abs(places[0].elevation - places[1].elevation), "within": 0.5}

    def plan(self, ask: Ask) -> Plan:
        """Each place and its height."""
        heights = yield from ask_heights(ask["places"])
        best = max(heights, key=heights.__getitem__)
        told = ", ".join(f"{place_of(n).name} at {h:g} m" for n, h in heights.items())
        a, *others = heights.values()
        answer = place_of(best).name if ask["how"] == "which" else abs(a - others[0])
        yield from finish(answer, f"There is {told}.")


class AirLevel(Question):
    """How good the air is, in words."""

    kind = "air-level"

    def draw(self, draw: Draw, setting: Setting) -> Ask | None:
        """Draw a place and a day that has been, or today."""
        when = draw.pick([phrases.past_day(draw, setting.today), phrases.this_day(setting.today)])
        return {"place": draw_place(draw), "when": when.shown()}

    def goal(self, ask: Ask) -> str:
        """Return the question."""
        words = ask["when"]["words"]
        verb = tensed(words, "was", "is", "will be")
        return (
            f"How good {verb} the air {where(ask)} {words}, by the European air quality index? "
            "Please answer with the name of the level."
        )

    def answer(self, ask: Ask, setting: Setting) -> dict[str, Any]:
        """Return the level."""
        index = looked_up(subject(ask, setting), "air", When.read(ask["when"]))[0]
        return {"text": level_of(index)}

    def plan(self, ask: Ask) -> Plan:
        """Date, place, index, level."""
        when = When.read(ask["when"])
        today, spot = yield from begin(ask, when)
        why = f"Now the air quality index of {when.start}."
        index = (yield from ask_days(spot, "air", when, today, why))[when.start]
        why = f"The index is {index}; I ask which level that is."
        level = yield Move(why, "get_air_quality_level", {"air_quality_index": index})
        yield from finish(level, f"An index of {index} is called {level}.")


def between(a: Place, b: Place) -> float:
    """Return the kilometres between two places."""
    return distance_km(a.latitude, a.longitude, b.latitude, b.longitude)


def ask_distance(a: Spot, b: Spot, why: str) -> Learnt:
    """Learn the kilometres between two spots."""
    ends = {"latitude1": a[0], "longitude1": a[1], "latitude2": b[0], "longitude2": b[1]}
    return (yield Move(why, "get_distance", ends))


def ask_distances(home: Spot, names: list[str], spots: dict[str, Spot] | None = None) -> Learnt:
    """Learn how far places are from home, by full name; their spots go into `spots`."""
    away: dict[str, float] = {}
    for name in names:
        place = place_of(name)
        spot = yield from ask_spot(place)
        away[name] = yield from ask_distance(home, spot, f"How far is {place.name} from here?")
        if spots is not None:
            spots[name] = spot
    return away


def ask_height(spot: Spot, why: str) -> Learnt:
    """Learn the elevation of a spot."""
    where_ = {"latitude": spot[0], "longitude": spot[1]}
    return (yield Move(why, "get_elevation", where_))["elevation"][0]


def ask_heights(names: list[str], spots: dict[str, Spot] | None = None) -> Learnt:
    """Learn how high places lie, by full name; their spots go into `spots`."""
    heights: dict[str, float] = {}
    for name in names:
        place = place_of(name)
        spot = yield from ask_spot(place)
        heights[name] = yield from ask_height(spot, f"How high does {place.name} lie?")
        if spots is not None:
            spots[name] = spot
    return heights
