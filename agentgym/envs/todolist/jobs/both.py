"""Jobs that want a change and an answer."""

from __future__ import annotations

from agentgym.core.draw import Draw
from agentgym.envs.todolist.jobs.base import (
    NUMBER,
    PROJECT,
    TASK,
    Args,
    Done,
    Job,
    Settled,
    completing,
    deleting,
    favouring,
    finished,
    moving,
    project_of,
)
from agentgym.envs.todolist.jobs.conditional import (
    DeleteCompleted,
    FavourFullest,
    MoveOverdue,
    late_to_tomorrow,
)
from agentgym.envs.todolist.jobs.finder import Finder
from agentgym.envs.todolist.jobs.in_account import fullest, overdue, shown_fullest
from agentgym.envs.todolist.jobs.in_project import extreme, shown_extreme
from agentgym.envs.todolist.lives import World, minutes
from agentgym.envs.tools.question import number, text


class CompleteThenNext(Job):
    """Complete a task and say which one of its project comes next."""

    name = "complete-then-next"
    level = "both"
    frames = (
        f'I have done "{{task}}" in {{project}}. Mark it as completed and tell me which of the '
        f"unfinished tasks left in that project is due first. {TASK}",
        f'Tick off "{{task}}" ({{project}}). What is due next in this project, among the tasks '
        f"that are then still open? {TASK}",
    )

    def draw(self, world: World, draw: Draw) -> Args | None:
        """Draw a task of a project in which one of the others alone is due first."""
        todo = draw.pick(world.open())
        project = project_of(world, todo)
        rest = [t for t in world.open(project) if t != todo]
        if len(rest) < 2 or extreme(rest, "first") is None:
            return None
        return {"task": todo.content, "project": project}

    def settle(self, world: World, args: Args) -> Settled:
        """Return the task that is next, and that the other is wanted completed."""
        todos = world.open(args["project"])
        done = next(t for t in todos if t.content == args["task"])
        left = extreme([t for t in todos if t != done], "first")
        assert left is not None
        return Settled(text(left.content), (completing(done),))

    def plan(self, find: Finder, args: Args) -> Done:
        """Find it in the list, complete it, and look at the rest of the list."""
        rows = yield from find.open(args["project"])
        yield from find.complete([row for row in rows if row["content"] == args["task"]])
        rest = [row for row in rows if row["content"] != args["task"]]
        return shown_extreme(rest, "first")["content"]


class MoveThenCount(MoveOverdue):
    """Move what is overdue in a project to tomorrow and say how much it was."""

    name = "move-then-count"
    level = "both"
    frames = (
        f"Set the due date of every overdue task in {{project}} (unfinished and due before today) "
        f"to tomorrow, and tell me how many there were. {NUMBER}",
        f"What is overdue in {{project}}, that is, due before today and not completed, shall be "
        f"due tomorrow. How many tasks did you have to move? {NUMBER}",
    )

    def settle(self, world: World, args: Args) -> Settled:
        """Return how many, and what is wanted tomorrow."""
        todos = overdue(world, args["project"])
        return Settled(number(len(todos)), tuple(moving(t, world.day(1)) for t in todos))

    def plan(self, find: Finder, args: Args) -> Done:
        """Ask for the day, read the list, move what is late."""
        return (yield from late_to_tomorrow(find, args["project"]))


class DeleteThenLeft(DeleteCompleted):
    """Delete the completed tasks of a project and say how many are left."""

    name = "delete-then-left"
    level = "both"
    frames = (
        f"Delete the completed tasks of {{project}} and tell me how many tasks remain in it. "
        f"{NUMBER}",
        f"Clear away what is completed in {{project}}. How many tasks does the project have after "
        f"that? {NUMBER}",
    )

    def settle(self, world: World, args: Args) -> Settled:
        """Return how many are left, and what is wanted gone."""
        gone = tuple(map(deleting, finished(world, args["project"])))
        return Settled(number(len(world.open(args["project"]))), gone)

    def plan(self, find: Finder, args: Args) -> Done:
        """Read the list, delete what is completed, count the rest."""
        rows = yield from find.tasks(args["project"])
        done = [row for row in rows if row["is_completed"]]
        yield from find.delete(done)
        return len(rows) - len(done)


class DeleteThenMinutes(DeleteCompleted):
    """Delete the completed tasks of a project and say how long the others take."""

    name = "delete-then-minutes"
    level = "both"
    frames = (
        f"Delete the completed tasks of {{project}} and tell me how many minutes the remaining "
        f"ones take together. {NUMBER}",
        f"Clean {{project}} of completed tasks, then add up the durations of those that are left. "
        f"How many minutes is that? {NUMBER}",
    )

    def settle(self, world: World, args: Args) -> Settled:
        """Return the sum, and what is wanted gone."""
        gone = tuple(map(deleting, finished(world, args["project"])))
        total = sum(minutes(t.duration) for t in world.open(args["project"]))
        return Settled(number(total), gone)

    def plan(self, find: Finder, args: Args) -> Done:
        """Read the list, delete what is completed, ask for the durations of the rest."""
        rows = yield from find.tasks(args["project"])
        yield from find.delete([row for row in rows if row["is_completed"]])
        left = [row for row in rows if not row["is_completed"]]
        return sum((yield from find.all_minutes(left)))


class FavourThenName(FavourFullest):
    """Make the project with the most, or the fewest, unfinished tasks a favourite; name it."""

    name = "favourite-then-name"
    level = "both"
    frames = (
        f"Mark the project with the {{most}} unfinished tasks as a favourite and tell me which one "
        f"it is. {PROJECT}",
        f"Which project has the {{most}} open tasks? Make it a favourite as well. {PROJECT}",
    )

    def settle(self, world: World, args: Args) -> Settled:
        """Return the project, and that it is wanted as a favourite."""
        name = fullest(world, args["most"])
        assert name is not None
        return Settled(text(name), (favouring(world.by_name[name], True),))

    def plan(self, find: Finder, args: Args) -> Done:
        """Count in every project, then mark the one."""
        project = yield from shown_fullest(find, args["most"])
        yield from find.favour(project)
        return project["name"]


BOTH = (
    CompleteThenNext(),
    MoveThenCount(),
    DeleteThenLeft(),
    DeleteThenMinutes(),
    FavourThenName(),
)
