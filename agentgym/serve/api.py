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

from agentgym.core.errors import UnknownSplit
from agentgym.core.task import SPLITS
from agentgym.serve.endpoint import Handler, Json
from agentgym.serve.entry import Entry, Reply
from agentgym.serve.fields import Fields, json_of, query_number, require_shallow
from agentgym.serve.problem import BadRequest, Forbidden, OutOfStep
from agentgym.serve.settings import OPTIONS
from agentgym.serve.store import SessionStore
from agentgym.serve.verbs import RESET, VERBS, arguments, episode
from agentgym.serve.wire import decode, encode

_ONE = ("session", "action", "seq")
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
            "note": found["note"],
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
        entry, turn = await self.open(await json_of(request))
        request.scope["entry"] = entry
        return Json.of(turn) if turn and not turn.ok else self._opened(entry, turn)

    async def open(self, values: Any) -> tuple[Entry, Reply | None]:
        """Open a session as a request asks for it.

        Returns:
            The session, and what its first episode began with, where one was asked for; if that is
            an error, the session is closed.
        """
        fields = Fields(values, ("environment", "options", "key", "reset"))
        name, options = fields.text("environment"), fields.object("options")
        key, reset = fields.name("key"), fields.object("reset")
        which = None if reset is None else episode(Fields(reset, RESET))
        entry = await self._store.create(name, options, key=key)
        self._store.find(entry.id)  # a key may lead to a session that is gone
        if which is None:
            return entry, None
        try:
            # Its number makes a repeated request harmless: what has begun is not begun again.
            turn = await self._store.call(entry, "reset", **which, seq=1)
        except BaseException:
            await self._store.close(entry)
            raise
        if not turn.ok and not _is_out_of_step(turn):
            await self._store.close(entry)
        return entry, turn

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
        location = (b"location", b"/v1/sessions/" + entry.id.encode())
        seq = (turn and turn.seq) or 0
        return Json(self.opened(entry, turn), 201, seq, (location,))

    def opened(self, entry: Entry, turn: Reply | None) -> bytes:
        """Return what is told of a session that has been opened."""
        told = encode(self._told(entry))
        # The worker's JSON is put in as it is.
        return told[:-1] + b',"turn":' + (turn.body if turn else b"null") + b"}"

    def _told(self, entry: Entry) -> dict[str, Any]:
        known = (*OPTIONS, *self._store.settings.options)
        return {
            "session": entry.id,
            "environment": entry.env_id,
            "options": {k: v for k, v in entry.options.items() if k in known},
            "about": entry.about,
        }

    def _entry(self, request: Request) -> Entry:
        """Return the session of the path; the log learns of it."""
        entry = self._store.find(request.path_params["session"])
        request.scope["entry"] = entry
        return entry

    # Calls on a session.

    def call(self, verb: str) -> Handler:
        """Return the handler of a call on a session."""

        async def handler(request: Request) -> Response:
            entry = self._entry(request)
            return Json.of(await self.play(entry, verb, await json_of(request)))

        handler.__doc__ = VERBS[verb].about
        return handler

    async def play(self, entry: Entry, verb: str, values: Any) -> Reply:
        """Make a call on a session.

        Args:
            entry: the session.
            verb: one of `VERBS`.
            values: the fields it was given.
        """
        given = arguments(verb, values)
        if verb == "expert" and not self._store.settings.experts:
            raise Forbidden("whoever runs this server has its experts give no advice")
        return await self._store.call(entry, verb, **given)

    async def steps(self, request: Request) -> Response:
        """Play an action in each of many sessions."""
        found = await json_of(request)
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
