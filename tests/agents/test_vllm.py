"""The vllm agent against a stand-in for vllm that records what it is asked."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from agentgym.agents.base import ContextOverflow, ModelError
from agentgym.agents.message import Message
from agentgym.agents.vllm import VLLMAgent
from agentgym.core.errors import MissingExtra
from agentgym.core.extras import installed

ASK = [Message("user", "north or south?")]


class Engine:
    """Answers the ids 5, 6 and the end; records calls."""

    started: list[Any]
    calls: list[tuple[Any, Any, str]]

    def __init__(self) -> None:
        self.calls, self.stopped, self.error = [], 0, None

    async def generate(self, prompt: Any, params: Any, request_id: str):
        self.calls.append((prompt, params, request_id))
        if self.error:
            raise self.error
        for n in (1, 3):
            ids = [5, 6, 2][:n]
            step = [{i: SimpleNamespace(logprob=-0.5 * i)} for i in ids]
            done = SimpleNamespace(
                text="go"[:n], token_ids=ids, logprobs=step, finish_reason="stop"
            )
            yield SimpleNamespace(outputs=[done], num_cached_tokens=3)

    def shutdown(self) -> None:
        self.stopped += 1


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> SimpleNamespace:
    pytest.importorskip("transformers")
    from tests.agents.tiny_model import tiny_tokenizer

    tiny_tokenizer().save_pretrained(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    engine, started = Engine(), []

    def from_engine_args(args: Any) -> Engine:
        started.append(args)
        return engine

    module = ModuleType("vllm")
    module.SamplingParams = lambda **kw: SimpleNamespace(**kw)  # type: ignore[attr-defined]
    module.AsyncEngineArgs = lambda **kw: SimpleNamespace(**kw)  # type: ignore[attr-defined]
    module.AsyncLLMEngine = SimpleNamespace(  # type: ignore[attr-defined]
        from_engine_args=from_engine_args
    )
    monkeypatch.setitem(sys.modules, "vllm", module)
    return SimpleNamespace(engine=engine, started=started, folder=str(tmp_path))


def test_the_right_call_is_made_and_read(fake: SimpleNamespace) -> None:
    agent = VLLMAgent(
        fake.folder, temperature=0.5, top_p=0.9, max_tokens=7, stop="\n", context=100,
        engine={"dtype": "float16"},
    )  # fmt: skip
    assert not fake.started, "the engine belongs to the loop that first calls it"
    reply = asyncio.run(agent.complete(ASK, episode="e", seed=2**70 + 3))
    (args,) = fake.started
    assert (args.model, args.dtype, args.max_model_len) == (fake.folder, "float16", 100)
    (prompt, params, request_id) = fake.engine.calls[0]
    assert prompt["prompt_token_ids"] == list(reply.sampled.prompt_ids)
    assert (params.temperature, params.top_p, params.max_tokens) == (0.5, 0.9, 7)
    assert params.stop == ["\n"]
    assert 0 <= params.seed < 2**63
    assert request_id.startswith("e#")
    assert reply.text == "go"
    assert reply.sampled.token_ids == (5, 6, 2)
    assert reply.sampled.logprobs == (-2.5, -3.0, -1.0)
    assert (reply.usage.output_tokens, reply.usage.cached_tokens) == (3, 3)
    asyncio.run(agent.complete(ASK, episode="e"))
    assert fake.engine.calls[1][2] != request_id
    assert len(fake.started) == 1
    agent.close()
    agent.close()
    assert fake.engine.stopped == 1


def test_failures(fake: SimpleNamespace) -> None:
    with pytest.raises(ContextOverflow):
        asyncio.run(VLLMAgent(fake.folder, context=3).complete(ASK))
    agent = VLLMAgent(fake.folder)
    fake.engine.error = ValueError("The prompt is longer than the maximum model length of 8")
    with pytest.raises(ContextOverflow):
        asyncio.run(agent.complete(ASK))
    fake.engine.error = ValueError("temperature must be non-negative")
    with pytest.raises(ModelError, match="refuses") as caught:
        asyncio.run(agent.complete(ASK))
    assert not isinstance(caught.value, ContextOverflow)


def test_without_vllm_the_page_is_named() -> None:
    if installed("vllm"):
        pytest.skip("vllm is installed")
    with pytest.raises(MissingExtra, match=r"docs/models\.md"):
        VLLMAgent("m")
