"""What is to be played: which tasks of which environments, how often, from which seed.

A plan is a plain list, made before anything runs, so that it can be counted, shown, cut and
compared with what a run folder already holds. The seed of a job follows from its names alone:
leaving tasks out of a plan, or adding some, changes no other episode.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
)

from agentgym.core import AgentGymError, Task, TaskSet, make, portable_id
from agentgym.core.errors import InvalidConfig, did_you_mean
from agentgym.core.options import whole
from agentgym.rollout.episode import Step, episode_key

T = TypeVar("T")

MOST_ATTEMPTS = 100_000
"""A plan is a list in memory, so a slip of the finger must not fill it."""


class EnvChoice(BaseModel):
    """An environment and the tasks of it that are meant.

    Attributes:
        env_id: Gymnasium id, or "module:id" for environments of one's own.
        edition: edition of the tasks.
        split: split of the tasks.
        max_rounds: rounds before truncation; None takes the edition's default.
        options: other keyword arguments of the environment.
        kinds: only tasks of these kinds, "GoTo*" standing for all that begin so; empty for all.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    env_id: str
    edition: str = "mini"
    split: str = "eval"
    max_rounds: int | None = None
    options: dict[str, Any] = Field(default_factory=dict)
    kinds: tuple[str, ...] = ()

    @model_serializer(mode="wrap")
    def _record(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out the kinds where all are meant: such a choice is written as it always was."""
        data: dict[str, Any] = dump(self)
        if not self.kinds:
            del data["kinds"]
        return data

    @field_validator("options")
    @classmethod
    def _no_secret(cls, options: dict[str, Any]) -> dict[str, Any]:
        if options.get("token") is not None:
            raise InvalidConfig(
                "an environment's options are written into the run's record, so a token cannot be "
                "one of them; set the environment variable AGENTGYM_TOKEN instead"
            )
        return options

    def make_arguments(self) -> dict[str, Any]:
        """Return the keyword arguments the environment is made with."""
        return {
            **self.options,
            "edition": self.edition,
            "split": self.split,
            "max_rounds": self.max_rounds,
        }

    @property
    def played_id(self) -> str:
        """The id of the environment that is played: of a remote one, what it is on the server."""
        played = self.options.get("env_id")
        if not isinstance(played, str):
            return self.env_id
        try:
            return portable_id(played)
        except AgentGymError:  # it is registered there only
            return played

    @property
    def identity(self) -> str:
        """Text that is equal exactly for equal choices, to pool environments by."""
        return self.model_dump_json()


class Moment(NamedTuple):
    """Where an episode is played on from, and how far.

    Attributes:
        state: the environment's snapshot.
        opening: the observation the episode began with.
        steps: what was played since, which a model is shown as its own past.
        rounds: most rounds that are played; None goes to the episode's end.
    """

    state: Mapping[str, Any]
    opening: str
    steps: tuple[Step, ...] = ()
    rounds: int | None = None


class Job(NamedTuple):
    """One episode to be played.

    Attributes:
        env: the environment.
        task: the task.
        attempt: which of the repeated attempts, from 0.
        seed: what `reset` is given; the same for every attempt at a task.
        agent_seed: what the agent is given; differs from attempt to attempt.
        moment: where it is played on from; None is its beginning. The record then holds the rounds
            from there, and the score they came to.
    """

    env: EnvChoice
    task: Task
    attempt: int
    seed: int
    agent_seed: int
    moment: Moment | None = None

    @property
    def key(self) -> str:
        """Identifies the attempt within a run, as `Episode.key` does."""
        return episode_key(self.env.env_id, self.env.edition, self.task.id, self.attempt)

    @property
    def beginning(self) -> tuple[EnvChoice, str, int, Mapping[str, Any] | None]:
        """What `host.begin` is told: environment, task, seed, and the snapshot if there is one."""
        return self.env, self.task.id, self.seed, self.moment.state if self.moment else None


def plan(
    envs: Sequence[EnvChoice],
    *,
    tasks: int | None = None,
    task_ids: Sequence[str] | None = None,
    attempts: int = 1,
    seed: int = 0,
) -> list[Job]:
    """Return the jobs of an evaluation or a collection, environment by environment.

    Args:
        envs: the environments.
        tasks: how many tasks of each split, spread evenly over it; None takes all.
        task_ids: exactly these tasks instead ("textcraft_12"), each of the environment it names.
        attempts: how often each task is played.
        seed: the run's seed.

    Raises:
        InvalidConfig: if a number is out of range, or a split or the list leaves no task.
        UnknownTask: if a task id does not exist.
    """
    attempts = whole("attempts", attempts)
    if tasks is not None:
        tasks = whole("tasks", tasks)
    if attempts > MOST_ATTEMPTS:
        raise InvalidConfig(f"attempts must be at most {MOST_ATTEMPTS:,}, got {attempts}")
    sets = [(choice, _task_set(choice)) for choice in envs]
    jobs = [
        Job(choice, task, attempt, *_seeds(seed, choice, task, attempt))
        for choice, chosen in _choose(sets, tasks, task_ids)
        for task in chosen
        for attempt in range(attempts)
    ]
    if not jobs:
        raise InvalidConfig("the plan is empty: name an environment and a split that has tasks")
    return jobs


def _choose(
    sets: Sequence[tuple[EnvChoice, TaskSet]], tasks: int | None, task_ids: Sequence[str] | None
) -> Iterator[tuple[EnvChoice, Sequence[Task]]]:
    if task_ids is None:
        for choice, task_set in sets:
            split = task_set.split(choice.split)
            if not split:
                raise InvalidConfig(
                    f"the {choice.edition} edition of {choice.env_id} has no {choice.split} tasks"
                )
            yield choice, spread(of_kinds(split, choice.kinds), tasks)
        return
    names = {task_set.name for _, task_set in sets}
    for task_id in task_ids:
        if task_id.rpartition("_")[0] not in names:
            raise InvalidConfig(f"task {task_id!r} belongs to none of: {', '.join(sorted(names))}")
    for choice, task_set in sets:
        ids = [t for t in task_ids if t.rpartition("_")[0] == task_set.name]
        if ids:
            yield choice, [task_set.get(t) for t in dict.fromkeys(ids)]


def of_kinds(tasks: Sequence[Task], kinds: Sequence[str]) -> Sequence[Task]:
    """Return the tasks of some kinds, in their order; those of all kinds where none is named.

    Args:
        tasks: tasks of one split.
        kinds: names of kinds, in which "*" stands for any text.

    Raises:
        InvalidConfig: if there is no task of a kind that is named.
    """
    if not kinds:
        return tasks
    known = list(dict.fromkeys(task.kind for task in tasks))
    for kind in kinds:
        if not any(fnmatchcase(name, kind) for name in known):
            raise InvalidConfig(
                f"there are no tasks of the kind {kind!r}. {did_you_mean(kind, known, limit=50)}"
            )
    return [task for task in tasks if any(fnmatchcase(task.kind, kind) for kind in kinds)]


def spread(tasks: Sequence[Task], count: int | None) -> Sequence[Task]:
    """Return `count` tasks that stand for a sequence, or all of them, in their order.

    Kinds get a share in proportion to their size, one task at least where there are enough; within
    a kind the tasks are evenly spaced. (Even spacing over the whole sequence would meet a cycle of
    kinds, such as BabyAI's forty levels, in step and see one kind only.)
    """
    if count is None or count >= len(tasks):
        return tasks
    kinds: dict[str, list[Task]] = {}
    for task in tasks:
        kinds.setdefault(task.kind, []).append(task)
    groups = _evenly(list(kinds.values()), min(count, len(kinds)))
    shares = _shares([len(group) for group in groups], count)
    picked = [t for group, n in zip(groups, shares, strict=True) for t in _evenly(group, n)]
    return sorted(picked, key=lambda task: task.index)


def _evenly(items: Sequence[T], count: int) -> list[T]:
    return [items[i * len(items) // count] for i in range(count)]


def _shares(sizes: Sequence[int], count: int) -> list[int]:
    """Split `count` over groups by size, one at least, never more than a group has."""
    shares = [1] * len(sizes)
    for _ in range(count - len(sizes)):
        # The group whose share lags its size the most; the first of equals.
        lag = [s / (n + 1) if n < s else 0.0 for s, n in zip(sizes, shares, strict=True)]
        shares[lag.index(max(lag))] += 1
    return shares


def derive_seed(*parts: object) -> int:
    """Return a seed in [0, 2^31) that follows from the parts alone.

    >>> derive_seed(0, "textcraft_1") == derive_seed(0, "textcraft_1")
    True
    """
    digest = hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:4], "big") & 0x7FFFFFFF


def _seeds(seed: int, choice: EnvChoice, task: Task, attempt: int) -> tuple[int, int]:
    # A server plays the same episodes as this machine would.
    names = (seed, choice.played_id, choice.edition, task.id)
    return derive_seed("environment", *names), derive_seed("agent", *names, attempt)


def _task_set(choice: EnvChoice) -> TaskSet:
    env = make(choice.env_id, **choice.make_arguments())
    try:
        return env.tasks
    finally:
        env.close()
