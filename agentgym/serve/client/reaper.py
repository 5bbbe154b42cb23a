"""Closes the sessions of environments nobody closed.

An environment that is collected, or still there when the program ends, leaves a session on the
server, which would hold its memory until it expires. What a collector calls may neither wait nor
take a lock, so the session's name goes into a queue, and a thread that waits on it does the rest.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import queue
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentgym.serve.client.service import Service

_WITHIN = 2.0  # seconds a server has to close one
_AT_EXIT = 2.0  # seconds the program is held up at its end

_queue: queue.SimpleQueue[tuple[Service, str]] = queue.SimpleQueue()
_lock = threading.Lock()
_reaper: threading.Thread | None = None
_process = 0


def watch(owner: Any, service: Service, session: str) -> weakref.finalize[Any, Any]:
    """Have a session closed once its owner is gone.

    Returns:
        What to `detach` when it is closed otherwise.
    """
    _start()
    return weakref.finalize(owner, _abandon, service, session, os.getpid())


def _abandon(service: Service, session: str, process: int) -> None:
    if process == os.getpid():  # a forked process's copy is not the one that counts
        _queue.put((service, session))


def _start() -> None:
    global _reaper, _process, _queue
    with _lock:
        if _reaper is not None and _process == os.getpid():
            return
        if _reaper is None:
            # Before the first `finalize`, whose own function then comes first when Python ends.
            atexit.register(_drain)
        _process, _queue = os.getpid(), queue.SimpleQueue()
        _reaper = threading.Thread(
            target=_reap, args=(_queue,), name="agentgym-reaper", daemon=True
        )
        _reaper.start()


def _reap(abandoned: queue.SimpleQueue[tuple[Service, str]]) -> None:
    while True:
        _close(*abandoned.get())


def _close(service: Service, session: str) -> None:
    with contextlib.suppress(Exception):  # it expires by itself
        service.close(session, within=_WITHIN)


def _drain() -> None:
    """Close what is still open when the program ends."""
    end = time.monotonic() + _AT_EXIT
    while time.monotonic() < end:
        try:
            service, session = _queue.get_nowait()
        except queue.Empty:
            return
        _close(service, session)
