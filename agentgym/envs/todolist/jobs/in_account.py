"""Questions over all projects."""

from __future__ import annotations

from collections import Counter
from typing import Any

from agentgym.core.draw import Draw
from agentgym.envs.todolist.account import Todo
from agentgym.envs.todolist.jobs.base import (
    DATE,
    NUMBER,
    PROJECT,
    TASK,
    TASKS,
    Args,
    Done,
    Job,
    Settled,
    project_of,
    task_names,
)
from agentgym.envs.todolist.jobs.finder import Finder
from agentgym.envs.todolist.jobs.which import draw_condition, fitting, held
from agentgym.envs.todolist.lives import World, later
from agentgym.envs.tools.question import number, text, top


class Fullest(Job):
    """Which project has the most unfinished tasks, or the fewest?"""

    name = "fullest"
    level = "aggregate"
    frames = (
        f"Which project has the {{most}} unfinished tasks? {PROJECT}",
        f"In which of my projects are the {{most}} tasks still open? {PROJECT}",
    )

    def draw(self, world: World, draw: Draw) -> Args | None:
        """Draw whether the most or the fewest, where one project alone has them."""
        most = draw.pick(("most", "fewest"))
        return {"most": most} if fullest(world, most) else None

    def settle(self, world: World, args: Args) -> Settled:
        """Return the project."""
        return Settled(text(fullest(world, args["most"]) or ""))

    def plan(self, find: Finder, args: Args) -> Done:
        """Count in every project."""
        return (yield from shown_fullest(find, args["most"]))["name"]


class Overdue(Job):
    """How many tasks are overdue?"""

    name = "overdue"
    level = "aggregate"
    frames = (
        f"How many tasks are overdue today, that is, due before today and not completed? {NUMBER}",
        f"Over all projects, how many unfinished tasks have a due date that has passed? Today does "
        f"not count as passed. {NUMBER}",
    )

    def draw(self, world: World, draw: Draw) -> Args | None:
        """Draw an account in which a task is overdue."""
        return {} if overdue(world) else None

    def settle(self, world: World, args: Args) -> Settled:
        """Return how many."""
        return Settled(number(len(overdue(world))))

    def plan(self, find: Finder, args: Args) -> Done:
        """Ask for the day, then read every list."""
        today = yield from find.today()
        rows = yield from find.everywhere()
        return sum(row["due_date"] < today for row in rows)


class WhereOverdue(Overdue):
    """Which project has the most overdue tasks?"""

    name = "most-overdue"
    level = "multi-hop"
    frames = (
        f"Which project has the most overdue tasks, that is, unfinished ones due before today? "
        f"{PROJECT}",
        f"Where am I most behind? Name the project with the largest number of unfinished tasks "
        f"that were due before today. {PROJECT}",
    )

    def draw(self, world: World, draw: Draw) -> Args | None:
        """Draw an account in which one project alone has the most."""
        return {} if self._project(world) else None

    def settle(self, world: World, args: Args) -> Settled:
        """Return the project."""
        return Settled(text(self._project(world) or ""))

    def plan(self, find: Finder, args: Args) -> Done:
        """Ask for the day, then count in every list."""
        today = yield from find.today()
        rows = yield from find.everywhere()
        counts = Counter(row["project"]["name"] for row in rows if row["due_date"] < today)
        return counts.most_common(1)[0][0]

    @staticmethod
    def _project(world: World) -> str | None:
        return top(Counter(project_of(world, t) for t in overdue(world)))


class FirstAnywhere(Job):
    """Which unfinished task comes first of all from today on?"""

    name = "next-anywhere"
    level = "aggregate"
    frames = (
        f"Looking at all projects, which unfinished task is due first, today or later? {TASK}",
        f"Leave aside what is overdue: which open task has the next due date, counting from and "
        f"including today? {TASK}",
    )

    def draw(self, world: World, draw: Draw) -> Args | None:
        """Draw an account in which one task alone comes first, on a later day than today.

        Were it due today, there would be no need to look further once it is found.
        """
        return {} if self._first(world) else None

    def settle(self, world: World, args: Args) -> Settled:
        """Return the task."""
        return Settled(text(self._first(world) or ""))

    def plan(self, find: Finder, args: Args) -> Done:
        """Ask for the day, then read every list."""
        today = yield from find.today()
        rows = yield from find.everywhere()
        ahead = [row for row in rows if row["due_date"] >= today]
        return min(ahead, key=lambda row: str(row["due_date"]))["content"]

    @staticmethod
    def _first(world: World) -> str | None:
        ahead = [t for t in world.open() if t.due_date >= world.today]
        days = Counter(t.due_date for t in ahead)
        if not days or days[min(days)] > 1 or min(days) == world.today:
            return None
        return next(t.content for t in ahead if t.due_date == min(days))


class BusiestDay(Job):
    """On which day are most unfinished tasks due?"""

    name = "busiest-day"
    level = "aggregate"
    frames = (
        f"On which day are the most unfinished tasks due, all projects taken together? {DATE}",
        f"What is the due date that most of my open tasks share, across all projects? {DATE}",
    )

    def draw(self, world: World, draw: Draw) -> Args | None:
        """Draw an account in which one day alone has the most."""
        return {} if top(Counter(t.due_date for t in world.open())) else None

    def settle(self, world: World, args: Args) -> Settled:
        """Return the day."""
        return Settled({"date": top(Counter(t.due_date for t in world.open()))})

    def plan(self, find: Finder, args: Args) -> Done:
        """Read every list."""
        rows = yield from find.everywhere()
        return Counter(row["due_date"] for row in rows).most_common(1)[0][0]


class CountAnywhere(Job):
    """How many unfinished tasks of all projects meet a condition?"""

    name = "count-anywhere"
    level = "aggregate"
    frames = (
        f"How many unfinished tasks {{words}} do I have in all projects together? {NUMBER}",
        f"Across all my projects, count the open tasks {{words}}. {NUMBER}",
    )

    def draw(self, world: World, draw: Draw) -> Args | None:
        """Draw a condition that some, but not all, of the tasks meet."""
        condition = draw_condition(world, draw)
        return condition if 1 < len(held(world, condition)) < len(world.open()) else None

    def settle(self, world: World, args: Args) -> Settled:
        """Return how many."""
        return Settled(number(len(held(world, args))))

    def plan(self, find: Finder, args: Args) -> Done:
        """Read every list."""
        return len(fitting((yield from find.everywhere()), args))


class NextDays(Job):
    """Which urgent tasks are due in the next days?"""

    name = "urgent-soon"
    level = "multi-hop"
    frames = (
        f"Which unfinished tasks with {{level}} are due in the {{days}} days that begin "
        f"with today? {TASKS}",
        f"Today and the {{more}} days after it: which open tasks with {{level}} fall due "
        f"then, in any project? {TASKS}",
    )

    def draw(self, world: World, draw: Draw) -> Args | None:
        """Draw a number of days and a priority that one to five tasks meet."""
        days = draw.between(5, 10)
        args = {"days": days, "more": days - 1, **high_priority(draw)}
        return args if 0 < len(self._soon(world, args)) < 6 else None

    def settle(self, world: World, args: Args) -> Settled:
        """Return which."""
        return Settled(task_names(self._soon(world, args)))

    def plan(self, find: Finder, args: Args) -> Done:
        """Ask for the day, then read every list."""
        today = yield from find.today()
        last = later(today, args["more"])
        rows = yield from find.everywhere()
        return [
            row["content"]
            for row in rows
            if row["priority"] >= args["priority"] and today <= row["due_date"] <= last
        ]

    @staticmethod
    def _soon(world: World, args: Args) -> list[Todo]:
        last = world.day(args["more"])
        return [
            t
            for t in world.open()
            if t.priority >= args["priority"] and world.today <= t.due_date <= last
        ]


def overdue(world: World, project: str | None = None) -> list[Todo]:
    """Return the unfinished tasks that were due before today."""
    return [t for t in world.open(project) if t.due_date < world.today]


def high_priority(draw: Draw) -> dict[str, Any]:
    """Return a high priority as arguments, and how it is said."""
    if draw.chance(0.5):
        return {"priority": 4, "level": "priority 4"}
    return {"priority": 3, "level": "priority 3 or higher"}


def fullest(world: World, most: str) -> str | None:
    """Return the project with the most or the fewest unfinished tasks, if it is one alone."""
    sign = 1 if most == "most" else -1
    return top({p.name: sign * len(world.open(p.name)) for p in world.projects})


def shown_fullest(find: Finder, most: str) -> Done:
    """Return the shown project with the most or the fewest unfinished tasks."""
    rows = yield from find.everywhere()
    counts = Counter(row["project"]["id"] for row in rows)
    projects = yield from find.projects()
    pick = max if most == "most" else min
    return pick(projects, key=lambda project: counts[project["id"]])


IN_ACCOUNT = (
    Fullest(),
    Overdue(),
    WhereOverdue(),
    FirstAnywhere(),
    BusiestDay(),
    CountAnywhere(),
    NextDays(),
)
