"""A policy that guesses, and the trainer that improves it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from agentgym.baselines.config import EnvTasks, ModelConfig, SamplingConfig
from agentgym.baselines.grpo import (
    GRPOConfig,
    OutcomeCredit,
)
from agentgym.baselines.model import Policy
from agentgym.baselines.policy_trainer import PolicyTrainer, make_trainer
from agentgym.baselines.progress import Journal, silent
from agentgym.baselines.sampling import Samples

GUESS = EnvTasks(env="tests.toy:tests/Guess-v0", max_rounds=3)


def settings(**changes: Any) -> GRPOConfig:
    optim = {"lr": 1e-2, "max_steps": 3, "batch_size": 4, "accumulate": 2, "threads": 1}
    optim |= changes.pop("optim", {})
    base = GRPOConfig(
        tasks=(GUESS,),
        groups=2,
        group_size=4,
        sampling=SamplingConfig(temperature=0.9, max_tokens=8, max_batch=8, concurrency=8),
        model=ModelConfig(device="cpu"),
        kl_coef=0.0,
        log_every=1,
        tensorboard=False,
    )
    return base.model_copy(update={"optim": base.optim.model_copy(update=optim), **changes})


def trainer_of(policy: Policy, config: GRPOConfig, folder: Path, credit: Any = None) -> Any:
    journal = Journal(folder, silent, tensorboard=False)
    credit = credit or OutcomeCredit(config.reward, config.scale)
    return make_trainer(policy, credit, config, folder, journal)


class Given:
    """Credits rounds with what a test says, whatever happened."""

    def __init__(self, seed: int = 0, constant: float | None = None) -> None:
        self.rng, self.constant = np.random.default_rng(seed), constant

    def meet(self, policy: Any, sampling: Any) -> None: ...

    def assign(self, samples: Samples, step: int) -> tuple[list[Any], dict[str, float]]:
        rounds = [t.episode.rounds for t in samples.trajectories]
        if self.constant is not None:
            return [np.full(k, self.constant) for k in rounds], {}
        return [self.rng.normal(size=k) for k in rounds], {"given": 1.0}

    def summary(self) -> dict[str, Any]:
        return {}

    def state(self) -> dict[str, Any]:
        return {}

    def restore(self, state: Any) -> None: ...

    def close(self) -> None: ...


class ByStep(Given):
    """Credits by the step alone."""

    def assign(self, samples: Samples, step: int) -> tuple[list[Any], dict[str, float]]:
        self.rng = np.random.default_rng(step)
        return super().assign(samples, step)


def batches_of(trainer: PolicyTrainer) -> list[dict[str, Any]]:
    trainer.model.train()
    return trainer._play([n for n in range(2) for _ in range(4)])


def gradient(trainer: PolicyTrainer, batches: list[dict[str, Any]]) -> torch.Tensor:
    trainer.model.zero_grad()
    for batch in batches:
        trainer._compute_loss(trainer.model, batch).backward()
    return torch.cat([p.grad.flatten() for p in trainer.model.parameters() if p.grad is not None])
