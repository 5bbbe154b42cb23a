"""TODOList: answer questions about somebody's projects and tasks, and change them.

Success is the right answer and, at that moment, exactly the account that was asked for, compared by
content. The published server deleted everything in the user's account at every reset; here the
account is in memory, and the live one is a project made for the episode.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from agentgym.core import Edition, Expert, Task, TaskSet
from agentgym.envs.todolist.account import (
    Account,
    Content,
    LocalAccount,
    Project,
    Todo,
    read_projects,
)
from agentgym.envs.todolist.goal import differences, goal_of, same_content
from agentgym.envs.todolist.jobs import BY_NAME
from agentgym.envs.todolist.jobs.finder import Finder
from agentgym.envs.todolist.tasks import mini_tasks, official_tasks
from agentgym.envs.todolist.todoist import SERVICE, TodoistAccount
from agentgym.envs.todolist.tools import TodoTools
from agentgym.envs.tools import Move, Plan, PlanExpert, Tool, ToolEnv, accepts, value_of

INTRODUCTION = """You look after somebody's to-do list: projects, and tasks in them. You answer \
questions about it and change it by calling functions. Do not invent ids: get_projects and \
get_tasks give them. Change nothing that you were not asked to change. A priority is a number from \
1 (normal) to 4 (urgent), and a task is unfinished, or open, as long as it is not completed. """

KEPT = "A completed task stays in its project's list, marked 'is_completed': True."
TAKEN_OFF = "A completed task leaves its project's list."

EXAMPLE = """Goal: Set the due date of "Water the ferns" in Balcony to 2024-06-03. Answer 'done' \
when that is done.
Thought: First I need the id of the project Balcony.
Action: get_projects with Action Input: {}
Observation: [{'id': '2203306141', 'order': 1, 'color': 'teal', 'name': 'Balcony', \
'is_favorite': False}]
Thought: Now the tasks of Balcony.
Action: get_tasks with Action Input: {"project_id": "2203306141"}
Observation: [{'id': '7025500389', 'project_id': '2203306141', 'order': 1, 'content': 'Water the \
ferns', 'is_completed': False, 'priority': 2, 'due_date': '2024-05-30'}]
Thought: I move it to the third of June.
Action: update_task with Action Input: {"task_id": "7025500389", "due_date": "2024-06-03"}
Observation: {'message': 'Update the task successfully', 'task': {'id': '7025500389', \
'project_id': '2203306141', 'order': 1, 'content': 'Water the ferns', 'is_completed': False, \
'priority': 2, 'due_date': '2024-06-03'}}
Thought: That was all.
Action: finish with Action Input: {"answer": "done"}"""


class TodoListEnv(ToolEnv):
    """Answer questions about a to-do list and change it; see `ToolEnv` for the options."""

    name = "todolist"
    title = "TODOList"
    editions: ClassVar[Mapping[str, Edition]] = {
        "mini": Edition(15, "Jobs over invented accounts, written by us."),
        "official": Edition(15, "The published jobs over their one account.", False),
    }
    backends: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "mini": ("local", "live"),
        "official": ("local", "live"),
    }
    toolkit = TodoTools
    introduction = INTRODUCTION
    example = EXAMPLE
    service = SERVICE
    """Where the live backend's service is."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.introduction = INTRODUCTION + (KEPT if self._keeps_completed else TAKEN_OFF)  # type: ignore[misc]
        self._live: TodoistAccount | None = None
        self._read: tuple[Task, tuple[list[Project], list[Todo]]] | None = None
        if self.cassette is not None:
            self.cassette.stateful = True

    @classmethod
    def load_tasks(cls, edition: str, data_dir: str | None) -> TaskSet:
        """Return the task set of an edition."""
        return official_tasks(data_dir) if edition == "official" else mini_tasks()

    @property
    def _keeps_completed(self) -> bool:
        return self.edition != "official"

    def _open(self, task: Task) -> TodoTools:
        spec = task.spec
        account: Account
        if self.backend == "live":
            self._clear()
            self._live = account = TodoistAccount(
                spec["projects"],
                keeps_completed=self._keeps_completed,
                cassette=self.cassette,
                base_url=self.service,
            )
        else:
            account = self._fresh(task)
        return TodoTools(account, spec["today"], spec["location"])

    def _fresh(self, task: Task) -> LocalAccount:
        return LocalAccount(*self._written(task), self._keeps_completed)

    def _written(self, task: Task) -> tuple[list[Project], list[Todo]]:
        """Return the projects and tasks of a task, read once an episode."""
        if self._read is None or self._read[0] is not task:
            self._read = (task, read_projects(task.spec["projects"], task.spec["ids"]))
        return self._read[1]

    def _is_right(self, task: Task, arguments: Mapping[str, Any]) -> bool:
        """Return whether the answer is right and the account is as it was asked for."""
        if not accepts(task.spec["answer"], arguments.get("answer")):
            return False
        return same_content(self.account.content(), self._goal_content(task))

    def _reaches(self, subgoal: Any, name: str, arguments: Mapping[str, Any], result: Any) -> bool:
        """Return whether a call makes a change that is wanted."""
        if self.backend == "live":  # where ids are the service's own
            arguments = self._as_local(arguments)
        return super()._reaches(subgoal, name, arguments, result)

    @property
    def account(self) -> Account:
        """The account of the present episode."""
        assert isinstance(self.kit, TodoTools)
        return self.kit.account

    def _goal_content(self, task: Task) -> Content:
        if "goal_state" in task.spec:
            found: Content = task.spec["goal_state"]
            return found
        return goal_of(*self._written(task), task.spec["subgoals"])

    def _as_local(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        assert self.task is not None
        assert self._live is not None
        projects, todos = self._written(self.task)
        ids = self._live.ids_as([p.id for p in projects], [t.id for t in todos])
        return {key: ids.get(value, value) for key, value in arguments.items()}

    def _make_expert(self) -> Expert:
        assert self.task is not None
        if "job" not in self.task.spec:
            raise NotImplementedError(
                "TODOList's expert plays mini tasks; a published job is only text"
            )
        return PlanExpert(self, self._plan)

    def _plan(self) -> Plan:
        assert self.task is not None
        spec = self.task.spec
        untouched = same_content(self.account.content(), self._fresh(self.task).content())
        if untouched:
            answer = yield from BY_NAME[spec["job"]].plan(Finder(), spec["args"])
        else:  # somebody has moved in between: what is not yet right is put right
            goal = self._goal_content(self.task)
            for call, arguments in differences(self.account, goal):
                yield Move("This is not yet as it was asked for.", call, arguments)
            answer = value_of(spec["answer"])
        yield Move(self._last_thought(answer), "finish", {"answer": answer})

    @staticmethod
    def _last_thought(answer: Any) -> str:
        if answer == "done":
            return "All that was asked for is done."
        told = ", ".join(map(str, answer)) if isinstance(answer, list) else answer
        return f"That is all I need. The answer is: {told}."

    def _sample_arguments(self, chosen: Tool, rng: np.random.Generator) -> dict[str, Any]:
        """Draw ids that exist, and days around today."""
        assert self.task is not None
        drawn = super()._sample_arguments(chosen, rng)
        projects = self.account.projects()
        project = projects[int(rng.integers(len(projects)))]["id"]
        if "project_id" in drawn:
            drawn["project_id"] = project
        if "task_id" in drawn:
            tasks = self.account.tasks(project)
            if tasks:
                drawn["task_id"] = tasks[int(rng.integers(len(tasks)))]["id"]
        if "due_date" in drawn:
            day = np.datetime64(self.task.spec["today"]) + int(rng.integers(0, 30))
            drawn["due_date"] = str(day)
        return drawn

    def _clear(self) -> None:
        if self._live is not None:
            self._live.close()
            self._live = None

    def _close(self) -> None:
        self._clear()
        super()._close()
