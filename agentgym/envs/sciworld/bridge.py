"""One episode in the Java process, with as few calls across the bridge as will do.

The package's own `step` asks the simulator for the observation, the score, completion, the number
of moves, the room, the inventory, the task and every valid action, the last a list it walks one
call an item. Here a step is one call that plays the action and one that reads the observation, the
score and completion from its result as text. Everything else is asked for when somebody wants it.

A process that has died is replaced and the episode played again from its actions, which leads to
the same moment, because an episode follows from its task and its actions alone. An episode that was
on its turn when it died is played again in a process of its own.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

from agentgym.envs.sciworld.jvm import (
    Globals,
    Gone,
    JavaFault,
    Jvm,
    JvmOptions,
    Lost,
    SimulatorError,
)
from agentgym.envs.sciworld.pool import pool

T = TypeVar("T")

_TRIES = 8
"""How often a call is made that finds the process gone, which takes others to end it each time."""

UNKNOWN_ACTION = (
    "Unknown action.  Type 'help' for a list of actions, and 'objects' for a list of possible "
    "object referents. "
)
FAULT = "The simulator could not carry out that action."


class Reply(NamedTuple):
    """What the simulator answers to one action.

    Attributes:
        text: the observation.
        score: from -1 to 1; negative once the task is lost.
        completed: whether the task has ended.
        fault: whether the simulator failed on the action instead of playing it.
    """

    text: str
    score: float
    completed: bool
    fault: bool = False


class Session:
    """The simulator as one environment sees it.

    Args:
        options: how the Java process is run.
    """

    def __init__(self, options: JvmOptions) -> None:
        self.options = options
        self.globals: Globals | None = None
        self._jvm: Jvm | None = None
        self._agent: Any = None
        self._goals: Any = None
        self._task: tuple[str, int] = ("", 0)
        self._loaded = False
        self._played: list[str] = []

    def load(self, task: str, variation: int) -> str:
        """Begin an episode and return the task's description.

        Args:
            task: the package's name of the task ("boil").
            variation: the number of its variation.

        Raises:
            SimulatorError: if the simulator cannot load it.
        """
        self._task, self._played, self._loaded = (task, variation), [], False
        description = self._retry(self._load)
        self._loaded = True
        return description

    def step(self, action: str) -> Reply:
        """Play one action.

        Raises:
            SimulatorError: if two Java processes in a row fail on it.
        """
        sendable = action.encode("utf-8", "replace").decode("utf-8")
        reply = self._retry(lambda jvm: self._step(jvm, sendable))
        self._played.append(sendable)
        return reply

    def moves(self) -> int:
        """Return the moves made: one for an action that takes time, eleven for a `wait`."""
        return int(self._retry(lambda jvm: self._ask(jvm, lambda: self._agent.getCurIterations())))

    def progress(self) -> str:
        """Return the package's table of sub-goals."""
        return str(
            self._retry(lambda jvm: self._ask(jvm, lambda: self._agent.getGoalProgressStr()))
        )

    def objects(self) -> list[str]:
        """Return how the objects that can be reached are called, in alphabetical order."""
        found = self._retry(
            lambda jvm: self._peek(jvm, lambda: self._agent.getPossibleObjectReferentLUTJSON())
        )
        return sorted(set(json.loads(found).values()))

    def valid_actions(self) -> list[str]:
        """Return every valid combination of action and objects, in alphabetical order; slow."""
        found = self._retry(
            lambda jvm: self._peek(jvm, lambda: self._agent.getValidActionObjectCombinationsJSON())
        )
        return sorted({row["action"] for row in json.loads(found)["validActions"]})

    def gold_path(self, task: str, variation: int) -> list[str]:
        """Return a sequence of actions that solves a task, made by the package's own agent.

        Raises:
            SimulatorError: if the package makes none.
        """
        return self._retry(lambda jvm: _gold_path(jvm, task, variation))

    def call(self, question: Callable[[Jvm], T]) -> T:
        """Ask the Java process something else, on the episode's turn."""
        return self._retry(lambda jvm: self._ask(jvm, lambda: question(jvm)))

    def close(self) -> None:
        """Leave the Java process; twice without harm."""
        jvm, self._jvm, self._agent, self._goals = self._jvm, None, None, None
        if jvm is not None:
            jvm.forget(self)
            pool.leave(jvm)

    def __del__(self) -> None:
        """Leave the process also where nobody closed the environment."""
        try:  # noqa: SIM105 (contextlib may be gone when the interpreter ends)
            self.close()
        except Exception:
            pass

    # How a call is made, and made again.

    def _retry(self, call: Callable[[Jvm], T]) -> T:
        """Make a call; where the process is lost to it, once more on one of its own."""
        guilty = False
        for _ in range(_TRIES):
            try:
                return call(self._ready(alone=guilty))
            except Gone as error:  # with somebody else's call
                last: Lost = error
                self._abandon()
            except Lost as error:
                last = error
                self._abandon()
                if guilty:
                    break
                guilty = True
        raise SimulatorError(
            f"the simulator's Java process ended again and again at {self._task[0]}, variation "
            f"{self._task[1]}, after {len(self._played)} actions: {last}. It may need more "
            f"than {self.options.memory_mb} MiB: see the option memory_mb."
        ) from last

    def _ready(self, *, alone: bool = False) -> Jvm:
        """Return the process the episode is in, the episode played again where it was lost."""
        if self._jvm is not None and not self._jvm.alive:
            self._abandon()
        if self._jvm is None:
            self._jvm = pool.enter(self.options, alone=alone)
            if self._loaded:
                self._load(self._jvm)
                for action in self._played:
                    self._step(self._jvm, action)
        return self._jvm

    def _abandon(self) -> None:
        jvm, self._jvm, self._agent, self._goals = self._jvm, None, None, None
        self.globals = None
        if jvm is not None:
            jvm.retired = True
            pool.leave(jvm)

    def _load(self, jvm: Jvm) -> str:
        if not self._played and jvm.worn and jvm.loads:  # a new episode is the time to move
            jvm = self._jvm = self._move(jvm)
        task, variation = self._task
        self.globals = None
        with jvm.turn(self):
            jvm.loads += 1
            error = jvm.loader.load(task, variation, "", False)
            if error:
                raise SimulatorError(f"cannot load {task}, variation {variation}: {error}")
            self._agent = jvm.loader.agentInterface().get()
            jvm.weigh()
            return str(self._agent.getTaskDescription())

    def _move(self, jvm: Jvm) -> Jvm:
        fresh = pool.enter(self.options)
        self._agent = None
        jvm.forget(self)
        pool.leave(jvm)
        return fresh

    def _step(self, jvm: Jvm, action: str) -> Reply:
        special = action.strip().lower()
        try:
            with jvm.turn(self):
                # The package's interface answers these three without playing a move.
                if special == "task":
                    text = f"Task description:\n{self._agent.getTaskDescription()}"
                elif special == "help":
                    text = _listed("actions", self._agent.getPossibleActions())
                elif special == "objects":
                    with _preserved(jvm):
                        text = _listed("object references", self._agent.getPossibleObjects())
                else:
                    return _read(self._agent.step(action).toString())
                goals = self._agent.task().goalSequence()
                return Reply(text, float(goals.score()), bool(goals.isCompleted()))
        except JavaFault:
            with jvm.turn(self):
                goals = self._agent.task().goalSequence()
                return Reply(FAULT, float(goals.score()), bool(goals.isCompleted()), fault=True)

    def _ask(self, jvm: Jvm, question: Callable[[], T]) -> T:
        with jvm.turn(self):
            return question()

    def _peek(self, jvm: Jvm, question: Callable[[], T]) -> T:
        """Ask what makes the simulator draw random numbers, without the episode noticing."""
        with jvm.turn(self), _preserved(jvm):
            return question()


def _read(result: str) -> Reply:
    """Read the text of a Scala tuple (observation, score, completed)."""
    text, score, completed = result[1:-1].rsplit(",", 2)
    return Reply(text or UNKNOWN_ACTION, float(score), completed == "true")


def _listed(what: str, names: Any) -> str:
    return f"Possible {what}: \n\t" + "\n\t".join(names)


@contextlib.contextmanager
def _preserved(jvm: Jvm) -> Iterator[None]:
    before = jvm.read_globals()
    yield
    jvm.write_globals(before)


class _Guest:
    """A player that stays for one question."""

    globals: Globals | None = None


def _gold_path(jvm: Jvm, task: str, variation: int) -> list[str]:
    with jvm.turn(_Guest()):
        if not jvm.explored:
            # The first path the package looks for fills a table of its path finder in random
            # order; always filling it with the same one makes every later path the same.
            jvm.loader.load("test-conductivity", 0, "", True)
            jvm.explored = True
        error = jvm.loader.load(task, variation, "", True)
        path = [str(action) for action in jvm.loader.getGoldActionSequence()]
    if error or not path:
        raise SimulatorError(f"the package makes no path for {task}, variation {variation}")
    return path
