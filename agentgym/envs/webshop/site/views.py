"""The HTML of the website.

Every text that comes from a product, a goal or a visitor goes through `html.escape`; nothing else
is put into a page. Where a visitor is, is in the address alone, so pages hold no state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import NamedTuple
from urllib.parse import quote, urlencode

from agentgym.envs.webshop.pages import PER_PAGE
from agentgym.envs.webshop.product import NO_LIMIT, Goal, Product
from agentgym.envs.webshop.reward import Reward

TABS = ("Description", "Features", "Reviews", "Attributes")


class Visit(NamedTuple):
    """Where a visitor is.

    Attributes:
        task: the id of the task whose instruction is followed, or "".
        goal: that task's goal.
        query: the words last searched for.
        page: the page of results last looked at.
    """

    task: str = ""
    goal: Goal | None = None
    query: str = ""
    page: int = 1

    def to(self, path: str, *pairs: tuple[str, str]) -> str:
        """Return the address of a page, with the task and what is given."""
        kept = [("task", self.task)] if self.task else []
        said = urlencode([*pairs, *kept])
        return escape(f"{path}?{said}" if said else path)


def layout(visit: Visit, title: str, body: str) -> str:
    """Return a whole page."""
    task = f'<input type="hidden" name="task" value="{escape(visit.task)}">' if visit.task else ""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)} · WebShop</title>
<link rel="stylesheet" href="/style.css">
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
</head>
<body>
<header><div class="wrap">
<a class="logo" href="{visit.to("/")}">Web<b>Shop</b></a>
<form class="search" action="/search" role="search">
<input id="search_input" type="search" name="q" value="{escape(visit.query)}" required
 placeholder="Search for products" aria-label="Search for products">{task}
<button type="submit">Search</button>
</form>
</div></header>
{_wish(visit)}
<main><div class="wrap">
{body}
</div></main>
<footer><div class="wrap">WebShop of agentgym: nothing here is for sale, and nothing is sent
anywhere.</div></footer>
</body>
</html>
"""


def home(visit: Visit, size: int, kinds: Sequence[str], shown: Sequence[Product]) -> str:
    """Return the first page."""
    pictures = "".join(_image(product) for product in shown[:3])
    chips = "".join(
        f'<li><a href="{visit.to("/search", ("q", name))}">{escape(name)}</a></li>'
        for name in kinds
    )
    begin = "" if visit.goal else '<a class="button" id="begin" href="/goal">Give me a task</a>'
    return layout(
        visit,
        "Home",
        f"""<section class="hero"><div>
<h1>{size:,} products, one of them right.</h1>
<p>Shop as an agent does: follow an instruction, search, compare, choose the options, buy once.
The order is scored by the published reward.</p>
{begin}</div>
<div class="pictures">{pictures}</div></section>
<h2>What people look for</h2><ul class="chips">{chips}</ul>
<h2>A look around</h2><div class="grid">{_cards(visit, shown)}</div>""",
    )


def results(visit: Visit, products: Sequence[Product], total: int) -> str:
    """Return a page of search results."""
    pages = -(-total // PER_PAGE)
    more = []
    for label, number in (("‹ Previous", visit.page - 1), ("Next ›", visit.page + 1)):
        if 1 <= number <= pages:
            address = visit.to("/search", ("q", visit.query), ("page", str(number)))
            more.append(f'<a class="button quiet" href="{address}">{label}</a>')
    more.insert(1 if visit.page > 1 else 0, f"<span>Page {visit.page} of {max(pages, 1)}</span>")
    found = f"{total} results" if total else "Nothing found. Try other words."
    return layout(
        visit,
        visit.query,
        f"""<h1>“{escape(visit.query)}”</h1><p class="muted" id="total">{found}</p>
<div class="grid">{_cards(visit, products)}</div>
<nav class="pager">{"".join(more)}</nav>""",
    )


def item(visit: Visit, product: Product, chosen: Mapping[str, str], tab: str) -> str:
    """Return a product's page."""
    back = ""
    if visit.query:
        address = visit.to("/search", ("q", visit.query), ("page", str(visit.page)))
        back = f'<a href="{address}">‹ Back to results</a> &nbsp;·&nbsp; '
    exact = product.cost(chosen) if chosen or len(product.pricing) == 1 else None
    price = _dollars(exact) if exact is not None else _price(product)
    path = f"/item/{quote(product.asin)}"
    options = "".join(
        _option(visit, path, product, chosen, name, values, tab)
        for name, values in product.options.items()
    )
    tabs = "".join(
        f'<a class="{"open" if name == tab else ""}" '
        f'href="{visit.to(path, *_place(visit), *_chosen(chosen), ("tab", name))}#more">{name}</a>'
        for name in TABS
    )
    hidden = "".join(
        f'<input type="hidden" name="{escape(key)}" value="{escape(value)}">'
        for key, value in [*_chosen(chosen), *([("task", visit.task)] if visit.task else [])]
    )
    open_ = [name for name in product.options if name not in chosen]
    note = f"Not chosen yet: {', '.join(open_)}." if open_ else "Ready to order."
    return layout(
        visit,
        product.title,
        f"""<p class="crumbs">{back}{escape(product.product_category)}</p>
<div class="item">{_image(product, chosen)}
<div><h1>{escape(product.title)}</h1>
<p>{_stars(product.rating)} <span class="code">{escape(product.asin)}</span></p>{options}</div>
<aside class="box"><p class="price" id="price">{price}</p><p class="muted">{escape(note)}</p>
<form action="/order/{quote(product.asin)}">{hidden}
<button class="button buy" id="buy" type="submit">Buy Now</button></form></aside></div>
<nav class="tabs" id="more">{tabs}</nav><section class="panel">{_panel(product, tab)}</section>""",
    )


def order(visit: Visit, product: Product, chosen: Mapping[str, str], worth: Reward | None) -> str:
    """Return the page after a purchase, with its score where a task was followed."""
    said = ", ".join(f"{name}: {value}" for name, value in chosen.items()) or "no options chosen"
    score = "" if worth is None else _score(worth, product.cost(chosen), visit)
    again = visit.to("/") if visit.goal else "/"
    return layout(
        visit,
        "Order",
        f"""<div class="order"><h1>Thank you for shopping with us!</h1>
<div class="box"><div class="line">{_image(product, chosen)}
<div><strong>{escape(product.title)}</strong><br><span class="muted">{escape(said)}</span>
<p class="price">{_dollars(product.cost(chosen))}</p></div></div>{score}</div>
<div class="actions"><a class="button" href="/goal">Another task</a>
<a class="button quiet" href="{again}">Keep shopping</a></div></div>""",
    )


def problem(title: str, said: str) -> str:
    """Return a page that says what went wrong."""
    return layout(Visit(), title, f"<h1>{escape(title)}</h1><p>{escape(said)}</p>")


def _wish(visit: Visit) -> str:
    if visit.goal is None:
        return ""
    return (
        '<div class="wish"><div class="wrap"><strong>Your task</strong>'
        f'<p id="instruction">{escape(visit.goal.instruction)}</p>'
        f'<nav><span class="muted">{escape(visit.task)}</span>'
        '<a href="/goal">another</a><a href="/">no task</a></nav></div></div>'
    )


def _cards(visit: Visit, products: Iterable[Product]) -> str:
    return "".join(
        f'<a class="card" href="{visit.to(f"/item/{quote(p.asin)}", *_place(visit))}">{_image(p)}'
        f'<span class="body"><span class="title">{escape(p.title)}</span>{_stars(p.rating)}'
        f'<span class="price">{_price(p)}</span><span class="code">{escape(p.asin)}</span>'
        "</span></a>"
        for p in products
    )


def _option(
    visit: Visit,
    path: str,
    product: Product,
    chosen: Mapping[str, str],
    name: str,
    values: Sequence[str],
    tab: str,
) -> str:
    pills = []
    for value in values:
        added = product.surcharges.get(name, {}).get(value, 0.0)
        extra = f" <small>+{_dollars(added)}</small>" if added else ""
        address = visit.to(path, *_place(visit), *_chosen({**chosen, name: value}), *_tab(tab))
        mark = ' class="chosen" aria-current="true"' if chosen.get(name) == value else ""
        pills.append(f'<a{mark} href="{address}">{escape(value)}{extra}</a>')
    now = f" <span>{escape(chosen[name])}</span>" if name in chosen else ""
    return (
        f'<div class="option"><h3>{escape(name)}{now}</h3><div class="pills">{"".join(pills)}</div>'
        "</div>"
    )


def _panel(product: Product, tab: str) -> str:
    if tab == "Features":
        return f"<ul>{''.join(f'<li>{escape(b)}</li>' for b in product.bullets)}</ul>"
    if tab == "Attributes":
        tags = "".join(f"<span>{escape(attribute)}</span>" for attribute in product.attributes)
        return f'<div class="tags">{tags}</div>'
    if tab == "Reviews":
        written = (
            f'<article class="review"><h3>{escape(r.title)}</h3>{_stars(r.score)}'
            f"<p>{escape(r.body)}</p></article>"
            for r in product.reviews
        )
        return "".join(written) or '<p class="muted">No reviews found</p>'
    return f"<p>{escape(product.description) or 'No Description'}</p>"


def _score(worth: Reward, paid: float, visit: Visit) -> str:
    limit = visit.goal.price_upper if visit.goal else NO_LIMIT
    allowed = f" of at most {_dollars(limit)}" if limit < NO_LIMIT else ""
    kinds = {1.0: "the right kind of thing", 0.5: "a related kind of thing", 0.1: "hardly related"}
    rows = (
        ("Kind of product", f"× {worth.type:g} ({kinds.get(worth.type, 'something else')})"),
        ("Attributes met", "{} of {}".format(*worth.attributes)),
        ("Options met", "{} of {}".format(*worth.options)),
        ("Price", f"{_dollars(paid)}{allowed}: {'fits' if worth.price else 'too dear'}"),
    )
    cells = "".join(f"<tr><td>{name}</td><td>{escape(said)}</td></tr>" for name, said in rows)
    full = " full" if worth.total == 1.0 else ""
    return (
        f'<div class="score{full}"><span class="number" id="reward">{worth.total:.2f}</span>'
        f"<span>Your score, from 0 to 1</span></div><table>{cells}</table>"
    )


def _image(product: Product, chosen: Mapping[str, str] | None = None) -> str:
    color = next((v for n, v in (chosen or {}).items() if "color" in n), "")
    said = f"?{urlencode({'color': color})}" if color else ""
    return f'<img src="/picture/{quote(product.asin)}.svg{escape(said)}" alt="">'


def _stars(rating: float | None) -> str:
    if rating is None:
        return '<span class="stars"><span>no rating</span></span>'
    full = max(0, min(5, round(rating)))
    return f'<span class="stars">{"★" * full}{"☆" * (5 - full)} <span>{rating:g}</span></span>'


def _price(product: Product) -> str:
    return " – ".join(_dollars(price) for price in product.pricing[:2])


def _dollars(amount: float) -> str:
    return f"${amount:,.2f}"


def _place(visit: Visit) -> list[tuple[str, str]]:
    return [("q", visit.query), ("page", str(visit.page))] if visit.query else []


def _chosen(chosen: Mapping[str, str]) -> list[tuple[str, str]]:
    return [("o", f"{name}={value}") for name, value in chosen.items()]


def _tab(tab: str) -> list[tuple[str, str]]:
    return [("tab", tab)] if tab != TABS[0] else []
