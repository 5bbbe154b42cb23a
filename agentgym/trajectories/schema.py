"""What a trajectory dataset holds.

A trajectory is the rollout's own `Episode`: there is no second record type that could drift from
it. What a dataset adds is a card: the part people write (`About`: name, licence, source) and the
part that follows from the episodes and is checked when they are read back (`Card`: counts, task
sets, agents, digest).
"""

from __future__ import annotations

import hashlib

from pydantic import BaseModel, ConfigDict, Field

from agentgym.core import AgentGymError
from agentgym.rollout.episode import SCHEMA_VERSION, Episode, Failure, Step

__all__ = [
    "SCHEMA_VERSION",
    "About",
    "Card",
    "CardBuilder",
    "Episode",
    "Failure",
    "InvalidTrajectories",
    "Step",
    "TaskSetRef",
]


class InvalidTrajectories(AgentGymError):
    """Trajectories cannot be read, written or combined; the message says where and what to do."""


class TaskSetRef(BaseModel):
    """The task set that some of a dataset's episodes were played on.

    Attributes:
        env_id: Gymnasium id.
        edition: edition of the tasks.
        digest: digest of the task set; "" where the episodes do not say (published data).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    env_id: str
    edition: str
    digest: str = ""


class About(BaseModel):
    """What people say of a dataset.

    Attributes:
        name: what it is called.
        description: what it is and how it was made.
        licence: licence of the texts in it.
        source: where it comes from, a repository and revision or a command.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = ""
    description: str = ""
    licence: str = ""
    source: str = ""


class Card(About):
    """A dataset's identity: what people say of it, and what follows from its episodes.

    Attributes:
        schema_version: version of the episodes' layout.
        episodes: how many there are.
        task_sets: the task sets they were played on, in order of first appearance.
        agents: names of the agents that played, in order of first appearance.
        action_formats: how replies were read, in order of first appearance.
        digest: SHA-256 over the episodes' digests, in order.
    """

    schema_version: int = SCHEMA_VERSION
    episodes: int = 0
    task_sets: tuple[TaskSetRef, ...] = ()
    agents: tuple[str, ...] = ()
    action_formats: tuple[str, ...] = ()
    digest: str = Field(default="")

    @property
    def about(self) -> About:
        """The part people wrote."""
        return About(**{name: getattr(self, name) for name in About.model_fields})


class CardBuilder:
    """Makes a card while episodes stream by, holding none of them."""

    def __init__(self, about: About | None = None) -> None:
        self._about = about or About()
        self._hash = hashlib.sha256(b"agentgym trajectories 1")
        self._count = 0
        # Dictionaries keep the order of first appearance; a set would not.
        self._task_sets: dict[TaskSetRef, None] = {}
        self._agents: dict[str, None] = {}
        self._formats: dict[str, None] = {}

    def add(self, episode: Episode) -> None:
        """Count an episode in."""
        self._count += 1
        self._hash.update(b"\n" + episode.digest.encode())
        task_set = TaskSetRef(
            env_id=episode.env_id, edition=episode.edition, digest=episode.tasks_digest
        )
        self._task_sets[task_set] = None
        self._agents[episode.agent] = None
        self._formats[episode.action_format] = None

    def build(self) -> Card:
        """Return the card of the episodes so far."""
        return Card(
            **self._about.model_dump(include=set(About.model_fields)),
            episodes=self._count,
            task_sets=tuple(self._task_sets),
            agents=tuple(self._agents),
            action_formats=tuple(self._formats),
            digest=self._hash.hexdigest(),
        )
