"""Serves the website on this machine, with the standard library alone.

`Site.answer` turns an address into a page and can be tested without a socket; the server around it
reads requests in threads. Nothing is kept between two of them.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from agentgym.core.errors import AgentGymError, InvalidConfig
from agentgym.core.text import numeral
from agentgym.envs.webshop.editions import goal_of
from agentgym.envs.webshop.env import WebShopEnv
from agentgym.envs.webshop.pages import PER_PAGE
from agentgym.envs.webshop.product import Product
from agentgym.envs.webshop.reward import reward
from agentgym.envs.webshop.site import views
from agentgym.envs.webshop.site.pictures import picture

Query = Mapping[str, list[str]]

_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'"
)
_ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">'
    '<rect width="32" height="32" rx="7" fill="#1f5d57"/><path d="M8 12h16l-2 13H10z" '
    'fill="#f4c58f"/><path d="M12 12a4 4 0 0 1 8 0" fill="none" stroke="#fff" stroke-width="2"/>'
    "</svg>"
)
_LOOKED_AT = 5_000
"""Products that are looked through for their kinds."""
_LONGEST_QUERY = 20_000
_KINDS = 28
"""Kinds of product that the first page offers."""


class Answer(NamedTuple):
    """What a request gets.

    Attributes:
        body: the page, picture or style sheet.
        type: its media type.
        status: the HTTP status.
        location: where to go instead, for a redirection.
    """

    body: str
    type: str = "text/html; charset=utf-8"
    status: int = 200
    location: str = ""


class Site:
    """The pages of a shop.

    Args:
        env: whose products, tasks and reward are shown; no episode of it is played.
        pick: draws a number below its argument, for "another task".
    """

    def __init__(self, env: WebShopEnv, pick: Callable[[int], int] = secrets.randbelow) -> None:
        self._env, self._stock, self._pick = env, env.stock, pick

    def answer(self, address: str) -> Answer:
        """Return what stands at an address, whatever it is."""
        try:
            split = urlsplit(address)
            head, _, rest = split.path.strip("/").partition("/")
            query = parse_qs(split.query[:_LONGEST_QUERY], max_num_fields=100)
            return self._page(head, unquote(rest), query)
        except (AgentGymError, ValueError) as error:
            return Answer(views.problem("That did not work", str(error)), status=400)

    def _page(self, head: str, rest: str, query: Query) -> Answer:
        if head in ("item", "order", "picture"):
            asin = rest.removesuffix(".svg").upper()
            product = self._stock.get(asin)
            if product is None:
                return Answer(views.problem("No such product", asin[:40]), status=404)
            return self._product(head, product, query)
        if rest:
            head = "missing"
        if head == "style.css":
            style = files("agentgym.envs.webshop.site") / "style.css"
            return Answer(style.read_text(encoding="utf-8"), "text/css; charset=utf-8")
        if head == "favicon.svg":
            return Answer(_ICON, "image/svg+xml")
        if head == "goal":
            return self._another(query)
        if head == "search":
            return self._results(query)
        if head == "":
            visit = self._visit(query)
            page = views.home(visit, len(self._stock), self._kinds, self._shown)
            return Answer(page)
        return Answer(
            views.problem("No such page", "Start from the shop's first page."), status=404
        )

    def _product(self, head: str, product: Product, query: Query) -> Answer:
        chosen = _options(product, query)
        if head == "picture":
            return Answer(picture(product, _one(query, "color")[:80]), "image/svg+xml")
        visit = self._visit(query)
        if head == "order":
            worth = reward(product, visit.goal, chosen, self._env.nouns) if visit.goal else None
            return Answer(views.order(visit, product, chosen, worth))
        tab = _one(query, "tab")
        return Answer(
            views.item(visit, product, chosen, tab if tab in views.TABS else "Description")
        )

    def _results(self, query: Query) -> Answer:
        visit = self._visit(query)
        if not visit.query:
            return Answer("", status=302, location="/")
        hits = self._stock.find(visit.query.lower())
        last = max(1, -(-len(hits) // PER_PAGE))
        visit = visit._replace(page=min(visit.page, last))
        first = (visit.page - 1) * PER_PAGE
        shown = [self._stock.product(place) for place in hits[first : first + PER_PAGE]]
        return Answer(views.results(visit, shown, len(hits)))

    def _another(self, query: Query) -> Answer:
        split = _one(query, "split") or "eval"
        tasks = self._env.tasks.split(split)
        if not tasks:
            raise InvalidConfig(f"there are no {split} tasks")
        task = tasks[self._pick(len(tasks))]
        return Answer("", status=302, location=f"/?task={task.id}")

    def _visit(self, query: Query) -> views.Visit:
        task_id, words = _one(query, "task"), _one(query, "q").strip()[:300]
        number = numeral(_one(query, "page") or "1")
        goal = goal_of(self._stock, self._env.tasks.get(task_id)) if task_id else None
        return views.Visit(task_id, goal, words, max(1, min(number or 1, 1000)))

    @cached_property
    def _kinds(self) -> list[str]:
        """Return some of the kinds of product there are, as words to search for."""
        stock = self._stock
        found = {stock.product(place).query for place in range(min(len(stock), _LOOKED_AT))}
        kinds = sorted(found)
        return kinds[:: -(-len(kinds) // _KINDS)]

    @cached_property
    def _shown(self) -> list[Product]:
        stride = max(1, len(self._stock) // 15)
        places = range(stride // 2, len(self._stock), stride)
        return [self._stock.product(place) for place in places[:15]]


def serve(site: Site, host: str, port: int) -> ThreadingHTTPServer:
    """Return a server that is bound and waits for `serve_forever`; port 0 takes a free one.

    Raises:
        OSError: if the port cannot be had.
    """

    class Handler(BaseHTTPRequestHandler):
        server_version = "agentgym-webshop"
        sys_version = ""
        timeout = 30

        def do_GET(self) -> None:
            """Answer a request."""
            answer = site.answer(self.path)
            body = answer.body.encode("utf-8", "replace")
            self.send_response(answer.status)
            headers = {
                "Content-Type": answer.type,
                "Content-Length": str(len(body)),
                "Content-Security-Policy": _POLICY,
                "X-Content-Type-Options": "nosniff",
                "Referrer-Policy": "no-referrer",
            }
            if answer.location:
                headers["Location"] = answer.location
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_HEAD = do_GET

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: whoever serves the site says where it is."""

    server = ThreadingHTTPServer((host, port), Handler)
    server.daemon_threads = True
    return server


def _options(product: Product, query: Query) -> dict[str, str]:
    """Return the options chosen in an address, of those the product has."""
    pairs = (text.partition("=") for text in query.get("o", []))
    return {name: value for name, _, value in pairs if value in product.options.get(name, ())}


def _one(query: Query, name: str) -> str:
    return query.get(name, [""])[0]
