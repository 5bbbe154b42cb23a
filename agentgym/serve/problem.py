"""Errors on the wire: the same types on both sides.

A problem carries the names of an error's classes, leaf first, so that a client raises the nearest
class it knows, with the server's message. The HTTP status follows from the class.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gymnasium.error import ResetNeeded

from agentgym.core import errors
from agentgym.core.errors import AgentGymError, told


class UnknownSession(AgentGymError):
    """There is no session of this id, and there has been none lately."""


class SessionLost(AgentGymError):
    """The session was, and is no more: it was closed, it expired, or its process ended."""


class OutOfStep(AgentGymError):
    """A call's sequence number is neither the next one nor a repetition of the last."""


class NoRoom(AgentGymError):
    """The server has as many sessions, or as much in memory, as it may.

    Args:
        message: what is full.
        retry_after: seconds after which it is worth trying again.
    """

    def __init__(self, message: str, retry_after: int = 5) -> None:
        self.retry_after = retry_after
        super().__init__(message)


class TooSlow(AgentGymError):
    """An environment did not answer in the time a call may take; its session is lost."""


class WorkerFailed(AgentGymError):
    """A worker process could not be started, or ended while it made a session."""


class EnvironmentFault(AgentGymError):
    """An environment raised what it should not have; its session needs a reset."""


class NoExpert(AgentGymError):
    """The environment ships no expert."""


class BadRequest(AgentGymError):
    """A request is not what the protocol asks for; the message says what is."""


class Unauthorized(AgentGymError):
    """The request did not show the server's token."""


class Forbidden(AgentGymError):
    """Whoever runs the server does not allow this."""


class TooLarge(AgentGymError):
    """A request is larger than the server takes."""


class NoSuchRoute(AgentGymError):
    """The server has nothing under this path, or not for this method."""


class ServerFault(AgentGymError):
    """The server itself failed; its log says more."""


_STATUS: dict[type[BaseException], int] = {
    errors.UnknownName: 404,
    errors.MissingData: 501,
    errors.MissingExtra: 501,
    errors.BrokenContract: 500,
    UnknownSession: 404,
    SessionLost: 410,
    OutOfStep: 409,
    NoRoom: 503,
    TooSlow: 504,
    WorkerFailed: 502,
    EnvironmentFault: 500,
    ServerFault: 500,
    NoExpert: 501,
    Unauthorized: 401,
    Forbidden: 403,
    NoSuchRoute: 404,
    TooLarge: 413,
    BadRequest: 400,
    AgentGymError: 422,
    ResetNeeded: 409,
}


@dataclass(frozen=True, slots=True)
class Problem:
    """An error as data.

    Attributes:
        types: names of the error's classes, leaf first, down to "AgentGymError" or "ResetNeeded".
        message: what was wrong and what to do.
        status: the HTTP status.
        retry_after: seconds after which to try again, where that helps.
    """

    types: tuple[str, ...]
    message: str
    status: int
    retry_after: int | None = None

    @classmethod
    def of(cls, error: BaseException) -> Problem:
        """Describe an error; one that nobody raises on purpose is an `EnvironmentFault`."""
        if not isinstance(error, AgentGymError | ResetNeeded):
            error = EnvironmentFault(f"the environment failed: {told(error)}; reset the session")
        names, status = [], 500
        for kind in type(error).__mro__:
            names.append(kind.__name__)
            if kind in (AgentGymError, ResetNeeded):
                break
        for kind in type(error).__mro__:
            if kind in _STATUS:
                status = _STATUS[kind]
                break
        return cls(tuple(names), str(error), status, getattr(error, "retry_after", None))

    def to_json(self) -> bytes:
        """Return the body of an answer: {"error": {"type", "types", "message"}}."""
        error = {"type": self.types[0], "types": self.types, "message": self.message}
        return json.dumps({"error": error}).encode()

    @classmethod
    def from_json(cls, body: Any, status: int) -> Problem:
        """Read the body of an answer; one of another server becomes an `AgentGymError`."""
        error = body.get("error") if isinstance(body, dict) else None
        if not isinstance(error, dict) or not isinstance(error.get("message"), str):
            return cls(("AgentGymError",), f"the server answered {status}: {body!r:.300}", status)
        types = error.get("types")
        names = tuple(t for t in types if isinstance(t, str)) if isinstance(types, list) else ()
        return cls(names or ("AgentGymError",), error["message"], status)

    def error(self) -> Exception:
        """Return the error this describes, of the nearest class known here."""
        if "ResetNeeded" in self.types:
            return ResetNeeded(self.message)
        known = {kind.__name__: kind for kind in _descendants(AgentGymError)}
        for name in self.types:
            if name in known:
                kind = known[name]
                error = kind.__new__(kind)
                Exception.__init__(error, self.message)
                if isinstance(error, NoRoom):
                    error.retry_after = self.retry_after or 5
                return error
        return AgentGymError(self.message)


def _descendants(kind: type[AgentGymError]) -> Iterator[type[AgentGymError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from _descendants(child)
