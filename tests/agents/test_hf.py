"""The hf agent: batching, drawing, and kept keys and values that change nothing but the time."""

from __future__ import annotations

import asyncio
import itertools
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agentgym.agents.base import ContextOverflow, ModelError
from agentgym.agents.message import Message, Reply, ToolCall
from agentgym.core.errors import InvalidConfig, MissingExtra, UnknownName

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from agentgym.agents.hf import HFAgent, parse_tool_calls  # noqa: E402
from agentgym.agents.hf_cache import Kept, Store  # noqa: E402
from agentgym.agents.hf_generate import Sampling, draw  # noqa: E402
from tests.agents.tiny_model import tiny_model, tiny_tokenizer  # noqa: E402

TOKENIZER = tiny_tokenizer()
MODEL = tiny_model(TOKENIZER)
EOS = TOKENIZER.eos_token_id


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def make(**options: Any) -> HFAgent:
    defaults: dict[str, Any] = {"tokenizer": TOKENIZER, "max_tokens": 12, "max_wait": 0.05}
    return HFAgent(options.pop("model", MODEL), **{**defaults, **options})


def opening(i: int) -> list[Message]:
    rules = "You are at the door. " * 8
    return [
        Message("user", rules if i % 3 else "Go."),
        Message("assistant", "OK."),
        Message("user", f"{i} " + "north or south, " * (i % 5)),
    ]


def play(agent: HFAgent, episodes: int, turns: int = 3, together: bool = True) -> list[list[Reply]]:
    """Play conversations of several turns, as many at a time or one after another."""

    async def episode(i: int) -> list[Reply]:
        messages, replies = opening(i), []
        for turn in range(turns):
            reply = await agent.complete(messages, episode=f"e{i}", seed=100 * i + turn)
            replies.append(reply)
            answer = f"{turn}: you went {'north ' * (1 + (i + turn) % 4)}"
            messages = [*messages, Message("assistant", reply.text), Message("user", answer)]
        agent.release(f"e{i}")
        return replies

    async def run() -> list[list[Reply]]:
        if together:
            return list(await asyncio.gather(*(episode(i) for i in range(episodes))))
        return [await episode(i) for i in range(episodes)]

    try:
        return asyncio.run(run())
    finally:
        agent.close()


def flat(episodes: list[list[Reply]]) -> list[Reply]:
    return [reply for replies in episodes for reply in replies]


def same(left: list[list[Reply]], right: list[list[Reply]]) -> None:
    for a, b in zip(flat(left), flat(right), strict=True):
        assert a.sampled is not None
        assert b.sampled is not None
        assert a.sampled.prompt_ids == b.sampled.prompt_ids
        assert a.sampled.token_ids == b.sampled.token_ids
        assert a.text == b.text
        assert a.finish_reason == b.finish_reason
        np.testing.assert_allclose(a.sampled.logprobs, b.sampled.logprobs, atol=1e-4)


def test_kept_keys_and_values_change_nothing() -> None:
    kept = play(make(), 10)
    fresh = play(make(cache_tokens=0), 10)
    same(kept, fresh)
    lengths = {len(r.sampled.token_ids) for r in flat(kept)}
    assert {r.finish_reason for r in flat(kept)} == {"stop", "length"}
    assert len(lengths) > 3, "rows should end at different steps for this test to mean anything"
    assert sum(r.usage.cached_tokens for r in flat(kept)) > 1000
    for replies in kept:
        for before, after in itertools.pairwise(r.usage for r in replies):
            assert after.cached_tokens >= before.input_tokens - 1


def test_a_reply_does_not_depend_on_who_is_in_the_batch() -> None:
    batched = play(make(max_batch=8), 8)
    alone = play(make(max_batch=1, cache_tokens=0), 8, together=False)
    same(batched, alone)


def test_drawn_replies_follow_from_the_seed_alone() -> None:
    options = {"temperature": 1.0, "top_p": 0.9}
    batched = play(make(**options), 8)
    alone = play(make(**options, max_batch=1, cache_tokens=0), 8, together=False)
    same(batched, alone)
    greedy = play(make(), 8)
    assert [r.text for r in flat(greedy)] != [r.text for r in flat(batched)]


def test_logprobs_are_those_of_teacher_forcing() -> None:
    for replies in play(make(temperature=0.7), 6):
        for reply in replies:
            s = reply.sampled
            ids = torch.tensor([[*s.prompt_ids, *s.token_ids]])
            with torch.inference_mode():
                logits = MODEL(ids).logits[0, len(s.prompt_ids) - 1 : -1].float()
            wanted = torch.log_softmax(logits / 0.7, -1)
            chosen = wanted.gather(1, torch.tensor(s.token_ids)[:, None])[:, 0]
            np.testing.assert_allclose(chosen.numpy(), s.logprobs, atol=1e-4)


def test_greedy_is_what_transformers_generates() -> None:
    agent = make(max_tokens=20)
    prompt = agent.encode(opening(1))
    reply = asyncio.run(agent.complete(opening(1)))
    out = MODEL.generate(torch.tensor([prompt]), max_new_tokens=20, do_sample=False)
    assert reply.sampled.token_ids == tuple(out[0, len(prompt) :].tolist())
    agent.close()


def test_the_end_token_is_written_but_not_said() -> None:
    agent = make(model=tiny_model(TOKENIZER, eos_bias=100.0))
    reply = asyncio.run(agent.complete(opening(0)))
    assert reply.text == ""
    assert reply.sampled.token_ids == (EOS,)
    assert reply.finish_reason == "stop"
    agent.close()


def test_a_changed_history_is_read_again() -> None:
    async def run(agent: HFAgent) -> Reply:
        await agent.complete(opening(4), episode="a")
        other = [*opening(4)[:-1], Message("user", "something else entirely")]
        return await agent.complete(other, episode="a")

    kept, fresh = make(), make(cache_tokens=0)
    a, b = asyncio.run(run(kept)), asyncio.run(run(fresh))
    assert a.sampled.token_ids == b.sampled.token_ids
    assert 0 < a.usage.cached_tokens < a.usage.input_tokens
    kept.close()
    fresh.close()


def test_the_same_prompt_again_is_answered_again() -> None:
    async def run(agent: HFAgent) -> tuple[Reply, Reply]:
        return (
            await agent.complete(opening(1), episode="a"),
            await agent.complete(opening(1), episode="a"),
        )

    agent = make()
    first, second = asyncio.run(run(agent))
    assert first.sampled.token_ids == second.sampled.token_ids
    assert second.usage.cached_tokens == second.usage.input_tokens - 1
    agent.close()


def test_release_and_the_bound_forget() -> None:
    async def run(agent: HFAgent) -> None:
        for i in range(6):
            await agent.complete(opening(1), episode=f"e{i}")

    agent = make(cache_tokens=400)
    asyncio.run(run(agent))
    assert 0 < agent._store.tokens <= 400
    assert "e5" in agent._store
    assert "e0" not in agent._store
    agent.release("e5")
    assert "e5" not in agent._store
    agent.forget()
    assert agent._store.tokens == 0
    agent.close()


def kept(*tokens: int) -> Kept:
    return Kept(np.array(tokens), [(torch.zeros(1, len(tokens), 1),) * 2])


def test_the_store_leaves_the_last_token_and_the_oldest_episode() -> None:
    store = Store(10, shortest=2)
    store.put("a", kept(1, 2, 3, 4))
    assert len(store.find("a", [1, 2, 3, 4])) == 3
    assert len(store.find("new", [1, 2, 9])) == 2
    assert store.find("new", [1, 9, 9]) is None
    assert store.find("a", [9, 9]) is None
    store.put("b", kept(5, 6, 7, 8))
    store.find("a", [1, 2])
    store.put("c", kept(5, 6, 7))
    assert ("a" in store, "b" in store, "c" in store) == (True, False, True)
    store.put("d", kept(*range(11)))
    assert "d" not in store


def test_stop_strings_end_a_reply_and_are_not_part_of_it() -> None:
    plain = asyncio.run((agent := make(max_tokens=20)).complete(opening(1))).text
    agent.close()
    stop = plain[3:5]
    agent = make(max_tokens=20, stop=stop)
    reply = asyncio.run(agent.complete(opening(1)))
    assert reply.text == plain.split(stop, 1)[0]
    assert reply.finish_reason == "stop"
    agent.close()


def test_a_conversation_that_is_too_long() -> None:
    agent = make(context=40)
    with pytest.raises(ContextOverflow, match="takes 40"):
        asyncio.run(agent.complete(opening(1)))
    n = len(make().encode(opening(0)))
    tight = make(context=n + 2, model=tiny_model(TOKENIZER, eos_bias=-100.0))
    reply = asyncio.run(tight.complete(opening(0)))
    assert len(reply.sampled.token_ids) == 2
    assert reply.finish_reason == "length"
    agent.close()
    tight.close()


def test_a_failure_of_the_model_reaches_its_callers_and_nobody_after() -> None:
    agent = make()
    agent.model = None
    with pytest.raises(Exception, match="NoneType"):
        asyncio.run(agent.complete(opening(0)))
    agent.model = MODEL
    assert asyncio.run(agent.complete(opening(0))).sampled
    agent.close()
    with pytest.raises(ModelError, match="closed"):
        asyncio.run(agent.complete(opening(0)))
    agent.close()


def test_models_that_do_not_keep_everything_are_read_again_each_turn() -> None:
    from transformers import MistralConfig, MistralForCausalLM

    config = MistralConfig(
        vocab_size=len(TOKENIZER), hidden_size=64, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, sliding_window=16, initializer_range=0.25,
        eos_token_id=EOS, pad_token_id=0, bos_token_id=None,
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = MistralForCausalLM(config).eval()
    batched = play(make(model=model), 4)
    assert all(r.usage.cached_tokens == 0 for r in flat(batched))
    agent = make(model=model)
    prompt = agent.encode(opening(1))
    reply = asyncio.run(agent.complete(opening(1)))
    out = model.generate(torch.tensor([prompt]), max_new_tokens=12, do_sample=False)
    assert reply.sampled.token_ids == tuple(out[0, len(prompt) :].tolist())
    agent.close()


def test_tool_calls() -> None:
    template = TOKENIZER.chat_template + "{% if tools %}<tool_call>{% endif %}"
    assert make(chat_template=template).supports_tools
    assert not make().supports_tools
    broken = "<tool_call>{not json}</tool_call>"
    assert parse_tool_calls(broken) == (broken, ())
    text = '<tool_call>\n{"name": "go", "arguments": "{}"}\n</tool_call><tool_call>{"name": "b"}'
    assert parse_tool_calls(text + "</tool_call>")[1] == (
        ToolCall("go", "{}", "call_0"),
        ToolCall("b", "{}", "call_1"),
    )


def test_a_template_that_refuses_is_an_error_of_the_call() -> None:
    agent = make(chat_template="{{ raise_exception('roles must alternate') }}")
    with pytest.raises(ModelError, match="roles must alternate"):
        asyncio.run(agent.complete(opening(0)))


def test_configuration_errors_say_what_to_do(tmp_path) -> None:
    with pytest.raises(UnknownName, match="Did you mean smollm2"):
        HFAgent("smolm2")
    with pytest.raises(InvalidConfig, match="not a model folder"):
        HFAgent(str(tmp_path))
    with pytest.raises(InvalidConfig, match="tokenizer"):
        HFAgent(MODEL)
    bare = tiny_tokenizer()
    bare.chat_template = None
    with pytest.raises(InvalidConfig, match="chat_template="):
        HFAgent(MODEL, tokenizer=bare)


def test_a_folder_is_loaded_with_device_and_dtype(tmp_path) -> None:
    tied = tiny_model(TOKENIZER)
    tied.lm_head = torch.nn.Linear(64, len(TOKENIZER), bias=False)
    tied.save_pretrained(tmp_path / "m")
    TOKENIZER.save_pretrained(tmp_path / "m")
    agent = HFAgent(str(tmp_path / "m"), dtype="bfloat16", device="cpu", max_tokens=3)
    assert asyncio.run(agent.complete(opening(0))).sampled
    described = agent.describe()
    assert (described["dtype"], described["device"]) == ("bfloat16", "cpu")
    assert agent.name == "m"
    agent.close()
    with pytest.raises(InvalidConfig, match="float32"):
        HFAgent(str(tmp_path / "m"), dtype="int8")
    with pytest.raises(InvalidConfig, match="device"):
        HFAgent(str(tmp_path / "m"), device="gpu")


def save_tiny(folder: Path) -> None:
    """Save a model that `from_pretrained` reads back as it was: without the bias of its head."""
    model = tiny_model(TOKENIZER)
    head = torch.nn.Linear(64, len(TOKENIZER), bias=False)
    head.weight.data.copy_(model.lm_head.weight.data)
    model.lm_head = head
    model.save_pretrained(folder)
    TOKENIZER.save_pretrained(folder)


def test_a_lora_adapter_is_merged_into_the_model(tmp_path: Path) -> None:
    peft = pytest.importorskip("peft")
    from transformers import AutoModelForCausalLM

    save_tiny(tmp_path / "m")
    with torch.random.fork_rng():
        torch.manual_seed(1)
        base = AutoModelForCausalLM.from_pretrained(tmp_path / "m")
        config = peft.LoraConfig(
            r=4, lora_alpha=64, target_modules=["q_proj", "v_proj"], init_lora_weights=False
        )
        peft.get_peft_model(base, config).save_pretrained(tmp_path / "adapter")
    replies = []
    for adapter in (None, str(tmp_path / "adapter")):
        agent = HFAgent(str(tmp_path / "m"), device="cpu", max_tokens=12, adapter=adapter)
        replies.append(asyncio.run(agent.complete(opening(0))).text)
        assert agent.describe()["adapter"] == adapter
        agent.close()
    assert replies[0] != replies[1]


def test_an_adapter_without_peft_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_tiny(tmp_path / "m")
    monkeypatch.setitem(sys.modules, "peft", None)
    with pytest.raises(MissingExtra, match=r"agentgym\[lora\]"):
        HFAgent(str(tmp_path / "m"), device="cpu", adapter="x")


def test_drawing() -> None:
    logits = torch.log(torch.tensor([[0.5, 0.3, 0.15, 0.05]])).repeat(4000, 1)

    def shares(sampling: Sampling) -> list[float]:
        generators = [torch.Generator().manual_seed(i) for i in range(4000)]
        tokens, _ = draw(logits, sampling, generators)
        return [tokens.count(i) / 4000 for i in range(4)]

    np.testing.assert_allclose(shares(Sampling(1.0)), [0.5, 0.3, 0.15, 0.05], atol=0.03)
    np.testing.assert_allclose(shares(Sampling(1.0, top_p=0.75)), [0.625, 0.375, 0, 0], atol=0.03)
    np.testing.assert_allclose(shares(Sampling(1.0, top_k=1)), [1, 0, 0, 0])
    assert shares(Sampling(1.0, top_p=0.0)) == [1, 0, 0, 0]
    cold = shares(Sampling(0.5))
    np.testing.assert_allclose(cold[0], 0.25 / 0.365, atol=0.03)


def test_importing_the_agent_does_not_import_torch() -> None:
    code = "import sys, agentgym.agents.hf; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
