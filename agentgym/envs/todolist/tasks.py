"""The tasks: jobs drawn over invented accounts, and the published ones from a folder.

A mini task's spec is {"goal", "job", "args", "answer", "subgoals", "projects", "ids", "today",
"location"}: what is asked, its kind and what it is about, what `finish` must be given, the changes
that must have been made, and the account. A published task's spec has "goal_state", the account as
it must be at the end, in place of the subgoals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agentgym.core.data import find_data, find_eval_ids
from agentgym.core.draw import Draw
from agentgym.core.errors import InvalidConfig, MissingData
from agentgym.core.task import TaskSet
from agentgym.core.text import parse_json
from agentgym.envs.todolist.account import read_projects
from agentgym.envs.todolist.jobs import JOBS
from agentgym.envs.todolist.jobs.base import DONE, Job
from agentgym.envs.todolist.lives import World, draw_world
from agentgym.envs.tools import spec_of
from agentgym.envs.tools.published import read_published

NAME = "todolist"
FILE = "todo.jsonl"
PROJECTS = ("projects.json", "todo_projects.json")
SEED = "todolist mini 1"
TRAIN, EVAL = 7, 2
"""Mini tasks of each kind of job."""

Row = tuple[str, str, dict[str, Any]]

_DURATION = re.compile(r"(\d+)\((\w+)\)")


def mini_tasks() -> TaskSet:
    """Return 7 train and 2 eval tasks of each kind of job, each over an account of its own."""
    note = "Drawn by us; every task has an account of its own, drawn from what eight people do."
    rows = [row for job in JOBS for row in _rows(job)]
    return TaskSet.build(NAME, "mini", "1", Draw(SEED).shuffled(rows), note)


def _rows(job: Job) -> Iterator[Row]:
    found = attempt = 0
    while found < TRAIN + EVAL:
        seed = f"{SEED} {job.name} {attempt}"
        spec = _spec(job, draw_world(seed), Draw(f"{seed} job"))
        attempt += 1
        if spec is not None:
            split = "train" if found < TRAIN else "eval"
            found += 1
            yield split, f"{job.level}/{job.name}", spec


def _spec(job: Job, world: World, draw: Draw) -> dict[str, Any] | None:
    args = job.draw(world, draw)
    if args is None:
        return None
    answer, changes = job.settle(world, args)
    return {
        "goal": job.ask(args, draw),
        "job": job.name,
        "args": dict(args),
        "answer": answer,
        "subgoals": [{"call": c.call, "arguments": dict(c.arguments)} for c in changes],
        "projects": world.rows,
        "ids": world.seed,
        "today": world.today,
        "location": world.location,
    }


def official_tasks(data_dir: str | None) -> TaskSet:
    """Return the published tasks, in the order of their file.

    Args:
        data_dir: the data folder; it must hold `todolist/todo.jsonl` and `todolist/projects.json`,
            and may hold a list of eval ids.

    Raises:
        MissingData: if a file is not there.
        InvalidConfig: if one cannot be read.
    """
    folder = find_data(NAME, FILE, folder=data_dir)
    path = folder / FILE
    projects = _projects(folder, data_dir)
    specs = [_published(path, i, row, projects) for i, row in enumerate(read_published(path))]
    evals = find_eval_ids(NAME, len(specs), data_dir)
    # Without the published list every eighth task is an eval task: 20 of the 155.
    chosen = evals if evals is not None else frozenset(range(0, len(specs), 8))
    rows = (("eval" if i in chosen else "train", "published", s) for i, s in enumerate(specs))
    note = "The published tasks over one account of five projects." + (
        "" if evals is not None else " Stand-in split: the published id lists are not here."
    )
    version = "listed-1" if evals is not None else "standin-1"
    return TaskSet.build(NAME, "official", version, rows, note)


def _projects(folder: Path, data_dir: str | None) -> list[dict[str, Any]]:
    found = next((folder / name for name in PROJECTS if (folder / name).is_file()), None)
    if found is None:
        find_data(NAME, PROJECTS[0], folder=data_dir)
        raise MissingData(f"{folder} holds no {PROJECTS[0]}")
    try:
        projects = parse_json(found.read_text(encoding="utf-8"))
        read_projects(projects, NAME)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidConfig(
            f"{found} holds no projects ({type(error).__name__}: {error}); it must be the "
            "published projects.json"
        ) from error
    return list(projects)


def _published(
    path: Path, index: int, row: Mapping[str, Any], projects: list[dict[str, Any]]
) -> dict[str, Any]:
    try:
        state, config = row["answer"], row["init_config"]
        goal = {key: [dict(item) for item in state[key]] for key in ("projects", "tasks")}
        (wanted,) = row["subgoals"]
        return {
            "goal": row["goal"],
            "answer": published_answer(wanted),
            "goal_state": goal,
            "projects": projects,
            "ids": NAME,
            "today": str(config["current_date"]),
            "location": str(config["current_location"]),
        }
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidConfig(
            f"{path}, task {index}, is no TODOList task ({type(error).__name__}: {error}); the "
            "file must be the published one"
        ) from error


def published_answer(wanted: Any) -> dict[str, Any]:
    """Return the spec of a published answer; a duration may be written in several ways.

    >>> published_answer("60(minute)")["also"]
    ['60 minutes', '60 min', '60']
    """
    if wanted == "done":
        return dict(DONE)
    spec = spec_of(wanted)
    duration = _DURATION.fullmatch(wanted) if isinstance(wanted, str) else None
    if duration:
        amount, unit = duration.groups()
        spec["also"] = [f"{amount} {unit}s", f"{amount} {unit[:3]}", amount]
    return spec
