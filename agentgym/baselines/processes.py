"""What processes that train together tell each other.

One thing passes between them: a value from each, which all of them then have. With it everything
that is decided about a sampling (credit, figures, who is in which step) is decided by every process
from the whole of it, in the same way and without asking anybody, as one process alone would.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from agentgym.baselines.checkpoints import ranks


def _alone(value: Any) -> list[Any]:
    return [value]


class Team(NamedTuple):
    """The processes of a run, seen from one of them.

    Attributes:
        rank: which one this is, from 0; 0 is the main process.
        size: how many there are.
        share: takes a value of this process and returns everybody's, by rank; all processes call
            it at the same point, from the thread that trains.
    """

    rank: int = 0
    size: int = 1
    share: Callable[[Any], list[Any]] = _alone


def team() -> Team:
    """Return the processes a launcher has started together with this one."""
    if ranks() == 1:
        return Team()
    return Team(int(os.environ["RANK"]), ranks(), _share)


def _share(value: Any) -> list[Any]:
    from accelerate.utils import gather_object

    return list(gather_object([value]))
