"""Sessions over a WebSocket: one JSON message a call, answered in order.

A connection has a session: the one of its path, or the one its message `create` opens. A message is
read when the one before has been answered, so that a client that sends without reading is held up
by its own connection and costs nobody else anything. When the connection ends the session stays,
for a client that comes back, until it is closed or has been idle for too long; with
`?close_on_disconnect=true` it goes with the connection.
"""

from __future__ import annotations

import json
import logging
from typing import Any

from gymnasium.error import ResetNeeded
from starlette.routing import BaseRoute, WebSocketRoute
from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from agentgym.core.errors import AgentGymError, did_you_mean
from agentgym.serve.api import Api
from agentgym.serve.endpoint import refuse
from agentgym.serve.entry import Entry, Reply
from agentgym.serve.fields import Fields, parse
from agentgym.serve.problem import BadRequest, ServerFault, TooLarge
from agentgym.serve.store import SessionStore
from agentgym.serve.verbs import VERBS

log = logging.getLogger("agentgym.serve")

_OWN = ("create", "close", "ping")
_GONE = 1000  # the session was closed as asked
_DISCONNECT = "close_on_disconnect"


def routes(api: Api, store: SessionStore) -> list[BaseRoute]:
    """Return the routes of the WebSockets."""
    paths = ("/v1/sessions/{session}/ws", "/v1/ws")
    return [WebSocketRoute(path, SocketEndpoint(api, store, path)) for path in paths]


class SocketEndpoint:
    """The ASGI application at the path of a WebSocket.

    Args:
        api: what answers calls.
        store: where the sessions are.
        path: the route, for the log.
    """

    def __init__(self, api: Api, store: SessionStore, path: str) -> None:
        self._api, self._store, self.path = api, store, path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        socket = WebSocket(scope, receive, send)
        entry = None
        try:
            closes = _flag(socket.query_params.get(_DISCONNECT))
            if "session" in socket.path_params:
                entry = self._store.find(socket.path_params["session"])
        except AgentGymError as error:
            await refuse(scope, receive, send, error)
            return
        scope["entry"] = entry
        await socket.accept()
        connection = Connection(socket, self._api, self._store, entry)
        try:
            await connection.run()
        except WebSocketDisconnect:
            pass
        finally:
            if closes and connection.entry is not None:
                await self._store.close(connection.entry)


class Connection:
    """An open WebSocket.

    Args:
        socket: the WebSocket.
        api: what answers calls.
        store: where the sessions are.
        entry: the session it is for, or None where it opens its own.
    """

    def __init__(
        self, socket: WebSocket, api: Api, store: SessionStore, entry: Entry | None
    ) -> None:
        self._socket, self._api, self._store = socket, api, store
        self.entry = entry
        self._own = entry is None

    async def run(self) -> None:
        """Answer message after message until the other side leaves.

        Raises:
            WebSocketDisconnect: when it does.
        """
        while True:
            message = await self._socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            await self._socket.send_text((await self._answer(message)).decode())
            if self.entry is None and not self._own:
                await self._socket.close(_GONE, "the session is closed")
                return

    async def _answer(self, message: Message) -> bytes:
        name: str | int | None = None
        try:
            values = self._object(message)
            name = _name(values)
            reply = await self._call(_verb(values), values)
        except (AgentGymError, ResetNeeded) as error:
            reply = Reply.of(error)
        except Exception:
            log.exception("a message failed")
            reply = Reply.of(ServerFault("the server failed; its log says why"))
        return _framed(name, reply)

    def _object(self, message: Message) -> dict[str, Any]:
        text = message.get("text")
        body = text.encode() if text is not None else message.get("bytes") or b""
        most = self._store.settings.max_body
        if len(body) > most:
            raise TooLarge(f"a message has at most {most} bytes here, got {len(body)}")
        values = parse(body)
        if not isinstance(values, dict):
            raise BadRequest('a message is an object like {"id": 1, "verb": "step", "action": "…"}')
        return values

    async def _call(self, verb: str, given: dict[str, Any]) -> Reply:
        if verb == "ping":
            Fields(given, ())
            return Reply(200, b"{}")
        if verb == "create":
            return await self._create(given)
        if self.entry is None:
            raise BadRequest("this connection has no session yet: send the verb 'create' first")
        if verb == "close":
            Fields(given, ())
            entry, self.entry = self.entry, None
            await self._store.close(entry)
            return Reply(200, b"{}")
        self._store.find(self.entry.id)  # it may have expired; this says so
        return await self._api.play(self.entry, verb, given)

    async def _create(self, given: dict[str, Any]) -> Reply:
        if self.entry is not None:
            raise BadRequest("this connection has a session; close it before creating another")
        entry, turn = await self._api.open(given)
        if turn is not None and not turn.ok:
            return turn
        self.entry = self._socket.scope["entry"] = entry
        return Reply(200, self._api.opened(entry, turn), (turn and turn.seq) or 0)


def _name(values: dict[str, Any]) -> str | int | None:
    """Take the id a client gave its message out of it."""
    name = values.pop("id", None)
    if not (name is None or isinstance(name, str | int)):
        raise BadRequest("the field 'id' must be a whole number or text")
    return name


def _verb(values: dict[str, Any]) -> str:
    """Take the verb out of a message."""
    verb = values.pop("verb", None)
    if not isinstance(verb, str) or not (verb in VERBS or verb in _OWN):
        hint = did_you_mean(str(verb)[:40], (*VERBS, *_OWN))
        told = f"the field 'verb' must name a call, got {str(verb)[:40]!r}. {hint}"
        raise BadRequest(told.rstrip())
    return verb


def _flag(text: str | None) -> bool:
    if text not in (None, "", "0", "1", "false", "true"):
        raise BadRequest(f"{_DISCONNECT!r} must be true or false")
    return text in ("1", "true")


def _framed(name: Any, reply: Reply) -> bytes:
    """Return the answer to a message around the worker's own JSON."""
    seq = b"null" if reply.seq is None else b"%d" % reply.seq
    head = b'{"id":%b,"status":%d,"seq":%b,' % (json.dumps(name).encode(), reply.status, seq)
    if reply.ok:
        return head + b'"answer":' + reply.body + b"}"
    return head + reply.body[1:]  # {"error": …}
