"""The 19 functions, under their published names.

Three functions a quantity tell the past, the present and what is to come, of one and the same
weather: yesterday's forecast for today is today's value, and tomorrow's history. Results have
open-meteo's layout.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import Annotated, Any

from pydantic import Field

from agentgym.envs.tools import Date, Latitude, Longitude, Text, Tools, WrongValue, tool
from agentgym.envs.weather.places import distance_km
from agentgym.envs.weather.source import AIR, RAIN, SNOW, TEMPERATURE, UNITS, Source

_UNITS: dict[tuple[str, ...], dict[str, str]] = {
    names: {"time": "iso8601"} | {name: UNITS[name] for name in names}
    for names in (TEMPERATURE, RAIN, SNOW, AIR)
}

LEVELS = (
    (20, "good"),
    (40, "fair"),
    (60, "moderate"),
    (80, "poor"),
    (100, "very poor"),
)
"""Upper ends of the European index's levels; above them the air is extremely poor."""

Index = Annotated[float, Field(ge=0, le=1000, allow_inf_nan=False, examples=[12, 47, 95])]
Result = dict[str, Any]
Name = Annotated[Text, Field(max_length=100, examples=["Oslo", "London", "Nowhere"])]


class WeatherTools(Tools):
    """The functions of one episode.

    Args:
        source: where answers come from.
        today: the user's current date.
        location: where the user is.
        strict: whether history ends today, a forecast begins today and "current" means today; the
            published server did not mind.
    """

    def __init__(self, source: Source, today: date, location: str, strict: bool = True) -> None:
        self._source, self._today, self._location = source, today, location
        self._strict = strict

    @tool
    def get_user_current_date(self) -> str:
        """Get the user's current date.

        Returns:
            the date, YYYY-MM-DD
        """
        return self._today.isoformat()

    @tool
    def get_user_current_location(self) -> str:
        """Get the user's current location.

        Returns:
            the name of a town or city
        """
        return self._location

    @tool
    def get_historical_temp(
        self, latitude: Latitude, longitude: Longitude, start_date: Date, end_date: Date
    ) -> Result:
        """Get the temperature of past days at a place.

        Args:
            latitude: degrees north
            longitude: degrees east
            start_date: the first day, YYYY-MM-DD
            end_date: the last day, YYYY-MM-DD, today at the latest

        Returns:
            the highest, lowest and mean temperature of each day
        """
        return self._past(latitude, longitude, start_date, end_date, TEMPERATURE)

    @tool
    def get_historical_rain(
        self, latitude: Latitude, longitude: Longitude, start_date: Date, end_date: Date
    ) -> Result:
        """Get the rain of past days at a place.

        Args:
            latitude: degrees north
            longitude: degrees east
            start_date: the first day, YYYY-MM-DD
            end_date: the last day, YYYY-MM-DD, today at the latest

        Returns:
            the rain of each day in millimetres
        """
        return self._past(latitude, longitude, start_date, end_date, RAIN)

    @tool
    def get_historical_snow(
        self, latitude: Latitude, longitude: Longitude, start_date: Date, end_date: Date
    ) -> Result:
        """Get the new snow of past days at a place.

        Args:
            latitude: degrees north
            longitude: degrees east
            start_date: the first day, YYYY-MM-DD
            end_date: the last day, YYYY-MM-DD, today at the latest

        Returns:
            the snow of each day in centimetres
        """
        return self._past(latitude, longitude, start_date, end_date, SNOW)

    @tool
    def get_snow_forecast(
        self, latitude: Latitude, longitude: Longitude, start_date: Date, end_date: Date
    ) -> Result:
        """Get the snow forecast for a place.

        Args:
            latitude: degrees north
            longitude: degrees east
            start_date: the first day, YYYY-MM-DD, today at the earliest
            end_date: the last day, YYYY-MM-DD

        Returns:
            the snow of each day in centimetres
        """
        return self._ahead(latitude, longitude, start_date, end_date, SNOW)

    @tool
    def get_current_snow(
        self, latitude: Latitude, longitude: Longitude, current_date: Date
    ) -> Result:
        """Get today's snow at a place.

        Args:
            latitude: degrees north
            longitude: degrees east
            current_date: today's date, YYYY-MM-DD

        Returns:
            the snow of the day in centimetres
        """
        return self._now(latitude, longitude, current_date, SNOW)

    @tool
    def get_current_temp(
        self, latitude: Latitude, longitude: Longitude, current_date: Date
    ) -> Result:
        """Get today's temperature at a place.

        Args:
            latitude: degrees north
            longitude: degrees east
            current_date: today's date, YYYY-MM-DD

        Returns:
            the highest, lowest and mean temperature of the day
        """
        return self._now(latitude, longitude, current_date, TEMPERATURE)

    @tool
    def get_latitude_longitude(self, name: Name) -> Result:
        """Get the coordinates of a town or city.

        Args:
            name: its name, with its region or country if need be, as in 'Portland, Oregon'

        Returns:
            the places of that name with latitude, longitude and country, the largest first
        """
        return {"results": self._source.find(name)}

    @tool
    def get_elevation(self, latitude: Latitude, longitude: Longitude) -> Result:
        """Get the elevation of a place.

        Args:
            latitude: degrees north
            longitude: degrees east

        Returns:
            metres above the sea
        """
        return {"elevation": [self._source.elevation(latitude, longitude)]}

    @tool
    def get_temp_forecast(
        self, latitude: Latitude, longitude: Longitude, start_date: Date, end_date: Date
    ) -> Result:
        """Get the temperature forecast for a place.

        Args:
            latitude: degrees north
            longitude: degrees east
            start_date: the first day, YYYY-MM-DD, today at the earliest
            end_date: the last day, YYYY-MM-DD

        Returns:
            the highest, lowest and mean temperature of each day
        """
        return self._ahead(latitude, longitude, start_date, end_date, TEMPERATURE)

    @tool
    def get_rain_forecast(
        self, latitude: Latitude, longitude: Longitude, start_date: Date, end_date: Date
    ) -> Result:
        """Get the rain forecast for a place.

        Args:
            latitude: degrees north
            longitude: degrees east
            start_date: the first day, YYYY-MM-DD, today at the earliest
            end_date: the last day, YYYY-MM-DD

        Returns:
            the rain of each day in millimetres
        """
        return self._ahead(latitude, longitude, start_date, end_date, RAIN)

    @tool
    def get_current_rain(
        self, latitude: Latitude, longitude: Longitude, current_date: Date
    ) -> Result:
        """Get today's rain at a place.

        Args:
            latitude: degrees north
            longitude: degrees east
            current_date: today's date, YYYY-MM-DD

        Returns:
            the rain of the day in millimetres
        """
        return self._now(latitude, longitude, current_date, RAIN)

    @tool
    def get_distance(
        self, latitude1: Latitude, longitude1: Longitude, latitude2: Latitude, longitude2: Longitude
    ) -> float:
        """Get the distance between two places.

        Args:
            latitude1: degrees north of the first place
            longitude1: degrees east of the first place
            latitude2: degrees north of the second place
            longitude2: degrees east of the second place

        Returns:
            kilometres along the great circle
        """
        return round(distance_km(latitude1, longitude1, latitude2, longitude2), 1)

    @tool
    def get_historical_air_quality_index(
        self, latitude: Latitude, longitude: Longitude, start_date: Date, end_date: Date
    ) -> Result:
        """Get the air quality of past days at a place.

        Args:
            latitude: degrees north
            longitude: degrees east
            start_date: the first day, YYYY-MM-DD
            end_date: the last day, YYYY-MM-DD, today at the latest

        Returns:
            the European air quality index, PM2.5 and PM10 of each day
        """
        return self._past(latitude, longitude, start_date, end_date, AIR)

    @tool
    def get_current_air_quality_index(
        self, latitude: Latitude, longitude: Longitude, current_date: Date
    ) -> Result:
        """Get today's air quality at a place.

        Args:
            latitude: degrees north
            longitude: degrees east
            current_date: today's date, YYYY-MM-DD

        Returns:
            the European air quality index, PM2.5 and PM10 of the day
        """
        return self._now(latitude, longitude, current_date, AIR)

    @tool
    def get_air_quality_level(self, air_quality_index: Index) -> str:
        """Get the level of an air quality index in words.

        Args:
            air_quality_index: the European air quality index

        Returns:
            good, fair, moderate, poor, very poor or extremely poor
        """
        return level_of(air_quality_index)

    def _past(self, lat: float, lon: float, start: str, end: str, names: tuple[str, ...]) -> Result:
        first, last = self._range(start, end)
        if self._strict and last > self._today:
            raise WrongValue(
                f"argument 'end_date' must be today ({self._today}) or earlier, got {end}; a "
                "forecast tells of later days"
            )
        return self._daily(lat, lon, first, last, names)

    def _ahead(
        self, lat: float, lon: float, start: str, end: str, names: tuple[str, ...]
    ) -> Result:
        first, last = self._range(start, end)
        if self._strict and first < self._today:
            raise WrongValue(
                f"argument 'start_date' must be today ({self._today}) or later, got {start}; the "
                "historical functions tell of earlier days"
            )
        reach = self._source.days_ahead
        if reach is not None and last > self._today + timedelta(reach):
            raise WrongValue(
                f"argument 'end_date' must be {self._today + timedelta(reach)} or earlier, "
                f"{reach} days ahead, got {end}"
            )
        return self._daily(lat, lon, first, last, names)

    def _now(self, lat: float, lon: float, day: str, names: tuple[str, ...]) -> Result:
        today = date.fromisoformat(day)
        if self._strict and today != self._today:
            raise WrongValue(f"argument 'current_date' must be today, {self._today}, got {day}")
        return self._daily(lat, lon, today, today, names)

    def _range(self, start: str, end: str) -> tuple[date, date]:
        first, last = date.fromisoformat(start), date.fromisoformat(end)
        if last < first:
            raise WrongValue(
                f"argument 'end_date' must not be before start_date {start}, got {end}"
            )
        days = last.toordinal() - first.toordinal() + 1
        if days > self._source.most_days:
            raise WrongValue(
                f"argument 'end_date' must be within {self._source.most_days} days of start_date, "
                f"got {days} days; ask in parts"
            )
        return first, last

    def _daily(
        self, lat: float, lon: float, first: date, last: date, names: tuple[str, ...]
    ) -> Result:
        return {
            "latitude": lat,
            "longitude": lon,
            "daily_units": dict(_UNITS[names]),
            "daily": self._source.daily(lat, lon, first, last, names),
        }


def level_of(air_quality_index: float) -> str:
    """Return the level of a European air quality index.

    >>> level_of(20), level_of(20.1), level_of(130)
    ('good', 'fair', 'extremely poor')
    """
    return next((level for top, level in LEVELS if air_quality_index <= top), "extremely poor")
