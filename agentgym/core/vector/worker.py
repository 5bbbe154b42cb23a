"""One process that holds environments, as both its ends see it.

Always a fresh interpreter ("spawn"): a fork would copy threads' locks and the sockets of a JVM half
alive. Rounds are numbered, so that an answer nobody waited for is never taken for the next one.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import pickle
import signal
import time
from collections.abc import Iterable, Mapping
from multiprocessing import connection
from multiprocessing.connection import Connection
from typing import Any

from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import CloudpickleWrapper, clear_mpi_env_vars

from agentgym.core.errors import AgentGymError, InvalidConfig, told
from agentgym.core.vector.host import Answer, Description, EnvMaker, Host, Moment

_GUARD = (
    "a script that uses worker processes must start from `if __name__ == '__main__':`, because "
    "each of them imports the script again"
)


class WorkerLost(AgentGymError):
    """A worker process is gone, and the environments it held with it.

    Args:
        environments: the indices of the environments.
        reason: what happened to the process.
        advice: what to do about it, a sentence.
    """

    def __init__(self, environments: Iterable[int], reason: str, advice: str = "") -> None:
        self.environments, self.reason, self.advice = tuple(environments), reason, advice
        which = ", ".join(map(str, self.environments))
        super().__init__(
            f"the worker process of environments {which} {reason}{'. ' if advice else ''}{advice}"
        )

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.environments, self.reason, self.advice))


class EnvironmentFailed(AgentGymError):
    """Stands for an error, or a result, that cannot be sent from one process to another."""


class Gone(Exception):
    """The process did not answer, and will not; the message says what happened to it."""


class Worker:
    """A process that holds some of a vector's environments.

    Args:
        env_fns: makes the environment of each index it is to hold.
        autoreset_mode: passed on to its `Host`.
        marking: passed on to its `Host`.

    Raises:
        InvalidConfig: if no process can be started from here.
        WorkerLost: if it ended at once.
    """

    def __init__(
        self, env_fns: Mapping[int, EnvMaker], autoreset_mode: AutoresetMode, *, marking: bool
    ) -> None:
        _require_startable()
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._number = 0
        self._awaited = "starting"
        wrapped = {index: CloudpickleWrapper(env_fn) for index, env_fn in env_fns.items()}
        self._process = context.Process(
            target=_serve,
            args=(theirs, wrapped, autoreset_mode, marking),
            name=f"agentgym-vector-{min(env_fns)}",
            daemon=True,
        )
        try:
            with clear_mpi_env_vars():
                self._process.start()
        except BrokenPipeError:
            self._connection.close()
            raise WorkerLost(env_fns, f"ended before it had read what to do ({_GUARD})") from None
        finally:
            theirs.close()

    def greet(self) -> dict[int, Description]:
        """Return what its environments look like, once they are made.

        Raises:
            Gone: if the process ended before.
            Exception: what making an environment raised.
        """
        said = self._receive(None)
        if isinstance(said, Answer):
            assert said.error is not None
            said.error.add_note(f"raised in a worker process:\n{said.raised_at}")
            raise said.error
        descriptions: dict[int, Description] = said
        return descriptions

    def next_round(self, commands: Any) -> bytes:
        """Return the message that begins a round, to be sent once all can be."""
        self._number += 1
        return pickle.dumps((self._number, commands))

    def send(self, message: bytes) -> None:
        """Send a round; if the process is gone, `receive` says so."""
        self._awaited = "answering"
        with contextlib.suppress(OSError):
            self._connection.send_bytes(message)

    def receive(self, deadline: float | None) -> list[Answer]:
        """Return the answers of the round that was sent.

        Args:
            deadline: the monotonic time to wait until; None waits without end.

        Raises:
            Gone: if the process ended, or did not answer in time.
        """
        return [_unpacked(packed) for packed in self._receive(deadline)]

    def ask_to_close(self) -> None:
        """Tell the process to close its environments and end."""
        with contextlib.suppress(OSError):
            self._connection.send_bytes(pickle.dumps((0, None)))

    def end(self, seconds: float = 0.0) -> None:
        """End the process, giving it some seconds to do so itself; twice without harm."""
        self._connection.close()
        if seconds:
            self._process.join(seconds)
        if self._process.is_alive():
            self._process.kill()
        self._process.join()

    def _receive(self, deadline: float | None) -> Any:
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            ready = connection.wait([self._connection, self._process.sentinel], left)
            if not ready:
                raise Gone("did not answer in time and was ended")
            try:
                if self._connection not in ready and not self._connection.poll():
                    raise EOFError
                number, said = pickle.loads(self._connection.recv_bytes())
            except (EOFError, OSError):
                raise Gone(self._obituary()) from None
            if number == self._number:
                return said

    def _obituary(self) -> str:
        self._process.join(5)
        code = self._process.exitcode
        if code is None:
            return "closed its end of the connection"
        if code < 0:
            names = {s.value: s.name for s in signal.Signals}
            return f"was killed by {names.get(-code, f'signal {-code}')} while {self._awaited}"
        hint = f" ({_GUARD})" if self._awaited == "starting" else ""
        return f"ended with exit code {code} while {self._awaited}{hint}"


def _require_startable() -> None:
    """Say at once what multiprocessing would say too late or at length."""
    process = multiprocessing.current_process()
    if getattr(process, "_inheriting", False):
        raise InvalidConfig(f"this process is itself being started by one: {_GUARD}")
    if process.daemon:
        raise InvalidConfig(
            "a daemonic process may not start others: use workers=0 in it, or start it with "
            "daemon=False"
        )


def _serve(
    pipe: Connection,
    env_fns: dict[int, CloudpickleWrapper[Any]],
    autoreset_mode: AutoresetMode,
    marking: bool,
) -> None:
    """Make the environments and carry out rounds until the other end closes."""
    # Ctrl-C reaches the whole group of processes; the one at the other end decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        host = Host(env_fns, autoreset_mode, marking=marking)
    except Exception as error:
        with contextlib.suppress(OSError):
            pipe.send_bytes(pickle.dumps((0, _sendable(Answer(0, None, error, told(error))))))
        return
    try:
        pipe.send_bytes(pickle.dumps((0, host.descriptions())))
        while True:
            number, commands = pickle.loads(pipe.recv_bytes())
            if commands is None:
                return
            pipe.send_bytes(_message(number, host.run(commands)))
    except (EOFError, OSError):  # the other end is gone
        pass
    finally:
        pipe.close()
        host.close()


def _message(number: int, answers: list[Answer]) -> bytes:
    if not any(answer.error for answer in answers):
        with contextlib.suppress(Exception):  # what cannot be sent is found one by one
            return pickle.dumps((number, [_packed(answer) for answer in answers]))
    return pickle.dumps((number, [_packed(_sendable(answer)) for answer in answers]))


def _packed(answer: Answer) -> tuple[Any, ...]:
    """Return an answer as plain tuples, which are pickled in a third of the time."""
    env, value, error, raised_at = answer
    if isinstance(value, Moment):
        return env, True, tuple(value), error, raised_at
    return env, False, value, error, raised_at


def _unpacked(packed: tuple[Any, ...]) -> Answer:
    env, moved, value, error, raised_at = packed
    return Answer(env, Moment(*value) if moved else value, error, raised_at)


def _sendable(answer: Answer) -> Answer:
    """Return the answer, or one that says in words what cannot be sent."""
    try:
        pickle.loads(pickle.dumps(answer))
    except Exception as unsendable:
        if answer.error is not None:
            said = f"it raised {told(answer.error)}"
        else:
            said = f"a {type(answer.value).__name__} cannot be sent to another process"
        error = EnvironmentFailed(f"environment {answer.env}: {said}")
        return Answer(answer.env, None, error, answer.raised_at or told(unsendable))
    return answer
