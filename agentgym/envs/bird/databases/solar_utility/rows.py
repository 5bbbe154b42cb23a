"""The rows of a utility whose customers have solar roofs: weather, meters, bills, outages.

One year is simulated month by month from the drawn sunshine: what a roof generates is partly used
on the spot and partly exported, the rest of the demand is imported, meters only ever count up, and
a bill is its meters' differences at the customer's tariff.
"""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Any

from agentgym.core.draw import Draw
from agentgym.envs.bird.names import FAMILY_NAMES, GIVEN_NAMES

Row = tuple[Any, ...]
Rows = list[Row]

REGIONS: Rows = [
    ("N", "North Fells", 55.1),
    ("E", "East Plain", 52.4),
    ("S", "South Downs", 49.8),
    ("C", "Coast", 51.0),
]
SUNSHINE = {"N": 0.82, "E": 1.0, "S": 1.16, "C": 1.06}

# id, name, region, capacity in MVA, year built
SUBSTATIONS: Rows = [
    (1, "Alderfell", "N", 12.5, 1968),
    (2, "Brigmoor", "N", 8.0, 1979),
    (3, "Cotter's Cross", "E", 25.0, 1991),
    (4, "Drayfield", "E", 18.5, None),
    (5, "Ellsworth Main", "E", 40.0, 2006),
    (6, "Furzedown", "S", 20.0, 1984),
    (7, "Gorsehill", "S", 10.0, 2015),
    (8, "Haven Quay", "C", 31.5, 1973),
    (9, "Inchmouth", "C", 6.3, None),
    (10, "Jarrow Reach", "C", 16.0, 2019),
]
TOWNS = {
    "N": ["Alderfell", "Brigmoor"],
    "E": ["Ellsworth", "Drayfield", "Cotterby"],
    "S": ["Furzedown", "Gorsehill"],
    "C": ["Havenport", "Inchmouth"],
}
LANES = ["Sunny Bank", "Mill Lane", "High Street", "Orchard Close", "The Avenue", "Dock Road"]

# code, name, import and export price in cents per kWh, standing charge in cents per day
TARIFFS: Rows = [
    ("R1", "Home Standard", 28.4, 8.0, 45.0),
    ("R2", "Home Green", 30.1, 12.5, 42.0),
    ("R3", "Home Saver (closed)", 24.9, 4.1, 60.0),
    ("C1", "Business Flex", 24.2, 7.5, 95.0),
    ("C2", "Business Fixed", 22.8, 6.0, 120.0),
    ("I1", "Industrial", 18.9, 5.2, 480.0),
]

# id, maker, model, kind, rated watts (a battery: watt-hours), warranty in years
EQUIPMENT: Rows = [
    (1, "Helion", "H-330 Mono", "PV", 330, 20),
    (2, "Helion", "H-405 Mono", "PV", 405, 25),
    (3, "Solmara", "SM 370", "PV", 370, 25),
    (4, "Solmara", "SM 440 Bifacial", "PV", 440, 30),
    (5, "Dunholm", "String 3.6", "INV", 3600, 10),
    (6, "Dunholm", "String 6.0", "INV", 6000, 10),
    (7, "Voltari", "TriPhase 50", "INV", 50000, 12),
    (8, "Voltari", "Home Cell 7", "BAT", 7000, 10),
    (9, "Keystone", "Vault 13", "BAT", 13500, 12),
    (10, "Helion", "H-500 Max", "PV", 500, 30),
]

# Demand in kWh a month, by type of customer: mean and spread.
DEMAND = {"R": (340.0, 0.3), "C": (2600.0, 0.4), "I": (34000.0, 0.3)}
HEATING = [1.35, 1.28, 1.12, 0.98, 0.86, 0.8, 0.82, 0.82, 0.9, 1.0, 1.18, 1.32]
PAY = ["Direct Debit", "direct debit", "DIRECT DEBIT", "Card", "card ", "Cash", "N/A"]
FAULTS = ["INV-01", "INV-07", "PV-12", "PV-03", "BAT-02", "MTR-05", "inv-01", "none", None]
FIRMS = ["Bakery", "Dairy", "Garage", "Hotel", "Nursery", "Brewery", "Clinic", "School", "Market"]
YEAR = 2023


def _season(day: int) -> float:
    """From 0 at midwinter to 1 at midsummer, by a curve any machine computes alike."""
    away = min(1.0, abs(day - 172) / 182.5)
    return 1.0 - away * away * (3.0 - 2.0 * away)


def _weather(draw: Draw) -> Rows:
    """Daily irradiance with a season, and runs of dull days; the sensors fail now and then."""
    rows: Rows = []
    for region_cd, _, _ in REGIONS:
        cloud = 0.6
        for day in range(365):
            moment = date(YEAR, 1, 1) + timedelta(days=day)
            season = _season(day)
            cloud = min(1.0, max(0.18, 0.6 * cloud + 0.4 * (0.15 + 0.85 * draw.unit()) + 0.05))
            irradiance: int | None = round(SUNSHINE[region_cd] * (900 + 6100 * season) * cloud)
            peak: float | None = round(2 + 21 * season + 3 * draw.bell() + 4 * (cloud - 0.6), 1)
            if draw.chance(0.012):
                irradiance = None
            if draw.chance(0.015):
                peak = None
            rows.append((region_cd, moment.isoformat(), irradiance, peak))
    return rows


def _customers(draw: Draw) -> Rows:
    rows: Rows = []
    for index in range(101):
        kind = draw.weighted(["R", "C", "I"], [76, 18, 6]) if index > 3 else "RCIR"[index]
        family = draw.pick(FAMILY_NAMES)
        if kind == "R":
            name, tariff = (
                f"{draw.pick(GIVEN_NAMES)} {family}",
                draw.weighted(["R1", "R2", "R3"], [55, 33, 12]),
            )
        elif kind == "C":
            name, tariff = f"{family} {draw.pick(FIRMS)}", draw.weighted(["C1", "C2"], [64, 36])
        else:
            name, tariff = f"{family} {draw.pick(['Foundry', 'Mills', 'Ceramics'])} Ltd", "I1"
        since = date(2009, 2, 1) + timedelta(days=draw.between(0, 4900))
        method = None if draw.chance(0.05) else draw.weighted(PAY, [42, 9, 5, 22, 6, 10, 4])
        paperless = int(draw.chance(0.63))
        rows.append((2001 + index, name, kind, tariff, since.isoformat(), method, paperless))
    return rows


def _sites(draw: Draw, customers: Rows) -> Rows:
    region_of = {row[0]: row[2] for row in SUBSTATIONS}
    rows: Rows = []
    for customer in customers:
        count = 1 if customer[2] == "R" else draw.weighted([1, 2, 3], [72, 20, 8])
        if draw.chance(0.05):
            count = 0  # Signed up, not connected yet.
        for _ in range(count):
            sub = draw.weighted(range(1, 11), [6, 4, 18, 10, 24, 12, 5, 13, 3, 5])
            usual = {"R": 58.0, "C": 420.0, "I": 2900.0}[customer[2]]
            area = round(usual * (0.6 + 0.8 * draw.unit()), 1)
            roof = area if draw.chance(0.93) else None
            address = f"{draw.between(1, 180)} {draw.pick(LANES)}"
            town = draw.pick(TOWNS[region_of[sub]])
            rows.append((301 + len(rows), customer[0], sub, address, town, roof))
    return rows


def _installations(draw: Draw, sites: Rows, kinds: dict[int, str]) -> tuple[Rows, dict[int, float]]:
    """Panels, inverters and batteries, and the kilowatts of panels standing at each site."""
    rows: Rows = []
    peak: dict[int, float] = {}
    watts = {row[0]: row[4] for row in EQUIPMENT}
    for site in sites:
        kind = kinds[site[1]]
        if draw.chance(0.12):
            continue  # A customer of the grid only.
        model = draw.weighted([1, 2, 3, 4], [30, 28, 26, 16])
        count = {"R": draw.between(6, 22), "C": draw.between(40, 160), "I": draw.between(400, 1400)}
        placed = date(2012, 3, 1) + timedelta(days=draw.between(0, 3900))
        tilt: int | None = draw.pick([15, 20, 30, 30, 35, 40]) if draw.chance(0.9) else None
        azimuth: int | None = draw.pick([90, 135, 180, 180, 180, 225, 270])
        removed: str | None = None
        first = model
        if placed.year < 2016 and draw.chance(0.4):
            gone = date(2021, 5, 1) + timedelta(days=draw.between(0, 500))
            removed, first = gone.isoformat(), 1
        where = (tilt, azimuth)
        units = count[kind]
        rows.append((len(rows) + 1, site[0], first, units, placed.isoformat(), *where, removed))
        if removed is not None:
            rows.append((len(rows) + 1, site[0], 4, units, removed, *where, None))
            model = 4
        peak[site[0]] = units * watts[model] / 1000
        inverter = 5 if peak[site[0]] < 4.5 else 6 if kind == "R" else 7
        number = 1 if kind == "R" else max(1, round(peak[site[0]] / 50))
        rows.append(
            (len(rows) + 1, site[0], inverter, number, placed.isoformat(), None, None, None)
        )
        if kind == "R" and draw.chance(0.3):
            added = placed + timedelta(days=draw.between(30, 800))
            if added.year < YEAR:
                cell = draw.pick([8, 9])
                rows.append((len(rows) + 1, site[0], cell, 1, added.isoformat(), None, None, None))
    return rows, peak


class _Year:
    """Twelve months of generation, export and import, as registers and as bills."""

    def __init__(self, draw: Draw, weather: Rows) -> None:
        self.draw = draw
        self.meters: Rows = []
        self.readings: Rows = []
        self.bills: Rows = []
        self.sun: dict[tuple[str, int], float] = {}
        for region_cd, day, irradiance, _ in weather:
            key = (region_cd, int(day[5:7]))
            self.sun[key] = self.sun.get(key, 0.0) + (irradiance or 2500) / 1000

    def meter(self, site: Row, kind: str, tariff: Row, region: str, peak: float | None) -> None:
        draw = self.draw
        unit = "MWh" if kind == "I" else "kWh"
        channels = ["IMP"] if peak is None else ["IMP", "EXP", "GEN"]
        registers = {name: float(draw.between(900, 60_000)) for name in channels}
        mean, spread = DEMAND[kind]
        demand = max(0.3 * mean, mean + spread * mean * draw.bell())
        performance = min(0.92, max(0.55, 0.78 + 0.06 * draw.bell()))
        for name in channels:
            self.meters.append((f"{name[0]}{site[0]}", site[0], name, unit))
        self._read(site, registers, unit, date(YEAR, 1, 1))
        for month in range(1, 13):
            used = demand * HEATING[month - 1] * (0.88 + 0.24 * draw.unit())
            made = (peak or 0.0) * self.sun[region, month] * performance
            own = (
                min(made * (0.3 + 0.2 * draw.unit()), 0.9 * used)
                if kind == "R"
                else min(made * 0.8, 0.85 * used)
            )
            moved = {"IMP": used - own, "EXP": made - own, "GEN": made}
            for name in channels:
                registers[name] = round(registers[name] + round(moved[name]), 0)
            after = date(YEAR + month // 12, month % 12 + 1, 1)
            self._read(site, registers, unit, after)
            exported = round(moved["EXP"]) if peak is not None else 0
            self._bill(site, tariff, month, after, round(moved["IMP"]), exported)

    def _read(self, site: Row, registers: dict[str, float], unit: str, day: date) -> None:
        quality = self.draw.weighted(["A", "E"], [93, 7])
        for name, value in registers.items():
            shown = value / 1000 if unit == "MWh" else value
            self.readings.append((f"{name[0]}{site[0]}", day.isoformat(), shown, quality))

    def _bill(
        self, site: Row, tariff: Row, month: int, after: date, bought: int, sold: int
    ) -> None:
        draw = self.draw
        days = (after - date(YEAR, month, 1)).days
        amount = round(bought * tariff[2] - sold * tariff[3] + days * tariff[4])
        due = after + timedelta(days=20)
        paid: str | None = (after + timedelta(days=draw.between(4, 20))).isoformat()
        if draw.chance(0.12):
            paid = (due + timedelta(days=1 + int(abs(18 * draw.bell())))).isoformat()
        if draw.chance(0.02 + 0.01 * month * (month > 10)):
            paid = None
        bill_id = 600_001 + len(self.bills)
        period = f"{YEAR}-{month:02d}"
        self.bills.append((bill_id, site[0], period, bought, sold, amount, due.isoformat(), paid))


def _outages(draw: Draw) -> Rows:
    rows: Rows = []
    causes = ["WX", "EQ", "ANI", "DIG", "TREE", None]
    moment = datetime(YEAR, 1, 3, 6)
    while moment.year == YEAR:
        sub = draw.weighted(range(1, 11), [16, 14, 8, 9, 7, 8, 6, 12, 15, 3])
        planned = draw.chance(0.28)
        minutes = draw.between(60, 300) if planned else 12 + int(abs(150 * draw.bell()))
        cause = "MNT" if planned else draw.weighted(causes, [30, 22, 8, 10, 20, 10])
        end: str | None = (moment + timedelta(minutes=minutes)).strftime("%Y-%m-%d %H:%M")
        if draw.chance(0.03):
            end = None
        start = moment.strftime("%Y-%m-%d %H:%M")
        hit = 10 + int(abs(700 * draw.bell()))
        rows.append((len(rows) + 1, sub, start, end, cause, hit, "Y" if planned else "N"))
        moment += timedelta(minutes=draw.between(400, 7000))
    return rows


def _visits(draw: Draw, sites: Rows) -> Rows:
    """Technicians' visits; the contractor's log of the first half-year has day/month/year."""
    crew = [f"{draw.pick(GIVEN_NAMES)[0]}. {family}" for family in draw.sample(FAMILY_NAMES, 7)]
    drawn: list[date] = sorted(
        date(YEAR, 1, 2) + timedelta(days=draw.between(0, 360)) for _ in range(190)
    )
    rows: Rows = []
    for index, day in enumerate(drawn):
        site = sites[int(len(sites) * draw.unit() * draw.unit() * draw.unit())]
        text = day.strftime("%d/%m/%Y") if day.month < 7 else day.isoformat()
        minutes: int | None = 15 * draw.between(2, 18) if draw.chance(0.93) else None
        fault = draw.weighted(FAULTS, [18, 10, 12, 8, 8, 8, 14, 12, 10])
        cost = 4500 + 95 * (minutes or 60) + (draw.between(0, 40_000) if fault else 0)
        tech = draw.weighted(crew, [26, 20, 16, 14, 11, 8, 5])
        rows.append((7001 + index, site[0], text, tech, minutes, fault, cost))
    return rows


def populate(draw: Draw) -> Iterator[tuple[str, Rows]]:
    """Yields (table, rows) in an order that respects the foreign keys."""
    weather = _weather(draw)
    customers = _customers(draw)
    sites = _sites(draw, customers)
    kinds = {row[0]: row[2] for row in customers}
    installations, peak = _installations(draw, sites, kinds)
    tariffs = {row[0]: row for row in TARIFFS}
    tariff_of = {row[0]: tariffs[row[3]] for row in customers}
    region_of = {row[0]: row[2] for row in SUBSTATIONS}
    year = _Year(draw, weather)
    for site in sites:
        year.meter(site, kinds[site[1]], tariff_of[site[1]], region_of[site[2]], peak.get(site[0]))
    yield "regions", REGIONS
    yield "substations", SUBSTATIONS
    yield "tariffs", TARIFFS
    yield "customers", customers
    yield "sites", sites
    yield "equipment", EQUIPMENT
    yield "installations", installations
    yield "meters", year.meters
    yield "readings", year.readings
    yield "weather", weather
    yield "bills", year.bills
    yield "outages", _outages(draw)
    yield "visits", _visits(draw, sites)
