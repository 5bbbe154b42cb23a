"""Changes under a condition: whatever meets it changes, and nothing else."""

from __future__ import annotations

from agentgym.core.draw import Draw
from agentgym.envs.todolist.account import Todo
from agentgym.envs.todolist.jobs.base import (
    DONE,
    SAY_DONE,
    Args,
    Done,
    Job,
    Settled,
    a_project,
    completing,
    deleting,
    favouring,
    finished,
    moving,
)
from agentgym.envs.todolist.jobs.changes import DONE_ANSWER
from agentgym.envs.todolist.jobs.finder import Finder
from agentgym.envs.todolist.jobs.in_account import (
    fullest,
    high_priority,
    overdue,
    shown_fullest,
)
from agentgym.envs.todolist.jobs.in_project import LongestOrShortest, by_length, shown_by_length
from agentgym.envs.todolist.jobs.which import draw_condition, fitting, held
from agentgym.envs.todolist.lives import World, fields, later, minutes

MOST_CHANGES = 4
"""How many changes a job over all projects asks for at most; the rounds have to suffice."""


class MoveOverdue(Job):
    """Move what is overdue in a project to tomorrow."""

    name = "move-overdue"
    level = "condition"
    frames = (
        f"Some tasks in {{project}} are overdue: they are not completed and were due before today. "
        f"Set their due dates to tomorrow. {SAY_DONE}",
        f"Please give every unfinished task in {{project}} that was due before today a new due "
        f"date, tomorrow. {SAY_DONE}",
    )

    def draw(self, world: World, draw: Draw) -> Args | None:
        """Draw a project in which something is overdue."""
        names = [p.name for p in world.projects if len(overdue(world, p.name)) > 1]
        names = names or [p.name for p in world.projects if overdue(world, p.name)]
        return {"project": draw.pick(names)} if names else None

    def settle(self, world: World, args: Args) -> Settled:
        """Return what is wanted tomorrow."""
        todos = overdue(world, args["project"])
        return Settled(DONE, tuple(moving(t, world.day(1)) for t in todos))

    def plan(self, find: Finder, args: Args) -> Done:
        """Ask for the day, read the list, move what is late."""
        yield from late_to_tomorrow(find, args["project"])
        return DONE_ANSWER


class MoveOverdueAnywhere(MoveOverdue):
    """Move whatever is overdue to a day."""

    name = "move-overdue-anywhere"
    frames = (
        f"Go through all my projects and move every unfinished task that was due before today to "
        f"today's date. {SAY_DONE}",
        f"Whatever is overdue in any project (unfinished and due before today) shall be due today. "
        f"Please change the dates. {SAY_DONE}",
    )

    def draw(self, world: World, draw: Draw) -> Args | None:
        """Draw an account in which a few tasks are overdue."""
        return {} if 1 < len(overdue(world)) <= MOST_CHANGES else None

    def settle(self, world: World, args: Args) -> Settled:
        """Return what is wanted today."""
        return Settled(DONE, tuple(moving(t, world.today) for t in overdue(world)))

    def plan(self, find: Finder, args: Args) -> Done:
        """Ask for the day, read every list, move what is late."""
        today = yield from find.today()
        for task in (yield from find.everywhere()):
            if task["due_date"] < today:
                yield from find.move(task, today)
        return DONE_ANSWER


class PostponeWhich(Job):
    """Postpone the unfinished tasks of a project that meet a condition."""

    name = "postpone-which"
    level = "condition"
    frames = (
        f"Postpone every unfinished task {{words}} in {{project}} by {{days}} days. {SAY_DONE}",
        f"In {{project}}, move all open tasks {{words}} back by {{days}} days, each counted from "
        f"its own due date. {SAY_DONE}",
    )

    def draw(self, world: World, draw: Draw) -> Args | None:
        """Draw a project and a condition that some, but not all, of its tasks meet."""
        args = which_in_project(world, draw)
        return args and {**args, "days": draw.between(2, 10)}

    def settle(self, world: World, args: Args) -> Settled:
        """Return what is wanted later."""
        todos = held(world, args, args["project"])
        moved = (moving(t, later(t.due_date, args["days"])) for t in todos)
        return Settled(DONE, tuple(moved))

    def plan(self, find: Finder, args: Args) -> Done:
        """Read the list and move what meets the condition."""
        for task in fitting((yield from find.open(args["project"])), args):
            yield from find.move(task, later(task["due_date"], args["days"]))
        return DONE_ANSWER


class PostponeAnywhere(PostponeWhich):
    """Postpone the unfinished tasks of all projects that meet a condition."""

    name = "postpone-anywhere"
    frames = (
        f"Postpone every unfinished task with {{level}} that is due in the {{span}} days "
        f"beginning with today by {{days}} days, in whatever project it is. "
        f"{SAY_DONE}",
        f"Look at today and the {{more}} days after it: all open tasks with {{level}} that "
        f"are due then, in any project, shall be due {{days}} days later than now. "
        f"{SAY_DONE}",
    )

    def draw(self, world: World, draw: Draw) -> Args | None:
        """Draw a span and a priority that a few tasks meet."""
        span = draw.between(4, 8)
        args = {
            "span": span,
            "more": span - 1,
            **high_priority(draw),
            "days": draw.between(2, 7),
        }
        return args if 1 < len(self._todos(world, args)) <= MOST_CHANGES else None

    def settle(self, world: World, args: Args) -> Settled:
        """Return what is wanted later."""
        todos = self._todos(world, args)
        return Settled(DONE, tuple(moving(t, later(t.due_date, args["days"])) for t in todos))

    def plan(self, find: Finder, args: Args) -> Done:
        """Ask for the day, read every list, and move what meets the condition."""
        today = yield from find.today()
        last = later(today, args["more"])
        for task in (yield from find.everywhere()):
            if task["priority"] >= args["priority"] and today <= task["due_date"] <= last:
                yield from find.move(task, later(task["due_date"], args["days"]))
        return DONE_ANSWER

    @staticmethod
    def _todos(world: World, args: Args) -> list[Todo]:
        last = world.day(args["more"])
        return [
            t
            for t in world.open()
            if world.today <= t.due_date <= last and t.priority >= args["priority"]
        ]


class CompleteWhich(PostponeWhich):
    """Complete the unfinished tasks of a project that meet a condition."""

    name = "complete-which"
    frames = (
        f"I have been busy: complete every unfinished task {{words}} in {{project}}. {SAY_DONE}",
        f"All open tasks {{words}} in {{project}} are done. Mark them as completed. {SAY_DONE}",
    )

    def settle(self, world: World, args: Args) -> Settled:
        """Return what is wanted completed."""
        return Settled(DONE, tuple(map(completing, held(world, args, args["project"]))))

    def plan(self, find: Finder, args: Args) -> Done:
        """Read the list and complete what meets the condition."""
        yield from find.complete(fitting((yield from find.open(args["project"])), args))
        return DONE_ANSWER


class DeleteWhich(PostponeWhich):
    """Delete the unfinished tasks of a project that meet a condition."""

    name = "delete-which"
    frames = (
        f"Delete every unfinished task {{words}} in {{project}}; completed ones stay. {SAY_DONE}",
        f"I will not get to the open tasks {{words}} in {{project}}. Delete them, but leave what "
        f"is completed. {SAY_DONE}",
    )

    def settle(self, world: World, args: Args) -> Settled:
        """Return what is wanted gone."""
        return Settled(DONE, tuple(map(deleting, held(world, args, args["project"]))))

    def plan(self, find: Finder, args: Args) -> Done:
        """Read the list and delete what meets the condition."""
        yield from find.delete(fitting((yield from find.open(args["project"])), args))
        return DONE_ANSWER


class DeleteCompleted(Job):
    """Delete the completed tasks of a project."""

    name = "delete-completed"
    level = "condition"
    frames = (
        f"Clean up {{project}}: delete the tasks that are completed. {SAY_DONE}",
        f"Please delete every completed task of {{project}} and nothing else. {SAY_DONE}",
    )

    def draw(self, world: World, draw: Draw) -> Args | None:
        """Draw a project with completed tasks and others."""
        names = [p.name for p in world.projects if finished(world, p.name)]
        names = [name for name in names if world.open(name)]
        return {"project": draw.pick(names)} if names else None

    def settle(self, world: World, args: Args) -> Settled:
        """Return what is wanted gone."""
        return Settled(DONE, tuple(map(deleting, finished(world, args["project"]))))

    def plan(self, find: Finder, args: Args) -> Done:
        """Read the list and delete what is completed."""
        rows = yield from find.tasks(args["project"])
        yield from find.delete([row for row in rows if row["is_completed"]])
        return DONE_ANSWER


class DeleteLong(Job):
    """Delete the unfinished tasks of low priority that take long."""

    name = "delete-long"
    level = "condition"
    frames = (
        f"Delete every unfinished task in {{project}} that has priority 1 or 2 and takes more than "
        f"{{limit}} minutes. {SAY_DONE}",
        f"I am short of time. Remove the open tasks of {{project}} with a priority below 3 that "
        f"take longer than {{limit}} minutes. {SAY_DONE}",
    )

    def draw(self, world: World, draw: Draw) -> Args | None:
        """Draw a project and a limit that some of its minor tasks exceed."""
        project, limit = a_project(world, draw, 3), draw.pick((30, 45, 60, 90, 120))
        if project is None:
            return None
        minor = [t for t in world.open(project) if t.priority < 3]
        long = [t for t in minor if minutes(t.duration) > limit]
        if not 0 < len(long) < len(minor):
            return None
        return {"project": project, "limit": limit}

    def settle(self, world: World, args: Args) -> Settled:
        """Return what is wanted gone."""
        todos = world.open(args["project"])
        long = [t for t in todos if t.priority < 3 and minutes(t.duration) > args["limit"]]
        return Settled(DONE, tuple(map(deleting, long)))

    def plan(self, find: Finder, args: Args) -> Done:
        """Read the list, ask for the durations of the minor tasks, delete the long ones."""
        minor = [t for t in (yield from find.open(args["project"])) if t["priority"] < 3]
        lengths = yield from find.all_minutes(minor)
        yield from find.delete(
            [t for t, length in zip(minor, lengths, strict=True) if length > args["limit"]]
        )
        return DONE_ANSWER


class CompleteByLength(LongestOrShortest):
    """Complete the unfinished task of a project that takes longest, or least long."""

    name = "complete-by-length"
    level = "condition"
    frames = (
        f"I have finished the open task in {{project}} that takes the {{most}} time. Mark it as "
        f"completed. {SAY_DONE}",
        f"Complete the unfinished task with the {{length}} duration in {{project}}. {SAY_DONE}",
    )

    def settle(self, world: World, args: Args) -> Settled:
        """Return that it is wanted completed."""
        todo = by_length(world.open(args["project"]), args["most"] == "most")
        assert todo is not None
        return Settled(DONE, (completing(todo),))

    def plan(self, find: Finder, args: Args) -> Done:
        """Ask for the duration of each open task, then complete the one."""
        yield from find.complete([(yield from shown_by_length(find, args))])
        return DONE_ANSWER


class MoveAtPlace(Job):
    """Move what takes place somewhere to one day."""

    name = "move-at-place"
    level = "condition"
    frames = (
        f'I go to "{{place}}" only once. Set the due date of every unfinished task in {{project}} '
        f"that has this place in its description to {{day}}. {SAY_DONE}",
        f"Check the descriptions in {{project}} and move all open tasks whose place is "
        f'"{{place}}" to {{day}}. {SAY_DONE}',
    )

    def draw(self, world: World, draw: Draw) -> Args | None:
        """Draw a project and a place that two or more, but not all, of its tasks have."""
        project = a_project(world, draw, 3)
        if project is None:
            return None
        places = [fields(t.description)["Place"] for t in world.open(project)]
        shared = [place for place in places if 1 < places.count(place) < len(places)]
        day = world.day(draw.between(28, 40))  # later than any task is due
        return {"project": project, "place": draw.pick(shared), "day": day} if shared else None

    def settle(self, world: World, args: Args) -> Settled:
        """Return what is wanted on that day."""
        todos = world.open(args["project"])
        there = [t for t in todos if fields(t.description)["Place"] == args["place"]]
        return Settled(DONE, tuple(moving(t, args["day"]) for t in there))

    def plan(self, find: Finder, args: Args) -> Done:
        """Read each description, then move what takes place there."""
        tasks = yield from find.open(args["project"])
        said = yield from find.all_described(tasks)
        for task, about in zip(tasks, said, strict=True):
            if about["Place"] == args["place"]:
                yield from find.move(task, args["day"])
        return DONE_ANSWER


class FavourFullest(Job):
    """Make the project with the most, or the fewest, unfinished tasks a favourite."""

    name = "favourite-fullest"
    level = "condition"
    frames = (
        f"Mark the project with the {{most}} unfinished tasks as a favourite. {SAY_DONE}",
        f"Find the project in which the {{most}} tasks are still open and make it a favourite. "
        f"{SAY_DONE}",
    )

    def draw(self, world: World, draw: Draw) -> Args | None:
        """Draw the most or the fewest, where one project has them and is no favourite."""
        most = draw.pick(("most", "fewest"))
        name = fullest(world, most)
        return {"most": most} if name and not world.by_name[name].is_favorite else None

    def settle(self, world: World, args: Args) -> Settled:
        """Return that it is wanted as a favourite."""
        name = fullest(world, args["most"])
        assert name is not None
        return Settled(DONE, (favouring(world.by_name[name], True),))

    def plan(self, find: Finder, args: Args) -> Done:
        """Count in every project, then mark the one."""
        yield from find.favour((yield from shown_fullest(find, args["most"])))
        return DONE_ANSWER


def which_in_project(world: World, draw: Draw) -> Args | None:
    """Return a project and a condition that two to four, but not all, of its tasks meet."""
    project, condition = a_project(world, draw, 3), draw_condition(world, draw)
    if project is None:
        return None
    count = len(held(world, condition, project))
    if not 1 < count < min(MOST_CHANGES + 1, len(world.open(project))):
        return None
    return {"project": project, **condition}


def late_to_tomorrow(find: Finder, project: str) -> Done:
    """Move what is overdue in a project to tomorrow; return how many there were."""
    today, day = (yield from find.today()), (yield from find.tomorrow())
    late = [row for row in (yield from find.open(project)) if row["due_date"] < today]
    for task in late:
        yield from find.move(task, day)
    return len(late)


CONDITIONAL = (
    MoveOverdue(),
    MoveOverdueAnywhere(),
    PostponeWhich(),
    PostponeAnywhere(),
    CompleteWhich(),
    DeleteWhich(),
    DeleteCompleted(),
    DeleteLong(),
    CompleteByLength(),
    MoveAtPlace(),
    FavourFullest(),
)
