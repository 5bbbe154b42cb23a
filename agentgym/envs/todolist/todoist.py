"""An account at Todoist: a tree of projects made for one episode, and nothing else of the user's.

Under one project whose name says what it is stand the task's projects and tasks. Only ids that were
made here are ever read, changed or deleted, and closing deletes the tree. The published server
deleted every project of the user's account instead, at every reset.

The service lists unfinished tasks only, so what has been completed is remembered here; so are
orders, contents and priorities, which no function can change.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from agentgym.envs.todolist.account import (
    Content,
    already_completed,
    no_project,
    no_task,
)
from agentgym.envs.tools import Cassette, CassetteMiss, LiveClient, LiveError, NotFound, key_from

SERVICE = "https://api.todoist.com/api/v1"
MARKER = "agentgym episode (temporary, safe to delete)"
"""Name of the project under which everything is made."""
_PAGE = 200
_MOST_PAGES = 50


class TodoistAccount:
    """Projects and tasks at the service, made anew.

    Args:
        projects: what to make, in the layout of the published projects.json.
        keeps_completed: whether a completed task stays in its project's list.
        cassette: a tape for the service's answers.
        base_url: where the service is.
        options: of `LiveClient`.

    Raises:
        MissingKey: if the environment variable TODO_KEY is not set.
        LiveError: if the service does not make them; what it made is deleted again.
    """

    def __init__(
        self,
        projects: Sequence[Mapping[str, Any]],
        *,
        keeps_completed: bool,
        cassette: Cassette | None = None,
        base_url: str = SERVICE,
        **options: Any,
    ) -> None:
        self._keeps = keeps_completed
        self._client = LiveClient(
            base_url, cassette=cassette, secret_headers=_authorization, **options
        )
        self._projects: dict[str, dict[str, Any]] = {}
        self._tasks: dict[str, dict[str, Any]] = {}
        self._details: dict[str, dict[str, str]] = {}
        self._completed: set[str] = set()
        self._deleted: set[str] = set()
        self._root: str | None = None
        try:
            self._make(projects)
        except BaseException:
            with contextlib.suppress(LiveError, CassetteMiss):
                self.close()
            raise

    def close(self) -> None:
        """Delete everything that was made; twice without harm.

        Raises:
            LiveError: if the service refuses; the message names what is left.
        """
        root, self._root = self._root, None
        try:
            if root is not None:
                # The children as well: one service deletes them with their parent, another may not.
                for key in self._projects:
                    self._gone(f"projects/{quote(key)}")
                self._gone(f"projects/{quote(root)}")
        except LiveError as error:
            raise LiveError(f"{error}; delete the project {MARKER!r} yourself") from error
        finally:
            self._client.close()

    def ids_as(self, projects: Iterable[str], tasks: Iterable[str]) -> dict[str, str]:
        """Return other ids for the same projects and tasks, by the service's ids."""
        return dict(
            zip((*self._projects, *self._tasks), (*projects, *tasks), strict=True),
        )

    def projects(self) -> list[dict[str, Any]]:
        """Return the projects in their order."""
        found = {str(row["id"]): row for row in self._pages("projects", {})}
        lost = [key for key in self._projects if key not in found]
        if lost:
            raise LiveError(f"Todoist no longer lists the project {lost[0]}")
        return [
            {**row, "is_favorite": bool(found[key].get("is_favorite"))}
            for key, row in self._projects.items()
        ]

    def set_favourite(self, project_id: str, favourite: bool) -> dict[str, Any]:
        """Set whether a project is a favourite, and return it."""
        if project_id not in self._projects:
            raise no_project(project_id)
        path = f"projects/{quote(project_id)}"
        self._client.request("POST", path, body={"is_favorite": favourite})
        return {**self._projects[project_id], "is_favorite": favourite}

    def tasks(self, project_id: str) -> list[dict[str, Any]]:
        """Return the tasks of a project in their order."""
        if project_id not in self._projects:
            raise no_project(project_id)
        open_ = {str(row["id"]): row for row in self._pages("tasks", {"project_id": project_id})}
        shown: list[dict[str, Any]] = []
        for key, row in self._tasks.items():
            if key in open_ and key not in self._completed:
                shown.append({**row, "due_date": _due(open_[key])})
            elif (
                self._keeps
                and key in self._completed - self._deleted
                and row["project_id"] == project_id
            ):
                shown.append(dict(row))
        return shown

    def task(self, task_id: str) -> dict[str, Any]:
        """Return a task as `tasks` gives it."""
        row = self._known(task_id)
        if task_id in self._completed:
            return dict(row)
        return {**row, "due_date": _due(self._client.get(f"tasks/{quote(task_id)}"))}

    def details(self, task_id: str) -> dict[str, str]:
        """Return the content, description and duration of a task."""
        self._known(task_id)
        if task_id in self._completed:
            return dict(self._details[task_id])
        return _details(self._client.get(f"tasks/{quote(task_id)}"))

    def set_due(self, task_id: str, due_date: str) -> None:
        """Set a task's due date."""
        self._open(task_id)
        path = f"tasks/{quote(task_id)}"
        self._client.request("POST", path, body={"due_date": due_date})

    def complete(self, task_id: str) -> None:
        """Mark a task as completed."""
        self._open(task_id)
        row = self.task(task_id)
        self._client.request("POST", f"tasks/{quote(task_id)}/close")
        self._completed.add(task_id)
        self._tasks[task_id] = {**row, "is_completed": True}

    def delete(self, task_id: str) -> None:
        """Delete a task."""
        self._known(task_id)
        self._gone(f"tasks/{quote(task_id)}")
        self._deleted.add(task_id)

    def content(self) -> Content:
        """Return all it holds, without ids, to be compared."""
        projects = self.projects()
        tasks = [t for p in projects for t in self.tasks(p["id"])]
        return {"projects": [_plain(p) for p in projects], "tasks": [_plain(t) for t in tasks]}

    def _make(self, projects: Sequence[Mapping[str, Any]]) -> None:
        self._root = str(self._created("projects", {"name": MARKER})["id"])
        for order, project in enumerate(projects, 1):
            colour, favourite = project.get("color", "charcoal"), bool(project.get("is_favorite"))
            body = {
                "name": project["name"],
                "parent_id": self._root,
                "color": colour,
                "is_favorite": favourite,
            }
            key = str(self._created("projects", body)["id"])
            self._projects[key] = {
                "id": key,
                "order": order,
                "color": colour,
                "name": project["name"],
                "is_favorite": favourite,
            }
            for place, task in enumerate(project["tasks"], 1):
                self._make_task(key, place, task)

    def _make_task(self, project_id: str, place: int, task: Mapping[str, Any]) -> None:
        kept = ("content", "description", "due_date", "duration", "duration_unit", "priority")
        body = {"project_id": project_id, **{name: task[name] for name in kept}}
        made = self._created("tasks", body)
        key = str(made["id"])
        self._details[key] = {
            "content": task["content"],
            "description": task["description"],
            "duration": f"{task['duration']}({task['duration_unit']})",
        }
        self._tasks[key] = {
            "id": key,
            "project_id": project_id,
            "order": place,
            "content": task["content"],
            "is_completed": False,
            "priority": task["priority"],
            "due_date": task["due_date"],
        }
        if task.get("is_completed"):
            self.complete(key)

    def _created(self, path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        made = self._client.request("POST", path, body=body)
        if not isinstance(made, dict) or "id" not in made:
            raise LiveError(f"Todoist made no {path.removesuffix('s')}: its answer has no id")
        return made

    def _gone(self, path: str) -> None:
        """Delete something; on a tape that ends before it, there is nothing to delete."""
        with contextlib.suppress(CassetteMiss):
            self._client.request("DELETE", path)

    def _pages(self, path: str, params: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """Yield the rows of all pages of a list."""
        cursor: Mapping[str, Any] = {}
        for _ in range(_MOST_PAGES):
            page = self._client.get(path, {**params, "limit": _PAGE, **cursor})
            if not isinstance(page, dict) or not isinstance(page.get("results"), list):
                raise LiveError(f"Todoist's list of {path} has no results")
            yield from page["results"]
            if not page.get("next_cursor"):
                return
            cursor = {"cursor": page["next_cursor"]}
        raise LiveError(f"Todoist's list of {path} does not end")

    def _known(self, task_id: str) -> dict[str, Any]:
        if task_id not in self._tasks:
            raise no_task(task_id)
        if task_id in self._deleted:
            raise NotFound(f"the task {task_id!r} has been deleted; get_tasks lists what is left")
        return self._tasks[task_id]

    def _open(self, task_id: str) -> None:
        self._known(task_id)
        if task_id in self._completed:
            raise already_completed(task_id)


def _authorization() -> dict[str, str]:
    return {"Authorization": f"Bearer {key_from('TODO_KEY', 'Todoist')}"}


def _due(row: Any) -> str:
    """Return the due date of a task as the service shows it."""
    try:
        return str(row["due"]["date"])[:10]
    except (KeyError, TypeError) as error:
        raise LiveError("Todoist shows a task without a due date") from error


def _details(row: Any) -> dict[str, str]:
    try:
        length = row["duration"]
        return {
            "content": str(row["content"]),
            "description": str(row["description"]),
            "duration": f"{length['amount']}({length['unit']})",
        }
    except (KeyError, TypeError) as error:
        raise LiveError("Todoist shows a task without a description or duration") from error


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in ("id", "project_id")}
