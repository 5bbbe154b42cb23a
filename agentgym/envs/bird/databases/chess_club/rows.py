"""The rows of a chess club: two and a half years of members, tournaments, league matches and dues.

A member's hidden strength decides games. Tournaments are paired the
Swiss way from the scores so far, and the monthly rating lists follow from the rated games of the
month before.
"""

from collections.abc import Iterator
from datetime import date, timedelta
from math import sqrt
from typing import Any

from agentgym.core.draw import Draw
from agentgym.envs.bird.names import FAMILY_NAMES, GIVEN_NAMES

Row = tuple[Any, ...]
Rows = list[Row]

LAST_DAY = date(2024, 6, 30)
K_FACTOR = 20

VENUES: Rows = [
    (1, "Assembly Rooms", "Thornbury", 40, 9500),
    (2, "Railway Institute", "Thornbury", 24, 6000),
    (3, "Marston Village Hall", "Marston", 20, 4250),
    (4, "St Aldan's School", "Thornbury", 48, None),
    (5, "The Fox and Rook", "Upperby", 12, 0),
]
OPENINGS: Rows = [
    ("A04", "Réti Opening", "Flank"),
    ("A10", "English Opening", "Flank"),
    ("A45", "Trompowsky Attack", "Indian"),
    ("B01", "Scandinavian Defence", "Semi-Open"),
    ("B12", "Caro-Kann, Advance", "Semi-Open"),
    ("B20", "Sicilian Defence", "Semi-Open"),
    ("B33", "Sicilian, Sveshnikov", "Semi-Open"),
    ("B90", "Sicilian, Najdorf", "Semi-Open"),
    ("C02", "French, Advance", "Semi-Open"),
    ("C18", "French, Winawer", "Semi-Open"),
    ("C33", "King's Gambit Accepted", "Open"),
    ("C45", "Scotch Game", "Open"),
    ("C50", "Italian Game", "Open"),
    ("C65", "Ruy Lopez, Berlin", "Open"),
    ("D02", "London System", "Closed"),
    ("D10", "Slav Defence", "Closed"),
    ("D35", "Queen's Gambit Declined", "Closed"),
    ("E04", "Catalan Opening", "Indian"),
    ("E60", "King's Indian Defence", "Indian"),
    ("E20", "Nimzo-Indian Defence", "Indian"),
    ("A00", "Grob's Attack", "Flank"),
]
CODES = [row[0] for row in OPENINGS if row[0] != "A00"]
CODE_WEIGHTS = [4, 7, 3, 5, 6, 10, 2, 7, 5, 3, 2, 5, 11, 6, 10, 6, 7, 2, 6, 4]
TOWNS = ["Thornbury", "thornbury", "Thornbury ", "Marston", "Upperby", "UPPERBY", "Hartwell", "N/A"]
TOWN_WEIGHTS = [48, 6, 4, 15, 10, 3, 11, 3]
CLUBS = [
    "Hartwell Knights",
    "Ostmere CC",
    "Graymouth A",
    "Linfield Pawns",
    "Westbrook",
    "Selbridge",
]

# name, venue, first day, rounds, days between rounds, time control, rated, fee, prize, players
TOURNAMENTS: Rows = [
    ("Winter Swiss 2022", 1, "2022-01-11", 7, 7, "90+30", "Y", 1200, 30_000, 34),
    ("Spring Blitz 2022", 5, "2022-03-26", 9, 0, "3+2", "N", 500, None, 22),
    ("Club Championship 2022", 1, "2022-04-05", 9, 7, "90+30", "Y", 1500, 50_000, 38),
    ("Junior Open 2022", 4, "2022-05-14", 6, 0, "25+10", "Y", 600, 8000, 20),
    ("Summer Rapid 2022", 3, "2022-07-02", 6, 0, "15+10", "N", 800, 12_000, 26),
    ("Autumn Swiss 2022", 2, "2022-09-13", 7, 7, "90+30", "Y", 1200, 30_000, 32),
    ("Founders' Cup 2022", 1, "2022-11-08", 6, 7, "60+15", "Y", 1000, 20_000, 30),
    ("Christmas Blitz 2022", 5, "2022-12-17", 9, 0, "3+2", "N", 500, None, 24),
    ("Winter Swiss 2023", 1, "2023-01-10", 7, 7, "90+30", "Y", 1400, 32_000, 36),
    ("Club Championship 2023", 1, "2023-04-04", 9, 7, "90+30", "Y", 1500, 55_000, 40),
    ("Junior Open 2023", 4, "2023-05-13", 6, 0, "25+10", "Y", 600, 9000, 24),
    ("Summer Rapid 2023", 3, "2023-07-01", 6, 0, "15+10", "N", 900, 14_000, 25),
    ("Autumn Swiss 2023", 2, "2023-09-12", 7, 7, "90+30", "Y", 1400, 32_000, 33),
    ("Founders' Cup 2023", 1, "2023-11-07", 6, 7, "60+15", "Y", 1000, 22_000, 29),
    ("Christmas Blitz 2023", 5, "2023-12-16", 9, 0, "3+2", "N", 500, None, 22),
    ("Winter Swiss 2024", 1, "2024-01-09", 7, 7, "90+30", "Y", 1400, 35_000, 37),
    ("Club Championship 2024", 1, "2024-04-02", 9, 7, "90+30", "Y", 1600, 60_000, 42),
    ("Junior Open 2024", 4, "2024-05-11", 6, 0, "25+10", "Y", 700, 9000, 23),
]


def _expected(own: float, other: float) -> float:
    """Return the share of the points a player can expect: 0.91 with 400 points more."""
    # Close to the logistic curve, without a power, whose last digit differs between C libraries.
    gap = (own - other) / 400
    return 0.5 + 0.5 * gap / sqrt(gap * gap + 0.494)


def _members(draw: Draw) -> tuple[Rows, dict[int, float]]:
    """Join dates up to 2012 were typed as DD.MM.YYYY."""
    rows: Rows = []
    strength: dict[int, float] = {}
    for index in range(138):
        junior = draw.chance(0.24)
        born = date(2006, 7, 1) if junior else date(1944, 1, 1)
        born += timedelta(days=draw.below(9 * 365 if junior else 60 * 365))
        age = 2024 - born.year
        first = max(date(1991, 2, 1), date(born.year + 7, 1, 10))
        if draw.chance(0.35):
            first = max(first, date(2018, 1, 5))
        joined = first + timedelta(days=draw.below((date(2024, 3, 30) - first).days))
        text = joined.isoformat() if joined.year >= 2013 else joined.strftime("%d.%m.%Y")
        left = None
        if draw.chance(0.12) and joined < date(2022, 6, 1):
            left = (date(2022, 3, 1) + timedelta(days=draw.below(820))).isoformat()
        kind = "J" if age < 18 else "S" if age >= 65 else "A"
        if kind == "S" and draw.chance(0.15):
            kind = "H"
        power = (1250 if junior else 1640) + 270 * draw.bell()
        power = min(2480.0, max(720.0, power))
        title = next(
            (t for t, at in (("IM", 2200), ("FM", 2080), ("CM", 1920)) if power > at), None
        )
        fed = None if draw.chance(0.22) else f"{draw.between(280, 289)}{10_007 + 71 * index}"
        sex = draw.weighted(["M", "F", None], [72, 24, 4])
        town = None if draw.chance(0.02) else draw.weighted(TOWNS, TOWN_WEIGHTS)
        person = (draw.pick(GIVEN_NAMES), draw.pick(FAMILY_NAMES), sex, born.isoformat(), town)
        strength[101 + index] = power
        rows.append((101 + index, *person, kind, title, fed, text, left))
    return rows, strength


def _joined(member: Row) -> str:
    text: str = member[9]
    return f"{text[6:]}-{text[3:5]}-{text[:2]}" if "." in text else text


def _present(member: Row, day: str) -> bool:
    return _joined(member) <= day and (member[10] is None or member[10] > day)


class _Club:
    """The games and ratings so far: one month's games change the next month's list."""

    def __init__(self, draw: Draw, strength: dict[int, float]) -> None:
        self.draw = draw
        self.strength = strength
        self.rating = {
            m: int(power + 55 * draw.bell()) for m, power in strength.items() if draw.chance(0.88)
        }
        self.games: Rows = []

    def play(self, white: int, black: int) -> str:
        draw = self.draw
        if draw.chance(0.018):
            return draw.weighted(["+:-", "-:+"], [50, 50])
        share = _expected(self.strength[white] + 35, self.strength[black])
        even = 0.3 * (1 - abs(2 * share - 1))
        return draw.weighted(
            ["1-0", "1/2-1/2", "0-1"], [max(0.02, share - even / 2), even, max(0.02, 1 - share)]
        )

    def record(self, tour: int | None, place: tuple[Any, Any], day: str, *who: int) -> float:
        """Play a game at (round, board) and return White's points."""
        white, black = who
        result = self.play(white, black)
        eco, plies = None, None
        if result not in ("+:-", "-:+"):
            plies = (
                self.draw.between(34, 130) if result != "1/2-1/2" else self.draw.between(24, 160)
            )
            if self.draw.chance(0.84):
                eco = self.draw.weighted(CODES, CODE_WEIGHTS)
            elif self.draw.chance(0.5):
                plies = None
        self.games.append((tour, *place, day, white, black, result, eco, plies))
        return POINTS[result]


POINTS = {"1-0": 1.0, "+:-": 1.0, "1/2-1/2": 0.5, "0-1": 0.0, "-:+": 0.0}


def _paired(active: list[int], score: dict[int, float], met: set[tuple[int, int]]) -> Rows:
    """Return pairs of neighbours by score who have not met; the last one over has a bye."""
    left = sorted(active, key=lambda m: -score[m])
    pairs: Rows = []
    while len(left) > 1:
        first = left.pop(0)
        index = next((i for i, m in enumerate(left) if (first, m) not in met), 0)
        pairs.append((first, left.pop(index)))
    return [*pairs, (left[0], None)] if left else pairs


def _tournament(draw: Draw, club: _Club, members: Rows, index: int) -> tuple[Row, Rows]:
    name, venue, start, rounds, gap, control, rated, fee, prize, wanted = TOURNAMENTS[index]
    tour = index + 1
    present = [m for m in members if _present(m, start)]
    if name.startswith("Junior"):
        present = [m for m in present if m[4] > f"{int(start[:4]) - 18}"]
    keen = [m for m in present if m[0] % 5] + [m for m in present if not m[0] % 5][:4]
    players = sorted(
        (m[0] for m in draw.sample(keen, wanted)), key=lambda m: (-club.rating.get(m, 0), m)
    )
    entries: Rows = []
    gone: dict[int, int] = {}
    for seed, member in enumerate(players, 1):
        if draw.chance(0.05):
            gone[member] = draw.between(3, rounds)
        paid = 0 if draw.chance(0.04) else 1
        entries.append((tour, member, seed, club.rating.get(member), gone.get(member), paid))
    score = dict.fromkeys(players, 0.0)
    met: set[tuple[int, int]] = set()
    whites = dict.fromkeys(players, 0)
    for rnd in range(1, rounds + 1):
        day = (date.fromisoformat(start) + timedelta(days=gap * (rnd - 1))).isoformat()
        active = [m for m in players if gone.get(m, 99) > rnd]
        for board, (one, two) in enumerate(_paired(active, score, met), 1):
            if two is None:
                club.games.append((tour, rnd, None, day, one, None, "BYE", None, None))
                score[one] += 1
                continue
            white, black = (one, two) if whites[one] <= whites[two] else (two, one)
            points = club.record(tour, (rnd, board), day, white, black)
            met |= {(white, black), (black, white)}
            whites[white] += 1
            whites[black] -= 1
            score[white] += points
            score[black] += 1 - points
    arbiter = None
    if draw.chance(0.85):
        idle = [m[0] for m in members if _present(m, start) and m[6] != "J" and m[0] not in score]
        arbiter = draw.pick(idle[:9])
    end = (date.fromisoformat(start) + timedelta(days=gap * (rounds - 1))).isoformat()
    row = (tour, name, venue, start, end, rounds, control, rated, fee, prize, arbiter)
    return row, entries


def _rated(club: _Club, month: str, ratings: Rows, present: list[int]) -> None:
    """Close a month: rate its games, then publish the list of the next month."""
    change: dict[int, float] = {}
    count: dict[int, int] = {}
    for tour, _, _, day, white, black, result, _, _ in club.games:
        if day[:7] != month or tour is None or TOURNAMENTS[tour - 1][6] == "N":
            continue
        if result not in ("1-0", "0-1", "1/2-1/2"):
            continue
        for own, other, points in (
            (white, black, POINTS[result]),
            (black, white, 1 - POINTS[result]),
        ):
            count[own] = count.get(own, 0) + 1
            if own in club.rating and other in club.rating:
                gain = points - _expected(club.rating[own], club.rating[other])
                change[own] = change.get(own, 0.0) + K_FACTOR * gain
    for member in sorted(count):
        if member in club.rating:
            club.rating[member] += round(change.get(member, 0.0))
        elif count[member] >= 4:
            club.rating[member] = int(club.strength[member] / 10) * 10
    year, number = int(month[:4]), int(month[5:])
    following = f"{year + number // 12}-{number % 12 + 1:02d}"
    for member in present:
        if member in club.rating:
            ratings.append((member, following, club.rating[member], count.get(member, 0)))


def _dues(draw: Draw, members: Rows) -> Rows:
    rows: Rows = []
    for year in (2022, 2023, 2024):
        for member in members:
            if not _present(member, f"{year}-02-01"):
                continue
            amount = {"A": 6000, "S": 4000, "J": 2500, "H": 0}[member[6]] + 500 * (year - 2022)
            amount = 0 if member[6] == "H" else amount
            paid, day, how = amount, None, None
            if draw.chance(0.05 if year < 2024 else 0.17):
                paid = 0 if draw.chance(0.7) else amount // 2
            if paid:
                day = (date(year, 1, 3) + timedelta(days=int(150 * draw.unit() ** 2))).isoformat()
                how = draw.weighted(
                    ["Cash", "cash", "Card", "CARD", "Transfer", "transfer "],
                    [16, 7, 24, 6, 38, 5],
                )
            rows.append((member[0], year, amount, paid, day, how))
    return rows


def _league(draw: Draw, club: _Club, members: Rows) -> tuple[Rows, Rows]:
    """Two teams a season, six boards each; an empty board is lost."""
    matches: Rows = []
    boards: Rows = []
    for season, first in (("2022-23", date(2022, 10, 4)), ("2023-24", date(2023, 10, 3))):
        for team, level in (("A", 1990), ("B", 1660)):
            day = first + timedelta(days=0 if team == "A" else 2)
            for club_name in draw.shuffled(CLUBS * 2):
                match = 801 + len(matches)
                home = (
                    "H" if sum(m[3] == club_name and m[1] == season for m in matches) % 2 else "A"
                )
                matches.append((match, season, team, club_name, home, day.isoformat()))
                able = [m[0] for m in members if _present(m, day.isoformat())]
                able = sorted(able, key=lambda m: -club.strength[m])
                squad = able[:10] if team == "A" else able[10:24]
                chosen = sorted(draw.sample(squad, 6), key=lambda m: -club.strength[m])
                for board in range(1, 7):
                    colour = "W" if (board % 2 == 1) == (home == "A") else "B"
                    rival = int(level + 60 * (3 - board) + 110 * draw.bell())
                    if draw.chance(0.03):
                        boards.append((match, board, None, colour, None, 0.0))
                        continue
                    share = _expected(club.strength[chosen[board - 1]], rival)
                    points = draw.weighted([1.0, 0.5, 0.0], [share, 0.35, 1 - share])
                    shown = None if draw.chance(0.05) else rival
                    boards.append((match, board, chosen[board - 1], colour, shown, points))
                day += timedelta(days=14)
    return matches, boards


def populate(draw: Draw) -> Iterator[tuple[str, Rows]]:
    """Yield (table, rows) in an order that respects the foreign keys."""
    members, strength = _members(draw)
    club = _Club(draw, strength)
    tournaments: Rows = []
    entries: Rows = []
    ratings: Rows = []
    for year in (2022, 2023, 2024):
        for number in range(1, 13 if year < 2024 else 7):
            month = f"{year}-{number:02d}"
            for index, info in enumerate(TOURNAMENTS):
                if info[2][:7] == month:
                    row, entered = _tournament(draw, club, members, index)
                    tournaments.append(row)
                    entries += entered
            here = [m[0] for m in members if _present(m, f"{month}-28")]
            for _ in range(draw.between(5, 10)):
                day = f"{month}-{draw.between(1, 28):02d}"
                club.record(None, (None, None), day, *draw.sample(here, 2))
            _rated(club, month, ratings, here)
    matches, boards = _league(draw, club, members)
    games = sorted(club.games, key=lambda g: (g[3], g[0] or 0, g[1] or 0, g[2] or 99))
    yield "venues", VENUES
    yield "members", members
    yield "tournaments", tournaments
    yield "entries", entries
    yield "openings", OPENINGS
    yield "games", [(20_001 + index, *game) for index, game in enumerate(games)]
    yield "ratings", ratings
    yield "dues", _dues(draw, members)
    yield "matches", matches
    yield "match_boards", boards
