"""The rows of a racing series: four seasons of qualifying, races, pit stops and standings.

Each race is played: the pace of car and driver decides qualifying, the grid follows from it and the
penalties, the finishing order from pace, luck and failures, the points from the order, and the
standings from the points. So every table can be checked against the others.
"""

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

from agentgym.core.draw import Draw
from agentgym.envs.bird.names import FAMILY_NAMES, GIVEN_NAMES

Row = tuple[Any, ...]
Rows = list[Row]

SEASONS: Rows = [
    (2020, "Continental Grand Prix Championship 2020", 0, 41_000),
    (2021, "Continental Grand Prix Championship 2021", 0, 43_500),
    (2022, "Continental Grand Prix Championship 2022", 1, 48_200),
    (2023, "Continental Grand Prix Championship 2023", 1, None),
]
# id, reference, name, country, length, unit, turns, altitude in metres, name of the race
CIRCUITS: Rows = [
    (1, "alvorada", "Autódromo da Alvorada", "Portugal", 4.653, "km", 15, 108, "Portuguese"),
    (2, "brackmoor", "Brackmoor Park", "UK", 3.661, "mi", 18, 153, "British"),
    (3, "corvara", "Circuito di Corvara", "Italy", 5.793, "km", 11, 162, "Italian"),
    (4, "desierto", "Circuito del Desierto", "Spain", 4.657, "km", 14, 112, "Spanish"),
    (5, "eifelwald", "Eifelwaldring", "Germany", 5.148, "km", 17, 578, "German"),
    (6, "fjordbanen", "Fjordbanen", "Norway", 4.026, "km", 12, None, "Norwegian"),
    (7, "grandepre", "Circuit de la Grande-Prée", "France", 5.842, "km", 15, 432, "French"),
    (8, "hakuba", "Hakuba Speedway", "Japan", 5.807, "km", 18, 690, "Japanese"),
    (9, "ironlake", "Iron Lake International", "USA", 3.426, "mi", 20, 161, "American"),
    (10, "sierra", "Parque Sierra Nueva", "spain", 3.85, "km", 13, 660, "Madrid"),
    (11, "kopje", "Kopje Valley", "South Africa", 4.529, "km", 16, 1540, "South African"),
    (12, "lagoverde", "Lago Verde", "Brazil", 4.309, "km", None, 785, "Brazilian"),
    (13, "montclair", "Montclair Street Circuit", "Monaco", 3.337, "km", 19, 7, "Monegasque"),
    (14, "northgate", "Northgate Speed Park", "UK ", 2.492, "mi", 10, 88, "Northern"),
    (15, "oasis", "Oasis International", "Bahrain", 5.412, "km", 15, 7, "Gulf"),
    (16, "povazie", "Považie Ring", "Slovakia", 5.922, "km", 14, 120, "Slovak"),
]
# id, name, nation, engine, first entry, pace in each season (seconds a lap; less is faster)
TEAMS: Rows = [
    (1, "Aurora Racing", "GBR", "Halberd", 1998, (0.0, 0.1, 0.25, 0.1)),
    (2, "Scuderia Veloce", "ITA", "Veloce", 1962, (0.2, 0.0, 0.1, 0.3)),
    (3, "Kestrel Motorsport", "GBR", "Halberd", 2005, (0.45, 0.35, 0.0, 0.0)),
    (4, "Écurie Lumière", "FRA", "Lumiere", 1979, (0.55, 0.6, 0.5, 0.45)),
    (5, "Nordwind", "DEU", "Nordwind", 1991, (0.6, 0.45, 0.6, 0.75)),
    (6, "Sakura GP", "JPN", "Kaze", 2001, (0.7, 0.75, 0.55, 0.5)),
    (7, "Delta Squadra", "ITA", "Veloce", 2010, (0.95, 0.9, 0.85, 0.95)),
    (8, "Red Mesa", "USA", "Halberd", 2016, (1.1, 1.2, 1.0, 0.8)),
    (9, "Highland Grand Prix", "GBR", "Kaze", 1983, (1.25, 1.05, 1.2, 1.15)),
    (10, "Rotor", "CHE", "Veloce", 1993, (1.35, 1.3, 1.3, 1.4)),
]
NATIONS = ["GBR", "ITA", "DEU", "FRA", "ESP", "FIN", "BRA", "JPN", "AUS", "USA", "NLD", None]
NATION_WEIGHTS = [20, 12, 11, 11, 9, 8, 8, 6, 5, 4, 4, 3]
POINTS = [25, 18, 15, 12, 10, 8, 6, 4, 2, 1]
FAILURES = ["Engine", "Gearbox", "Collision", "Hydraulics", "Spun off", "collision", "Brakes"]
FAILURE_WEIGHTS = [24, 14, 26, 10, 14, 6, 6]
OFFENCES = [
    ("T5", "Speeding in the pit lane"),
    ("T5", "Track limits"),
    ("T10", "Causing a collision"),
    ("G5", "Gearbox change"),
    ("REP", "Impeding another car"),
]
OFFENCE_WEIGHTS = [24, 26, 16, 22, 12]


def _clock(ms: int) -> str:
    return f"{ms // 60_000}:{ms // 1000 % 60:02d}.{ms % 1000:03d}"


def _drivers(draw: Draw) -> tuple[Rows, dict[int, float]]:
    rows: Rows = []
    pace: dict[int, float] = {}
    taken: set[str] = set()
    while len(rows) < 31:
        family = draw.pick(FAMILY_NAMES)
        code = family[:3].upper()
        if code in taken:
            continue
        taken.add(code)
        born = date(1982, 1, 1) + timedelta(days=draw.below(19 * 365))
        height = None if draw.chance(0.1) else draw.between(163, 189)
        nation = draw.weighted(NATIONS, NATION_WEIGHTS)
        pace[len(rows) + 1] = 0.22 * draw.bell() + 0.008 * len(rows)
        rows.append(
            (len(rows) + 1, code, draw.pick(GIVEN_NAMES), family, born.isoformat(), nation, height)
        )
    return rows, pace


def _seats(draw: Draw, pace: dict[int, float]) -> Rows:
    """Two regular seats a team; a driver may be replaced within a season."""
    rows: Rows = []
    numbers = dict(zip(pace, draw.sample(range(2, 99), len(pace)), strict=True))
    lineup = [1 + index for index in range(20)]
    fresh = list(range(21, 32))
    for yr, *_ in SEASONS:
        if yr > 2020:
            for index in draw.sample(range(20), draw.between(2, 3)):
                if fresh:
                    lineup[index] = fresh.pop(0)
            first, second = draw.sample(range(20), 2)
            lineup[first], lineup[second] = lineup[second], lineup[first]
        for index, driver in enumerate(lineup):
            last = None
            pay: int | None = max(300, int(9500 - 900 * (index // 2) + 2400 * draw.bell()))
            if draw.chance(0.12):
                pay = None
            if yr in (2021, 2022) and index in (yr - 2010, 2029 - yr) and fresh:
                last = draw.between(6, 11)
            rows.append((yr, driver, index // 2 + 1, numbers[driver], 1, last, pay))
            if last is not None:
                newcomer = fresh.pop(0)
                team = index // 2 + 1
                rows.append((yr, newcomer, team, numbers[newcomer], last + 1, None, None))
                lineup[index] = newcomer
    return rows


def _races(draw: Draw) -> Rows:
    """The dates of 2020 were typed as DD/MM/YYYY; the start times of that year are lost."""
    rows: Rows = []
    for yr, *_ in SEASONS:
        held = draw.sample(CIRCUITS, 14 if yr == 2020 else 16)
        day = date(yr, 3, 12) + timedelta(days=(6 - date(yr, 3, 12).weekday()) % 7)
        for rnd, circuit in enumerate(held, 1):
            length = circuit[4] * (1.609 if circuit[5] == "mi" else 1)
            half = int(yr == 2021 and rnd == 11)
            laps = int(305 / length) + 1 if not half else int(120 / length) + 1
            text = day.strftime("%d/%m/%Y") if yr == 2020 else day.isoformat()
            start = None if yr == 2020 else draw.pick(["12:00", "13:00", "14:00", "18:00"])
            wet = None if draw.chance(0.06) else int(half or draw.chance(0.18))
            name = f"{circuit[8]} Grand Prix"
            rows.append((1001 + len(rows), yr, rnd, circuit[0], name, text, start, laps, half, wet))
            day += timedelta(days=draw.pick([7, 14, 14, 14]))
    return rows


def _qualified(lap: int, speed: dict[int, float], draw: Draw) -> list[tuple[int, list[str | None]]]:
    """Return (driver, three times) in order; fifteen go on to the second part, ten to the last."""
    left = list(speed)
    order: list[tuple[int, list[str | None]]] = []
    times: dict[int, list[str | None]] = {driver: [None, None, None] for driver in left}
    for part, keep in enumerate((15, 10, 0)):
        laps = {d: lap + int(1000 * (speed[d] + 0.22 * draw.bell())) - 250 * part for d in left}
        ranked = sorted(left, key=lambda d: (laps[d], d))
        for driver in left:
            times[driver][part] = _clock(laps[driver])
        if part == 0 and draw.chance(0.12):
            times[ranked[-1]][0] = None  # No time set: last.
        order = [(driver, times[driver]) for driver in ranked[keep:]] + order
        left = ranked[:keep]
    return order


def _penalties(draw: Draw, race: int, drivers: list[int]) -> Rows:
    rows: Rows = []
    for driver in drivers:
        if draw.chance(0.055):
            code, reason = draw.weighted(OFFENCES, OFFENCE_WEIGHTS)
            points = draw.pick([1, 2, 3]) if code in ("T10", "REP") else None
            rows.append((race, driver, code, points, reason))
    return rows


def _stops(draw: Draw, race: int, driver: int, laps: int, done: int, wet: bool) -> Rows:
    count = draw.weighted([1, 2, 3, 4], [30, 52, 15, 3] if not wet else [10, 40, 35, 15])
    planned = sorted(
        {int(laps * (i + 0.6 + 0.5 * draw.unit()) / (count + 1)) for i in range(count)}
    )
    rows: Rows = []
    for lap in planned:
        if 0 < lap < done:
            spent = 21_400 + int(900 * abs(draw.bell())) + draw.below(400)
            if draw.chance(0.05):
                spent += draw.between(4000, 31_000)
            tyre = draw.weighted(["S", "M", "H", None], [28, 40, 28, 4])
            rows.append((race, driver, len(rows) + 1, lap, spent, draw.pick("IW") if wet else tyre))
    return rows


def _finish(draw: Draw, race: Row, drivers: list[int], cost: dict[int, float]) -> dict[int, Row]:
    """Return driver: (order or None, text, laps, time, fastest lap, status)."""
    laps, lap_ms = race[7], int(CIRCUITS[race[3] - 1][4] * 16_900)
    if CIRCUITS[race[3] - 1][5] == "mi":
        lap_ms = int(lap_ms * 1.609)
    lap_ms = int(lap_ms * (1.12 if race[9] else 1))
    ended: dict[int, Row] = {}
    total: dict[int, int] = {}
    for driver in drivers:
        fastest = lap_ms - 900 + int(1000 * (cost[driver] + 0.25 * draw.bell()))
        if draw.chance(0.008):
            ended[driver] = (None, "W", 0, None, None, "Did not start")
        elif draw.chance(0.15 if race[9] else 0.11):
            done = draw.below(laps)
            what = draw.weighted(FAILURES, FAILURE_WEIGHTS)
            ended[driver] = (None, "R", done, None, fastest if done > 2 else None, what)
        else:
            total[driver] = int(laps * (lap_ms + 1000 * cost[driver])) + draw.between(0, 3000)
            ended[driver] = (0, "", laps, None, fastest, "Finished")
    ranked = sorted(total, key=lambda d: (total[d], d))
    if len(ranked) > 3 and draw.chance(0.07):
        out = ranked.pop(draw.below(len(ranked)))
        ended[out] = (None, "D", laps, None, ended[out][4], "Disqualified")
    for order, driver in enumerate(ranked, 1):
        behind = total[driver] - total[ranked[0]]
        lapped = int(behind // lap_ms)
        status = "Finished" if not lapped else f"+{lapped} Lap" + ("s" if lapped > 1 else "")
        time = None if lapped else total[driver]
        ended[driver] = (order, str(order), laps - lapped, time, ended[driver][4], status)
    return ended


def _weekend(
    draw: Draw, race: Row, team_of: dict[int, int], pace: dict[int, float]
) -> tuple[Rows, Rows, Rows, Rows]:
    """Return the qualifying, results, pit stops and penalties of one race."""
    race_id, season = race[0], race[1] - 2020
    speed = {d: TEAMS[t - 1][5][season] * 0.75 + pace[d] for d, t in team_of.items()}
    circuit = CIRCUITS[race[3] - 1]
    lap_ms = int(circuit[4] * 16_300 * (1.609 if circuit[5] == "mi" else 1))
    order = _qualified(lap_ms, speed, draw)
    qualifying = [(race_id, d, i, *times) for i, (d, times) in enumerate(order, 1)]
    fined = _penalties(draw, race_id, [driver for driver, _ in order])
    moved = {row[1] for row in fined if row[2] == "G5"}
    starts = sorted((q[2] + (5.5 if q[1] in moved else 0), q[1]) for q in qualifying)
    grid = {driver: index for index, (_, driver) in enumerate(starts, 1)}
    late = {"T5": 5.0, "T10": 10.0}
    extra = {row[1]: late.get(row[2], 0.0) for row in fined}
    cost = {
        d: speed[d]
        + 0.012 * grid[d]
        + (0.3 if race[9] else 0.17) * draw.bell()
        + extra.get(d, 0.0) / race[7]
        for d in grid
    }
    ended = _finish(draw, race, list(grid), cost)
    timed = sorted((row[4], driver) for driver, row in ended.items() if row[4] is not None)
    rank = {driver: index for index, (_, driver) in enumerate(timed, 1)}
    bonus = SEASONS[season][2]
    results: Rows = []
    stops: Rows = []
    for driver in grid:
        place, text, done, time, fastest, status = ended[driver]
        points = float(POINTS[place - 1]) if place and place <= 10 else 0.0
        if bonus and rank.get(driver) == 1 and place and place <= 10:
            points += 1
        points /= 2 if race[8] else 1
        start = 0 if draw.chance(0.012) else grid[driver]
        outcome = (place, text, points, done, time, fastest, rank.get(driver), status)
        results.append((race_id, driver, team_of[driver], start, *outcome))
        stops += _stops(draw, race_id, driver, race[7], done, bool(race[9]))
    return qualifying, results, stops, fined


def _standings(races: Rows, results: Rows) -> Rows:
    """Points after each race; equal points are parted by wins, then by second places, and so on."""
    rows: Rows = []
    for yr, *_ in SEASONS:
        points: dict[int, float] = {}
        places: dict[int, list[int]] = {}
        for race in [race for race in races if race[1] == yr]:
            for row in [row for row in results if row[0] == race[0]]:
                points[row[1]] = points.get(row[1], 0.0) + row[6]
                counts = places.setdefault(row[1], [0] * 20)
                if row[4]:
                    counts[row[4] - 1] -= 1
            ranked = sorted(points, key=lambda d: (-points[d], places[d], d))
            rows += [
                (race[0], d, points[d], index, -places[d][0]) for index, d in enumerate(ranked, 1)
            ]
    return rows


def populate(draw: Draw) -> Iterator[tuple[str, Rows]]:
    """Yield (table, rows) in an order that respects the foreign keys."""
    drivers, pace = _drivers(draw)
    seats = _seats(draw, pace)
    races = _races(draw)
    qualifying: Rows = []
    results: Rows = []
    stops: Rows = []
    fined: Rows = []
    for race in races:
        present = {
            seat[1]: seat[2]
            for seat in seats
            if seat[0] == race[1] and seat[4] <= race[2] <= (seat[5] or 99)
        }
        weekend = _weekend(draw, race, present, pace)
        qualifying += weekend[0]
        results += weekend[1]
        stops += weekend[2]
        fined += weekend[3]
    yield "seasons", SEASONS
    yield "circuits", [row[:8] for row in CIRCUITS]
    yield "teams", [row[:5] for row in TEAMS]
    yield "drivers", drivers
    yield "seats", seats
    yield "races", races
    yield "qualifying", qualifying
    yield "results", results
    yield "pit_stops", stops
    yield "penalties", [(501 + index, *row) for index, row in enumerate(fined)]
    yield "standings", _standings(races, results)
