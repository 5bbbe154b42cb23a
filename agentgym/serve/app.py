"""The application: routers on one session store.

`create_app` makes what any ASGI server can run; `agentgym serve` runs it on uvicorn.
"""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from agentgym.core.extras import installed
from agentgym.serve.api import Api
from agentgym.serve.operations import operations, routes
from agentgym.serve.settings import ServeSettings
from agentgym.serve.store import SessionStore

DIALECTS = ("agentgym", "agentevolver", "openenv")
"""The protocols of others, each a module of `dialects`, served under its name."""


def create_app(settings: ServeSettings | None = None) -> FastAPI:
    """Return the application.

    Args:
        settings: of the server.

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

    app = FastAPI(title="agentgym", lifespan=lifespan)
    app.state.store = store
    app.router.routes[:0] = routes(operations(Api(store)))
    for name in DIALECTS:
        module = f"agentgym.serve.dialects.{name}"
        if installed(module):
            app.include_router(importlib.import_module(module).router(store), prefix=f"/{name}")
    return app
