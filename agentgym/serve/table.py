"""The sessions there are, and for a while the reason why others are no more."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from agentgym.core import registry
from agentgym.serve.entry import Entry
from agentgym.serve.metrics import Metrics
from agentgym.serve.problem import SessionLost, UnknownSession
from agentgym.serve.process import WorkerProcess

REMEMBERED = 20_000
"""Reasons kept, and keys of requests."""


class SessionTable:
    """Sessions by id.

    Args:
        metrics: where their number is counted.
    """

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._entries: dict[str, Entry] = {}
        self._gone: OrderedDict[str, str] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, entry: Entry) -> bool:
        return self._entries.get(entry.id) is entry

    def has(self, session_id: str) -> bool:
        """Return whether there is a session of this name, whoever made it."""
        return session_id in self._entries

    def enter(self, entry: Entry) -> None:
        """Add a session."""
        self._entries[entry.id] = entry
        self._metrics.created.labels(registry.short_name(entry.env_id)).inc()

    def find(self, session_id: str, owner: str) -> Entry:
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
            raise gone(reason)
        raise UnknownSession(f"there is no session {session_id[:80]!r}; create one first")

    def forget(self, entry: Entry, how: str, why: str) -> bool:
        """Take a session out; return whether it was there.

        Args:
            entry: the session.
            how: "closed", "expired", "lost" or "shutdown".
            why: what its client is told.
        """
        if entry not in self:
            return False
        del self._entries[entry.id]
        entry.worker.sessions.discard(entry.id)
        self._gone[f"{entry.owner}:{entry.id}"] = why
        bound(self._gone)
        self._metrics.ended.labels(registry.short_name(entry.env_id), how).inc()
        return True

    def held_by(self, worker: WorkerProcess) -> list[Entry]:
        """Return the sessions of a worker."""
        return [entry for entry in self._entries.values() if entry.worker is worker]

    def idle_since(self, before: float) -> list[Entry]:
        """Return the sessions not used since a moment, on the monotonic clock."""
        return [e for e in self._entries.values() if not e.busy and e.used < before]

    def all(self) -> list[Entry]:
        """Return all sessions."""
        return list(self._entries.values())


def gone(why: object) -> SessionLost:
    """Return the error that says a session is no more."""
    return SessionLost(f"this session is gone: {why}. Create another one.")


def bound(table: OrderedDict[str, Any]) -> None:
    """Drop the oldest rows of a table that has too many."""
    while len(table) > REMEMBERED:
        table.popitem(last=False)
