"""The functions: look projects and tasks up, and change them.

Names, parameters, returned fields and messages are the published ones. A completed task can be
read and deleted; it cannot be completed again or be given another date.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from agentgym.envs.todolist.account import Account, LocalAccount
from agentgym.envs.tools import Date, Reply, Tools, tool

Id = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=100),
    Field(examples=["2203306141", "7025500389"]),
]


class TodoTools(Tools):
    """The functions over one account.

    Args:
        account: the projects and tasks.
        today: the user's current date, YYYY-MM-DD.
        location: the user's current city.
    """

    def __init__(self, account: Account, today: str, location: str) -> None:
        self.account, self.today, self.location = account, today, location

    def save(self) -> Any:
        """Return what has changed, or None where the account is at the service."""
        return self.account.save() if isinstance(self.account, LocalAccount) else None

    def load(self, saved: Any) -> None:
        """Restore what `save` returned.

        Raises:
            InvalidState: if it cannot have come from `save`.
        """
        assert isinstance(self.account, LocalAccount)
        self.account.load(saved)

    @tool
    def get_user_current_date(self) -> Any:
        """Tell the user's current date.

        Returns:
            the date, YYYY-MM-DD
        """
        return self.today

    @tool
    def get_user_current_location(self) -> Any:
        """Tell the user's current city.

        Returns:
            the name of the city
        """
        return self.location

    @tool
    def get_projects(self) -> Any:
        """List all projects.

        Returns:
            the projects, each with id, order, color, name and is_favorite
        """
        return self.account.projects()

    @tool
    def update_project(self, project_id: Id, is_favorite: Literal["True", "False"]) -> Any:
        """Mark a project as a favourite, or no longer.

        Args:
            project_id: the project's id, as get_projects gives it
            is_favorite: whether it becomes a favourite

        Returns:
            a message and the updated project
        """
        project = self.account.set_favourite(project_id, is_favorite == "True")
        return {"message": "Update the project successfully.", "project": project}

    @tool
    def get_tasks(self, project_id: Id) -> Any:
        """List all tasks of a project.

        Args:
            project_id: the project's id, as get_projects gives it

        Returns:
            the tasks, each with id, project_id, order, content (its name), is_completed, priority \
(from 1, normal, to 4, urgent) and due_date
        """
        return self.account.tasks(project_id)

    @tool
    def get_task_description(self, task_id: Id) -> Any:
        """Tell the description of a task: its place, what it needs, and so on.

        Args:
            task_id: the task's id, as get_tasks gives it

        Returns:
            id, content and description
        """
        found = self.account.details(task_id)
        return {"id": task_id, "content": found["content"], "description": found["description"]}

    @tool
    def get_task_duration(self, task_id: Id) -> Any:
        """Tell how long a task takes.

        Args:
            task_id: the task's id, as get_tasks gives it

        Returns:
            id, content and duration, written as amount(unit)
        """
        found = self.account.details(task_id)
        return {"id": task_id, "content": found["content"], "duration": found["duration"]}

    @tool
    def complete_task(self, task_id: Id) -> Any:
        """Mark a task as completed.

        Args:
            task_id: the task's id, as get_tasks gives it

        Returns:
            a message and the completed task
        """
        task = self.account.task(task_id)
        self.account.complete(task_id)
        del task["is_completed"]
        return {"message": "Complete task successfully.", "task": task}

    @tool
    def update_task(self, task_id: Id, due_date: Date) -> Any:
        """Change the due date of a task.

        Args:
            task_id: the task's id, as get_tasks gives it
            due_date: the new due date, YYYY-MM-DD

        Returns:
            a message and the updated task
        """
        self.account.set_due(task_id, due_date)
        return {"message": "Update the task successfully", "task": self.account.task(task_id)}

    @tool
    def delete_task(self, task_id: Id) -> Any:
        """Delete a task.

        Args:
            task_id: the task's id, as get_tasks gives it

        Returns:
            a message and the deleted task
        """
        task = self.account.task(task_id)
        self.account.delete(task_id)
        return {"message": "Delete the task successfully.", "task": task}

    @tool
    def check_valid_actions(self) -> Any:
        """List the functions that can be called.

        Returns:
            the names of all functions
        """
        return list(self.catalogue)

    @tool(ends=True)
    def finish(self, answer: Reply) -> Any:
        """End the task: the question is answered, and everything that was to be done is done.

        Args:
            answer: the answer, in the form the goal asks for; 'done' where there was only \
something to do
        """
        return answer
