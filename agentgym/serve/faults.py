"""Failures that no handler answers, in the one shape all have: a `Problem`.

A path that leads nowhere, a body FastAPI refuses, a mistake of the server: whatever goes wrong, a
client reads the same JSON. What the server's mistake was stands in its log and not in the answer.
"""

from __future__ import annotations

from typing import Any

from fastapi.exceptions import RequestValidationError
from gymnasium.error import ResetNeeded
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from agentgym.core.errors import AgentGymError
from agentgym.serve.endpoint import problem_response
from agentgym.serve.problem import BadRequest, NoSuchRoute, Problem, ServerFault, TooLarge


async def _told(request: Request, error: Exception) -> Response:
    return problem_response(Problem.of(error))


async def _http(request: Request, error: HTTPException) -> Response:
    where = f"{request.method} {request.scope['path'][:200]}"
    kind: type[AgentGymError]
    if error.status_code in (404, 405):
        kind, message = NoSuchRoute, f"the server has no {where}; /docs lists what it has"
    elif error.status_code == 413:
        kind, message = TooLarge, str(error.detail)
    else:
        kind, message = BadRequest, str(error.detail)
    problem = Problem.of(kind(message))
    response = problem_response(Problem(problem.types, message, error.status_code))
    response.raw_headers += [
        (name.lower().encode(), value.encode()) for name, value in (error.headers or {}).items()
    ]
    return response


async def _unread(request: Request, error: RequestValidationError) -> Response:
    wrong = "; ".join(
        f"{'.'.join(str(part) for part in one['loc'][1:]) or 'the body'}: {one['msg']}"
        for one in error.errors()[:3]
    )
    message = f"the request cannot be read: {wrong}"
    return problem_response(Problem(Problem.of(BadRequest("")).types, message, 422))


async def _unexpected(request: Request, error: Exception) -> Response:
    return problem_response(Problem.of(ServerFault("the server failed; its log says why")))


FAULTS: dict[Any, Any] = {
    AgentGymError: _told,
    ResetNeeded: _told,
    HTTPException: _http,
    RequestValidationError: _unread,
    Exception: _unexpected,
}
"""What answers a failure, by its kind; for Starlette and for FastAPI."""
