"""What the steps of a mini task share.

A step says three things, independently: `apply` works on the plain table and so makes the goal,
`say` asks for it in words, and `plan` does it with the functions, knowing no more than they have
answered. An expert that succeeds shows that all three agree.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, ClassVar

from agentgym.core.draw import Draw
from agentgym.envs.sheet.domains import Domain
from agentgym.envs.sheet.hand import Doing, Hand
from agentgym.envs.sheet.table import Table

Args = dict[str, Any]


class Step(ABC):
    """One thing to do to a sheet."""

    name: ClassVar[str]
    frames: ClassVar[Sequence[str]]
    """Wordings, with the arguments in braces; each can follow "please"."""

    def prepare(self, table: Table, domain: Domain, draw: Draw) -> Args | None:
        """Change the sheet a task begins with, so that there is something to do.

        Returns:
            What `draw` is to know of it, or None if the step does not suit the domain.
        """
        return {}

    @abstractmethod
    def draw(self, table: Table, args: Args, draw: Draw) -> Args | None:
        """Return the arguments for the sheet as it then is, or None if it is no good task."""

    @abstractmethod
    def apply(self, table: Table, args: Args) -> None:
        """Do it to the table."""

    @abstractmethod
    def plan(self, hand: Hand, args: Args) -> Doing:
        """Do it by the functions."""

    def begin(self, hand: Hand, args: Args) -> Doing:
        """Do what has to come before the task's sheet is opened; nothing by default."""
        yield from ()

    def say(self, table: Table, args: Args, draw: Draw) -> str:
        """Return what is asked, in one of its wordings."""
        return draw.pick(self.frames).format(
            thing=table.thing, things=table.things, **self.told(args)
        )

    def told(self, args: Args) -> Mapping[str, Any]:
        """Return the arguments as the wordings have them."""
        return args


def put(table: Table, row: int, column: str, value: Any) -> None:
    """Set a cell of a table; a number may be given as text."""
    at = table.at(column)
    numeric = table.columns[at].decimals is not None
    table.rows[row].items[at] = Decimal(str(value)) if numeric else value
