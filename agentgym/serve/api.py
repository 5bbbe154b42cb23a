"""Our own protocol: what each request does.

A handler reads the fields of a request, makes one call on the store and passes the answer on. The
JSON of a step is made by the worker and not looked at here, so that a step costs the front no more
than finding its session. `operations` is the table of it all: the routes are made from it, and the
OpenAPI page too.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from agentgym.core.errors import InvalidConfig, UnknownSplit
from agentgym.core.task import SPLITS
from agentgym.serve.endpoint import Json
from agentgym.serve.entry import Entry, Reply
from agentgym.serve.fields import Fields, body_of, json_of, parse, query_number, require_shallow
from agentgym.serve.problem import BadRequest, Forbidden, OutOfStep
from agentgym.serve.settings import OPTIONS
from agentgym.serve.store import SessionStore
from agentgym.serve.wire import decode, encode

_STEP = ("action", "seq")
_RESET = ("seed", "task_id", "split", "seq")
_MOST_TASKS = 1000
_TASK_LISTS = 16  # lists kept to be paged through


class Api:
    """The handlers of the protocol.

    Args:
        store: where the sessions are.
    """

    def __init__(self, store: SessionStore) -> None:
        self._store = store
        self._lists: OrderedDict[bytes, dict[str, Any]] = OrderedDict()

    # The server.

    async def health(self, request: Request) -> Response:
        """Say whether the server takes requests."""
        if self._store.closing:
            return Json(b'{"status":"stopping"}', 503, headers=((b"retry-after", b"5"),))
        return Json(b'{"status":"ok"}')

    async def metrics(self, request: Request) -> Response:
        """Return what is counted, for Prometheus."""
        text = self._store.metrics.text()
        return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")

    # Environments.

    async def environments(self, request: Request) -> Response:
        """List the environments."""
        cards = [
            {"id": card.id, "name": card.short_name, "summary": card.summary}
            for card in self._store.cards()
        ]
        return Json(encode({"environments": cards}))

    async def about(self, request: Request) -> Response:
        """Describe an environment as it is made with some options."""
        if request.method == "POST":
            options = Fields(await json_of(request), ("options",)).object("options")
        else:
            options = _query_options(request, but=())
        return Json.of(await self._store.about(request.path_params["name"], options))

    async def tasks(self, request: Request) -> Response:
        """List tasks, a page at a time."""
        query = request.query_params
        offset = query_number(query, "offset", 0, 10**9)
        limit = query_number(query, "limit", 100, _MOST_TASKS)
        split = query.get("split")
        if split is not None and split not in SPLITS:
            raise UnknownSplit("split", split[:40], SPLITS)
        options = _query_options(request, but=("split", "offset", "limit"))
        found = await self._task_list(self._store.card(request.path_params["name"]).id, options)
        tasks = [task for task in found["tasks"] if split in (None, task["split"])]
        page = {
            "version": found["version"],
            "digest": found["digest"],
            "total": len(tasks),
            "offset": offset,
            "tasks": tasks[offset : offset + limit],
        }
        return Json(encode(page))

    async def _task_list(self, env_id: str, options: dict[str, Any]) -> dict[str, Any]:
        """Return all tasks; a list is kept for the next page, since task sets never change."""
        key = encode([env_id, sorted(options.items())])
        found = self._lists.get(key)
        if found is None:
            found = (await self._store.tasks(env_id, options)).value()
            self._lists[key] = found
            while len(self._lists) > _TASK_LISTS:
                self._lists.popitem(last=False)
        return found

    # Sessions.

    async def create(self, request: Request) -> Response:
        """Open a session, and begin an episode in it where the request says which."""
        fields = Fields(await json_of(request), ("environment", "options", "key", "reset"))
        name, options = fields.text("environment"), fields.object("options")
        key, reset = fields.name("key"), fields.object("reset")
        arguments = None if reset is None else _reset(Fields(reset, _RESET[:3]))
        entry = await self._store.create(name, options, key=key)
        self._store.find(entry.id)  # a key may lead to a session that is gone
        if entry.env_id != self._store.card(name).id:
            raise InvalidConfig(f"the key {key!r} has been used for a session of {entry.env_id}")
        if arguments is None:
            return self._opened(entry)
        try:
            # Its number makes a repeated request harmless: what has begun is not begun again.
            turn = await self._store.call(entry, "reset", **arguments, seq=1)
        except BaseException:
            await self._store.close(entry)
            raise
        if not turn.ok:
            if not _is_out_of_step(turn):
                await self._store.close(entry)
            return Json.of(turn)
        return self._opened(entry, turn)

    async def session(self, request: Request) -> Response:
        """Say what a session is."""
        return Json(encode(self._told(self._entry(request))))

    async def close(self, request: Request) -> Response:
        """Close a session."""
        await self._store.close(self._entry(request))
        return Response(status_code=204)

    async def fork(self, request: Request) -> Response:
        """Open a session at the same moment of the same episode."""
        Fields(await json_of(request), ())
        twin, turn = await self._store.fork(self._entry(request))
        return self._opened(twin, turn) if turn.ok else Json.of(turn)

    def _opened(self, entry: Entry, turn: Reply | None = None) -> Response:
        told = encode(self._told(entry))
        # The worker's JSON is put in as it is.
        told = told[:-1] + b',"turn":' + (turn.body if turn else b"null") + b"}"
        location = (b"location", b"/v1/sessions/" + entry.id.encode())
        seq = (turn and turn.seq) or 0
        return Json(told, 201, seq, (location,))

    def _told(self, entry: Entry) -> dict[str, Any]:
        known = (*OPTIONS, *self._store.settings.options)
        return {
            "session": entry.id,
            "environment": entry.env_id,
            "options": {k: v for k, v in entry.options.items() if k in known},
            "about": entry.about,
        }

    def _entry(self, request: Request) -> Entry:
        """Return the session of the path; the log learns of which environment it is."""
        entry = self._store.find(request.path_params["session"])
        request.scope["environment"] = entry.env_id
        return entry

    # Calls on a session.

    async def step(self, request: Request) -> Response:
        """Play an action."""
        entry = self._entry(request)
        fields = Fields(parse(await body_of(request)), _STEP)
        action, seq = fields.text("action"), fields.number("seq", 1)
        return Json.of(await self._store.call(entry, "step", action=action, seq=seq))

    async def steps(self, request: Request) -> Response:
        """Play an action in each of many sessions."""
        found = parse(await body_of(request))
        if not isinstance(found, list):
            raise BadRequest('a list of {"session", "action", "seq"} is wanted')
        items = []
        for i, item in enumerate(found):
            try:
                fields = Fields(item, _ONE)
                step = {"action": fields.text("action"), "seq": fields.number("seq", 1)}
                items.append((fields.text("session"), step))
            except BadRequest as error:
                raise BadRequest(f"step {i}: {error}") from None
        replies = await self._store.steps(items)
        parts = [_part(name, reply) for (name, _), reply in zip(items, replies, strict=True)]
        return Json(b"[" + b",".join(parts) + b"]")

    async def reset(self, request: Request) -> Response:
        """Begin an episode."""
        entry = self._entry(request)
        fields = Fields(await json_of(request), _RESET)
        seq = fields.number("seq", 1)
        return Json.of(await self._store.call(entry, "reset", **_reset(fields), seq=seq))

    async def forfeit(self, request: Request) -> Response:
        """Spend a round without acting."""
        entry = self._entry(request)
        fields = Fields(await json_of(request), ("message", "seq"))
        message, seq = fields.text("message"), fields.number("seq", 1)
        return Json.of(await self._store.call(entry, "forfeit", message=message, seq=seq))

    async def restore(self, request: Request) -> Response:
        """Return to a snapshot."""
        entry = self._entry(request)
        fields = Fields(await json_of(request), ("state", "seq"))
        state, seq = fields.object("state"), fields.number("seq", 1)
        if state is None:
            raise BadRequest("the field 'state' is missing; it must be a snapshot")
        return Json.of(await self._store.call(entry, "restore", state=state, seq=seq))

    async def observe(self, request: Request) -> Response:
        """Give the last answer of the episode again."""
        return await self._plain(request, "observe")

    async def state(self, request: Request) -> Response:
        """Take a snapshot."""
        return await self._plain(request, "state")

    async def render(self, request: Request) -> Response:
        """Show the present state."""
        return await self._plain(request, "render")

    async def expert(self, request: Request) -> Response:
        """Ask the expert for a move."""
        entry = self._entry(request)
        fresh = Fields(await json_of(request), ("fresh",)).flag("fresh")
        if not self._store.settings.experts:
            raise Forbidden("this server gives no advice: it was started with --no-experts")
        return Json.of(await self._store.call(entry, "expert", fresh=fresh))

    async def sample(self, request: Request) -> Response:
        """Draw a random action that makes sense here."""
        entry = self._entry(request)
        seed = Fields(await json_of(request), ("seed",)).number("seed")
        return Json.of(await self._store.call(entry, "sample", seed=seed or 0))

    async def _plain(self, request: Request, verb: str) -> Response:
        entry = self._entry(request)
        Fields(await json_of(request), ())
        return Json.of(await self._store.call(entry, verb))


_ONE = ("session", "action", "seq")


def _reset(fields: Fields) -> dict[str, Any]:
    return {
        "seed": fields.number("seed"),
        "task_id": fields.name("task_id"),
        "split": fields.name("split"),
    }


def _part(session: str, reply: Reply) -> bytes:
    """Return one answer of a batch around the worker's own JSON."""
    name = json.dumps(session).encode()
    seq = b"null" if reply.seq is None else b"%d" % reply.seq
    head = b'{"session":%b,"status":%d,"seq":%b,' % (name, reply.status, seq)
    if reply.ok:
        return head + b'"answer":' + reply.body + b"}"
    return head + reply.body[1:]  # {"error": …}


def _is_out_of_step(reply: Reply) -> bool:
    return reply.status == 409 and decode(reply.body)["error"]["type"] == OutOfStep.__name__


def _query_options(request: Request, but: tuple[str, ...]) -> dict[str, Any]:
    """Return options of a query; a value is JSON where it reads as JSON, else text."""
    options: dict[str, Any] = {}
    for name, text in request.query_params.items():
        if name in but:
            continue
        try:
            options[name] = decode(text.encode())
            require_shallow(name, options[name])
        except (ValueError, RecursionError):
            options[name] = text
    return options
