"""Single look-ups: one fact of one task or project."""

from __future__ import annotations

from collections.abc import Mapping

from agentgym.core.draw import Draw
from agentgym.envs.todolist.jobs.base import (
    DATE,
    NUMBER,
    PROJECT,
    Args,
    Done,
    Job,
    Settled,
    a_task,
    project_of,
    the_task,
)
from agentgym.envs.todolist.jobs.finder import Finder
from agentgym.envs.todolist.lives import World, fields, minutes
from agentgym.envs.tools.question import listed, number, text

ASKING: Mapping[str, tuple[str, ...]] = {
    "Place": (
        'Where does "{task}" in {project} take place?',
        'I forgot where I have to be for "{task}" ({project}). What does the description say?',
    ),
    "Bring": (
        'What do I have to bring for "{task}" in {project}?',
        'I am packing my things for "{task}", a task of {project}. What was I going to bring?',
    ),
    "With": (
        'With whom did I want to do "{task}" from {project}?',
        'Who joins me for "{task}" in the project {project}?',
    ),
    "Contact": (
        'Whom do I contact for "{task}" in {project}?',
        'Who is the contact for my task "{task}" ({project})?',
    ),
    "Textbook": (
        'Which textbook do I need for "{task}" in {project}?',
        'What is the title of the textbook for "{task}" from {project}?',
    ),
    "Cost": (
        'How much does "{task}" in {project} cost? Please answer with a number.',
        'What price did I note down for "{task}" ({project})? Please answer with a number.',
    ),
    "City": (
        'In which city is "{task}" from {project}?',
        'To which city do I have to travel for "{task}" in {project}?',
    ),
}
"""How each line of a description is asked for."""


class DueDate(Job):
    """When is a task due?"""

    name = "due-date"
    level = "look-up"
    frames = (
        f'When is "{{task}}" in {{project}} due? {DATE}',
        f'By what day do I have to do "{{task}}"? It is in the project {{project}}. {DATE}',
        f'What is the deadline of the task "{{task}}" of {{project}}? {DATE}',
    )

    def draw(self, world: World, draw: Draw) -> Args | None:
        """Draw a task."""
        return a_task(world, draw)

    def settle(self, world: World, args: Args) -> Settled:
        """Return its date."""
        return Settled({"date": the_task(world, args).due_date})

    def plan(self, find: Finder, args: Args) -> Done:
        """Find it in its project's list."""
        return (yield from find.task(args["task"], args["project"]))["due_date"]


class Priority(Job):
    """What priority has a task?"""

    name = "priority"
    level = "look-up"
    frames = (
        f'What priority has "{{task}}" in {{project}}? {NUMBER}',
        f'How urgent, from 1 to 4, is the task "{{task}}" of {{project}}? {NUMBER}',
        f'Tell me the priority level of "{{task}}" ({{project}}). {NUMBER}',
    )

    def draw(self, world: World, draw: Draw) -> Args | None:
        """Draw a task."""
        return a_task(world, draw)

    def settle(self, world: World, args: Args) -> Settled:
        """Return its priority."""
        return Settled(number(the_task(world, args).priority))

    def plan(self, find: Finder, args: Args) -> Done:
        """Find it in its project's list."""
        return (yield from find.task(args["task"], args["project"]))["priority"]


class Duration(Job):
    """How long does a task take?"""

    name = "duration"
    level = "look-up"
    frames = (
        f'How many minutes does "{{task}}" in {{project}} take? {NUMBER}',
        f'How much time, in minutes, did I plan for "{{task}}" ({{project}})? {NUMBER}',
        f'What is the duration of the task "{{task}}" of {{project}} in minutes? {NUMBER}',
    )

    def draw(self, world: World, draw: Draw) -> Args | None:
        """Draw a task."""
        return a_task(world, draw)

    def settle(self, world: World, args: Args) -> Settled:
        """Return its minutes."""
        return Settled(number(minutes(the_task(world, args).duration)))

    def plan(self, find: Finder, args: Args) -> Done:
        """Find it and ask how long it takes."""
        task = yield from find.task(args["task"], args["project"])
        return (yield from find.minutes(task))


class Detail(Job):
    """What does a task's description say?"""

    name = "detail"
    level = "look-up"
    frames = ()

    def draw(self, world: World, draw: Draw) -> Args | None:
        """Draw a task and a line of its description."""
        args = a_task(world, draw)
        said = fields(the_task(world, args).description)
        return {**args, "key": draw.pick([key for key in said if key in ASKING])}

    def ask(self, args: Args, draw: Draw) -> str:
        """Return the question in one of the wordings for its line."""
        return draw.pick(ASKING[args["key"]]).format(**args)

    def settle(self, world: World, args: Args) -> Settled:
        """Return what the line says."""
        said = fields(the_task(world, args).description)[args["key"]]
        return Settled(number(cost_in(said)) if args["key"] == "Cost" else text(said))

    def plan(self, find: Finder, args: Args) -> Done:
        """Find it and read its description."""
        task = yield from find.task(args["task"], args["project"])
        said = (yield from find.described(task))[args["key"]]
        return cost_in(said) if args["key"] == "Cost" else said


class HomeProject(Job):
    """Which project holds a task?"""

    name = "project-of"
    level = "look-up"
    frames = (
        f'In which project is "{{task}}"? {PROJECT}',
        f'I cannot find the task "{{task}}". To which project does it belong? {PROJECT}',
        f'Which of my projects contains the task "{{task}}"? {PROJECT}',
    )

    def draw(self, world: World, draw: Draw) -> Args | None:
        """Draw a task."""
        return {"task": draw.pick(world.todos).content}

    def settle(self, world: World, args: Args) -> Settled:
        """Return its project."""
        todo = next(t for t in world.todos if t.content == args["task"])
        return Settled(text(project_of(world, todo)))

    def plan(self, find: Finder, args: Args) -> Done:
        """Go through the projects until it is found."""
        project, _ = yield from find.holding(args["task"])
        return project["name"]


class Favourites(Job):
    """Which projects are favourites, or are not?"""

    name = "favourites"
    level = "look-up"
    frames = (
        "Which of my projects are favourites? Please answer with a list of project names.",
        "Name every project that I have marked as a favourite. Please answer with a list.",
        "Which projects are not among my favourites? Please answer with a list of project names.",
        "List the projects I have not marked as a favourite. Please answer with a list.",
    )

    def draw(self, world: World, draw: Draw) -> Args | None:
        """Draw whether those that are, or those that are not; there must be some of each."""
        if len({p.is_favorite for p in world.projects}) < 2:
            return None
        return {"favourite": draw.chance(0.5)}

    def ask(self, args: Args, draw: Draw) -> str:
        """Return the question in one of the wordings for its side."""
        return draw.pick(self.frames[:2] if args["favourite"] else self.frames[2:])

    def settle(self, world: World, args: Args) -> Settled:
        """Return the projects."""
        names = [p.name for p in world.projects if p.is_favorite == args["favourite"]]
        return Settled(listed(names))

    def plan(self, find: Finder, args: Args) -> Done:
        """Read the list of projects."""
        rows = yield from find.projects("The list of projects says which ones are favourites.")
        return [row["name"] for row in rows if row["is_favorite"] == args["favourite"]]


def cost_in(said: str) -> int:
    """Return the number in a cost, "180 euros"."""
    return int(said.split()[0])


LOOKUPS = (DueDate(), Priority(), Duration(), Detail(), HomeProject(), Favourites())
