"""Who explores, and what of the settings reaches it."""

from __future__ import annotations

from typing import Any

import pytest

from agentgym.agents.vllm import VLLMAgent
from agentgym.baselines.catalog import find_baseline
from agentgym.baselines.config import ModelConfig
from agentgym.baselines.estimate import estimate
from agentgym.baselines.explore import ExploreConfig, agent_options


@pytest.mark.parametrize(
    ("settings", "engine"),
    [
        ({}, None),
        ({"gpu_memory": 0.4}, {"gpu_memory_utilization": 0.4}),
        (
            {"gpu_memory": 0.4, "options": {"engine": {"tensor_parallel_size": 2}}},
            {"gpu_memory_utilization": 0.4, "tensor_parallel_size": 2},
        ),
        (
            {"gpu_memory": 0.4, "options": {"engine": {"gpu_memory_utilization": 0.7}}},
            {"gpu_memory_utilization": 0.7},
        ),
    ],
)
def test_vllm_is_given_its_part_of_the_gpu(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], engine: dict[str, Any] | None
) -> None:
    monkeypatch.setattr("agentgym.agents.vllm.require", lambda *_: None)
    options = agent_options(ExploreConfig(agent="vllm:{policy}", **settings), ModelConfig())
    assert VLLMAgent("policy", **options).engine_options == (engine or {})
    others = agent_options(ExploreConfig(agent="hf:{policy}", **settings), ModelConfig())
    assert others.get("engine") == settings.get("options", {}).get("engine")


@pytest.mark.parametrize("name", ["agentevol", "dpo"])
def test_the_estimate_counts_what_vllm_is_given(name: str) -> None:
    def playing(*more: str) -> float:
        changes = ["explore.agent=vllm:{policy}", "eval.envs=[]", *more]
        return estimate(find_baseline(name).config("paper", changes)).playing.engine

    assert playing("explore.gpu_memory=0.5") == pytest.approx(0.5 * 80e9)
    assert playing("explore.gpu_memory=null") == pytest.approx(0.9 * 80e9)
