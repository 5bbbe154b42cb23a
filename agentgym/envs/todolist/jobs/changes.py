"""Single changes: one task completed, moved or deleted, one project made a favourite."""

from __future__ import annotations

from collections.abc import Mapping

from agentgym.core.draw import Draw
from agentgym.envs.todolist.jobs.base import (
    DONE,
    SAY_DONE,
    Args,
    Done,
    Job,
    Settled,
    a_project,
    a_task,
    completing,
    deleting,
    favouring,
    moving,
    project_of,
    the_task,
)
from agentgym.envs.todolist.jobs.finder import Finder
from agentgym.envs.todolist.lives import World, fields, later

DONE_ANSWER = "done"

TELLING: Mapping[str, str] = {
    "With": (
        f"In {{project}} there is one unfinished task that I was going to do with {{value}}. "
        f"We did it, so mark it as completed. {SAY_DONE}"
    ),
    "Contact": (
        f"I got hold of {{value}} and settled the one open task in {{project}} that names them "
        f"as the contact. Complete it. {SAY_DONE}"
    ),
    "Bring": (
        f"One open task in {{project}} says that I have to bring {{value}}. That one is done; "
        f"tick it off. {SAY_DONE}"
    ),
    "Place": (
        f'I have been at "{{value}}" and done the one unfinished task of {{project}} that takes '
        f"place there. Mark it as completed. {SAY_DONE}"
    ),
}
"""How a task is told by a line of its description."""


class Complete(Job):
    """Complete a task."""

    name = "complete"
    level = "change"
    frames = (
        f'I have just finished "{{task}}" in {{project}}. Please mark it as completed. {SAY_DONE}',
        f'Tick off "{{task}}", a task of {{project}}. {SAY_DONE}',
        f'"{{task}}" ({{project}}) is behind me, so set it to completed. {SAY_DONE}',
    )

    def draw(self, world: World, draw: Draw) -> Args | None:
        """Draw a task."""
        return a_task(world, draw)

    def settle(self, world: World, args: Args) -> Settled:
        """Return that it is wanted completed."""
        return Settled(DONE, (completing(the_task(world, args)),))

    def plan(self, find: Finder, args: Args) -> Done:
        """Find it and complete it."""
        yield from find.complete([(yield from find.task(args["task"], args["project"]))])
        return DONE_ANSWER


class Delete(Job):
    """Delete a task."""

    name = "delete"
    level = "change"
    frames = (
        f'I no longer need to do "{{task}}" in {{project}}. Please delete it. {SAY_DONE}',
        f'Remove the task "{{task}}" from {{project}}. {SAY_DONE}',
        f'"{{task}}" ({{project}}) has been called off; delete the task. {SAY_DONE}',
    )

    def draw(self, world: World, draw: Draw) -> Args | None:
        """Draw a task."""
        return a_task(world, draw)

    def settle(self, world: World, args: Args) -> Settled:
        """Return that it is wanted gone."""
        return Settled(DONE, (deleting(the_task(world, args)),))

    def plan(self, find: Finder, args: Args) -> Done:
        """Find it and delete it."""
        yield from find.delete([(yield from find.task(args["task"], args["project"]))])
        return DONE_ANSWER


class MoveTo(Job):
    """Give a task another date."""

    name = "move-to"
    level = "change"
    frames = (
        f'I will not manage "{{task}}" in {{project}} in time. Set its due date to {{day}}. '
        f"{SAY_DONE}",
        f'Please move "{{task}}" ({{project}}) to {{day}}. {SAY_DONE}',
        f'The new deadline of "{{task}}", a task of {{project}}, is {{day}}. Change it. {SAY_DONE}',
    )

    def draw(self, world: World, draw: Draw) -> Args | None:
        """Draw a task and a day that it is not due on."""
        args = {**a_task(world, draw), "day": world.day(draw.between(5, 40))}
        return args if the_task(world, args).due_date != args["day"] else None

    def settle(self, world: World, args: Args) -> Settled:
        """Return that it is wanted on that day."""
        return Settled(DONE, (moving(the_task(world, args), args["day"]),))

    def plan(self, find: Finder, args: Args) -> Done:
        """Find it and move it."""
        yield from find.move((yield from find.task(args["task"], args["project"])), args["day"])
        return DONE_ANSWER


class MoveBy(Job):
    """Move a task by some days."""

    name = "move-by"
    level = "change"
    frames = (
        f'Postpone "{{task}}" in {{project}} by {{days}} days. {SAY_DONE}',
        f'I need {{days}} more days for "{{task}}" ({{project}}). Please change its due date. '
        f"{SAY_DONE}",
    )

    def draw(self, world: World, draw: Draw) -> Args | None:
        """Draw a task and a number of days."""
        return {**a_task(world, draw), "days": draw.between(2, 14)}

    def settle(self, world: World, args: Args) -> Settled:
        """Return that it is wanted so many days later."""
        todo = the_task(world, args)
        return Settled(DONE, (moving(todo, later(todo.due_date, args["days"])),))

    def plan(self, find: Finder, args: Args) -> Done:
        """Find it and count on from its date."""
        task = yield from find.task(args["task"], args["project"])
        yield from find.move(task, later(task["due_date"], args["days"]))
        return DONE_ANSWER


class Favour(Job):
    """Make a project a favourite, or no longer."""

    name = "favourite"
    level = "change"
    frames = (
        f"Please mark the project {{project}} as a favourite. {SAY_DONE}",
        f"Add {{project}} to my favourite projects. {SAY_DONE}",
        f"Please remove {{project}} from my favourite projects. {SAY_DONE}",
        f"{{project}} should no longer be a favourite project. {SAY_DONE}",
    )

    def draw(self, world: World, draw: Draw) -> Args | None:
        """Draw a project; its mark is to be turned round."""
        project = draw.pick(world.projects)
        return {"project": project.name, "favourite": not project.is_favorite}

    def ask(self, args: Args, draw: Draw) -> str:
        """Return the wording for adding or removing the mark."""
        frames = self.frames[:2] if args["favourite"] else self.frames[2:]
        return draw.pick(frames).format(**args)

    def settle(self, world: World, args: Args) -> Settled:
        """Return that its mark is wanted turned round."""
        project = world.by_name[args["project"]]
        return Settled(DONE, (favouring(project, args["favourite"]),))

    def plan(self, find: Finder, args: Args) -> Done:
        """Find it and set its mark."""
        yield from find.favour((yield from find.project(args["project"])), args["favourite"])
        return DONE_ANSWER


class FavourHolding(Job):
    """Make the project that holds a task a favourite."""

    name = "favourite-holding"
    level = "condition"
    frames = (
        f'Mark the project that contains the task "{{task}}" as a favourite. {SAY_DONE}',
        f'Somewhere I have the task "{{task}}". Make its project a favourite. {SAY_DONE}',
    )

    def draw(self, world: World, draw: Draw) -> Args | None:
        """Draw a task of a project that is no favourite."""
        plain = {p.id for p in world.projects if not p.is_favorite}
        todos = [t for t in world.todos if t.project_id in plain]
        return {"task": draw.pick(todos).content} if todos else None

    def settle(self, world: World, args: Args) -> Settled:
        """Return that its project is wanted as a favourite."""
        todo = next(t for t in world.todos if t.content == args["task"])
        return Settled(DONE, (favouring(world.by_name[project_of(world, todo)], True),))

    def plan(self, find: Finder, args: Args) -> Done:
        """Look for it, project by project, and mark the one that holds it."""
        project, _ = yield from find.holding(args["task"])
        yield from find.favour(project)
        return DONE_ANSWER


class CompleteDescribed(Job):
    """Complete the one task whose description says something."""

    name = "complete-described"
    level = "condition"
    frames = ()

    def draw(self, world: World, draw: Draw) -> Args | None:
        """Draw a line of a description that no other open task of its project has."""
        project, key = a_project(world, draw), draw.pick(list(TELLING))
        if project is None:
            return None
        said = [fields(t.description).get(key) for t in world.open(project)]
        alone = [value for value in said if value is not None and said.count(value) == 1]
        return {"project": project, "key": key, "value": draw.pick(alone)} if alone else None

    def ask(self, args: Args, draw: Draw) -> str:
        """Return the wording for the line."""
        return TELLING[args["key"]].format(**args)

    def settle(self, world: World, args: Args) -> Settled:
        """Return that the task is wanted completed."""
        todo = next(
            t
            for t in world.open(args["project"])
            if fields(t.description).get(args["key"]) == args["value"]
        )
        return Settled(DONE, (completing(todo),))

    def plan(self, find: Finder, args: Args) -> Done:
        """Read descriptions until one says it."""
        rows = yield from find.open(args["project"])
        yield from find.complete([(yield from find.saying(rows, args["key"], args["value"]))])
        return DONE_ANSWER


CHANGES = (
    Complete(),
    Delete(),
    MoveTo(),
    MoveBy(),
    Favour(),
    FavourHolding(),
    CompleteDescribed(),
)
