"""The application: routers on one session store.

`create_app` makes what any ASGI server can run; `agentgym serve` runs it on uvicorn.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from agentgym.serve import faults, websocket
from agentgym.serve.api import Api
from agentgym.serve.endpoint import SEQ, Endpoint, Json
from agentgym.serve.limits import BodyLimit, Gate
from agentgym.serve.logs import RequestLog
from agentgym.serve.openapi import document
from agentgym.serve.operations import Operation, operations, routes
from agentgym.serve.pages import POLICY, page
from agentgym.serve.settings import ServeSettings
from agentgym.serve.store import SessionStore
from agentgym.serve.wire import encode

log = logging.getLogger("agentgym.serve")

DIALECTS = ("agentgym", "agentevolver", "openenv")
"""The protocols of others, each a module of `dialects`, served under its name."""


def create_app(
    settings: ServeSettings | None = None,
    *,
    hosts: Collection[str] = (),
    origins: Collection[str] = (),
) -> FastAPI:
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

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await store.start()
        try:
            yield
        finally:
            await store.stop()

    app = FastAPI(
        title="agentgym", lifespan=lifespan, openapi_url=None, docs_url=None, redoc_url=None
    )
    app.state.store = store
    api = Api(store)
    table = operations(api)
    app.router.routes[:0] = [*routes(table), *websocket.routes(api, store)]
    for name in DIALECTS:
        module = f"agentgym.serve.dialects.{name}"
        try:
            app.include_router(importlib.import_module(module).router(store), prefix=f"/{name}")
        except Exception:
            log.exception("the dialect %s is left out", name)
    faults.install(app)
    _explain(app, table)
    _guard(app, store.settings, hosts, origins)
    return app


def _explain(app: FastAPI, table: tuple[Operation, ...]) -> None:
    """Serve the OpenAPI document, and the page made of it."""
    made: dict[str, Any] = {}

    def openapi() -> dict[str, Any]:
        if not made:
            made.update(document(app, table))
        return made

    async def data(request: Request) -> Response:
        return Json(encode(openapi()))

    async def docs(request: Request) -> Response:
        base = f"{request.url.scheme}://{request.url.netloc}"
        headers = {"content-security-policy": POLICY}
        return HTMLResponse(page(openapi(), base), headers=headers)

    async def home(request: Request) -> Response:
        return RedirectResponse("docs")

    app.openapi = openapi  # type: ignore[method-assign]
    for path, handler in (("/openapi.json", data), ("/docs", docs), ("/", home)):
        app.router.routes.append(Route(path, Endpoint(handler, path)))


def _guard(
    app: FastAPI, settings: ServeSettings, hosts: Collection[str], origins: Collection[str]
) -> None:
    """Put before an application what looks at a request first; the last one is the outermost."""
    app.add_middleware(BodyLimit, most=settings.max_body)
    app.add_middleware(Gate, token=settings.token, hosts=hosts, origins=origins)
    if origins:  # a browser asks first, without the token
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(origins),
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["authorization", "content-type"],
            expose_headers=[SEQ],
        )
    app.add_middleware(RequestLog)
