"""TODOList: the account, the functions, the jobs, the expert, the goal, the published tasks."""

from __future__ import annotations

import json
import os
from ast import literal_eval
from collections import Counter
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentgym.core import Task
from agentgym.core.call import write_call
from agentgym.core.data import DATA_VARIABLE
from agentgym.core.errors import InvalidConfig, InvalidState, MissingData
from agentgym.envs.todolist import env as todolist_env
from agentgym.envs.todolist.account import LocalAccount, read_projects
from agentgym.envs.todolist.env import TodoListEnv
from agentgym.envs.todolist.goal import goal_of, same_content
from agentgym.envs.todolist.jobs import BY_NAME, JOBS
from agentgym.envs.todolist.jobs.finder import Finder
from agentgym.envs.todolist.lives import World, draw_world, fields, load_lives, minutes
from agentgym.envs.todolist.tasks import EVAL, TRAIN, published_answer
from agentgym.envs.todolist.tools import TodoTools
from agentgym.envs.tools import NotFound, WrongValue, accepts, value_of
from tests.envs.everywhere import outputs_under_hash_seeds, readme_episode
from tests.envs.fuzz_tools import check_malformed

README = Path(todolist_env.__file__).parent / "README.md"
MINI_DIGEST = "3a7c7d51bb91c61bd197c6fe242d5343d5e6a578ca18b4e2c5edd126b7e8427e"

PROJECTS: list[dict[str, Any]] = [
    {
        "name": "Balcony",
        "color": "teal",
        "is_favorite": True,
        "tasks": [
            {
                "content": "Water the ferns",
                "description": "- Place: Balcony\n- Bring: the green can",
                "due_date": "2024-05-30",
                "duration": 10,
                "duration_unit": "minute",
                "priority": 2,
            },
            {
                "content": "Repot the lemon tree",
                "description": "- Place: Cellar",
                "due_date": "2024-06-02",
                "duration": 60,
                "duration_unit": "minute",
                "priority": 4,
                "is_completed": True,
            },
        ],
    },
    {"name": "Letters", "is_favorite": False, "tasks": []},
]


def account(keeps_completed: bool = True) -> LocalAccount:
    return LocalAccount(*read_projects(PROJECTS, "test"), keeps_completed)


@pytest.fixture(scope="module")
def mini() -> TodoListEnv:
    return TodoListEnv()


@pytest.fixture
def env() -> TodoListEnv:
    env = TodoListEnv()
    env.reset(options={"task_id": "todolist_0"})
    return env


def world_of(task: Task) -> World:
    spec = task.spec
    return World(spec["projects"], spec["ids"], spec["today"], spec["location"])


def call(env: TodoListEnv, name: str, **arguments: Any) -> tuple[Any, bool]:
    observation, *_, info = env.step(write_call(name, arguments))
    said = observation.removeprefix("Observation: ").removesuffix("\nGive me one action.")
    return (literal_eval(said) if said[:1] in "[{" else said), info["valid"]


def play(env: TodoListEnv, task: Task) -> tuple[list[str], dict[str, Any]]:
    """Play a task by the expert; return the calls it made and the last info."""
    observation, info = env.reset(options={"task_id": task.id})
    expert, ended, calls = env.expert(), False, []
    while not ended:
        thought, action = expert.act(observation, info)
        assert thought
        calls.append(action)
        observation, _, terminated, truncated, info = env.step(action)
        assert info["valid"], (task.id, action, observation)
        ended = terminated or truncated
    return calls, info


# The account and the functions.


def test_an_account_shows_what_was_written_and_keeps_the_published_fields() -> None:
    here = account()
    balcony, letters = here.projects()
    assert (balcony["order"], letters["order"], letters["color"]) == (1, 2, "charcoal")
    assert list(balcony) == ["id", "order", "color", "name", "is_favorite"]
    fern, lemon = here.tasks(balcony["id"])
    assert list(fern) == [
        "id", "project_id", "order", "content", "is_completed", "priority", "due_date"
    ]  # fmt: skip
    assert (fern["is_completed"], lemon["is_completed"]) == (False, True)
    assert here.details(fern["id"])["duration"] == "10(minute)"
    assert account(keeps_completed=False).tasks(balcony["id"]) == [fern]
    assert here.tasks(letters["id"]) == []


def test_ids_are_the_same_every_time_and_never_shared() -> None:
    assert account().projects() == account().projects()
    projects, todos = read_projects(draw_world("a").rows, "a")
    ids = [p.id for p in projects] + [t.id for t in todos]
    assert len(set(ids)) == len(ids)
    assert all(key.isdecimal() and len(key) == 10 for key in ids)


def test_changes_change_only_what_they_name() -> None:
    here = account()
    balcony, letters = (p["id"] for p in here.projects())
    fern, lemon = (t["id"] for t in here.tasks(balcony))
    here.set_due(fern, "2024-07-01")
    assert here.task(fern)["due_date"] == "2024-07-01"
    here.complete(fern)
    assert here.task(fern)["is_completed"]
    here.delete(lemon)
    assert [t["id"] for t in here.tasks(balcony)] == [fern]
    assert here.set_favourite(letters, True)["is_favorite"]
    assert here.projects()[0]["is_favorite"]


def test_what_cannot_be_done_is_said_and_changes_nothing() -> None:
    here = account()
    balcony = here.projects()[0]["id"]
    fern, lemon = (t["id"] for t in here.tasks(balcony))
    before = here.content()
    for wrong in (lambda: here.set_due(lemon, "2024-07-01"), lambda: here.complete(lemon)):
        with pytest.raises(WrongValue, match="not completed"):
            wrong()
    for unknown in (here.delete, here.complete, here.task, here.details, here.tasks):
        with pytest.raises(NotFound, match=r"there is no .* '17'; get_"):
            unknown("17")
    assert here.content() == before
    here.delete(fern)
    with pytest.raises(NotFound, match="has been deleted"):
        here.details(fern)


def test_functions_answer_in_the_published_words(env: TodoListEnv) -> None:
    projects, _ = call(env, "get_projects")
    key = projects[0]["id"]
    told, _ = call(env, "update_project", project_id=key, is_favorite=True)
    assert told["message"] == "Update the project successfully."
    assert told["project"] == projects[0] | {"is_favorite": True}
    tasks, _ = call(env, "get_tasks", project_id=key)
    task = next(t for t in tasks if not t["is_completed"])
    told, _ = call(env, "update_task", task_id=task["id"], due_date="2030-01-02")
    assert told == {
        "message": "Update the task successfully",
        "task": task | {"due_date": "2030-01-02"},
    }
    told, _ = call(env, "complete_task", task_id=task["id"])
    assert told["message"] == "Complete task successfully."
    assert "is_completed" not in told["task"]
    told, _ = call(env, "delete_task", task_id=task["id"])
    assert told["message"] == "Delete the task successfully."
    told, _ = call(env, "get_task_duration", task_id=tasks[0]["id"])
    assert set(told) == {"id", "content", "duration"} or "deleted" in told
    assert "finish" in call(env, "check_valid_actions")[0]


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("get_tasks", {"project_id": "1"}, "there is no project '1'; get_projects"),
        ("complete_task", {"task_id": "1"}, "there is no task '1'; get_tasks"),
        ("update_task", {"task_id": "1", "due_date": "tomorrow"}, "argument 'due_date' must be"),
        ("update_task", {"task_id": "1", "due_date": "2024-02-30"}, "a day of the calendar"),
        ("update_project", {"project_id": "1", "is_favorite": "maybe"}, "one of 'True', 'False'"),
        ("delete_task", {}, "missing argument 'task_id'"),
    ],
)
def test_a_wrong_call_is_answered_with_what_to_change(
    env: TodoListEnv, name: str, arguments: dict[str, Any], words: str
) -> None:
    before = env.account.content()
    said, valid = call(env, name, **arguments)
    assert words in said
    assert not valid
    assert env.account.content() == before


def test_ten_thousand_malformed_calls_change_nothing() -> None:
    check_malformed(TodoListEnv(), 10_000)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_random_changes_are_what_the_goal_computes(data: st.DataObject) -> None:
    """The account that agents change and the one the goal computes agree, and so do snapshots."""
    world = draw_world(f"property {data.draw(st.integers(0, 40))}")
    here = LocalAccount(world.projects, world.todos, True)
    changes: list[dict[str, Any]] = []
    left = {t.id: t.is_completed for t in world.todos}
    for _ in range(data.draw(st.integers(0, 8))):
        kind = data.draw(st.sampled_from(("update_project", "update_task", "complete", "delete")))
        if kind == "update_project":
            project = data.draw(st.sampled_from(world.projects))
            mark = data.draw(st.booleans())
            here.set_favourite(project.id, mark)
            arguments = {"project_id": project.id, "is_favorite": str(mark)}
            changes.append({"call": kind, "arguments": arguments})
            continue
        keys = [key for key, done in left.items() if kind == "delete" or not done]
        if not keys:
            continue
        key = data.draw(st.sampled_from(keys))
        if kind == "update_task":
            day = str(data.draw(st.dates(date(2020, 1, 1), date(2030, 1, 1))))
            here.set_due(key, day)
            changes.append({"call": kind, "arguments": {"task_id": key, "due_date": day}})
        else:
            (here.complete if kind == "complete" else here.delete)(key)
            changes.append({"call": f"{kind}_task", "arguments": {"task_id": key}})
            if kind == "delete":
                del left[key]
            else:
                left[key] = True
    assert same_content(here.content(), goal_of(world.projects, world.todos, changes))
    again = LocalAccount(world.projects, world.todos, True)
    again.load(json.loads(json.dumps(here.save())))
    assert again.content() == here.content()
    assert again.save() == here.save()


@pytest.mark.parametrize(
    "saved",
    [
        None,
        {},
        {"favourites": {"1": True}, "due": {}, "completed": [], "deleted": []},
        {"favourites": {}, "due": {"1": "2024-01-01"}, "completed": [], "deleted": []},
        {"favourites": {}, "due": {}, "completed": ["1"], "deleted": []},
    ],
)
def test_a_damaged_snapshot_is_refused(saved: Any) -> None:
    with pytest.raises(InvalidState):
        account().load(saved)


def test_a_thousand_sessions_see_nothing_of_each_other(mini: TodoListEnv) -> None:
    envs = [TodoListEnv() for _ in range(1000)]
    for session in envs:
        session.reset(options={"task_id": "todolist_5"})
    before = envs[0].account.content()
    todo = next(t for t in world_of(mini.tasks[5]).todos if not t.is_completed)
    for i, session in enumerate(envs):
        if i % 2:
            day = f"{2030 + i % 7}-01-01"
            session.step(write_call("update_task", {"task_id": todo.id, "due_date": day}))
    for i, session in enumerate(envs):
        if i % 2:
            assert session.account.task(todo.id)["due_date"] == f"{2030 + i % 7}-01-01"
        else:
            assert session.account.content() == before


# The lives and the jobs.


def test_lives_are_written_out_and_every_task_is_described() -> None:
    lives = load_lives()
    assert len(lives) == 8
    for life in lives:
        errands = [e for project in life.projects.values() for e in project]
        assert len({e.content for e in errands}) == len(errands) >= 38
        assert len(life.projects) >= 7
        names = [*life.projects, *(e.content for e in errands)]
        assert not any(
            "," in name or " and " in name for name in names
        )  # in lists they would split
        for errand in errands:
            assert next(iter(fields(errand.description))) == "Place"
            assert all(0 < n <= 480 for n in errand.minutes)
            assert len(set(errand.minutes)) == len(errand.minutes)
        costs = [f["Cost"] for e in errands if "Cost" in (f := fields(e.description))]
        assert all(cost.split()[0].isdecimal() for cost in costs)


def test_accounts_have_the_size_that_is_claimed(mini: TodoListEnv) -> None:
    for task in mini.tasks:
        projects = task.spec["projects"]
        assert 5 <= len(projects) <= 8
        assert 15 <= sum(len(p["tasks"]) for p in projects) <= 40
        assert all(3 <= len(p["tasks"]) <= 6 for p in projects)


def test_every_kind_of_job_has_train_and_eval_tasks(mini: TodoListEnv) -> None:
    assert mini.tasks.sizes == {"train": TRAIN * len(JOBS), "eval": EVAL * len(JOBS)}
    assert mini.tasks.sizes["train"] >= 300
    assert mini.tasks.sizes["eval"] >= 75
    assert len({json.dumps(t.spec["projects"]) for t in mini.tasks}) == len(mini.tasks)
    levels = {kind.split("/")[0] for kind in mini.tasks.kinds}
    assert levels == {"look-up", "aggregate", "multi-hop", "change", "condition", "both"}
    for job in JOBS:
        goals = [t.spec["goal"] for t in mini.tasks if t.spec["job"] == job.name]
        assert len({goal[:12] for goal in goals}) > 1, job.name


def test_the_tasks_never_change() -> None:
    script = (
        "from agentgym.envs.todolist.env import TodoListEnv\nprint(TodoListEnv().tasks.digest)\n"
    )
    first, second = outputs_under_hash_seeds(script)
    assert first == second
    assert first.strip() == MINI_DIGEST


def test_answers_and_changes_follow_from_the_account(mini: TodoListEnv) -> None:
    for task in mini.tasks:
        settled = BY_NAME[task.spec["job"]].settle(world_of(task), task.spec["args"])
        assert settled.answer == task.spec["answer"]
        assert [c.call for c in settled.changes] == [s["call"] for s in task.spec["subgoals"]]
        assert accepts(settled.answer, value_of(settled.answer))


def open_rows(task: Task, project: str | None = None) -> list[dict[str, Any]]:
    return [
        t
        for p in task.spec["projects"]
        for t in p["tasks"]
        if not t["is_completed"] and project in (None, p["name"])
    ]


def expected(task: Task) -> Any:
    """Return the answer to some kinds of jobs from the written rows alone."""
    args, today = task.spec["args"], task.spec["today"]
    rows = open_rows(task, args.get("project"))
    match task.spec["job"]:
        case "overdue":
            return sum(row["due_date"] < today for row in rows)
        case "busiest-day":
            return Counter(row["due_date"] for row in rows).most_common(1)[0][0]
        case "total-cost":
            costs = [row["description"].split("- Cost: ")[1].split()[0] for row in rows]
            return sum(map(int, costs))
        case "next-anywhere":
            return min((r["due_date"], r["content"]) for r in rows if r["due_date"] >= today)[1]
        case "longest-or-shortest":
            ranked = sorted((row["duration"], row["content"]) for row in rows)
            return ranked[-1 if args["most"] == "most" else 0][1]
        case "at-place":
            return sum(row["description"].split("\n")[0].endswith(args["place"]) for row in rows)
        case "delete-then-minutes":
            return sum(row["duration"] for row in rows)
        case "move-then-count":
            return sum(row["due_date"] < today for row in rows)
        case "fullest":
            counts = {
                p["name"]: sum(not t["is_completed"] for t in p["tasks"])
                for p in task.spec["projects"]
            }
            pick = max if args["most"] == "most" else min
            return pick(counts, key=lambda name: counts[name])
    return None


def test_answers_are_right_by_another_count(mini: TodoListEnv) -> None:
    checked: Counter[str] = Counter()
    for task in mini.tasks:
        answer = expected(task)
        if answer is not None:
            assert accepts(task.spec["answer"], answer), (task.id, answer)
            checked[task.spec["job"]] += 1
    assert len(checked) == 9
    assert set(checked.values()) == {TRAIN + EVAL}


# The expert, and what counts.


def fewest(task: Task) -> int:
    """Return the fewest calls that can settle a job, counted from what each can tell.

    The projects are one call, a project's tasks another; a duration or a description is one for
    each task that may matter; each change is one. Where something has to be looked for, it may be
    in any place but the last one, which need not be opened.
    """
    world, args, job = world_of(task), task.spec["args"], task.spec["job"]
    everywhere = 1 + len(world.projects)
    changes = len(task.spec["subgoals"])
    here = world.open(args["project"]) if "project" in args else []
    dated = {
        "overdue", "most-overdue", "next-anywhere", "urgent-soon", "move-overdue",
        "move-overdue-anywhere", "postpone-anywhere", "move-then-count",
    }  # fmt: skip
    account_wide = {
        "fullest", "overdue", "most-overdue", "next-anywhere", "busiest-day", "count-anywhere",
        "urgent-soon", "move-overdue-anywhere", "postpone-anywhere", "favourite-fullest",
        "favourite-then-name",
    }  # fmt: skip
    each = {
        "longest-or-shortest", "total-cost", "at-place", "in-my-city", "complete-by-length",
        "move-at-place", "delete-then-minutes",
    }  # fmt: skip
    looked = 2
    if job in account_wide:
        looked = everywhere
    elif job in ("favourites", "favourite"):
        looked = 1
    elif job in ("project-of", "favourite-holding"):
        home = next(t.project_id for t in world.todos if t.content == args["task"])
        place = [p.id for p in world.projects].index(home) + 1
        looked = 1 + min(place, len(world.projects) - 1)
    elif job == "longer-of-two":
        looked = 5
    elif job in ("duration", "detail", "place-of-first", "minutes-of-first"):
        looked = 3
    elif job in each:
        looked = 2 + len(here) + (job == "in-my-city")
    elif job == "complete-described":
        said = [fields(t.description).get(args["key"]) for t in here]
        looked = 2 + min(said.index(args["value"]) + 1, len(here) - 1)
    elif job == "delete-long":
        looked = 2 + sum(t.priority < 3 for t in here)
    elif job == "total-minutes":
        looked = 2 + matching(here, args)
    return looked + (job in dated) + changes + 1


def matching(todos: list[Any], args: Mapping[str, Any]) -> int:
    """Return how many tasks meet a condition, read from its values."""
    day, until = args.get("day", ""), args.get("until", "")
    tests = {
        "before": lambda t: t.due_date < day,
        "after": lambda t: t.due_date > day,
        "between": lambda t: day <= t.due_date <= until,
        "priority": lambda t: t.priority == args["priority"],
        "at-least": lambda t: t.priority >= args["priority"],
        "soon-and-high": lambda t: t.priority >= args["priority"] and t.due_date <= day,
    }
    return sum(map(tests[args["which"]], todos))


def test_the_expert_solves_every_task_in_the_fewest_calls(mini: TodoListEnv) -> None:
    for task in mini.tasks:
        calls, info = play(mini, task)
        assert info["success"], task
        assert info["score"] == 1
        assert len(set(calls)) == len(calls) == fewest(task) <= mini.max_rounds, task


def altered(name: str, result: Any, task: Task) -> list[Any]:
    """Return what a look-up could have answered instead."""
    today, args = task.spec["today"], task.spec["args"]
    if name == "get_user_current_date":
        return ["2000-01-01", "2100-01-01"]
    if name == "get_user_current_location":
        return ["Nowhere"]
    if name == "get_task_duration":
        return [result | {"duration": f"{n}(minute)"} for n in (1, 9999)]
    if name == "get_task_description":
        same = {args.get("key", "Place"): args.get("value", args.get("place", "Elsewhere"))}
        said = [same, {"Place": "Elsewhere", "Cost": "9999 euros", "City": "Nowhere"}]
        said += [said[1] | {"City": task.spec["location"], args.get("key", "Place"): "7 things"}]
        texts = ["\n".join(f"- {k}: {v}" for k, v in lines.items()) for lines in said]
        return [result | {"description": text} for text in texts]
    if name == "get_projects":
        return [[p | {"id": "1", "is_favorite": not p["is_favorite"]} for p in result]]
    content = args.get("task", "Another task")
    days = (today, args.get("day", today), args.get("until", today), "2000-01-01", "2100-01-01")
    row = {"id": "1", "project_id": "1", "order": 9, "content": content}
    new = [
        row | {"is_completed": done, "priority": n, "due_date": day}
        for day in days
        for n in (1, 2, 3, 4)
        for done in (False, True)
    ]
    return [[], result[:1], *([*result, one] for one in new), [*result, *new[::2]]]


def planned(task: Task, change: int | None = None, to: Any = None) -> list[Any]:
    """Return the calls and results of an expert's plan, one of the results being altered."""
    world = world_of(task)
    kit = TodoTools(LocalAccount(world.projects, world.todos, True), world.today, world.location)
    plan = BY_NAME[task.spec["job"]].plan(Finder(), task.spec["args"])
    made: list[Any] = []
    try:
        move = next(plan)
        while True:
            result = to if len(made) == change else kit.call(move.name, move.arguments)
            made.append((move.name, dict(move.arguments), result))
            move = plan.send(result)
    except StopIteration as end:
        return [*made, end.value]
    except (RuntimeError, NotFound, WrongValue, KeyError, IndexError, ValueError) as error:
        return [*made, repr(error)]


def test_no_look_up_can_be_spared(mini: TodoListEnv) -> None:
    """Had any one look-up answered something else, the answer or the calls would be others."""
    for task in mini.tasks:
        real = planned(task)
        for i, (name, _, result) in enumerate(real[:-1]):
            if not name.startswith("get_"):
                continue
            rest = [step[:2] for step in real[i + 1 : -1]], real[-1]
            others = (planned(task, i, to) for to in altered(name, result, task))
            assert any(
                ([step[:2] for step in other[i + 1 : -1]], other[-1]) != rest for other in others
            ), (task.id, task.spec["job"], name, i)


def test_the_expert_goes_on_from_where_somebody_else_left_off(mini: TodoListEnv) -> None:
    for task in mini.tasks[:120]:
        if len(task.spec["subgoals"]) < 2:
            continue
        observation, info = mini.reset(options={"task_id": task.id})
        first = task.spec["subgoals"][0]
        observation, *_, info = mini.step(write_call(first["call"], first["arguments"]))
        expert, ended = mini.expert(), False
        while not ended:
            _, action = expert.act(observation, info)
            observation, _, ended, _, info = mini.step(action)
        assert info["success"], task


def test_doing_nothing_or_answering_wrong_fails(mini: TodoListEnv) -> None:
    changing = 0
    for task in mini.tasks:
        mini.reset(options={"task_id": task.id})
        answer = value_of(task.spec["answer"])
        *_, info = mini.step(write_call("finish", {"answer": answer}))
        changing += bool(task.spec["subgoals"])
        assert info["success"] is not bool(task.spec["subgoals"])
        assert info["score"] == float(info["success"])
        mini.reset(options={"task_id": task.id})
        *_, info = mini.step(write_call("finish", {"answer": "no idea at all"}))
        assert (info["success"], info["score"]) == (False, 0.0)
    assert changing > 150


def test_changes_are_part_of_the_score_and_what_was_not_asked_for_spoils_it(
    mini: TodoListEnv,
) -> None:
    task = next(t for t in mini.tasks if t.spec["job"] == "move-at-place")
    wanted = task.spec["subgoals"]
    share = 1 / (len(wanted) + 1)
    mini.reset(options={"task_id": task.id})
    total = 0.0
    for change in wanted:
        _, reward, *_ = mini.step(write_call(change["call"], change["arguments"]))
        assert reward == pytest.approx(share)
        total += reward
    twin = mini.fork()
    _, reward, *_, info = mini.step(write_call("finish", {"answer": "done"}))
    assert info["success"]
    assert total + reward == pytest.approx(1)
    touched = {c["arguments"]["task_id"] for c in wanted}
    other = next(t for t in world_of(task).todos if t.id not in touched)
    twin.step(write_call("delete_task", {"task_id": other.id}))
    *_, info = twin.step(write_call("finish", {"answer": "done"}))
    assert not info["success"]
    assert info["score"] == pytest.approx(1 - share)


def test_two_ways_to_the_same_account_both_count(mini: TodoListEnv) -> None:
    """What was changed and changed back does no harm."""
    task = next(t for t in mini.tasks if t.spec["job"] == "overdue")
    mini.reset(options={"task_id": task.id})
    todo = next(t for t in world_of(task).todos if not t.is_completed)
    for day in ("2031-01-01", todo.due_date):
        mini.step(write_call("update_task", {"task_id": todo.id, "due_date": day}))
    *_, info = mini.step(write_call("finish", {"answer": value_of(task.spec["answer"])}))
    assert info["success"]


def test_the_order_of_lists_does_not_count() -> None:
    content = account().content()
    turned = {key: rows[::-1] for key, rows in content.items()}
    assert same_content(content, turned)
    less = {**content, "tasks": content["tasks"][:1]}
    assert not same_content(content, less)
    assert not same_content(content, {**content, "tasks": content["tasks"] * 2})


def test_minutes_are_read_from_durations() -> None:
    assert minutes("60(minute)") == 60


# The published tasks.

PUBLISHED_PROJECTS = [
    {"name": "Balcony", "is_favorite": False, "tasks": [
        {"content": "Water the ferns", "description": "- Place: Balcony", "due_date": "2024-05-30",
         "duration": 10, "duration_unit": "minute", "priority": 2},
        {"content": "Sweep", "description": "- Place: Balcony", "due_date": "2024-06-01",
         "duration": 20, "duration_unit": "minute", "priority": 1},
    ]},
]  # fmt: skip


def published(goal: str, wanted: Any, tasks: list[dict[str, Any]]) -> dict[str, Any]:
    project = {"order": 1, "color": "charcoal", "name": "Balcony", "is_favorite": False}
    return {
        "goal": goal,
        "subgoals": [wanted],
        "additional_info": {
            "answer": {"projects": [project], "tasks": tasks},
            "init_config": {"current_date": "2024-05-31", "current_location": "Bern"},
            "goal_type": 0,
            "tool": "todo",
        },
        "difficulty": "hard",
    }


FERN = {"order": 1, "content": "Water the ferns", "is_completed": False, "priority": 2,
        "due_date": "2024-05-30"}  # fmt: skip
SWEEP = {"order": 2, "content": "Sweep", "is_completed": False, "priority": 1,
         "due_date": "2024-06-01"}  # fmt: skip


def official_folder(root: Path, projects: str = "projects.json") -> str:
    folder = root / "todolist"
    folder.mkdir()
    rows = [
        published("How long is Sweep?", "20(minute)", [FERN, SWEEP]),
        published("Complete Sweep.", "done", [FERN]),
    ]
    (folder / "todo.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / projects).write_text(json.dumps(PUBLISHED_PROJECTS))
    return str(root)


@pytest.mark.parametrize("projects", ["projects.json", "todo_projects.json"])
def test_published_tasks_are_played_from_their_files(tmp_path: Path, projects: str) -> None:
    env = TodoListEnv(edition="official", data_dir=official_folder(tmp_path, projects))
    assert [t.split for t in env.tasks] == ["eval", "train"]
    env.reset(options={"task_id": "todolist_0"})
    *_, info = env.step(write_call("finish", {"answer": "20 minutes"}))
    assert info["success"]
    env.reset(options={"task_id": "todolist_1"})
    key = env.account.projects()[0]["id"]
    sweep = next(t for t in env.account.tasks(key) if t["content"] == "Sweep")
    call(env, "complete_task", task_id=sweep["id"])
    assert [t["content"] for t in env.account.tasks(key)] == ["Water the ferns"]
    *_, info = env.step(write_call("finish", {"answer": "done"}))
    assert info["success"]
    assert "leaves its project's list" in env.instructions
    assert "stays in its project's list" in TodoListEnv().instructions
    with pytest.raises(NotImplementedError, match="only text"):
        env.expert()


def test_published_files_that_are_missing_or_damaged_are_named(tmp_path: Path) -> None:
    with pytest.raises(MissingData, match=r"todo\.jsonl"):
        TodoListEnv(edition="official", data_dir=str(tmp_path))
    data = official_folder(tmp_path)
    folder = Path(data) / "todolist"
    (folder / "projects.json").write_text('[{"name": "x"}]')
    with pytest.raises(InvalidConfig, match="holds no projects"):
        TodoListEnv(edition="official", data_dir=data)
    (folder / "projects.json").unlink()
    with pytest.raises(MissingData, match=r"projects\.json"):
        TodoListEnv(edition="official", data_dir=data)
    (folder / "projects.json").write_text("[]")
    row = published("?", "done", [])
    row["additional_info"]["answer"] = 3
    (folder / "todo.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(InvalidConfig, match="task 0"):
        TodoListEnv(edition="official", data_dir=data)


@pytest.mark.parametrize("given", ["60(minute)", "60 minutes", "60 min", 60])
def test_a_published_duration_may_be_written_in_several_ways(given: Any) -> None:
    assert accepts(published_answer("60(minute)"), given)
    assert not accepts(published_answer("60(minute)"), "61 minutes")


def reference_calls(env: TodoListEnv, goal: Mapping[str, Any]) -> list[tuple[str, dict[str, str]]]:
    """Return the changes that lead from the account to a published goal state."""
    marks = {p["name"]: p["is_favorite"] for p in goal["projects"]}
    left = {t["content"]: t["due_date"] for t in goal["tasks"]}
    calls = []
    for project in env.account.projects():
        if marks[project["name"]] != project["is_favorite"]:
            mark = str(marks[project["name"]])
            key = {"project_id": project["id"], "is_favorite": mark}
            calls.append(("update_project", key))
        for task in env.account.tasks(project["id"]):
            if task["content"] not in left:
                calls.append(("complete_task", {"task_id": task["id"]}))
            elif left[task["content"]] != task["due_date"]:
                day = left[task["content"]]
                calls.append(("update_task", {"task_id": task["id"], "due_date": day}))
    return calls


def test_the_published_samples_are_solved_by_their_reference_answers() -> None:
    place = Path(os.environ.get(DATA_VARIABLE, "")) / "todolist" / "todo.jsonl"
    if not os.environ.get(DATA_VARIABLE) or not place.is_file():
        pytest.skip(f"{DATA_VARIABLE} names no folder with todolist/todo.jsonl")
    env = TodoListEnv(edition="official")
    solved = changed = 0
    for task in env.tasks:
        env.reset(options={"task_id": task.id})
        calls = reference_calls(env, task.spec["goal_state"])
        changed += bool(calls)
        for name, arguments in calls:
            assert call(env, name, **arguments)[1]
        answer = value_of(task.spec["answer"])
        *_, info = env.step(write_call("finish", {"answer": answer}))
        solved += info["success"]
    assert solved == len(env.tasks) > 0, f"{solved} of {len(env.tasks)} rows"
    assert changed > 0


def test_the_readme_plays_as_it_says() -> None:
    printed, said = readme_episode(README)
    assert printed == said
