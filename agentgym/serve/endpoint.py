"""How a request becomes an answer without a detour.

A handler takes a request and returns JSON bytes; `Endpoint` is the ASGI application around it,
which answers every error as a `Problem`. What FastAPI would do around a handler (dependencies,
models of the answer) costs four times as much as all of this, and a step has no use for it; the
models of the OpenAPI page are in `schema`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from gymnasium.error import ResetNeeded
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from agentgym.core.errors import AgentGymError
from agentgym.serve.entry import Reply
from agentgym.serve.problem import Problem

SEQ = "agentgym-seq"
"""The header that tells the number of a session's last call that acted."""

Handler = Callable[[Request], Awaitable[Response]]

_TYPE = (b"content-type", b"application/json")
_SEQ = SEQ.encode()


class Json(Response):
    """JSON that is there already, as bytes.

    Args:
        body: the JSON.
        status: the HTTP status.
        seq: the number of the session's last call that acted, where there is one.
        headers: more headers, names in lower case.
    """

    def __init__(
        self,
        body: bytes,
        status: int = 200,
        seq: int | None = None,
        headers: tuple[tuple[bytes, bytes], ...] = (),
    ) -> None:
        # Not super().__init__, which takes longer for its generality than a step's way through it.
        self.status_code, self.body, self.background = status, body, None
        self.raw_headers = [_TYPE, (b"content-length", b"%d" % len(body)), *headers]
        if seq is not None:
            self.raw_headers.append((_SEQ, b"%d" % seq))

    @classmethod
    def of(cls, reply: Reply) -> Json:
        """Return a session's answer as it is."""
        return cls(reply.body, reply.status, reply.seq)


def problem_response(problem: Problem) -> Json:
    """Return a problem as an answer, with the headers its status asks for."""
    headers: list[tuple[bytes, bytes]] = []
    if problem.retry_after is not None:
        headers.append((b"retry-after", b"%d" % problem.retry_after))
    if problem.status == 401:
        headers.append((b"www-authenticate", b'Basic realm="agentgym", charset="UTF-8"'))
    return Json(problem.to_json(), problem.status, headers=tuple(headers))


async def refuse(scope: Scope, receive: Receive, send: Send, error: Exception) -> None:
    """Answer a request, or what would have become a WebSocket, with a problem."""
    response = problem_response(Problem.of(error))
    if scope["type"] == "http":
        await response(scope, receive, send)
    elif "websocket.http.response" in scope.get("extensions", {}):
        start = {"type": "websocket.http.response.start", "status": response.status_code}
        await send({**start, "headers": response.raw_headers})
        await send({"type": "websocket.http.response.body", "body": response.body})
    else:
        await send({"type": "websocket.close", "code": 1008, "reason": str(error)[:60]})


class Endpoint:
    """An ASGI application that answers with what a handler returns.

    Args:
        handler: takes the request.
        path: the route, for the log.
    """

    def __init__(self, handler: Handler, path: str) -> None:
        self._handler, self.path = handler, path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            response = await self._handler(Request(scope, receive))
        except (AgentGymError, ResetNeeded) as error:
            response = problem_response(Problem.of(error))
        await response(scope, receive, send)
