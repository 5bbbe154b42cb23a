"""The rows of an online marketplace: sellers, what they list, who buys it, what comes back.

Orders are drawn one by one and everything after them follows: lines add up to the order, payments
pay its total, shipments leave after the payment, returns and reviews come after the delivery.
"""

from bisect import bisect_right
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Any

from agentgym.core.draw import Draw
from agentgym.envs.bird.names import FAMILY_NAMES, GIVEN_NAMES

Row = tuple[Any, ...]
Rows = list[Row]

CATEGORIES: Rows = [
    (1, "Home & Living", None),
    (2, "Clothing", None),
    (3, "Toys & Games", None),
    (4, "Jewellery", None),
    (5, "Craft Supplies", None),
    (11, "Lighting", 1),
    (12, "Ceramics", 1),
    (13, "Textiles", 1),
    (21, "Knitwear", 2),
    (22, "Hats", 2),
    (31, "Wooden Toys", 3),
    (32, "Puzzles", 3),
    (41, "Rings", 4),
    (42, "Necklaces", 4),
    (51, "Yarn", 5),
    (52, "Beads", 5),
    (53, "Gift Cards", None),
]
# category: (things, least and greatest price in cents, weight in grams)
GOODS: dict[int, tuple[list[str], int, int, int]] = {
    11: (["Table Lamp", "Lantern", "Candle Holder", "Pendant Shade"], 1900, 16900, 1400),
    12: (["Mug", "Serving Bowl", "Vase", "Teapot", "Plate Set"], 1200, 8900, 900),
    13: (["Cushion Cover", "Throw", "Tea Towel", "Table Runner"], 900, 7900, 500),
    21: (["Cardigan", "Jumper", "Scarf", "Mittens"], 1800, 15900, 450),
    22: (["Beanie", "Sun Hat", "Beret"], 1500, 5900, 160),
    31: (["Train", "Farm Set", "Stacking Rings", "Dolls' House"], 1400, 11900, 1100),
    32: (["Jigsaw 500", "Jigsaw 1000", "Burr Puzzle"], 1100, 4900, 600),
    41: (["Silver Band", "Opal Ring", "Signet Ring"], 2900, 24900, 20),
    42: (["Pendant", "Bead Necklace", "Locket"], 1900, 19900, 45),
    51: (["Merino Skein", "Sock Yarn", "Mohair Cone"], 700, 3900, 110),
    52: (["Glass Bead Mix", "Wooden Beads", "Seed Beads"], 300, 1900, 90),
}
POPULAR = [8, 14, 9, 12, 7, 8, 7, 6, 9, 12, 8]
STYLES = ["Moss", "Slate", "Amber", "Fjord", "Poppy", "Willow", "Indigo", "Chalk", "Rust", "Plum"]
SHOPS = ["Studio", "& Daughters", "Workshop", "Atelier", "Makers", "Goods"]

COUNTRIES = ["Norvale", "norvale", "NORVALE", "Estria", "estria ", "Maravia", "Kell Isles", "N/A"]
COUNTRY_WEIGHTS = [38, 7, 5, 20, 4, 15, 8, 3]
METHODS = ["card", "Card", "CARD", "wallet", "Wallet ", "invoice", "Invoice"]
METHOD_WEIGHTS = [38, 16, 5, 18, 5, 12, 6]
CARRIERS = ["Swiftpost", "Heron Parcel", "Dovetail Express", "Kell Mail"]

COUPONS: Rows = [
    ("WELCOME10", 10, None, "2022-01-01", "2023-12-31"),
    ("SPRING15", 15, None, "2023-03-01", "2023-04-15"),
    ("FIVER", None, 500, "2022-09-01", "2023-06-30"),
    ("BLACKNOV", 20, None, "2022-11-20", "2022-11-30"),
    ("BLACKNOV23", 20, None, "2023-11-20", "2023-11-30"),
    ("TENNER", None, 1000, "2023-07-01", "2023-12-31"),
    ("SUMMER5", 5, None, "2022-06-01", "2022-08-31"),
    ("STAFF30", 30, None, "2022-01-01", "2023-12-31"),
]
START = date(2022, 1, 1)
END = date(2023, 12, 31)


def _sellers(draw: Draw) -> Rows:
    rows: Rows = []
    for family in draw.sample(FAMILY_NAMES, 38):
        tier = draw.weighted(["B", "S", "G"], [55, 32, 13])
        joined = date(2016, 3, 1) + timedelta(days=draw.between(0, 2200))
        fee = {"B": 1200, "S": 950, "G": 700}[tier] + (50 if draw.chance(0.1) else 0)
        country = (
            None if draw.chance(0.06) else draw.weighted(["NV", "ES", "MV", "KI"], [5, 3, 2, 1])
        )
        shop = f"{family} {draw.pick(SHOPS)}"
        rows.append((101 + len(rows), shop, country, joined.isoformat(), tier, fee))
    return rows


def _products(draw: Draw, sellers: Rows) -> Rows:
    rows: Rows = []
    listing = sellers[:-2]  # Two shops have opened and list nothing yet.
    for index in range(290):
        cat = draw.weighted(list(GOODS), POPULAR)
        things, low, high, grams = GOODS[cat]
        name = f"{draw.pick(STYLES)} {draw.pick(things)}"
        seller = listing[int(len(listing) * draw.unit() * draw.unit())]
        price = 10 * round((low + (high - low) * draw.unit() * draw.unit()) / 10) + 9
        if draw.chance(0.03):
            price *= 3  # One of a kind.
        weight: int | None = round(grams * (0.6 + 0.9 * draw.unit()))
        if draw.chance(0.06):
            weight = None
        stock = 0 if draw.chance(0.12) else draw.between(1, 140)
        gone: str | None = None
        if draw.chance(0.1):
            gone = (END - timedelta(days=draw.between(0, 200))).isoformat()
        sku = f"{cat}-{seller[0]}-{index + 1:04d}"
        rows.append((index + 1, sku, name, seller[0], cat, price, weight, stock, gone))
    return rows


def _buyers(draw: Draw) -> Rows:
    rows: Rows = []
    for index in range(430):
        buyer_id = 5001 + index
        first, last = draw.pick(GIVEN_NAMES), draw.pick(FAMILY_NAMES)
        email: str | None = f"{first[0]}{last}{index % 97}@mail.example".lower()
        if draw.chance(0.1):
            email = email.upper() if email is not None and draw.chance(0.5) else None
        # Ids follow the order of sign-up, so a referrer always has the smaller id.
        signup = date(2021, 3, 1) + timedelta(days=index * 1000 // 430)
        text = signup.strftime("%d/%m/%Y") if signup.year == 2021 else signup.isoformat()
        referrer = (
            5001 + int(index * draw.unit() * draw.unit())
            if index > 9 and draw.chance(0.22)
            else None
        )
        country = None if draw.chance(0.04) else draw.weighted(COUNTRIES, COUNTRY_WEIGHTS)
        news = int(draw.chance(0.44))
        rows.append((buyer_id, f"{first} {last}", email, country, text, referrer, news))
    return rows


def _signup(buyer: Row) -> date:
    text: str = buyer[4]
    if "/" in text:
        return date(int(text[6:]), int(text[3:5]), int(text[:2]))
    return date.fromisoformat(text)


class _Sales:
    """Draws the orders, and after each what became of it."""

    def __init__(self, draw: Draw, products: Rows, buyers: Rows) -> None:
        self.draw = draw
        self.products = products
        self.buyers = buyers
        self.coupons = {row[0]: row for row in COUPONS}
        self.orders: Rows = []
        self.lines: Rows = []
        self.payments: Rows = []
        self.shipments: Rows = []
        self.returns: Rows = []
        self.reviews: Rows = []

    def sell(self, count: int) -> None:
        draw = self.draw
        # Some who signed up never bought; a few buy over and over.
        active = [buyer for buyer in self.buyers if draw.chance(0.82)]
        span = (END - START).days
        moments: list[datetime] = []
        while len(moments) < count:
            day = START + timedelta(days=draw.between(0, span))
            if day.month in (11, 12) or draw.chance(0.5 if day.year == 2022 else 0.68):
                minute = draw.between(360, 1420)
                moments.append(datetime(day.year, day.month, day.day) + timedelta(minutes=minute))
        signups = [_signup(buyer) for buyer in active]
        for moment in sorted(moments):
            known = bisect_right(signups, moment.date())
            self._order(moment, active[int(known * draw.unit() * draw.unit())])

    def _order(self, moment: datetime, buyer: Row) -> None:
        draw = self.draw
        order_id = 20_001 + len(self.orders)
        day = moment.date().isoformat()
        count = draw.weighted([1, 2, 3, 4, 5], [46, 28, 14, 8, 4])
        wanted: Rows = []
        while len(wanted) < count:
            product = self.products[int(280 * draw.unit() * draw.unit())]
            if product not in wanted and (product[8] is None or product[8] > day):
                wanted.append(product)
        lines: Rows = []
        for number, product in enumerate(wanted, 1):
            paid = product[5]
            if moment.year == 2022:  # Prices rose by about six per cent at the new year.
                paid = round(paid / 1.06)
            lines.append(
                (order_id, number, product[0], draw.weighted([1, 2, 3, 6], [76, 15, 6, 3]), paid)
            )
        items = sum(line[3] * line[4] for line in lines)
        coupon, discount = self._coupon(day, items)
        shipping = 0 if items - discount >= 7500 else draw.pick([390, 390, 590])
        total = items - discount + shipping
        status = draw.weighted(["D", "S", "C", "P"], [84, 3, 10, 3])
        if moment.date() > END - timedelta(days=12):
            status = draw.weighted(["D", "S", "C", "P"], [25, 45, 8, 22])
        head = (order_id, buyer[0], moment.strftime("%Y-%m-%d %H:%M"), status, coupon)
        self.orders.append((*head, items, discount, shipping, total))
        self.lines += lines
        if self._pay(order_id, moment, total, status):
            self._ship(order_id, moment.date(), status, lines, wanted, buyer, discount, items)

    def _coupon(self, day: str, items: int) -> tuple[str | None, int]:
        valid = [row for row in COUPONS if row[3] <= day <= row[4] and row[0] != "STAFF30"]
        if not valid or not self.draw.chance(0.2):
            return None, 0
        code, percent, cents, *_ = self.draw.pick(valid)
        return code, min(items, cents if percent is None else round(items * percent / 100))

    def _pay(self, order_id: int, moment: datetime, total: int, status: str) -> bool:
        draw = self.draw
        method = None if draw.chance(0.02) else draw.weighted(METHODS, METHOD_WEIGHTS)
        paid = moment + timedelta(minutes=draw.between(1, 9))
        if draw.chance(0.07):
            self._payment(order_id, paid, method, total, "F")
            paid += timedelta(minutes=draw.between(3, 90))
        if status == "P" or (status == "C" and draw.chance(0.6)):
            return False
        self._payment(order_id, paid, method, total, "V" if status == "C" else "S")
        return status in ("D", "S")

    def _payment(
        self, order_id: int, moment: datetime, method: str | None, cents: int, result: str
    ) -> None:
        number = 900_001 + len(self.payments)
        stamp = moment.strftime("%Y-%m-%d %H:%M")
        self.payments.append((number, order_id, stamp, method, cents, result))

    def _ship(
        self,
        order_id: int,
        day: date,
        status: str,
        lines: Rows,
        wanted: Rows,
        buyer: Row,
        discount: int,
        items: int,
    ) -> None:
        draw = self.draw
        carrier = draw.weighted(CARRIERS, [42, 29, 20, 9])
        shipped = day + timedelta(days=draw.weighted([0, 1, 2, 3, 6], [10, 42, 28, 14, 6]))
        slow = {"Swiftpost": 3, "Heron Parcel": 4, "Dovetail Express": 2, "Kell Mail": 7}[carrier]
        arrived = shipped + timedelta(days=max(1, slow + draw.between(-2, 3)))
        if draw.chance(0.04):
            arrived += timedelta(days=draw.between(8, 30))
        weight: int | None = 80
        for line, product in zip(lines, wanted, strict=True):
            weight = None if weight is None or product[6] is None else weight + line[3] * product[6]
        done = arrived.isoformat() if status == "D" else None
        number = 300_001 + len(self.shipments)
        self.shipments.append((number, order_id, carrier, shipped.isoformat(), done, weight))
        if done is None:
            return
        for line, product in zip(lines, wanted, strict=True):
            self._after(arrived, line, product, buyer, discount / items)

    def _after(self, arrived: date, line: Row, product: Row, buyer: Row, off: float) -> None:
        """A return, and perhaps a review, of one line after it was delivered."""
        draw = self.draw
        sent_back = draw.chance(0.16 if product[4] in (21, 22) else 0.06)
        if sent_back:
            opened = arrived + timedelta(days=draw.between(1, 28))
            reason = draw.weighted(
                ["DMG", "SIZE", "MIND", "WRONG", "LATE", None], [24, 26, 24, 10, 8, 8]
            )
            if reason == "SIZE" and product[4] not in (21, 22, 41):
                reason = "MIND"
            count = draw.between(1, line[3])
            refund: int | None = round(count * line[4] * (1 - off))
            if draw.chance(0.14):
                refund = None  # Refused, or not decided yet.
            number = 60_001 + len(self.returns)
            row = (number, line[0], line[1], opened.isoformat(), reason, count, refund)
            self.returns.append(row)
        if draw.chance(0.36):
            odds = [26, 20, 22, 20, 12] if sent_back else [3, 5, 12, 33, 47]
            stars = draw.weighted([1, 2, 3, 4, 5], odds)
            posted = arrived + timedelta(days=1 + int(abs(14 * draw.bell())))
            words = ["Lovely", "lovely", "Great gift", "As described", "Too small", "Hmm", None, ""]
            spread = abs(draw.bell())
            helpful = int(spread * spread * spread)
            number = 40_001 + len(self.reviews)
            review = (number, product[0], buyer[0], stars, draw.pick(words), posted.isoformat())
            self.reviews.append((*review, helpful))


def populate(draw: Draw) -> Iterator[tuple[str, Rows]]:
    """Yields (table, rows) in an order that respects the foreign keys."""
    sellers = _sellers(draw)
    products = _products(draw, sellers)
    buyers = _buyers(draw)
    sales = _Sales(draw, products, buyers)
    sales.sell(1150)
    yield "categories", CATEGORIES
    yield "sellers", sellers
    yield "products", products
    yield "buyers", buyers
    yield "coupons", COUPONS
    yield "orders", sales.orders
    yield "order_lines", sales.lines
    yield "payments", sales.payments
    yield "shipments", sales.shipments
    yield "returns", sales.returns
    yield "reviews", sales.reviews
