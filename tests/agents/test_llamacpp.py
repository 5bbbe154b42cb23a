"""The llamacpp agent on the small model; skipped where it has not been fetched."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentgym.agents import models
from agentgym.agents.base import ContextOverflow, ModelError
from agentgym.agents.message import Message, Reply
from agentgym.core.errors import InvalidConfig, UnknownName

pytest.importorskip("xllamacpp")

from agentgym.agents.llamacpp import LlamaCppAgent

needs_model = pytest.mark.skipif(
    not models.present("smollm2"), reason="needs: agentgym models fetch smollm2"
)
ASK = [Message("user", "Say hello.")]


@pytest.fixture(scope="module")
def agent() -> Iterator[LlamaCppAgent]:
    agent = LlamaCppAgent("smollm2", context=512, parallel=2, threads=1, max_tokens=8)
    yield agent
    agent.close()


@needs_model
def test_a_conversation_goes_on_and_its_start_is_not_read_again(agent: LlamaCppAgent) -> None:
    async def run() -> tuple[Reply, Reply]:
        first = await agent.complete(ASK, episode="a")
        more = [*ASK, Message("assistant", first.text), Message("user", "Again.")]
        return first, await agent.complete(more, episode="a")

    first, second = asyncio.run(run())
    assert first.text
    assert first.usage.output_tokens <= 8
    assert second.usage.cached_tokens > first.usage.input_tokens // 2
    assert second.usage.input_tokens > first.usage.input_tokens


@needs_model
def test_the_event_loop_runs_on_and_answers_keep_apart(agent: LlamaCppAgent) -> None:
    async def run() -> tuple[list[Reply], int]:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0.002)
                ticks += 1

        ticking = asyncio.create_task(tick())
        asks = [[Message("user", f"Repeat: {word}")] for word in ("apple", "stone", "river")]
        replies = await asyncio.gather(*(agent.complete(ask) for ask in asks))
        ticking.cancel()
        return list(replies), ticks

    replies, ticks = asyncio.run(run())
    assert ticks > 5
    assert len({reply.text for reply in replies}) == 3


@needs_model
def test_exact_repeats_itself_and_the_seed_decides() -> None:
    agent = LlamaCppAgent(
        "smollm2", context=256, parallel=4, threads=1, max_tokens=8, exact=True, temperature=1.0
    )
    assert agent.parallel == 1

    async def run(seeds: list[int]) -> list[str]:
        return [r.text for r in await asyncio.gather(*(agent.complete(ASK, seed=s) for s in seeds))]

    first, second = asyncio.run(run([1, 2, 3])), asyncio.run(run([3, 2, 1]))
    agent.close()
    assert first == second[::-1]
    assert len(set(first)) > 1


@needs_model
def test_a_conversation_that_is_too_long(agent: LlamaCppAgent) -> None:
    with pytest.raises(ContextOverflow, match="context"):
        asyncio.run(agent.complete([Message("user", "a b c " * 400)]))


@needs_model
def test_closing_twice_and_calling_after() -> None:
    agent = LlamaCppAgent("smollm2", context=128, parallel=1, threads=1)
    agent.close()
    agent.close()
    with pytest.raises(ModelError, match="closed"):
        asyncio.run(agent.complete(ASK))


def test_wrong_files_and_names(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="Did you mean smollm2"):
        LlamaCppAgent("smolm2")
    wrong = tmp_path / "wrong.gguf"
    wrong.write_bytes(b"not a model")
    with pytest.raises(InvalidConfig, match="whole GGUF"):
        LlamaCppAgent(str(wrong))
    with pytest.raises(InvalidConfig, match="at least 1"):
        LlamaCppAgent(str(wrong), parallel=0)
