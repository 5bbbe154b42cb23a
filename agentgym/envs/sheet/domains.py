"""What the sheets of the mini tasks are about: columns, words, and how a sheet is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from agentgym.core.draw import Draw
from agentgym.envs.sheet.table import Column, Item, Line, Table

LEAST, MOST = 8, 13
"""Rows of a sheet, the header not counted."""


Rule = tuple[str, str, tuple[str, ...]]


@dataclass(frozen=True)
class Domain:
    """A kind of sheet.

    Attributes:
        sheets: names a sheet may have.
        about: what it holds, after "which".
        thing: what a row is about.
        things: the same for several.
        columns: the columns, the key first.
        rules: columns that follow from others: header, "sum", "difference", "average" or "higher",
            and the columns.
    """

    sheets: tuple[str, ...]
    about: str
    thing: str
    things: str
    columns: tuple[Column, ...]
    rules: tuple[Rule, ...] = ()


def _key(name: str, words: str) -> Column:
    return Column(name, "key", words=tuple(words.split(", ")))


def _group(name: str, words: str) -> Column:
    return Column(name, "group", words=tuple(words.split(", ")))


def _number(name: str, low: int, high: int, decimals: int = 0, unit: str = "") -> Column:
    return Column(name, "number", decimals, low, high, unit=unit)


PEOPLE = (
    "Amara Okoye, Bruno Keller, Chiara Fontana, Dmitri Volkov, Elif Demir, Farid Haddad, "
    "Greta Lindqvist, Hiro Tanaka, Ines Carvalho, Jonas Weber, Kavya Menon, Liam Doyle, "
    "Mina Park, Noah Fischer, Olga Petrova, Pedro Alvarez, Quentin Moreau, Rosa Jimenez, "
    "Samir Aziz, Tara Singh, Ursula Brandt, Viktor Nagy, Wanda Nowak, Yusuf Kaya"
)

DOMAINS: tuple[Domain, ...] = (
    Domain(
        ("Stock", "Inventory", "Warehouse"),
        "lists the goods of a corner shop",
        "product",
        "products",
        (
            _key(
                "Product",
                "apples, bananas, bread, butter, carrots, cheese, cream, grapes, leeks, lemons, "
                "milk, onions, pears, plums, potatoes, rolls, spinach, yoghurt, radishes, kale",
            ),
            _group("Category", "Fruit, Vegetables, Dairy, Bakery"),
            _number("Price", 40, 990, 2, "EUR"),
            _number("Quantity", 61, 190, 0, "pcs"),
            _number("Reserved", 0, 60, 0, "pcs"),
            _group("Supplier", "Hofland, Brandt & Sons, Greenway"),
        ),
        (("Available", "difference", ("Quantity", "Reserved")),),
    ),
    Domain(
        ("Grades", "Exam Results", "Term Report"),
        "holds the exam results of a year",
        "student",
        "students",
        (
            _key("Student", PEOPLE),
            _group("Class", "7a, 7b, 7c"),
            _number("Maths", 38, 100, 0, "points"),
            _number("English", 38, 100, 0, "points"),
            _number("Physics", 38, 100, 0, "points"),
            _number("History", 38, 100, 0, "points"),
        ),
        (
            ("Sum", "sum", ("Maths", "English", "Physics", "History")),
            ("Average", "average", ("Maths", "English", "Physics", "History")),
            ("Best Science", "higher", ("Maths", "Physics")),
            ("Languages", "average", ("English", "History")),
        ),
    ),
    Domain(
        ("Sales", "Quarter", "Turnover"),
        "shows what each agent sold in a quarter",
        "agent",
        "agents",
        (
            _key("Agent", PEOPLE),
            _group("Region", "North, South, East, West"),
            _number("January", 1100, 9900, 0, "USD"),
            _number("February", 1100, 9900, 0, "USD"),
            _number("March", 1100, 9900, 0, "USD"),
        ),
        (
            ("Quarter Total", "sum", ("January", "February", "March")),
            ("Growth", "difference", ("March", "January")),
            ("Better Start", "higher", ("January", "February")),
        ),
    ),
    Domain(
        ("Attendance", "Timesheet", "Presence"),
        "records who was at work in a month",
        "person",
        "people",
        (
            _key("Name", PEOPLE),
            _group("Team", "Red, Blue, Green"),
            _number("Days Present", 3, 23, 0, "days"),
            _number("Days Absent", 0, 18, 0, "days"),
            _number("Overtime", 0, 240, 1, "h"),
            _group("Contract", "full-time, part-time"),
        ),
        (("Working Days", "sum", ("Days Present", "Days Absent")),),
    ),
    Domain(
        ("Budget", "Spending", "Cost Plan"),
        "is the budget of a small theatre",
        "item",
        "items",
        (
            _key(
                "Item",
                "costumes, lighting, posters, rent, royalties, programmes, catering, cleaning, "
                "insurance, tickets, sound, travel, stage set, website, repairs, heating, "
                "training, photos, props, scripts",
            ),
            _group("Department", "Stage, Office, House"),
            _number("Planned", 9000, 90000, 2, "EUR"),
            _number("Spent", 3000, 90000, 2, "EUR"),
            _group("Approved By", "Moreau, Haddad, Brandt"),
        ),
        (("Remaining", "difference", ("Planned", "Spent")),),
    ),
    Domain(
        ("League", "Tournament", "Season"),
        "is the table of an amateur league",
        "club",
        "clubs",
        (
            _key(
                "Club",
                "Ashford Rovers, Belmont City, Carden United, Dunmore, Eastvale, Fenwick Town, "
                "Glenside, Harrow Park, Ivybridge, Kingsmere, Lakeside, Millbrook, Northgate, "
                "Oakfield, Queensbury, Riverton, Stonehill, Thornbury",
            ),
            _group("Group", "A, B, C"),
            _number("Wins", 1, 22, 0, "games"),
            _number("Draws", 0, 17, 0, "games"),
            _number("Losses", 0, 19, 0, "games"),
            _number("Goals", 9, 71, 0, "goals"),
        ),
        (("Played", "sum", ("Wins", "Draws", "Losses")),),
    ),
    Domain(
        ("Task List", "Sprint", "To Do"),
        "plans the work of a web team",
        "task",
        "tasks",
        (
            _key(
                "Task",
                "fix the login, update the logo, write the manual, clean the database, "
                "test the cart, translate the menu, move the server, check the links, "
                "draw the icons, review the budget, plan the launch, call the printer, "
                "renew the licence, sort the tickets, tune the search, archive the logs, "
                "brief the agency, build the form",
            ),
            _group("Owner", "Mina, Liam, Rosa, Samir"),
            _group("Status", "open, in progress, done"),
            _number("Hours", 10, 240, 1, "h"),
            _number("Days Left", 1, 45, 0, "days"),
            _group("Priority", "high, medium, low"),
        ),
    ),
    Domain(
        ("Library", "Loans", "Books"),
        "lists the books of a village library",
        "title",
        "titles",
        (
            _key(
                "Title",
                "The Salt Road, Night Ferry, A Cold Spring, Paper Boats, The Last Orchard, "
                "Blue Hour, Under the Weir, Nine Bridges, The Glass Key, Harvest Moon, Small Talk, "
                "Far Shore, The Clockmaker, Winter Bread, Stone Fruit, Open Water, Two Sisters, "
                "Long Shadows",
            ),
            _group("Genre", "novel, crime, history, poetry"),
            _number("Copies", 1, 20, 0, "copies"),
            _number("Loans", 3, 96, 0, "loans"),
            _number("Replacement Cost", 600, 4900, 2, "EUR"),
            _group("Shelf", "A1, A2, B1, B2"),
        ),
    ),
    Domain(
        ("Staff", "Payroll", "Employees"),
        "lists who works for a printing house",
        "employee",
        "employees",
        (
            _key("Employee", PEOPLE),
            _group("Department", "Press, Design, Sales"),
            _number("Base Pay", 180000, 420000, 2, "EUR"),
            _number("Bonus", 2000, 60000, 2, "EUR"),
            _number("Years", 0, 34, 0, "years"),
            _group("Site", "Lyon, Porto, Graz"),
        ),
        (("Gross Pay", "sum", ("Base Pay", "Bonus")),),
    ),
    Domain(
        ("Trips", "Tours", "Bookings"),
        "holds the trips of a travel agency",
        "trip",
        "trips",
        (
            _key(
                "Trip",
                "Atlas Trek, Baltic Cruise, Cape Coast, Danube Ride, Elba Sailing, Fjord Tour, "
                "Gobi Rally, Highland Walk, Iceland Ring, Jura Hike, Kyoto Spring, Lofoten Camp, "
                "Malta Dive, Nile Boat, Ohrid Retreat, Patagonia Trek, Rome Weekend, Sicily Bike",
            ),
            _group("Season", "spring, summer, autumn, winter"),
            _number("Nights", 2, 24, 0, "nights"),
            _number("Price", 19000, 199000, 2, "EUR"),
            _number("Seats", 41, 90, 0, "seats"),
            _number("Booked", 0, 40, 0, "seats"),
        ),
        (("Free Seats", "difference", ("Seats", "Booked")),),
    ),
)


def draw_number(column: Column, draw: Draw) -> Decimal:
    """Return a number of a column."""
    return Decimal(draw.between(column.low, column.high)).scaleb(-(column.decimals or 0))


def draw_table(domain: Domain, draw: Draw) -> Table:
    """Return a sheet: no name and no number occurs twice in a column, each group does."""
    size = draw.between(LEAST, MOST)
    drawn: list[list[Item]] = []
    for column in domain.columns:
        if column.role == "key":
            drawn.append(list(draw.sample(column.words, size)))
        elif column.role == "group":
            words = list(column.words) * 2 + [draw.pick(column.words) for _ in range(size)]
            drawn.append(list(draw.shuffled(words[:size])))
        else:
            numbers: dict[Decimal, None] = {}
            while len(numbers) < size:
                numbers[draw_number(column, draw)] = None
            drawn.append(list(numbers))
    rows = [Line(list(items)) for items in zip(*drawn, strict=True)]
    return Table(draw.pick(domain.sheets), domain.about, domain.thing, domain.things,
                 list(domain.columns), rows)  # fmt: skip
