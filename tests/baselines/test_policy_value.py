"""The policy's own value of a moment: known answers, and what they cost."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from agentgym.agents.base import ModelError
from agentgym.agents.message import Message
from agentgym.baselines.attribution import (
    Attribution,
    AttributionConfig,
    PolicyValueAttributor,
    assign_credit,
    build_attributor,
)
from agentgym.baselines.config import SamplingConfig
from agentgym.core.errors import InvalidConfig
from agentgym.rollout.episode import Episode
from agentgym.rollout.limits import RunAborted
from tests.baselines.chain import CHAIN
from tests.baselines.episodes import record
from tests.models import ScriptedModel, halving

CHANCE = 0.6


def lucky(messages: Sequence[Message], seed: int) -> str:
    """Say "a" with a chance of `CHANCE`."""
    return "Action: " + "ba"[int(np.random.default_rng(seed).random() < CHANCE)]


def chain(*actions: str | None) -> Episode:
    return record(CHAIN, "bandit_0", actions)


def ask(attributor: PolicyValueAttributor, episode: Episode) -> Attribution:
    return asyncio.run(attributor.attribute(episode))


def test_a_moment_is_worth_what_the_policy_would_make_of_it() -> None:
    attributor = PolicyValueAttributor(ScriptedModel(lucky), rollouts=600)
    answer = ask(attributor, chain("a", "a", "b"))
    values = answer.evidence["values"]
    assert values[:3] == pytest.approx([CHANCE**3, CHANCE**2, CHANCE], abs=0.06)
    assert values[3] == 0.0
    assert answer.credits == pytest.approx(np.diff(values))
    assert answer.credits is not None
    assert answer.credits[2] < -0.5, "the step that lost it has the blame"
    assert sum(answer.credits) == pytest.approx(-values[0])
    # Per rollout 1 + p + p^2, 1 + p and 1 rounds, each a call; and the record's three.
    rounds = (1 + CHANCE + CHANCE**2) + (1 + CHANCE) + 1
    assert answer.spent.calls == pytest.approx(600 * rounds, rel=0.05)
    assert answer.spent.env_steps == answer.spent.calls + 3
    assert answer.spent.input_tokens == 10 * answer.spent.calls


def test_the_same_again_gives_the_same() -> None:
    def answer(**options: Any) -> Attribution:
        return ask(PolicyValueAttributor(ScriptedModel(lucky), **options), chain("a", "b"))

    wide = SamplingConfig(concurrency=32)
    assert answer(rollouts=5) == answer(rollouts=5) == answer(rollouts=5, sampling=wide)
    assert answer(rollouts=50) != answer(rollouts=50, seed=1)


def test_the_policy_goes_on_from_its_own_conversation() -> None:
    """Halving finds the number in six rounds only as it reads what it was told before."""
    talks: list[list[Message]] = []

    def reads(messages: Sequence[Message], seed: int) -> str:
        talks.append(list(messages))
        return halving(messages, seed)

    played = ["guess 25", "guess 12", "guess 6"]
    episode = record("tests.toy:tests/Guess-v0", "guess_3", played)
    attributor = PolicyValueAttributor(ScriptedModel(reads), rollouts=1)
    answer = ask(attributor, episode)
    assert answer.status == "labelled"
    assert answer.evidence["values"][0] == answer.evidence["values"][3] > 0
    past = [text for step in episode.steps for text in (step.reply, step.observation)]
    told = [[message.content for message in talk[2:]] for talk in talks]
    assert [episode.observation, *past] in told
    assert [episode.observation, *past[:2]] in told


def test_equal_moments_are_valued_once_for_the_batch() -> None:
    model = ScriptedModel(lambda messages, seed: "Action: a")
    attributor = PolicyValueAttributor(model, rollouts=2)
    episodes = [chain("b"), chain("a", "b"), chain("a", "a", "a")]
    episodes = [e.model_copy(update={"attempt": i}) for i, e in enumerate(episodes)]
    done = assign_credit(episodes, ["g"] * 3, attributor)
    assert done.credits == [(-1.0,), (0.0, -1.0), (0.0, 0.0, 0.0)]
    # The start, after "a", after "a a": three, two and one replies, twice each.
    assert model.calls == done.report.spent.calls == 2 * (3 + 2 + 1)
    assert done.environment_seconds > 0


def test_the_horizon_bounds_a_continuation() -> None:
    model = ScriptedModel(lambda messages, seed: "Action: a")
    answer = ask(PolicyValueAttributor(model, rollouts=1, horizon=2), chain("a", "b"))
    assert answer.evidence["values"] == [0.0, 1.0, 0.0]
    assert model.calls == 2 + 2


def test_what_breaks_is_a_failure_or_ends_the_run() -> None:
    def broken(messages: Sequence[Message], seed: int) -> str:
        raise ModelError("gone")

    answer = ask(PolicyValueAttributor(ScriptedModel(broken), rollouts=2), chain("a"))
    assert (answer.status, answer.failure) == ("failed", "model")
    assert "gone" in answer.message
    one = SamplingConfig(concurrency=1)
    many = PolicyValueAttributor(ScriptedModel(broken), one, rollouts=2, failures=3)
    with pytest.raises(RunAborted, match="gone"):
        ask(many, chain("a", "a", "b"))
    untrue = chain("a").model_copy(update={"score": 0.5})
    assert ask(PolicyValueAttributor(ScriptedModel(lucky)), untrue).failure == "environment"
    with pytest.raises(InvalidConfig, match="nobody"):
        ask(PolicyValueAttributor(), chain("a"))


def test_a_configuration_names_the_policy_itself() -> None:
    config = AttributionConfig(method="monte_carlo", policy="self", rollouts=3, horizon=5)
    attributor = build_attributor(config)
    assert isinstance(attributor, PolicyValueAttributor)
    assert (attributor.rollouts, attributor.horizon, attributor.agent) == (3, 5, None)
    with pytest.raises(ValidationError, match="changes with every step"):
        AttributionConfig(method="monte_carlo", policy="self", cache="values.jsonl")


def test_a_policy_is_trained_with_its_own_values(tmp_path: Path) -> None:
    """One that says "a" half the time: 1/8 at first, then 1/4 and 1/2, from its own engine."""
    pytest.importorskip("trl")
    import torch

    from agentgym.baselines.adca_grpo import CompositeCredit
    from agentgym.baselines.adca_options import AdcaOptions
    from agentgym.baselines.config import EnvTasks
    from tests.baselines.bandit import gambler
    from tests.baselines.guessing import settings, trainer_of

    torch.set_num_threads(1)
    config = settings(
        tasks=(EnvTasks(env=CHAIN),),
        sampling=SamplingConfig(temperature=1.0, max_tokens=1, concurrency=32, max_batch=32),
        optim={"batch_size": 8, "accumulate": 1, "max_steps": 1},
    )
    attributor = PolicyValueAttributor(rollouts=64)
    credit = CompositeCredit(attributor, AdcaOptions(alpha=0.2))
    trainer = trainer_of(gambler(), config, tmp_path, credit)
    trainer.train()
    done = credit.report
    assert (done.labelled, done.failed) == (8, 0)
    assert done.spent.calls > 64
    point = trainer.state.log_history[0]
    assert 0 < point["attribution_environment_seconds"] <= point["attribution_seconds"]
    episodes = [t.episode for t in trainer.samples.trajectories]
    fresh = PolicyValueAttributor(rollouts=64)
    policy = gambler()  # as it was before its step
    other = trainer_of(policy, config, tmp_path / "other", CompositeCredit(fresh, AdcaOptions()))
    answers = assign_credit(episodes, ["g"] * 8, fresh).attributions
    other.engine.close()
    for answer in answers:
        values = answer.evidence["values"][:-1]
        assert values == pytest.approx([1 / 8, 1 / 4, 1 / 2][: len(values)], abs=0.2)
