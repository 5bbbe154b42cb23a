"""The application: our protocol and those of others on one session store.

Our own routes stand first and are plain Starlette, since a step passes them; the dialects of others
are FastAPI routers in an application behind them. `agentgym serve` runs it on uvicorn, and any
other ASGI server can.
"""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from agentgym.serve import websocket
from agentgym.serve.api import Api
from agentgym.serve.endpoint import SEQ, Endpoint, Json
from agentgym.serve.faults import FAULTS
from agentgym.serve.limits import BodyLimit, Gate
from agentgym.serve.logs import RequestLog
from agentgym.serve.openapi import document
from agentgym.serve.operations import Operation, operations, routes
from agentgym.serve.pages import POLICY, page
from agentgym.serve.settings import ServeSettings
from agentgym.serve.store import SessionStore
from agentgym.serve.wire import encode

DIALECTS = ("agentgym", "agentevolver", "openenv")
"""The protocols of others, each a module of `dialects`, served under its name."""


def create_app(
    settings: ServeSettings | None = None,
    *,
    hosts: Collection[str] = (),
    origins: Collection[str] = (),
) -> Starlette:
    """Return the application.

    Args:
        settings: of the server.
        hosts: names it goes by besides those of the loopback, as behind a proxy.
        origins: of the pages in browsers that may use it.

    Returns:
        An ASGI application whose lifespan starts and ends the workers; `app.state.store` is its
        session store.
    """
    store = SessionStore(settings)
    api = Api(store)
    table = operations(api)
    others = _others(store)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await store.start()
        try:
            yield
        finally:
            await store.stop()

    app = Starlette(
        routes=[*routes(table), *websocket.routes(api, store), *_pages(table)],
        middleware=_guards(store.settings, hosts, origins),
        exception_handlers=FAULTS,
        lifespan=lifespan,
    )
    app.router.default = others
    app.state.store = store
    return app


def _others(store: SessionStore) -> FastAPI:
    """Return the dialects, each under its name."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None, exception_handlers=FAULTS)
    for name in DIALECTS:
        dialect = importlib.import_module(f"agentgym.serve.dialects.{name}")
        app.include_router(dialect.router(store), prefix=f"/{name}")
    return app


def _pages(table: tuple[Operation, ...]) -> list[BaseRoute]:
    """Return the routes of the OpenAPI document and of the page made of it."""
    made: dict[str, Any] = {}

    def whole() -> dict[str, Any]:
        if not made:
            made.update(document(table))
        return made

    async def data(request: Request) -> Response:
        return Json(encode(whole()))

    async def docs(request: Request) -> Response:
        base = f"{request.url.scheme}://{request.url.netloc}"
        headers = {"content-security-policy": POLICY}
        return HTMLResponse(page(whole(), base), headers=headers)

    async def home(request: Request) -> Response:
        return RedirectResponse("docs")

    found = (("/openapi.json", data), ("/docs", docs), ("/", home))
    return [Route(path, Endpoint(handler, path), methods=["GET"]) for path, handler in found]


def _guards(
    settings: ServeSettings, hosts: Collection[str], origins: Collection[str]
) -> list[Middleware]:
    """Return what looks at a request before the routes do, the outermost first."""
    gate = Middleware(Gate, token=settings.token, hosts=hosts, origins=origins)
    asked = Middleware(  # a browser asks first, without the token
        CORSMiddleware,
        allow_origins=list(origins),
        allow_methods=["GET", "POST", "DELETE"],
        allow_headers=["authorization", "content-type"],
        expose_headers=[SEQ],
    )
    limit = Middleware(BodyLimit, most=settings.max_body)
    return [Middleware(RequestLog), *([asked] if origins else []), gate, limit]
