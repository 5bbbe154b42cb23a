"""Our own protocol."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from agentgym.serve.store import Reply, SessionStore


def answer(reply: Reply) -> Response:
    """Return a session's answer as it is."""
    return Response(reply.body, reply.status, media_type="application/json")


def router(store: SessionStore) -> APIRouter:
    """Return the routes."""
    routes = APIRouter()

    @routes.get("/healthz")
    async def health(request: Request) -> dict[str, object]:
        return {"status": "ok", "sessions": len(store)}

    return routes
