"""One published AgentGym server on our sessions: what its routes do."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from gymnasium.error import ResetNeeded
from starlette.requests import Request
from starlette.responses import Response

from agentgym.core import registry
from agentgym.core.errors import InvalidConfig, UnknownName
from agentgym.core.loading import load_tasks
from agentgym.core.task import Task, TaskSet
from agentgym.serve.dialects.place import read_options, with_defaults
from agentgym.serve.dialects.published import TASK_FIELDS, Published
from agentgym.serve.dialects.turn import Turn, played, seen
from agentgym.serve.endpoint import Json
from agentgym.serve.entry import Entry
from agentgym.serve.fields import json_of
from agentgym.serve.problem import BadRequest, SessionLost, UnknownSession
from agentgym.serve.store import SessionStore
from agentgym.serve.wire import encode

ID_BITS = 53
"""Random bits of a session's number: as many as a page in a browser can hold exactly."""
SEED = 0
"""Of every reset: an item of a published server is the same episode each time."""
THE_END = "The episode has ended. Reset the environment to begin another one."

Body = Mapping[str, Any]
Post = Callable[[Body, dict[str, Any]], Awaitable[Any]]


class NotPublished(UnknownName):
    """The dialect has no route of this name."""


class Server:
    """One published server.

    Args:
        store: the session store.
        published: what it answers.
    """

    def __init__(self, store: SessionStore, published: Published) -> None:
        self.published = published
        self.path = f"/agentgym/{published.paths[0]}"
        self._store, self._owner = store, f"agentgym:{published.env}"
        self._made: list[int] = []
        self._look_through = 64
        self._posts: dict[str, Post] = {
            "create": self._create,
            "reset": self._reset,
            "step": self._step,
            "close": self._close,
        }
        self._gets = ["observation", *published.reads, *published.constants, ""]
        self._gets += ["detail"] * bool(published.detail) + ["list_envs"] * published.lists
        self._gets += ["filtered_vocab"] * (published.env == "Wordle")

    async def answer(self, request: Request, verb: str, options: dict[str, Any]) -> Response:
        """Answer a request.

        Args:
            request: the request.
            verb: the last part of its path.
            options: those in the path.

        Raises:
            AgentGymError: if that cannot be done.
        """
        if request.method == "POST" and verb in self._posts:
            body = await json_of(request)
            if not isinstance(body, dict):
                raise BadRequest("the body must be a JSON object")
            wanted = {**options, **read_options(request.query_params.items())}
            return Json(encode(await self._posts[verb](body, wanted)))
        if request.method == "GET" and verb in self._gets:
            return Json(encode(await self._read(verb, request.query_params)))
        method = "GET" if verb in self._gets else "POST"
        if verb in (*self._gets, *self._posts):
            raise BadRequest(f"{verb or 'the root'} is asked with {method}")
        known = [*self._posts, *filter(None, self._gets)]
        raise NotPublished(f"route of {self.published.env}", verb[:80], known)

    # The routes.

    async def _create(self, body: Body, options: dict[str, Any]) -> Any:
        published = self.published
        if body.get("commands") is not None or body.get("goal") is not None:
            raise InvalidConfig(
                "commands and goal of one's own are not served; reset to a data_idx"
            )
        env_id = self._store.card(published.env).id
        operators = self._store.settings.defaults.get(env_id, {})
        number = secrets.randbits(ID_BITS)
        entry = await self._store.create(
            env_id,
            with_defaults(published.options, operators, options),
            owner=self._owner,
            session_id=_name(number),
        )
        answer: Any = number
        try:
            turn = await self._begin(entry, body) if published.begins else None
            if published.key == "id":
                answer = {"id": number}
                if turn is not None:
                    told = await self._told(entry, turn, number, published.create)
                    answer.update(told)
        except BaseException:
            await self._store.close(entry)
            raise
        self._remember(number)
        return answer

    async def _begin(self, entry: Entry, body: Body) -> Turn:
        """Begin the episode of a session that is created: of the item named, or of any."""
        index = _whole(body, "id") if self.published.index == "id" else None
        return await self._start(entry, index)

    async def _reset(self, body: Body, options: dict[str, Any]) -> Any:
        number, entry = self._session(body.get(self.published.key))
        index = _whole(body, self.published.index)
        if index is None and self.published.index == "id":  # the same item once more
            last = await seen(self._store, entry)
            index = last.index if last else None
        elif index is None and self.published.index != "session_id":
            raise BadRequest(f"{self.published.index!r} is missing; it is the number of an item")
        turn = await self._start(entry, index)
        told = self.published.tell(turn)
        if self.published.reset == "pair":
            return [told["observation"], None]
        if self.published.reset == "text":
            return told["observation"]
        return await self._told(entry, turn, number, self.published.reset)

    async def _start(self, entry: Entry, index: int | None) -> Turn:
        if index is None:
            return Turn.of(await self._store.call(entry, "reset"))
        if self.published.wraps:
            index %= len(await _tasks(entry))
        task_id = f"{entry.about['name']}_{index}"
        return Turn.of(await self._store.call(entry, "reset", task_id=task_id, seed=SEED))

    async def _step(self, body: Body, options: dict[str, Any]) -> Any:
        number, entry = self._session(body.get(self.published.key))
        action = body.get("action")
        if not isinstance(action, str):
            raise BadRequest("'action' must be text")
        action = self.published.action(action)
        turn, acted = await played(self._store, entry, "step", action=action)
        told = await self._told(entry, turn, number, self.published.step)
        if not acted:
            told["state" if "state" in told else "observation"] = THE_END
        return told

    async def _close(self, body: Body, options: dict[str, Any]) -> Any:
        try:
            _, entry = self._session(body.get(self.published.key))
        except (UnknownSession, SessionLost):  # closing twice does no harm
            return {"closed": False}
        await self._store.close(entry)
        return {"closed": True}

    async def _read(self, verb: str, query: Mapping[str, str]) -> Any:
        published = self.published
        if verb == "":
            return published.hello
        if verb == "list_envs":
            return self._open()
        if verb in published.constants:
            return published.constants[verb]
        text = query.get(published.key, "")
        number, entry = self._session(int(text) if text.isdecimal() and len(text) < 25 else text)
        if verb == "filtered_vocab":
            return await asyncio.to_thread(_vocabulary, entry)
        turn = await seen(self._store, entry)
        if turn is None:
            raise ResetNeeded("reset the environment first")
        if verb in published.reads:
            return published.reads[verb](turn)
        fields = published.detail if verb == "detail" else published.observation
        if fields:
            return await self._told(entry, turn, number, fields)
        return published.tell(turn)["observation"]

    # What they stand on.

    def _session(self, number: Any) -> tuple[int, Entry]:
        """Return a session by its number."""
        if type(number) is not int or number < 0:
            what = "missing" if number is None else f"no session's number: {number!r:.40}"
            raise BadRequest(f"{self.published.key!r} is {what}; it is what /create answered")
        try:
            return number, self._store.find(_name(number), self._owner)
        except UnknownSession:
            raise UnknownSession(f"The id {number} is not valid; create an environment") from None

    async def _told(
        self, entry: Entry, turn: Turn, number: int, names: tuple[str, ...]
    ) -> dict[str, Any]:
        """Return the fields of these names, in this order."""
        told = {
            "id": number,
            "done": turn.done,
            "deleted": False,
            "info": None,
            **self.published.tell(turn),
        }
        told["state"] = told["observation"]
        if not TASK_FIELDS.keys().isdisjoint(names):
            task: Task = (await _tasks(entry)).get(turn.info["task_id"])
            told.update({name: TASK_FIELDS[name](task) for name in TASK_FIELDS if name in names})
        return {name: told[name] for name in names}

    def _remember(self, number: int) -> None:
        self._made.append(number)
        if len(self._made) > self._look_through:
            self._open()
            self._look_through = 2 * len(self._made) + 64

    def _open(self) -> list[int]:
        """Return the numbers of the sessions that are open."""
        self._made = [number for number in self._made if self._is_open(number)]
        return list(self._made)

    def _is_open(self, number: int) -> bool:
        try:
            self._store.find(_name(number), self._owner)
        except (UnknownSession, SessionLost):
            return False
        return True


def _name(number: int) -> str:
    return f"agentgym:{number}"


def _whole(body: Body, name: str) -> int | None:
    """Return a field that is the number of an item, or None where it is not given."""
    value = body.get(name)
    if value is None:
        return None
    if type(value) is not int or not 0 <= value < 2**63:
        raise BadRequest(f"{name!r} must be the number of an item, got {value!r:.40}")
    return value


async def _tasks(entry: Entry) -> TaskSet:
    """Return the tasks of a session's edition; the first time they are read from the disk."""
    edition, folder = entry.about["edition"], entry.options.get("data_dir")
    card = registry.find_card(entry.env_id)
    return await asyncio.to_thread(lambda: load_tasks(card.load(), edition, folder))


def _vocabulary(entry: Entry) -> list[str]:
    """Return the words Wordle accepts; the published client shows them all to its model."""
    from agentgym.envs.wordle.words import vocabulary

    name = "published" if entry.about["edition"] == "official" else "all"
    letters = int(entry.options.get("letters", 5))
    return list(vocabulary(letters, entry.options.get("vocabulary") or name).words)
