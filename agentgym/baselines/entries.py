"""What the entries of an evaluation are called, in results and on disk.

An environment may be evaluated more than once: other kinds, another edition, other options. Its
first entry has the environment's name, so that one alone is called as ever; later ones are
numbered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from agentgym.baselines.config import EnvTasks
from agentgym.baselines.examples import env_choice
from agentgym.core import short_name


class Entry(NamedTuple):
    """What one entry is called.

    Attributes:
        name: in tables and curves ("Maze", "Maze-2").
        folder: its run folder's name ("maze", "maze-2").
        tasks: what is played.
    """

    name: str
    folder: str
    tasks: EnvTasks


def entries(envs: Sequence[EnvTasks]) -> list[Entry]:
    """Return the entries of an evaluation with their names, in order."""
    found: list[Entry] = []
    count: Counter[str] = Counter()
    for tasks in envs:
        name = short_name(env_choice(tasks).env_id)
        count[name] += 1
        number = f"-{count[name]}" if count[name] > 1 else ""
        found.append(Entry(name + number, _slug(tasks.env) + number, tasks))
    return found


def _slug(env: str) -> str:
    return env.rpartition(":")[2].rpartition("/")[2].lower()
