"""The OpenAPI document of our protocol, made from its table.

The protocols of others are described where they come from, and not here.
"""

from __future__ import annotations

import re
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

import agentgym
from agentgym.serve import schema
from agentgym.serve.endpoint import SEQ
from agentgym.serve.operations import Operation

_REF = "#/components/schemas/{model}"
_ABOUT = """Text environments for language-model agents, over HTTP and WebSocket.

Open a session with `POST /v1/sessions`, then call `step` until `terminated` or `truncated`. A
session's calls are played one after another, whoever makes them. Calls that act may carry a
number, `seq`, so that they can be repeated without acting twice; the header `agentgym-seq` of every
answer tells the last one.

Every failure is `{"error": {"type", "types", "message"}}`, whose message says what to do.

The same calls go over a WebSocket at `/v1/sessions/{session}/ws`, or at `/v1/ws`, which opens its
own session: a message `{"id": 1, "verb": "step", "action": "look"}` is answered by
`{"id": 1, "status": 200, "seq": 2, "answer": {…}}`, in order. Its verbs are the calls below, and
`create`, `close` and `ping`. The session outlives the connection unless the address ends in
`?close_on_disconnect=true`.

Under `/agentgym`, `/agentevolver` and `/openenv` the server speaks to clients of those systems.
"""
_GROUPS = {
    "Sessions": "One environment each, held by the server until it is closed or idle for too long.",
    "Playing": "Calls on a session.",
    "Environments": "What there is to play.",
    "The server": "How it is.",
}
_FAILURES = {
    400: "The request is not what the protocol asks for.",
    401: "The server wants its token.",
    403: "Whoever runs the server does not allow this.",
    404: "There is no such session, environment, task or split.",
    409: "The number is out of step, or there is no episode to play: reset first.",
    410: "The session is gone; the message says why.",
    413: "The request is too large.",
    422: "An option, an episode or a snapshot cannot be had.",
    500: "The environment or the server failed.",
    501: "The environment needs data or a package that is not there.",
    502: "The environment's process ended or could not be started.",
    503: "There is no room; `Retry-After` says when to ask again.",
    504: "The environment did not answer in time.",
}
_DONE = {200: "Done.", 201: "Opened; `Location` says where.", 204: "Closed."}
_ALWAYS = (400, 401, 403, 413)


def document(table: tuple[Operation, ...]) -> dict[str, Any]:
    """Return the document.

    Args:
        table: the operations of our protocol.
    """
    models = sorted(_models(table), key=lambda model: model.__name__)
    _, shapes = models_json_schema([(model, "validation") for model in models], ref_template=_REF)
    paths: dict[str, dict[str, Any]] = {}
    for operation in table:
        path = operation.path.replace(":path", "")
        paths.setdefault(path, {})[operation.method.lower()] = _operation(operation)
    components = {
        "schemas": shapes["$defs"],
        "securitySchemes": {
            "token": {"type": "http", "scheme": "bearer"},
            "password": {
                "type": "http",
                "scheme": "basic",
                "description": "The token as the password, for clients that only take an address.",
            },
        },
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "agentgym", "version": agentgym.__version__, "description": _ABOUT},
        "tags": [{"name": name, "description": about} for name, about in _GROUPS.items()],
        "paths": paths,
        "components": components,
        "security": [{}, {"token": []}, {"password": []}],
    }


def _models(table: tuple[Operation, ...]) -> set[type[BaseModel]]:
    return {
        schema.Error,
        *(operation.asks for operation in table if operation.asks),
        *(operation.answers for operation in table if operation.answers),
    }


def _operation(operation: Operation) -> dict[str, Any]:
    words = re.findall(r"\w+", operation.path.replace(":path", ""))
    told: dict[str, Any] = {
        "operationId": "_".join([operation.method.lower(), *words]),
        "tags": [operation.group],
        "summary": operation.summary,
        "parameters": [*_path(operation), *_query(operation)],
        "responses": _responses(operation),
    }
    if operation.asks is not None:
        content: dict[str, Any] = {"schema": _shape(operation.asks, operation.many)}
        if operation.example is not None:
            content["example"] = operation.example
        told["requestBody"] = {
            "required": operation.required,
            "content": {"application/json": content},
        }
    return told


def _path(operation: Operation) -> list[dict[str, Any]]:
    names = re.findall(r"{(\w+)", operation.path)
    about = {"session": "The id of the session.", "name": "Id or short name of the environment."}
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "description": about[name],
            "schema": {"type": "string"},
        }
        for name in names
    ]


def _query(operation: Operation) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "query", "description": about, "schema": {"type": "string"}}
        for name, about in operation.query.items()
    ]


def _responses(operation: Operation) -> dict[str, Any]:
    success: dict[str, Any] = {"description": _DONE[operation.status]}
    if operation.answers is not None:
        shape = _shape(operation.answers, operation.many)
        success["content"] = {"application/json": {"schema": shape}}
    elif operation.status == 200:
        success["content"] = {"text/plain": {"schema": {"type": "string"}}}
    if operation.group == "Playing" and not operation.many:
        success["headers"] = {
            SEQ: {
                "description": "The number of the session's last call that acted.",
                "schema": {"type": "integer"},
            }
        }
    failure = {"application/json": {"schema": {"$ref": _REF.format(model="Error")}}}
    statuses = sorted({*operation.errors, *_ALWAYS})
    if operation.path == "/healthz":
        return {"200": success, "503": {**success, "description": "The server is stopping."}}
    failures = {str(s): {"description": _FAILURES[s], "content": failure} for s in statuses}
    return {str(operation.status): success, **failures}


def _shape(model: type[Any], many: bool) -> dict[str, Any]:
    one = {"$ref": _REF.format(model=model.__name__)}
    return {"type": "array", "items": one} if many else one
