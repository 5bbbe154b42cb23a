"""What it takes to play a lost session again: where its episode began, and what was done since.

An environment of the suite follows from its task, its seed and the actions, so the snapshot taken
where the episode began and the actions since lead back to the same moment in another process.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from agentgym.serve.problem import SessionLost, TooSlow
from agentgym.serve.process import WorkerProcess
from agentgym.serve.wire import Answer


@dataclass(slots=True)
class Journal:
    """The journal of one session.

    Attributes:
        snapshot: where the episode began, or None before the first.
        actions: the calls since, as (verb, arguments).
        sequence: the number of the last call that acted.
        last: its status and body.
        begun: whether there was an episode after it, which a failure ends.
    """

    snapshot: Any = None
    actions: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    sequence: int = 0
    last: tuple[int, bytes] | None = None
    begun: bool = False

    def note(self, verb: str, args: dict[str, Any], answer: Answer) -> None:
        """Take down a call that has been answered."""
        if answer.point is None:  # it did not act, or was a repetition
            return
        self.sequence, snapshot, self.begun = answer.point
        self.last = (answer.status, answer.body)
        if snapshot is not None:
            self.snapshot, self.actions = snapshot, []
        elif answer.status == 200:
            kept = {k: v for k, v in args.items() if k != "seq"}
            self.actions.append((verb, kept))

    async def replay(self, worker: WorkerProcess, session: str, within: float) -> None:
        """Play a session again in a worker that has just made it.

        Args:
            worker: the worker.
            session: the session's id.
            within: seconds each call may take.

        Raises:
            SessionLost: if that does not lead to the answer the session gave last.
            TooSlow: if a call takes longer than it may.
            WorkerGone: if the worker ends meanwhile.
        """

        async def ask(verb: str, **args: Any) -> Answer:
            try:
                async with asyncio.timeout(within):
                    return await worker.ask(verb, session, **args)
            except TimeoutError:
                raise TooSlow(f"a {verb} was not answered within {within:g} s") from None

        played: Answer | None = None
        if self.snapshot is not None:
            played = await ask("restore", state=self.snapshot)
            if played.status != 200:
                raise SessionLost(f"it cannot be played again: {played.body.decode()}")
        for verb, args in self.actions:
            played = await ask(verb, **args)
        last_acted = self.last is not None and self.last[0] == 200
        if self.actions and last_acted and played is not None and played.body != self.last_body:
            raise SessionLost("playing it again did not lead to the same answer")
        await ask("resume", sequence=self.sequence, last=self.last, begun=self.begun)

    @property
    def last_body(self) -> bytes:
        """The body of the last answer."""
        return self.last[1] if self.last else b""
