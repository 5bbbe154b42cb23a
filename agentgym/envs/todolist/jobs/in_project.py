"""Questions over one project: counts, lists, extremes, totals, and facts behind an extreme."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from agentgym.core.draw import Draw
from agentgym.envs.todolist.account import Todo
from agentgym.envs.todolist.jobs.base import (
    NUMBER,
    TASK,
    TASKS,
    Args,
    Done,
    Job,
    Settled,
    a_project,
    a_task,
    task_names,
    the_task,
)
from agentgym.envs.todolist.jobs.finder import Finder
from agentgym.envs.todolist.jobs.lookups import cost_in
from agentgym.envs.todolist.jobs.which import draw_condition, fitting, held
from agentgym.envs.todolist.lives import World, fields, minutes
from agentgym.envs.tools.question import number, text, top


class CountWhich(Job):
    """How many unfinished tasks of a project meet a condition?"""

    name = "count-which"
    level = "aggregate"
    frames: ClassVar[Sequence[str]] = (
        f"How many unfinished tasks {{words}} are there in {{project}}? {NUMBER}",
        f"Count the tasks {{words}} in {{project}} that I have not completed yet. {NUMBER}",
        f"In {{project}}, how many open tasks are there {{words}}? {NUMBER}",
    )

    def draw(self, world: World, draw: Draw) -> Args | None:
        """Draw a project and a condition that some, but not all, of its tasks meet."""
        project, condition = a_project(world, draw, 3), draw_condition(world, draw)
        if project is None or not 0 < len(held(world, condition, project)) < len(
            world.open(project)
        ):
            return None
        return {"project": project, **condition}

    def settle(self, world: World, args: Args) -> Settled:
        """Return how many."""
        return Settled(number(len(held(world, args, args["project"]))))

    def plan(self, find: Finder, args: Args) -> Done:
        """Read the project's list."""
        return len(fitting((yield from find.open(args["project"])), args))


class ListWhich(CountWhich):
    """Which unfinished tasks of a project meet a condition?"""

    name = "list-which"
    frames = (
        f"Which unfinished tasks {{words}} are there in {{project}}? {TASKS}",
        f"List the tasks {{words}} in {{project}} that I have not completed yet. {TASKS}",
        f"Which open tasks {{words}} does the project {{project}} hold? {TASKS}",
    )

    def settle(self, world: World, args: Args) -> Settled:
        """Return which."""
        return Settled(task_names(held(world, args, args["project"])))

    def plan(self, find: Finder, args: Args) -> Done:
        """Read the project's list."""
        rows = fitting((yield from find.open(args["project"])), args)
        return [row["content"] for row in rows]


class FirstOrLast(Job):
    """Which unfinished task of a project is due first, or last?"""

    name = "first-or-last"
    level = "aggregate"
    frames: ClassVar[Sequence[str]] = (
        f"Which unfinished task in {{project}} is due {{end}}? {TASK}",
        f"Of the open tasks in {{project}}, which has the {{date}} due date? {TASK}",
        f"I look at {{project}} and leave out what is completed: which task is due {{end}}? {TASK}",
    )

    def draw(self, world: World, draw: Draw) -> Args | None:
        """Draw a project in which one task alone is due first, or last."""
        project, end = a_project(world, draw, 3), draw.pick(("first", "last"))
        if project is None or extreme(world.open(project), end) is None:
            return None
        return {
            "project": project,
            "end": end,
            "date": "earliest" if end == "first" else "latest",
        }

    def settle(self, world: World, args: Args) -> Settled:
        """Return the task."""
        todo = extreme(world.open(args["project"]), args["end"])
        assert todo is not None
        return Settled(text(todo.content))

    def plan(self, find: Finder, args: Args) -> Done:
        """Read the project's list."""
        rows = yield from find.open(args["project"])
        return shown_extreme(rows, args["end"])["content"]


class BehindFirst(FirstOrLast):
    """What does the description of the task that is due first, or last, say?"""

    name = "place-of-first"
    level = "multi-hop"
    frames = (
        "Where does the unfinished task in {project} that is due {end} take place?",
        "I want to start with the open task of {project} that has the {date} due date. Where do I "
        "have to go for it?",
    )

    def settle(self, world: World, args: Args) -> Settled:
        """Return its place."""
        todo = extreme(world.open(args["project"]), args["end"])
        assert todo is not None
        return Settled(text(fields(todo.description)["Place"]))

    def plan(self, find: Finder, args: Args) -> Done:
        """Find the task, then read its description."""
        rows = yield from find.open(args["project"])
        task = shown_extreme(rows, args["end"])
        return (yield from find.described(task))["Place"]


class MinutesOfFirst(FirstOrLast):
    """How long does the task that is due first, or last, take?"""

    name = "minutes-of-first"
    level = "multi-hop"
    frames = (
        f"How many minutes does the unfinished task in {{project}} that is due {{end}} take? "
        f"{NUMBER}",
        f"How long, in minutes, do I need for the open task of {{project}} with the {{date}} due "
        f"date? {NUMBER}",
    )

    def settle(self, world: World, args: Args) -> Settled:
        """Return its minutes."""
        todo = extreme(world.open(args["project"]), args["end"])
        assert todo is not None
        return Settled(number(minutes(todo.duration)))

    def plan(self, find: Finder, args: Args) -> Done:
        """Find the task, then ask how long it takes."""
        rows = yield from find.open(args["project"])
        return (yield from find.minutes(shown_extreme(rows, args["end"])))


class LongestOrShortest(Job):
    """Which unfinished task of a project takes longest, or least long?"""

    name = "longest-or-shortest"
    level = "aggregate"
    frames = (
        f"Which unfinished task in {{project}} takes the {{most}} time? {TASK}",
        f"Of what is still open in {{project}}, which task has the {{length}} duration? {TASK}",
    )

    def draw(self, world: World, draw: Draw) -> Args | None:
        """Draw a project in which one task alone takes longest, or least long."""
        project, longest = a_project(world, draw, 2, 6), draw.chance(0.5)
        if project is None or by_length(world.open(project), longest) is None:
            return None
        most, length = ("most", "longest") if longest else ("least", "shortest")
        return {"project": project, "most": most, "length": length}

    def settle(self, world: World, args: Args) -> Settled:
        """Return the task."""
        todo = by_length(world.open(args["project"]), args["most"] == "most")
        assert todo is not None
        return Settled(text(todo.content))

    def plan(self, find: Finder, args: Args) -> Done:
        """Ask for the duration of each open task."""
        task = yield from shown_by_length(find, args)
        return task["content"]


class TotalMinutes(CountWhich):
    """How long do the unfinished tasks of a project that meet a condition take together?"""

    name = "total-minutes"
    frames = (
        f"How many minutes do the unfinished tasks {{words}} in {{project}} take in total? "
        f"{NUMBER}",
        f"If I did all open tasks {{words}} in {{project}}, how many minutes would that take? "
        f"{NUMBER}",
    )

    def settle(self, world: World, args: Args) -> Settled:
        """Return the sum."""
        todos = held(world, args, args["project"])
        return Settled(number(sum(minutes(t.duration) for t in todos)))

    def plan(self, find: Finder, args: Args) -> Done:
        """Pick the tasks from the list, then ask for the duration of each."""
        tasks = fitting((yield from find.open(args["project"])), args)
        return sum((yield from find.all_minutes(tasks)))


class TotalCost(Job):
    """What do the unfinished tasks of a project cost together?"""

    name = "total-cost"
    level = "multi-hop"
    frames = (
        f"What do the unfinished tasks in {{project}} cost together? {NUMBER}",
        f"How much money do I still need for {{project}}, if I add up the costs in the "
        f"descriptions of the tasks that are not completed? {NUMBER}",
        f"Add up the costs of everything that is still open in {{project}}. {NUMBER}",
    )

    def draw(self, world: World, draw: Draw) -> Args | None:
        """Draw a project whose tasks all have a cost."""
        names = [
            p.name
            for p in world.projects
            if len(world.open(p.name)) > 1
            and all("Cost" in fields(t.description) for t in world.of(p.name))
        ]
        return {"project": draw.pick(names)} if names else None

    def settle(self, world: World, args: Args) -> Settled:
        """Return the sum."""
        said = (fields(t.description)["Cost"] for t in world.open(args["project"]))
        return Settled(number(sum(map(cost_in, said))))

    def plan(self, find: Finder, args: Args) -> Done:
        """Read the description of each open task."""
        said = yield from find.all_described((yield from find.open(args["project"])))
        return sum(cost_in(about["Cost"]) for about in said)


class LongerOfTwo(Job):
    """Which of two tasks takes longer?"""

    name = "longer-of-two"
    level = "multi-hop"
    frames = (
        f'Which takes longer, "{{task}}" from {{project}} or "{{other}}" from {{elsewhere}}? '
        f"{TASK}",
        f'I have time for the {{shorter}} of two tasks: "{{task}}" ({{project}}) and "{{other}}" '
        f"({{elsewhere}}). Which is it? {TASK}",
    )

    def draw(self, world: World, draw: Draw) -> Args | None:
        """Draw two tasks of two projects that do not take the same time."""
        one, two = a_task(world, draw), a_task(world, draw)
        first, second = the_task(world, one), the_task(world, two)
        if first.project_id == second.project_id or first.duration == second.duration:
            return None
        longer = draw.chance(0.5)
        return {
            **one,
            "other": two["task"],
            "elsewhere": two["project"],
            "shorter": "longer" if longer else "shorter",
        }

    def ask(self, args: Args, draw: Draw) -> str:
        """Return the wording for the longer or the shorter one."""
        if args["shorter"] == "longer":
            return self.frames[0].format(**args)
        return self.frames[1].format(**args)

    def settle(self, world: World, args: Args) -> Settled:
        """Return the task."""
        other = {"task": args["other"], "project": args["elsewhere"]}
        todos = (the_task(world, args), the_task(world, other))
        ranked = sorted(todos, key=lambda t: minutes(t.duration))
        return Settled(text(ranked[-1 if args["shorter"] == "longer" else 0].content))

    def plan(self, find: Finder, args: Args) -> Done:
        """Find both, then ask how long each takes."""
        one = yield from find.task(args["task"], args["project"])
        two = yield from find.task(args["other"], args["elsewhere"])
        first, second = (yield from find.minutes(one)), (yield from find.minutes(two))
        return (one if (first > second) == (args["shorter"] == "longer") else two)["content"]


class SamePlace(Job):
    """How many unfinished tasks of a project take place somewhere?"""

    name = "at-place"
    level = "multi-hop"
    frames = (
        f'How many unfinished tasks in {{project}} have "{{place}}" as their place? {NUMBER}',
        f'I will be at "{{place}}" today. How many open tasks of {{project}} could I do there, '
        f"going by the places in their descriptions? {NUMBER}",
    )

    def draw(self, world: World, draw: Draw) -> Args | None:
        """Draw a project and the place of one of its open tasks."""
        project = a_project(world, draw, 3)
        if project is None:
            return None
        places = [fields(t.description)["Place"] for t in world.open(project)]
        return {"project": project, "place": draw.pick(places)} if len(set(places)) > 1 else None

    def settle(self, world: World, args: Args) -> Settled:
        """Return how many."""
        places = [fields(t.description)["Place"] for t in world.open(args["project"])]
        return Settled(number(places.count(args["place"])))

    def plan(self, find: Finder, args: Args) -> Done:
        """Read the description of each open task."""
        said = yield from find.all_described((yield from find.open(args["project"])))
        return sum(about["Place"] == args["place"] for about in said)


class InMyCity(Job):
    """Which unfinished tasks of a project can be done where the user is?"""

    name = "in-my-city"
    level = "multi-hop"
    frames = (
        f"Which unfinished tasks of {{project}} can I do in the city where I am now? {TASKS}",
        f"As I am in this city anyway: which open tasks in {{project}} have to be done here? "
        f"{TASKS}",
    )

    def draw(self, world: World, draw: Draw) -> Args | None:
        """Draw a project whose tasks name cities, one of them the user's."""
        for project in world.projects:
            cities = [fields(t.description).get("City") for t in world.open(project.name)]
            if world.location in cities and None not in cities and len(set(cities)) > 1:
                return {"project": project.name}
        return None

    def settle(self, world: World, args: Args) -> Settled:
        """Return which."""
        todos = world.open(args["project"])
        here = [t for t in todos if fields(t.description)["City"] == world.location]
        return Settled(task_names(here))

    def plan(self, find: Finder, args: Args) -> Done:
        """Ask where the user is, then read the description of each open task."""
        city = yield from find.city()
        tasks = yield from find.open(args["project"])
        said = yield from find.all_described(tasks)
        pairs = zip(tasks, said, strict=True)
        return [task["content"] for task, about in pairs if about["City"] == city]


def extreme(todos: list[Todo], end: str) -> Todo | None:
    """Return the task that is due first or last, or None where several are."""
    key = top({t.id: int(t.due_date.replace("-", "")) * (-1, 1)[end == "last"] for t in todos})
    return next((t for t in todos if t.id == key), None)


def shown_extreme(rows: list[dict[str, Any]], end: str) -> dict[str, Any]:
    """Return the shown task that is due first or last."""
    ranked = sorted(rows, key=lambda row: str(row["due_date"]))
    return ranked[0 if end == "first" else -1]


def by_length(todos: list[Todo], longest: bool) -> Todo | None:
    """Return the task that takes longest or least long, or None where several do."""
    key = top({t.id: minutes(t.duration) * (1 if longest else -1) for t in todos})
    return next((t for t in todos if t.id == key), None)


def shown_by_length(find: Finder, args: Args) -> Done:
    """Return the open task of a project that takes longest or least long."""
    tasks = yield from find.open(args["project"])
    lengths = yield from find.all_minutes(tasks)
    length = max(lengths) if args["most"] == "most" else min(lengths)
    return tasks[lengths.index(length)]


IN_PROJECT = (
    CountWhich(),
    ListWhich(),
    FirstOrLast(),
    BehindFirst(),
    MinutesOfFirst(),
    LongestOrShortest(),
    TotalMinutes(),
    TotalCost(),
    LongerOfTwo(),
    SamePlace(),
    InMyCity(),
)
