"""The rows of a school district: a year of its schools, pupils, classes, marks, tests and money.

Every pupil has one hidden ability, from which marks, test scores and absences all follow, so that
the tables agree with each other the way a district's do. A year has two terms, 2023F and 2024S.
"""

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

from agentgym.core.draw import Draw
from agentgym.envs.bird.names import FAMILY_NAMES, GIVEN_NAMES, STREETS

Row = tuple[Any, ...]
Rows = list[Row]

# name, type, grades, charter, magnet, opened, closed, city, postal code, share of the pupils
SCHOOLS: Rows = [
    ("Alder Creek Elementary", "ES", "K-5", 0, 0, "1958-09-02", None, "Larkhill", "93011", 9),
    ("Beacon Hill Elementary", "ES", "K-5", 0, 1, "1971-08-30", None, "Larkhill", "93011", 8),
    ("Cedar Flats Elementary", "ES", "K-5", 0, 0, "1964-09-07", None, "Riverton", "93018", 10),
    ("Dos Rios Elementary", "ES", "K-5", 0, 0, "2003-08-25", None, "Riverton", "93019", 12),
    ("Eastgate Charter", "K8", "K-8", 1, None, "2011-08-15", None, "Riverton", "93018", 8),
    ("Foundry Row Academy", "K8", "K-8", 1, None, "2016-08-22", None, "Harrowgate", "93024", 5),
    (
        "Grange Road Elementary",
        "ES",
        "K-5",
        0,
        0,
        "1949-09-06",
        "2019-06-14",
        "Larkhill",
        "93012",
        0,
    ),
    ("Harrowgate Middle", "MS", "6-8", 0, 0, "1969-09-02", None, "Harrowgate", "93024", 10),
    ("Ironwood Middle", "MS", "6-8", 0, 1, "1988-09-06", None, "Larkhill", "93011", 9),
    ("Juniper Valley High", "HS", "9-12", 0, 0, "1961-09-05", None, "Larkhill", "93012", 16),
    ("Kestrel High", "HS", "9-12", 0, 1, "1997-08-25", None, "Riverton", "93019", 14),
    ("Lakeside Continuation", "ALT", "9-12", 0, None, "1982-01-11", None, "Riverton", "93018", 3),
    ("Meridian Early College", "HS", "9-12", 1, None, "2014-08-18", None, "Harrowgate", "93024", 5),
    (
        "Northside Night School",
        "ALT",
        "9-12",
        0,
        None,
        "1979-09-04",
        "2015-06-12",
        "Larkhill",
        "93012",
        0,
    ),
]
# How poor the pupils of each school are: the chance of a free, then of a reduced-price meal.
NEED = [0.34, 0.18, 0.52, 0.61, 0.40, 0.57, 0.5, 0.48, 0.25, 0.33, 0.44, 0.66, 0.29, 0.5]

COURSES: Rows = [
    ("ELA06", "English 6", "ENG", 5.0, "N"),
    ("ELA08", "English 8", "ENG", 5.0, "N"),
    ("ENG09", "English 9", "ENG", 10.0, "N"),
    ("ENG11", "American Literature", "ENG", 10.0, "N"),
    ("ENGAP", "AP English Language", "ENG", 10.0, "Y"),
    ("MTH06", "Mathematics 6", "MAT", 5.0, "N"),
    ("MTH08", "Mathematics 8", "MAT", 5.0, "N"),
    ("ALG1", "Algebra I", "MAT", 10.0, "N"),
    ("GEOM", "Geometry", "MAT", 10.0, "N"),
    ("CALAP", "AP Calculus AB", "MAT", 10.0, "Y"),
    ("SCI07", "Life Science", "SCI", 5.0, "N"),
    ("BIO", "Biology", "SCI", 10.0, "N"),
    ("CHEM", "Chemistry", "SCI", 10.0, "N"),
    ("BIOAP", "AP Biology", "SCI", 10.0, "Y"),
    ("HIS07", "World History 7", "SOC", 5.0, "N"),
    ("USH", "US History", "SOC", 10.0, "N"),
    ("GOVAP", "AP Government", "SOC", 5.0, "Y"),
    ("SPA1", "Spanish I", "LNG", 10.0, "N"),
    ("SPA2", "Spanish II", "LNG", 10.0, "N"),
    ("ART1", "Studio Art", "ART", 5.0, "N"),
    ("BAND", "Concert Band", "ART", 5.0, "N"),
    ("PE", "Physical Education", "PE", 5.0, "N"),
    ("LATIN", "Latin I", "LNG", 10.0, "N"),
]
MIDDLE = ["ELA06", "ELA08", "MTH06", "MTH08", "SCI07", "HIS07", "ART1", "BAND", "PE"]
HIGH = [row[0] for row in COURSES if row[0] not in MIDDLE[:6] and row[0] != "LATIN"]

LANGUAGES = ["English", "english", "Spanish", "SPANISH", "spanish ", "Tagalog", "Hmong", "Punjabi"]
LANGUAGE_WEIGHTS = [58, 4, 20, 4, 3, 5, 3, 3]
DEGREES = ["BA", "MA", "EdD", "PhD", "N/A", None]
GRADES = ["K", *map(str, range(1, 13))]
FUNDS = {"GEN": 5.2, "SPED": 1.3, "TITLE1": 0.7, "FAC": 0.6}
TERMS = {"2023F": (date(2023, 8, 21), 88), "2024S": (date(2024, 1, 8), 92)}


def _code(index: int) -> str:
    return f"19-64733-{6_010_110 + 137 * index}"


def _schools(draw: Draw) -> Rows:
    rows: Rows = []
    for index, school in enumerate(SCHOOLS):
        name, kind, grades, charter, magnet, opened, closed, city, postal, _ = school
        street = f"{draw.between(1, 98) * 10 + 4} {STREETS[(index * 7) % len(STREETS)]}"
        phone = f"(555) 0{draw.between(100, 199)}-{draw.between(1000, 9999)}"
        shown = None if closed or draw.chance(0.1) else phone
        place = (street, city, postal, shown)
        rows.append((_code(index), name, kind, grades, charter, magnet, opened, closed, *place))
    return rows


def _counts(draw: Draw) -> Rows:
    """Enrollment and meal counts of five years; a closed school's end when it closes."""
    rows: Rows = []
    for index, school in enumerate(SCHOOLS):
        size = 48 * (school[9] or 6)
        for year in range(2019, 2024):
            if school[6] and year >= int(school[6][:4]):
                continue
            size = int(size * (1 + 0.03 * draw.bell()))
            free = int(size * (NEED[index] + 0.02 * draw.bell()))
            both = free + int(size * (0.06 + 0.05 * draw.unit()))
            rows.append((_code(index), f"{year}-{(year + 1) % 100:02d}", size, free, both))
    return rows


def _budgets(draw: Draw) -> Rows:
    """Thousands of dollars by fund; the spending of 2024 is not yet closed for every school."""
    rows: Rows = []
    for index, school in enumerate(SCHOOLS):
        if not school[9]:
            continue
        for year in (2022, 2023, 2024):
            for fund, each in FUNDS.items():
                if fund == "TITLE1" and NEED[index] < 0.3:
                    continue
                amount = round(48 * school[9] * each * (1 + 0.04 * (year - 2022)), 1)
                spent: float | None = round(amount * (0.97 + 0.035 * draw.bell()), 1)
                if year == 2024 and draw.chance(0.3):
                    spent = None
                rows.append((_code(index), year, fund, amount, spent))
    return rows


def _staff(draw: Draw) -> Rows:
    """Hire dates up to 2009 were typed as MM/DD/YYYY and never converted."""
    rows: Rows = []
    for index, school in enumerate(SCHOOLS):
        roles = ["P"] + ["T"] * int(1.7 * school[9] + 2) + ["C", "A", "A"]
        roles += ["N"] if draw.chance(0.5) else []
        if not school[9]:
            continue
        for role in roles:
            first = max(1988, int(school[5][:4]))
            hired = date(first, 8, 1) + timedelta(
                days=int((date(2023, 8, 14) - date(first, 8, 1)).days * (1 - draw.unit() ** 1.6))
            )
            text = hired.isoformat() if hired.year >= 2010 else hired.strftime("%m/%d/%Y")
            years = 2023 - hired.year
            base = {"P": 118_000, "T": 58_500, "C": 66_000, "A": 41_000, "N": 61_000}[role]
            degree = draw.weighted(DEGREES, [44, 38, 5, 3, 6, 4])
            if role == "P" and degree in ("BA", "N/A", None):
                degree = "MA"
            extra = {"MA": 4200, "EdD": 7900, "PhD": 8300}.get(degree or "", 0)
            pay = base + extra + 1150 * min(years, 25) + 10 * draw.between(0, 180)
            fte = 1.0 if role == "P" else draw.weighted([1.0, 0.8, 0.6, 0.5], [82, 7, 6, 5])
            left = None
            if draw.chance(0.06) and role != "P":
                left = (date(2023, 10, 2) + timedelta(days=draw.below(240))).isoformat()
            person = (draw.pick(GIVEN_NAMES), draw.pick(FAMILY_NAMES))
            rows.append(
                (1001 + len(rows), _code(index), *person, role, text, left, fte, pay, degree)
            )
    return rows


def _students(draw: Draw) -> tuple[Rows, dict[int, float]]:
    rows: Rows = []
    ability: dict[int, float] = {}
    for index, school in enumerate(SCHOOLS):
        low, high = school[2].split("-")
        grades = GRADES[GRADES.index(low) : GRADES.index(high) + 1]
        for _ in range(7 * school[9]):
            stu_id = 500_001 + 3 * len(rows)
            grade = draw.pick(grades)
            born = date(2017 - GRADES.index(grade), 9, 2) + timedelta(days=draw.below(364))
            meal = draw.weighted(["F", "R", "P"], [NEED[index], 0.09, 0.91 - NEED[index]])
            tongue = None if draw.chance(0.03) else draw.weighted(LANGUAGES, LANGUAGE_WEIGHTS)
            foreign = tongue is not None and tongue.lower() != "english"
            learner = int(foreign and draw.chance(0.52 - 0.025 * GRADES.index(grade)))
            entry, leave = date(2023, 8, 21), None
            if draw.chance(0.08):
                entry += timedelta(days=draw.between(7, 200))
            if draw.chance(0.05):
                leave = (entry + timedelta(days=draw.between(20, 75))).isoformat()
            ability[stu_id] = (
                draw.bell() - 0.45 * (meal == "F") - 0.35 * learner + 0.5 * (0.4 - NEED[index])
            )
            person = (draw.pick(GIVEN_NAMES), draw.pick(FAMILY_NAMES))
            gender = draw.weighted(["F", "M", "X"], [49, 50, 1])
            about = (gender, born.isoformat(), grade, meal, learner, tongue)
            rows.append((stu_id, _code(index), *person, *about, entry.isoformat(), leave))
    return rows, ability


def _mark(percent: float) -> str:
    return "ABCDF"[sum(percent < cut for cut in (90, 80, 70, 60))]


def _classes(
    draw: Draw, staff: Rows, students: Rows, ability: dict[int, float]
) -> tuple[Rows, Rows]:
    """Sections of the middle and high schools; the marks of a few pupils are still open."""
    sections: Rows = []
    enrolled: Rows = []
    for index, school in enumerate(SCHOOLS):
        if school[1] not in ("MS", "HS") or not school[9]:
            continue
        code = _code(index)
        teachers = [s[0] for s in staff if s[1] == code and s[4] == "T"]
        # One teacher in ten has no class: a coach, a specialist, somebody on leave.
        teaching = teachers[: max(3, len(teachers) * 9 // 10)]
        pupils = [s for s in students if s[1] == code]
        for term in TERMS:
            offered: Rows = []
            for course in MIDDLE if school[1] == "MS" else HIGH:
                seats = draw.pick([18, 22, 26, 30])
                teacher = None if draw.chance(0.05) else draw.pick(teaching)
                sec_id, period = 3001 + len(sections) + len(offered), draw.between(1, 7)
                offered.append((sec_id, course, code, teacher, term, period, seats))
            sections += offered
            room = {section[0]: section[6] for section in offered}
            for pupil in pupils:
                if term == ("2024S" if pupil[11] else "2023F" if pupil[10] > "2023-12-15" else ""):
                    continue
                for section in draw.sample(offered, draw.between(3, 5)):
                    if room[section[0]] == 0:
                        continue
                    room[section[0]] -= 1
                    percent = round(79 + 9.5 * ability[pupil[0]] + 5 * draw.bell(), 1)
                    percent = min(100.0, max(21.0, percent))
                    shown: tuple[float | None, str | None] = (percent, _mark(percent))
                    if pupil[11] is not None:
                        shown = (None, "W")
                    elif term == "2024S" and draw.chance(0.03):
                        shown = draw.pick([(None, "I"), (None, None)])
                    enrolled.append((pupil[0], section[0], *shown))
    return sections, enrolled


def _tests(draw: Draw, students: Rows, ability: dict[int, float]) -> Rows:
    """State tests in grades 3 to 8 and 11; an absent pupil has a row without a score."""
    rows: Rows = []
    for pupil in students:
        grade = GRADES.index(pupil[6])
        for year in (2023, 2024):
            then = grade - (2024 - year)
            if then not in (3, 4, 5, 6, 7, 8, 11) or (year == 2024 and pupil[11]):
                continue
            for test, shift in (("MATH", -12), ("ELA", 6)):
                if year == 2023 and pupil[10] > "2023-08-21":
                    continue
                at = 2385 + 24 * then
                score = int(at + shift + 78 * ability[pupil[0]] + 30 * draw.bell())
                level = 1 + sum(score >= at + cut for cut in (-60, 5, 80))
                missed = draw.chance(0.04)
                rows.append(
                    (pupil[0], test, year, None, None)
                    if missed
                    else (pupil[0], test, year, score, level)
                )
    return rows


def _attendance(draw: Draw, students: Rows, ability: dict[int, float]) -> Rows:
    rows: Rows = []
    for pupil in students:
        for term, (start, days) in TERMS.items():
            entered = date.fromisoformat(pupil[10])
            if pupil[11] is not None and (term == "2024S" or entered > start):
                continue
            late = max(0, (entered - start).days)
            present = days - min(days, late * 5 // 7)
            if pupil[11] is not None:
                present = (date.fromisoformat(pupil[11]) - entered).days * 5 // 7
            if present <= 0:
                continue
            rate = max(0.0, 0.055 + 0.03 * draw.bell() - 0.018 * ability[pupil[0]])
            if draw.chance(0.05):
                rate += 0.12
            absent = min(present, int(present * rate))
            rows.append((pupil[0], term, present, absent, draw.between(0, absent)))
    return rows


def _incidents(draw: Draw, staff: Rows, students: Rows) -> Rows:
    drawn: Rows = []
    older = [s for s in students if GRADES.index(s[6]) >= 4]
    for _ in range(190):
        pupil = (
            older[int(len(older) * draw.unit() ** 1.4)] if draw.chance(0.8) else draw.pick(older)
        )
        last = date.fromisoformat(pupil[11]) if pupil[11] else date(2024, 5, 31)
        start = date.fromisoformat(pupil[10])
        day = start + timedelta(days=draw.below(max(1, (last - start).days)))
        kind = draw.weighted(["DIS", "TRU", "FGT", "BUL", "VAN"], [44, 24, 14, 12, 6])
        longest = {"DIS": 1, "TRU": 0, "FGT": 5, "BUL": 3, "VAN": 4}[kind]
        days = draw.between(1, longest) if longest and draw.chance(0.55) else None
        present = [s[0] for s in staff if s[1] == pupil[1]]
        reporter = None if draw.chance(0.12) else draw.pick(present)
        drawn.append((day.isoformat(), pupil[0], reporter, kind, days))
    drawn.sort(key=lambda row: row[:2])
    return [
        (8001 + index, stu_id, reporter, day, kind, days)
        for index, (day, stu_id, reporter, kind, days) in enumerate(drawn)
    ]


def populate(draw: Draw) -> Iterator[tuple[str, Rows]]:
    """Yield (table, rows) in an order that respects the foreign keys."""
    yield "schools", _schools(draw)
    yield "frpm", _counts(draw)
    yield "budgets", _budgets(draw)
    staff = _staff(draw)
    yield "staff", staff
    students, ability = _students(draw)
    yield "students", students
    yield "courses", COURSES
    sections, enrolled = _classes(draw, staff, students, ability)
    yield "sections", sections
    yield "enrollments", enrolled
    yield "test_scores", _tests(draw, students, ability)
    yield "attendance", _attendance(draw, students, ability)
    yield "incidents", _incidents(draw, staff, students)
