"""WebShop as a website: what stands on its pages, and a purchase in a real browser."""

from __future__ import annotations

import http.client
import re
import shutil
import subprocess
import sys
import threading
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from html import escape
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("tantivy", reason="pip install 'agentgym[webshop]'")

from agentgym.core import Task, make
from agentgym.envs.webshop.env import WebShopEnv
from agentgym.envs.webshop.product import Product, Review
from agentgym.envs.webshop.site import views
from agentgym.envs.webshop.site.pictures import picture
from agentgym.envs.webshop.site.server import Site, serve


@pytest.fixture(scope="module")
def env() -> WebShopEnv:
    made = make("WebShop")
    assert isinstance(made, WebShopEnv)
    return made


@pytest.fixture(scope="module")
def task(env: WebShopEnv) -> Task:
    """A task with one option, whose product is among the first ten for what it asks for."""
    for found in env.tasks.split("eval"):
        spec = found.spec
        place = env.stock.place(spec["asin"])
        if len(spec["options"]) == 1 and place in env.stock.find(words_of(env, found))[:10]:
            return found
    raise LookupError("no such task")


def words_of(env: WebShopEnv, task: Task) -> str:
    product = env.stock.get(task.spec["asin"])
    assert product is not None
    return f"{' '.join(task.spec['attributes'])} {product.query}"


@pytest.fixture(scope="module")
def site(env: WebShopEnv) -> Site:
    return Site(env, pick=lambda n: n - 1)


@pytest.fixture(scope="module")
def address(site: Site) -> Iterator[str]:
    server = serve(site, "127.0.0.1", 0)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join(10)


def links(body: str) -> list[str]:
    return [href.replace("&amp;", "&") for href in re.findall(r'(?:href|src)="([^"]+)"', body)]


def test_the_first_page_offers_a_search_a_task_and_products(site: Site) -> None:
    page = site.answer("/")
    assert page.status == 200
    assert "products, one of them right" in page.body
    assert 'id="search_input"' in page.body
    assert page.body.count('class="card"') == 15


def test_every_link_of_a_visit_leads_somewhere(site: Site, task: Task) -> None:
    seen, open_ = set(), [f"/?task={task.id}"]
    while open_ and len(seen) < 150:
        here = open_.pop(0)
        if here in seen:
            continue
        seen.add(here)
        page = site.answer(here)
        assert page.status in (200, 302), here
        if page.type.startswith("text/html"):
            open_ += [link.partition("#")[0] for link in links(page.body)]
    assert all(not urlsplit(link).netloc for link in seen), "nothing comes from elsewhere"
    assert len(seen) == 150


def test_a_search_finds_what_the_environment_finds(site: Site, env: WebShopEnv) -> None:
    page = site.answer("/search?q=Wireless+Keyboard&page=2")
    env.reset(seed=0)
    env.step("search[wireless keyboard]")
    env.step("click[next >]")
    wanted = [part.text for part in env.session.page if part.kind == "link"]
    assert re.findall(r'class="code">(\w+)<', page.body) == wanted
    assert "50 results" in page.body
    assert site.answer("/search?q=").location == "/"
    assert "Nothing found" in site.answer("/search?q=zeppelin").body
    assert "Page 5 of 5" in site.answer("/search?q=mug+shirt&page=9999").body


def test_options_change_the_price_and_the_order_is_scored(
    site: Site, env: WebShopEnv, task: Task
) -> None:
    spec = task.spec
    item = f"/item/{spec['asin']}?task={task.id}"
    product = env.stock.get(spec["asin"])
    assert product is not None
    page = site.answer(item)
    assert escape(spec["instruction"]) in page.body
    assert escape(product.title) in page.body
    pairs = [("o", f"{name}={value}") for name, value in spec["options"].items()]
    chosen = f"&{urlencode(pairs)}"
    page = site.answer(item + chosen)
    assert f'id="price">${product.cost(spec["options"]):.2f}<' in page.body
    assert page.body.count('class="chosen"') == len(spec["options"])
    order = site.answer(f"/order/{spec['asin']}?task={task.id}{chosen}")
    assert 'id="reward">1.00<' in order.body
    share = 1 - 1 / (len(spec["attributes"]) + 2)
    without = site.answer(f"/order/{spec['asin']}?task={task.id}")
    assert f'id="reward">{share:.2f}<' in without.body
    assert "reward" not in site.answer(f"/order/{spec['asin']}").body
    # What the product does not have cannot be chosen.
    assert 'class="chosen"' not in site.answer(f"{item}&o=size=enormous&o=smell=rose").body


def test_another_task_is_drawn_from_the_split(site: Site, env: WebShopEnv) -> None:
    assert site.answer("/goal").location == f"/?task={env.tasks.split('eval')[-1].id}"
    assert site.answer("/goal?split=train").location == f"/?task={env.tasks.split('train')[-1].id}"
    assert site.answer("/goal?split=none").status == 400


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/item/B000000000", 404),
        ("/picture/nothing.svg", 404),
        ("/nothing", 404),
        ("/style.css/../../env.py", 404),
        ("/?task=webshop_99999", 400),
        ("/?task=%00", 400),
        ("//", 200),
        ("/%", 404),
        ("/item/%ff%fe", 404),
        ("/search?q=a&page=x", 200),
        ("/?" + "&".join(f"a{i}=1" for i in range(500)), 400),
    ],
)
def test_wrong_addresses_are_answered(site: Site, address: str, status: int) -> None:
    assert site.answer(address).status == status


@given(st.text(max_size=60))
@settings(max_examples=150, deadline=None)
def test_no_address_breaks_it(text: str) -> None:
    site = Site(WebShopEnv())
    for where in (f"/{text}", f"/search?q={text}", f"/item/{text}", f"/?task={text}"):
        assert site.answer(where).status in (200, 302, 400, 404)


def test_nothing_of_a_product_or_a_visitor_is_taken_for_html() -> None:
    evil = '"><script>alert(1)</script>'
    product = Product(
        evil, evil, evil, evil, evil, (1.0,), evil, (evil,), (evil,), {evil: (evil, "b")},
        reviews=(Review(evil, 3.0, evil),),
    )  # fmt: skip
    visit = views.Visit(evil, None, evil, 1)
    for page in (
        views.home(visit, 1, [evil], [product]),
        views.results(visit, [product], 1),
        *(views.item(visit, product, {evil: evil}, tab) for tab in views.TABS),
        views.order(visit, product, {evil: evil}, None),
        views.problem(evil, evil),
    ):
        assert "<script" not in page
        assert evil not in page


def test_pictures_are_drawings_in_the_chosen_colour(env: WebShopEnv) -> None:
    product = env.stock.product(0)
    red, blue = picture(product, "dark red"), picture(product, "blue")
    assert red != blue
    assert "#c43d3d" in red
    queries = {env.stock.product(i).query: env.stock.product(i) for i in range(len(env.stock))}
    shapes = {re.sub("#[0-9a-f]{6}", "", picture(p, "blue")) for p in queries.values()}
    assert len(shapes) > 35
    for one in queries.values():
        ET.fromstring(picture(one))


def test_the_server_answers_with_a_policy_and_survives_nonsense(address: str) -> None:
    host = urlsplit(address).netloc
    connection = http.client.HTTPConnection(host, timeout=20)
    connection.request("GET", "/")
    answer = connection.getresponse()
    assert answer.status == 200
    assert "default-src 'none'" in str(answer.headers["Content-Security-Policy"])
    assert b"WebShop" in answer.read()
    connection.request("HEAD", "/style.css")
    answer = connection.getresponse()
    assert answer.status == 200
    assert answer.read() == b""
    connection = http.client.HTTPConnection(host, timeout=20)
    connection.request("POST", "/", body="x")
    assert connection.getresponse().status == 501
    connection = http.client.HTTPConnection(host, timeout=20)
    connection.request("GET", "/goal")
    assert connection.getresponse().status == 302


def test_the_command_says_where_it_serves(task: Task) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "agentgym", "shop", "--port", "0", "--task", task.id],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        found = re.search(rf"http://127\.0\.0\.1:(\d+)/\?task={task.id}", said)
        assert found, said
        connection = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=20)
        connection.request("GET", "/")
        assert connection.getresponse().status == 200
    finally:
        process.terminate()
        process.wait(20)


# In a real browser.


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
    program = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    if program is None:
        pytest.skip("no Chromium is installed")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield chromium
        chromium.close()


def test_a_person_buys_what_was_asked_for(
    browser: Any, address: str, env: WebShopEnv, task: Task
) -> None:
    spec = task.spec
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    troubles: list[str] = []
    page.on("console", lambda message: troubles.append(message.text))
    page.on("requestfailed", lambda request: troubles.append(request.url))
    page.on("request", lambda r: troubles.append(r.url) if not r.url.startswith(address) else None)
    page.goto(f"{address}/?task={task.id}")
    assert page.inner_text("#instruction") == spec["instruction"]
    page.fill("#search_input", words_of(env, task))
    page.click("header button")
    assert page.inner_text("#total") == "50 results"
    page.click(f".card:has-text('{spec['asin']}')", timeout=10_000)
    for name, value in spec["options"].items():
        page.click(f".option:has-text('{name}') .pills a:has-text('{value}') >> nth=0")
        assert page.inner_text(".pills .chosen").startswith(value)
    page.click("text=Reviews")
    assert page.locator(".review").count() > 0
    page.click("#buy")
    assert page.inner_text("#reward") == "1.00"
    assert page.inner_text("h1") == "Thank you for shopping with us!"
    page.close()
    assert not troubles


def test_pages_fit_a_telephone(browser: Any, address: str, task: Task) -> None:
    page = browser.new_page(viewport={"width": 360, "height": 740})
    for where in ("/", "/search?q=running+shoes", f"/item/{task.spec['asin']}"):
        page.goto(address + where)
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 360, where
        assert page.evaluate("[...document.images].every(i => i.complete && i.naturalWidth > 0)")
    page.close()
