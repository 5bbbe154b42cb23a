"""Tasks and the frozen, ordered sets they live in.

A `TaskSet` is a manifest: its order never changes within a version, and its digest covers every
field of every task. "textcraft_12" therefore means the same episode for ever, and two results can
be compared exactly when the digests of their task sets are equal.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, overload

from agentgym.core.errors import UnknownSplit, UnknownTask

SPLITS = ("train", "eval")


@dataclass(frozen=True, slots=True)
class Task:
    """One task: what an episode is about, and nothing that happens in it.

    Attributes:
        id: "<environment>_<index>", as in AgentTraj ("textcraft_12").
        index: position in the task set, from 0.
        split: "train" or "eval".
        kind: the family results are broken down by ("depth-2", "GoToObj").
        spec: everything the environment needs to build the episode, JSON values only.
    """

    id: str
    index: int
    split: str
    kind: str
    spec: Mapping[str, Any] = field(default_factory=dict)


class TaskSet(Sequence[Task]):
    """An ordered, immutable set of tasks of one environment and edition.

    Args:
        name: prefix of the task ids ("textcraft").
        edition: "mini" or "official".
        version: changes whenever any task changes.
        tasks: the tasks; their ids and indices must follow from `name` and their order.
        note: where the tasks or their split come from, shown to users.
    """

    def __init__(
        self, name: str, edition: str, version: str, tasks: Iterable[Task], note: str = ""
    ) -> None:
        self.name, self.edition, self.version, self.note = name, edition, version, note
        self._tasks = tuple(tasks)
        for i, task in enumerate(self._tasks):
            if task.index != i or task.id != f"{name}_{i}":
                raise ValueError(
                    f"task {i} of {name} has id {task.id!r} and index {task.index}; "
                    f"expected '{name}_{i}' and {i}"
                )
            if task.split not in SPLITS:
                raise ValueError(
                    f"task {task.id} has split {task.split!r}; expected one of {SPLITS}"
                )

    @classmethod
    def build(
        cls,
        name: str,
        edition: str,
        version: str,
        rows: Iterable[tuple[str, str, Mapping[str, Any]]],
        note: str = "",
    ) -> TaskSet:
        """Make a task set from (split, kind, spec) rows, numbering them in order."""
        tasks = (
            Task(f"{name}_{i}", i, split, kind, spec) for i, (split, kind, spec) in enumerate(rows)
        )
        return cls(name, edition, version, tasks, note)

    @overload
    def __getitem__(self, index: int) -> Task: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Task]: ...
    def __getitem__(self, index: int | slice) -> Task | Sequence[Task]:
        return self._tasks[index]

    def __len__(self) -> int:
        return len(self._tasks)

    def __iter__(self) -> Iterator[Task]:
        return iter(self._tasks)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{split}={n}" for split, n in self.sizes.items())
        return f"TaskSet({self.name}, {self.edition}, version={self.version}, {sizes})"

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Number of tasks by split."""
        counts = Counter(task.split for task in self._tasks)
        return {split: counts.get(split, 0) for split in SPLITS}

    @cached_property
    def kinds(self) -> dict[str, int]:
        """Number of tasks by kind, in order of first appearance."""
        return dict(Counter(task.kind for task in self._tasks))

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the manifest, 64 hex digits: equal digests mean the same tasks."""
        lines = (
            json.dumps([t.id, t.split, t.kind, _plain(t.spec)], sort_keys=True, ensure_ascii=True)
            for t in self._tasks
        )
        head = json.dumps([self.name, self.edition, self.version])
        digest = hashlib.sha256(head.encode())
        for line in lines:
            digest.update(b"\n" + line.encode())
        return digest.hexdigest()

    def split(self, name: str) -> tuple[Task, ...]:
        """Return the tasks of one split, in order.

        Raises:
            UnknownSplit: if the name is not a split.
        """
        if name not in SPLITS:
            raise UnknownSplit("split", name, SPLITS)
        return self._by_split[name]

    def get(self, task_id: str) -> Task:
        """Return the task of this id ("textcraft_12").

        Raises:
            UnknownTask: if there is none; the message names the range of ids there is.
        """
        prefix, _, number = str(task_id).rpartition("_")
        # Python refuses to read a number of thousands of digits.
        short = number.isdecimal() and len(number) <= len(str(len(self._tasks)))
        if prefix == self.name and short and int(number) < len(self._tasks):
            task = self._tasks[int(number)]
            if task.id == task_id:
                return task
        last = f"{self.name}_0 to {self.name}_{len(self._tasks) - 1}" if self._tasks else "none"
        raise UnknownTask(
            "task", task_id, [], f"The {self.edition} edition of {self.name} has {last}."
        )

    @cached_property
    def _by_split(self) -> dict[str, tuple[Task, ...]]:
        return {s: tuple(t for t in self._tasks if t.split == s) for s in SPLITS}


def _plain(value: Any) -> Any:
    """Turn mappings and tuples into what `json` writes the same way everywhere."""
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return value
