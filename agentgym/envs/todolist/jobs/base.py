"""A kind of job: how one is drawn, said, settled from the account, and done by calls.

Every kind says the same thing twice, independently: `settle` reads the account as it was drawn and
says what the answer is and which changes are wanted; `plan` knows only what the functions return.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from agentgym.core.draw import Draw
from agentgym.envs.todolist.account import Project, Todo
from agentgym.envs.todolist.jobs.finder import Finder
from agentgym.envs.todolist.lives import World
from agentgym.envs.tools import Move
from agentgym.envs.tools.question import Spec

Args = Mapping[str, Any]
Done = Generator[Move, Any, Any]
"""A plan: yields moves, is sent what the functions return, and returns the answer."""

NUMBER = "Please answer with a number."
DATE = "Please answer with the date, YYYY-MM-DD."
TASK = "Please answer with the name of the task."
TASKS = "Please answer with a list of task names."
PROJECT = "Please answer with the name of the project."
YES_NO = "Please answer Yes or No."
SAY_DONE = "Answer 'done' when that is done."

DONE: Spec = {
    "text": "done",
    "also": ["all done", "it is done", "finished", "completed", "everything is done"],
}
"""What is to be answered where there was only something to do."""


class Change(NamedTuple):
    """A call that is wanted."""

    call: str
    arguments: Mapping[str, str]


class Settled(NamedTuple):
    """What `finish` must be given, and the changes that must have been made by then."""

    answer: Spec
    changes: tuple[Change, ...] = ()


class Job(ABC):
    """A kind of job."""

    name: ClassVar[str]
    level: ClassVar[str]
    """"look-up", "aggregate", "multi-hop", "change", "condition" (a change under a condition) or
    "both" (a change and an answer)."""
    frames: ClassVar[Sequence[str]]
    """Wordings, with the arguments in braces."""

    @abstractmethod
    def draw(self, world: World, draw: Draw) -> Args | None:
        """Return arguments drawn from the account, or None if there is no good job of the kind."""

    @abstractmethod
    def settle(self, world: World, args: Args) -> Settled:
        """Return the answer and the changes, computed from the account."""

    @abstractmethod
    def plan(self, find: Finder, args: Args) -> Done:
        """Do the job by calls and return the answer."""

    def ask(self, args: Args, draw: Draw) -> str:
        """Return the job in one of its wordings."""
        return draw.pick(self.frames).format(**args)


def completing(todo: Todo) -> Change:
    """Return the change that completes a task."""
    return Change("complete_task", {"task_id": todo.id})


def moving(todo: Todo, day: str) -> Change:
    """Return the change that gives a task another date."""
    return Change("update_task", {"task_id": todo.id, "due_date": day})


def deleting(todo: Todo) -> Change:
    """Return the change that deletes a task."""
    return Change("delete_task", {"task_id": todo.id})


def favouring(project: Project, favourite: bool) -> Change:
    """Return the change that makes a project a favourite, or no longer."""
    return Change("update_project", {"project_id": project.id, "is_favorite": str(favourite)})


def task_names(todos: Sequence[Todo]) -> Spec:
    """Return the spec of the names of tasks, in any order."""
    return {"list": [{"text": t.content} for t in todos], "ordered": False}


def a_project(world: World, draw: Draw, least: int = 2, most: int = 6) -> str | None:
    """Return the name of a project with so many unfinished tasks, or None."""
    names = [p.name for p in world.projects if least <= len(world.open(p.name)) <= most]
    return draw.pick(names) if names else None


def a_task(world: World, draw: Draw) -> dict[str, str]:
    """Return a task that is not completed and its project, by name."""
    todo = draw.pick(world.open())
    return {"task": todo.content, "project": project_of(world, todo)}


def project_of(world: World, todo: Todo) -> str:
    """Return the name of a task's project."""
    return next(p.name for p in world.projects if p.id == todo.project_id)


def the_task(world: World, args: Args) -> Todo:
    """Return the task that is named with its project."""
    return next(t for t in world.of(args["project"]) if t.content == args["task"])


def finished(world: World, project: str) -> list[Todo]:
    """Return the completed tasks of a project."""
    return [t for t in world.of(project) if t.is_completed]
