"""ADCA-GRPO: credits reach the tokens, and nobody is asked in vain."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from agentgym.agents.base import ChatAgent
from agentgym.agents.message import Message, Reply, Usage
from agentgym.baselines.adca_grpo import AdcaGRPOConfig, CompositeCredit, check, plan, train
from agentgym.baselines.adca_options import AdcaOptions
from agentgym.baselines.attribution import (
    Attribution,
    AttributionMiss,
    Attributor,
    CachedAttributor,
    CallLimits,
    CounterfactualAttributor,
    LlmAttributor,
    MonteCarloAttributor,
    Spent,
)
from agentgym.baselines.config import EnvTasks, ModelConfig, SamplingConfig
from agentgym.baselines.configfile import load_config, profiles
from agentgym.baselines.grpo import OutcomeCredit
from agentgym.baselines.progress import read_curve
from agentgym.baselines.sampling import Samples, Trajectory
from agentgym.core import TextEnv
from agentgym.core.errors import InvalidConfig
from agentgym.rollout.episode import Episode
from tests.baselines import tiny
from tests.baselines.bandit import BANDIT, talker
from tests.baselines.episodes import judged, record, spoken
from tests.baselines.guessing import batches_of, gradient, settings, trainer_of

GUESS = EnvTasks(env="tests.toy:tests/Guess-v0", max_rounds=3)


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class Says(Attributor):
    """Labels steps as it was told; counts who asks."""

    name = "says"

    def __init__(self, labels: dict[int, list[float]] | None = None, fails: bool = False) -> None:
        self.labels, self.fails = labels, fails
        self.asked: list[str] = []

    async def attribute(self, episode: Episode, env: TextEnv | None = None) -> Attribution:
        self.asked.append(episode.key)
        if self.fails:
            return self.failed(episode, "model", "no answer", Spent(calls=1))
        if self.labels is not None:
            return self.labelled(episode, self.labels[episode.attempt], Spent(calls=1))
        credits = [1.0 if t % 2 else -1.0 for t in range(episode.rounds)]
        return self.labelled(episode, credits, Spent(calls=1))


def samples_of(episodes: Sequence[Episode], group: str = "g") -> Samples:
    """Return episodes as a sampling, one token a round."""
    return Samples(
        [
            Trajectory(
                group, e, e.score > 0.5, (1,), tuple(range(e.rounds)), (True,) * e.rounds,
                (-1.0,) * e.rounds, tuple(range(e.rounds)),
            )
            for e in episodes
        ]
    )  # fmt: skip


FLAGS = {0: [1.0, 1.0, 1.0], 1: [1.0, -1.0, 1.0, 1.0], 2: [-1.0, -1.0], 3: [-1.0, 1.0, -1.0, -1.0]}
SCORES = (1.0, 1.0, 0.0, 0.0)


def example() -> Samples:
    return samples_of(
        [spoken(len(f), score=SCORES[i], attempt=i) for i, f in sorted(FLAGS.items())]
    )


def test_the_published_example_comes_out() -> None:
    credit = CompositeCredit(Says(FLAGS), AdcaOptions())
    advantages, figures = credit.assign(example(), 0)
    expected = [[1.3, 1.2, 1.1], [1.2, 1.1, 1.2, 1.1], [-1.2, -1.1], [-1.2, -1.1, -1.2, -1.1]]
    for found, wanted in zip(advantages, expected, strict=True):
        assert found == pytest.approx(wanted, abs=1e-5)
    assert figures["prm/alpha_t"] == 0.1
    assert figures["prm/good_steps_total"] == 7
    assert figures["attribution/calls"] == 4
    assert figures["prm/parse_success_rate"] == 1.0
    assert "prm/decouple/attr_std" in figures


def test_a_schedule_lets_credits_fade_and_then_nobody_is_asked() -> None:
    says = Says(FLAGS)
    options = AdcaOptions(alpha_schedule="cosine", total_steps=8, prm_steps=8)
    credit = CompositeCredit(says, options)
    alphas = []
    for step in range(7):
        _, figures = credit.assign(example(), step)
        alphas.append(figures["prm/alpha_t"])
    assert alphas == pytest.approx([0.05 * (1 + math.cos(math.pi * s / 8)) for s in range(1, 8)])
    asked = len(says.asked)
    assert asked == 28
    advantages, figures = credit.assign(example(), 7)  # the eighth sampling is step 8
    assert len(says.asked) == asked, "attribution has ended"
    assert figures["attribution/skipped"] == 4
    plain, _ = OutcomeCredit().assign(example(), 7)
    assert [a.tolist() for a in advantages] == [a.tolist() for a in plain]


@pytest.mark.parametrize(
    ("skip", "scores", "asked"),
    [
        ("none", (0.0, 0.0, 0.0, 0.0), 4),
        ("skip_small_adv", (0.0, 0.0, 0.0, 0.0), 0),
        ("skip_small_adv", (1.0, 0.0, 0.0, 0.0), 4),
        ("skip_all_neg", (1.0, 0.25, 0.0, 0.0), 2),
    ],
)
def test_who_is_left_out_costs_nothing(skip: Any, scores: Sequence[float], asked: int) -> None:
    says = Says(FLAGS)
    credit = CompositeCredit(says, AdcaOptions(skip=skip))
    episodes = [spoken(len(FLAGS[i]), score=s, attempt=i) for i, s in enumerate(scores)]
    _, figures = credit.assign(samples_of(episodes), 0)
    assert len(says.asked) == asked
    assert figures["attribution/calls"] == asked
    assert figures["attribution/skipped"] == 4 - asked


def test_who_is_left_out_follows_from_the_outcome_that_is_learned() -> None:
    says = Says(FLAGS)
    credit = CompositeCredit(says, AdcaOptions(skip="skip_small_adv"), reward="success")
    # Different scores, and none of them solved: by success the group shows no difference.
    episodes = [spoken(len(FLAGS[i]), score=s, attempt=i) for i, s in enumerate((0.4, 0.2, 0, 0))]
    advantages, figures = credit.assign(samples_of(episodes), 0)
    assert not says.asked
    assert figures["attribution/skipped"] == 4
    assert all((a == 0).all() for a in advantages)


def test_failed_attribution_is_counted_and_leaves_the_outcome() -> None:
    said: list[str] = []
    credit = CompositeCredit(Says(fails=True), AdcaOptions(prm_steps=None), say=said.append)
    advantages, figures = credit.assign(example(), 0)
    assert figures["attribution/failed_model"] == 4
    assert figures["prm/parse_success_rate"] == 0.0
    assert [a.tolist() for a in advantages] == [
        pytest.approx([s] * len(FLAGS[i])) for i, s in enumerate((1.0, 1.0, -1.0, -1.0))
    ]
    assert credit.report.failed == 4
    credit.assign(example(), 1)
    assert credit.report.failed == 8
    assert said == ["attribution failed (model), for the first time: no answer"]


def test_groups_in_which_all_failed_still_learn_from_credits(tmp_path: Path) -> None:
    """Where plain GRPO has no gradient at all."""
    adca = trainer_of(talker(), settings(), tmp_path, CompositeCredit(Says(), AdcaOptions()))
    batches = batches_of(adca)
    assert adca.samples.metrics()["reward"] == 0.0
    assert gradient(adca, batches).abs().max() > 0
    expected: dict[tuple[int, ...], list[float]] = {}
    kept = adca.samples.trajectories
    advantages, _ = CompositeCredit(Says(), AdcaOptions()).assign(adca.samples, 0)
    for t, a in zip(kept, advantages, strict=True):
        ids = (*t.prompt_ids, *t.completion_ids)
        expected[ids] = [float(a[s]) for s in t.step_ids if s >= 0]
    for batch in batches:
        for i in range(batch["rows"]):
            ids = tuple(batch["ids"][i][batch["attention"][i] == 1].tolist())
            found = batch["advantages"][i][batch["own"][i]].tolist()
            assert found == pytest.approx(expected[ids], abs=1e-6)
    plain = trainer_of(talker(), settings(), tmp_path / "plain")
    assert gradient(plain, batches_of(plain)).abs().max() == 0


class Judge(ChatAgent):
    """A judge that finds every second step good."""

    name = "judge"

    def __init__(self) -> None:
        self.calls = 0

    async def complete(self, messages: Sequence[Message], **_: Any) -> Reply:
        self.calls += 1
        count = int(re.findall(r"Judge all (\d+) steps", messages[-1].content)[0])
        labels = "".join("+-"[t % 2] for t in range(count))
        return Reply(judged(labels), usage=Usage(50, 10, calls=1))


def test_a_judge_is_asked_once_and_its_record_does_the_rest(tmp_path: Path) -> None:
    judge, log = Judge(), tmp_path / "credits.jsonl"
    first = CompositeCredit(CachedAttributor(LlmAttributor(judge), log, "cache"), AdcaOptions())
    advantages, figures = first.assign(example(), 0)
    assert judge.calls == 4
    assert figures["attribution/cached"] == 0
    first.assign(example(), 1)
    assert judge.calls == 4, "what is on record is not asked again"
    first.close()
    replay = CompositeCredit(CachedAttributor(LlmAttributor(judge), log, "replay"), AdcaOptions())
    again, figures = replay.assign(example(), 0)
    assert [a.tolist() for a in again] == [a.tolist() for a in advantages]
    assert figures["attribution/cached"] == 4
    assert figures["attribution/calls"] == 0
    other = samples_of([spoken(2, what="other", attempt=i) for i in range(2)])
    with pytest.raises(AttributionMiss):
        replay.assign(other, 0)
    replay.close()
    assert judge.calls == 4


@pytest.mark.parametrize(
    "attributor",
    [CounterfactualAttributor(), MonteCarloAttributor("expert", rollouts=1)],
    ids=lambda a: a.name,
)
def test_the_environment_itself_can_hand_out_credit(attributor: Attributor) -> None:
    """Of an episode that found the number, the step that said it is the one that was needed."""
    won = record("tests.toy:tests/Guess-v0", "guess_3", ["guess 9", None, "guess 4"])
    lost = record("tests.toy:tests/Guess-v0", "guess_3", ["guess 9"] * 8)
    credit = CompositeCredit(attributor, AdcaOptions(alpha=0.2))
    advantages, figures = credit.assign(samples_of([won, lost]), 0)
    assert figures["attribution/labelled"] == 2
    assert figures["attribution/env_steps"] > 0
    assert advantages[0].min() > 0 > advantages[1][-1]
    if attributor.name == "counterfactual":
        assert advantages[0][-1] == advantages[0].max()
    credit.close()


def test_a_run_shows_what_attribution_did(tmp_path: Path) -> None:
    start = tiny.save(tiny.policy(), tmp_path / "start")
    base = settings(
        model=ModelConfig(name=start, device="cpu"),
        tasks=(GUESS.model_copy(update={"max_rounds": 2}),),
        optim={"max_steps": 3, "lr": 1e-3},
    )
    config = AdcaGRPOConfig(
        **base.model_dump(),
        adca={"prm_steps": 3, "alpha": 0.3},  # the third sampling is step 3
        attribution={"method": "counterfactual", "cache": str(tmp_path / "credits.jsonl")},
    )
    said: list[str] = []
    result = train(config, tmp_path / "run", said.append)
    assert result["steps"] == 3
    done = result["attribution"]
    assert (done["attribution/labelled"], done["attribution/skipped"]) == (16, 8)
    assert done["attribution/failed"] == 0
    points = [p for p in read_curve(tmp_path / "run" / "curve.jsonl") if p["group"] == "train"]
    assert [p["attribution/skipped"] for p in points] == [0, 0, 8]
    assert [p["prm/alpha_t"] for p in points] == [0.3, 0.3, 0.0]
    assert all(p["prm/avg_steps_per_sample"] == 2 for p in points)
    assert "prm/decouple/outcome_share_last_mean" in points[0]
    played = [p["attribution_environment_seconds"] for p in points]
    assert min(played[:2]) > 0
    assert played[2] == 0, "attribution has ended"
    assert all(p["attribution_seconds"] >= p["attribution_environment_seconds"] for p in points)
    for p in points:
        waited = p["idle_seconds"] + p["attribution_environment_seconds"]
        assert p["idle_share"] == pytest.approx(waited / p["step_time"])
    assert any(line.startswith("attribution: ") for line in said)
    assert (tmp_path / "credits.jsonl").exists()


@pytest.mark.parametrize(("save_every", "recorded"), [(1, False), (1, True), (None, True)], ids=str)
def test_a_run_that_is_taken_up_spends_its_budget_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, save_every: int | None, recorded: bool
) -> None:
    """And counts as though it had not been stopped; without checkpoints, from its start."""
    limits = CallLimits(calls=11)
    config = AdcaGRPOConfig(
        **settings(
            model=ModelConfig(name=tiny.save(tiny.policy(), tmp_path / "start"), device="cpu"),
            tasks=(GUESS.model_copy(update={"max_rounds": 2}),),
            optim={"max_steps": 3, "lr": 1e-3},
            save_every=save_every,
        ).model_dump()
    )
    judges: dict[str, list[Judge]] = {"whole": [], "killed": []}

    def run(name: str) -> dict[str, Any]:
        judge = Judge()
        judges[name].append(judge)
        attributor: Attributor = LlmAttributor(judge, limits)
        if recorded:
            attributor = CachedAttributor(attributor, tmp_path / f"{name}.jsonl")
        with monkeypatch.context() as patch:
            patch.setattr("agentgym.baselines.adca_grpo.build_attributor", lambda _: attributor)
            return train(config, tmp_path / name, lambda _: None)

    whole = run("whole")
    assert whole["attribution"]["attribution/failed_budget"] > 0
    with monkeypatch.context() as patch:
        tiny.die_at_step(2, patch)
        with pytest.raises(tiny.Killed):
            run("killed")
    killed = run("killed")
    assert killed["attribution"] == whole["attribution"]
    asked = [judge.calls for judge in judges["killed"]]
    if recorded:  # what the lost part had paid for is on record
        assert sum(asked) == judges["whole"][0].calls == limits.calls
    else:
        assert asked[1] == limits.calls - 8  # what the first step, of 8 episodes, has left


def test_settings_that_do_not_fit_are_refused() -> None:
    base = settings().model_dump()
    for change, message in (({"reward": "turns"}, "turns"), ({"scale": "none"}, "adca.norm")):
        with pytest.raises(InvalidConfig, match=message):
            check(AdcaGRPOConfig(**{**base, **change}))


def test_profiles_resolve_and_say_who_is_asked() -> None:
    assert {"tiny", "paper"} <= set(profiles("adca-grpo"))
    for name in profiles("adca-grpo"):
        assert any("credits by" in line for line in plan(
            load_config(AdcaGRPOConfig, "adca-grpo", name)))  # fmt: skip
    paper = load_config(AdcaGRPOConfig, "adca-grpo", "paper")
    assert (paper.adca.scheme, paper.adca.norm, paper.adca.outcome) == (
        "decouple", "equal", "last_step",
    )  # fmt: skip
    assert (paper.adca.fix_base, paper.adca.alpha, paper.adca.prm_steps) == (0.2, 0.1, 100)
    assert paper.attribution.method == "llm"


def test_a_bandit_is_learned_with_credits_too(tmp_path: Path) -> None:
    from tests.baselines.bandit import gambler
    from tests.baselines.test_grpo_runs import chance_of_a

    policy = gambler()
    config = settings(
        tasks=(EnvTasks(env=BANDIT),),
        sampling=SamplingConfig(temperature=1.0, max_tokens=1, concurrency=8, max_batch=8),
        optim={"lr": 3e-2, "max_steps": 3, "batch_size": 8, "accumulate": 1},
    )
    credit = CompositeCredit(CounterfactualAttributor(), AdcaOptions(alpha=0.2))
    trainer = trainer_of(policy, config, tmp_path, credit)
    trainer.train()
    assert chance_of_a(policy, trainer) > 0.8
    assert np.isfinite([p["reward"] for p in trainer.state.log_history if "reward" in p]).all()
