"""Settings of GRPO: what does not fit, how many steps they come to, profiles."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentgym.baselines.config import LengthConfig, SamplingConfig
from agentgym.baselines.configfile import load_config, profiles
from agentgym.baselines.grpo import (
    EngineConfig,
    GRPOConfig,
    check,
    plan,
    total_steps,
    updates,
)
from agentgym.core.errors import InvalidConfig
from tests.baselines.guessing import settings


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sampling": SamplingConfig(temperature=0.0)}, "sampling.temperature"),
        ({"sampling": SamplingConfig(temperature=1.0, top_p=0.9)}, "top_p"),
        ({"groups": 3}, "whole steps"),
        ({"save_every": 3, "iterations": 2}, "multiple of 2"),
        ({"reward": "turns", "scale": "batch"}, "turns"),
        ({"tasks": ()}, "nothing to play"),
        ({"samplings": 2}, "not both"),
    ],
)
def test_settings_that_do_not_fit_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidConfig, match=message):
        check(settings(**changes))


def test_steps_follow_from_passes_over_the_tasks() -> None:
    config = settings(optim={"max_steps": None, "epochs": 2.0, "accumulate": 1})
    assert updates(config) == 2
    assert total_steps(config) == 20 * 2  # 20 tasks twice, 2 a sampling, 2 steps each
    counted = config.model_copy(update={"samplings": 5})
    assert total_steps(counted) == 10
    assert any("20 times" in line and "2 tasks x 4 episodes" in line for line in plan(config))


def test_profiles_resolve() -> None:
    assert {"tiny", "paper"} <= set(profiles("grpo"))
    for name in profiles("grpo"):
        config = load_config(GRPOConfig, "grpo", name)
        assert plan(config)
    paper = load_config(GRPOConfig, "grpo", "paper")
    assert (paper.optim.lr, paper.groups, paper.group_size) == (1e-6, 32, 8)
    assert (paper.clip_low, paper.clip_high, paper.kl_coef) == (0.2, 0.28, 0.001)
    assert paper.sampling.temperature == 0.9
    assert json.dumps(paper.model_dump(mode="json"))


def test_trl_is_told_of_vllm_what_the_settings_say_and_nothing_where_it_is_not_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("trl")
    from agentgym.baselines import engine_build

    asked: list[str] = []
    monkeypatch.setattr(engine_build, "require", lambda module, *_: asked.append(module))
    assert engine_build.vllm_arguments(settings(), 2048) == {}
    assert asked == []
    engine = EngineConfig(kind="vllm-server", url="http://h:1", group_port=7, timeout=3)
    config = settings(engine=engine, length=LengthConfig(max_tokens=512))
    told = engine_build.vllm_arguments(config, 2048)
    assert asked == ["vllm"]
    assert (told["use_vllm"], told["vllm_mode"]) == (True, "server")
    assert (told["vllm_server_base_url"], told["vllm_group_port"]) == ("http://h:1", 7)
    assert (told["vllm_server_timeout"], told["vllm_max_model_length"]) == (3, 512)
