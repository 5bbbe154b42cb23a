"""The application: routers on one session store.

`create_app` makes what any ASGI server can run; `agentgym serve` runs it on uvicorn.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from agentgym.serve import api
from agentgym.serve.settings import ServeSettings
from agentgym.serve.store import SessionStore


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
    app.include_router(api.router(store))
    return app
