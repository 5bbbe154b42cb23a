"""Runs of GRPO: a bandit that is learned, what is left behind, and one that was killed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from agentgym.baselines.config import EnvTasks, EvalConfig, ModelConfig, SamplingConfig
from agentgym.baselines.grpo import train
from agentgym.baselines.model import Policy
from agentgym.baselines.policy_trainer import PolicyTrainer
from agentgym.baselines.progress import read_curve, silent
from tests.baselines import tiny
from tests.baselines.bandit import BANDIT, gambler
from tests.baselines.guessing import GUESS, ByStep, settings, trainer_of


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def chance_of_a(policy: Policy, trainer: PolicyTrainer) -> float:
    t = trainer.samples.trajectories[0]
    with torch.no_grad():
        logits = policy.model(torch.tensor([t.prompt_ids])).logits[0, -1]
    token = policy.tokenizer.encode("a", add_special_tokens=False)[0]
    return float(torch.softmax(logits, -1)[token])


def bandit(folder: Path, **changes: Any) -> tuple[list[float], float]:
    policy = gambler()
    optim = {"lr": 3e-2, "max_steps": 4, "batch_size": 8, "accumulate": 1}
    config = settings(
        tasks=(EnvTasks(env=BANDIT),),
        groups=2,
        sampling=SamplingConfig(temperature=1.0, max_tokens=1, concurrency=8, max_batch=8),
        optim=optim,
        **changes,
    )
    trainer = trainer_of(policy, config, folder)
    trainer.train()
    logs = [p["reward"] for p in trainer.state.log_history if "reward" in p]
    return logs, chance_of_a(policy, trainer)


def test_a_bandit_is_learned_and_each_time_the_same_way(tmp_path: Path) -> None:
    rewards, chance = bandit(tmp_path / "one")
    assert 0.2 < rewards[0] < 0.8
    assert chance > 0.8
    assert (rewards, chance) == bandit(tmp_path / "two")


def test_a_strong_pull_to_the_reference_holds_the_bandit_back(tmp_path: Path) -> None:
    _, free = bandit(tmp_path / "free")
    _, held = bandit(tmp_path / "held", kl_coef=3.0)
    assert held < free - 0.05


def test_a_run_leaves_a_curve_a_policy_and_an_evaluation(tmp_path: Path) -> None:
    start = tiny.save(tiny.policy(), tmp_path / "start")
    config = settings(
        model=ModelConfig(name=start, device="cpu"),
        optim={"max_steps": 2, "lr": 1e-3},
        kl_coef=0.001,
        old="recomputed",
        eval=EvalConfig(
            envs=(EnvTasks(env=GUESS.env, split="eval", tasks=2, max_rounds=2),),
            every=1,
            sampling=SamplingConfig(max_tokens=4),
        ),
    )
    said: list[str] = []
    result = train(config, tmp_path / "run", said.append)
    assert result["steps"] == 2
    assert result["left_out"] == {}
    points = list(read_curve(tmp_path / "run" / "curve.jsonl"))
    shown = [p for p in points if p["group"] == "train"]
    for name in ("reward", "success", "length", "kl", "clipped", "entropy", "idle_share",
                 "tokens_per_second", "left_out", "rewritten_turns", "old_difference"):  # fmt: skip
        assert all(name in p for p in shown), name
    assert all(p["old_difference"] < 1e-4 for p in shown)
    assert 0 <= shown[0]["idle_share"] < 1
    assert [p["step"] for p in points if p["group"] == "eval"] == [1, 2]
    assert any("episodes · score" in line for line in said)
    assert (tmp_path / "run" / "model" / "model.safetensors").exists()
    assert train(config, tmp_path / "run", said.append) == result, "a finished run stays"


def test_a_run_that_was_killed_goes_on_as_if_it_had_not_been(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = tiny.save(tiny.policy(), tmp_path / "start")
    config = settings(
        tasks=(GUESS.model_copy(update={"max_rounds": 2}),),
        model=ModelConfig(name=start, device="cpu"),
        optim={"max_steps": 4, "lr": 1e-3},
        kl_coef=0.01,
        save_every=1,
    )
    monkeypatch.setattr("agentgym.baselines.grpo.OutcomeCredit", lambda *_: ByStep())
    play = PolicyTrainer._play

    def lose(trainer: PolicyTrainer, numbers: Any) -> Any:
        trainer.left_out["lost"] += 1
        return play(trainer, numbers)

    monkeypatch.setattr(PolicyTrainer, "_play", lose)
    whole = train(config, tmp_path / "whole", silent)
    with monkeypatch.context() as patch:
        tiny.die_at_step(3, patch)
        with pytest.raises(tiny.Killed):
            train(config, tmp_path / "killed", silent)
    said: list[str] = []
    killed = train(config, tmp_path / "killed", said.append)
    assert any("going on from step" in line for line in said)
    assert killed["left_out"] == whole["left_out"] == {"lost": 4}
    curves = [
        [
            {
                k: v
                for k, v in p.items()
                if "second" not in k and "share" not in k and "time" not in k
            }
            for p in read_curve(tmp_path / name / "curve.jsonl")
        ]
        for name in ("whole", "killed")
    ]
    assert curves[0] == curves[1]
    assert len(curves[0]) == 4
    weights = [tmp_path / name / "model" / "model.safetensors" for name in ("whole", "killed")]
    assert weights[0].read_bytes() == weights[1].read_bytes()
