"""The floor: one Starlette route that reads JSON and answers JSON of the size of a step's."""

from __future__ import annotations

import json

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

TURN = {
    "observation": "Inventory: You are not carrying anything.",
    "reward": 0.0,
    "terminated": False,
    "truncated": False,
    "info": {
        "task_id": "textcraft_3",
        "goal": "craft 2 carrot on a stick",
        "score": 0.0,
        "success": False,
        "valid": True,
        "actions": None,
        "rounds": 1,
    },
}


async def step(request: Request) -> Response:
    """Answer always the same."""
    json.loads(await request.body())
    return Response(json.dumps(TURN), media_type="application/json")


app = Starlette(routes=[Route("/step", step, methods=["POST"])])
