"""The rows of a film festival's six editions: what was sent in, chosen, screened and awarded.

A film has one hidden quality. It decides what becomes of its submission, how full its screenings
are, how the audience votes and, mostly, what the juries do. No hall shows two films at once, no
screening sells more seats than its hall has, and no film is voted on by more people than came.
"""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Any

from agentgym.core.draw import Draw
from agentgym.envs.bird.names import FAMILY_NAMES, GIVEN_NAMES, TOWNS

Row = tuple[Any, ...]
Rows = list[Row]

# number, year, first and last day, director, budget in thousands of euros
EDITIONS: Rows = [
    (31, 2018, "2018-10-04", "2018-10-13", "Odile Marchand", 1480),
    (32, 2019, "2019-10-03", "2019-10-12", "Odile Marchand", 1560),
    (33, 2021, "2021-10-07", "2021-10-14", "Odile Marchand", 910),
    (34, 2022, "2022-10-06", "2022-10-15", "Tariq Velasco", 1395),
    (35, 2023, "2023-10-05", "2023-10-14", "Tariq Velasco", None),
    (36, 2024, "2024-10-03", "2024-10-12", "Tariq Velasco", 1710),
]

SECTIONS: Rows = [
    ("MC", "Main Competition", "Y"),
    ("FF", "First Features", "Y"),
    ("DO", "Documentary Lens", "Y"),
    ("SH", "Shorts", "Y"),
    ("PA", "Panorama", "N"),
    ("RE", "Retrospective", "N"),
    ("MI", "Midnight", "N"),
]

# id, name, street, seats, step-free access
VENUES: Rows = [
    (1, "Lumen Palace", "1 Harbour Square", 640, "Y"),
    (2, "Rex 1", "18 Station Street", 312, "Y"),
    (3, "Rex 2", "18 Station Street", 168, "Y"),
    (4, "Old Foundry", "7 Foundry Lane", 220, None),
    (5, "Cinema Aurora", "52 Mill Road", 134, "N"),
    (6, "Museum Hall", "3 Museum Walk", 96, "Y"),
    (7, "Little Gallery", "40 Priory Street", 48, "N"),
]

COUNTRIES = ["FR", "DE", "KR", "BR", "PL", "IN", "NG", "SE", "AR", "JP", "MA", "CA", "IT", "TR"]
COUNTRY_WEIGHTS = [18, 12, 8, 7, 7, 7, 4, 5, 6, 7, 3, 6, 7, 3]
PLATFORMS = ["FilmGate", "filmgate", "FILMGATE ", "Direct", "direct", "Reelbox", "N/A"]
PLATFORM_WEIGHTS = [46, 12, 5, 15, 5, 14, 3]

OPENINGS = ["The", "A", "Our", "Before the", "After the", "No", "Every", "Last"]
QUALITIES = ["Quiet", "Burning", "Second", "Hidden", "Long", "Northern", "Glass", "Hungry", "White"]
NOUNS = [
    "River", "Wedding", "Winter", "Tenant", "Horizon", "Mother", "Border", "Dance", "Harvest",
    "Tide", "Neighbour", "Station", "Fever", "Map", "Orchard", "Signal", "Room", "Ghost",
]  # fmt: skip
FOREIGN = ["La Nuit", "Der Fluss", "O Mar", "Il Confine", "Zima", "Die Braut", "El Eco", "L'Hiver"]

FULL_CT = {2018: 950, 2019: 950, 2021: 1000, 2022: 1100, 2023: 1150, 2024: 1200}
PRIZES: dict[str, list[tuple[str, int | None]]] = {
    "MC": [("Golden Heron", 20000), ("Jury Prize", 8000), ("Best Screenplay", None)],
    "FF": [("Best First Feature", 10000)],
    "DO": [("Best Documentary", 10000)],
    "SH": [("Best Short", 3000), ("Special Mention", None)],
}


class _Festival:
    """Draws the films first, then the editions in turn."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.persons = self._people()
        self.films: Rows = []
        self.credits: Rows = []
        self.quality: dict[int, float] = {}
        self.submissions: Rows = []
        self.selections: Rows = []
        self.screenings: Rows = []
        self.sales: Rows = []
        self.votes: Rows = []
        self.awards: Rows = []
        self.titles: set[str] = set()

    def _people(self) -> Rows:
        draw = self.draw
        rows: Rows = []
        for person_id in range(1, 521):
            born: int | None = draw.between(1942, 1998)
            if draw.chance(0.12):
                born = None
            gender = draw.weighted(["F", "M", "X", None], [43, 45, 3, 9])
            home = None if draw.chance(0.05) else draw.weighted(COUNTRIES, COUNTRY_WEIGHTS)
            name = (draw.pick(GIVEN_NAMES), draw.pick(FAMILY_NAMES))
            rows.append((person_id, *name, born, gender, home))
        return rows

    def hold(self, edition: Row) -> None:
        """One edition: its submissions, programme, screenings, votes and awards."""
        draw = self.draw
        count = {2018: 138, 2019: 150, 2021: 98, 2022: 146, 2023: 164, 2024: 186}[edition[1]]
        chosen: list[tuple[Row, str]] = []
        received = []
        for _ in range(count):
            film = self._film(edition[1])
            day = date(edition[1], 1, 15) + timedelta(
                days=max(draw.between(0, 165), draw.between(0, 165))
            )
            received.append((day, film))
        for day, film in sorted(received, key=lambda pair: (pair[0], pair[1][0])):
            verdict = "R"
            if self.quality[film[0]] + 0.25 * draw.bell() > 0.72:
                verdict = "A"
            if draw.chance(0.035):
                verdict = "W"
            if verdict == "A":
                chosen.append((film, self._section(film)))
            self._submit(edition, film, day, verdict)
        classics = draw.between(3, 6)
        chosen += [(self._film(edition[1], old=True), "RE") for _ in range(classics)]
        for film, section in chosen:
            premiere = None
            if section != "RE":
                premiere = draw.weighted(["WP", "IP", "NP", None], [22, 24, 44, 10])
            self.selections.append((edition[0], film[0], section, premiere))
        self._programme(edition, chosen)
        self._juries(edition, chosen)

    def _film(self, year: int, old: bool = False) -> Row:
        draw = self.draw
        film_id = len(self.films) + 1
        title = ""
        while not title or title in self.titles:
            middle = draw.pick(QUALITIES) + " " if draw.chance(0.7) else ""
            words = f"{middle}{draw.pick(NOUNS)}"
            opening = draw.pick(OPENINGS)
            if opening == "A" and words[0] in "AEIOU":
                opening = "An"
            title = f"{opening} {words}"
            if draw.chance(0.15):
                title += f" of {draw.pick(TOWNS)}"
        self.titles.add(title)
        home = draw.weighted(COUNTRIES, COUNTRY_WEIGHTS)
        original = None if home == "CA" or draw.chance(0.4) else draw.pick(FOREIGN)
        form = "FIC" if old else draw.weighted(["FIC", "DOC", "ANI", "EXP"], [58, 27, 9, 6])
        seconds = draw.between(74, 150) * 60 + draw.between(0, 59)
        if not old and draw.chance(0.36):
            seconds = draw.between(4, 29) * 60 + draw.between(0, 59)
        made = draw.between(1958, 1994) if old else year - draw.weighted([0, 1, 2], [50, 42, 8])
        colour = draw.weighted(["colour", "b/w", None], [90, 7, 3] if not old else [50, 45, 5])
        film = (film_id, title, original, home, made, seconds, form, colour)
        self.films.append(film)
        self.quality[film_id] = 0.85 if old else 0.5 + 0.16 * draw.bell()
        crew = draw.sample([row for row in self.persons if row[3] is None or row[3] < made - 21], 3)
        jobs = ["D", "W", "P"]
        if draw.chance(0.3):
            self.credits.append((film_id, crew[0][0], "W"))  # The director wrote it too.
            jobs, crew = ["D", "P"], [crew[0], crew[2]]
        if draw.chance(0.35):
            jobs = jobs[:-1]  # No producer named.
        self.credits += [(film_id, who[0], job) for who, job in zip(crew, jobs, strict=False)]
        return film

    def _section(self, film: Row) -> str:
        draw = self.draw
        if film[5] < 1800:
            return "SH"
        if film[6] == "DOC":
            return draw.weighted(["DO", "PA"], [70, 30])
        return draw.weighted(["MC", "FF", "PA", "MI"], [34, 26, 26, 14])

    def _submit(self, edition: Row, film: Row, day: date, verdict: str) -> None:
        draw = self.draw
        late = (day.month, day.day) > (5, 31)
        fee = (2500 if film[5] < 1800 else 5000) + (1500 if late else 0)
        if draw.chance(0.14):
            fee = 0  # Waived.
        platform = None if draw.chance(0.02) else draw.weighted(PLATFORMS, PLATFORM_WEIGHTS)
        text = day.strftime("%d.%m.%Y") if edition[1] < 2021 else day.isoformat()
        number = 11_001 + len(self.submissions)
        self.submissions.append((number, edition[0], film[0], text, platform, fee, verdict))

    def _programme(self, edition: Row, chosen: list[tuple[Row, str]]) -> None:
        """Two public screenings a feature, one a short, and one for the press in competition."""
        draw = self.draw
        first = date.fromisoformat(edition[2])
        days = (date.fromisoformat(edition[3]) - first).days + 1
        slots = [
            (first + timedelta(days=day), hour, venue)
            for day in range(days)
            for hour in (10, 13, 16, 19, 22)
            for venue in VENUES
            if draw.chance(0.75)
        ]
        slots = draw.shuffled(slots)
        for film, section in chosen:
            if draw.chance(0.03):
                continue  # The print never arrived.
            kinds = ["P"] if section in ("SH", "RE") else ["P", "P"]
            if section in ("MC", "FF") and draw.chance(0.85):
                kinds.append("J")
            for kind in kinds:
                if not slots:
                    return
                fitting = (
                    index
                    for index, (_, hour, venue) in enumerate(slots)
                    if (section == "MI") == (hour == 22)
                    and (section != "MC" or kind == "J" or venue[3] > 150)
                )
                index = next(fitting, 0)
                day, hour, venue = slots.pop(index)
                self._screen(edition, film, section, kind, (day, hour, venue))

    def _screen(
        self, edition: Row, film: Row, section: str, kind: str, slot: tuple[date, int, Row]
    ) -> None:
        draw = self.draw
        day, hour, venue = slot
        start = datetime(day.year, day.month, day.day, hour) + timedelta(
            minutes=15 * draw.between(0, 1)
        )
        scr_id = 7001 + len(self.screenings)
        status = "X" if draw.chance(0.035) else "H"
        guests = "Y" if kind == "P" and section != "RE" and draw.chance(0.42) else "N"
        stamp = start.strftime("%Y-%m-%d %H:%M")
        self.screenings.append((scr_id, edition[0], film[0], venue[0], stamp, kind, guests, status))
        if kind == "J" or status == "X":
            return
        pull = 0.35 + 0.55 * (self.quality[film[0]] - 0.3) + 0.2 * (hour in (16, 19))
        pull += 0.1 * (day.weekday() >= 5) + 0.13 * draw.bell()
        cap = 0.6 if edition[1] == 2021 else 1.0  # Every other seat stayed empty that year.
        seats = int(venue[3] * min(cap, max(0.06, pull * cap)))
        full = FULL_CT[edition[1]]
        shares = {"F": (full, 0.46), "C": (full - 300, 0.27), "P": (0, 0.2), "S": (500, 0.07)}
        left = seats
        for code, (price, share) in shares.items():
            count = min(left, round(seats * share * (0.8 + 0.4 * draw.unit())))
            if count and not (code == "S" and draw.chance(0.4)):
                self.sales.append((scr_id, code, price, count))
                left -= count
        self._vote(scr_id, film, section, seats - left)

    def _vote(self, scr_id: int, film: Row, section: str, present: int) -> None:
        draw = self.draw
        if section in ("SH", "RE") or draw.chance(0.04):
            return
        ballots = int(present * (0.25 + 0.35 * draw.unit()))
        like = min(0.95, max(0.2, self.quality[film[0]] + 0.1 * draw.bell()))
        counts = dict.fromkeys(range(1, 6), 0)
        for _ in range(ballots):
            counts[1 + sum(draw.chance(like) for _ in range(4))] += 1
        self.votes += [(scr_id, score, count) for score, count in counts.items() if count]

    def _juries(self, edition: Row, chosen: list[tuple[Row, str]]) -> None:
        draw = self.draw
        for section, prizes in PRIZES.items():
            running = [film for film, where in chosen if where == section]
            running.sort(key=lambda film: -self.quality[film[0]] - 0.1 * draw.bell())
            for place, (name, prize) in enumerate(prizes):
                number = 1 + len(self.awards)
                winner = running[place][0] if place < len(running) else None
                if name in ("Jury Prize", "Special Mention") and draw.chance(0.2):
                    winner = None  # Not given this year.
                self.awards.append((number, edition[0], section, name, winner, prize))
                spare = len(running) > place + 2
                if name == "Jury Prize" and winner is not None and spare and draw.chance(0.3):
                    # Shared: a second row, and half the money for each.
                    half = prize // 2 if prize else None
                    self.awards[-1] = (*self.awards[-1][:5], half)
                    shared = (number + 1, edition[0], section, name, running[place + 2][0], half)
                    self.awards.append(shared)
        voted = self._favourite(edition, {film[0]: where for film, where in chosen})
        number = 1 + len(self.awards)
        self.awards.append((number, edition[0], voted[1], "Audience Award", voted[0], 5000))

    def _favourite(self, edition: Row, where: dict[int, str]) -> tuple[int, str]:
        """The film with the best mean vote of the edition, among those with 60 ballots or more."""
        film_of = {row[0]: row[2] for row in self.screenings if row[1] == edition[0]}
        points: dict[int, int] = {}
        ballots: dict[int, int] = {}
        for scr_id, score, count in self.votes:
            if scr_id in film_of:
                film = film_of[scr_id]
                points[film] = points.get(film, 0) + score * count
                ballots[film] = ballots.get(film, 0) + count
        able = [film for film, count in ballots.items() if count >= 60]
        best = max(able, key=lambda film: (points[film] / ballots[film], film))
        return best, where[best]


def populate(draw: Draw) -> Iterator[tuple[str, Rows]]:
    """Yields (table, rows) in an order that respects the foreign keys."""
    festival = _Festival(draw)
    for edition in EDITIONS:
        festival.hold(edition)
    yield "editions", EDITIONS
    yield "sections", SECTIONS
    yield "films", festival.films
    yield "persons", festival.persons
    yield "credits", festival.credits
    yield "submissions", festival.submissions
    yield "selections", festival.selections
    yield "venues", VENUES
    yield "screenings", festival.screenings
    yield "ticket_sales", festival.sales
    yield "audience_votes", festival.votes
    yield "awards", festival.awards
