"""Who may ask, and how much: checked before anything else looks at a request.

Nothing is open that was not opened. A server that others can reach wants its token. One on the
loopback answers only to names of the loopback, so that no web page can reach it under a name of its
own, and no page from elsewhere may send it requests from a visitor's browser.

Both checks are plain ASGI, since they stand before every step.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hmac
import ipaddress
from collections.abc import Collection
from functools import lru_cache

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agentgym.core.errors import AgentGymError
from agentgym.serve.endpoint import problem_response, refuse
from agentgym.serve.problem import Forbidden, Problem, TooLarge, Unauthorized

OPEN = "/healthz"
"""The path that wants no token, for whatever watches over the process."""

_DRAIN = 64 * 2**20  # bytes of a body too large that are read and dropped before it is refused
_DRAIN_SECONDS = 10.0


@lru_cache(1024)  # one is asked for with every request
def is_loopback(host: str) -> bool:
    """Return whether a name or an address is this machine's own, and no other's way to it.

    >>> [is_loopback(h) for h in ("localhost", "127.0.0.2", "[::1]", "0.0.0.0", "a.localhost.org")]
    [True, True, True, False, False]
    """
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return False


class Gate:
    """Lets through what comes under a good name, from no foreign page, and with the token.

    Args:
        app: what it stands before.
        token: what must be shown; None asks for none.
        hosts: names that are good besides those of the loopback; they are checked where a request
            comes in over the loopback.
        origins: of pages in a browser that may send requests ("https://lab.example").
    """

    def __init__(
        self,
        app: ASGIApp,
        token: str | None = None,
        hosts: Collection[str] = (),
        origins: Collection[str] = (),
    ) -> None:
        self._app = app
        self._token = None if token is None else token.encode()
        self._hosts = frozenset(host.lower() for host in hosts)
        self._origins = frozenset(origin.lower().rstrip("/") for origin in origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            try:
                self._require(scope)
            except AgentGymError as error:
                await refuse(scope, receive, send, error)
                return
        await self._app(scope, receive, send)

    def _require(self, scope: Scope) -> None:
        host, origin, shown = "", None, b""
        for name, value in scope["headers"]:
            if name == b"host":
                host = value.decode("latin-1").lower()
            elif name == b"origin":
                origin = value.decode("latin-1").lower()
            elif name == b"authorization":
                shown = value
        self._require_host(scope, host)
        if origin is not None:
            self._require_origin(origin, host)
        if self._token is not None and not (scope["type"] == "http" and scope["path"] == OPEN):
            self._require_token(shown)

    def _require_host(self, scope: Scope, host: str) -> None:
        server = scope.get("server")
        if not server or server[1] is None or not is_loopback(server[0]):
            return
        name = _without_port(host)
        if not (is_loopback(name) or name in self._hosts):
            raise Forbidden(
                f"this server does not go by the name {name[:80]!r}. If it should, as behind a "
                f"proxy, start it with --allow-host {name[:80]}"
            )

    def _require_origin(self, origin: str, host: str) -> None:
        if origin.partition("://")[2] != host and origin not in self._origins:
            raise Forbidden(
                f"pages of {origin[:80]!r} may not use this server. If they should, start it with "
                f"--allow-origin {origin[:80]}"
            )

    def _require_token(self, shown: bytes) -> None:
        if not shown:
            raise Unauthorized(
                "this server wants its token: send the header 'Authorization: Bearer TOKEN', or "
                "give it in the address, http://agent:TOKEN@host"
            )
        assert self._token is not None
        if not hmac.compare_digest(_token_of(shown), self._token):
            raise Unauthorized("this is not the server's token")


class BodyLimit:
    """Refuses bodies that are too large, whether they say so or not.

    Args:
        app: what it stands before.
        most: bytes a body may have.
    """

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app, self._most = app, most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        length, waits = None, False
        for name, value in scope["headers"]:
            if name == b"content-length":
                length = int(value) if value.isdigit() else 0
            elif name == b"expect":
                waits = True
        if length is None:
            await self._counted(scope, receive, send)
        elif length <= self._most:
            await self._app(scope, receive, send)
        else:
            if not waits:  # the client is sending already, and reads no answer before it is done
                await _drop(receive)
            await self._too_large(scope, receive, send)

    async def _counted(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count what comes in; whatever the application makes of the refusal, answer with it."""
        size, more = 0, True

        async def count() -> Message:
            nonlocal size, more
            message = await receive()
            size += len(message.get("body", b""))
            more = message.get("more_body", False)
            if size > self._most:
                raise TooLarge(self._told())
            return message

        async def answer(message: Message) -> None:
            if size <= self._most:
                await send(message)

        try:
            await self._app(scope, count, answer)
        except Exception:
            if size <= self._most:
                raise
        if size > self._most:
            if more:
                await _drop(receive)
            await self._too_large(scope, receive, send)

    async def _too_large(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = problem_response(Problem.of(TooLarge(self._told())))
        response.raw_headers.append((b"connection", b"close"))
        await response(scope, receive, send)

    def _told(self) -> str:
        return f"a request's body has at most {self._most} bytes here; send less at a time"


async def _drop(receive: Receive) -> None:
    """Read the rest of a body and forget it, within bounds."""
    size = 0
    try:
        async with asyncio.timeout(_DRAIN_SECONDS):
            while size < _DRAIN:
                message = await receive()
                size += len(message.get("body", b""))
                if not message.get("more_body"):
                    return
    except TimeoutError:
        return


def _token_of(shown: bytes) -> bytes:
    """Return the token of an Authorization header: a bearer's, or the password of a pair."""
    scheme, _, rest = shown.partition(b" ")
    rest = rest.strip()
    if scheme.lower() == b"bearer":
        return rest
    if scheme.lower() == b"basic":
        try:
            return base64.b64decode(rest, validate=True).partition(b":")[2]
        except binascii.Error:
            return b""
    return b""


def _without_port(host: str) -> str:
    """Return the name of a Host header.

    >>> [_without_port(h) for h in ("localhost:80", "[::1]:80", "::1", "a.b")]
    ['localhost', '[::1]', '::1', 'a.b']
    """
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() and (":" not in name or name[0] == "[") else host
