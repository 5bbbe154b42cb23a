"""An environment that does whatever an action says, to show what becomes of it.

In a module of its own, so that a worker process has little to import.
"""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

from agentgym.core import Outcome
from agentgym.core.errors import InvalidConfig
from tests.toy import GuessEnv


class Odd(GuessEnv):
    """Finds a number, but for a few actions that go wrong."""

    flag: str | None = None
    closed_at: str | None = None

    def __init__(self, *, flag: str | None = None, **options) -> None:
        super().__init__(**options)
        self.flag = flag

    def _act(self, action: str) -> Outcome:
        word, _, rest = action.partition(" ")
        if word == "big":
            return Outcome("x" * int(rest), 0.0)
        if word == "raise":
            raise InvalidConfig(f"no {rest}")
        if word == "local":

            class Local(Exception):
                def __init__(self, one, two):
                    super().__init__(f"{one} and {two}")

            raise Local(1, 2)
        if word == "die" or (word == "once" and self._first_time()):
            os._exit(3)
        if word == "interrupt":
            raise KeyboardInterrupt
        if word == "hang":
            time.sleep(60)
        return super()._act(action)

    def _first_time(self) -> bool:
        path = Path(self.flag)
        first = not path.exists()
        path.touch()
        return first

    def pid(self) -> int:
        return os.getpid()

    def lock(self):
        return threading.Lock()

    def _close(self) -> None:
        if self.closed_at:
            with open(self.closed_at, "a") as file:
                file.write("closed\n")
