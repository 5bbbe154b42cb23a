"""Questions that take several steps, each from what the one before has told."""

from __future__ import annotations

from datetime import date
from typing import Any

from agentgym.core.draw import Draw
from agentgym.envs.tools import Move, Plan
from agentgym.envs.weather import phrases
from agentgym.envs.weather.about_days import tensed
from agentgym.envs.weather.about_places import (
    ask_distance,
    ask_distances,
    ask_height,
    ask_heights,
    between,
    either,
    some_places,
)
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
from agentgym.envs.weather.places import Place, find_places, load_places
from agentgym.envs.weather.question import EXACT, NUMBER, ONE_DECIMAL, Ask, Question


class HigherThenDay(Question):
    """A day's value at the higher of two places."""

    kind = "elevation-then-day"

    def draw(self, draw: Draw, setting: Setting) -> Ask | None:
        """Draw two places of different heights, and a day."""
        names = some_places(draw, 2)
        a, b = (place_of(name).elevation for name in names)
        when = draw.pick([phrases.past_day, phrases.coming_day])(draw, setting.today)
        if draw.below(2):
            when = phrases.old_day(draw, setting.today, FIRST)
        measure = draw.pick(["highest", "lowest", "mean"])
        ask = {"places": names, "measure": measure, "when": when.shown()}
        low, high = sorted(looked_up(place_of(n), measure, when)[0] for n in names)
        return ask if abs(a - b) >= 20 and high - low >= 0.5 else None

    def goal(self, ask: Ask) -> str:
        """Return the question."""
        what = MEASURES[ask["measure"]]
        verb = tensed(ask["when"]["words"], "was", "is", "will be")
        return (
            f"Of {either(ask['places']).replace(' or ', ' and ')}, take the city that lies higher "
            f"above the sea. What {verb} its {what.words} {ask['when']['words']}, in {what.unit}? "
            f"{NUMBER}"
        )

    def answer(self, ask: Ask, setting: Setting) -> dict[str, Any]:
        """Return the value."""
        place = max((place_of(name) for name in ask["places"]), key=lambda p: p.elevation)
        value = looked_up(place, ask["measure"], When.read(ask["when"]))[0]
        return {"number": value, "within": EXACT}

    def plan(self, ask: Ask) -> Plan:
        """Date, the heights, then the day at the higher place."""
        when = When.read(ask["when"])
        today = None if when.dated else (yield from ask_today())
        spots: dict[str, Spot] = {}
        heights = yield from ask_heights(ask["places"], spots)
        best = max(heights, key=heights.__getitem__)
        why = f"{place_of(best).name} lies higher, at {heights[best]:g} m; now its {when.start}."
        found = yield from ask_days(spots[best], ask["measure"], when, today, why)
        value = found[when.start]
        yield from finish(value, f"The {MEASURES[ask['measure']].words} there is {value}.")


class NearestThenDay(Question):
    """A day's value at the nearer of two places."""

    kind = "nearest-then-day"

    def draw(self, draw: Draw, setting: Setting) -> Ask | None:
        """Draw two places and a coming day."""
        names = some_places(draw, 2, near=setting.home)
        a, b = (between(place_of(name), setting.home) for name in names)
        when = phrases.coming_day(draw, setting.today)
        measure = draw.pick(["highest", "lowest", "mean"])
        low, high = sorted(looked_up(place_of(n), measure, when)[0] for n in names)
        ask = {"places": names, "measure": measure, "when": when.shown()}
        return ask if abs(a - b) > 0.1 * max(a, b) and high - low >= 0.5 else None

    def goal(self, ask: Ask) -> str:
        """Return the question."""
        what = MEASURES[ask["measure"]]
        return (
            f"I will travel to {either(ask['places'])}, whichever is nearer to where I am. What "
            f"{what.words} does the forecast give for it {ask['when']['words']}, in {what.unit}? "
            f"{NUMBER}"
        )

    def answer(self, ask: Ask, setting: Setting) -> dict[str, Any]:
        """Return the value."""
        places = [place_of(name) for name in ask["places"]]
        place = min(places, key=lambda p: between(p, setting.home))
        value = looked_up(place, ask["measure"], When.read(ask["when"]))[0]
        return {"number": value, "within": EXACT}

    def plan(self, ask: Ask) -> Plan:
        """Date, the user's place, the distances, then the forecast."""
        when = When.read(ask["when"])
        today = yield from ask_today()
        home = yield from ask_home()
        spots: dict[str, Spot] = {}
        away = yield from ask_distances(home, ask["places"], spots)
        best = min(away, key=away.__getitem__)
        why = f"{place_of(best).name} is nearer, {away[best]} km; now its forecast."
        found = yield from ask_days(spots[best], ask["measure"], when, today, why)
        value = found[when.start]
        yield from finish(value, f"The forecast gives {value} there.")


class Conditional(Question):
    """What is asked depends on whether it rained somewhere else."""

    kind = "conditional"

    def draw(self, draw: Draw, setting: Setting) -> Ask | None:
        """Draw the condition and two continuations with different answers."""
        first, second = some_places(draw, 2)
        over = draw.pick([0.9, 2.9])
        past = phrases.past_day(draw, setting.today)
        ahead = phrases.coming_day(draw, setting.today)
        ask = {"if": first, "over": over, "past": past.shown(), "place": second}
        ask["when"] = ahead.shown()
        rain = looked_up(place_of(first), "rain", past)[0]
        # Rain is rarer than none: without this, nine in ten tasks would have the same branch.
        dull = rain == 0 and draw.below(3) > 0
        return None if dull or abs(rain - over) < 0.2 else ask

    def goal(self, ask: Ask) -> str:
        """Return the question."""
        first, second = called(place_of(ask["if"])), called(place_of(ask["place"]))
        return (
            f"If more than {ask['over']:g} mm of rain fell in {first} {ask['past']['words']}, tell "
            f"me the highest temperature in {second} {ask['when']['words']}; otherwise tell me the "
            f"lowest temperature in {second} today. In degrees Celsius. {NUMBER}"
        )

    def answer(self, ask: Ask, setting: Setting) -> dict[str, Any]:
        """Return the value of the branch."""
        rain = looked_up(place_of(ask["if"]), "rain", When.read(ask["past"]))[0]
        place = place_of(ask["place"])
        if rain > ask["over"]:
            value = looked_up(place, "highest", When.read(ask["when"]))[0]
        else:
            value = looked_up(place, "lowest", phrases.this_day(setting.today))[0]
        return {"number": value, "within": EXACT}

    def plan(self, ask: Ask) -> Plan:
        """Date, the rain, then the branch."""
        past = When.read(ask["past"])
        today = yield from ask_today()
        there = yield from ask_spot(place_of(ask["if"]), "First the condition: where is it?")
        why = f"How much rain fell there on {past.start}?"
        rain = (yield from ask_days(there, "rain", past, today, why))[past.start]
        spot = yield from ask_spot(
            place_of(ask["place"]), f"It was {rain} mm. Now the other place."
        )
        value = yield from self._branch(ask, rain > ask["over"], spot, today)
        yield from finish(value, f"With {rain} mm of rain, the answer is {value}.")

    @staticmethod
    def _branch(ask: Ask, rained: bool, spot: Spot, today: date) -> Learnt:
        when = When.read(ask["when"]) if rained else phrases.this_day(today)
        measure = "highest" if rained else "lowest"
        why = f"The condition is {'met' if rained else 'not met'}, so I ask for {when.start}."
        return (yield from ask_days(spot, measure, when, today, why))[when.start]


class Namesakes(Question):
    """Two places of one name: how far apart they are, or how much higher one is."""

    kind = "namesakes"

    def draw(self, draw: Draw, setting: Setting) -> Ask | None:
        """Draw a name that two places share."""
        shared = sorted({p.name for p in load_places() if len(find_places(p.name)) == 2})
        pair = draw.shuffled(find_places(draw.pick(shared)))
        how = draw.pick(["distance", "elevation", "day"])
        when = phrases.old_day(draw, setting.today, FIRST)
        ask = {"places": [p.full_name for p in pair], "how": how, "when": when.shown()}
        a, b = (looked_up(p, "highest", when)[0] for p in pair)
        return ask if abs(pair[0].elevation - pair[1].elevation) > 5 and abs(a - b) > 0.5 else None

    def goal(self, ask: Ask) -> str:
        """Return the question."""
        first, second = (called(place_of(name)) for name in ask["places"])
        if ask["how"] == "distance":
            return (
                f"How many kilometres are {first} and {second} apart? Please answer with a number, "
                "rounded to a whole kilometre."
            )
        if ask["how"] == "elevation":
            return f"How many metres do {first} and {second} differ in elevation? {NUMBER}"
        return (
            f"By how many degrees Celsius do {first} and {second} differ in highest temperature "
            f"{ask['when']['words']}? {ONE_DECIMAL}"
        )

    def answer(self, ask: Ask, setting: Setting) -> dict[str, Any]:
        """Return the distance or difference."""
        a, b = (place_of(name) for name in ask["places"])
        if ask["how"] == "distance":
            return {"number": round(between(a, b), 1), "within": 1.0}
        if ask["how"] == "elevation":
            return {"number": abs(a.elevation - b.elevation), "within": 0.5}
        when = When.read(ask["when"])
        first, second = (looked_up(p, "highest", when)[0] for p in (a, b))
        return {"number": round(abs(first - second), 1), "within": EXACT}

    def plan(self, ask: Ask) -> Plan:
        """One look-up gives both; then what is asked of them."""
        places = [place_of(name) for name in ask["places"]]
        why = f"One look-up of {places[0].name} gives all places of that name."
        rows = (yield Move(why, "get_latitude_longitude", {"name": places[0].name}))["results"]
        spots = [_row_of(rows, place) for place in places]
        if ask["how"] == "distance":
            away = yield from ask_distance(spots[0], spots[1], "Both are there; how far is it?")
            yield from finish(round(away), f"It is {away} km.")
            return
        values = []
        for place, spot in zip(places, spots, strict=True):
            at = f"{place.name} in {place.region or place.country}"
            if ask["how"] == "elevation":
                values.append((yield from ask_height(spot, f"How high is {at}?")))
            else:
                when = When.read(ask["when"])
                found = yield from ask_days(spot, "highest", when, None, f"Now the day at {at}.")
                values.append(found[when.start])
        a, b = values
        yield from finish(round(abs(a - b), 1), f"It is {a} and {b}.")


def _row_of(rows: list[dict[str, Any]], place: Place) -> Spot:
    row = next(
        r for r in rows if r["country"] == place.country and r.get("region", "") == place.region
    )
    return row["latitude"], row["longitude"]
