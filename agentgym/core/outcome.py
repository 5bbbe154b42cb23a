"""What the hooks of an environment give back, and how an edition is described."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Opening(NamedTuple):
    """How an episode begins."""

    observation: str
    goal: str


class Outcome(NamedTuple):
    """What one action led to.

    Attributes:
        observation: the text the agent sees next.
        score: the episode's score so far, in [0, 1].
        done: whether the task has ended.
        success: whether it has been achieved.
        valid: whether the action was one the environment could carry out.
    """

    observation: str
    score: float
    done: bool = False
    success: bool = False
    valid: bool = True


@dataclass(frozen=True, slots=True)
class Edition:
    """One edition of an environment's tasks.

    Attributes:
        max_rounds: the default number of rounds before an episode is truncated.
        about: what the tasks are and where they come from, one sentence.
        offline: whether it works with nothing but the installed packages.
    """

    max_rounds: int
    about: str
    offline: bool = True
