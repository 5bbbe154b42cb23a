"""Where answers come from: the embedded world, in open-meteo's own layout.

A source answers for any coordinates and days it knows and says what it does not know. What a day is
to the user (past, present, still to come) is not its business but the tools'.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import date, timedelta
from functools import lru_cache
from typing import Any

from agentgym.core.errors import did_you_mean
from agentgym.core.text import shorten
from agentgym.envs.tools import NotFound, WrongValue
from agentgym.envs.weather.climate import FIRST, LAST, Weather, day_index, weather_of
from agentgym.envs.weather.places import (
    NEAR_KM,
    Place,
    find_places,
    known_names,
    nearest,
    place_at,
)

TEMPERATURE = ("temperature_2m_max", "temperature_2m_min", "temperature_2m_mean")
RAIN = ("rain_sum",)
SNOW = ("snowfall_sum",)
AIR = ("european_aqi", "pm2_5", "pm10")

UNITS = {
    "temperature_2m_max": "°C",
    "temperature_2m_min": "°C",
    "temperature_2m_mean": "°C",
    "rain_sum": "mm",
    "snowfall_sum": "cm",
    "european_aqi": "EAQI",
    "pm2_5": "μg/m³",
    "pm10": "μg/m³",
}
"""Units by variable, as open-meteo writes them."""

_COLUMNS = {
    "temperature_2m_max": "highest",
    "temperature_2m_min": "lowest",
    "temperature_2m_mean": "mean",
    "rain_sum": "rain",
    "snowfall_sum": "snow",
    "european_aqi": "aqi",
    "pm2_5": "pm2_5",
    "pm10": "pm10",
}


class Source(ABC):
    """Answers about places and days."""

    most_days: int
    """Most days of one answer."""
    days_ahead: int | None
    """How far a forecast reaches; None: as far as the source knows."""

    @abstractmethod
    def find(self, name: str) -> list[dict[str, Any]]:
        """Return the places of a name: name, latitude, longitude, region, country.

        Raises:
            NotFound: if there is none.
        """

    @abstractmethod
    def elevation(self, latitude: float, longitude: float) -> float:
        """Return metres above the sea.

        Raises:
            NotFound: if the source does not know the place.
        """

    @abstractmethod
    def daily(
        self, latitude: float, longitude: float, start: date, end: date, names: Sequence[str]
    ) -> dict[str, list[Any]]:
        """Return the days and, by variable, their values.

        Raises:
            NotFound: if the source does not know the place.
            WrongValue: if it does not know a day.
        """


class LocalSource(Source):
    """The embedded world: 422 places, 2022 to 2024."""

    most_days = 31
    days_ahead = 60

    def find(self, name: str) -> list[dict[str, Any]]:
        """Return the places of a name, the largest first."""
        found = find_places(name)
        if not found:
            near = did_you_mean(name.split(",")[0].strip()[:60], known_names())
            raise NotFound(
                f"no place is called {shorten(name)!r}. {near if near.startswith('Did') else ''}"
                "Give the name of a town or city, as in 'Oslo' or 'Portland, Oregon'"
            )
        return [_shown(place) for place in found]

    def elevation(self, latitude: float, longitude: float) -> float:
        """Return the elevation of the nearest place."""
        return float(_require(latitude, longitude).elevation)

    def daily(
        self, latitude: float, longitude: float, start: date, end: date, names: Sequence[str]
    ) -> dict[str, list[Any]]:
        """Return the days and their values at the nearest place."""
        weather = weather_of(_require(latitude, longitude))
        first, last = day_index(start), day_index(end) + 1
        if start < FIRST or end > LAST:
            raise WrongValue(f"there are days from {FIRST} to {LAST}, not {start} to {end}")
        found: dict[str, list[Any]] = {"time": list(_days(start, end))}
        for name in names:
            found[name] = list(column(weather, name)[first:last])
        return found


def column(weather: Weather, name: str) -> Sequence[Any]:
    """Return the values of a variable, one a day."""
    values: Sequence[Any] = getattr(weather, _COLUMNS[name])
    return values


@lru_cache(maxsize=4096)
def _days(start: date, end: date) -> tuple[str, ...]:
    return tuple((start + timedelta(i)).isoformat() for i in range((end - start).days + 1))


def _require(latitude: float, longitude: float) -> Place:
    place = place_at(latitude, longitude)
    if place is None:
        other, away = nearest(latitude, longitude)
        raise NotFound(
            f"there is no station within {NEAR_KM:.0f} km of {latitude}, {longitude}; the nearest "
            f"is {other.full_name}, {away:.0f} km away. get_latitude_longitude gives coordinates"
        )
    return place


def _shown(place: Place) -> dict[str, Any]:
    shown = {"name": place.name, "latitude": place.latitude, "longitude": place.longitude}
    return shown | ({"region": place.region} if place.region else {}) | {"country": place.country}
