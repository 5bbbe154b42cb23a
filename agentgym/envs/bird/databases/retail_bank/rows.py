"""The rows of a retail bank: clients, accounts, cards, loans and a year of movements.

Each account is played through the year day by day, so that every balance is the one before it plus
or minus the movement, and nothing is paid beyond the overdraft limit. A loan's status follows from
its instalments as of the last day.
"""

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

from agentgym.core.draw import Draw
from agentgym.envs.bird.names import FAMILY_NAMES, GIVEN_NAMES

Row = tuple[Any, ...]
Rows = list[Row]

FIRST_DAY, LAST_DAY = date(2023, 7, 1), date(2024, 6, 30)

# name, city, region, opened, manager
BRANCHES: Rows = [
    (1, "Calderby Head Office", "Calderby", "N", "1921-05-02", "Moira Esposito"),
    (2, "Calderby Market Square", "Calderby", "N", "1964-03-16", "Tobias Rusk"),
    (3, "Ostmere", "Ostmere", "E", "1957-09-01", "Ines Hallam"),
    (4, "Ostmere Docks", "Ostmere", "E", "1998-11-23", None),
    (5, "Linfield", "Linfield", "S", "1972-06-12", "Karim Sorrell"),
    (6, "Selbridge", "Selbridge", "S", "1985-02-04", "Wilma Oakes"),
    (7, "Westbrook Centre", "Westbrook", "W", "2006-10-02", "Nils Parekh"),
    (8, "Digital", "Calderby", "N", "2018-01-15", "Zara Lomax"),
]
BRANCH_WEIGHTS = [18, 13, 15, 7, 12, 9, 11, 15]

CITIES = ["Calderby", "calderby", "Calderby ", "Ostmere", "OSTMERE", "Linfield", "Selbridge"]
CITY_WEIGHTS = [30, 5, 4, 18, 4, 15, 11]
CITIES += ["Westbrook", "Graymouth", "N/A"]
CITY_WEIGHTS += [11, 5, 2]

SPENDING = [
    ("CRD", "Groceries", 900, 14_000),
    ("CRD", "groceries", 900, 14_000),
    ("CRD", "Fuel", 2500, 9800),
    ("CRD", "Restaurant", 1200, 13_500),
    ("CRD", None, 500, 26_000),
    ("CSH", "ATM", 2000, 40_000),
    ("TRF", "Rent", 48_000, 145_000),
    ("TRF", "RENT ", 48_000, 145_000),
    ("TRF", "Electricity", 3500, 19_000),
    ("TRF", "Insurance", 2200, 31_000),
    ("TRF", None, 1000, 90_000),
]
SPENDING_WEIGHTS = [20, 5, 10, 13, 9, 12, 9, 2, 8, 6, 9]
MONTHS = [(2023, month) for month in range(7, 13)] + [(2024, month) for month in range(1, 7)]


def _days(start: date, end: date, draw: Draw) -> date:
    """Return a day from `start` to `end`, both included."""
    return start + timedelta(days=draw.between(0, max(0, (end - start).days)))


def _clients(draw: Draw) -> Rows:
    """Join dates up to 2014 came from the old system as DD.MM.YYYY."""
    rows: Rows = []
    for index in range(225):
        segment = draw.weighted(["R", "P", "S"], [78, 8, 14])
        born = _days(date(1938, 1, 1), date(2004, 12, 31), draw)
        first = max(date(1999, 1, 4), date(born.year + 18, 1, 2))
        joined = _days(first, date(2023, 12, 29), draw)
        text = joined.isoformat() if joined.year >= 2015 else joined.strftime("%d.%m.%Y")
        checked = None
        if draw.chance(0.8):
            checked = _days(max(joined, date(2017, 1, 2)), LAST_DAY, draw).isoformat()
        number = f"0{draw.between(550, 559)} {draw.between(100_000, 999_999)}"
        phone = draw.weighted(
            [number, number.replace(" ", "-"), "+99 " + number[1:], "", None], [70, 8, 7, 5, 10]
        )
        city = None if draw.chance(0.02) else draw.weighted(CITIES, CITY_WEIGHTS)
        sex = draw.weighted(["F", "M", None], [50, 47, 3])
        person = (draw.pick(GIVEN_NAMES), draw.pick(FAMILY_NAMES), sex, born.isoformat())
        rows.append((2001 + index, *person, city, segment, text, checked, phone))
    return rows


def _joined(client: Row) -> date:
    text = client[7]
    if "." in text:
        text = f"{text[6:]}-{text[3:5]}-{text[:2]}"
    return date.fromisoformat(text)


def _accounts(draw: Draw, clients: Rows) -> tuple[Rows, Rows]:
    """Return the accounts and who may dispose of them; a few clients have none."""
    accounts: Rows = []
    holders: Rows = []
    for client in clients[: len(clients) * 19 // 20]:
        for _ in range(draw.weighted([1, 2, 3], [82, 15, 3])):
            kinds = ["BUS", "CHK", "SAV"]
            kind = draw.weighted(kinds, [80, 10, 10] if client[6] == "S" else [0, 68, 32])
            branch = draw.weighted(range(1, 9), BRANCH_WEIGHTS)
            first = max(_joined(client), date.fromisoformat(BRANCHES[branch - 1][4]))
            opened = _days(first, min(LAST_DAY - timedelta(days=30), _later(first)), draw)
            closed = None
            if draw.chance(0.07) and opened < date(2023, 6, 1):
                closed = _days(date(2023, 9, 1), LAST_DAY, draw).isoformat()
            limit = None
            if kind != "SAV" and draw.chance(0.6):
                limit = draw.pick([20_000, 50_000, 100_000, 200_000]) * (3 if kind == "BUS" else 1)
            number = f"CB{41_000_700 + 613 * len(accounts)}"
            ccy = "USD" if draw.chance(0.09) else "EUR"
            accounts.append((number, branch, kind, ccy, opened.isoformat(), closed, limit))
            holders.append((7001 + len(holders), client[0], number, "O"))
            if draw.chance(0.2):
                other = draw.pick([c for c in clients if c is not client])
                holders.append((7001 + len(holders), other[0], number, "U"))
    return accounts, holders


def _later(day: date) -> date:
    return day + timedelta(days=900)


def _cards(draw: Draw, accounts: Rows, holders: Rows) -> Rows:
    """The date of issue is stored as YYMMDD, the type as each clerk typed it."""
    rows: Rows = []
    by_number = {account[0]: account for account in accounts}
    for holder in holders:
        account = by_number[holder[2]]
        if account[2] == "SAV" or draw.chance(0.25):
            continue
        names = ["classic", "Classic", "gold", "GOLD", "junior"]
        kind = draw.weighted(names, [58, 10, 18, 6, 8])
        start = max(date.fromisoformat(account[4]), date(2019, 1, 7))
        issued = _days(start, date(2024, 6, 14), draw).strftime("%y%m%d")
        status = "X" if account[5] else draw.weighted(["A", "B", "X"], [86, 6, 8])
        rows.append((9001 + len(rows), holder[0], kind, issued, status))
    return rows


def _planned(draw: Draw, kind: str, wage: int, busy: float, first: date) -> Rows:
    """Return one month's movements as (day, type, operation, cents, memo), before any check."""
    planned: Rows = []
    if kind == "CHK" and wage:
        planned.append((first + timedelta(days=24), "C", "SAL", wage, "Salary"))
    if kind == "BUS" and draw.chance(0.85):
        amount = draw.between(90_000, 1_400_000)
        planned.append((first + timedelta(days=draw.below(28)), "C", "TRF", amount, "Invoice"))
    if kind == "SAV":
        if draw.chance(0.4 * busy):
            amount = draw.between(20, 900) * 100
            planned.append((first + timedelta(days=draw.below(28)), "C", "TRF", amount, "Savings"))
        if draw.chance(0.12):
            amount = draw.between(50, 2500) * 100
            planned.append((first + timedelta(days=draw.below(28)), "D", "TRF", amount, None))
        return planned
    for _ in range(int(3.4 * busy * draw.unit() + 0.5)):
        op, memo, low, high = draw.weighted(SPENDING, SPENDING_WEIGHTS)
        cents = low + int((high - low) * draw.unit() ** 2)
        scale = 4 if kind == "BUS" else 1
        planned.append((first + timedelta(days=draw.below(28)), "D", op, cents * scale, memo))
    if kind == "CHK" and draw.chance(0.12):
        amount = draw.between(2000, 120_000)
        planned.append((first + timedelta(days=draw.below(28)), "C", "CSH", amount, None))
    return planned


def _played(draw: Draw, account: Row) -> Rows:
    """Return an account's year as (day, account, type, operation, cents, balance, memo)."""
    number, _, kind, _, opened, closed, limit = account
    start = max(FIRST_DAY, date.fromisoformat(opened))
    end = date.fromisoformat(closed) if closed else LAST_DAY
    scale = {"CHK": 260_000, "SAV": 900_000, "BUS": 1_800_000}[kind]
    balance = draw.between(5000, 20_000) + int(scale * draw.unit() ** 3)
    rows: Rows = [(start.isoformat(), number, "C", "OPN", balance, balance, None)]
    wage = draw.between(1450, 5200) * 100 if draw.chance(0.6) else 0
    busy = 0.15 if draw.chance(0.08) else 0.5 + draw.unit()
    for year, month in MONTHS:
        first = date(year, month, 1)
        for day, sign, op, cents, memo in sorted(
            _planned(draw, kind, wage, busy, first), key=lambda row: row[0]
        ):
            if not start < day < end or (sign == "D" and balance - cents < -(limit or 0)):
                continue
            balance += cents if sign == "C" else -cents
            rows.append((day.isoformat(), number, sign, op, cents, balance, memo))
        last = date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)
        if not start < last < end:
            continue
        if kind == "SAV" and month % 3 == 0 and balance > 0:
            cents = balance * 2 // 400
            balance += cents
            rows.append((last.isoformat(), number, "C", "INT", cents, balance, "Interest"))
        elif kind != "SAV" and balance < 0:
            balance -= 750
            rows.append((last.isoformat(), number, "D", "FEE", 750, balance, "Overdraft fee"))
    if closed and balance > 0:
        rows.append((closed, number, "D", "TRF", balance, 0, "Closing"))
    return rows


def _loans(draw: Draw, accounts: Rows) -> tuple[Rows, Rows]:
    loans: Rows = []
    payments: Rows = []
    able = [a for a in accounts if a[2] != "SAV" and a[3] == "EUR" and a[5] is None]
    for account in draw.sample(able, 92):
        first = max(date(2021, 1, 11), date.fromisoformat(account[4]))
        granted = _days(first, max(first, date(2024, 4, 12)), draw)
        months = draw.pick([12, 24, 36, 48])
        principal = draw.between(20, 400 if account[2] == "BUS" else 200) * 100
        rate = draw.pick([390, 450, 490, 575, 640, 790])
        due = principal * 100 * (10_000 + rate * months // 12) // 10_000
        loan_id = 4001 + 7 * len(loans)
        trouble = draw.chance(0.28)
        missed = fell_due = 0
        for number in range(1, months + 1):
            month = granted.month - 1 + number
            day = date(granted.year + month // 12, month % 12 + 1, min(granted.day, 28))
            if day > LAST_DAY:
                break
            fell_due += 1
            late = draw.between(1, 40) if draw.chance(0.3 if trouble else 0.06) else 0
            paid: str | None = (day + timedelta(days=late)).isoformat()
            if (trouble and number > 4 and draw.chance(0.35)) or (paid or "") > "2024-06-30":
                paid = None
            missed += paid is None
            payments.append((loan_id, number, day.isoformat(), paid))
        done = fell_due == months
        status = ("B" if missed else "A") if done else ("D" if missed else "C")
        terms = (principal, months, rate, due // months, status)
        loans.append((loan_id, account[0], granted.isoformat(), *terms))
    return loans, payments


def _orders(draw: Draw, accounts: Rows) -> Rows:
    rows: Rows = []
    for account in accounts:
        if account[2] == "SAV" or account[5]:
            continue
        for _ in range(draw.weighted([0, 1, 2, 3], [45, 32, 16, 7])):
            purpose = draw.weighted(["HSE", "INS", "LSE", "UTL", "", None], [30, 22, 8, 24, 6, 10])
            low, high = {"HSE": (420, 1650), "LSE": (160, 620)}.get(purpose or "", (12, 240))
            cents = draw.between(low, high) * 100 + draw.pick([0, 0, 50, 99])
            freq = draw.weighted(["M", "Q", "Y"], [80, 14, 6])
            bank = draw.weighted(["CB", "NORD", "AGRA", "UFB"], [34, 30, 22, 14])
            rows.append((301 + len(rows), account[0], bank, cents, freq, purpose))
    return rows


def _rates(draw: Draw) -> Rows:
    rows: Rows = []
    for ccy, start in (("USD", 0.91), ("GBP", 1.16)):
        rate = start
        for year, month in MONTHS:
            rate = round(rate * (1 + 0.008 * draw.bell()), 4)
            rows.append((f"{year}-{month:02d}", ccy, rate))
    return rows


def populate(draw: Draw) -> Iterator[tuple[str, Rows]]:
    """Yield (table, rows) in an order that respects the foreign keys."""
    clients = _clients(draw)
    accounts, holders = _accounts(draw, clients)
    cards = _cards(draw, accounts, holders)
    # One list in order of date; the movements of an account keep their order within a day.
    movements = [movement for account in accounts for movement in _played(draw, account)]
    movements.sort(key=lambda row: row[0])
    loans, payments = _loans(draw, accounts)
    yield "branches", BRANCHES
    yield "clients", clients
    yield "accounts", accounts
    yield "disp", holders
    yield "cards", cards
    yield (
        "trans",
        [
            (600_001 + index, number, day, *rest)
            for index, (day, number, *rest) in enumerate(movements)
        ],
    )
    yield "loans", loans
    yield "loan_pmts", payments
    yield "orders", _orders(draw, accounts)
    yield "fx_rates", _rates(draw)
