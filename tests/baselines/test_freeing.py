"""What a stage held is gone when the next one begins."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl")

import torch

from agentgym.baselines import agentevol, dpo, freeing, grpo
from agentgym.baselines import bc as cloning
from agentgym.baselines import model as models
from agentgym.baselines.configfile import resolve
from agentgym.baselines.progress import silent
from tests.baselines import tiny

OPTIM = {"lr": 1e-2, "max_steps": 1, "batch_size": 1, "threads": 1}
PLAIN: dict[str, Any] = {"log_every": 1, "tensorboard": False, "optim": OPTIM}


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[weakref.ref[Any]]]:
    """Give references to every model that is loaded, with Python's own collection off."""
    found: list[weakref.ref[Any]] = []
    load = models.load

    def watched(*args: Any, **options: Any) -> Any:
        model, tokenizer = load(*args, **options)
        found.append(weakref.ref(model))
        return model, tokenizer

    monkeypatch.setattr(models, "load", watched)
    gc.disable()
    yield found
    gc.enable()


@pytest.fixture
def start(tmp_path: Path) -> dict[str, Any]:
    """Return a policy to begin with, as settings."""
    return {"name": tiny.save(tiny.policy(), tmp_path / "start"), "device": "cpu"}


def test_a_cloned_model_and_what_trained_it_are_gone(
    tmp_path: Path, start: dict[str, Any], loaded: list[weakref.ref[Any]]
) -> None:
    data = {"expert": [{**tiny.GUESS, "tasks": 2}]}
    config = resolve(cloning.BCConfig, {**PLAIN, "model": start, "data": data})
    cloning.train(config, tmp_path / "bc", silent)
    assert len(loaded) == 1
    assert loaded[0]() is None


def test_nothing_is_left_of_a_round_when_the_next_explores(
    tmp_path: Path,
    start: dict[str, Any],
    loaded: list[weakref.ref[Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    alive: list[int] = []
    play = agentevol.explore

    def explore(*args: Any, **options: Any) -> Any:
        alive.append(sum(model() is not None for model in loaded))
        return play(*args, **options)

    monkeypatch.setattr(agentevol, "explore", explore)
    tasks = [{**tiny.GUESS, "tasks": 1}]
    config = resolve(
        agentevol.AgentEvolConfig,
        {**PLAIN, "model": start, "data": {"expert": tasks}, "iterations": 2,
         "explore": {"agent": "hf:{policy}", "envs": tasks, "sampling": {"max_tokens": 2}}},
    )  # fmt: skip
    agentevol.train(config, tmp_path / "evol", silent)
    assert len(loaded) == 3
    assert alive == [0, 0]


def test_a_policy_and_its_reference_are_gone_after_dpo(
    tmp_path: Path, start: dict[str, Any], loaded: list[weakref.ref[Any]]
) -> None:
    tasks = [{**tiny.GUESS, "tasks": 2}]
    config = resolve(
        dpo.DPOConfig,
        {**PLAIN, "model": start,
         "explore": {"agent": "tests.baselines.stub:Sometimes", "envs": tasks}},
    )  # fmt: skip
    dpo.train(config, tmp_path / "dpo", silent)
    assert len(loaded) == 2
    assert [model() for model in loaded] == [None, None]


def test_a_policy_that_played_is_gone_after_grpo(
    tmp_path: Path, start: dict[str, Any], loaded: list[weakref.ref[Any]]
) -> None:
    config = resolve(
        grpo.GRPOConfig,
        {**PLAIN, "model": start, "tasks": [{**tiny.GUESS, "tasks": 1}], "groups": 1,
         "group_size": 2, "kl_coef": 0.1, "sampling": {"max_tokens": 2, "temperature": 1.0},
         "optim": {**OPTIM, "batch_size": 2}},
    )  # fmt: skip
    grpo.train(config, tmp_path / "grpo", silent)
    assert len(loaded) == 1
    assert loaded[0]() is None


def test_moments_and_gradients_are_gone_while_the_result_is_evaluated(
    tmp_path: Path, start: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from agentgym.baselines import training

    made: list[weakref.ref[Any]] = []
    seen: list[tuple[bool, bool]] = []
    make = torch.optim.AdamW.__init__

    def watched(self: Any, *args: Any, **options: Any) -> None:
        made.append(weakref.ref(self))
        make(self, *args, **options)

    def evaluate(policy: Any, *_: Any) -> dict[str, Any]:
        gone = all(optimiser() is None for optimiser in made)
        seen.append((gone, all(w.grad is None for w in policy.model.parameters())))
        return {}

    monkeypatch.setattr(torch.optim.AdamW, "__init__", watched)
    monkeypatch.setattr(training, "evaluate_policy", evaluate)
    tasks = [{**tiny.GUESS, "tasks": 1}]
    config = resolve(
        cloning.BCConfig,
        {**PLAIN, "model": start, "data": {"expert": tasks}, "eval": {"envs": tasks}},
    )
    cloning.train(config, tmp_path / "bc", silent)
    assert made
    assert seen == [(True, True)]


def test_spare_memory_goes_back_to_the_device_even_after_a_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    emptied: list[bool] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: emptied.append(True))

    @freeing.frees
    def stage(fails: bool) -> int:
        if fails:
            raise ValueError("no")
        return 7

    assert stage(False) == 7
    with pytest.raises(ValueError, match="no"):
        stage(True)
    assert emptied == [True, True]
