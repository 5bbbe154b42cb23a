"""Slots: an episode keeps its own, others wait, and nobody is forgotten."""

from __future__ import annotations

import asyncio

import pytest

from agentgym.agents.slots import Slots


async def call(slots: Slots, episode: str, seconds: float = 0.0) -> int:
    async with slots.use(episode) as slot:
        await asyncio.sleep(seconds)
        return slot


def test_an_episode_finds_its_slot_again() -> None:
    async def run() -> list[int]:
        slots = Slots(2)
        return [await call(slots, e) for e in ("a", "b", "a", "b", "a")]

    assert asyncio.run(run()) == [0, 1, 0, 1, 0]


def test_many_episodes_play_to_their_end_few_at_a_time() -> None:
    order: list[str] = []
    busy, most = 0, 0

    async def episode(slots: Slots, name: str) -> None:
        nonlocal busy, most
        seen = set()
        for _ in range(3):
            async with slots.use(name) as slot:
                busy += 1
                most = max(most, busy)
                seen.add(slot)
                order.append(name)
                await asyncio.sleep(0.001)
                busy -= 1
            await asyncio.sleep(0)
        assert len(seen) == 1
        slots.release(name)

    async def run() -> None:
        slots = Slots(2)
        await asyncio.gather(*(episode(slots, f"e{i}") for i in range(10)))

    asyncio.run(asyncio.wait_for(run(), 10))
    assert most == 2
    assert len(order) == 30
    first_two = set(order[:6])
    assert first_two == {"e0", "e1"}, "later episodes should wait for the first to end"


def test_an_episode_never_released_gives_way() -> None:
    async def run() -> int:
        slots = Slots(1, patience=0.05)
        await call(slots, "silent")
        return await asyncio.wait_for(call(slots, "next"), 5)

    assert asyncio.run(run()) == 0


def test_a_busy_slot_is_not_taken_however_long_it_takes() -> None:
    async def run() -> list[str]:
        slots, done = Slots(1, patience=0.01), []

        async def one(name: str, seconds: float) -> None:
            await call(slots, name, seconds)
            done.append(name)
            slots.release(name)

        await asyncio.gather(one("slow", 0.2), one("quick", 0.0))
        return done

    assert asyncio.run(run()) == ["slow", "quick"]


def test_calls_without_an_episode_and_failed_or_cancelled_ones_hold_nothing() -> None:
    async def run() -> None:
        slots = Slots(1)
        await call(slots, "")
        with pytest.raises(ZeroDivisionError):
            async with slots.use(""):
                raise ZeroDivisionError
        holder = asyncio.create_task(call(slots, "", 0.2))
        await asyncio.sleep(0.01)
        waiter = asyncio.create_task(call(slots, "w"))
        await asyncio.sleep(0.01)
        waiter.cancel()
        holder.cancel()
        await asyncio.gather(waiter, holder, return_exceptions=True)
        assert await asyncio.wait_for(call(slots, "x"), 5) == 0

    asyncio.run(run())


def test_one_loop_after_another() -> None:
    slots = Slots(1)
    for name in ("a", "b"):
        assert asyncio.run(call(slots, name)) == 0
        slots.release(name)
