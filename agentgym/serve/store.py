"""The sessions of a server, whichever router they were asked for by.

The store knows of each session which worker holds it and when it was last used. It refuses what
there is no room for, closes what has expired, and remembers for a while why a session is gone, so
that its client is told more than that there is none. It never reads what an environment answers.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from agentgym.core import registry
from agentgym.core.errors import InvalidConfig, UnknownEnvironment, did_you_mean
from agentgym.core.registry import EnvCard
from agentgym.serve.group import Group
from agentgym.serve.journal import Journal
from agentgym.serve.metrics import Metrics
from agentgym.serve.problem import (
    NoRoom,
    Problem,
    SessionLost,
    TooLarge,
    TooSlow,
    UnknownSession,
    WorkerFailed,
)
from agentgym.serve.process import Then, WorkerGone, WorkerProcess
from agentgym.serve.settings import OPTIONS, ServeSettings
from agentgym.serve.wire import Answer, decode

log = logging.getLogger("agentgym.serve")

_REMEMBERED = 20_000  # reasons why sessions are gone, and keys of sessions made
_SWEEP = 1.0  # seconds between looks at what has expired
_DEATHS = 2  # of workers, after which a session is no longer played again


@dataclass(frozen=True, slots=True)
class Reply:
    """What a session answered: an HTTP status and JSON."""

    status: int
    body: bytes

    @property
    def ok(self) -> bool:
        """Whether it is an answer and not an error."""
        return self.status == 200

    def value(self) -> Any:
        """Return what the JSON says.

        Raises:
            AgentGymError: if it is an error: that one, or the nearest class known here.
        """
        value = decode(self.body)
        if self.status != 200:
            raise Problem.from_json(value, self.status).error()
        return value


@dataclass(slots=True, eq=False)
class Entry:
    """What the store knows of a session.

    Attributes:
        id: its name, not to be guessed.
        env_id: its environment.
        options: what the environment was made with.
        about: what the worker said of it when it was made.
        owner: the router that made it, so that none reaches another's.
        worker: where it is.
        used: when it was last used, on the monotonic clock.
        busy: calls under way.
        journal: what is needed to play it again, where that is wanted.
        deaths: workers that died with it.
        reviving: the task that is playing it again.
    """

    id: str
    env_id: str
    options: dict[str, Any]
    owner: str
    worker: WorkerProcess
    about: dict[str, Any] = field(default_factory=dict)
    used: float = 0.0
    busy: int = 0
    journal: Journal | None = None
    deaths: int = 0
    reviving: asyncio.Task[None] | None = None


class SessionStore:
    """Opens, finds and closes sessions, and passes calls on to them.

    Args:
        settings: of the server.
    """

    def __init__(self, settings: ServeSettings | None = None) -> None:
        self.settings = settings or ServeSettings()
        self.metrics = Metrics()
        self._entries: dict[str, Entry] = {}
        self._groups: dict[str, Group] = {}
        self._gone: OrderedDict[str, str] = OrderedDict()
        self._keys: OrderedDict[str, asyncio.Future[Entry]] = OrderedDict()
        self._opening = 0
        self._memory = 0
        self._sweeper: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.closing = False
        self.metrics.gauge("agentgym_sessions_open", "Sessions open.", lambda: len(self._entries))
        self.metrics.gauge("agentgym_workers", "Worker processes.", lambda: len(self.workers))
        self.metrics.gauge(
            "agentgym_workers_resident_bytes",
            "Memory of the worker processes and their children.",
            lambda: self._memory,
        )

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
        for entry in tuple(self._entries.values()):
            self._forget(entry, "shutdown", "the server is shutting down")
        await asyncio.gather(*(group.close() for group in self._groups.values()))
        for task in tuple(self._tasks):
            task.cancel()

    # Environments.

    def cards(self) -> tuple[EnvCard, ...]:
        """Return the environments that are served: those installed, or those of the settings."""
        wanted = {registry.resolve_id(name) for name in self.settings.environments}
        return tuple(
            card
            for card in registry.cards()
            if (card.id in wanted if wanted else card.installed) and card.id != REMOTE
        )

    def card(self, name: str) -> EnvCard:
        """Return the card of an environment that is served, by id or short name.

        Raises:
            UnknownEnvironment: if none of that name is.
        """
        cards = self.cards()
        for card in cards:
            if name.lower() in (card.id.lower(), card.short_name.lower(), card.id[9:].lower()):
                return card
        raise UnknownEnvironment("environment", name, [card.short_name for card in cards])

    async def about(self, env_id: str, options: Mapping[str, Any] | None = None) -> Reply:
        """Describe an environment: instructions, grammar, editions, number of tasks."""
        return await self._of_environment("about", env_id, options)

    async def tasks(self, env_id: str, options: Mapping[str, Any] | None = None) -> Reply:
        """List the tasks of an environment, without what is in them."""
        return await self._of_environment("tasks", env_id, options)

    # Sessions.

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def workers(self) -> tuple[WorkerProcess, ...]:
        """All worker processes."""
        return tuple(w for group in self._groups.values() for w in group.workers)

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
            InvalidConfig: if an option may not be set.
            NoRoom: if there is no room for another session.
            AgentGymError: what making the environment raises.
        """
        if key is None:
            return await self._open(env_id, options, owner, session_id)
        name = f"{owner}:{key}"
        made = self._keys.get(name)
        if made is None:
            made = self._keys[name] = asyncio.ensure_future(
                self._open(env_id, options, owner, session_id)
            )
            made.add_done_callback(lambda done: self._keep_key(name, done))
        return await asyncio.shield(made)

    def find(self, session_id: str, owner: str = "") -> Entry:
        """Return a session.

        Raises:
            SessionLost: if there was one and it is gone; the message says why.
            UnknownSession: if there was none.
        """
        entry = self._entries.get(session_id)
        if entry is not None and entry.owner == owner:
            return entry
        reason = self._gone.get(f"{owner}:{session_id}")
        if reason is not None:
            raise SessionLost(f"this session is gone: {reason}. Create another one.")
        raise UnknownSession(f"there is no session {session_id[:80]!r}; create one first")

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
        began = time.monotonic()
        journal = entry.journal
        then: Then | None = None
        if journal is not None:
            then = lambda answer: journal.note(verb, args, answer)  # noqa: E731
        answer = await self._ask(entry, verb, entry.id, then, args)
        self.metrics.call(entry.env_id, verb, answer.status, time.monotonic() - began)
        return Reply(answer.status, answer.body)

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
        replies: list[Reply | None] = [None] * len(items)
        shares: dict[WorkerProcess, list[tuple[int, Entry]]] = {}
        for i, (session_id, _) in enumerate(items):
            try:
                entry = self.find(session_id, owner)
                shares.setdefault(entry.worker, []).append((i, entry))
            except (SessionLost, UnknownSession) as error:
                replies[i] = _failed(error)
        await asyncio.gather(
            *(self._share(worker, share, items, replies) for worker, share in shares.items())
        )
        return [reply for reply in replies if reply is not None]

    async def fork(self, entry: Entry) -> tuple[Entry, Reply]:
        """Open a session at the same moment of the same episode.

        Returns:
            The new session and what it observes, or an error of the environment and the old one.

        Raises:
            NoRoom: if there is no room for another session.
        """
        self._admit()
        worker = entry.worker
        twin = Entry(_new_id(), entry.env_id, entry.options, entry.owner, worker, entry.about)
        if entry.journal is not None:
            twin.journal = Journal()
        self._opening += 1
        worker.sessions.add(twin.id)
        try:
            answer = await self._ask(entry, "fork", entry.id, None, {"twin": twin.id})
            if answer.status != 200:
                worker.sessions.discard(twin.id)
                return entry, Reply(answer.status, answer.body)
            if entry.worker is not worker:  # it was played again elsewhere meanwhile
                worker.sessions.discard(twin.id)
                twin.worker = entry.worker
                twin.worker.sessions.add(twin.id)
            if twin.journal is not None and answer.point is not None:
                twin.journal.snapshot = answer.point[1]
            self._enter(twin)
            return twin, Reply(200, answer.body)
        except BaseException:
            worker.sessions.discard(twin.id)
            raise
        finally:
            self._opening -= 1

    async def close(self, entry: Entry) -> None:
        """Close a session; its environment has released everything when this returns."""
        worker = entry.worker
        self._forget(entry, "closed", "it was closed", tell_worker=False)
        with suppress(WorkerGone, TimeoutError):
            async with asyncio.timeout(self.settings.call_timeout):
                await worker.ask("close", entry.id)

    # How a call is made.

    async def _ask(
        self, entry: Entry, verb: str, session: str, then: Then | None, args: dict[str, Any]
    ) -> Answer:
        """Ask the worker of a session; where it dies, ask again once the session is back."""
        entry.busy += 1
        entry.used = time.monotonic()
        try:
            while True:
                if entry.reviving is not None:
                    await asyncio.shield(entry.reviving)
                worker = entry.worker
                try:
                    async with asyncio.timeout(self.settings.call_timeout):
                        return await worker.ask(verb, session, then, **args)
                except WorkerGone as gone:
                    await self._revive(entry, worker, gone)
                except TimeoutError:
                    raise self._gave_up(entry, worker) from None
        finally:
            entry.busy -= 1
            entry.used = time.monotonic()

    async def _share(
        self,
        worker: WorkerProcess,
        share: list[tuple[int, Entry]],
        items: Sequence[tuple[str, dict[str, Any]]],
        replies: list[Reply | None],
    ) -> None:
        """Play a worker's share of a batch."""
        alone = len(share) == 1 or share[0][1].journal is not None
        if not alone and worker.alive:
            began = time.monotonic()
            for _, entry in share:
                entry.busy += 1
                entry.used = began
            try:
                calls = [(entry.id, items[i][1]) for i, entry in share]
                async with asyncio.timeout(self.settings.call_timeout):
                    answer = await worker.ask("steps", items=calls)
                for (i, _), (status, body) in zip(share, answer.body, strict=True):
                    replies[i] = Reply(status, body)
                self.metrics.call(
                    share[0][1].env_id, "steps", answer.status, time.monotonic() - began
                )
                return
            except (WorkerGone, TimeoutError):  # each learns for itself what became of it
                pass
            finally:
                for _, entry in share:
                    entry.busy -= 1
        await asyncio.gather(*(self._one(entry, items[i][1], i, replies) for i, entry in share))

    async def _one(
        self, entry: Entry, args: dict[str, Any], i: int, replies: list[Reply | None]
    ) -> None:
        try:
            replies[i] = await self.call(entry, "step", **args)
        except Exception as error:
            replies[i] = _failed(error)

    def _gave_up(self, entry: Entry, worker: WorkerProcess) -> TooSlow:
        """Give up a session whose environment does not answer."""
        seconds = self.settings.call_timeout
        why = f"its environment did not answer within {seconds:g} s"
        self._forget(entry, "lost", why, tell_worker=False)
        worker.retired = True  # a thread of it is stuck; it ends with its last session
        self._later(self._end_if_stuck(worker))
        return TooSlow(f"the environment did not answer within {seconds:g} s; the session is lost")

    async def _end_if_stuck(self, worker: WorkerProcess) -> None:
        if not await worker.answers(within=5.0):
            log.warning("worker killed", extra={"pid": worker.pid, "environment": worker.env_id})
            worker.kill()

    async def _revive(self, entry: Entry, worker: WorkerProcess, gone: WorkerGone) -> None:
        """Play a session again whose worker died, or lose it.

        Raises:
            SessionLost: if it is lost.
        """
        if entry.worker is not worker:  # somebody else's call has seen to it
            return
        if entry.reviving is None:
            if self._entries.get(entry.id) is not entry:
                raise SessionLost(f"this session is gone: {gone}. Create another one.")
            entry.reviving = asyncio.create_task(self._play_again(entry, str(gone)))
        try:
            await asyncio.shield(entry.reviving)
        except SessionLost as lost:
            raise SessionLost(str(lost)) from None

    async def _play_again(self, entry: Entry, why: str) -> None:
        try:
            entry.deaths += 1
            if entry.journal is None or entry.deaths > _DEATHS or self.closing:
                raise SessionLost(why)
            try:
                worker = await self._make(entry.env_id, entry.id, entry.options)
                await entry.journal.replay(worker, entry.id)
            except WorkerGone as error:
                raise SessionLost(f"{why}; playing it again failed: {error}") from error
            entry.worker = worker
            self.metrics.revived.labels(registry.short_name(entry.env_id)).inc()
        except SessionLost as lost:
            self._forget(entry, "lost", str(lost), tell_worker=False)
            raise SessionLost(f"this session is gone: {lost}. Create another one.") from lost
        finally:
            entry.reviving = None

    # How a session is made.

    async def _open(
        self,
        env_id: str,
        options: Mapping[str, Any] | None,
        owner: str,
        session_id: str | None,
    ) -> Entry:
        card = self.card(env_id)
        made_with = self._allowed(card.id, options or {})
        self._admit()
        self._opening += 1
        try:
            name = session_id or _new_id()
            if name in self._entries:
                raise InvalidConfig(f"there is a session {name!r} already; close it first")
            about: dict[str, Any] = {}
            worker = await self._make(card.id, name, made_with, about)
            entry = Entry(name, card.id, made_with, owner, worker, about)
            if self.settings.resurrect:
                entry.journal = Journal()
            self._enter(entry)
            return entry
        except WorkerGone as gone:
            raise WorkerFailed(f"{card.short_name} could not be made: {gone}") from gone
        finally:
            self._opening -= 1

    async def _make(
        self,
        env_id: str,
        session_id: str,
        options: dict[str, Any],
        about: dict[str, Any] | None = None,
    ) -> WorkerProcess:
        """Make a session in a worker and return the worker."""
        worker = await self._group(env_id).place()
        worker.sessions.add(session_id)
        try:
            async with asyncio.timeout(self.settings.create_timeout):
                answer = await worker.ask("create", session_id, options=options)
            said = Reply(answer.status, answer.body).value()
        except TimeoutError:
            worker.sessions.discard(session_id)
            worker.retired = True
            self._later(self._end_if_stuck(worker))
            seconds = self.settings.create_timeout
            raise TooSlow(f"{env_id} was not made within {seconds:g} s") from None
        except BaseException:
            worker.sessions.discard(session_id)
            raise
        if about is not None:
            about.update(said)
        return worker

    async def _of_environment(
        self, verb: str, env_id: str, options: Mapping[str, Any] | None
    ) -> Reply:
        card = self.card(env_id)
        made_with = self._allowed(card.id, options or {})
        worker = await self._group(card.id).place()
        try:
            async with asyncio.timeout(self.settings.create_timeout):
                answer = await worker.ask(verb, options=made_with)
        except TimeoutError:
            seconds = self.settings.create_timeout
            raise TooSlow(f"{card.id} did not answer within {seconds:g} s") from None
        except WorkerGone as gone:
            raise WorkerFailed(f"{card.short_name} cannot be described: {gone}") from gone
        return Reply(answer.status, answer.body)

    def _allowed(self, env_id: str, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options an environment is made with; a client's must be among those it may."""
        known = (*OPTIONS, *self.settings.options)
        for option in options:
            if option not in known:
                raise InvalidConfig(
                    f"the option {option!r} cannot be set over the network. "
                    f"{did_you_mean(str(option), known)}Whoever runs the server can allow it: "
                    f"agentgym serve --allow-option {str(option)[:40]}"
                )
        return {**self.settings.defaults.get(env_id, {}), **options}

    def _admit(self) -> None:
        """Refuse a session there is no room for."""
        if self.closing:
            raise NoRoom("the server is shutting down")
        if len(self._entries) + self._opening >= self.settings.max_sessions:
            self.metrics.refused.labels("sessions").inc()
            raise NoRoom(
                f"there are {self.settings.max_sessions} sessions, which is all this server takes; "
                "close some, or try again later"
            )
        if self.settings.max_memory and self._memory >= self.settings.max_memory:
            self.metrics.refused.labels("memory").inc()
            raise NoRoom(
                f"the environments have {self._memory} bytes resident of "
                f"{self.settings.max_memory} allowed; close some sessions, or try again later"
            )

    def _group(self, env_id: str) -> Group:
        group = self._groups.get(env_id)
        if group is None:
            group = self._groups[env_id] = Group(env_id, self.settings, self._worker_ended)
        return group

    def _enter(self, entry: Entry) -> None:
        entry.used = time.monotonic()
        self._entries[entry.id] = entry
        self.metrics.created.labels(registry.short_name(entry.env_id)).inc()

    def _keep_key(self, name: str, made: asyncio.Future[Entry]) -> None:
        if made.cancelled() or made.exception() is not None:
            self._keys.pop(name, None)  # a request that failed can be made again
        _bound(self._keys)

    # How a session ends.

    def _forget(self, entry: Entry, how: str, why: str, *, tell_worker: bool = True) -> None:
        if self._entries.get(entry.id) is not entry:
            return
        del self._entries[entry.id]
        entry.worker.sessions.discard(entry.id)
        self._gone[f"{entry.owner}:{entry.id}"] = why
        _bound(self._gone)
        self.metrics.ended.labels(registry.short_name(entry.env_id), how).inc()
        if tell_worker and entry.worker.alive:
            entry.worker.ask("close", entry.id).add_done_callback(_heed_nothing)

    def _worker_ended(self, worker: WorkerProcess) -> None:
        """Lose or play again the sessions of a worker that has ended."""
        if self.closing:
            return
        why = worker.ended or "its process ended"
        held = [e for e in self._entries.values() if e.worker is worker]
        if held or not worker.retired:
            self.metrics.deaths.labels(registry.short_name(worker.env_id)).inc()
            log.warning(
                "worker ended",
                extra={"pid": worker.pid, "environment": worker.env_id, "why": why,
                       "sessions": len(held)},
            )  # fmt: skip
        for entry in held:
            if entry.reviving is None:
                entry.reviving = asyncio.create_task(self._play_again(entry, why))
                entry.reviving.add_done_callback(_heed_nothing)

    async def _sweep_for_ever(self) -> None:
        while True:
            await asyncio.sleep(_SWEEP)
            try:
                await self.sweep()
            except Exception:
                log.exception("sweeping failed")

    async def sweep(self) -> None:
        """Close what has expired and measure the memory; the server does so every second."""
        now = time.monotonic()
        ttl = self.settings.session_ttl
        for entry in tuple(self._entries.values()):
            if not entry.busy and now - entry.used > ttl:
                self._forget(entry, "expired", f"it lay idle for more than {ttl:g} s")
        for group in self._groups.values():
            await group.sweep()
        self._memory = await asyncio.to_thread(_memory, self.workers)

    def _later(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


REMOTE = "agentgym/Remote-v0"
"""The environment that is a client of a server; no server serves it."""


def _memory(workers: Iterable[WorkerProcess]) -> int:
    return sum(worker.memory() for worker in workers)


def _new_id() -> str:
    return secrets.token_urlsafe(18)


def _failed(error: BaseException) -> Reply:
    problem = Problem.of(error)
    return Reply(problem.status, problem.to_json())


def _bound(table: OrderedDict[str, Any]) -> None:
    while len(table) > _REMEMBERED:
        table.popitem(last=False)


def _heed_nothing(done: asyncio.Future[Any]) -> None:
    """Look at an outcome nobody waits for, so that asyncio does not complain."""
    if not done.cancelled():
        done.exception()
