"""open-meteo, the service the published tasks were answered from.

Four of its hosts: the weather archive, air quality, geocoding and elevation; none needs a key. The
published server asked the archive for forecasts as well, since the tasks' dates have passed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from statistics import fmean
from typing import Any

from agentgym.core.text import shorten
from agentgym.envs.tools import Cassette, LiveClient, LiveError, NotFound
from agentgym.envs.weather.source import AIR, Source

HOSTS: Mapping[str, str] = {
    "archive": "https://archive-api.open-meteo.com/v1/archive",
    "air": "https://air-quality-api.open-meteo.com/v1/air-quality",
    "geocoding": "https://geocoding-api.open-meteo.com/v1/search",
    "elevation": "https://api.open-meteo.com/v1/elevation",
}


class OpenMeteo(Source):
    """Answers of the live service.

    Args:
        cassette: a tape for its answers.
        hosts: other addresses, by the keys of `HOSTS`.
        options: of `LiveClient`.
    """

    most_days = 366
    days_ahead = None

    def __init__(
        self,
        cassette: Cassette | None = None,
        hosts: Mapping[str, str] | None = None,
        **options: Any,
    ) -> None:
        self._clients = {
            name: LiveClient(url, cassette=cassette, **options)
            for name, url in {**HOSTS, **(hosts or {})}.items()
        }

    def find(self, name: str) -> list[dict[str, Any]]:
        """Return up to five places of a name."""
        found = self._ask("geocoding", {"name": name, "count": 5, "language": "en"})
        results = found.get("results") or []
        if not results:
            raise NotFound(f"no place is called {shorten(name)!r}; give the name of a town or city")
        keys = ("name", "latitude", "longitude", "admin1", "country")
        return [{key: row[key] for key in keys if key in row} for row in results]

    def elevation(self, latitude: float, longitude: float) -> float:
        """Return metres above the sea."""
        found = self._ask("elevation", {"latitude": latitude, "longitude": longitude})
        return float(_field(found, "elevation")[0])

    def daily(
        self, latitude: float, longitude: float, start: date, end: date, names: Sequence[str]
    ) -> dict[str, list[Any]]:
        """Return the days and their values; those of the air are means of the hours."""
        where = {"latitude": latitude, "longitude": longitude}
        when = {"start_date": start.isoformat(), "end_date": end.isoformat()}
        if tuple(names) == AIR:
            hourly = self._ask("air", {**where, **when, "hourly": ",".join(names)})
            return _means(_field(hourly, "hourly"), names)
        found = self._ask("archive", {**where, **when, "daily": ",".join(names), "timezone": "GMT"})
        days = _field(found, "daily")
        return {name: list(_field(days, name)) for name in ("time", *names)}

    def close(self) -> None:
        """Close the connections."""
        for client in self._clients.values():
            client.close()

    def _ask(self, host: str, params: Mapping[str, Any]) -> dict[str, Any]:
        found = self._clients[host].get("", params)
        if not isinstance(found, dict):
            raise LiveError(f"open-meteo ({host}) answered a {type(found).__name__}")
        return found


def _field(found: Mapping[str, Any], name: str) -> Any:
    if name not in found:
        raise LiveError(f"open-meteo's answer has no {name!r}")
    return found[name]


def _means(hourly: Mapping[str, Any], names: Sequence[str]) -> dict[str, list[Any]]:
    """Return daily means of hourly values; None where a day has none."""
    hours = [str(time)[:10] for time in _field(hourly, "time")]
    days = list(dict.fromkeys(hours))
    found: dict[str, list[Any]] = {"time": list(days)}
    for name in names:
        by_day: dict[str, list[float]] = {day: [] for day in days}
        for day, value in zip(hours, _field(hourly, name), strict=True):
            if value is not None:
                by_day[day].append(value)
        found[name] = [round(fmean(v), 1) if v else None for v in by_day.values()]
    return found
