"""A worker process: the sessions of one environment id.

It reads calls from its socket in one thread and answers them in others, so that a session whose
environment takes its time keeps none waiting but itself.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, fields
from typing import Any

from agentgym.core import TextEnv, registry
from agentgym.core.call import CallCommand
from agentgym.core.command import Command
from agentgym.core.errors import told
from agentgym.serve.lanes import Lanes
from agentgym.serve.problem import Problem, UnknownSession
from agentgym.serve.session import Session
from agentgym.serve.wire import HEAD, Answer, Call, encode, pack, unpack

_TOGETHER = 0.1  # seconds of a batch in one thread; what takes longer gets threads
_LEAVE = 5.0  # seconds the environments have to close when the worker ends


def work(end: socket.socket, env_id: str, journalled: bool) -> None:
    """Be a worker until the other end of the socket pair closes; the target of a process."""
    # Ctrl-C reaches the whole process group; the front decides when a worker ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Where the system runs out of memory it is to end a worker, which is replaced, not the front.
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("500")
    import agentgym.envs  # noqa: F401  (registers the environments in this process)

    Worker(end, env_id, journalled=journalled).run()
    os._exit(0)  # a thread may be in an environment that never answers


class Worker:
    """Answers the calls that come over a socket until it ends.

    Args:
        end: the worker's end of the socket pair.
        env_id: the environment it makes.
        journalled: whether the front keeps a journal of each session.
    """

    def __init__(self, end: socket.socket, env_id: str, *, journalled: bool) -> None:
        self._end, self._env_id, self._journalled = end, env_id, journalled
        self._sessions: dict[str, Session] = {}
        self._threads = Lanes(few=4, most=512)
        self._writing = threading.Lock()

    def run(self) -> None:
        """Serve until the other end closes, then close every session."""
        with contextlib.suppress(OSError):  # the front may end without a goodbye
            self._read()
        closing = [threading.Thread(target=s.close, daemon=True) for s in self._sessions.values()]
        for thread in closing:
            thread.start()
        for thread in closing:
            thread.join(_LEAVE / len(closing))

    def _read(self) -> None:
        stream = self._end.makefile("rb", buffering=1 << 16)
        while len(head := stream.read(HEAD.size)) == HEAD.size:
            (size,) = HEAD.unpack(head)
            body = stream.read(size)
            if len(body) < size:
                return
            self._take(Call(*unpack(body)))

    def _take(self, call: Call) -> None:
        if call.verb == "ping":
            self._send(Answer(call.number, 200, b"{}"))
        elif call.verb == "steps":
            self._threads.submit(self._steps, call)
        elif call.verb in _OF_WORKER:
            self._threads.submit(self._guarded, _OF_WORKER[call.verb], call)
        elif (session := self._sessions.get(call.session)) is None:
            self._send(Answer(call.number, *_unknown(call.session)))
        else:
            if call.verb == "close":  # from here on nobody finds it
                del self._sessions[call.session]
            task = self._in_turn(session, call)
            if session.push(task):
                self._threads.submit(session.drain)

    def _in_turn(self, session: Session, call: Call) -> Callable[[], None]:
        special = _OF_SESSION.get(call.verb)
        if special is not None:
            return lambda: self._guarded(special, call, session)
        return lambda: self._guarded(_plain, call, session)

    def _guarded(self, answer: Callable[..., Answer], call: Call, *more: Any) -> None:
        """Answer a call, whatever happens on the way; raising would end the thread."""
        try:
            self._send(answer(self, call, *more))
        except BaseException as error:
            problem = Problem.of(error)
            self._send(Answer(call.number, problem.status, problem.to_json()))

    def _send(self, answer: Answer) -> None:
        frame = pack(answer)
        # An OSError means that the front is gone, and soon this process is.
        with self._writing, contextlib.suppress(OSError):
            self._end.sendall(frame)

    # What the worker itself is asked.

    def _create(self, call: Call) -> Answer:
        env = registry.make(self._env_id, **call.args["options"])
        try:
            about = encode(_session_about(self._env_id, env))
        except BaseException:
            env.close()
            raise
        self._sessions[call.session] = Session(env, journalled=self._journalled)
        return Answer(call.number, 200, about)

    def _about(self, call: Call) -> Answer:
        """Describe the environment as made with some options, without keeping it."""
        env = registry.make(self._env_id, **call.args["options"])
        try:
            about = {
                "environment": self._env_id,
                "name": env.name,
                "title": env.title,
                "edition": env.edition,
                "editions": {n: asdict(e) for n, e in env.editions.items()},
                "instructions": env.instructions,
                "commands": [_command(c) for c in env.commands],
                "max_rounds": env.max_rounds,
                "max_action_length": env.max_action_length,
                "multiline_actions": env.multiline_actions,
                "render_modes": env.metadata["render_modes"],
                "tasks": env.tasks.sizes,
                "tasks_version": env.tasks.version,
                "tasks_digest": env.tasks.digest,
            }
        finally:
            env.close()
        return Answer(call.number, 200, encode(about))

    def _tasks(self, call: Call) -> Answer:
        """List the tasks without their specs, which may hold the answers."""
        env = registry.make(self._env_id, **call.args["options"])
        try:
            tasks = [
                {"id": t.id, "index": t.index, "split": t.split, "kind": t.kind} for t in env.tasks
            ]
            version, digest, note = env.tasks.version, env.tasks.digest, env.tasks.note
        finally:
            env.close()
        answer = {"version": version, "digest": digest, "note": note, "tasks": tasks}
        return Answer(call.number, 200, encode(answer))

    def _steps(self, call: Call) -> None:
        """Play a step in each of many sessions and answer all at once.

        Handing a step of microseconds to a thread costs more than playing it, so they are played
        in this one until it takes too long. No thread waits for the others: enough batches at a
        time would leave none to play them.
        """
        items = call.args["items"]
        answers: list[tuple[int, bytes, int | None] | None] = [None] * len(items)

        def played(worker: Worker, call: Call) -> Answer:
            return Answer(call.number, 200, answers)

        left = _Countdown(len(items), lambda: self._guarded(played, call))
        lines = []
        for i, (session_id, args) in enumerate(items):
            session = self._sessions.get(session_id)
            if session is None:
                answers[i] = *_unknown(session_id), None
                left.one()
            elif session.push(_one_of(answers, i, session, args, left)):
                lines.append(session)
        until = time.monotonic() + _TOGETHER
        for session in lines:
            if time.monotonic() < until:
                session.drain()
            else:
                self._threads.submit(session.drain)

    # What has its turn in a session.

    def _fork(self, call: Call, session: Session) -> Answer:
        twin, now, point = session.twin()
        self._sessions[call.args["twin"]] = twin
        return Answer(call.number, 200, encode(now), point)

    def _close(self, call: Call, session: Session) -> Answer:
        session.close()
        return Answer(call.number, 200, b"{}")

    def _resume(self, call: Call, session: Session) -> Answer:
        session.resume(call.args["sequence"], call.args["last"], call.args["begun"])
        return Answer(call.number, 200, b"{}")


def _plain(worker: Worker, call: Call, session: Session) -> Answer:
    return Answer(call.number, *session.answer(call.verb, call.args))


def _session_about(env_id: str, env: TextEnv) -> dict[str, Any]:
    return {
        "environment": env_id,
        "name": env.name,
        "edition": env.edition,
        "split": env.split,
        "max_rounds": env.max_rounds,
        "render_mode": env.render_mode,
        "max_action_length": env.max_action_length,
        "multiline_actions": env.multiline_actions,
        "blocking": env.blocking,
        "tasks_version": env.tasks.version,
        "tasks_digest": env.tasks.digest,
    }


class _Countdown:
    """Calls a function once as many times as agreed have been counted."""

    def __init__(self, count: int, finished: Callable[[], None]) -> None:
        self._left, self._finished = count, finished
        self._lock = threading.Lock()
        if count == 0:
            finished()

    def one(self) -> None:
        with self._lock:
            self._left -= 1
            last = self._left == 0
        if last:
            self._finished()


def _one_of(
    answers: list[tuple[int, bytes, int | None] | None],
    i: int,
    session: Session,
    args: dict[str, Any],
    left: _Countdown,
) -> Callable[[], None]:
    def play() -> None:
        try:
            status, body, _, seq = session.answer("step", args)
            answers[i] = status, body, seq
        except BaseException as error:
            problem = Problem.of(RuntimeError(told(error)))
            answers[i] = problem.status, problem.to_json(), None
        finally:
            left.one()

    return play


def _command(command: Command) -> dict[str, Any]:
    """Return a command as data: from its fields a client makes an equal one."""
    own = {f.name: getattr(command, f.name) for f in fields(command) if f.name != "params"}
    call = isinstance(command, CallCommand)
    params = () if call else tuple(asdict(param) for param in command.params)
    return {"kind": "call" if call else "text", "usage": command.usage, **own, "params": params}


def _unknown(session: str) -> tuple[int, bytes]:
    problem = Problem.of(UnknownSession(f"there is no session {session!r}"))
    return problem.status, problem.to_json()


_OF_WORKER: dict[str, Callable[..., Answer]] = {
    "create": Worker._create,
    "about": Worker._about,
    "tasks": Worker._tasks,
}
_OF_SESSION: dict[str, Callable[..., Answer]] = {
    "fork": Worker._fork,
    "close": Worker._close,
    "resume": Worker._resume,
}
