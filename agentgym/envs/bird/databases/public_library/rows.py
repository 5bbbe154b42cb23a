"""The rows of a town's library system: what it holds, who borrows it, and what comes back late.

Loans are drawn copy by copy along the calendar, so that no copy is out twice at once; fines
follow from the days a loan was late, holds from the titles people borrow most.
"""

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

from agentgym.core.draw import Draw
from agentgym.envs.bird.names import FAMILY_NAMES, GIVEN_NAMES

Row = tuple[Any, ...]
Rows = list[Row]

# id, name, street, opened, floor area in square metres, phone, open on Sundays
BRANCHES: Rows = [
    (1, "Central Library", "1 Guildhall Square", 1908, 4200, "0550 110 100", "Y"),
    (2, "Harbourside", "22 Quay Road", 1974, 860, "0550 110 200", "N"),
    (3, "Millfield", "5 Weir Lane", 1961, 640, "0550 110 300", "N"),
    (4, "Northgate", "140 North Street", 1988, 1150, None, "Y"),
    (5, "St Aldan's", "9 Church Walk", 1931, 380, "0550 110 500", "N"),
    (6, "Westbrook", "Westbrook Centre", 2011, 1720, "0550 110 600", "Y"),
    (7, "Mobile Library", "Depot, Tanner's Yard", 1996, 28, None, "N"),
]
BRANCH_WEIGHTS = [40, 14, 10, 14, 5, 14, 3]

PUBLISHERS: Rows = [
    (1, "Larkspur House", "Calderby"),
    (2, "Ninefold Press", "Calderby"),
    (3, "Grey Heron Books", "Ostmere"),
    (4, "Tallow & Wick", "Ostmere"),
    (5, "Saltmarsh Editions", "Port Ellery"),
    (6, "Hollow Oak Children's Books", "Port Ellery"),
    (7, "Meridian Audio", "Calderby"),
    (8, "Éditions du Pont", "Vaucelle"),
    (9, "Verlag Tannwald", "Hohenau"),
    (10, "Parallel University Press", "Linfield"),
]

GENRES = ["FIC", "CRI", "SFF", "BIO", "HIS", "SCI", "TRV", "COO", "CHI", "POE"]
GENRE_WEIGHTS = [20, 17, 11, 8, 9, 8, 6, 5, 13, 3]
TOWNS = ["Calderby", "calderby", "CALDERBY", "Calderby ", "Linfield", "Ostmere", " Ostmere", "N/A"]
TOWN_WEIGHTS = [46, 8, 6, 5, 16, 10, 4, 3]

FIRST = ["The", "Her", "The Last", "The Other", "Beyond the", "Under the", "The Second", "My"]
MIDDLE = ["Silent", "Copper", "Winter", "Broken", "Salt", "Borrowed", "Paper", "Distant", "Blue"]
THINGS = {
    "FIC": ["House", "Sister", "Garden", "Letter", "Summer", "Orchard"],
    "CRI": ["Witness", "Verdict", "Body", "Alibi", "Stranger", "Cellar"],
    "SFF": ["Star", "Crown", "Engine", "Dragon", "Colony", "Gate"],
    "BIO": ["Life", "Voice", "Memoir", "Years", "Portrait"],
    "HIS": ["Empire", "Siege", "Century", "Republic", "Road"],
    "SCI": ["Atom", "Ocean", "Cell", "Number", "Climate"],
    "TRV": ["Coast", "Railway", "Island", "Mountain", "River"],
    "COO": ["Kitchen", "Oven", "Table", "Harvest"],
    "CHI": ["Badger", "Rocket", "Witch", "Puddle", "Giant", "Umbrella"],
    "POE": ["Poems", "Elegies", "Songs"],
}
PEAK = {"TALK": 40, "STORY": 20, "CRAFT": 16, "CLUB": 14, "TECH": 10}
EVENT_NAMES = {
    "TALK": ["An Evening with an Author", "Local History Talk", "Science Night"],
    "STORY": ["Story Time", "Rhyme Time", "Bedtime Stories"],
    "CRAFT": ["Paper Craft Saturday", "Knit and Natter"],
    "CLUB": ["Crime Book Club", "Chess Afternoon", "Poetry Circle"],
    "TECH": ["Tablet Help", "Family Tree Online"],
}

FIRST_DAY = date(2023, 1, 2)
LAST_DAY = date(2024, 6, 28)


def _authors(draw: Draw) -> Rows:
    rows: Rows = []
    for author_id in range(1, 141):
        born: int | None = draw.between(1890, 1992)
        died = born + draw.between(48, 92) if born is not None and born < 1950 else None
        if died is not None and died > 2022:
            died = None
        if draw.chance(0.08):
            born, died = None, None
        rows.append((author_id, draw.pick(GIVEN_NAMES), draw.pick(FAMILY_NAMES), born, died))
    return rows


def _titles(draw: Draw, authors: Rows) -> tuple[Rows, Rows]:
    titles: Rows = []
    credits: Rows = []
    names: set[str] = set()
    while len(titles) < 420:
        genre = draw.weighted(GENRES, GENRE_WEIGHTS)
        middle = draw.pick(MIDDLE) + " " if draw.chance(0.75) else ""
        name = f"{draw.pick(FIRST)} {middle}{draw.pick(THINGS[genre])}"
        if name in names:
            continue
        names.add(name)
        title_id = len(titles) + 1
        medium = draw.weighted(["BK", "AU", "EB", "DV"], [76, 9, 10, 5])
        lang = draw.weighted(["eng", "fra", "deu", "pol"], [88, 6, 4, 2])
        publisher = {"fra": 8, "deu": 9}.get(lang, draw.between(1, 5))
        if medium == "AU":
            publisher = 7
        elif genre == "CHI" and lang == "eng":
            publisher = 6
        elif genre == "SCI" and draw.chance(0.5):
            publisher = 10
        # A handful of authors write much, most write little.
        writer = authors[int(len(authors) * draw.unit() * draw.unit())]
        first_year = max(1925, (writer[3] or 1940) + 24)
        year = min(2024, max(first_year, 2024 - int(45 * draw.unit() * draw.unit())))
        if writer[4] is not None and draw.chance(0.5):
            year = min(2024, max(first_year, writer[4] - draw.between(1, 20)))
        pages = None
        minutes = None
        if medium in ("BK", "EB"):
            pages = draw.between(24, 64) if genre == "CHI" else draw.between(120, 720)
            if draw.chance(0.04):
                pages = None
        else:
            minutes = draw.between(70, 190) if medium == "DV" else draw.between(240, 1500)
        titles.append((title_id, name, publisher, year, lang, genre, medium, pages, minutes))
        credits.append((title_id, writer[0], "A"))
        others = [author for author in authors if author[0] != writer[0]]
        for role, likely in (("A", 0.09), ("T", 0.07), ("I", 0.4 if genre == "CHI" else 0.02)):
            if draw.chance(likely):
                credits.append((title_id, draw.pick(others)[0], role))
    return titles, credits


def _copies(draw: Draw, titles: Rows) -> Rows:
    rows: Rows = []
    for title in titles:
        if title[6] == "EB" or draw.chance(0.04):
            continue  # E-books are licences, and a few titles are on order.
        for branch_id in draw.sample(range(1, 8), draw.weighted([1, 2, 3, 4], [48, 30, 14, 8])):
            branch = branch_id if draw.chance(0.4) else draw.weighted(range(1, 8), BRANCH_WEIGHTS)
            first = date(max(2009, title[3]), 1, 10)
            # A title of this year is bought this year, before the loans of the summer.
            acquired = first + timedelta(days=draw.between(0, (date(2024, 3, 1) - first).days or 1))
            price: int | None = draw.between(599, 3499)
            if draw.chance(0.07):
                price = None
            status = draw.weighted(["IN", "LOST", "REP", "WD"], [89, 5, 2, 4])
            number = 30_001_000 + 7 * len(rows)
            rows.append((f"C{number}", title[0], branch, acquired.isoformat(), price, status))
    return rows


def _members(draw: Draw) -> Rows:
    rows: Rows = []
    for index in range(460):
        cat = draw.weighted(["A", "J", "S", "X"], [58, 20, 19, 3])
        years = {"A": (1960, 2003), "J": (2009, 2018), "S": (1932, 1958), "X": (1965, 1995)}[cat]
        dob: str | None = date(
            draw.between(*years), draw.between(1, 12), draw.between(1, 28)
        ).isoformat()
        if draw.chance(0.06):
            dob = None
        start = date(2019 if cat == "J" else 2008, 1, 4)
        joined = start + timedelta(days=draw.between(0, (date(2024, 5, 31) - start).days))
        text = joined.isoformat() if joined.year >= 2016 else joined.strftime("%d.%m.%Y")
        first, last = draw.pick(GIVEN_NAMES), draw.pick(FAMILY_NAMES)
        email: str | None = f"{first}.{last}{index}@post.example".lower()
        if draw.chance(0.2):
            email = draw.pick([None, None, "", "none"])
        town = None if draw.chance(0.03) else draw.weighted(TOWNS, TOWN_WEIGHTS)
        home = draw.weighted(range(1, 8), BRANCH_WEIGHTS)
        rows.append((10_001 + index, first, last, dob, cat, town, home, text, email))
    return rows


def _joined(member: Row) -> str:
    text: str = member[7]
    return f"{text[6:]}-{text[3:5]}-{text[:2]}" if "." in text else text


def _loans(draw: Draw, copies: Rows, members: Rows) -> Rows:
    """Each copy's loans in turn; the list is put in order of date before it gets its ids."""
    drawn: Rows = []
    readers = members[: int(len(members) * 0.88)]  # The rest joined and never borrowed.
    joined = {member[0]: _joined(member) for member in members}
    for copy in copies:
        barcode, _, branch, acquired, _, status = copy
        day = max(FIRST_DAY, date.fromisoformat(acquired)) + timedelta(days=draw.between(3, 160))
        popularity = draw.unit() * draw.unit()
        last: Row | None = None
        end = LAST_DAY - timedelta(days=25)
        if status in ("LOST", "WD"):
            end = FIRST_DAY + timedelta(days=draw.between(60, 400))
        while day < end:
            member = readers[int(len(readers) * draw.unit() * draw.unit())]
            if joined[member[0]] > day.isoformat():
                day += timedelta(days=9)
                continue
            renewals = draw.weighted([0, 1, 2, 3], [70, 18, 8, 4])
            due = day + timedelta(days=21 * (1 + renewals))
            kept = draw.between(3, 21) + 21 * renewals
            if draw.chance(0.17):
                kept = (due - day).days + 1 + int(abs(16 * draw.bell()))
            back = day + timedelta(days=kept)
            returned: str | None = back.isoformat()
            where: int | None = (
                branch if draw.chance(0.88) else draw.weighted(range(1, 7), BRANCH_WEIGHTS[:6])
            )
            if back > LAST_DAY:
                returned, where = None, None
            last = (barcode, member[0], day.isoformat(), due.isoformat(), returned, where, renewals)
            drawn.append(last)
            day = back + timedelta(days=1 + int(120 * (1 - popularity) * draw.unit()) + 6)
        if status == "LOST" and last is not None:
            drawn[-1] = (*last[:4], None, None, last[6])
    drawn.sort(key=lambda loan: (loan[2], loan[0]))
    return [(70_001 + index, *loan) for index, loan in enumerate(drawn)]


def _fines(draw: Draw, loans: Rows, copies: Rows) -> Rows:
    """Twenty cents a day late, at most twelve dollars; a lost copy costs its price."""
    by_code = {copy[0]: copy for copy in copies}
    drawn: Rows = []
    for loan in loans:
        copy = by_code[loan[1]]
        if loan[5] is None:
            if copy[5] == "LOST" and copy[4] is not None:
                issued = (date.fromisoformat(loan[4]) + timedelta(days=60)).isoformat()
                if issued <= LAST_DAY.isoformat():
                    drawn.append((issued, loan[0], "LOST", copy[4]))
            continue
        late = (date.fromisoformat(loan[5]) - date.fromisoformat(loan[4])).days
        if late > 0:
            drawn.append((loan[5], loan[0], "LATE", min(1200, 20 * late)))
        elif draw.chance(0.006):
            drawn.append((loan[5], loan[0], "DMG", 50 * draw.between(4, 24)))
    rows: Rows = []
    for issued, loan_id, reason, amount in sorted(drawn):
        waived = "Y" if draw.chance(0.09) else "N"
        paid: str | None = None
        if waived == "N" and draw.chance(0.71):
            day = date.fromisoformat(issued) + timedelta(days=int(abs(30 * draw.bell())))
            paid = day.isoformat() if day <= LAST_DAY else None
        rows.append((4001 + len(rows), loan_id, reason, amount, issued, paid, waived))
    return rows


def _holds(draw: Draw, titles: Rows, members: Rows) -> Rows:
    drawn: Rows = []
    wanted = [title for title in titles if title[6] != "EB"]
    for _ in range(330):
        title = wanted[int(len(wanted) * draw.unit() * draw.unit() * draw.unit())]
        member = draw.pick(members)
        begin = max(FIRST_DAY, date.fromisoformat(_joined(member)))
        placed = begin + timedelta(days=draw.between(0, max(1, (LAST_DAY - begin).days - 1)))
        status = draw.weighted(["F", "C", "E", "W"], [68, 14, 8, 10])
        ready: str | None = None
        if status in ("F", "E"):
            day = placed + timedelta(days=1 + int(abs(24 * draw.bell())))
            if day > LAST_DAY:
                status = "W"
            else:
                ready = day.isoformat()
        branch = member[6] if draw.chance(0.8) else draw.weighted(range(1, 8), BRANCH_WEIGHTS)
        drawn.append((placed.isoformat(), title[0], member[0], branch, ready, status))
    drawn.sort(key=lambda hold: hold[:3])
    return [
        (9001 + index, title, member, branch, placed, ready, status)
        for index, (placed, title, member, branch, ready, status) in enumerate(drawn)
    ]


def _events(draw: Draw, members: Rows) -> tuple[Rows, Rows]:
    events: Rows = []
    signups: Rows = []
    for index in range(105):
        kind = draw.weighted(list(PEAK), [14, 34, 18, 20, 14])
        day = FIRST_DAY + timedelta(days=5 * index + draw.between(0, 4))
        hour = {"TALK": 19, "STORY": 10, "CRAFT": 14, "CLUB": 17, "TECH": 11}[kind]
        starts = f"{day.isoformat()} {hour:02d}:{draw.pick(['00', '30'])}"
        capacity = None if kind == "CLUB" and draw.chance(0.5) else PEAK[kind]
        branch = draw.weighted(range(1, 7), BRANCH_WEIGHTS[:6])
        name = draw.pick(EVENT_NAMES[kind])
        minutes = draw.pick([30, 45, 60, 90, 120])
        events.append((501 + index, branch, name, kind, starts, minutes, capacity))
        present = [m for m in members if _joined(m) <= day.isoformat()]
        if kind == "STORY":
            present = [m for m in present if m[4] == "J"]
        wanted = int(PEAK[kind] * (0.15 + 0.9 * draw.unit()))
        if draw.chance(0.04):
            wanted = 0  # Nobody signed up.
        for member in draw.sample(present, min(wanted, PEAK[kind], len(present))):
            attended = None if draw.chance(0.07) else int(draw.chance(0.8))
            signups.append((501 + index, member[0], attended))
    return events, signups


def populate(draw: Draw) -> Iterator[tuple[str, Rows]]:
    """Yields (table, rows) in an order that respects the foreign keys."""
    authors = _authors(draw)
    titles, credits = _titles(draw, authors)
    copies = _copies(draw, titles)
    members = _members(draw)
    loans = _loans(draw, copies, members)
    events, signups = _events(draw, members)
    yield "branches", BRANCHES
    yield "publishers", PUBLISHERS
    yield "authors", authors
    yield "titles", titles
    yield "title_authors", credits
    yield "copies", copies
    yield "members", members
    yield "loans", loans
    yield "fines", _fines(draw, loans, copies)
    yield "holds", _holds(draw, titles, members)
    yield "events", events
    yield "signups", signups
