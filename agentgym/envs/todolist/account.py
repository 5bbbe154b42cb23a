"""An account in memory: projects and their tasks, and the few things that can change.

What never changes in an episode (names, contents, priorities, durations, descriptions) is shared
between sessions; what can change (favourites, due dates, completed, deleted) belongs to one
account. Two accounts are compared by content, never by id, as published.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Protocol

from agentgym.core.draw import Draw
from agentgym.core.errors import InvalidState
from agentgym.envs.tools import NotFound, WrongValue
from agentgym.envs.tools.kinds import one_line

Content = dict[str, list[dict[str, Any]]]
"""What an account holds, without ids: {"projects": [...], "tasks": [...]}."""


class Account(Protocol):
    """What the functions need of an account, be it in memory or at the service."""

    def projects(self) -> list[dict[str, Any]]:
        """Return the projects in their order."""

    def set_favourite(self, project_id: str, favourite: bool) -> dict[str, Any]:
        """Set whether a project is a favourite, and return it."""

    def tasks(self, project_id: str) -> list[dict[str, Any]]:
        """Return the tasks of a project in their order."""

    def task(self, task_id: str) -> dict[str, Any]:
        """Return a task as `tasks` gives it."""

    def details(self, task_id: str) -> dict[str, str]:
        """Return the content, description and duration of a task."""

    def set_due(self, task_id: str, due_date: str) -> None:
        """Set a task's due date."""

    def complete(self, task_id: str) -> None:
        """Mark a task as completed."""

    def delete(self, task_id: str) -> None:
        """Delete a task."""

    def content(self) -> Content:
        """Return all it holds, without ids, to be compared."""


@dataclass(frozen=True, slots=True)
class Todo:
    """A task as it was at the beginning."""

    id: str
    project_id: str
    order: int
    content: str
    description: str
    duration: str
    priority: int
    due_date: str
    is_completed: bool


@dataclass(frozen=True, slots=True)
class Project:
    """A project as it was at the beginning."""

    id: str
    order: int
    color: str
    name: str
    is_favorite: bool


def read_projects(
    projects: Iterable[Mapping[str, Any]], seed: str
) -> tuple[list[Project], list[Todo]]:
    """Return the projects and tasks of an account that is written down.

    Args:
        projects: in the layout of the published projects.json: {"name", "is_favorite", "tasks":
            [{"content", "description", "due_date", "duration", "duration_unit", "priority"}]};
            "color" (else charcoal, as the service has it) and "is_completed" may be given.
        seed: what the ids follow from.

    Raises:
        KeyError, TypeError, ValueError: if something is missing or of the wrong kind.
    """
    draw = Draw(f"{seed} ids")
    found: list[Project] = []
    todos: list[Todo] = []
    ids: set[str] = set()
    for order, project in enumerate(projects, 1):
        favourite, colour = bool(project.get("is_favorite")), str(project.get("color", "charcoal"))
        key = _new_id(draw, ids)
        found.append(Project(key, order, colour, str(project["name"]), favourite))
        for place, row in enumerate(project["tasks"], 1):
            todos.append(
                Todo(
                    _new_id(draw, ids),
                    key,
                    place,
                    str(row["content"]),
                    str(row["description"]),
                    f"{int(row['duration'])}({row['duration_unit']})",
                    int(row["priority"]),
                    date.fromisoformat(row["due_date"]).isoformat(),
                    bool(row.get("is_completed")),
                )
            )
    return found, todos


class LocalAccount:
    """An account in memory.

    Args:
        projects: its projects in order.
        todos: their tasks in order.
        keeps_completed: whether a completed task stays in its project's list; the live service
            takes it off, and so do the published goals.
    """

    def __init__(
        self, projects: Sequence[Project], todos: Sequence[Todo], keeps_completed: bool
    ) -> None:
        self._keeps = keeps_completed
        self._projects = {p.id: p for p in projects}
        self._todos = {t.id: t for t in todos}
        self._of: dict[str, list[Todo]] = {p.id: [] for p in projects}
        for todo in todos:
            self._of[todo.project_id].append(todo)
        self._favourite = {p.id: p.is_favorite for p in projects}
        self._due = {t.id: t.due_date for t in todos}
        self._completed = {t.id for t in todos if t.is_completed}
        self._deleted: set[str] = set()

    def projects(self) -> list[dict[str, Any]]:
        """Return the projects in their order."""
        return [self._shown_project(p) for p in self._projects.values()]

    def set_favourite(self, project_id: str, favourite: bool) -> dict[str, Any]:
        """Set whether a project is a favourite, and return it."""
        project = self._project(project_id)
        self._favourite[project.id] = favourite
        return self._shown_project(project)

    def tasks(self, project_id: str) -> list[dict[str, Any]]:
        """Return the tasks of a project in their order."""
        found = self._of[self._project(project_id).id]
        return [self._shown(t) for t in found if self._is_listed(t.id)]

    def task(self, task_id: str) -> dict[str, Any]:
        """Return a task as `tasks` gives it."""
        return self._shown(self._todo(task_id))

    def details(self, task_id: str) -> dict[str, str]:
        """Return the content, description and duration of a task."""
        todo = self._todo(task_id)
        return {
            "content": todo.content,
            "description": todo.description,
            "duration": todo.duration,
        }

    def set_due(self, task_id: str, due_date: str) -> None:
        """Set a task's due date."""
        self._due[self._open(task_id).id] = due_date

    def complete(self, task_id: str) -> None:
        """Mark a task as completed."""
        self._completed.add(self._open(task_id).id)

    def delete(self, task_id: str) -> None:
        """Delete a task."""
        self._deleted.add(self._todo(task_id).id)

    def content(self) -> Content:
        """Return all it holds, without ids, to be compared."""
        due, completed = self._due, self._completed
        return {
            "projects": [
                {
                    "order": p.order,
                    "color": p.color,
                    "name": p.name,
                    "is_favorite": self._favourite[p.id],
                }
                for p in self._projects.values()
            ],
            "tasks": [
                {
                    "order": t.order,
                    "content": t.content,
                    "is_completed": t.id in completed,
                    "priority": t.priority,
                    "due_date": due[t.id],
                }
                for t in self._todos.values()
                if self._is_listed(t.id)
            ],
        }

    def save(self) -> Any:
        """Return a JSON copy of what has changed since the beginning."""
        return {
            "favourites": {
                p.id: self._favourite[p.id]
                for p in self._projects.values()
                if self._favourite[p.id] != p.is_favorite
            },
            "due": {
                t.id: self._due[t.id] for t in self._todos.values() if self._due[t.id] != t.due_date
            },
            "completed": [
                t.id for t in self._todos.values() if t.id in self._completed and not t.is_completed
            ],
            "deleted": [t for t in self._todos if t in self._deleted],
        }

    def load(self, saved: Any) -> None:
        """Restore what `save` returned, into an account that has not changed.

        Raises:
            InvalidState: if it names what is not here.
        """
        try:
            favourites, due = dict(saved["favourites"]), dict(saved["due"])
            completed, deleted = list(saved["completed"]), list(saved["deleted"])
            for day in due.values():
                date.fromisoformat(day)
            known = {*favourites} <= {*self._projects} and (
                {*due, *completed, *deleted} <= {*self._todos}
            )
            truths = all(isinstance(v, bool) for v in favourites.values())
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidState(f"the snapshot's account cannot be read ({error!r})") from error
        if not known or not truths:
            raise InvalidState("the snapshot's account has other projects or tasks")
        self._favourite |= favourites
        self._due |= due
        self._completed |= set(completed)
        self._deleted |= set(deleted)

    def _is_listed(self, task_id: str) -> bool:
        gone = task_id in self._deleted or (not self._keeps and task_id in self._completed)
        return not gone

    def _project(self, project_id: str) -> Project:
        found = self._projects.get(project_id)
        if found is None:
            raise no_project(project_id)
        return found

    def _todo(self, task_id: str) -> Todo:
        found = self._todos.get(task_id)
        if found is None:
            raise no_task(task_id)
        if task_id in self._deleted:
            raise NotFound(f"the task {task_id!r} has been deleted; get_tasks lists what is left")
        return found

    def _open(self, task_id: str) -> Todo:
        todo = self._todo(task_id)
        if task_id in self._completed:
            raise already_completed(task_id)
        return todo

    def _shown_project(self, project: Project) -> dict[str, Any]:
        return {
            "id": project.id,
            "order": project.order,
            "color": project.color,
            "name": project.name,
            "is_favorite": self._favourite[project.id],
        }

    def _shown(self, todo: Todo) -> dict[str, Any]:
        return {
            "id": todo.id,
            "project_id": todo.project_id,
            "order": todo.order,
            "content": todo.content,
            "is_completed": todo.id in self._completed,
            "priority": todo.priority,
            "due_date": self._due[todo.id],
        }


def no_project(project_id: str) -> NotFound:
    """Return the error for a project that is not there."""
    return NotFound(f"there is no project {one_line(project_id)!r}; get_projects lists their ids")


def no_task(task_id: str) -> NotFound:
    """Return the error for a task that is not there."""
    return NotFound(f"there is no task {one_line(task_id)!r}; get_tasks lists the ids of a project")


def already_completed(task_id: str) -> WrongValue:
    """Return the error for a change to a task that is completed."""
    return WrongValue(
        f"argument 'task_id' must name a task that is not completed, and {one_line(task_id)!r} is"
    )


def _new_id(draw: Draw, taken: set[str]) -> str:
    """Return ten digits that no other project or task has."""
    while True:
        key = str(draw.between(2_200_000_000, 8_999_999_999))
        if key not in taken:
            taken.add(key)
            return key
