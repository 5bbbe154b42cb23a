"""Ctrl-C during a run.

asyncio turns the first Ctrl-C into a cancellation, which takes effect when the calls under way
return: a step of an environment, a reply of a model. That can take long, so the first Ctrl-C says
what is being waited for, and the second leaves at once. Nothing that had finished is lost then,
since a run folder survives `kill -9`.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self

from rich.console import Console

from agentgym.rollout.events import Event, Listener, RunStarted

_Handler = Callable[[int, FrameType | None], Any] | int | None


class Interrupts:
    """Listens to a run, so that it can take Ctrl-C over from asyncio once the run has begun.

    Args:
        listener: who else hears the events.
        console: where to say that the run is being stopped.
        at_once: leave at the first Ctrl-C, because somebody is at the keyboard.
        parting: gives the last words when the second Ctrl-C ends the process.
    """

    def __init__(
        self,
        listener: Listener,
        console: Console,
        *,
        at_once: bool = False,
        parting: Callable[[], str] = lambda: "Stopped.",
    ) -> None:
        self._listener, self._console = listener, console
        self._at_once, self._parting = at_once, parting
        self._before: _Handler = None
        self._cancel: _Handler = None
        self.count = 0

    def __enter__(self) -> Self:
        self._before = signal.getsignal(signal.SIGINT)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _set(self._before)

    def __call__(self, event: Event) -> None:
        """Take Ctrl-C over as the run begins; pass the event on."""
        if isinstance(event, RunStarted):
            self._cancel = signal.getsignal(signal.SIGINT)
            _set(signal.default_int_handler if self._at_once else self._pressed)
        self._listener(event)

    def _pressed(self, number: int, frame: FrameType | None) -> None:
        self.count += 1
        if self.count > 1:
            self._console.print(self._parting(), style="yellow", markup=False)
            self._console.show_cursor(True)  # a live display hides it
            os._exit(130)
        self._console.print(
            "Stopping when the calls under way return; Ctrl-C again stops at once.", style="yellow"
        )
        if callable(self._cancel):
            self._cancel(number, frame)


def _set(handler: _Handler) -> None:
    # Suppressed: not the main thread, or a handler that was not set from Python.
    with contextlib.suppress(ValueError, TypeError):
        signal.signal(signal.SIGINT, handler)
