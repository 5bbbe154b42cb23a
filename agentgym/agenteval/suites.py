"""Suites: named selections of environments, and the published sizes beside ours.

A suite never hides what it leaves out: an environment that is not installed, has no such edition or
is not part of this version is listed as skipped, with the reason and what would bring it.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources

from agentgym.core import AgentGymError, cards, find_card, portable_id
from agentgym.core.errors import UnknownEnvironment, UnknownName
from agentgym.core.loading import load_tasks
from agentgym.core.text import numeral
from agentgym.rollout.plan import EnvChoice


class UnknownSuite(UnknownName):
    """There is no suite of this name."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """An environment a suite would have had.

    Attributes:
        name: its short name.
        reason: why it is left out and, where something brings it, what.
    """

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Selection:
    """What a suite comes to here.

    Attributes:
        name: name of the suite, or "" for environments named one by one.
        choices: the environments to play.
        tasks: how many tasks of each, spread evenly over the split; None for all.
        skipped: the environments left out.
    """

    name: str
    choices: tuple[EnvChoice, ...]
    tasks: int | None = None
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True, slots=True)
class Suite:
    """A named selection.

    Attributes:
        name: what it is called.
        about: what it is for, one sentence.
        names: short names of its environments; None for every registered one.
        tasks: how many tasks of each; None for all.
    """

    name: str
    about: str
    names: tuple[str, ...] | None = None
    tasks: int | None = None

    def select(self, edition: str = "mini", split: str = "eval") -> Selection:
        """Return the environments of the suite that can be played here, and the others."""
        names = self.names or tuple(card.short_name for card in cards())
        choices: list[EnvChoice] = []
        skipped: list[Skipped] = []
        for name in names:
            reason = _unavailable(name, edition)
            if reason:
                skipped.append(Skipped(name, reason))
            else:
                choice = EnvChoice(env_id=find_card(name).id, edition=edition, split=split)
                choices.append(choice)
        return Selection(self.name, tuple(choices), self.tasks, tuple(skipped))


@dataclass(frozen=True, slots=True)
class PublishedSize:
    """Sizes of one environment's published splits; None where they are not known.

    Attributes:
        name: short name of the environment.
        agenteval: tasks in AgentEval.
        agenttraj: trajectories in AgentTraj.
        agenttraj_l: trajectories in AgentTraj-L.
    """

    name: str
    agenteval: int | None
    agenttraj: int | None
    agenttraj_l: int | None


@dataclass(frozen=True, slots=True)
class Size:
    """Sizes of an edition's splits beside the published ones.

    Attributes:
        name: short name of the environment.
        edition: the edition counted.
        splits: number of tasks by split; empty where it cannot be counted here.
        published: the published sizes.
        note: why it could not be counted, or where the split comes from.
    """

    name: str
    edition: str
    splits: dict[str, int] = field(default_factory=dict)
    published: PublishedSize | None = None
    note: str = ""


_SPELLED = {"MAZE": "Maze"}  # the published name of an environment, where ours differs


@lru_cache(maxsize=1)
def published_sizes() -> dict[str, PublishedSize]:
    """Return the published sizes by short name, in the published order.

    Source: the AgentGym repository's README and arXiv 2406.04151, table 2; see
    `agentgym/leaderboard/tables/A1_env_stats.csv`.
    """
    path = resources.files("agentgym") / "leaderboard" / "tables" / "A1_env_stats.csv"
    lines = [x for x in path.read_text(encoding="utf-8").splitlines() if not x.startswith("#")]
    sizes: dict[str, PublishedSize] = {}
    for row in csv.DictReader(lines):
        if row["env"] == "TOTAL":
            continue
        name = _SPELLED.get(row["env"], row["env"])
        counts = (_count(row[c]) for c in ("AgentEval", "AgentTraj", "AgentTraj_L"))
        sizes[name] = PublishedSize(name, *counts)
    return sizes


def suites() -> tuple[Suite, ...]:
    """Return every suite."""
    return (
        # Not five: BabyAI's levels come round every 40 tasks, so five of 200 would be one level.
        Suite("quick", "A few tasks of every installed environment: a first look.", tasks=6),
        Suite(
            "agenteval",
            "The whole eval split of AgentEval's 14 environments.",
            tuple(published_sizes()),
        ),
        Suite("all", "The whole split of every registered environment."),
    )


def find_suite(name: str) -> Suite:
    """Return the suite of this name.

    Raises:
        UnknownSuite: if there is none; the message offers the nearest.
    """
    for suite in suites():
        if suite.name == name.lower():
            return suite
    raise UnknownSuite("suite", name, [s.name for s in suites()])


def select(
    envs: str | Sequence[str | EnvChoice] | Selection, *, edition: str = "mini", split: str = "eval"
) -> Selection:
    """Return the selection a user asked for.

    Args:
        envs: a suite ("quick", "agenteval", "all"), an environment, or a list of environments:
            short names, ids, "module:id" of anyone's own, or `EnvChoice`. A selection is
            returned as it is.
        edition: edition of environments given by name.
        split: split of environments given by name.

    Raises:
        UnknownName: if a name is neither a suite nor an environment.
        MissingExtra: if an environment that was named is not installed.
    """
    if isinstance(envs, Selection):
        return envs
    if isinstance(envs, str):
        if envs.lower() in [s.name for s in suites()]:
            return find_suite(envs).select(edition, split)
        envs = [envs]
    choices = [
        e if isinstance(e, EnvChoice) else EnvChoice(env_id=_id(e), edition=edition, split=split)
        for e in envs
    ]
    return Selection("", tuple(choices))


def size_table(edition: str = "mini") -> list[Size]:
    """Return the sizes of every environment's splits, published and here."""
    published = published_sizes()
    names = [card.short_name for card in cards()]
    names = [*published, *(n for n in names if n not in published)]
    return [_size(name, edition, published.get(name)) for name in names]


def _size(name: str, edition: str, published: PublishedSize | None) -> Size:
    reason = _unavailable(name, edition)
    if reason:
        return Size(name, edition, {}, published, reason)
    tasks = load_tasks(find_card(name).load(), edition)
    return Size(name, edition, dict(tasks.sizes), published, tasks.note)


def _unavailable(name: str, edition: str) -> str:
    """Return why an environment of the suites cannot be played, or ""."""
    try:
        card = find_card(name)
    except UnknownEnvironment:
        return "not part of this version of agentgym"
    if not card.installed:
        return f"not installed; pip install 'agentgym[{card.extra}]'"
    try:
        load_tasks(card.load(), edition)
    except AgentGymError as error:
        return str(error)
    except ImportError as error:
        return f"cannot be imported: {error}"
    return ""


def _id(name: str) -> str:
    try:
        env_id = portable_id(name)
    except UnknownEnvironment as error:
        known = [*error.known, *(s.name for s in suites())]
        raise UnknownEnvironment("environment or suite", name, known) from error
    card = next((c for c in cards() if c.id == env_id), None)
    if card is not None:
        card.require()
    return env_id


def _count(text: str) -> int | None:
    return numeral(text)
