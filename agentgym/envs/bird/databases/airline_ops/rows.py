"""The rows of a small airline's spring: every aircraft flies out from its base and back.

Flights are drawn as rotations, not one by one, so that an aircraft is where its next flight
starts, a late arrival delays the way back, and a crew flies only types it is rated on.
"""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Any

from agentgym.core.draw import Draw
from agentgym.envs.bird.names import FAMILY_NAMES, GIVEN_NAMES

Row = tuple[Any, ...]
Rows = list[Row]

# iata, name, city, country, elevation in feet, minutes ahead of UTC, hub
AIRPORTS: Rows = [
    ("AVN", "Avenholt International", "Avenholt", "Norvale", 112, 60, "Y"),
    ("BRK", "Brackwater", "Brackwater", "Norvale", 24, 60, "N"),
    ("CLD", "Calder Field", "Caldermouth", "Norvale", 318, 60, "N"),
    ("DUN", "Dunmarrow", "Dunmarrow", "Norvale", 1240, 60, "N"),
    ("ELS", "Elsport", "Elsport", "Norvale", 9, 60, "N"),
    ("FEN", "Fenwick Regional", "Fenwick", "Norvale", 61, 60, "N"),
    ("GRY", "Greywall", "Greywall", "Estria", 2870, 120, "N"),
    ("HAL", "Halmere Central", "Halmere", "Estria", 405, 120, "Y"),
    ("IVO", "Ivorne", "Ivorne", "Estria", 733, 120, "N"),
    ("JAS", "Jasmund Bay", "Jasmund", "Estria", 15, 120, "N"),
    ("KOL", "Kolmar Highlands", "Kolmar", "Estria", 5312, 120, "N"),
    ("LUN", "Lunde", "Lunde", "Estria", 190, 120, "N"),
    ("MAR", "Maravel Queen Ysolde", "Maravel", "Maravia", 58, 0, "Y"),
    ("NES", "Nesforth", "Nesforth", "Maravia", 210, 0, "N"),
    ("OST", "Ostrand", "Ostrand", "Maravia", 33, 0, "N"),
    ("PEL", "Pelican Reef", "Port Pelican", "Kell Isles", 7, -60, "N"),
    ("QUA", "Quarrow", "Quarrow", "Kell Isles", 88, -60, "N"),
    ("ROS", "Rosmarin", "Rosmarin", "Maravia", 1021, 0, "N"),
    ("SKE", "Skelby", "Skelby", "Maravia", 140, 0, "N"),
    ("TAR", "Tarn Valley", "Tarnford", "Ostmark", 1905, 180, "N"),
    ("UST", "Ustara", "Ustara", "Ostmark", 612, 180, "N"),
    ("VEL", "Velden Airfield", "Velden", "Ostmark", 3410, 180, "N"),
]

# code, maker, model, economy seats, business seats, range, maximum take-off weight
TYPES: Rows = [
    ("T50", "Lindqvist", "Turbine 50", 50, 0, 860, 18600),
    ("T72", "Lindqvist", "Turbine 72", 68, 0, 825, 23000),
    ("J90", "Arcadia", "Jetline 90", 82, 8, 1900, 41500),
    ("J180", "Arcadia", "Jetline 180", 156, 16, 3300, 78000),
    ("M210", "Meridian", "M-210", 186, 20, 3900, 93500),
]

CRUISE_KT = {"T50": 265, "T72": 275, "J90": 430, "J180": 450, "M210": 455}
KG_PER_NM = {"T50": 2.3, "T72": 2.9, "J90": 4.6, "J180": 6.4, "M210": 7.3}

# base: (types flown, destinations with the distance in nautical miles)
NETWORK: dict[str, tuple[list[str], dict[str, int]]] = {
    "AVN": (
        ["T72", "J180"],
        {"BRK": 138, "CLD": 204, "DUN": 251, "ELS": 176, "HAL": 512, "MAR": 640, "PEL": 1130},
    ),
    "HAL": (
        ["T50", "J90"],
        {"GRY": 162, "IVO": 118, "JAS": 190, "KOL": 287, "TAR": 468, "UST": 530, "AVN": 512},
    ),
    "MAR": (
        ["J90", "M210"],
        {"NES": 122, "OST": 171, "ROS": 239, "QUA": 884, "PEL": 802, "AVN": 640, "UST": 1475},
    ),
}
# Routes in the timetable that are no longer flown.
DORMANT = [("AVN", "FEN", 97), ("FEN", "AVN", 97), ("HAL", "LUN", 143), ("LUN", "HAL", 143)]

DELAY_CODES: Rows = [
    ("11", "PAX", "Late check-in after deadline"),
    ("15", "PAX", "Boarding discrepancies, missing passengers"),
    ("32", "RAMP", "Loading or unloading, lack of staff"),
    ("36", "RAMP", "Fuelling or defuelling"),
    ("41", "TECH", "Aircraft defects"),
    ("46", "TECH", "Aircraft change for technical reasons"),
    ("63", "CREW", "Late crew boarding or departure procedures"),
    ("66", "CREW", "Late cabin crew boarding"),
    ("71", "WX", "Weather at departure station"),
    ("72", "WX", "Weather at destination station"),
    ("81", "ATC", "Air traffic flow restriction"),
    ("85", "ATC", "Mandatory security"),
    ("93", "REACT", "Aircraft rotation, late arrival of aircraft"),
]
FIRST_CAUSES = [code for code, *_ in DELAY_CODES if code != "93"]
CAUSE_WEIGHTS = [6, 9, 10, 5, 14, 3, 5, 4, 9, 8, 22, 2]

CHANNELS = ["Web", "web", "WEB ", "App", "app", "Agent", "AGENT", " Agent", "Call Centre", "N/A"]
CHANNEL_WEIGHTS = [24, 10, 4, 18, 6, 12, 5, 2, 5, 4]

START = date(2024, 3, 1)
DAYS = 92
TURNAROUND = {"T50": 35, "T72": 40, "J90": 45, "J180": 55, "M210": 60}


def _stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M")


def _fleet(draw: Draw) -> Rows:
    """Four aircraft a base and type, some leased, two of them retired before the spring."""
    rows: Rows = []
    for base, (types, _) in NETWORK.items():
        for type_cd in types:
            for _ in range(4):
                number = len(rows)
                tail = (
                    f"CV-{chr(65 + number * 7 % 26)}{chr(65 + number * 11 % 26)}{chr(65 + number)}"
                )
                delivered = date(2004, 1, 15) + timedelta(days=draw.between(0, 7000))
                owner = "L" if draw.chance(0.35) else "O"
                rows.append((tail, type_cd, base, owner, delivered.isoformat(), None))
    for index, retired in ((2, "2023-11-30"), (17, "2024-01-31")):
        rows[index] = (*rows[index][:4], f"20{5 + index % 3:02d}-06-12", retired)
    return rows


def _routes() -> tuple[Rows, dict[tuple[str, str], Row]]:
    legs: list[tuple[str, str, int, str]] = []
    for base, (_, destinations) in NETWORK.items():
        for other, dist in destinations.items():
            for leg in ((base, other), (other, base)):
                if leg not in {known[:2] for known in legs}:
                    legs.append((*leg, dist, "Y"))
    legs += [(*leg, "N") for leg in DORMANT]
    rows: Rows = []
    for index, (orig, dest, dist, active) in enumerate(legs, 1):
        slow = 270 if dist < 300 else 430
        block = 5 * round((dist / slow * 60 + 25) / 5)
        rows.append((index, f"CV{100 + index * 3}", orig, dest, dist, block, active))
    return rows, {(row[2], row[3]): row for row in rows}


def _crew(draw: Draw) -> tuple[Rows, Rows]:
    rows: Rows = []
    ratings: Rows = []
    for base, (types, _) in NETWORK.items():
        for role, count in (("CP", 11), ("FO", 11), ("PU", 8), ("CC", 14)):
            for place in range(count):
                crew_id = 1001 + len(rows)
                first, last = draw.pick(GIVEN_NAMES), draw.pick(FAMILY_NAMES)
                hired = date(2001 if role in ("CP", "PU") else 2012, 2, 1)
                hired += timedelta(days=draw.between(0, 4000))
                email: str | None = f"{first}.{last}@corvane.example".lower()
                if draw.chance(0.12):
                    email = None
                elif draw.chance(0.08):
                    email = "N/A"
                rows.append((crew_id, first, last, role, base, hired.isoformat(), email))
                if role not in ("CP", "FO"):
                    continue
                held = [types[place % 2]] if place % 5 else list(types)
                for type_cd in held:
                    valid = date(2024, 4, 15) + timedelta(days=draw.between(50, 500))
                    ratings.append((crew_id, type_cd, valid.isoformat()))
    return rows, ratings


class _Timetable:
    """Draws the flights day by day, with who flew them."""

    def __init__(self, draw: Draw, fleet: Rows, crew: Rows, ratings: Rows) -> None:
        self.draw = draw
        self.fleet = [aircraft for aircraft in fleet if aircraft[5] is None]
        self.routes, self.by_leg = _routes()
        self.crew = crew
        self.rated = {(crew_id, type_cd) for crew_id, type_cd, _ in ratings}
        self.seats = {row[0]: (row[3], row[4]) for row in TYPES}
        self.flights: Rows = []
        self.assignments: Rows = []

    def fly(self) -> None:
        for day in range(DAYS):
            date_ = START + timedelta(days=day)
            busy = 5 if date_.weekday() in (4, 6) else 4
            used: set[int] = set()
            for aircraft in self.draw.sample(self.fleet, busy - (date_.weekday() == 5)):
                self._rotation(date_, aircraft, used)

    def _rotation(self, day: date, aircraft: Row, used: set[int]) -> None:
        tail, type_cd, base = aircraft[:3]
        reach = [
            other
            for other, dist in NETWORK[base][1].items()
            if (dist >= 400) == type_cd.startswith(("J1", "M")) or type_cd in ("J90", "T50")
            if dist <= 600 or type_cd != "T50"
        ]
        other = self.draw.pick(reach)
        team = self._team(base, type_cd, used)
        start = datetime(day.year, day.month, day.day, 5) + timedelta(
            minutes=5 * self.draw.between(0, 150)
        )
        late = self._leg(self.by_leg[base, other], tail, type_cd, start, 0, team)
        block = self.by_leg[base, other][5]
        back = start + timedelta(minutes=block + TURNAROUND[type_cd])
        if late is not None:
            self._leg(self.by_leg[other, base], tail, type_cd, back, late, team)

    def _team(self, base: str, type_cd: str, used: set[int]) -> list[tuple[int, str]]:
        """A captain, a first officer, a purser and cabin crew who do not fly yet that day."""
        team = []
        for role, count in (("CP", 1), ("FO", 1), ("PU", 1), ("CC", 1 if type_cd[0] == "T" else 2)):
            free = [
                row[0]
                for row in self.crew
                if row[3] == role and row[4] == base and row[0] not in used
                if role in ("PU", "CC") or (row[0], type_cd) in self.rated
            ]
            # The last of each list is on long leave: called in only where nobody else is free.
            chosen = self.draw.sample(free[:-1] if len(free) > count + 1 else free, count)
            used.update(chosen)
            team += [(crew_id, role) for crew_id in chosen]
        return team

    def _leg(
        self,
        route: Row,
        tail: str,
        type_cd: str,
        sched: datetime,
        late: int,
        team: list[tuple[int, str]],
    ) -> int | None:
        """Adds one flight; returns how late it arrived in minutes, None where it never did."""
        draw = self.draw
        flight_id = 50001 + len(self.flights)
        arrival = sched + timedelta(minutes=route[5])
        planned = (flight_id, route[0], tail, _stamp(sched), _stamp(arrival))
        if late == 0 and draw.chance(0.035):
            cause = draw.weighted(["41", "71", "72", "81", None], [8, 4, 3, 2, 4])
            self.flights.append((*planned, None, None, "X", cause, None, None, None, None))
            return None
        delay, cause = self._delay(late)
        out = sched + timedelta(minutes=delay)
        enroute = route[5] + draw.between(-8, 9)
        landed = out + timedelta(minutes=enroute)
        seats_y, seats_j = self.seats[type_cd]
        share = min(1.0, max(0.25, 0.78 + 0.16 * draw.bell()))
        pax_y = round(seats_y * share)
        pax_j = round(seats_j * min(1.0, max(0.0, 0.55 + 0.25 * draw.bell())))
        fuel: int | None = round(route[4] * KG_PER_NM[type_cd] * (0.94 + 0.2 * draw.unit()) + 350)
        if draw.chance(0.04):
            fuel = None
        self.assignments += [(flight_id, crew_id, duty) for crew_id, duty in team]
        diverted = draw.chance(0.012)
        if diverted:
            spare = [row[0] for row in AIRPORTS if row[0] not in (route[2], route[3])]
            landed += timedelta(minutes=draw.between(25, 70))
            place = draw.pick(spare)
            status: Row = ("D", cause or "72", place)
        else:
            status = ("A", cause, None)
        flown = (_stamp(out), _stamp(landed))
        self.flights.append((*planned, *flown, *status, pax_y, pax_j, fuel))
        return None if diverted else max(0, round((landed - arrival).total_seconds() / 60))

    def _delay(self, late: int) -> tuple[int, str | None]:
        """Minutes off the block after schedule, with a code from 15 minutes on."""
        draw = self.draw
        carried = max(0, late - 12)
        fresh = draw.between(-5, 12)
        if draw.chance(0.2):
            fresh = min(260, 15 + round(abs(38 * draw.bell())))
        delay = carried + fresh if carried else fresh
        if delay < 15:
            return delay, None
        if draw.chance(0.05):
            return delay, None
        if carried > fresh:
            return delay, "93"
        return delay, draw.weighted(FIRST_CAUSES, CAUSE_WEIGHTS)


def _sales(draw: Draw, flights: Rows, routes: Rows) -> tuple[Rows, Rows]:
    """Bookings of one to four people on one flight, or on a flight out and one back."""
    letters = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
    by_leg: dict[tuple[str, str], Rows] = {}
    route_of = {row[0]: row for row in routes}
    for flight in flights:
        route = route_of[flight[1]]
        by_leg.setdefault((route[2], route[3]), []).append(flight)
    bookings: Rows = []
    tickets: Rows = []
    codes: set[str] = set()
    regulars = [(draw.pick(GIVEN_NAMES), draw.pick(FAMILY_NAMES)) for _ in range(40)]
    for flight in draw.sample(flights, 520):
        pnr = "".join(draw.pick(letters) for _ in range(6))
        if pnr in codes:
            continue
        codes.add(pnr)
        route = route_of[flight[1]]
        trip = [flight]
        later = [f for f in by_leg.get((route[3], route[2]), []) if f[3] > flight[3]]
        if later and draw.chance(0.45):
            trip.append(draw.pick(later[:6]))
        lead, surname = draw.pick(GIVEN_NAMES), draw.pick(FAMILY_NAMES)
        if draw.chance(0.3):
            lead, surname = draw.pick(regulars)
        family = draw.weighted([1, 2, 3, 4], [58, 27, 9, 6])
        people = [lead, *draw.sample([name for name in GIVEN_NAMES if name != lead], family - 1)]
        leave = datetime.fromisoformat(flight[3])
        ahead = round(abs(40 * draw.bell())) + 1
        booked = leave - timedelta(days=ahead, minutes=draw.between(0, 1400))
        email: str | None = f"{people[0]}.{surname}@post.example".lower()
        if draw.chance(0.1):
            email = None
        channel = None if draw.chance(0.03) else draw.weighted(CHANNELS, CHANNEL_WEIGHTS)
        bookings.append((pnr, _stamp(booked), channel, email))
        business = draw.chance(0.12)
        for leg in trip:
            _tickets(draw, tickets, pnr, leg, route_of[leg[1]], people, surname, business, ahead)
    return bookings, tickets


def _tickets(
    draw: Draw,
    tickets: Rows,
    pnr: str,
    flight: Row,
    route: Row,
    people: list[str],
    surname: str,
    business: bool,
    ahead: int,
) -> None:
    cabin = "J" if business and (flight[11] or 0) > 0 else "Y"
    base = 3900 + route[4] * (38 if cabin == "J" else 11)
    base = round(base * (1.5 if ahead < 7 else 1.0) * (0.8 + 0.5 * draw.unit()))
    for first in people:
        if flight[7] == "X":
            coupon = draw.weighted(["R", "E"], [85, 15])
        else:
            coupon = draw.weighted(["F", "N", "R"], [93, 4, 3])
        bags = None if draw.chance(0.05) else draw.weighted([0, 1, 2, 3], [45, 40, 12, 3])
        number = 7_400_000_001 + len(tickets)
        name = f"{surname.upper()}/{first.upper()}"
        tickets.append((number, pnr, flight[0], name, cabin, base, bags, coupon))


def _maintenance(draw: Draw, fleet: Rows) -> Rows:
    """Checks and repairs of 2023 and 2024; the log changed its date format in 2024."""
    rows: Rows = []
    remarks = ["Routine", "routine", "Bird strike", "Tyre wear", "Hydraulic leak", "N/A", None, ""]
    for tail, _, _, _, _, retired in fleet:
        for _ in range(draw.between(5, 11)):
            last = 500 if retired is None else 300
            opened = date(2023, 1, 5) + timedelta(days=draw.between(0, last))
            kind = draw.weighted(["A", "C", "U"], [45, 8, 47])
            if kind == "C":  # Weeks in the hangar: never while the aircraft flies the spring.
                opened = min(opened, date(2024, 1, 31) - timedelta(days=draw.between(0, 80)))
            days = {"A": draw.between(0, 2), "C": draw.between(9, 24), "U": draw.between(0, 6)}[
                kind
            ]
            closed: str | None = (opened + timedelta(days=days)).isoformat()
            hours = {"A": 35, "C": 620, "U": 14}[kind] * (0.7 + 0.8 * draw.unit())
            cost = hours * draw.between(62, 88) + draw.between(0, 9000)
            tail_end: Row = (closed, round(hours, 1), round(cost, 2))
            if opened > date(2024, 4, 1) and draw.chance(0.6):
                tail_end = (None, None, None)
            elif draw.chance(0.05):
                tail_end = (closed, round(hours, 1), None)
            text = opened.isoformat() if opened.year == 2024 else opened.strftime("%d/%m/%Y")
            remark = draw.pick(remarks[2:5]) if kind == "U" else draw.pick(remarks)
            rows.append((8001 + len(rows), tail, kind, text, *tail_end, remark))
    return rows


def populate(draw: Draw) -> Iterator[tuple[str, Rows]]:
    """Yields (table, rows) in an order that respects the foreign keys."""
    fleet = _fleet(draw)
    crew, ratings = _crew(draw)
    timetable = _Timetable(draw, fleet, crew, ratings)
    timetable.fly()
    bookings, tickets = _sales(draw, timetable.flights, timetable.routes)
    yield "airports", AIRPORTS
    yield "aircraft_types", TYPES
    yield "aircraft", fleet
    yield "routes", timetable.routes
    yield "delay_codes", DELAY_CODES
    yield "flights", timetable.flights
    yield "crew", crew
    yield "crew_ratings", ratings
    yield "crew_assignments", timetable.assignments
    yield "bookings", bookings
    yield "tickets", tickets
    yield "maint_events", _maintenance(draw, fleet)
