"""An ordered, immutable collection of trajectories.

Everything that changes a dataset returns a new one in an order that follows from its input alone,
so the same filters over the same files give the same digest on any machine.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import overload

from agentgym.core.errors import InvalidConfig
from agentgym.core.registry import resolve_id
from agentgym.rollout.episode import Episode
from agentgym.trajectories.schema import About, Card, CardBuilder, InvalidTrajectories
from agentgym.trajectories.stats import EnvStats, env_stats


class TrajectoryDataset(Sequence[Episode]):
    """Trajectories in order, with what is known of where they come from.

    Args:
        episodes: the trajectories.
        about: name, description, licence and source.
    """

    def __init__(self, episodes: Iterable[Episode] = (), about: About | None = None) -> None:
        self._episodes = tuple(episodes)
        self.about = About(**(about or About()).model_dump(include=set(About.model_fields)))

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, verify: bool = True) -> TrajectoryDataset:
        """Read a file, a run folder or a Hugging Face dataset; the same as `trajectories.read`."""
        from agentgym.trajectories.store import read

        return read(path, verify=verify)

    def save(self, path: str | os.PathLike[str], *, layout: str = "episodes") -> Card:
        """Write to a file, in the format its suffix names; the same as `trajectories.write`."""
        from agentgym.trajectories.store import write

        return write(self, path, layout=layout)

    @overload
    def __getitem__(self, index: int) -> Episode: ...
    @overload
    def __getitem__(self, index: slice) -> TrajectoryDataset: ...
    def __getitem__(self, index: int | slice) -> Episode | TrajectoryDataset:
        if isinstance(index, slice):
            return self._with(self._episodes[index])
        return self._episodes[index]

    def __len__(self) -> int:
        return len(self._episodes)

    def __iter__(self) -> Iterator[Episode]:
        return iter(self._episodes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TrajectoryDataset):
            return NotImplemented
        return self.about == other.about and self._episodes == other._episodes

    def __hash__(self) -> int:
        return hash((self.about, self.digest))

    def __repr__(self) -> str:
        name = f"{self.about.name}, " if self.about.name else ""
        return f"TrajectoryDataset({name}{len(self)} episodes, {self.digest[:12]})"

    @cached_property
    def card(self) -> Card:
        """Name, licence and source; counts, task sets, agents and digest."""
        builder = CardBuilder(self.about)
        for episode in self._episodes:
            builder.add(episode)
        return builder.build()

    @property
    def digest(self) -> str:
        """SHA-256 over the episodes' digests, in order."""
        return self.card.digest

    def describe(self, **changes: str) -> TrajectoryDataset:
        """Return the same episodes with other words about them (name, description, …)."""
        return TrajectoryDataset(self._episodes, self.about.model_copy(update=changes))

    def stats(self) -> list[EnvStats]:
        """Return one row of statistics an environment and edition."""
        return env_stats(self._episodes)

    def filter(
        self,
        keep: Callable[[Episode], bool] | None = None,
        *,
        min_score: float | None = None,
        success: bool | None = None,
        completed: bool | None = None,
        envs: str | Collection[str] | None = None,
        editions: str | Collection[str] | None = None,
        splits: str | Collection[str] | None = None,
        kinds: str | Collection[str] | None = None,
        agents: str | Collection[str] | None = None,
        max_rounds: int | None = None,
    ) -> TrajectoryDataset:
        """Return the episodes that meet every condition given, in order.

        Args:
            keep: any condition of your own.
            min_score: final score of at least this (AgentGym kept rewards above 0.99).
            success: whether the task was achieved.
            completed: whether the episode came to its own end.
            envs: ids or short names ("textcraft").
            editions: "mini" or "official".
            splits: "train" or "eval".
            kinds: kinds of tasks ("depth-2").
            agents: names of agents.
            max_rounds: at most this many rounds.

        Raises:
            UnknownEnvironment: if an environment is neither registered nor in the dataset.
        """
        tests: list[Callable[[Episode], bool]] = [keep] if keep is not None else []
        if min_score is not None:
            tests.append(lambda e: e.score >= min_score)
        if success is not None:
            tests.append(lambda e: e.success == success)
        if completed is not None:
            tests.append(lambda e: (e.status == "completed") == completed)
        if max_rounds is not None:
            tests.append(lambda e: e.rounds <= max_rounds)
        if envs is not None:
            ids = self._env_ids(_many(envs))
            tests.append(lambda e: _bare(e.env_id) in ids)
        for field, wanted in (
            ("edition", editions), ("split", splits), ("kind", kinds), ("agent", agents),
        ):  # fmt: skip
            if wanted is not None:
                tests.append(_one_of(field, _many(wanted)))
        return self._with(e for e in self._episodes if all(test(e) for test in tests))

    def dedupe(self) -> TrajectoryDataset:
        """Return one episode a task, the best: highest score, then success, then fewest rounds.

        Tasks are told apart by environment, edition, task set and id, and stay in the order in
        which they first appear. Ties go to the smaller digest, so the order of the input does not
        decide which episode is kept. (The published de-duplication kept the first or the worst.)
        """
        best: dict[tuple[str, str, str, str], Episode] = {}
        for episode in self._episodes:
            key = (episode.env_id, episode.edition, episode.tasks_digest, episode.task_id)
            held = best.get(key)
            if held is None or _rank(episode) < _rank(held):
                best[key] = episode
        return self._with(best.values())

    def merge(self, *others: TrajectoryDataset, name: str = "") -> TrajectoryDataset:
        """Return the episodes of all datasets, in order, exact repeats left out.

        Raises:
            InvalidTrajectories: if one task id means different tasks in them (the digests of
                their task sets differ).
        """
        sets = (self, *others)
        digests: dict[tuple[str, str], str] = {}
        for ref in (ref for dataset in sets for ref in dataset.card.task_sets if ref.digest):
            known = digests.setdefault((ref.env_id, ref.edition), ref.digest)
            if known != ref.digest:
                raise InvalidTrajectories(
                    f"the datasets were played on different {ref.edition} tasks of {ref.env_id} "
                    f"(task sets {known[:12]} and {ref.digest[:12]}), so one task id means two "
                    "tasks. Collect again with one version, or keep them apart."
                )
        unique = {episode.digest: episode for dataset in sets for episode in dataset}
        words = {
            field: "; ".join(dict.fromkeys(filter(None, (getattr(d.about, field) for d in sets))))
            for field in ("description", "licence", "source")
        }
        return TrajectoryDataset(unique.values(), About(name=name or self.about.name, **words))

    def _with(self, episodes: Iterable[Episode]) -> TrajectoryDataset:
        return TrajectoryDataset(episodes, self.about)

    def _env_ids(self, names: Collection[str]) -> frozenset[str]:
        held = {_bare(ref.env_id) for ref in self.card.task_sets}
        return frozenset(_bare(name) if _bare(name) in held else resolve_id(name) for name in names)


def _many(value: str | Collection[str]) -> Collection[str]:
    values = (value,) if isinstance(value, str) else tuple(value)
    if not values:
        raise InvalidConfig("an empty list keeps nothing: leave the condition out to keep all")
    return values


def _bare(env_id: str) -> str:
    """Return an id without the module an environment of one's own is imported from."""
    return env_id.rpartition(":")[2]


def _one_of(field: str, values: Collection[str]) -> Callable[[Episode], bool]:
    return lambda episode: getattr(episode, field) in values


def _rank(episode: Episode) -> tuple[float, bool, int, str]:
    return -episode.score, not episode.success, episode.rounds, episode.digest
