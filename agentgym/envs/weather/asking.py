"""What questions are made of: quantities, days, places; and how each is asked for.

The helpers that are generators are parts of an expert's plan: they yield calls, are sent results,
and return what was learnt. What a question's answer is follows from the world directly
(`looked_up`), never from a plan.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, NamedTuple

from agentgym.envs.tools import Move
from agentgym.envs.weather.climate import day_index, weather_of
from agentgym.envs.weather.places import Place, find_places
from agentgym.envs.weather.source import column

Learnt = Generator[Move, Any, Any]
"""Part of a plan; what it returns depends on what it learns."""

Spot = tuple[float, float]
"""Latitude and longitude."""


class Measure(NamedTuple):
    """A quantity questions are about.

    Attributes:
        family: which functions tell it ("temp": get_historical_temp, ...).
        field: its name in their results.
        words: what it is called.
        unit: its unit in words.
        apart: how far two values must be apart to ask which is larger.
    """

    family: str
    field: str
    words: str
    unit: str
    apart: float


MEASURES: Mapping[str, Measure] = {
    "highest": Measure("temp", "temperature_2m_max", "highest temperature", "degrees Celsius", 0.5),
    "lowest": Measure("temp", "temperature_2m_min", "lowest temperature", "degrees Celsius", 0.5),
    "mean": Measure("temp", "temperature_2m_mean", "average temperature", "degrees Celsius", 0.5),
    "rain": Measure("rain", "rain_sum", "rainfall", "millimetres", 0.5),
    "snow": Measure("snow", "snowfall_sum", "snowfall", "centimetres", 0.5),
    "air": Measure(
        "air_quality_index", "european_aqi", "air quality index", "points of the index", 2.0
    ),
}


class Setting(NamedTuple):
    """Who asks: where they are, and on which day."""

    today: date
    home: Place


@dataclass(frozen=True)
class When:
    """A day or a range of days as a question names it.

    Attributes:
        words: how the question says it ("yesterday", "over the next 5 days").
        start: the first day.
        end: the last day.
        dated: whether the words hold the dates, so that today's is not needed to tell them.
    """

    words: str
    start: date
    end: date
    dated: bool = False

    @classmethod
    def read(cls, spec: Mapping[str, Any]) -> When:
        """Return what `shown` wrote."""
        start, end = date.fromisoformat(spec["start"]), date.fromisoformat(spec["end"])
        return cls(spec["words"], start, end, bool(spec.get("dated")))

    def shown(self) -> dict[str, Any]:
        """Return it as JSON."""
        days = {"words": self.words, "start": str(self.start), "end": str(self.end)}
        return days | ({"dated": True} if self.dated else {})


def place_of(full_name: str) -> Place:
    """Return the place of a full name ("Portland, Oregon, United States")."""
    return next(p for p in find_places(full_name) if p.full_name == full_name)


def called(place: Place) -> str:
    """Return what a question calls a place: its name, made plain where several share it."""
    if len(find_places(place.name)) == 1:
        return place.name
    return f"{place.name} in {place.region or _with_article(place.country)}"


def _with_article(country: str) -> str:
    return f"the {country}" if country.startswith("United") else country


def looked_up(place: Place, measure: str, when: When) -> list[float]:
    """Return the values of a measure on the days of a range, from the world itself."""
    values = column(weather_of(place), MEASURES[measure].field)
    return list(values[day_index(when.start) : day_index(when.end) + 1])


def days_of(when: When) -> list[date]:
    """Return the days of a range."""
    return [when.start + timedelta(i) for i in range((when.end - when.start).days + 1)]


# Parts of plans.


def ask_today(why: str = "The question counts from today, so I need the date.") -> Learnt:
    """Learn today's date."""
    return date.fromisoformat((yield Move(why, "get_user_current_date")))


def ask_home(why: str = "The question is about where the user is.") -> Learnt:
    """Learn where the user is: name and coordinates."""
    name = yield Move(why, "get_user_current_location")
    spot = yield from _coordinates(name, name, "", f"The user is in {name}; its coordinates next.")
    return spot


def ask_spot(place: Place, why: str = "") -> Learnt:
    """Learn the coordinates of a place that the question names."""
    why = why or f"The functions take coordinates, so I look up {called(place)}."
    return (yield from _coordinates(place.name, place.country, place.region, why))


def _coordinates(name: str, country: str, region: str, why: str) -> Learnt:
    found = (yield Move(why, "get_latitude_longitude", {"name": name}))["results"]
    for row in found:
        if len(found) == 1 or (row["country"] == country and region in ("", row.get("region", ""))):
            return row["latitude"], row["longitude"]
    raise ValueError(f"{name} of {region or country} is not among the places found")


def ask_days(spot: Spot, measure: str, when: When, today: date | None, why: str) -> Learnt:
    """Learn a measure's values on the days of a range; returns them by day."""
    what, where = MEASURES[measure], {"latitude": spot[0], "longitude": spot[1]}
    if when.start == when.end == today:
        name, days = f"get_current_{what.family}", {"current_date": str(when.start)}
    else:
        days = {"start_date": str(when.start), "end_date": str(when.end)}
        ahead = today is not None and when.end > today
        name = f"get_{what.family}_forecast" if ahead else f"get_historical_{what.family}"
    found = yield Move(why, name, {**where, **days})
    times: Sequence[str] = found["daily"]["time"]
    return dict(zip(map(date.fromisoformat, times), found["daily"][what.field], strict=True))


def finish(answer: Any, why: str) -> Learnt:
    """Give the answer."""
    yield Move(why, "finish", {"answer": answer})
    return None
