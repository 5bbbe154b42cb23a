"""What latitude, height and the sea do not tell of a climate: a coarse map, written by us.

Each region is a box; the first that holds a place applies. Its figures are round ones, near to the
means of climate atlases: how much warmer or colder than its latitude it is, how strong its seasons
are, how much falls in a year and when. They make the invented weather plausible; no place's record
is reproduced.
"""

from __future__ import annotations

from typing import NamedTuple


class Region(NamedTuple):
    """A box of the map.

    Attributes:
        name: what it is.
        south: southern edge, degrees north.
        north: northern edge.
        west: western edge, degrees east.
        east: eastern edge.
        warmer: kelvin above the mean of its latitude at sea level.
        seasons: factor of the yearly swing of temperature.
        rain: precipitation of a year in millimetres.
        wettest: the wettest month, 1 to 12.
        contrast: how much more falls then than on average, 0 (even) to 1 (none in the dry half).
    """

    name: str
    south: float
    north: float
    west: float
    east: float
    warmer: float
    seasons: float
    rain: float
    wettest: int
    contrast: float


REGIONS = tuple(
    Region(*row)
    for row in (
        # America
        ("Alaska and the Yukon", 55, 75, -170, -120, 2.5, 1.0, 400, 8, 0.4),
        ("Hawaii", 15, 25, -165, -150, 0.0, 0.7, 550, 1, 0.5),
        ("Pacific Northwest", 43, 55, -130, -120.5, 0.0, 0.75, 1050, 12, 0.75),
        ("California coast", 30, 43, -125, -119.5, -4.0, 0.55, 450, 1, 0.95),
        ("Baja and southern California", 28, 36, -119.5, -115.5, -2.5, 0.6, 280, 2, 0.9),
        ("American deserts", 29, 42, -119.5, -104.9, 3.5, 1.15, 240, 8, 0.3),
        ("Rocky Mountains", 36, 55, -120.5, -104, -0.5, 1.0, 400, 5, 0.35),
        ("Great Plains and prairies", 36, 56, -104, -93, -4.0, 1.4, 650, 6, 0.6),
        ("Northern Canada", 55, 85, -120, -60, -3.0, 1.25, 330, 8, 0.5),
        ("Gulf and Southeast", 24, 36, -104, -75, -1.5, 0.9, 1250, 7, 0.2),
        ("Great Lakes and Northeast", 36, 55, -93, -52, -3.5, 1.2, 1050, 7, 0.1),
        ("Mexican plateau", 14, 29, -115.5, -95, 3.0, 0.6, 750, 8, 0.9),
        ("Caribbean and Central America", 7, 27, -95, -59, 0.0, 0.6, 1400, 9, 0.5),
        ("Peruvian coast", -19, -4, -82, -75.5, -6.0, 0.8, 25, 7, 0.3),
        ("Atacama", -30, -18, -72, -68.7, -6.0, 0.7, 15, 7, 0.3),
        ("Altiplano", -24, -9, -75.5, -63.5, 4.5, 0.5, 650, 1, 0.9),
        ("Northern Andes", -5, 12, -80, -71, 2.0, 0.3, 1100, 4, 0.3),
        ("Central Chile", -38, -30, -74, -69.5, -1.5, 0.8, 400, 6, 0.95),
        ("Cuyo", -38, -28, -69.5, -65, 0.0, 1.1, 240, 1, 0.6),
        ("Patagonia", -56, -38, -76, -62, -1.5, 0.55, 550, 6, 0.3),
        ("Amazon", -14, 6, -75, -48, 0.0, 0.5, 2200, 3, 0.5),
        ("Brazilian northeast", -18, -2, -48, -34, 0.0, 0.4, 1300, 5, 0.6),
        ("Brazilian highlands", -24, -14, -63.5, -39, -0.5, 0.7, 1450, 1, 0.85),
        ("La Plata", -40, -24, -66, -47, -2.0, 1.0, 1150, 2, 0.25),
        # Europe and northern Asia
        ("Iceland", 62, 68, -26, -12, 6.5, 0.55, 850, 11, 0.3),
        ("Norwegian coast", 57, 72, 3, 20, 7.0, 0.65, 1400, 10, 0.35),
        ("British Isles", 49.5, 60, -11, 2, 2.5, 0.55, 900, 11, 0.2),
        ("Alps", 45.5, 48, 6, 15, 0.5, 0.9, 1100, 6, 0.25),
        ("Northern Europe", 54, 72, 8, 40, 2.5, 1.0, 620, 8, 0.3),
        ("Western Europe", 43.2, 56, -10, 15, 2.0, 0.8, 780, 10, 0.1),
        ("Mediterranean", 30.5, 46, -10, 42, 0.5, 0.95, 520, 12, 0.8),
        ("Eastern Europe", 44, 62, 15, 60, 0.0, 1.2, 600, 7, 0.3),
        ("Eastern Siberia", 50, 75, 100, 150, -9.5, 1.9, 350, 7, 0.75),
        ("Western Siberia", 50, 75, 60, 100, -3.0, 1.5, 450, 7, 0.5),
        ("Central Asia", 35.5, 50, 45, 82, -0.5, 1.4, 300, 4, 0.5),
        ("Tarim and Gobi", 36, 50, 75, 112, -3.0, 1.7, 160, 7, 0.8),
        # Southern and eastern Asia
        ("Ladakh", 33.6, 36, 75, 80, 5.0, 1.3, 110, 8, 0.3),
        ("Iran and Anatolia", 27, 42, 37, 61, 0.5, 1.25, 260, 2, 0.85),
        ("Arabia", 12, 33, 34, 60, 3.0, 1.0, 90, 2, 0.7),
        ("Indus valley", 23, 36, 60, 74, 2.0, 1.3, 380, 8, 0.9),
        ("Tibet", 28.2, 36, 78, 100, 6.0, 1.0, 430, 7, 0.95),
        ("Indian monsoon", 6, 31, 68, 89, 0.5, 0.7, 1100, 7, 0.97),
        ("Himalaya foot", 26, 36, 74, 98, -0.5, 0.9, 1500, 7, 0.95),
        ("Bengal and Burma", 9, 28, 88, 98.5, 0.5, 0.7, 2000, 7, 0.95),
        ("Yunnan", 23, 29, 98, 106, -1.0, 0.8, 1000, 7, 0.9),
        ("Manchuria", 40, 55, 118, 136, -7.0, 1.75, 560, 7, 0.9),
        ("Northern China and Korea", 33, 42, 102, 130, -3.5, 1.6, 750, 7, 0.85),
        ("Southern China", 18, 34, 104, 123, -1.5, 1.5, 1500, 6, 0.65),
        ("Japan", 24, 46, 128, 146, -3.0, 1.25, 1500, 7, 0.3),
        ("Indochina", 9, 23, 97, 110, 0.5, 0.6, 1500, 9, 0.85),
        ("Malay islands", -4, 8, 95, 141, 0.0, 0.3, 2400, 12, 0.2),
        ("Java and Timor", -11, -4, 95, 141, 0.5, 0.3, 1800, 1, 0.75),
        ("Philippines", 5, 21, 117, 127, 0.5, 0.5, 2000, 8, 0.6),
        # Africa
        ("Sahara", 17, 34, -17, 36, 1.0, 1.25, 40, 10, 0.3),
        ("Sahel", 10.5, 17, -18, 40, 2.0, 0.6, 600, 8, 0.98),
        ("Ethiopian highlands", 4, 15, 34, 43, 2.5, 0.3, 1100, 8, 0.85),
        ("Horn of Africa", -2, 13, 40, 52, 0.5, 0.3, 250, 4, 0.6),
        ("Guinea coast", 3, 10.5, -15, 15, 0.0, 0.3, 1700, 7, 0.65),
        ("Congo", -6, 5, 8, 30, 0.0, 0.25, 1600, 11, 0.35),
        ("East Africa", -12, 5, 29, 42, 2.0, 0.35, 1000, 4, 0.6),
        ("Namib", -30, -15, 10, 16, -5.0, 0.7, 40, 3, 0.4),
        ("Cape", -36, -31, 16, 22, -3.5, 0.8, 520, 7, 0.75),
        ("Southern Africa", -36, -6, 11, 51, 0.5, 0.8, 750, 1, 0.85),
        # Oceania
        ("Northern Australia", -20, -9, 112, 155, 1.0, 0.6, 1600, 1, 0.95),
        ("Australian deserts", -32, -20, 117, 148, 1.5, 1.2, 260, 2, 0.4),
        ("Southwestern Australia", -36, -28, 112, 118, -2.5, 0.9, 700, 7, 0.9),
        ("Southeastern Australia", -44, -24, 117, 155, -2.0, 0.85, 800, 5, 0.15),
        ("New Zealand", -48, -33, 165, 180, -3.5, 0.7, 950, 7, 0.15),
    )
)

ELSEWHERE = Region("elsewhere", -90, 90, -180, 180, 0.0, 0.7, 1100, 7, 0.3)
"""Islands and what no box holds; in the south the wettest month is January."""


def region_of(latitude: float, longitude: float) -> Region:
    """Return the region of a point."""
    for region in REGIONS:
        if region.south <= latitude <= region.north and region.west <= longitude <= region.east:
            return region
    return ELSEWHERE if latitude >= 0 else ELSEWHERE._replace(wettest=1)


SMOG: dict[str, float] = {
    "BD": 70, "PK": 65, "IN": 55, "NP": 40, "TJ": 40, "IQ": 42, "AE": 40, "EG": 42, "SA": 42,
    "QA": 40, "KW": 42, "BH": 42, "OM": 34, "CN": 32, "MN": 34, "ID": 32, "VN": 27, "UZ": 29,
    "IR": 30, "NG": 38, "GH": 32, "CM": 40, "TD": 55, "NE": 45, "ML": 38, "BF": 38, "SN": 32,
    "SD": 32, "CD": 34, "UG": 30, "RW": 30, "ET": 24, "KE": 18, "ZA": 21, "PE": 21, "CL": 20,
    "MX": 20, "TR": 19, "TH": 22, "LA": 26, "MM": 28, "KH": 19, "KR": 18, "TW": 15, "PL": 17,
    "RS": 20, "BA": 22, "MK": 20, "BG": 17, "IL": 17, "JP": 9.5, "FR": 9.5, "IT": 13, "DE": 10,
    "US": 8.5, "CA": 7.5, "GB": 8.5, "AU": 5.5, "NZ": 6, "NO": 6, "SE": 6, "FI": 5.5, "IS": 5,
    "EE": 6, "IE": 7, "PT": 8, "BR": 12, "AR": 13, "CO": 14, "RU": 11,
}  # fmt: skip
"""PM2.5 of a year in micrograms a cubic metre by country, round figures; elsewhere 14."""
