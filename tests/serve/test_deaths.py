"""Workers that die at awkward moments, and sessions that are played again in the middle of it."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import Any

import psutil
import pytest

pytest.importorskip("fastapi", reason="pip install 'agentgym[serve]'")

from gymnasium.error import ResetNeeded

from agentgym.serve.problem import EnvironmentFault, SessionLost, WorkerFailed
from agentgym.serve.store import Entry
from tests.serve.test_store import FAULTY, begun, faulty, opened, played, step

again: dict[str, Any] = {"resurrect": True, **faulty}


def kill(entry: Entry) -> None:
    os.kill(entry.worker.pid, signal.SIGKILL)


async def reviving(entry: Entry) -> None:
    while entry.reviving is None:
        await asyncio.sleep(0.005)


@played
async def test_a_fork_leaves_the_journal_of_the_first_alone() -> None:
    async with opened(**again) as store:
        entry = await begun(store)
        await step(store, entry, "a", seq=2)
        twin, _ = await store.fork(entry)
        await step(store, twin, "b", seq=1)
        kill(entry)
        assert (await step(store, entry, "c", seq=3))["observation"].startswith("2: c")
        assert (await step(store, twin, "d", seq=2))["observation"].startswith("3: d")


@played
async def test_an_action_that_kills_takes_no_neighbour_with_it() -> None:
    async with opened(**again) as store:
        deadly, idle, *busy = [await begun(store, seed=i) for i in range(8)]

        async def play(entry: Entry) -> str:
            for k in range(40):
                seen: str = (await step(store, entry, f"say {k}"))["observation"]
                await asyncio.sleep(0.02)
            return seen

        playing = [asyncio.create_task(play(entry)) for entry in busy]
        await asyncio.sleep(0.05)
        with pytest.raises(SessionLost, match="exit code 3"):
            await step(store, deadly, "exit")
        assert all(seen.startswith("40: ") for seen in await asyncio.gather(*playing))
        assert (await step(store, idle, "x"))["observation"].startswith("1: x")
        assert len(store) == 7


@played
async def test_a_past_that_kills_takes_no_neighbour_with_it() -> None:
    async with opened(**again) as store:
        deadly, *others = [await begun(store, seed=i) for i in range(6)]
        for entry in others:
            await step(store, entry, "one")
        assert deadly.journal is not None
        deadly.journal.actions.append(("step", {"action": "exit"}))  # as if it had gone well then
        kill(deadly)
        with pytest.raises(SessionLost):
            await step(store, deadly, "x")
        for entry in others:
            assert (await step(store, entry, "two"))["observation"].startswith("2: two")


@played
async def test_what_is_closed_while_it_is_played_again_is_gone() -> None:
    async with opened(**again) as store:
        entry, other = await begun(store), await begun(store)
        await step(store, entry, "sleep 0.5")
        kill(entry)
        await reviving(entry)
        await store.close(entry)
        assert {name for worker in store.workers for name in worker.sessions} == {other.id}
        with pytest.raises(SessionLost, match="closed"):
            await step(store, entry, "x")


@played
async def test_what_cannot_be_played_again_leaves_nothing_behind() -> None:
    async with opened(**again) as store:
        entry, other = await begun(store), await begun(store)
        await step(store, entry, "a")
        assert entry.journal is not None
        entry.journal.last = (200, b"{}")
        kill(entry)
        with pytest.raises(SessionLost, match="same answer"):
            await step(store, entry, "x")
        assert (await step(store, other, "x"))["observation"].startswith("1: x")
        assert {name for worker in store.workers for name in worker.sessions} == {other.id}


@played
async def test_a_past_that_never_ends_is_given_up() -> None:
    async with opened(call_timeout=1.0, **again) as store:
        entry = await begun(store)
        assert entry.journal is not None
        entry.journal.actions.append(("step", {"action": "sleep 30"}))
        kill(entry)
        async with asyncio.timeout(15):
            with pytest.raises(SessionLost, match="within 1 s"):
                await step(store, entry, "x")


@played
async def test_after_a_failure_a_death_changes_nothing() -> None:
    async with opened(**again) as store:
        entry = await begun(store)
        with pytest.raises(EnvironmentFault):
            await step(store, entry, "raise")
        kill(entry)
        with pytest.raises(ResetNeeded):
            await step(store, entry, "x")


@played
async def test_an_environment_that_would_leave_the_process_fails_instead() -> None:
    async with opened(**faulty) as store:
        entry = await begun(store)
        for _ in range(6):  # more than there are threads to lose
            with pytest.raises(EnvironmentFault, match="leave now"):
                await step(store, entry, "leave now")
            (await store.call(entry, "reset", seed=1)).value()
        replies = await store.steps([(entry.id, {"action": a}) for a in ("leave", "x", "y")])
        assert [reply.status for reply in replies] == [500, 409, 409]


@played
async def test_calls_in_line_wait_for_those_before_them() -> None:
    async with opened(call_timeout=1.0, **faulty) as store:
        entry = await begun(store)
        turns = await asyncio.gather(*(step(store, entry, f"sleep {0.3}") for _ in range(6)))
        assert [turn["info"]["rounds"] for turn in turns] == [1, 2, 3, 4, 5, 6]
        stuck = [asyncio.create_task(step(store, entry, "sleep 60")) for _ in range(3)]
        done, waiting = await asyncio.wait(stuck, timeout=2.5)
        assert len(done) == 3, waiting
        await asyncio.gather(*stuck, return_exceptions=True)


@played
async def test_as_many_batches_as_threads_are_played() -> None:
    async with opened(call_timeout=60.0, **faulty) as store:
        entries = [await begun(store) for _ in range(3)]
        items = [(entry.id, {"action": "sleep 0.001"}) for entry in entries]
        answers = await asyncio.gather(*(store.steps(items) for _ in range(520)))
        assert all(reply.status == 200 for replies in answers for reply in replies)


@played
async def test_a_fork_server_that_died_is_replaced_and_what_is_stuck_still_ended() -> None:
    async with opened(call_timeout=0.5, **faulty) as store:
        entry = await begun(store)
        pid = entry.worker.pid
        psutil.Process(pid).parent().kill()
        assert (await step(store, entry, "x"))["observation"].startswith("1: x")
        with pytest.raises(Exception, match="did not answer"):
            await step(store, entry, "freeze")
        await step(store, await begun(store), "x")
        for _ in range(100):
            if not psutil.pid_exists(pid) or psutil.Process(pid).status() == "zombie":
                return
            await asyncio.sleep(0.1)
        raise AssertionError("the frozen process is still there")


@played
async def test_without_files_left_a_worker_is_refused_and_later_made() -> None:
    import resource

    async with opened(**faulty) as store:
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        held = psutil.Process().num_fds()
        resource.setrlimit(resource.RLIMIT_NOFILE, (held, limits[1]))
        try:
            with pytest.raises(WorkerFailed, match="cannot be started"):
                await store.create(FAULTY)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        assert len(store) == 0
        assert await store.create(FAULTY)


@played
async def test_a_worker_that_is_asked_is_not_idle() -> None:
    async with opened(worker_ttl=0.2, **faulty) as store:
        await store.about(FAULTY)
        (worker,) = store.workers
        os.kill(worker.pid, signal.SIGSTOP)
        asking = asyncio.create_task(store.about(FAULTY))
        await asyncio.sleep(0.4)
        await store.sweep()
        os.kill(worker.pid, signal.SIGCONT)
        assert (await asking).ok
