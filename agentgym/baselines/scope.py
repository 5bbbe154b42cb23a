"""Which tasks an exploration is of, entry by entry of `explore.envs`.

One environment may be named more than once there: other kinds, other rounds, another edition,
another threshold. So what holds for a task is looked up by the task, never by its environment. The
paper's limited scope are the instructions that were demonstrated (arXiv 2406.04151, exploration
scope); a task counts as demonstrated where its task set is the same, and an entry explores those of
its own split and kinds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from agentgym.baselines.config import EnvTasks
from agentgym.baselines.examples import env_choice
from agentgym.baselines.explore import ExploreConfig
from agentgym.core import make
from agentgym.core.errors import InvalidConfig
from agentgym.rollout.episode import Episode
from agentgym.rollout.plan import of_kinds, plan
from agentgym.trajectories.published import PublishedItem


@dataclass(frozen=True)
class Part:
    """A part of a limited exploration, in which each environment is named once.

    Attributes:
        config: what is played, by whom and how often.
        only: the tasks, by environment id.
    """

    config: ExploreConfig
    only: dict[str, list[str]]

    @property
    def count(self) -> int:
        """How many tasks it is of."""
        return sum(map(len, self.only.values()))


def limited(config: ExploreConfig, initial: Sequence[Episode | PublishedItem]) -> list[Part]:
    """Return the exploration of the demonstrated tasks alone, in as few parts as there can be.

    `tasks` of an entry says how many of all; of the demonstrated ones it leaves out none.

    Args:
        config: the exploration.
        initial: the demonstrations. One of the published layout, which names no task set, is of
            the task of its id.

    Raises:
        InvalidConfig: if no demonstration is of a task that is explored, or two entries are of the
            same one.
    """
    parts: list[tuple[list[EnvTasks], dict[str, list[str]]]] = []
    for entry in config.envs:
        env_id, ids = env_choice(entry).env_id, _demonstrated(entry, initial)
        if not ids:
            continue
        part = next((part for part in parts if env_id not in part[1]), None)
        if part is None:
            part = ([], {})
            parts.append(part)
        part[0].append(entry)
        part[1][env_id] = ids
    if not parts:
        raise InvalidConfig(
            "scope limited explores the demonstrated tasks, but explore.envs is of none of them: "
            "name the environments, editions, options, splits and kinds of the demonstrations "
            "(data) there, or set scope=broad"
        )
    _refuse_twice(
        (env_choice(entry).env_id, entry.edition, task)
        for entries, only in parts
        for entry in entries
        for task in only[env_choice(entry).env_id]
    )
    return [
        Part(config.model_copy(update={"envs": tuple(entries)}), only) for entries, only in parts
    ]


def thresholds(
    envs: Sequence[EnvTasks], *, every: bool = False
) -> Callable[[Episode], float | None]:
    """Return what finds the threshold of an episode: that of the entry it was played for.

    Args:
        envs: the entries.
        every: whether an entry is of every task of its split and kinds, and not of so many.
    """
    named: dict[str, list[EnvTasks]] = {}
    for entry in envs:
        named.setdefault(env_choice(entry).env_id, []).append(entry)
    alike = {
        env_id: entries[0].threshold
        for env_id, entries in named.items()
        if len({entry.threshold for entry in entries}) == 1
    }
    by_task = {
        (env_id, entry.edition, job.task.id): entry.threshold
        for env_id, entries in named.items()
        if env_id not in alike
        for entry in entries
        for job in plan([env_choice(entry)], tasks=None if every else entry.tasks)
    }

    def find(episode: Episode) -> float | None:
        if episode.env_id not in named or episode.env_id in alike:
            return alike.get(episode.env_id)
        return by_task.get((episode.env_id, episode.edition, episode.task_id))

    return find


def _demonstrated(entry: EnvTasks, initial: Sequence[Episode | PublishedItem]) -> list[str]:
    """Return the ids of an entry's tasks that are demonstrated, in the demonstrations' order."""
    choice = env_choice(entry)
    found = [source for source in initial if _env_id(source) == choice.env_id]
    if not found:
        return []
    env = make(choice.env_id, **choice.make_arguments())
    try:
        digest = env.tasks.digest
        tasks = env.tasks.split(choice.split)
    finally:
        env.close()
    meant = {task.id for task in of_kinds(tasks, choice.kinds)} if tasks else set()
    ids: dict[str, None] = {}
    for source in found:
        if isinstance(source, PublishedItem):
            task, same = source.id.task_id, True
        else:
            same = source.edition == choice.edition and source.tasks_digest in ("", digest)
            task = source.task_id
        if same and task in meant:
            ids[task] = None
    return list(ids)


def _env_id(source: Episode | PublishedItem) -> str:
    if isinstance(source, Episode):
        return source.env_id
    known = source.id.env is not None and source.id.index is not None
    return source.id.env.env_id if known and source.id.env is not None else ""


def _refuse_twice(tasks: Iterable[tuple[str, str, str]]) -> None:
    twice = [task for task, count in Counter(tasks).items() if count > 1]
    if twice:
        raise InvalidConfig(
            f"explore.envs names {len(twice)} demonstrated tasks of {twice[0][0]} twice; tell its "
            "entries apart by their kinds, or name the environment once"
        )
