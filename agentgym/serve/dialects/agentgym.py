"""AgentGym's protocol: both dialects of its environment servers, on our sessions.

A client is given `http://host:port/agentgym/webshop` where it had its server's address, and finds
the routes, fields, texts and rewards it knows; the table in `published` has them. Sessions are what
ours are: one client each, behind a number nobody guesses, closed by /close or in time.

Errors answer with an HTTP status and `{"error": "what to do"}`. The published clients assert a
status of 200, so that an episode that cannot go on ends in an exception and not, as with the
published {"error"} of status 200, in a KeyError or in a score of 0 that nobody played for. ALFWorld
keeps that answer, since its client shows it. A step after the end is none: it tells the end again.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from gymnasium.error import ResetNeeded
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from agentgym.core.errors import AgentGymError, UnknownEnvironment
from agentgym.serve.dialects.agentgym_server import Server
from agentgym.serve.dialects.place import read_place
from agentgym.serve.dialects.published import PUBLISHED
from agentgym.serve.dialects.refusal import refusal
from agentgym.serve.endpoint import Json
from agentgym.serve.problem import Problem
from agentgym.serve.store import SessionStore


def router(store: SessionStore) -> APIRouter:
    """Return the routes; the application puts "/agentgym" before them."""
    routes = APIRouter()
    routes.add_route("/{rest:path}", _AgentGym(store), methods=["GET", "POST"])  # type: ignore[arg-type]
    return routes


class _AgentGym:
    """Finds the server and the route of a request: a table look-up, whatever their number."""

    path = "/agentgym/{server}/{route}"

    def __init__(self, store: SessionStore) -> None:
        servers = [Server(store, row) for row in PUBLISHED]
        self._servers = {path: s for s in servers for path in s.published.paths}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        response = await self._answer(request, request.path_params["rest"])
        await response(scope, receive, send)

    async def _answer(self, request: Request, rest: str) -> Response:
        server = None
        try:
            server, options, verb = self._find(rest)
            request.scope["endpoint"] = server  # the log tells its path
            return await server.answer(request, verb, options)
        except (AgentGymError, ResetNeeded) as error:
            return _refusal(request, error, server, rest)

    def _find(self, rest: str) -> tuple[Server, dict[str, Any], str]:
        *folders, last = rest.rstrip("/").split("/")
        for at in (folders, [*folders, last]):  # the route is the last part, or there is none
            if at:
                name, options = read_place(at[-1])
                server = self._servers.get("/".join([*at[:-1], name]).lower())
                if server is not None:
                    return server, options, last if at is folders else ""
        asked = "/".join(folders) or last
        raise UnknownEnvironment("environment server", asked[:80], sorted(self._servers))


def _refusal(
    request: Request, error: AgentGymError | ResetNeeded, server: Server | None, rest: str
) -> Json:
    """Return an error the way the dialect has it."""
    problem = Problem.of(error)
    asked = rest.rstrip("/").rpartition("/")[2]
    answers = server is not None and server.published.answers_errors
    status = 200 if answers and asked in ("reset", "step") else None
    body = {"error": problem.message, "type": problem.types[0]}
    return refusal(request, problem, body, status)
