"""A tiny policy and a few sequences for it, for tests of trainers: no download, milliseconds."""

from __future__ import annotations

import dataclasses
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from agentgym.baselines.chat import ChatTemplate, texts_of
from agentgym.baselines.config import LengthConfig, ModelConfig, RunConfig, ScratchConfig
from agentgym.baselines.examples import (
    EnvTasks,
    Example,
    Row,
    example_of,
    expert_episodes,
    make_rows,
)
from agentgym.baselines.model import Policy, load_policy
from agentgym.baselines.training import _Lines

SHAPE = ScratchConfig(vocab=400, hidden=32, layers=2, heads=2, context=2048)
MODEL = ModelConfig(name="scratch", scratch=SHAPE, device="cpu")
GUESS: dict[str, Any] = {"env": "tests.toy:tests/Guess-v0"}
"""An environment whose conversations are short, so that tests are quick."""
MAZE: dict[str, Any] = {"env": "maze", "options": {"size": [5, 5]}, "max_rounds": 8}


@lru_cache
def examples(tasks: int = 6) -> tuple[Example, ...]:
    """Return the expert's episodes of some tasks."""
    return tuple(example_of(e) for e in expert_episodes(EnvTasks(**GUESS, tasks=tasks)))


def policy(seed: int = 0, **changes: Any) -> Policy:
    """Return a tiny policy from scratch."""
    config = MODEL.model_copy(update=changes)
    return load_policy(config, texts_of(e.messages for e in examples()), seed=seed)


def rows(of: Policy, tasks: int = 6, weight: float = 1.0) -> list[Row]:
    """Return the sequences of some demonstrations."""
    template = ChatTemplate(of.tokenizer, of.ends)
    some = [e.weighted(weight) for e in examples(tasks)]
    return make_rows(some, template, LengthConfig(), context=of.context)[0]


def settings(**optim: Any) -> RunConfig:
    """Return settings of a short run."""
    plain = {"lr": 3e-3, "max_steps": 4, "batch_size": 2, "schedule": "constant", "warmup": 0.0,
             "threads": 1}  # fmt: skip
    config = RunConfig(model=MODEL, log_every=1, tensorboard=False)
    return config.model_copy(update={"optim": config.optim.model_copy(update={**plain, **optim})})


class Killed(Exception):
    """Stands for the end of the process."""


def die_at_step(step: int, patch: pytest.MonkeyPatch) -> None:
    """End training once this step has been logged."""
    on_log = _Lines.on_log

    def die(self: Any, args: Any, state: Any, control: Any, **more: Any) -> None:
        on_log(self, args, state, control, **more)
        if state.global_step == step:
            raise Killed

    patch.setattr(_Lines, "on_log", die)


def save(of: Policy, folder: Path) -> str:
    """Save a policy as a model folder and return its path."""
    from agentgym.baselines.model import save_policy

    return str(save_policy(dataclasses.replace(of), folder))
