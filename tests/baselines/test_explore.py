"""Who explores, and what of the settings reaches it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentgym.agents.vllm import VLLMAgent
from agentgym.baselines.catalog import find_baseline
from agentgym.baselines.checks import faults
from agentgym.baselines.config import ModelConfig
from agentgym.baselines.estimate import estimate
from agentgym.baselines.explore import ExploreConfig, agent_options
from agentgym.core.errors import InvalidConfig
from tests.baselines.templates import CHATML


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


def test_the_policy_explores_with_the_template_it_is_trained_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentgym.agents.vllm.require", lambda *_: None)
    file = tmp_path / "mine.jinja"
    file.write_text(CHATML)
    model = ModelConfig(chat_template=file, template_options={"enable_thinking": False})
    options = agent_options(ExploreConfig(agent="hf:{policy}"), model)
    assert options["chat_template"] == CHATML
    for agent in ("hf:{policy}", "vllm:{policy}"):
        plain = agent_options(
            ExploreConfig(agent=agent), model.model_copy(update={"chat_template": None})
        )
        assert plain["template_options"] == {"enable_thinking": False}
        assert "chat_template" not in plain
    with pytest.raises(InvalidConfig, match=r"model\.chat_template=.*hf:\{policy\}"):
        agent_options(ExploreConfig(agent="vllm:{policy}"), model)
    # Another model is no business of the policy's template.
    assert "chat_template" not in agent_options(ExploreConfig(agent="hf:owner/other"), model)
    # A plan says so too, unless BC leaves a folder with the template in it.
    given = [f"model.chat_template={file}", "explore.agent=llamacpp:{policy}"]
    alone = find_baseline("dpo").config("tiny", [*given, "model.name=smollm2", "data.expert=[]"])
    assert any("model.chat_template" in str(fault) for fault in faults(alone))
    cloned = find_baseline("dpo").config("tiny", given)
    assert not any("model.chat_template" in str(fault) for fault in faults(cloned))


@pytest.mark.parametrize("name", ["agentevol", "dpo"])
def test_the_estimate_counts_what_vllm_is_given(name: str) -> None:
    def playing(*more: str) -> float:
        changes = ["explore.agent=vllm:{policy}", "eval.envs=[]", *more]
        return estimate(find_baseline(name).config("paper", changes)).playing.engine

    assert playing("explore.gpu_memory=0.5") == pytest.approx(0.5 * 80e9)
    assert playing("explore.gpu_memory=null") == pytest.approx(0.9 * 80e9)
