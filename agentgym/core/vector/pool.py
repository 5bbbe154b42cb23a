"""Worker processes that share the environments of a vector.

Environment i lies in worker i modulo their number; nothing an environment does depends on which.
A process that is lost costs at most its own environments: their answers are the error, or, where
that was asked for, another process plays their episodes again and carries on.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from gymnasium.vector import AutoresetMode

from agentgym.core.vector.host import Answer, Command, Description, EnvMaker
from agentgym.core.vector.journal import Journal
from agentgym.core.vector.worker import Gone, Worker, WorkerLost

_CLOSING_SECONDS = 5.0
_ADVICE = (
    'The next reset of them starts another; on_worker_death="restart" would start it at once and '
    "play their episodes up to where they were"
)


class WorkerPool:
    """Carries out commands in worker processes.

    Args:
        env_fns: makes the environments, one each.
        workers: how many processes.
        autoreset_mode: whether a step that ends an episode begins the next one.
        restart: whether a lost process is replaced and its episodes are played again.
        timeout: seconds a round may take before the processes that have not answered are ended;
            None waits without end. Starting is not timed.

    Raises:
        InvalidConfig: if no process can be started from here.
        WorkerLost: if a process ended while starting.
        Exception: what making an environment raised.
    """

    def __init__(
        self,
        env_fns: Sequence[EnvMaker],
        workers: int,
        autoreset_mode: AutoresetMode,
        *,
        restart: bool = False,
        timeout: float | None = None,
    ) -> None:
        self._env_fns, self._autoreset_mode = list(env_fns), autoreset_mode
        self._restart, self._timeout = restart, timeout
        self._shares = [range(w, len(env_fns), workers) for w in range(workers)]
        self._journals = [Journal(index) for index in range(len(env_fns))]
        self._workers: list[Worker | None] = [None] * workers
        self._reasons = [""] * workers
        self._pending: dict[int, list[Command]] = {}
        self.descriptions: dict[int, Description] = {}
        try:
            for number in range(workers):  # all at once: each takes a while
                self._workers[number] = self._new(number)
            for number in range(workers):
                self.descriptions.update(self._greeted(number))
        except BaseException:
            self.close()
            raise

    def submit(self, commands: list[Command]) -> None:
        """Send a round of commands to the processes that hold their environments."""
        rounds: dict[int, list[Command]] = {}
        for command in commands:
            rounds.setdefault(command.env % len(self._shares), []).append(command)
        for number, share in rounds.items():
            if self._workers[number] is None and any(
                c.name in ("reset", "set_state") for c in share
            ):
                self._revive(number)
        messages = {
            worker: worker.next_round(share)
            for number, share in rounds.items()
            if (worker := self._workers[number]) is not None
        }
        for worker, message in messages.items():
            worker.send(message)
        self._pending = rounds

    def collect(self) -> list[Answer]:
        """Return the answers, in order of the environments; a loss is the answer of those lost."""
        rounds, self._pending = self._pending, {}
        deadline = self._deadline()
        answers = []
        for number, commands in rounds.items():
            worker = self._workers[number]
            try:
                if worker is None:
                    raise Gone(self._reasons[number])
                got = worker.receive(deadline)
            except Gone as gone:
                got = self._after_loss(number, commands, str(gone), known=worker is None)
            if self._restart:
                for command, answer in zip(commands, got, strict=True):
                    self._journals[command.env].note(command, answer)
            answers += got
        return sorted(answers, key=lambda answer: answer.env)

    def close(self) -> None:
        """Close every environment and end every process; twice without harm."""
        workers, self._workers = self._workers, [None] * len(self._workers)
        until = time.monotonic() + _CLOSING_SECONDS
        for worker in workers:
            if worker is not None:
                worker.ask_to_close()
        for worker in workers:
            if worker is not None:
                worker.end(max(0.0, until - time.monotonic()))

    def _deadline(self, rounds: int = 1) -> float | None:
        return None if self._timeout is None else time.monotonic() + self._timeout * rounds

    def _new(self, number: int) -> Worker:
        env_fns = {index: self._env_fns[index] for index in self._shares[number]}
        return Worker(env_fns, self._autoreset_mode, marking=self._restart)

    def _greeted(self, number: int) -> dict[int, Description]:
        worker = self._workers[number]
        assert worker is not None
        try:
            return worker.greet()
        except Gone as gone:
            raise WorkerLost(self._shares[number], str(gone)) from None

    def _after_loss(
        self, number: int, commands: list[Command], reason: str, *, known: bool
    ) -> list[Answer]:
        """Answer a round for a worker that was lost in it, or before."""
        self._drop(number, reason)
        lost = WorkerLost(self._shares[number], reason, "" if self._restart else _ADVICE)
        if self._restart and not known:
            try:
                self._revive(number)
                worker = self._workers[number]
                assert worker is not None
                worker.send(worker.next_round(commands))
                return worker.receive(self._deadline())
            except Gone as gone:
                reason = f"{reason}; the one that replaced it {gone}"
                lost = WorkerLost(self._shares[number], reason)
            except WorkerLost as error:
                lost = error
            self._drop(number, lost.reason)
            for index in self._shares[number]:
                self._journals[index].forget()
        return [Answer(command.env, None, lost) for command in commands]

    def _revive(self, number: int) -> None:
        """Start a worker again and bring its environments to where they were.

        Raises:
            WorkerLost: if it is lost as well, or an episode led elsewhere when played again.
        """
        try:
            self._workers[number] = self._new(number)
            self._greeted(number)
            self._replay(number)
        except BaseException as error:
            self._drop(number, error.reason if isinstance(error, WorkerLost) else "was interrupted")
            raise

    def _replay(self, number: int) -> None:
        journals = [self._journals[index] for index in self._shares[number]]
        commands = [command for journal in journals for command in journal.commands()]
        if not commands:
            return
        worker = self._workers[number]
        assert worker is not None
        try:
            worker.send(worker.next_round(commands))
            answers = worker.receive(self._deadline(len(commands)))
        except Gone as gone:
            raise WorkerLost(
                self._shares[number], f"was replaced; the new one {gone} as it played them again"
            ) from None
        self._require_same(number, journals, answers)

    def _require_same(self, number: int, journals: list[Journal], answers: list[Answer]) -> None:
        observed: dict[int, str] = {}
        for answer in answers:
            if answer.error is not None:
                raise WorkerLost(
                    self._shares[number],
                    f"was replaced; playing environment {answer.env} again raised {answer.error!r}",
                )
            observation = getattr(answer.value, "observation", None)
            if observation is not None:
                observed[answer.env] = observation
        for journal in journals:
            if journal.observation != observed.get(journal.index):
                raise WorkerLost(
                    self._shares[number],
                    f"was replaced; playing environment {journal.index} again led to another "
                    "observation",
                )

    def _drop(self, number: int, reason: str) -> None:
        worker, self._workers[number] = self._workers[number], None
        self._reasons[number] = reason
        if worker is not None:
            worker.end()
