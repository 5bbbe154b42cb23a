"""The sessions of a server, whichever router they were asked for by.

The store refuses what there is no room for, closes what has expired, and remembers for a while why
a session is gone, so that its client is told more than that there is none. It never reads what an
environment answers.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from agentgym.core import registry
from agentgym.core.errors import InvalidConfig, UnknownEnvironment, did_you_mean
from agentgym.core.registry import EnvCard
from agentgym.serve.calls import Calls
from agentgym.serve.entry import Entry, Reply
from agentgym.serve.fleet import Fleet
from agentgym.serve.journal import Journal
from agentgym.serve.metrics import Metrics
from agentgym.serve.problem import NoRoom, SessionLost, TooLarge, UnknownSession, WorkerFailed
from agentgym.serve.process import WorkerGone, WorkerProcess
from agentgym.serve.settings import OPTIONS, ServeSettings
from agentgym.serve.table import SessionTable, bound

log = logging.getLogger("agentgym.serve")

_SWEEP = 1.0  # seconds between looks at what has expired


class SessionStore:
    """Opens, finds and closes sessions, and passes calls on to them.

    Args:
        settings: of the server.

    Attributes:
        settings: of the server.
        metrics: what is counted.
        closing: whether it is shutting down.
    """

    def __init__(self, settings: ServeSettings | None = None) -> None:
        self.settings = settings or ServeSettings()
        self.metrics = Metrics()
        self.closing = False
        self._table = SessionTable(self.metrics)
        self._fleet = Fleet(self.settings, self._worker_ended)
        self._calls = Calls(self._table, self._fleet, self.metrics, self.settings)
        self._keys: OrderedDict[str, asyncio.Future[Entry]] = OrderedDict()
        self._cards: tuple[EnvCard, ...] | None = None
        self._opening: set[str] = set()  # names of sessions that are being made
        self._sweeper: asyncio.Task[None] | None = None
        self._measure()

    # Life.

    async def start(self) -> None:
        """Begin to look after the sessions; called once, in the loop the store is used in."""
        self._sweeper = asyncio.create_task(self._sweep_for_ever())

    async def stop(self) -> None:
        """Close every session and end every worker."""
        self.closing = True
        if self._sweeper is not None:
            self._sweeper.cancel()
            with suppress(asyncio.CancelledError):
                await self._sweeper
        for entry in self._table.all():
            self._table.forget(entry, "shutdown", "the server is shutting down")
        await self._fleet.close()  # a worker closes what it holds

    async def sweep(self) -> None:
        """Close what has expired and measure the memory; the server does so every second."""
        ttl = self.settings.session_ttl
        for entry in self._table.idle_since(time.monotonic() - ttl):
            worker = entry.worker
            if self._table.forget(entry, "expired", f"it lay idle for more than {ttl:g} s"):
                self._fleet.later(self._fleet.release(worker, entry.id))
        await self._fleet.sweep()

    # Environments.

    def cards(self) -> tuple[EnvCard, ...]:
        """Return the environments that are served: those installed, or those of the settings.

        Raises:
            UnknownEnvironment: if the settings name one that is not registered.
        """
        if self._cards is None:  # what is installed stays so
            names = dict.fromkeys(self.settings.environments)
            installed = (card for card in registry.cards() if card.installed)
            self._cards = tuple(map(_card, names)) if names else tuple(installed)
        return self._cards

    def card(self, name: str) -> EnvCard:
        """Return the card of an environment that is served, by id or short name.

        Raises:
            UnknownEnvironment: if none of that name is.
        """
        cards, folded = self.cards(), name.lower()
        for card in cards:
            if folded in (card.id.lower(), card.short_name.lower(), card.id.lower().split("/")[-1]):
                return card
        raise UnknownEnvironment("environment", name[:80], [card.short_name for card in cards])

    async def preload(self, env_id: str) -> None:
        """Start an environment's worker before it is asked for, and keep it.

        Raises:
            AgentGymError: what making the environment raises.
        """
        (await self.about(env_id)).value()
        self._fleet.keep(self.card(env_id).id)

    async def check_defaults(self) -> None:
        """Make each environment that has defaults, so that a wrong one is told to who set it.

        Raises:
            AgentGymError: what making the environment raises.
        """
        for card in self.cards():
            if self.settings.defaults.get(card.id):
                (await self.about(card.id)).value()

    async def about(self, env_id: str, options: Mapping[str, Any] | None = None) -> Reply:
        """Describe an environment: instructions, grammar, editions, number of tasks."""
        card = self.card(env_id)
        return await self._fleet.ask_any(card.id, "about", self._allowed(card.id, options))

    async def tasks(self, env_id: str, options: Mapping[str, Any] | None = None) -> Reply:
        """List the tasks of an environment, without what is in them."""
        card = self.card(env_id)
        return await self._fleet.ask_any(card.id, "tasks", self._allowed(card.id, options))

    # Sessions.

    def __len__(self) -> int:
        return len(self._table)

    @property
    def workers(self) -> tuple[WorkerProcess, ...]:
        """All worker processes."""
        return self._fleet.workers

    async def create(
        self,
        env_id: str,
        options: Mapping[str, Any] | None = None,
        *,
        key: str | None = None,
        owner: str = "",
        session_id: str | None = None,
    ) -> Entry:
        """Open a session.

        Args:
            env_id: id or short name of the environment.
            options: what it is made with.
            key: a name the client gives this request: the same key again gets the same session.
            owner: the router that asks; only it finds the session.
            session_id: a name for it, where the router's protocol prescribes one.

        Raises:
            UnknownEnvironment: if it is not served.
            InvalidConfig: if an option may not be set, or the key was another request's.
            NoRoom: if there is no room for another session.
            AgentGymError: what making the environment raises.
        """
        # Shielded: a client that goes away must not leave an environment nobody knows of.
        if key is None:
            return await asyncio.shield(self._open(env_id, options, owner, session_id))
        name = f"{owner}:{key}"
        made = self._keys.get(name)
        if made is None:
            made = self._keys[name] = asyncio.ensure_future(
                self._open(env_id, options, owner, session_id)
            )
            made.add_done_callback(lambda done: self._keep_key(name, done))
        entry = await asyncio.shield(made)
        wanted = self.card(env_id).id
        if entry.env_id != wanted or entry.options != self._allowed(wanted, options):
            raise InvalidConfig(
                f"the key {key[:80]!r} has been used for a session of {entry.env_id} with options "
                f"{list(entry.options)}; a key is for the same request again, take another"
            )
        return entry

    def find(self, session_id: str, owner: str = "") -> Entry:
        """Return a session.

        Raises:
            SessionLost: if there was one and it is gone; the message says why.
            UnknownSession: if there was none.
        """
        return self._table.find(session_id, owner)

    async def call(self, entry: Entry, verb: str, **args: Any) -> Reply:
        """Make a call on a session and wait for the answer.

        Args:
            entry: the session.
            verb: "reset" (seed, task_id, split), "step" (action), "forfeit" (message), "observe",
                "state", "restore" (state), "render", "expert" (fresh), "sample" (seed). Those that
                act take `seq` too.
            args: of the verb.

        Returns:
            The answer, which may be an error of the environment.

        Raises:
            SessionLost: if its worker died and it is not played again.
            TooSlow: if the environment takes longer than a call may.
        """
        answer = await self._calls.one(entry, verb, args)
        return Reply(answer.status, answer.body, answer.seq)

    async def steps(
        self, items: Sequence[tuple[str, dict[str, Any]]], owner: str = ""
    ) -> list[Reply]:
        """Play one step in each of many sessions.

        Args:
            items: (session id, {"action", "seq"}) of each.
            owner: the router that asks.

        Returns:
            An answer each, in order; what is wrong with one is its own answer.

        Raises:
            TooLarge: if there are more than a batch may have.
        """
        if len(items) > self.settings.max_batch:
            raise TooLarge(
                f"a batch has at most {self.settings.max_batch} steps, got {len(items)}; send more "
                "batches"
            )
        replies: dict[int, Reply] = {}
        found: dict[int, tuple[Entry, dict[str, Any]]] = {}
        for i, (session_id, args) in enumerate(items):
            try:
                found[i] = self.find(session_id, owner), args
            except (SessionLost, UnknownSession) as error:
                replies[i] = Reply.of(error)
        played = await self._calls.many(list(found.values()))
        replies.update(zip(found, played, strict=True))
        return [replies[i] for i in range(len(items))]

    async def fork(self, entry: Entry) -> tuple[Entry, Reply]:
        """Open a session at the same moment of the same episode.

        Returns:
            The new session and what it observes, or the old one and an error of the environment.

        Raises:
            NoRoom: if there is no room for another session.
        """
        self._admit()
        twin_id = _new_id()
        self._opening.add(twin_id)
        try:
            answer = await self._calls.one(entry, "fork", {"twin": twin_id})
            if answer.status != 200:
                return entry, Reply(answer.status, answer.body)
            twin = self._entry(twin_id, entry.env_id, entry.options, entry.owner, entry.worker)
            twin.about = entry.about
            if twin.journal is not None:
                twin.journal.snapshot = answer.point[1]
            return twin, Reply(200, answer.body)
        finally:
            self._opening.discard(twin_id)

    async def close(self, entry: Entry) -> None:
        """Close a session; its environment has released everything when this returns."""
        worker = entry.worker
        if self._table.forget(entry, "closed", "it was closed"):
            await self._fleet.release(worker, entry.id)
            if entry.reviving is not None:  # in another worker, which lets go of it as well
                await asyncio.wait([entry.reviving])

    async def _open(
        self,
        env_id: str,
        options: Mapping[str, Any] | None,
        owner: str,
        session_id: str | None,
    ) -> Entry:
        card = self.card(env_id)
        made_with = self._allowed(card.id, options)
        self._admit()
        name = session_id or _new_id()
        if name in self._opening or self._table.has(name):
            raise InvalidConfig(f"there is a session {name[:80]!r} already; close it first")
        self._opening.add(name)
        try:
            worker, about = await self._fleet.make(card.id, name, made_with)
            entry = self._entry(name, card.id, made_with, owner, worker)
            entry.about = about
            return entry
        except WorkerGone as gone:
            raise WorkerFailed(f"{card.short_name} could not be made: {gone}") from gone
        finally:
            self._opening.discard(name)

    def _entry(
        self, name: str, env_id: str, options: dict[str, Any], owner: str, worker: WorkerProcess
    ) -> Entry:
        """Enter a session that has been made."""
        entry = Entry(name, env_id, options, owner, worker, used=time.monotonic())
        entry.journal = Journal() if self.settings.resurrect else None
        worker.sessions.add(name)
        self._table.enter(entry)
        return entry

    def _allowed(self, env_id: str, options: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the options an environment is made with; a client's must be among those it may."""
        known = (*OPTIONS, *self.settings.options)
        for option in options or {}:
            if option not in known:
                raise InvalidConfig(
                    f"the option {str(option)[:80]!r} cannot be set over the network. "
                    f"{did_you_mean(str(option)[:80], known)}Whoever runs the server can allow it: "
                    f"agentgym serve --allow-option {str(option)[:40]}"
                )
        return {**self.settings.defaults.get(env_id, {}), **(options or {})}

    def _admit(self) -> None:
        """Refuse a session there is no room for."""
        most, memory = self.settings.max_sessions, self.settings.max_memory
        if self.closing:
            raise NoRoom("the server is shutting down")
        if len(self._table) + len(self._opening) >= most:
            self.metrics.refused.labels("sessions").inc()
            raise NoRoom(
                f"there are {most} sessions, which is all this server takes; close some, or try "
                "again later"
            )
        if memory and self._fleet.memory >= memory:
            self.metrics.refused.labels("memory").inc()
            raise NoRoom(
                f"the environments have {self._fleet.memory} bytes resident of {memory} allowed; "
                "close some sessions, or try again later"
            )

    def _keep_key(self, name: str, made: asyncio.Future[Entry]) -> None:
        if made.cancelled() or made.exception() is not None:
            self._keys.pop(name, None)  # a request that failed can be made again
        bound(self._keys)

    def _worker_ended(self, worker: WorkerProcess) -> None:
        if not self.closing:
            self._calls.worker_ended(worker)

    async def _sweep_for_ever(self) -> None:
        while True:
            await asyncio.sleep(_SWEEP)
            try:
                await self.sweep()
            except Exception:
                log.exception("sweeping failed")

    def _measure(self) -> None:
        gauge = self.metrics.gauge
        gauge("agentgym_sessions_open", "Sessions open.", lambda: len(self))
        gauge("agentgym_workers", "Worker processes.", lambda: len(self.workers))
        about = "Memory of the worker processes and their children."
        gauge("agentgym_workers_resident_bytes", about, lambda: self._fleet.memory)


def _card(name: str) -> EnvCard:
    """Return the card of a built-in environment, or make one for somebody's own."""
    env_id = registry.portable_id(name)
    for card in registry.cards():
        if card.id == env_id:
            return card
    return EnvCard(env_id, "", "")


def _new_id() -> str:
    return secrets.token_urlsafe(18)


__all__ = ["Entry", "Reply", "SessionStore"]
