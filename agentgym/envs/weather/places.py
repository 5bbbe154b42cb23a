"""The places: names, coordinates, elevation, and how far the sea is.

422 towns and cities of GeoNames (CC BY 4.0), chosen by `scripts/weather_places.py`. Some share a
name, as places do, so a name may lead to several. A point belongs to the nearest place within
50 km, the distance within which the published tasks take coordinates for right.
"""

from __future__ import annotations

import json
import math
import unicodedata
from bisect import bisect_left
from collections import defaultdict
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

NEAR_KM = 50.0
"""A point this near to a place has its weather."""

EARTH_KM = 6371.0
"""Mean radius of the earth."""


class Place(NamedTuple):
    """A town or city.

    Attributes:
        name: its name in English.
        region: the state, in the United States; else "".
        country: the country's name.
        code: the country's ISO code, two letters.
        latitude: degrees north.
        longitude: degrees east.
        elevation: metres above the sea.
        population: number of people.
        coast_km: kilometres to the sea, at most 1,000.
    """

    name: str
    region: str
    country: str
    code: str
    latitude: float
    longitude: float
    elevation: int
    population: int
    coast_km: int

    @property
    def full_name(self) -> str:
        """Name, region and country: "Portland, Oregon, United States"."""
        return ", ".join(part for part in (self.name, self.region, self.country) if part)


@cache
def load_places() -> tuple[Place, ...]:
    """Return all places, by country, then name."""
    text = files(__package__).joinpath("data", "places.json").read_text(encoding="utf-8")
    return tuple(Place(*row) for row in json.loads(text))


@lru_cache(maxsize=4096)
def find_places(name: str) -> tuple[Place, ...]:
    """Return the places of a name, the largest first; "Portland, Oregon" names one of several.

    >>> [p.country for p in find_places("london")]
    ['United Kingdom', 'Canada']
    >>> [p.code for p in find_places("London, Canada")]
    ['CA']
    """
    first, *more = [folded(part) for part in name.split(",")]
    named = _by_name().get(first, [])
    return tuple(p for p in named if all(part in _qualifiers(p) for part in more if part))


def place_at(latitude: float, longitude: float) -> Place | None:
    """Return the nearest place within 50 km, or None."""
    exact = _by_point().get((latitude, longitude))
    return exact if exact is not None else _near(latitude, longitude)


def nearest(latitude: float, longitude: float) -> tuple[Place, float]:
    """Return the nearest place, however far, and the kilometres to it."""
    place = min(
        load_places(), key=lambda p: distance_km(latitude, longitude, p.latitude, p.longitude)
    )
    return place, distance_km(latitude, longitude, place.latitude, place.longitude)


def distance_km(latitude1: float, longitude1: float, latitude2: float, longitude2: float) -> float:
    """Return the great-circle distance of two points in kilometres (haversine).

    >>> round(distance_km(52.52, 13.41, 48.85, 2.35))
    878
    """
    a, b = math.radians(latitude1), math.radians(latitude2)
    up, along = b - a, math.radians(longitude2 - longitude1)
    half = math.sin(up / 2) ** 2 + math.cos(a) * math.cos(b) * math.sin(along / 2) ** 2
    return 2 * EARTH_KM * math.asin(min(1.0, math.sqrt(half)))


def folded(name: str) -> str:
    """Return a name without accents, case and punctuation, for looking it up."""
    text = unicodedata.normalize("NFKD", name).casefold()
    text = "".join(c for c in text if not unicodedata.combining(c))
    return " ".join("".join(c if c.isalnum() else " " for c in text).split())


@lru_cache(maxsize=4096)
def _near(latitude: float, longitude: float) -> Place | None:
    latitudes, ordered = _by_latitude()
    reach = NEAR_KM / 111.0
    found = [
        (distance_km(latitude, longitude, p.latitude, p.longitude), p)
        for p in ordered[bisect_left(latitudes, latitude - reach) :][:60]
        if p.latitude <= latitude + reach
    ]
    inside = [pair for pair in found if pair[0] <= NEAR_KM]
    return min(inside)[1] if inside else None


@cache
def _by_latitude() -> tuple[list[float], list[Place]]:
    ordered = sorted(load_places(), key=lambda p: p.latitude)
    return [p.latitude for p in ordered], ordered


@cache
def _by_point() -> dict[tuple[float, float], Place]:
    return {(p.latitude, p.longitude): p for p in load_places()}


@cache
def _by_name() -> dict[str, list[Place]]:
    found: dict[str, list[Place]] = defaultdict(list)
    for place in sorted(load_places(), key=lambda p: -p.population):
        found[folded(place.name)].append(place)
    return dict(found)


@cache
def _qualifiers(place: Place) -> frozenset[str]:
    usual = {
        "US": ("usa", "us", "america"),
        "GB": ("uk", "great britain", "england"),
        "AE": ("uae",),
    }
    return frozenset(
        map(folded, (place.region, place.country, place.code, *usual.get(place.code, ())))
    )


@cache
def known_names() -> tuple[str, ...]:
    """Return every name once, the largest places first."""
    by_size = sorted(load_places(), key=lambda p: -p.population)
    return tuple(dict.fromkeys(p.name for p in by_size))
