"""OpenEnv's protocol (openenv-core 0.3) on our sessions: a WebSocket a session.

A client is given `http://host:port/openenv/textcraft`. It connects to `/ws` behind it, sends
{"type": "reset" | "step" | "state" | "close", "data"} and receives {"type": "observation" | "state"
| "error", "data"}; the session lasts as long as the connection. An action is {"action": "get 1
log"}; a reset takes `seed`, `task_id` and `split`.

The protocol's HTTP routes hold no session: as in OpenEnv, each request has an environment of its
own, and what it leaves is gone with the answer. OpenEnv itself is not imported here.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from fastapi import APIRouter
from gymnasium.error import ResetNeeded
from starlette.requests import Request
from starlette.responses import Response
from starlette.websockets import WebSocket, WebSocketDisconnect

from agentgym.core.errors import AgentGymError
from agentgym.serve.dialects import openenv_schema as schema
from agentgym.serve.dialects.openenv_schema import MessageError
from agentgym.serve.dialects.openenv_session import Conversation, read_reset
from agentgym.serve.dialects.place import read_options, read_place
from agentgym.serve.dialects.profiles import Profiles
from agentgym.serve.dialects.refusal import refusal
from agentgym.serve.endpoint import Json
from agentgym.serve.fields import json_of
from agentgym.serve.problem import (
    BadRequest,
    NoRoom,
    NoSuchRoute,
    Problem,
    SessionLost,
    TooLarge,
    TooSlow,
    UnknownSession,
)
from agentgym.serve.store import SessionStore
from agentgym.serve.wire import encode

log = logging.getLogger("agentgym.serve")

_OWNER = "openenv"
_LOST = (SessionLost, TooSlow, UnknownSession)
_PATIENCE = 10.0  # seconds a client that gets no session has to learn why
_HTTP = {"health": "GET", "schema": "GET", "metadata": "GET", "state": "GET", "reset": "POST",
         "step": "POST"}  # fmt: skip


def router(store: SessionStore) -> APIRouter:
    """Return the routes; the application puts "/openenv" before them."""
    routes, service = APIRouter(), _OpenEnv(store)
    routes.add_websocket_route("/{place}/ws", service.talk)
    routes.add_route("/{place}/{verb}", service.http, methods=["GET", "POST"])
    return routes


class _OpenEnv:
    def __init__(self, store: SessionStore) -> None:
        self._store, self._profiles = store, Profiles(store)

    async def _open(self, place: str, query: Mapping[str, str]) -> Conversation:
        """Open a session for the options in an address."""
        name, options = read_place(place)
        options |= read_options(query.items())
        profile = await self._profiles.get(name, options)
        entry = await self._store.create(name, options, owner=_OWNER)
        return Conversation(self._store, entry, profile)

    # The WebSocket.

    async def talk(self, socket: WebSocket) -> None:
        """Hold a session for as long as a connection lasts."""
        await socket.accept()
        talk = None
        try:
            talk = await self._open(socket.path_params["place"], socket.query_params)
            socket.scope["entry"] = talk.entry
            while await self._turn(socket, talk):
                pass
            await socket.close()
        except (AgentGymError, ResetNeeded) as error:
            with suppress(WebSocketDisconnect, TimeoutError):
                await _send(socket, self._refusal(error))
                # The client reads this once it has sent something, which a closed connection
                # would not let it do.
                async with asyncio.timeout(_PATIENCE):
                    await socket.receive()
                await socket.close()
        except WebSocketDisconnect:  # the client is gone already
            pass
        finally:
            if talk is not None:
                await self._store.close(talk.entry)

    async def _turn(self, socket: WebSocket, talk: Conversation) -> bool:
        """Answer one message; return whether there may be another."""
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(message.get("code") or 1005)
        text = message.get("text") or (message.get("bytes") or b"").decode(errors="replace")
        try:
            if len(text) > self._store.settings.max_body:
                raise TooLarge(f"a message has at most {self._store.settings.max_body} characters")
            answer = await talk.answer(text)
            if answer is None:
                return False
        except MessageError as error:
            answer = schema.error(error.code, str(error), error.details)
        except (AgentGymError, ResetNeeded) as error:
            lost = isinstance(error, _LOST)
            code = "SESSION_ERROR" if lost else "EXECUTION_ERROR"
            await _send(socket, schema.error(code, str(error)))
            return not lost
        except Exception:
            log.exception("a message failed")
            answer = schema.error("EXECUTION_ERROR", "the server failed; its log says why")
        await _send(socket, answer)
        return True

    def _refusal(self, error: Exception) -> dict[str, Any]:
        """Return the message that says why there is no session."""
        if isinstance(error, NoRoom):
            counts = {
                "active_sessions": len(self._store),
                "max_sessions": self._store.settings.max_sessions,
            }
            return schema.error("CAPACITY_REACHED", str(error), counts)
        return schema.error("FACTORY_ERROR", str(error))

    # HTTP.

    async def http(self, request: Request) -> Response:
        """Answer a request that needs no session, or one whose session ends with the answer."""
        try:
            place, verb = request.path_params["place"], request.path_params["verb"]
            if _HTTP.get(verb) != request.method:
                known = ", ".join(f"{method} {name}" for name, method in _HTTP.items())
                raise NoSuchRoute(f"there is no {request.method} {verb[:80]!r}; there are {known}")
            return Json(encode(await self._answer(verb, place, request)))
        except MessageError as error:
            return Json(encode({"detail": error.details["errors"]}), 422)
        except (AgentGymError, ResetNeeded) as error:
            problem = Problem.of(error)
            return refusal(request, problem, {"detail": problem.message})

    async def _answer(self, verb: str, place: str, request: Request) -> dict[str, Any]:
        name, options = read_place(place)
        card = self._store.card(name)
        if verb == "health":
            return {"status": "healthy"}
        if verb == "schema":
            return schema.SCHEMAS
        if verb == "metadata":
            options |= read_options(request.query_params.items())
            return schema.metadata(card, await self._profiles.get(card.id, options))
        if verb == "state":
            return schema.state(None)
        body = await json_of(request)
        if not isinstance(body, dict):
            raise BadRequest("the body must be a JSON object")
        return await self._briefly(verb, place, request, body)

    async def _briefly(
        self, verb: str, place: str, request: Request, body: dict[str, Any]
    ) -> dict[str, Any]:
        """Begin an episode in a session of its own, and with `step` play one action of it."""
        action = schema.read_action(body.get("action")) if verb == "step" else None
        read_reset(body)  # what is wrong with it is said before an environment is made
        talk = await self._open(place, request.query_params)
        try:
            answer = await talk.reset(body)
            return answer if action is None else await talk.step(action)
        finally:
            await self._store.close(talk.entry)


async def _send(socket: WebSocket, message: dict[str, Any]) -> None:
    await socket.send_text(encode(message).decode())
