"""A session: one environment, its calls one after another, in the process that holds it.

A call that changes the episode may carry a sequence number. The next number acts; the last one
again gets the last answer again, so that a client that lost an answer may ask twice and never acts
twice; any other is refused.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded

from agentgym.core import TextEnv
from agentgym.core.errors import AgentGymError
from agentgym.core.expert import Expert
from agentgym.serve.picture import write_picture
from agentgym.serve.problem import BadRequest, NoExpert, OutOfStep, Problem, SessionLost
from agentgym.serve.wire import encode

Work = Callable[[], None]


class Session:
    """An environment and its place in the protocol.

    Args:
        env: the environment; the session closes it.
        journalled: whether snapshots are handed out where an episode begins.
    """

    def __init__(self, env: TextEnv, *, journalled: bool = False) -> None:
        self.env = env
        self.sequence = 0
        self._journalled = journalled
        self._last: tuple[int, bytes] | None = None
        self._now: dict[str, Any] | None = None  # the last observation, whole
        self._expert: Expert | None = None
        self._waiting: deque[Work] = deque()
        self._lock = threading.Lock()
        self._running = False
        self._closed = False

    def push(self, work: Work) -> bool:
        """Put work in line; return whether the caller must see to it that the line is drained."""
        with self._lock:
            self._waiting.append(work)
            if self._running:
                return False
            self._running = True
            return True

    def drain(self) -> None:
        """Do what is in line, in order, until nothing is."""
        while True:
            with self._lock:
                if not self._waiting:
                    self._running = False
                    return
                work = self._waiting.popleft()
            work()

    def answer(self, verb: str, args: dict[str, Any]) -> tuple[int, bytes, Any, int]:
        """Answer one call.

        Returns:
            The HTTP status, the body as JSON, and where a journal is kept and the call acted (and
            is no repetition) a pair: the number of the call, and a snapshot if an episode began;
            the number of the last call that acted.
        """
        acts = verb in _ACTS
        try:
            if acts and (again := self._repeated(args.get("seq"))) is not None:
                return *again, None, self.sequence
        except OutOfStep as error:
            return *_failed(error), None, self.sequence
        snapshot = None
        try:
            if self._closed:
                raise SessionLost("this session is gone: it was closed. Create another one.")
            answer = _VERBS[verb](self, args)
            status, body = 200, encode(answer)
            if self._journalled and verb in ("reset", "restore"):
                snapshot = self.env.get_state()
        except BaseException as error:  # an engine may raise SystemExit, or a panic of Rust's
            status, body = self._fault(error)
        if not acts:
            return status, body, None, self.sequence
        self.sequence += 1
        self._last = (status, body)
        begun = not self._closed and self.env.task is not None
        point = (self.sequence, snapshot, begun) if self._journalled else None
        return status, body, point, self.sequence

    def twin(self) -> tuple[Session, dict[str, Any], Any]:
        """Return a session at the same moment, what it sees, and a snapshot where one is kept.

        Raises:
            ResetNeeded: if there is no episode to copy.
        """
        now = self._observe({})
        twin = Session(self.env.fork(), journalled=self._journalled)
        twin._now = now
        return twin, now, (0, twin.env.get_state(), True) if self._journalled else None

    def resume(self, sequence: int, last: tuple[int, bytes] | None, begun: bool) -> None:
        """Take up the numbering where a session that was lost left off.

        Args:
            sequence: the number of the last call that acted.
            last: its status and body.
            begun: whether there was an episode after it.
        """
        self.sequence, self._last = sequence, last
        if not begun:
            self.env.task = None

    def close(self) -> None:
        """Close the environment and let go of it; calls still in line are told so."""
        if not self._closed:
            self._closed = True
            self.env.close()
            self._now = self._expert = None
            del self.env

    def _repeated(self, seq: int | None) -> tuple[int, bytes] | None:
        if seq is None or seq == self.sequence + 1:
            return None
        if seq == self.sequence and self._last is not None:
            return self._last
        raise OutOfStep(
            f"the next call of this session has seq {self.sequence + 1}, got {seq}; only the last "
            "call can be repeated"
        )

    def _fault(self, error: BaseException) -> tuple[int, bytes]:
        if not isinstance(error, AgentGymError | ResetNeeded) and not self._closed:
            self.env.task = None  # whatever state it is in, only a reset leads out of it
        return _failed(error)

    # The verbs.

    def _turn(
        self, observation: str, reward: float, terminated: bool, truncated: bool, info: Any
    ) -> dict[str, Any]:
        self._now = {
            "observation": observation,
            "reward": reward,
            "terminated": terminated,
            "truncated": truncated,
            "info": info,
        }
        return self._now

    def _reset(self, args: dict[str, Any]) -> dict[str, Any]:
        self._expert = None
        options = {k: args[k] for k in ("task_id", "split") if args.get(k) is not None}
        observation, info = self.env.reset(seed=args.get("seed"), options=options)
        return self._turn(observation, 0.0, False, False, info)

    def _step(self, args: dict[str, Any]) -> dict[str, Any]:
        return self._turn(*self.env.step(args["action"]))

    def _forfeit(self, args: dict[str, Any]) -> dict[str, Any]:
        return self._turn(*self.env.forfeit(args["message"]))

    def _observe(self, args: dict[str, Any]) -> dict[str, Any]:
        if self._now is None or self.env.task is None:
            raise ResetNeeded("reset the session before observing it")
        return self._now

    def _state(self, args: dict[str, Any]) -> dict[str, Any]:
        return {"state": self.env.get_state()}

    def _restore(self, args: dict[str, Any]) -> dict[str, Any]:
        self._expert = None
        observation, info = self.env.set_state(args["state"])
        state = args["state"]
        ended = state.get("terminated", False), state.get("truncated", False)
        return self._turn(observation, 0.0, *ended, info)

    def _render(self, args: dict[str, Any]) -> dict[str, Any]:
        picture = self.env.render()
        return {"render": picture if isinstance(picture, str) else write_picture(picture)}

    def _ask_expert(self, args: dict[str, Any]) -> dict[str, Any]:
        if self._expert is None or args.get("fresh"):
            try:
                self._expert = self.env.expert()
            except NotImplementedError as error:
                raise NoExpert(str(error)) from error
        now = self._observe(args)
        thought, action = self._expert.act(now["observation"], now["info"])
        return {"thought": thought, "action": action}

    def _sample(self, args: dict[str, Any]) -> dict[str, Any]:
        rng = np.random.default_rng(args["seed"])
        if args.get("rng") is None:
            return {"action": self.env.sample_action(rng)}
        try:
            rng.bit_generator.state = args["rng"]
        except (ValueError, TypeError, KeyError, OverflowError) as error:
            raise BadRequest(f"'rng' is no state of a PCG64 generator: {error!r:.200}") from None
        action = self.env.sample_action(rng)
        return {"action": action, "rng": rng.bit_generator.state}


def _failed(error: BaseException) -> tuple[int, bytes]:
    problem = Problem.of(error)
    return problem.status, problem.to_json()


_VERBS: dict[str, Callable[[Session, dict[str, Any]], dict[str, Any]]] = {
    "reset": Session._reset,
    "step": Session._step,
    "forfeit": Session._forfeit,
    "observe": Session._observe,
    "state": Session._state,
    "restore": Session._restore,
    "render": Session._render,
    "expert": Session._ask_expert,
    "sample": Session._sample,
}
_ACTS = ("reset", "step", "forfeit", "restore")
