"""How long to wait for an answer, and how often to ask again."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass

from agentgym.core.options import amount

_FIRST, _LONGEST = 0.05, 2.0  # seconds between two attempts
_jitter = random.SystemRandom()  # decides no result, only when a call is made again


@dataclass(frozen=True)
class Patience:
    """How long to wait, and how often to ask again.

    Attributes:
        timeout: seconds to wait for an answer. A server gives up a step of its own accord
            (`agentgym serve --call-timeout`), so this is for servers that have gone silent.
        retry_for: seconds in which a call is made again that failed on its way or that a busy
            server put off, counted from its first failure; 0 asks once only.

    Raises:
        InvalidConfig: if one of them is no such number.
    """

    timeout: float = 180.0
    retry_for: float = 20.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "timeout", amount("timeout", self.timeout, 0.001))
        object.__setattr__(self, "retry_for", amount("retry_for", self.retry_for))


class Attempts:
    """The attempts at one call.

    Args:
        patience: says how long.
    """

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._end: float | None = None
        self._pause = _FIRST
        self.failed = 0

    def again(self, after: float | None = None) -> bool:
        """Wait before the next attempt, or return False where there is to be none.

        Args:
            after: seconds the server asks to wait; None leaves it to us.
        """
        now = time.monotonic()
        self.failed += 1
        if self._end is None:
            self._end = now + self._patience.retry_for
        pause = self._pause * _jitter.uniform(0.5, 1.0) if after is None else after
        self._pause = min(2 * self._pause, _LONGEST)
        if now + pause > self._end:
            return False
        time.sleep(pause)
        return True
