"""What computes attention: set, refused where it cannot be, and apart where rows are packed."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("trl")

import torch

from agentgym.baselines import sft
from agentgym.baselines.bc import BCConfig
from agentgym.baselines.checks import faults
from agentgym.baselines.config import SamplingConfig
from agentgym.baselines.configfile import resolve
from agentgym.baselines.evaluate import agent_of
from agentgym.baselines.grpo import GRPOConfig
from agentgym.baselines.model import load_policy
from agentgym.baselines.sft import WeightedCollator, require_apart
from agentgym.core.errors import InvalidConfig
from tests.baselines import tiny


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
@pytest.mark.parametrize("lora", [None, {"r": 2}])
def test_a_model_has_the_attention_that_is_set(tmp_path: Path, attention: Any, lora: Any) -> None:
    start = tiny.save(tiny.policy(), tmp_path / "start")
    data = {"name": start, "device": "cpu", "attention": attention, "lora": lora}
    config = resolve(BCConfig, {"model": data}).model
    assert load_policy(config).model.config._attn_implementation == attention
    made = tiny.policy(attention=attention)
    assert made.model.config._attn_implementation == attention


def test_attention_that_is_not_here_is_refused(tmp_path: Path) -> None:
    start = tiny.save(tiny.policy(), tmp_path / "start")
    config = resolve(BCConfig, {"model": {"name": start, "attention": "flash_attention_2"}}).model
    with pytest.raises(InvalidConfig, match="cannot be loaded with flash_attention_2"):
        load_policy(config.model_copy(update={"device": "cpu"}))


@pytest.mark.parametrize(
    ("cls", "data", "told"),
    [
        (BCConfig, {"optim": {"precision": "float32"}}, "optim.precision to bfloat16"),
        (GRPOConfig, {"tasks": [tiny.GUESS]}, "engine.kind to vllm-server"),
    ],
)
def test_flash_where_it_cannot_be_is_refused(cls: Any, data: dict[str, Any], told: str) -> None:
    def found(attention: str) -> list[str]:
        return [str(f) for f in faults(resolve(cls, {"model": {"attention": attention}, **data}))]

    assert any(told in text for text in found("flash_attention_2"))
    assert not any(told in text for text in found("sdpa"))


@pytest.mark.parametrize("attention", [None, "eager", "sdpa"])
def test_packed_rows_are_kept_apart(attention: Any) -> None:
    policy = tiny.policy(attention=attention)
    require_apart(policy.model, WeightedCollator(pad_token_id=0, padding_free=True))
    assert policy.model.training == tiny.policy().model.training


@pytest.mark.parametrize("attention", [None, "flash_attention_2"])
def test_a_model_that_mixes_packed_rows_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, attention: Any
) -> None:
    policy = tiny.policy()
    forward = policy.model.forward
    told = ("position_ids", "seq_idx", "cu_seq_lens_q", "cu_seq_lens_k")

    def mixes(**inputs: Any) -> Any:
        return forward(**{k: v for k, v in inputs.items() if k not in told})

    monkeypatch.setattr(policy.model, "forward", mixes)
    config = tiny.settings(batching="packed", precision="bfloat16")
    model = config.model.model_copy(update={"attention": attention})
    config = config.model_copy(update={"model": model})
    monkeypatch.setattr(sft, "WeightedSFT", lambda **_: None)
    if attention:  # whose kernels are told where sequences end, and run on a GPU alone
        sft.make_trainer(policy, tiny.rows(policy), config, tmp_path)
    else:
        with pytest.raises(InvalidConfig, match="packed row read each other"):
            sft.make_trainer(policy, tiny.rows(policy), config, tmp_path)


def test_a_model_plays_without_flash_and_learns_on_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    policy = tiny.policy()
    seen: list[str] = []
    config = SimpleNamespace(_attn_implementation="flash_attention_2")

    def put(name: str) -> None:
        seen.append(name)
        config._attn_implementation = name

    monkeypatch.setattr(policy.model, "config", config)
    monkeypatch.setattr(policy.model, "set_attn_implementation", put)
    monkeypatch.setattr(
        "agentgym.baselines.evaluate.HFAgent", lambda *_, **__: SimpleNamespace(close=lambda: None)
    )
    with agent_of(policy, SamplingConfig()):
        assert seen == ["sdpa"]
    assert seen == ["sdpa", "flash_attention_2"]
    assert isinstance(policy.model, torch.nn.Module)
