"""The application: routers on one session store.

`create_app` makes what any ASGI server can run; `agentgym serve` runs it on uvicorn.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from agentgym.serve import faults, websocket
from agentgym.serve.api import Api
from agentgym.serve.endpoint import SEQ
from agentgym.serve.limits import BodyLimit, Gate
from agentgym.serve.logs import RequestLog
from agentgym.serve.operations import operations, routes
from agentgym.serve.settings import ServeSettings
from agentgym.serve.store import SessionStore

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

    app = FastAPI(title="agentgym", lifespan=lifespan, docs_url=None, redoc_url=None)
    app.state.store = store
    api = Api(store)
    app.router.routes[:0] = [*routes(operations(api)), *websocket.routes(api, store)]
    for name in DIALECTS:
        module = f"agentgym.serve.dialects.{name}"
        try:
            app.include_router(importlib.import_module(module).router(store), prefix=f"/{name}")
        except Exception:
            log.exception("the dialect %s is left out", name)
    faults.install(app)
    _guard(app, store.settings, hosts, origins)
    return app


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
