"""AgentEvolver's environment service on our sessions, for every environment.

A trainer is given `http://host:port/agentevolver` as its service's address. `env_type` is a short
name of ours, `task_id` one of our task ids. What `create` answers is a conversation's beginning, a
system message with the rules, the grammar and the layout of a reply, and a user message with the
first observation; `step` takes the model's reply whole, reads the action out of it and answers the
next user message. A reply that cannot be read costs a round and is answered with what to change.

The published client makes up data where three tries fail, so errors have HTTP statuses that say
what is wrong, and what it may ask twice (a create whose answer was lost, a step after the end, a
release) does no harm the second time.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter
from gymnasium.error import ResetNeeded
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from agentgym.core.errors import AgentGymError, UnknownSplit
from agentgym.rollout.formats import FORMATS, ActionFormat, FormatError, find_format
from agentgym.rollout.profile import EnvProfile
from agentgym.serve.dialects.profiles import Profiles
from agentgym.serve.dialects.refusal import refusal
from agentgym.serve.dialects.replies import read_message
from agentgym.serve.dialects.turn import Turn, played, seen
from agentgym.serve.endpoint import Json
from agentgym.serve.entry import Entry
from agentgym.serve.fields import json_of
from agentgym.serve.problem import BadRequest, NoRoom, Problem, SessionLost, UnknownSession
from agentgym.serve.settings import OPTIONS
from agentgym.serve.store import SessionStore
from agentgym.serve.table import bound
from agentgym.serve.wire import encode

SPLITS = {
    "train": "train",
    "dev": "eval",
    "val": "eval",
    "valid": "eval",
    "validation": "eval",
    "test": "eval",
    "test_normal": "eval",
    "test_challenge": "eval",
    "eval": "eval",
}
"""Our split for each name AgentEvolver has for one; there is one that is not trained on."""

_OWNER = "agentevolver"
_NAME = 256  # characters of an instance's name


def router(store: SessionStore) -> APIRouter:
    """Return the routes; the application puts "/agentevolver" before them."""
    routes = APIRouter()
    routes.add_route("/{verb}", _Service(store), methods=["GET", "POST"])  # type: ignore[arg-type]
    return routes


@dataclass(frozen=True, slots=True)
class _Ask:
    """A request: what is not given is empty."""

    env_type: str
    task_id: str
    instance_id: str
    messages: Any
    params: Mapping[str, Any]

    @classmethod
    def of(cls, body: Any) -> _Ask:
        if not isinstance(body, dict):
            raise BadRequest("the body must be a JSON object")
        texts = []
        for name in ("env_type", "task_id", "instance_id"):
            value = body.get(name)
            if not isinstance(value, str | None) or len(value or "") > _NAME:
                raise BadRequest(f"{name!r} must be text of at most {_NAME} characters")
            texts.append(value or "")
        params = body.get("params") or {}
        if not isinstance(params, dict):
            raise BadRequest("'params' must be an object")
        env_type, task_id, instance_id = texts
        return cls(env_type, task_id, instance_id, body.get("messages") or {}, params)

    def need(self, name: str) -> str:
        """Return a text field that must be given."""
        value: str = getattr(self, name)
        if not value:
            raise BadRequest(f"{name} is required")
        return value


@dataclass(frozen=True, slots=True)
class _Instance:
    """What the service knows of an instance: how its model replies, and to what rules."""

    format: ActionFormat
    profile: EnvProfile


class _Service:
    path = "/agentevolver/{verb}"

    def __init__(self, store: SessionStore) -> None:
        self._store, self._profiles = store, Profiles(store)
        self._instances: OrderedDict[str, _Instance] = OrderedDict()
        self._creating: set[str] = set()
        self._verbs: dict[str, Callable[[_Ask], Awaitable[dict[str, Any]]]] = {
            "get_env_profile": self._profile,
            "create": self._create,
            "step": self._step,
            "evaluate": self._evaluate,
            "get_info": self._info,
            "release": self._release,
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        response = await self._answer(request, request.path_params["verb"])
        await response(scope, receive, send)

    async def _answer(self, request: Request, verb: str) -> Response:
        if verb == "healthz":
            return PlainTextResponse("OK")
        try:
            if verb not in self._verbs or request.method != "POST":
                raise BadRequest(f"POST one of {', '.join(self._verbs)}; GET healthz")
            return Json(encode(await self._verbs[verb](_Ask.of(await json_of(request)))))
        except (AgentGymError, ResetNeeded) as error:
            problem = Problem.of(error)
            body = {"success": False, "data": None, "detail": problem.message}
            return refusal(request, problem, body)

    # The verbs.

    async def _profile(self, ask: _Ask) -> dict[str, Any]:
        wanted = ask.params.get("split") or "train"
        split = SPLITS.get(wanted) if isinstance(wanted, str) else None
        if split is None:
            raise UnknownSplit("split", wanted, SPLITS)
        card = self._store.card(ask.need("env_type"))
        listing = (await self._store.tasks(card.id, self._options(ask))).value()
        return _said([task["id"] for task in listing["tasks"] if task["split"] == split])

    async def _create(self, ask: _Ask) -> dict[str, Any]:
        card = self._store.card(ask.need("env_type"))
        task_id, options = ask.need("task_id"), self._options(ask)
        instance_id = ask.instance_id or f"exp_{secrets.token_hex(8)}"
        seed = ask.params.get("seed", 0)
        if type(seed) is not int or not 0 <= seed < 2**63:
            raise BadRequest("'seed' must be a whole number from 0")
        fmt, profile = _format(ask, FORMATS["react"]), await self._profiles.get(card.id, options)
        if instance_id in self._creating:
            raise NoRoom("this instance is being created; try again when it is", retry_after=3)
        self._creating.add(instance_id)
        try:
            await self._end(instance_id)  # a create is asked again if its answer was lost
            turn = await self._begin(card.id, options, instance_id, task_id, seed)
            self._instances[instance_id] = _Instance(fmt, profile)
        finally:
            self._creating.discard(instance_id)
        bound(self._instances)
        state = [
            {"role": "system", "content": fmt.instructions(profile)},
            {"role": "user", "content": turn.observation},
        ]
        return _said(_state(instance_id, state, turn, ask))

    async def _begin(
        self, env_id: str, options: dict[str, Any], instance_id: str, task_id: str, seed: int
    ) -> Turn:
        """Open a session and begin an episode in it."""
        name = _name(instance_id)
        entry = await self._store.create(env_id, options, owner=_OWNER, session_id=name)
        try:
            return Turn.of(await self._store.call(entry, "reset", task_id=task_id, seed=seed))
        except BaseException:
            await self._store.close(entry)
            raise

    async def _step(self, ask: _Ask) -> dict[str, Any]:
        instance_id, entry = self._find(ask)
        known = self._instances.get(instance_id)
        if known is None:
            raise SessionLost("too many instances have come after this one; create it again")
        fmt = _format(ask, known.format)
        reply = read_message(ask.messages)
        if reply.tool_calls:
            fmt = FORMATS["function_calling"]
        try:
            action = fmt.read(reply, known.profile).action
            turn, _ = await played(self._store, entry, "step", action=action)
        except FormatError as error:
            turn, _ = await played(self._store, entry, "forfeit", message=str(error))
        state = [{"role": "user", "content": turn.observation}]
        return _said(_state(instance_id, state, turn, ask))

    async def _evaluate(self, ask: _Ask) -> dict[str, Any]:
        _, entry = self._find(ask)
        return _said(_reward(await self._now(entry), ask))

    async def _info(self, ask: _Ask) -> dict[str, Any]:
        instance_id, entry = self._find(ask)
        turn, known = await self._now(entry), self._instances.get(instance_id)
        tools = FORMATS["function_calling"].tools(known.profile) if known else []
        told = {**_about(instance_id, turn), "goal": turn.info["goal"], "tools": tools}
        return _said({**told, "actions": turn.info["actions"], "is_terminated": turn.done})

    async def _release(self, ask: _Ask) -> dict[str, Any]:
        released = await self._end(ask.need("instance_id"))
        return {"success": released, "data": None}

    # What they stand on.

    def _options(self, ask: _Ask) -> dict[str, Any]:
        """Return the parameters that are options of ours; AgentEvolver sends others as well."""
        known = (*OPTIONS, *self._store.settings.options)
        skipped = {"split"}  # of the list of tasks; an instance plays the task it is given
        return {k: v for k, v in ask.params.items() if k in known and k not in skipped}

    def _find(self, ask: _Ask) -> tuple[str, Entry]:
        instance_id = ask.need("instance_id")
        return instance_id, self._store.find(_name(instance_id), _OWNER)

    async def _now(self, entry: Entry) -> Turn:
        turn = await seen(self._store, entry)
        if turn is None:
            raise ResetNeeded("the environment failed; create the instance again")
        return turn

    async def _end(self, instance_id: str) -> bool:
        """Close an instance; return whether there was one."""
        self._instances.pop(instance_id, None)
        try:
            await self._store.close(self._store.find(_name(instance_id), _OWNER))
        except (UnknownSession, SessionLost):
            return False
        return True


def _name(instance_id: str) -> str:
    return f"{_OWNER}:{instance_id}"


def _format(ask: _Ask, default: ActionFormat) -> ActionFormat:
    name = ask.params.get("action_format")
    return default if name is None else find_format(str(name)[:80])


def _said(data: Any) -> dict[str, Any]:
    return {"success": True, "data": data}


def _reward(turn: Turn, ask: _Ask) -> float:
    """Return the score so far, or with `sparse` 1 for a task solved and else 0."""
    return float(turn.success) if ask.params.get("sparse") else turn.score


def _about(instance_id: str, turn: Turn) -> dict[str, Any]:
    names = ("task_id", "score", "success", "valid", "rounds")
    return {"instance_id": instance_id, **{name: turn.info[name] for name in names}}


def _state(instance_id: str, state: list[dict[str, str]], turn: Turn, ask: _Ask) -> dict[str, Any]:
    return {
        "state": state,
        "reward": _reward(turn, ask),
        "is_terminated": turn.done,
        "info": _about(instance_id, turn),
    }
