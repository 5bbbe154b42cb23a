"""The account that is asked for, and whether an account is it.

Accounts are compared by content: names, order, colours and marks of the projects; order, content,
priority, due date and completion of the tasks. Ids do not count, nor does the order of the lists.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from agentgym.envs.todolist.account import Account, Content, Project, Todo


def goal_of(
    projects: Iterable[Project], todos: Iterable[Todo], changes: Iterable[Mapping[str, Any]]
) -> Content:
    """Return what an account holds once some changes are made to it.

    It is written without the functions that agents call, so that one checks the other.

    Args:
        projects: the projects at the beginning.
        todos: the tasks at the beginning.
        changes: {"call", "arguments"} each.
    """
    marked = {p.id: p for p in projects}
    left = {t.id: t for t in todos}
    for change in changes:
        call, arguments = change["call"], change["arguments"]
        if call == "update_project":
            key = arguments["project_id"]
            marked[key] = replace(marked[key], is_favorite=arguments["is_favorite"] == "True")
            continue
        key = arguments["task_id"]
        if call == "delete_task":
            del left[key]
        elif call == "complete_task":
            left[key] = replace(left[key], is_completed=True)
        else:
            left[key] = replace(left[key], due_date=arguments["due_date"])
    return {
        "projects": [
            {"order": p.order, "color": p.color, "name": p.name, "is_favorite": p.is_favorite}
            for p in marked.values()
        ],
        "tasks": [
            {
                "order": t.order,
                "content": t.content,
                "is_completed": t.is_completed,
                "priority": t.priority,
                "due_date": t.due_date,
            }
            for t in left.values()
        ],
    }


def same_content(one: Content, other: Content) -> bool:
    """Return whether two accounts hold the same."""
    pairs = ((one[key], other[key]) for key in ("projects", "tasks"))
    return all(a == b or _bag(a) == _bag(b) for a, b in pairs)


def differences(account: Account, goal: Content) -> list[tuple[str, dict[str, str]]]:
    """Return calls that turn an account into the one that is asked for, where calls can.

    A deleted task cannot be brought back, nor a completed one be reopened.
    """
    calls: list[tuple[str, dict[str, str]]] = []
    marks = {p["name"]: p["is_favorite"] for p in goal["projects"]}
    wanted = {t["content"]: t for t in goal["tasks"]}
    for project in account.projects():
        mark = marks.get(project["name"], project["is_favorite"])
        if mark != project["is_favorite"]:
            arguments = {"project_id": project["id"], "is_favorite": str(mark)}
            calls.append(("update_project", arguments))
        for task in account.tasks(project["id"]):
            calls += _towards(task, wanted.get(task["content"]))
    return calls


def _towards(
    task: Mapping[str, Any], wanted: Mapping[str, Any] | None
) -> list[tuple[str, dict[str, str]]]:
    key = {"task_id": task["id"]}
    if wanted is None:
        return [("delete_task", key)]
    calls = []
    if wanted["due_date"] != task["due_date"] and not task["is_completed"]:
        calls.append(("update_task", {**key, "due_date": wanted["due_date"]}))
    if wanted["is_completed"] and not task["is_completed"]:
        calls.append(("complete_task", key))
    return calls


def _bag(rows: Sequence[Mapping[str, Any]]) -> Counter[str]:
    return Counter(json.dumps(row, sort_keys=True) for row in rows)
