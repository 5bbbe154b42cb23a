"""TODOList at Todoist: against an account served here, with the user's own things in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("httpx", reason="pip install 'agentgym[live]'")

from agentgym.core.call import write_call
from agentgym.core.errors import InvalidConfig
from agentgym.envs.todolist.env import TodoListEnv
from agentgym.envs.todolist.lives import draw_world
from agentgym.envs.todolist.todoist import MARKER, TodoistAccount
from agentgym.envs.tools import CassetteMiss, LiveError, MissingKey, NotFound, WrongValue, value_of
from tests.envs.test_todolist import official_folder
from tests.envs.todoist import KEY, Todoist, todoist


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Todoist]:
    monkeypatch.setenv("TODO_KEY", KEY)
    with todoist() as served:
        monkeypatch.setattr(TodoListEnv, "service", served.url)
        yield served
        assert json.dumps([served.projects, served.tasks]) == served.own


def play(env: TodoListEnv, task_id: str) -> tuple[list[str], list[str], dict[str, Any]]:
    """Play a task by the expert; return the actions, the observations and the last info."""
    observation, info = env.reset(options={"task_id": task_id})
    expert, ended, actions, seen = env.expert(), False, [], [observation]
    while not ended:
        _, action = expert.act(observation, info)
        observation, _, terminated, truncated, info = env.step(action)
        actions.append(action)
        seen.append(observation)
        ended = terminated or truncated
    return actions, seen, info


def task_ids(*jobs: str) -> list[str]:
    tasks = TodoListEnv().tasks
    return [next(t.id for t in tasks if t.spec["job"] == job) for job in jobs]


def test_mini_tasks_are_solved_at_the_service(service: Todoist) -> None:
    env = TodoListEnv(backend="live")
    jobs = ("move-then-count", "delete-then-minutes", "complete-which", "favourite", "detail")
    for task_id in task_ids(*jobs):
        _, _, info = play(env, task_id)
        assert info["success"], task_id
        names = [p["name"] for p in service.projects.values()]
        assert names.count(MARKER) == 1  # the last episode's tree is gone
    env.close()
    env.close()


def test_a_change_is_scored_by_the_services_own_ids(service: Todoist) -> None:
    env = TodoListEnv(backend="live")
    (task_id,) = task_ids("move-at-place")
    actions, _, info = play(env, task_id)
    assert info["success"]
    wanted = len(env.tasks.get(task_id).spec["subgoals"])
    env.reset(options={"task_id": task_id})
    projects = env.account.projects()
    local = env.tasks.get(task_id).spec["projects"]
    names = [t["content"] for p in local for t in p["tasks"]]
    assert sum(len(env.account.tasks(p["id"])) for p in projects) == len(names)
    assert len({a for a in actions if a.startswith("update_task")}) == wanted
    expert, observation = env.expert(), ""
    info = {"valid": True}
    for _ in actions[:-1]:
        _, action = expert.act(observation, info)
        observation, *_, info = env.step(action)
    assert info["score"] == pytest.approx(wanted / (wanted + 1))
    env.close()


def test_a_published_task_is_played_at_the_service(service: Todoist, tmp_path: Path) -> None:
    env = TodoListEnv(edition="official", backend="live", data_dir=official_folder(tmp_path))
    env.reset(options={"task_id": "todolist_1"})
    key = env.account.projects()[0]["id"]
    sweep = next(t for t in env.account.tasks(key) if t["content"] == "Sweep")
    env.step(write_call("complete_task", {"task_id": sweep["id"]}))
    assert [t["content"] for t in env.account.tasks(key)] == ["Water the ferns"]
    *_, info = env.step(write_call("finish", {"answer": value_of(env.tasks[1].spec["answer"])}))
    assert info["success"]
    env.close()


def test_nothing_of_the_users_own_can_be_named(service: Todoist) -> None:
    """Ids of other projects and tasks are not even asked for."""
    world = draw_world("live")
    account = TodoistAccount(world.rows, keeps_completed=True, base_url=service.url)
    own = json.loads(service.own)
    asked = len(service.asked)
    for key in own[0]:
        with pytest.raises(NotFound):
            account.tasks(key)
        with pytest.raises(NotFound):
            account.set_favourite(key, True)
    for key in (*own[1], "../projects", "1/close"):
        for method in (account.task, account.details, account.complete, account.delete):
            with pytest.raises(NotFound):
                method(key)
        with pytest.raises(NotFound):
            account.set_due(key, "2024-01-01")
    assert len(service.asked) == asked
    assert {p["name"] for p in account.projects()} == {p["name"] for p in world.rows}
    account.close()
    account.close()


def test_the_service_and_memory_show_the_same(service: Todoist) -> None:
    env, live = TodoListEnv(), TodoListEnv(backend="live")
    for one in (env, live):
        one.reset(options={"task_id": "todolist_7"})
    assert live.account.content() == env.account.content()
    shown, kept = live.account, env.account
    for mine, theirs in zip(kept.projects(), shown.projects(), strict=True):
        for a, b in zip(kept.tasks(mine["id"]), shown.tasks(theirs["id"]), strict=True):
            assert shown.details(b["id"]) == kept.details(a["id"])
            if a["is_completed"]:
                with pytest.raises(WrongValue, match="not completed"):
                    shown.complete(b["id"])
                with pytest.raises(WrongValue, match="not completed"):
                    shown.set_due(b["id"], "2030-01-01")
                shown.delete(b["id"])
                kept.delete(a["id"])
            else:
                shown.set_due(b["id"], "2030-01-01")
                kept.set_due(a["id"], "2030-01-01")
    assert shown.content() == kept.content()
    live.close()


def test_a_recorded_episode_plays_again_without_service_or_key(
    service: Todoist, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tape = str(tmp_path / "tape.jsonl")
    (task_id,) = task_ids("move-then-count")
    env = TodoListEnv(backend="live", cassette=tape, cassette_mode="record")
    actions, seen, info = play(env, task_id)
    env.close()
    assert info["success"]
    assert KEY not in Path(tape).read_text()
    asked = len(service.asked)
    monkeypatch.delenv("TODO_KEY")
    again = TodoListEnv(backend="live", cassette=tape, cassette_mode="replay")
    assert play(again, task_id)[:2] == (actions, seen)
    again.close()
    other = TodoListEnv(backend="live", cassette=tape, cassette_mode="replay")
    with pytest.raises(CassetteMiss):
        other.reset(options={"task_id": "todolist_0"})
    other.close()
    assert len(service.asked) == asked


def test_a_tree_that_cannot_be_finished_is_taken_down(service: Todoist) -> None:
    service.fail_after = 4
    with pytest.raises(LiveError, match="403"):
        TodoistAccount(draw_world("live").rows, keeps_completed=True, base_url=service.url)
    service.fail_after = None


def test_what_is_left_behind_is_named(service: Todoist, monkeypatch: pytest.MonkeyPatch) -> None:
    account = TodoistAccount(draw_world("live").rows, keeps_completed=True, base_url=service.url)
    monkeypatch.setenv("TODO_KEY", "revoked")
    with pytest.raises(LiveError, match="safe to delete"):
        account.close()
    account.close()
    root = next(k for k, p in service.projects.items() if p["name"] == MARKER)
    service._one(service.projects, root, "DELETE", False, None)


def test_a_fork_has_a_tree_of_its_own(service: Todoist) -> None:
    env = TodoListEnv(backend="live")
    env.reset(options={"task_id": "todolist_3"})
    twin = env.fork()
    names = [p["name"] for p in service.projects.values()]
    assert names.count(MARKER) == 2
    twin.close()
    assert env.account.projects()
    env.close()


def test_a_key_is_asked_for_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TODO_KEY", raising=False)
    env = TodoListEnv(backend="live")
    with pytest.raises(MissingKey, match="TODO_KEY"):
        env.reset(options={"task_id": "todolist_0"})
    env.close()
    with pytest.raises(InvalidConfig, match="cassette"):
        TodoListEnv(cassette="tape.jsonl")
