"""The table of our protocol: every path, what answers it, and what the OpenAPI page says of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.routing import BaseRoute, Route

from agentgym.serve import schema
from agentgym.serve.api import Api
from agentgym.serve.endpoint import Endpoint, Handler


@dataclass(frozen=True)
class Operation:
    """One operation.

    Attributes:
        method: the HTTP method.
        path: with its parameters in braces.
        handler: what answers it.
        group: the heading it stands under.
        asks: the model of the body, or None where it has none.
        answers: the model of the answer, or None where it is no JSON.
        status: of the answer.
        errors: the statuses it may fail with, besides those every one may.
        query: parameters of the query, by name, with a description each.
        many: whether body and answer are lists of the models.
        required: whether a body must be there.
        example: a body that works.
    """

    method: str
    path: str
    handler: Handler
    group: str
    asks: type[Any] | None = None
    answers: type[Any] | None = None
    status: int = 200
    errors: tuple[int, ...] = ()
    query: Mapping[str, str] = field(default_factory=dict)
    many: bool = False
    required: bool = False
    example: Any = None

    @property
    def summary(self) -> str:
        """The first line of the handler's docstring."""
        return (self.handler.__doc__ or "").strip().partition("\n")[0].rstrip(".")


_MADE = {
    "edition": "mini (the default) or official; other options of the environment are named likewise"
}
_PAGE = {
    **_MADE,
    "split": "train or eval; both where it is not given",
    "offset": "how many to leave out",
    "limit": "how many to list, at most 1000 (100)",
}
_GONE = (404, 410, 502, 504)
_PLAYS = (409, 422, 500, *_GONE)


def operations(api: Api) -> tuple[Operation, ...]:
    """Return the operations; those asked for most come first, as routes are tried in order."""
    one = "/v1/sessions/{session}"

    def call(
        verb: str, answers: type[Any], asks: type[Any] | None = None, **more: Any
    ) -> Operation:
        return Operation(
            "POST", f"{one}/{verb}", api.call(verb), "Playing", asks, answers, errors=_PLAYS, **more
        )

    def step(**more: Any) -> dict[str, Any]:
        return {"required": True, "example": more}

    turn = schema.Turn
    return (
        call("step", turn, schema.StepRequest, **step(action="inventory", seq=2)),
        Operation(
            "POST", "/v1/steps", api.steps, "Playing", schema.BatchStep, schema.BatchAnswer,
            many=True, required=True, errors=(413,),
            example=[{"session": "SESSION", "action": "inventory"}],
        ),
        call("reset", turn, schema.ResetRequest, example={"task_id": "textcraft_12"}),
        Operation(
            "POST", "/v1/sessions", api.create, "Sessions", schema.CreateRequest,
            schema.OpenedSession, status=201, required=True,
            errors=(404, 409, 410, 422, 500, 501, 502, 503, 504),
            example={"environment": "textcraft", "reset": {"seed": 1}},
        ),
        Operation("DELETE", one, api.close, "Sessions", status=204, errors=_GONE),
        Operation("GET", one, api.session, "Sessions", answers=schema.Session, errors=_GONE),
        Operation(
            "POST", f"{one}/fork", api.fork, "Sessions", None, schema.OpenedSession, status=201,
            errors=(409, 500, 503, *_GONE),
        ),
        call("observe", turn),
        call("forfeit", turn, schema.ForfeitRequest,
             **step(message="No action was found in your reply.")),
        call("state", schema.State),
        call("restore", turn, schema.RestoreRequest, **step(state={})),
        call("render", schema.Rendered),
        call("expert", schema.Advice, schema.ExpertRequest, example={}),
        call("sample", schema.Drawn, schema.SampleRequest, example={"seed": 1}),
        Operation(
            "GET", "/v1/environments", api.environments, "Environments",
            answers=schema.Environments,
        ),
        Operation(
            "GET", "/v1/environments/{name:path}/tasks", api.tasks, "Environments",
            answers=schema.Tasks, query=_PAGE, errors=(404, 422, 501, 502, 504),
        ),
        Operation(
            "GET", "/v1/environments/{name:path}", api.about, "Environments",
            answers=schema.EnvironmentAbout, query=_MADE, errors=(404, 422, 501, 502, 504),
        ),
        Operation(
            "POST", "/v1/environments/{name:path}", api.about, "Environments",
            schema.AboutRequest, schema.EnvironmentAbout, errors=(404, 422, 501, 502, 504),
            example={"options": {"edition": "official"}},
        ),
        Operation("GET", "/healthz", api.health, "The server", answers=schema.Health),
        Operation("GET", "/metrics", api.metrics, "The server"),
    )  # fmt: skip


def routes(table: tuple[Operation, ...]) -> list[BaseRoute]:
    """Return the routes of the operations."""
    return [
        Route(o.path, Endpoint(o.handler, o.path.replace(":path", "")), methods=[o.method])
        for o in table
    ]
