"""The OpenAPI document and its page: valid, whole, and the same without a network."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from agentgym.serve.app import create_app
from agentgym.serve.settings import ServeSettings
from tests.serve.server import serving

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def app() -> Starlette:
    return create_app(ServeSettings())


@pytest.fixture(scope="module")
def client(app: Starlette) -> Iterator[TestClient]:
    with TestClient(app, "http://127.0.0.1") as client:
        yield client


@pytest.fixture(scope="module")
def document(client: TestClient) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/openapi.json").json()
    return found


def test_the_document_is_valid(document: dict[str, Any]) -> None:
    validator = pytest.importorskip("openapi_spec_validator")
    validator.validate(document)


def test_every_route_is_in_the_document(app: Starlette, document: dict[str, Any]) -> None:
    own = {"/openapi.json", "/docs", "/"}
    routes = [r for r in app.routes if isinstance(r, Route) and r.path not in own]
    assert len(routes) == 20
    for route in routes:
        methods = document["paths"][route.path.replace(":path", "")]
        for method in route.methods - {"HEAD"}:
            operation = methods[method.lower()]
            assert operation["summary"]
            assert operation["responses"]
            assert operation["tags"][0] in [tag["name"] for tag in document["tags"]]


def test_every_shape_a_route_names_is_there(document: dict[str, Any]) -> None:
    named = set(re.findall(r"'#/components/schemas/(\w+)'", str(document)))
    assert named
    assert named <= set(document["components"]["schemas"])


def test_operations_have_names_of_their_own(document: dict[str, Any]) -> None:
    names = [o["operationId"] for methods in document["paths"].values() for o in methods.values()]
    assert len(names) == len(set(names))


def test_the_page_has_everything_and_nothing_from_elsewhere(
    client: TestClient, document: dict[str, Any]
) -> None:
    answer = client.get("/docs")
    assert answer.status_code == 200
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    page = answer.text
    assert "<script" not in page
    ids = set(re.findall(r"id='([^']+)'", page))
    links = re.findall(r"href='([^']+)'", page)
    for link in links:
        assert link == "openapi.json" or (link[0] == "#" and link[1:] in ids), link
    assert not re.findall(r"(?:src|url)\s*[=(]", page)
    for path, methods in document["paths"].items():
        assert page.count(f"<code>{path}</code>") == len(methods), path
    for name in document["components"]["schemas"]:
        assert f"shape-{name}" in ids


def test_a_name_of_the_server_cannot_write_into_the_page(app: Starlette) -> None:
    with TestClient(app, "http://x") as client:
        page = client.get("/docs", headers={"host": "a<script>alert(1)</script>"}).text
    assert "<script" not in page


def test_the_first_page_leads_there(client: TestClient) -> None:
    assert client.get("/", follow_redirects=False).headers["location"] == "docs"


def test_a_mistake_of_the_server_is_told_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    app = create_app(ServeSettings())
    monkeypatch.setattr(app.state.store, "cards", lambda: 1 // 0)
    with TestClient(app, "http://127.0.0.1", raise_server_exceptions=False) as client:
        answer = client.get("/v1/environments")
    assert answer.status_code == 500
    error = answer.json()["error"]
    assert error["type"] == "ServerFault"
    assert "division" not in error["message"]


@pytest.mark.skipif(CHROMIUM is None, reason="apt-get install chromium")
def test_the_page_in_a_browser() -> None:
    browsers = pytest.importorskip("playwright.sync_api", reason="pip install playwright")
    with serving() as url, browsers.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        said: list[str] = []
        asked: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{url}/docs")
        page.click("nav a[href='#post-v1-sessions']")
        assert page.locator("#post-v1-sessions").bounding_box()["y"] < 100
        line = page.locator("#post-v1-sessions pre").inner_text()
        assert line.startswith(f"curl {url}/v1/sessions -d")
        # Nothing is wider than the window, on a telephone either.
        page.set_viewport_size({"width": 400, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
        browser.close()
    assert said == []
    assert asked == [f"{url}/docs"]
    assert httpx.URL(asked[0]).path == "/docs"
