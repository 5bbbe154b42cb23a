"""How an expert looks things up: each call once, each with a reason.

Its methods are parts of a plan (`yield from`). It remembers what it was told, so asking twice costs
no call, and it knows nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agentgym.envs.todolist.lives import fields, later, minutes
from agentgym.envs.tools import Move
from agentgym.envs.tools.question import Looking

Row = dict[str, Any]


class Finder:
    """What an expert has been told so far in one plan."""

    def __init__(self) -> None:
        self._projects: list[Row] | None = None
        self._tasks: dict[str, list[Row]] = {}
        self._descriptions: dict[str, dict[str, str]] = {}
        self._minutes: dict[str, int] = {}
        self._today = ""

    def today(self) -> Looking[str]:
        """Return the user's current date."""
        if not self._today:
            why = "What counts here depends on the day, so I ask for today's date."
            self._today = yield Move(why, "get_user_current_date")
        return self._today

    def tomorrow(self) -> Looking[str]:
        """Return the day after the user's current date."""
        today = yield from self.today()
        return later(today, 1)

    def city(self) -> Looking[str]:
        """Return the user's current city."""
        why = "I need to know in which city the user is."
        found: str = yield Move(why, "get_user_current_location")
        return found

    def projects(self, why: str = "I look at which projects there are.") -> Looking[list[Row]]:
        """Return all projects."""
        if self._projects is None:
            self._projects = yield Move(why, "get_projects")
        return self._projects

    def project(self, name: str) -> Looking[Row]:
        """Return a project by name."""
        rows = yield from self.projects(f"First I need the id of the project {name}.")
        return next(row for row in rows if row["name"] == name)

    def tasks(self, name: str) -> Looking[list[Row]]:
        """Return the tasks of a project by its name."""
        project = yield from self.project(name)
        return (yield from self.tasks_of(project, f"Now the tasks of {name}."))

    def tasks_of(self, project: Row, why: str) -> Looking[list[Row]]:
        """Return the tasks of a project."""
        key = project["id"]
        if key not in self._tasks:
            self._tasks[key] = yield Move(why, "get_tasks", {"project_id": key})
        return self._tasks[key]

    def open(self, name: str) -> Looking[list[Row]]:
        """Return the tasks of a project that are not completed."""
        return [t for t in (yield from self.tasks(name)) if not t["is_completed"]]

    def task(self, name: str, project: str) -> Looking[Row]:
        """Return a task by its name and its project's."""
        return next(t for t in (yield from self.tasks(project)) if t["content"] == name)

    def everywhere(self) -> Looking[list[Row]]:
        """Return the tasks of all projects that are not completed, each with "project" added."""
        found: list[Row] = []
        for i, project in enumerate((yield from self.projects())):
            why = f"{'I go through them all, beginning with' if not i else 'Next,'} "
            rows = yield from self.tasks_of(project, f"{why}{project['name']}.")
            found += [t | {"project": project} for t in rows if not t["is_completed"]]
        return found

    def holding(self, task: str) -> Looking[tuple[Row, Row | None]]:
        """Return the project that holds a task, and the task where it was seen.

        The last project need not be opened: where else could it be?
        """
        projects = yield from self.projects(f'"{task}" may be in any project; which are there?')
        for project in projects[:-1]:
            rows = yield from self.tasks_of(project, f"Is it in {project['name']}?")
            for row in rows:
                if row["content"] == task:
                    return project, row
        return projects[-1], None

    def minutes(self, task: Row) -> Looking[int]:
        """Return how many minutes a task takes."""
        key = task["id"]
        if key not in self._minutes:
            why = f'How long does "{task["content"]}" take?'
            found = yield Move(why, "get_task_duration", {"task_id": key})
            self._minutes[key] = minutes(found["duration"])
        return self._minutes[key]

    def described(self, task: Row) -> Looking[dict[str, str]]:
        """Return what a task's description says, by key."""
        key = task["id"]
        if key not in self._descriptions:
            why = f'What does the description of "{task["content"]}" say?'
            found = yield Move(why, "get_task_description", {"task_id": key})
            self._descriptions[key] = fields(found["description"])
        return self._descriptions[key]

    def all_minutes(self, tasks: list[Row]) -> Looking[list[int]]:
        """Return how many minutes each of some tasks takes."""
        found = []
        for task in tasks:
            found += [(yield from self.minutes(task))]
        return found

    def all_described(self, tasks: list[Row]) -> Looking[list[dict[str, str]]]:
        """Return what the description of each of some tasks says."""
        found = []
        for task in tasks:
            found += [(yield from self.described(task))]
        return found

    def saying(self, tasks: list[Row], key: str, value: str) -> Looking[Row]:
        """Return the one of several tasks whose description says this, of which there is one.

        The last need not be read: it is the only one left.
        """
        for task in tasks[:-1]:
            if (yield from self.described(task)).get(key) == value:
                return task
        return tasks[-1]

    def complete(self, tasks: Iterable[Row]) -> Looking[None]:
        """Mark tasks as completed."""
        for task in tasks:
            why = f'I mark "{task["content"]}" as completed.'
            yield Move(why, "complete_task", {"task_id": task["id"]})

    def delete(self, tasks: Iterable[Row]) -> Looking[None]:
        """Delete tasks."""
        for task in tasks:
            why = f'I delete "{task["content"]}".'
            yield Move(why, "delete_task", {"task_id": task["id"]})

    def move(self, task: Row, day: str) -> Looking[None]:
        """Give a task another date."""
        why = f'I move "{task["content"]}" from {task["due_date"]} to {day}.'
        yield Move(why, "update_task", {"task_id": task["id"], "due_date": day})

    def favour(self, project: Row, favourite: bool = True) -> Looking[None]:
        """Make a project a favourite, or no longer."""
        why = f"{project['name']} {'becomes' if favourite else 'is no longer'} a favourite."
        arguments = {"project_id": project["id"], "is_favorite": str(favourite)}
        yield Move(why, "update_project", arguments)
