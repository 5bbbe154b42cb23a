"""SciWorld's Java processes under many sessions: shared, replaced, and survived."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

pytest.importorskip("scienceworld", reason="needs pip install 'agentgym[sciworld]'")

from agentgym.core.registry import make
from agentgym.envs.sciworld import jvm as jvm_module
from agentgym.envs.sciworld.bridge import Session
from agentgym.envs.sciworld.jvm import JvmOptions, SimulatorError
from agentgym.envs.sciworld.pool import pool
from agentgym.envs.sciworld.tasks import carried_path

TASKS = ("power-component", "find-plant", "use-thermometer", "boil", "find-animal", "grow-plant")


@pytest.fixture
def sessions() -> Iterator[list[Session]]:
    opened: list[Session] = []
    yield opened
    for session in opened:
        session.close()


def begin(opened: list[Session], count: int, **options: Any) -> list[list[str]]:
    """Open so many sessions, each on a task; return what is left to play of their paths."""
    paths = []
    for i in range(count):
        session = Session(JvmOptions(linger=0, **options))
        opened.append(session)
        task = TASKS[i % len(TASKS)]
        session.load(task, 0)
        paths.append(carried_path(task, 0)[:6])
    return paths


def play(session: Session, path: list[str]) -> list[str]:
    return [session.step(action).text for action in path]


def test_a_full_process_begins_another_and_threads_play_in_both(sessions: list[Session]) -> None:
    before = set(pool.processes)
    paths = begin(sessions, 6, memory_mb=301, sessions=3)
    assert len(set(pool.processes) - before) == 2
    alone = []
    for session, path, task in zip(sessions, paths, TASKS, strict=True):
        alone.append(play(session, path))
        session.load(task, 0)
    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(play, sessions, paths)) == alone
    sessions.pop().close()
    more = Session(JvmOptions(memory_mb=301, sessions=3, linger=0))
    sessions.append(more)
    more.load("boil", 0)
    assert len(set(pool.processes) - before) == 2, "the place that was left is taken"


def test_new_episodes_leave_a_process_whose_worlds_fill_its_heap(
    sessions: list[Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = set(pool.processes)
    (path,) = begin(sessions, 1, memory_mb=302)
    (old,) = set(pool.processes) - before
    text = play(sessions[0], path)
    sessions[0].load(TASKS[0], 0)
    assert set(pool.processes) - before == {old}, "there is much room in it"
    monkeypatch.setattr(jvm_module, "_HEAVY", 0.001)
    sessions[0].load(TASKS[0], 0)
    monkeypatch.undo()
    begin(sessions, 1, memory_mb=302)
    assert play(sessions[0], path) == text, "the episode in it goes on"
    assert old in pool.processes
    assert len(set(pool.processes) - before) == 2
    sessions[0].load(TASKS[0], 0)
    assert old not in pool.processes
    assert len(set(pool.processes) - before) == 1


def test_a_full_heap_ends_the_one_that_fills_it_and_nobody_else(sessions: list[Session]) -> None:
    paths = begin(sessions, 4, memory_mb=303)
    whole = [play(session, path) for session, path in zip(sessions, paths, strict=True)]
    for session, path, task in zip(sessions, paths, TASKS, strict=False):
        session.load(task, 0)
        play(session, path[:3])
    tries = []

    def fill(jvm: Any) -> Any:
        tries.append(jvm.process.pid)
        return jvm.gateway.new_array(jvm.gateway.jvm.long, 400_000_000)

    with pytest.raises(SimulatorError, match="memory_mb"):
        sessions[0].call(fill)
    shared, own = tries
    assert shared != own
    for session, path, text in zip(sessions, paths, whole, strict=True):
        assert play(session, path[3:]) == text[3:]
    assert not {shared, own} & set(pool.processes)


def test_whoever_had_the_turn_goes_alone_and_comes_back(sessions: list[Session]) -> None:
    before = set(pool.processes)
    paths = begin(sessions, 3, memory_mb=304)
    text = [play(session, path) for session, path in zip(sessions, paths, strict=True)]
    (old,) = set(pool.processes) - before
    killed = []

    def kill(jvm: Any) -> bool:
        if not killed:
            killed.append(jvm.process.pid)
            os.kill(jvm.process.pid, signal.SIGKILL)
        return bool(jvm.loader.getTaskMaxVariations("boil"))

    assert sessions[0].call(kill)
    assert killed == [old]
    (own,) = set(pool.processes) - before
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda session: session.step("look around"), sessions[1:]))
    assert len(set(pool.processes) - before) == 2
    for session, path, said, task in zip(sessions, paths, text, TASKS, strict=False):
        session.load(task, 0)
        assert play(session, path) == said
    assert own not in pool.processes
    assert len(set(pool.processes) - before) == 1


def test_the_environment_says_what_a_worker_of_it_needs() -> None:
    env = make("sciworld", memory_mb=2048, sessions_per_jvm=4)
    assert env.needs.sessions == 4
    assert env.needs.memory_mb > 2048
    assert env.needs.resources == {"jvm": 1}
    assert env.blocking
