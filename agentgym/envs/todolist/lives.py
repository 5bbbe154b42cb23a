"""The invented people whose lists the mini tasks are about, and how an account is drawn for one.

`data/lives.txt` holds what eight people have to do, written by us: a life begins with "== who |
city", a project with "# name", a task is "content | minutes | place | key: value ...". An account
takes five to eight of a life's projects and three to six tasks of each; dates, priorities, colours
and what is completed already are drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from agentgym.core.draw import Draw
from agentgym.envs.todolist.account import Project, Todo, read_projects

DATA = Path(__file__).parent / "data" / "lives.txt"
FIRST_TODAY, LAST_TODAY = date(2023, 1, 10), date(2025, 11, 20)
MOST_TASKS = 40
COLOURS = (
    "berry_red", "red", "orange", "yellow", "olive_green", "lime_green", "green", "mint_green",
    "teal", "sky_blue", "light_blue", "blue", "grape", "violet", "lavender", "magenta", "salmon",
    "charcoal", "grey", "taupe",
)  # fmt: skip
"""The service's colours."""
PRIORITIES = ((1, 3.0), (2, 3.0), (3, 2.5), (4, 2.0))
"""From 1, normal, to 4, urgent, and how often each is drawn."""


@dataclass(frozen=True)
class Errand:
    """A task as it is written down: its content, how long it may take, and its description."""

    content: str
    minutes: tuple[int, ...]
    description: str


@dataclass(frozen=True)
class Life:
    """What somebody has to do."""

    who: str
    city: str
    projects: Mapping[str, Sequence[Errand]]


@dataclass(frozen=True)
class World:
    """An account at the beginning of a task, with its day and place.

    Attributes:
        rows: the projects as they are written down.
        seed: what the ids follow from.
        today: the user's current date, YYYY-MM-DD.
        location: the user's current city.
    """

    rows: Sequence[Mapping[str, Any]]
    seed: str
    today: str
    location: str

    @cached_property
    def _read(self) -> tuple[list[Project], list[Todo]]:
        return read_projects(self.rows, self.seed)

    @property
    def projects(self) -> list[Project]:
        """The projects in order."""
        return self._read[0]

    @property
    def todos(self) -> list[Todo]:
        """All tasks in order."""
        return self._read[1]

    @cached_property
    def by_name(self) -> dict[str, Project]:
        """The projects by name."""
        return {p.name: p for p in self.projects}

    def of(self, project: str) -> list[Todo]:
        """Return the tasks of a project, by its name."""
        key = self.by_name[project].id
        return [t for t in self.todos if t.project_id == key]

    def open(self, project: str | None = None) -> list[Todo]:
        """Return the tasks that are not completed, of one project or of all."""
        todos = self.todos if project is None else self.of(project)
        return [t for t in todos if not t.is_completed]

    def day(self, ahead: int) -> str:
        """Return the date so many days after today."""
        return later(self.today, ahead)


def later(day: str, ahead: int) -> str:
    """Return the date so many days after another.

    >>> later("2024-02-28", 2)
    '2024-03-01'
    """
    return (date.fromisoformat(day) + timedelta(ahead)).isoformat()


def fields(description: str) -> dict[str, str]:
    """Return what a description says, by key.

    >>> fields("- Place: Kitchen\\n- Cost: 12 euros")
    {'Place': 'Kitchen', 'Cost': '12 euros'}
    """
    parts = (line.removeprefix("- ").partition(": ") for line in description.split("\n"))
    return {key: value for key, _, value in parts}


def minutes(duration: str) -> int:
    """Return the minutes of a duration, "60(minute)"."""
    return int(duration.partition("(")[0])


@cache
def load_lives() -> tuple[Life, ...]:
    """Return the lives that are written down."""
    found: list[Life] = []
    errands: list[Errand] = []
    for line in DATA.read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            who, city = line.removeprefix("== ").split(" | ")
            projects: dict[str, list[Errand]] = {}
            found.append(Life(who, city, projects))
        elif line.startswith("# "):
            errands = projects.setdefault(line.removeprefix("# "), [])
        elif line:
            content, lengths, place, *more = line.split(" | ")
            lines = (f"- {part}" for part in (f"Place: {place}", *more))
            errands.append(Errand(content, tuple(map(int, lengths.split())), "\n".join(lines)))
    return tuple(found)


def draw_world(seed: str) -> World:
    """Draw somebody's account and day."""
    draw = Draw(seed)
    life = draw.pick(load_lives())
    span = (LAST_TODAY - FIRST_TODAY).days
    today = (FIRST_TODAY + timedelta(draw.below(span + 1))).isoformat()
    names = draw.sample(life.projects, draw.between(5, len(life.projects)))
    rows, left = [], MOST_TASKS
    for i, name in enumerate(names):
        written = life.projects[name]
        room = left - 3 * (len(names) - i - 1)
        chosen = draw.sample(written, min(draw.between(3, len(written)), room))
        left -= len(chosen)
        rows.append(
            {
                "name": name,
                "color": draw.pick(COLOURS),
                "is_favorite": draw.chance(0.25),
                "tasks": [_drawn(errand, today, draw) for errand in chosen],
            }
        )
    return World(rows, seed, today, draw.pick(_cities(rows) or [life.city]))


def _drawn(errand: Errand, today: str, draw: Draw) -> dict[str, Any]:
    completed = draw.chance(0.22)
    if completed:
        ahead = draw.between(-20, 3)
    else:
        ahead = draw.between(-10, -1) if draw.chance(0.2) else draw.between(0, 26)
    levels, weights = zip(*PRIORITIES, strict=True)
    return {
        "content": errand.content,
        "description": errand.description,
        "due_date": later(today, ahead),
        "duration": draw.pick(errand.minutes),
        "duration_unit": "minute",
        "priority": draw.weighted(levels, weights),
        "is_completed": completed,
    }


def _cities(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the cities that the tasks of an account name, as often as they do."""
    found = (fields(task["description"]).get("City") for row in rows for task in row["tasks"])
    return [city for city in found if city is not None]
