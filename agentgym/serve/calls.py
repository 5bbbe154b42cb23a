"""Calls on sessions: pass one on, many at once, and play again what a dead worker held."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from agentgym.core import registry
from agentgym.core.errors import AgentGymError
from agentgym.serve.entry import Entry, Reply
from agentgym.serve.fleet import Fleet
from agentgym.serve.journal import Journal
from agentgym.serve.metrics import Metrics
from agentgym.serve.problem import SessionLost, TooSlow
from agentgym.serve.process import Then, WorkerGone, WorkerProcess
from agentgym.serve.settings import ServeSettings
from agentgym.serve.table import SessionTable, gone
from agentgym.serve.wire import Answer

log = logging.getLogger("agentgym.serve")

Item = tuple[Entry, dict[str, Any]]

_DEATHS = 2  # of workers in a row, after which a session is no longer played again
_SUSPECT = 2  # after so many it is tried where no other's call can be taken for the reason


class Calls:
    """Asks workers on behalf of sessions.

    Args:
        table: the sessions.
        fleet: the workers.
        metrics: where calls are counted.
        settings: of the server.
    """

    def __init__(
        self, table: SessionTable, fleet: Fleet, metrics: Metrics, settings: ServeSettings
    ) -> None:
        self._table, self._fleet = table, fleet
        self._metrics, self._settings = metrics, settings
        self._alone: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def one(self, entry: Entry, verb: str, args: dict[str, Any]) -> Answer:
        """Ask the worker of a session; where it dies, ask again once the session is back.

        Raises:
            SessionLost: if its worker died and it is not played again.
            TooSlow: if the environment takes longer than a call may.
        """
        began = entry.used = time.monotonic()
        entry.busy += 1
        try:
            answer = await self._ask(entry, verb, _journalling(entry, verb, args), args)
        finally:
            entry.busy -= 1
            entry.used = time.monotonic()
        self._metrics.call(entry.env_id, verb, answer.status, entry.used - began)
        return answer

    async def many(self, items: Sequence[Item]) -> list[Reply]:
        """Play one step in each of many sessions, each worker asked once."""
        shares: dict[WorkerProcess, list[int]] = {}
        for i, (entry, _) in enumerate(items):
            shares.setdefault(entry.worker, []).append(i)
        replies: list[Reply] = [_NOTHING] * len(items)

        async def play(worker: WorkerProcess, share: list[int]) -> None:
            got = await self._share(worker, [items[i] for i in share])
            for i, reply in zip(share, got, strict=True):
                replies[i] = reply

        await asyncio.gather(*(play(worker, share) for worker, share in shares.items()))
        return replies

    def worker_ended(self, worker: WorkerProcess) -> None:
        """Lose or play again the sessions of a worker that has ended."""
        why = worker.ended or "its process ended"
        held = self._table.held_by(worker)
        if held or not worker.retired:
            self._metrics.deaths.labels(registry.short_name(worker.env_id)).inc()
            told = {"pid": worker.pid, "environment": worker.env_id, "why": why}
            log.warning("worker ended", extra={**told, "sessions": len(held)})
        for entry in held:
            entry.deaths += bool(entry.asked)  # whose calls were not under way is not to blame
            if entry.reviving is None:
                self._revive(entry, why)

    async def _ask(
        self, entry: Entry, verb: str, then: Then | None, args: dict[str, Any]
    ) -> Answer:
        while True:
            if entry.reviving is not None:
                await asyncio.shield(entry.reviving)
            self._require(entry)
            worker = entry.worker
            try:
                if entry.deaths < _SUSPECT:
                    return await self._answered(entry, worker, verb, then, args)
                async with self._alone[entry.env_id]:
                    if entry.worker is worker and worker.alive:
                        return await self._answered(entry, worker, verb, then, args)
            except WorkerGone as error:
                await self._back(entry, worker, error)

    async def _answered(
        self,
        entry: Entry,
        worker: WorkerProcess,
        verb: str,
        then: Then | None,
        args: dict[str, Any],
    ) -> Answer:
        """Ask a worker and wait, for as long as a call may take once the one before is done."""
        within = self._settings.call_timeout
        limit = asyncio.timeout(within)
        try:
            async with limit:
                entry.asked.append(limit)
                answer = await worker.ask(verb, entry.id, then, **args)
        except TimeoutError:
            entry.asked.remove(limit)
            _reschedule(entry, 0.0)  # those behind it in line wait for nothing
            raise self._too_slow(entry, worker) from None
        except BaseException:
            entry.asked.remove(limit)
            raise
        entry.asked.remove(limit)
        entry.deaths = 0
        if entry.asked:
            _reschedule(entry, within)
        return answer

    def _require(self, entry: Entry) -> None:
        """Require that a session has not been closed, and has not expired, on the way here.

        Raises:
            SessionLost: if it has; the message says which.
        """
        if entry not in self._table:
            self._table.find(entry.id, entry.owner)  # knows why
            raise gone("another one has taken its name")

    async def _share(self, worker: WorkerProcess, share: list[Item]) -> list[Reply]:
        """Play a worker's share of a batch: in one call where nothing speaks against it."""
        first = share[0][0]
        apart = first.journal is not None or first.about.get("blocking")
        if len(share) > 1 and not apart and worker.alive:
            began = time.monotonic()
            for entry, _ in share:
                entry.busy += 1
                entry.used = began
            try:
                async with asyncio.timeout(self._settings.call_timeout):
                    calls = [(entry.id, args) for entry, args in share]
                    answer = await worker.ask("steps", items=calls)
                taken = time.monotonic() - began
                self._metrics.call(worker.env_id, "steps", answer.status, taken)
                return [Reply(*told) for told in answer.body]
            except TimeoutError:  # the steps are in line and may yet be played
                return [Reply.of(self._too_slow(entry, worker)) for entry, _ in share]
            except WorkerGone:  # each learns for itself what becomes of it
                pass
            finally:
                for entry, _ in share:
                    entry.busy -= 1
        return list(await asyncio.gather(*(self._step(entry, args) for entry, args in share)))

    async def _step(self, entry: Entry, args: dict[str, Any]) -> Reply:
        try:
            answer = await self.one(entry, "step", args)
            return Reply(answer.status, answer.body, answer.seq)
        except AgentGymError as error:
            return Reply.of(error)

    def _too_slow(self, entry: Entry, worker: WorkerProcess) -> TooSlow:
        """Give up a session whose environment does not answer."""
        seconds = self._settings.call_timeout
        self._table.forget(entry, "lost", f"its environment did not answer within {seconds:g} s")
        self._fleet.give_up(worker)
        return TooSlow(f"the environment did not answer within {seconds:g} s; the session is lost")

    async def _back(self, entry: Entry, worker: WorkerProcess, error: WorkerGone) -> None:
        """Wait until a session whose worker died is back.

        Raises:
            SessionLost: if it is lost.
        """
        if entry.worker is not worker:  # somebody else's call has seen to it
            return
        self._require(entry)
        await asyncio.shield(entry.reviving or self._revive(entry, str(error)))

    def _revive(self, entry: Entry, why: str) -> asyncio.Task[None]:
        entry.reviving = asyncio.get_running_loop().create_task(self._play_again(entry, why))
        entry.reviving.add_done_callback(_heed_nothing)
        return entry.reviving

    async def _play_again(self, entry: Entry, why: str) -> None:
        try:
            entry.worker = await self._replayed(entry, why)
            self._metrics.revived.labels(registry.short_name(entry.env_id)).inc()
        except SessionLost as lost:
            self._table.forget(entry, "lost", str(lost))
            raise gone(lost) from lost
        finally:
            entry.reviving = None

    async def _replayed(self, entry: Entry, why: str) -> WorkerProcess:
        """Return the worker in which a session has been played again.

        Raises:
            SessionLost: if that cannot be.
        """
        while entry.journal is not None and entry.deaths <= _DEATHS:
            try:
                if entry.deaths < _SUSPECT:
                    return await self._replay(entry, entry.journal)
                async with self._alone[entry.env_id]:
                    return await self._replay(entry, entry.journal)
            except WorkerGone as error:  # of this session's past, or of another's beside it
                entry.deaths += 1
                why = str(error)
            except AgentGymError as error:
                raise SessionLost(f"{why}; it cannot be played again: {error}") from error
        raise SessionLost(why)

    async def _replay(self, entry: Entry, journal: Journal) -> WorkerProcess:
        worker, _ = await self._fleet.make(entry.env_id, entry.id, entry.options)
        try:
            await journal.replay(worker, entry.id, self._settings.call_timeout)
            self._require(entry)  # it may have been closed meanwhile
        except BaseException as error:
            if isinstance(error, TooSlow):
                self._fleet.give_up(worker)
            await self._fleet.release(worker, entry.id)
            raise
        return worker


def _journalling(entry: Entry, verb: str, args: dict[str, Any]) -> Then | None:
    journal = entry.journal
    if journal is None or verb == "fork":  # whose answer is of the twin
        return None
    return lambda answer: journal.note(verb, args, answer)


def _reschedule(entry: Entry, within: float) -> None:
    """Let the calls that a session's worker has been asked wait so long from now on."""
    when = asyncio.get_running_loop().time() + within
    for limit in entry.asked:
        if not limit.expired():
            limit.reschedule(when)


def _heed_nothing(done: asyncio.Future[Any]) -> None:
    """Look at an outcome nobody waits for, so that asyncio does not complain."""
    if not done.cancelled():
        done.exception()


_NOTHING = Reply(500, b"")
