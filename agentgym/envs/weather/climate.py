"""The weather of a place, day by day for three years: invented, plausible, the same for ever.

A place's means follow from latitude, height, the distance to the sea and its region; around them
warm and cold spells pass from day to day, rain comes in runs of days and falls as snow when it is
cold, and the air is cleaner after rain and worse in winter. All chance is one hash of the place's
coordinates, so a day is what it is whoever asks, and whether as a forecast, as the present or as
history. A place is computed when it is first asked for and kept.

Units are open-meteo's: degrees Celsius, millimetres of rain, centimetres of snow, micrograms of
particles a cubic metre, and the European air quality index.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import struct
from collections.abc import Iterator
from datetime import date, timedelta
from functools import cache, lru_cache
from typing import NamedTuple

from agentgym.envs.weather.places import Place
from agentgym.envs.weather.regions import SMOG, Region, region_of

FIRST = date(2022, 1, 1)
LAST = date(2024, 12, 31)
DAYS = (LAST - FIRST).days + 1

SNOW_CM = 0.7
"""Centimetres of snow a millimetre of water makes, as open-meteo counts."""

_LAPSE = 6.0 / 1000.0  # kelvin a metre
_PERSISTENCE = 0.72  # of a day's anomaly into the next
_RUN = 0.35  # of a day's being wet into the next
_DRAWS = 11  # random numbers a day

# Steps of the European index, 20 points each, open at the end (open-meteo's table).
_PM2_5 = (0.0, 10.0, 20.0, 25.0, 50.0, 75.0, 800.0)
_PM10 = (0.0, 20.0, 40.0, 50.0, 100.0, 150.0, 1200.0)


class Weather(NamedTuple):
    """The days of a place from `FIRST`, one value a day.

    Attributes:
        highest: the day's highest temperature.
        lowest: its lowest temperature.
        mean: its mean temperature.
        rain: its rain.
        snow: its new snow.
        pm2_5: fine particles.
        pm10: particles.
        aqi: the European air quality index.
    """

    highest: tuple[float, ...]
    lowest: tuple[float, ...]
    mean: tuple[float, ...]
    rain: tuple[float, ...]
    snow: tuple[float, ...]
    pm2_5: tuple[float, ...]
    pm10: tuple[float, ...]
    aqi: tuple[int, ...]


class _Day(NamedTuple):
    highest: float
    lowest: float
    mean: float
    rain: float
    snow: float
    pm2_5: float
    pm10: float
    aqi: int


@lru_cache(maxsize=512)
def weather_of(place: Place) -> Weather:
    """Return the weather of a place."""
    return Weather(*zip(*_days(place), strict=True))


def day_index(day: date) -> int:
    """Return a day's position in the arrays of `Weather`; outside 0 to `DAYS - 1` there is none."""
    return (day - FIRST).days


def air_quality_index(pm2_5: float, pm10: float) -> int:
    """Return the European air quality index of two particle loads: the worse one's.

    >>> air_quality_index(10.0, 12.0), air_quality_index(15.0, 45.0)
    (20, 50)
    """
    return round(max(_points(pm2_5, _PM2_5), _points(pm10, _PM10)))


def _points(load: float, steps: tuple[float, ...]) -> float:
    for i, (low, high) in enumerate(itertools.pairwise(steps)):
        if load <= high:
            return 20 * (i + (load - low) / (high - low))
    return 120.0


def yearly_mean(place: Place, region: Region) -> float:
    """Return the mean temperature of a place's year."""
    away = max(0.0, abs(place.latitude) - 12.0)
    sea_level = 26.8 - 0.0115 * away**2 if away < 48 else 0.3 - 0.55 * (away - 48)
    return sea_level + region.warmer - _LAPSE * place.elevation


def yearly_swing(place: Place, region: Region) -> float:
    """Return half the difference of the warmest and the coldest time of the year."""
    inland = place.coast_km / (place.coast_km + 250.0)
    return 0.27 * abs(place.latitude) * (0.62 + 0.5 * inland) * region.seasons + 0.4


def _days(place: Place) -> Iterator[_Day]:
    region = region_of(place.latitude, place.longitude)
    mean, swing = yearly_mean(place, region), yearly_swing(place, region)
    inland = place.coast_km / (place.coast_km + 250.0)
    dryness = 1.0 / (1.0 + region.rain / 400.0)
    restless = 0.5 + 0.05 * abs(place.latitude) * (0.6 + 0.5 * inland)
    smog = SMOG.get(place.code, 14.0) * (0.45 + 0.09 * math.log10(max(place.population, 1000)))
    anomaly, wet, haze = 0.0, False, 0.0
    drawn = _chance(place)
    for i, (angle, (likely, amount)) in enumerate(
        zip(_seasons(place.latitude >= 0), _precipitation(region), strict=True)
    ):
        a, b, c, d, e, f, g, h, j, k, lean = drawn[i * _DRAWS : (i + 1) * _DRAWS]
        # The sum of three draws is near enough to a bell; doubled, its variance is 1.
        anomaly = _PERSISTENCE * anomaly + restless * (1.15 - 0.35 * angle) * 2 * (a + b + c - 1.5)
        haze = 0.6 * haze + 0.3 * 2 * (g + h + j - 1.5)
        wet = d < _RUN * wet + (1 - _RUN) * likely
        water = -amount * math.log(1.0 - e) * wet
        span = (6.5 + 6.0 * dryness + 2.5 * inland) * (0.75 + 0.5 * f) * (0.65 if wet else 1.0)
        centre = mean + swing * angle + anomaly - 0.8 * (wet and angle > 0)
        fine = smog * math.exp(haze) * (1.0 - 0.35 * angle) * (0.7 if water > 1.0 else 1.0)
        fine = round(max(fine, 1.0), 1)
        coarse = round(fine * (1.4 + 1.6 * dryness * k), 1)
        yield _measured(centre, span, water, fine, coarse, lean)


def _measured(
    centre: float, span: float, water: float, fine: float, coarse: float, lean: float
) -> _Day:
    """Return a day as instruments give it: one decimal, rain or snow by the temperature."""
    frozen = min(1.0, max(0.0, (1.6 - centre) / 2.6))
    return _Day(
        round(centre + span * (0.46 + 0.08 * lean), 1),
        round(centre - span * (0.54 - 0.08 * lean), 1),
        round(centre, 1),
        round(water * (1.0 - frozen), 1),
        round(water * frozen * SNOW_CM, 1),
        fine,
        coarse,
        air_quality_index(fine, coarse),
    )


@cache
def _days_of_year() -> tuple[int, ...]:
    return tuple((FIRST + timedelta(i)).timetuple().tm_yday for i in range(DAYS))


@cache
def _seasons(northern: bool) -> tuple[float, ...]:
    """Return for each day -1 in the middle of winter to 1 in the middle of summer."""
    sign = -1.0 if northern else 1.0
    return tuple(sign * math.cos(2 * math.pi * (day - 20) / 365.25) for day in _days_of_year())


@cache
def _precipitation(region: Region) -> tuple[tuple[float, float], ...]:
    """Return for each day the chance that it is wet, and millimetres of water if it is."""
    days = []
    for day in _days_of_year():
        wave = math.cos(2 * math.pi * (day - 30.4 * (region.wettest - 0.5)) / 365.25)
        daily = region.rain / 365.25 * max(0.02, 1.0 + region.contrast * wave)
        likely = min(0.75, 0.14 * daily**0.6 + 0.02)
        days.append((likely, daily / likely))
    return tuple(days)


def _chance(place: Place) -> list[float]:
    """Return `_DRAWS` numbers in [0, 1) a day, all from one hash of the place's coordinates."""
    key = f"agentgym weather 1 {place.latitude:.4f} {place.longitude:.4f}".encode()
    stream = hashlib.shake_256(key).digest(DAYS * _DRAWS * 4)
    return [number / 2**32 for number in struct.unpack(f">{DAYS * _DRAWS}I", stream)]
