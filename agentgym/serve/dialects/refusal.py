"""Errors as the dialects answer them: a status, a body of theirs, and a line in the log.

The published clients drop what the body says, so the log is where its reader finds the reason.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from agentgym.serve.endpoint import Json
from agentgym.serve.problem import Problem
from agentgym.serve.wire import encode

log = logging.getLogger("agentgym.serve")


def refusal(
    request: Request, problem: Problem, body: Mapping[str, Any], status: int | None = None
) -> Json:
    """Return the answer to a request that is refused.

    Args:
        request: the request.
        problem: what is wrong.
        body: what the dialect's client is told.
        status: the HTTP status, where it is not the problem's own.
    """
    path, why = request.url.path, problem.message
    log.warning("request refused", extra={"path": path, "status": problem.status, "why": why})
    headers: tuple[tuple[bytes, bytes], ...] = ()
    if problem.retry_after is not None:
        headers = ((b"retry-after", b"%d" % problem.retry_after),)
    return Json(encode(body), status or problem.status, headers=headers)
