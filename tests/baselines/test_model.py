"""What a model is loaded as to be trained."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("trl")

import torch

from agentgym.agents import hf_load
from agentgym.baselines.bc import BCConfig
from agentgym.baselines.catalog import find_baseline
from agentgym.baselines.config import LoraConfig, ModelConfig
from agentgym.baselines.configfile import resolve
from agentgym.baselines.estimate import estimate
from agentgym.baselines.model import load_policy
from agentgym.core.errors import InvalidConfig
from tests.baselines import tiny


def stored(folder: Path, dtype: torch.dtype) -> str:
    """Save a tiny policy in a precision."""
    policy = tiny.policy()
    policy.model.to(dtype)
    return tiny.save(policy, folder)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_whole_weights_are_trained_in_float32(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dtype: torch.dtype
) -> None:
    # Not a CPU, where all is float32, and the only other device there is everywhere.
    monkeypatch.setattr(hf_load, "_device", lambda name: torch.device("meta"))
    start = ModelConfig(name=stored(tmp_path / "m", dtype))
    weights = list(load_policy(start).model.parameters())
    assert {w.dtype for w in weights} == {torch.float32}
    assert {w.device.type for w in weights} == {"meta"}


def test_an_adapter_is_float32_over_what_the_files_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hf_load, "_device", lambda name: torch.device("meta"))
    start = ModelConfig(name=stored(tmp_path / "m", torch.bfloat16), lora=LoraConfig(r=2))
    weights = list(load_policy(start).model.parameters())
    assert {w.dtype for w in weights if w.requires_grad} == {torch.float32}
    assert {w.dtype for w in weights if not w.requires_grad} == {torch.bfloat16}


def test_a_small_step_moves_weights_that_were_stored_in_16_bits(tmp_path: Path) -> None:
    moved = {}
    for dtype in ("auto", "bfloat16"):
        start = ModelConfig(name=stored(tmp_path / dtype, torch.bfloat16), dtype=dtype)
        weight = load_policy(start.model_copy(update={"device": "cpu"})).model.lm_head.weight
        before = weight.detach().clone()
        optimiser = torch.optim.AdamW([weight], lr=1e-5, weight_decay=0.0)
        weight.grad = torch.full_like(weight, 1e-4)
        optimiser.step()
        moved[dtype] = float((weight != before).float().mean())
    assert moved["auto"] > 0.99
    assert moved["bfloat16"] < 0.5


def test_float16_is_refused_where_every_weight_is_trained() -> None:
    with pytest.raises(InvalidConfig, match=r"model.*float16 weights do not survive AdamW"):
        resolve(BCConfig, {"model": {"dtype": "float16"}})
    assert resolve(BCConfig, {"model": {"dtype": "float16", "lora": {}}}).model.held == "float16"


def test_memory_is_estimated_of_the_weights_that_are_held() -> None:
    config = find_baseline("bc").config("paper", ["eval.envs=[]"])
    alone = estimate(config, 1)
    assert alone.memory.weights == 4 * alone.weights
    assert alone.memory.optimiser == 8 * alone.weights
    adapter = config.model_copy(
        update={"model": config.model.model_copy(update={"lora": LoraConfig()})}
    )
    small = estimate(adapter, 1)
    assert small.memory.weights == 2 * (small.weights - small.trained) + 4 * small.trained
