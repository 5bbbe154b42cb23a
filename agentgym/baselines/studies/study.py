"""What a study is: the arms a published table or figure compares, as data.

An arm is a trainer and the few settings in which it differs from the others; everything else comes
from the profile, the same for all arms. Nothing of torch is imported here, so that the command line
can name the studies at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from agentgym.core.errors import UnknownName

AS_IT_IS = "as-it-is"
"""In place of a trainer: the policy the others begin with, measured."""


class UnknownArm(UnknownName):
    """A study has no arm of this name."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One thing that is trained and measured.

    Attributes:
        name: names its folder.
        title: its row of a table.
        baseline: the trainer ("bc", "agentevol", ...), or `AS_IT_IS`.
        settings: what it changes of the profile's settings, by dotted key.
        data: which demonstrations it learns, "base" or "large"; "" for none.
        after: the arm whose policy it begins with; "" for the profile's model.
        rounds: whether every round of it is a row.
        shares: folder of another arm ("initial/round-1") that would come out the same in this one,
            and is copied instead.
    """

    name: str
    title: str
    baseline: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    data: Literal["base", "large", ""] = ""
    after: str = ""
    rounds: bool = False
    shares: str = ""


@dataclass(frozen=True, slots=True)
class Published:
    """Where published numbers stand.

    Attributes:
        table: name of the published table (`agentgym leaderboard paper`).
        about: what its numbers are of: the model, and the edition of the tasks.
        where: a column and the texts in it: the rows that belong here; None for all.
    """

    table: str
    about: str
    where: tuple[str, tuple[str, ...]] | None = None


@dataclass(frozen=True, slots=True)
class Study:
    """One experiment of a paper.

    Attributes:
        name: what it is called.
        title: what it asks, in a few words.
        family: "agentgym" or "agentevolver": whose profiles it takes.
        arms: what is compared; one named in `after` or `shares` stands before.
        published: where the published numbers stand; the first table gives ours its columns.
        claims: pairs of arms, the first of which is published as the better one.
        measures: what is told of environments the published table has no column for; "K" stands
            for the number of attempts.
        notes: what a reader must know.
    """

    name: str
    title: str
    family: Literal["agentgym", "agentevolver"]
    arms: tuple[Arm, ...]
    published: tuple[Published, ...]
    claims: tuple[tuple[str, str], ...] = ()
    measures: tuple[str, ...] = ("success",)
    notes: tuple[str, ...] = ()

    def arm(self, name: str) -> Arm:
        """Return the arm of this name.

        Raises:
            UnknownArm: if there is none.
        """
        for arm in self.arms:
            if arm.name == name:
                return arm
        raise UnknownArm(f"arm of {self.name}", name, [arm.name for arm in self.arms])

    def needed(self, names: Sequence[str]) -> tuple[Arm, ...]:
        """Return some arms and those they begin with or share with, in the study's order.

        Args:
            names: the arms; empty for all.

        Raises:
            UnknownArm: if there is no such arm.
        """
        wanted: set[str] = set()
        waiting = list(names) or [arm.name for arm in self.arms]
        while waiting:
            arm = self.arm(waiting.pop())
            wanted.add(arm.name)
            waiting += [name for name in (arm.after, arm.shares.partition("/")[0]) if name]
        return tuple(arm for arm in self.arms if arm.name in wanted)
