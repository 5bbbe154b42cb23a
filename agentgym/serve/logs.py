"""The server's log: a line an event, as JSON or as text, on standard error.

A request is one line: what was asked by which route, of which environment, and how it went. What a
model wrote, what an environment answered and what a client showed to be let in never stand in it,
and of a session only the beginning of its id, since who has the whole has the session.
"""

from __future__ import annotations

import json
import logging
import sys
import time
import traceback
from datetime import UTC, datetime
from typing import Any, Literal

import msgspec
from starlette.types import ASGIApp, Message, Receive, Scope, Send

Format = Literal["json", "text"]

log = logging.getLogger("agentgym.serve.requests")

_json = msgspec.json.Encoder(enc_hook=str).encode
_QUIET = ("/healthz", "/metrics")
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message"}


class JsonLines(logging.Formatter):
    """A record as one JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_extra(record),
        }
        if record.exc_info:
            line["error"] = "".join(traceback.format_exception(*record.exc_info))
        return _json(line).decode()


class TextLines(logging.Formatter):
    """A record as one line for people; a traceback follows below it."""

    def format(self, record: logging.LogRecord) -> str:
        extra = "".join(f" {name}={_word(value)}" for name, value in _extra(record).items())
        line = f"{_time(record)} {record.levelname:<7} {record.getMessage()}{extra}"
        if record.exc_info:
            line += "\n" + "".join(traceback.format_exception(*record.exc_info)).rstrip()
        return line


def configure(kind: Format, level: str = "info") -> None:
    """Send what agentgym and uvicorn log to standard error.

    Args:
        kind: how a line looks.
        level: the least that is logged ("debug", "info", "warning", "error").
    """
    # A line needs none of these, and a step waits for its line.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if kind == "json" else TextLines())
    for name in ("agentgym", "uvicorn"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.propagate = False
        logger.setLevel(level.upper())
    logging.getLogger("uvicorn.access").disabled = True  # `RequestLog` says more
    # What uvicorn says of its life is said by the command in its own words.
    logging.getLogger("uvicorn.error").setLevel("WARNING" if level != "debug" else "DEBUG")


class RequestLog:
    """Writes a line for every request.

    Args:
        app: what answers it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket") or not log.isEnabledFor(logging.INFO):
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"].endswith(".start"):
                status = message["status"]
            elif message["type"] == "websocket.accept":
                status = 101
            await send(message)

        try:
            await self._app(scope, receive, answer)
        except Exception:
            status = 500
            raise
        finally:
            _write(scope, status, time.perf_counter() - began)


def _write(scope: Scope, status: int, seconds: float) -> None:
    level = logging.DEBUG if scope["path"] in _QUIET and status == 200 else logging.INFO
    if not log.isEnabledFor(level):
        return
    told: dict[str, Any] = {
        "method": scope.get("method", "WEBSOCKET"),
        "route": _route(scope),
        "status": status,
        "ms": round(1000 * seconds, 3),
    }
    entry = scope.get("entry")
    if entry is not None:
        told["session"], told["environment"] = entry.id[:8], entry.env_id
    # Not log.log(), which looks through the stack for its caller; and the fields stay together, so
    # that the formatter need not tell them from the record's own.
    record = logging.LogRecord(log.name, level, "", 0, "request", None, None)
    record.fields = told
    log.handle(record)


def _route(scope: Scope) -> str:
    """Return the path with its parameters in braces; a path that leads nowhere is not told."""
    endpoint = scope.get("endpoint")
    path = getattr(endpoint, "path", None)
    if path is None and endpoint is not None:
        path = scope["path"]
        for name, value in scope.get("path_params", {}).items():
            path = path.replace(str(value), f"{{{name}}}", 1)
    return str(path or "-")


def _word(value: Any) -> str:
    text = str(value)
    return text if text.isprintable() and " " not in text else json.dumps(text)


def _extra(record: logging.LogRecord) -> dict[str, Any]:
    fields: dict[str, Any] | None = getattr(record, "fields", None)
    if fields is not None:
        return fields
    return {name: value for name, value in vars(record).items() if name not in _STANDARD}


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
