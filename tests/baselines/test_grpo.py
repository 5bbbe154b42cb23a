"""GRPO: advantages on the right tokens, the loss as written, and a bandit that is learned."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from agentgym.agents.base import ModelError
from agentgym.baselines.advantage import grpo_advantages
from agentgym.baselines.config import (
    EnvTasks,
    EvalConfig,
    LoraConfig,
    ModelConfig,
    SamplingConfig,
    load_config,
    profiles,
)
from agentgym.baselines.grpo import (
    GRPOConfig,
    OutcomeCredit,
    check,
    outcome_advantages,
    plan,
    total_steps,
    train,
    turn_advantages,
    updates,
)
from agentgym.baselines.losses import aggregate
from agentgym.baselines.model import Policy, add_adapter
from agentgym.baselines.policy_trainer import PolicyTrainer, make_trainer
from agentgym.baselines.progress import Journal, read_curve, silent
from agentgym.baselines.sampling import Samples
from agentgym.core.errors import InvalidConfig
from tests.baselines import tiny
from tests.baselines.bandit import BANDIT, gambler, talker

GUESS = EnvTasks(env="tests.toy:tests/Guess-v0", max_rounds=3)
MODES = ["token-mean", "seq-mean-token-sum", "seq-mean-token-mean", "seq-mean-token-sum-norm"]


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


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


def test_advantages_lie_on_the_tokens_of_their_round(tmp_path: Path) -> None:
    policy = talker()
    credit = Given()
    trainer = trainer_of(policy, settings(), tmp_path, credit)
    seen = []
    spied = credit.assign

    def spy(samples: Samples, step: int) -> Any:
        answer = spied(samples, step)
        seen.extend(zip(samples.trajectories, answer[0], strict=True))
        return answer

    credit.assign = spy  # type: ignore[method-assign]
    batches = batches_of(trainer)
    rows = [(b, i) for b in batches for i in range(b["rows"])]
    assert len(rows) == len(seen) == 8
    found = Counter[int]()
    for batch, i in rows:
        ids = batch["ids"][i][batch["attention"][i] == 1].tolist()
        places = [n for n, (t, _) in enumerate(seen) if [*t.prompt_ids, *t.completion_ids] == ids]
        assert places
        trajectory, advantages = seen[places[0]]
        found[places[0]] += 1
        own = batch["own"][i].nonzero()[:, 0].tolist()
        said = policy.tokenizer.decode([ids[p + 1] for p in own], skip_special_tokens=True)
        assert said == "".join(step.reply for step in trajectory.episode.steps)
        expected = [advantages[s] for s in trajectory.step_ids if s >= 0]
        assert batch["advantages"][i][own].tolist() == pytest.approx(expected)
        assert batch["old"][i][own].tolist() == pytest.approx(
            [p for p, m in zip(trajectory.logprobs, trajectory.mask, strict=True) if m]
        )
        rest = [n for n in range(batch["own"].shape[1]) if n not in own]
        assert batch["advantages"][i][rest].abs().sum() == 0
    assert max(found.values()) == 1, "every trajectory is learned from once"


def slow_loss(trainer: PolicyTrainer, batches: list[dict[str, Any]], config: GRPOConfig) -> float:
    """The loss of a step, token by token, from the model's plain logits."""
    sequences: list[list[float]] = []
    for batch in batches:
        for i in range(batch["rows"]):
            keep = batch["attention"][i] == 1
            ids = batch["ids"][i][keep]
            with torch.no_grad():
                logits = trainer.model(ids[None]).logits[0, :-1].double()
            logs = torch.log_softmax(logits / config.sampling.temperature, -1)
            values = []
            for t in range(len(ids) - 1):
                if not batch["own"][i, t]:
                    continue
                new, old = float(logs[t, ids[t + 1]]), float(batch["old"][i, t])
                adv, rho = float(batch["advantages"][i, t]), math.exp(new - old)
                clipped = min(max(rho, 1 - config.clip_low), 1 + config.clip_high)
                loss = max(-adv * rho, -adv * clipped)
                if adv < 0 and config.dual_clip:
                    loss = min(loss, -adv * config.dual_clip)
                if "ref" in batch:
                    shift = float(batch["ref"][i, t]) - new
                    loss += config.kl_coef * (math.exp(shift) - shift - 1)
                entropy = -float((logs[t].exp() * logs[t]).sum())
                values.append(loss - config.entropy_coef * entropy)
            sequences.append(values)
    count = sum(len(values) for values in sequences)
    total = math.fsum(v for values in sequences for v in values)
    if config.aggregation == "token-mean":
        return total / count
    if config.aggregation == "seq-mean-token-sum":
        return total / len(sequences)
    if config.aggregation == "seq-mean-token-mean":
        return math.fsum(math.fsum(v) / len(v) for v in sequences) / len(sequences)
    return total / (len(sequences) * (config.width or 0))


@pytest.mark.parametrize("mode", MODES)
def test_the_loss_of_a_step_is_the_formula_however_it_is_split(tmp_path: Path, mode: Any) -> None:
    shared = {"aggregation": mode, "kl_coef": 0.3, "entropy_coef": 0.05, "width": 50}
    gradients = []
    for passes, size in ((4, 2), (1, 8)):
        optim = {"batch_size": size, "accumulate": passes}
        config = settings(optim=optim, **shared)
        policy = talker()
        trainer = trainer_of(policy, config, tmp_path / str(passes), Given())
        batches = batches_of(trainer)
        assert len(batches) == passes
        with torch.no_grad():  # away from where it sampled, so that ratios, clips and KL are real
            for p in policy.model.parameters():
                noise = torch.randn(p.shape, generator=torch.Generator().manual_seed(p.numel()))
                p.add_(0.02 * noise)
        with torch.no_grad():
            loss = sum(float(trainer._compute_loss(trainer.model, b)) for b in batches)
        assert loss == pytest.approx(slow_loss(trainer, batches, config), rel=1e-4)
        figures = trainer._metrics["train"]
        assert sum(figures["clipped"]) > 0
        assert sum(figures["kl"]) > 0
        gradients.append(gradient(trainer, batches))
    assert torch.allclose(gradients[0], gradients[1], atol=1e-5, rtol=1e-3)


def test_a_trained_step_is_the_same_however_it_is_split(tmp_path: Path) -> None:
    """Through the whole trainer: what it does with the passes' losses is part of it."""
    after, norms = [], []
    for passes, size in ((4, 2), (1, 8)):
        optim = {"batch_size": size, "accumulate": passes, "max_steps": 1, "lr": 1e-3}
        policy = talker()
        trainer = trainer_of(policy, settings(optim=optim), tmp_path / str(passes), ByStep())
        trainer.train()
        after.append(torch.cat([p.detach().flatten() for p in policy.model.parameters()]))
        norms.append(trainer.state.log_history[0]["grad_norm"])
        batches = trainer._micro
        fresh = trainer_of(talker(), settings(optim=optim), tmp_path / f"{passes}b", ByStep())
        assert norms[-1] == pytest.approx(float(gradient(fresh, batches).norm()), rel=1e-3)
    assert norms[0] == pytest.approx(norms[1], rel=1e-3)
    # Adam divides by the gradient's size, so where there is almost none rounding decides.
    assert (after[0] - after[1]).abs().median() < 1e-6


@pytest.mark.parametrize("lora", [False, True])
def test_at_the_start_the_policy_is_where_it_sampled_and_its_own_reference(
    tmp_path: Path, lora: bool
) -> None:
    policy = talker()
    if lora:
        model = add_adapter(policy.model, LoraConfig(r=4, target=["q_proj"]), seed=0)
        policy = Policy(model, policy.tokenizer, "tiny")
    trainer = trainer_of(policy, settings(kl_coef=0.1), tmp_path)
    batches = batches_of(trainer)
    before = {k: v.clone() for k, v in policy.model.state_dict().items()}
    trainer._metrics["train"].clear()
    gradient(trainer, batches)
    figures = trainer._metrics["train"]
    assert max(abs(kl) for kl in figures["kl"]) < 1e-6
    assert sum(figures["ratio"]) / len(figures["ratio"]) == pytest.approx(1.0, abs=1e-4)
    assert sum(figures["clipped"]) == sum(figures["dual_clipped"]) == 0
    with torch.no_grad():
        for name, p in policy.model.named_parameters():
            if p.requires_grad:
                p.add_(
                    0.3 * torch.randn(p.shape, generator=torch.Generator().manual_seed(len(name)))
                )
    again = trainer._parts([])  # nothing to learn from still gives every pass something
    assert all(not b["own"].any() for b in again)
    figures.clear()
    gradient(trainer, batches)
    assert sum(figures["kl"]) > 1e-4
    with trainer._as_reference() as reference, torch.no_grad():
        ref = trainer.log_probs(reference, batches[0])[0]
    assert torch.allclose(ref, batches[0]["ref"], atol=1e-6), "the reference has not moved"
    assert before.keys() == policy.model.state_dict().keys()


def test_groups_without_a_difference_move_nothing(tmp_path: Path) -> None:
    """Random replies solve nothing, so every score is 0 and so is the gradient."""
    trainer = trainer_of(talker(), settings(), tmp_path)
    batches = batches_of(trainer)
    assert trainer.samples.metrics()["groups_without_spread"] == 1.0
    assert all(b["advantages"].abs().max() == 0 for b in batches)
    assert gradient(trainer, batches).abs().max() == 0
    other = trainer_of(talker(), settings(), tmp_path / "other", Given(constant=1.0))
    assert gradient(other, batches_of(other)).abs().max() > 0


def test_what_was_played_is_used_in_steps_and_then_played_anew(tmp_path: Path) -> None:
    config = settings(optim={"batch_size": 2, "accumulate": 2, "max_steps": 8}, iterations=2)
    assert updates(config) == 4
    trainer = trainer_of(talker(), config, tmp_path)
    trainer.model.train()
    rows = [{"group": n} for n in range(2) for _ in range(4)]
    played = []
    for step in range(8):
        part = trainer._prepare_inputs(rows)
        played.append((id(trainer.samples), id(part)))
        trainer._step += 1
        assert part["rows"] == 2, step
    assert len({sample for sample, _ in played}) == 1
    assert len({part for _, part in played}) == 4, "each part twice"
    shares = [b["share"] for b in trainer._micro]
    assert shares[0] == shares[1]
    assert shares[0][0] == sum(int(b["own"].sum()) for b in trainer._micro[:2])
    trainer._prepare_inputs([{"group": n} for n in (2, 3) for _ in range(4)])
    assert {t.group.partition(":")[0] for t in trainer.samples.trajectories} == {"2", "3"}


def test_broken_episodes_leave_gaps_and_no_zeros(tmp_path: Path) -> None:
    trainer = trainer_of(talker(), settings(), tmp_path, Given())
    answer, calls = trainer.engine.answer, Counter[str]()

    async def breaks(prompt: Any, *, episode: str = "", seed: int = 0) -> Any:
        calls[episode] += 1
        if episode in list(calls)[:2] and calls[episode] == 2:
            raise ModelError("no answer")
        return await answer(prompt, episode=episode, seed=seed)

    trainer.engine.answer = breaks
    batches = batches_of(trainer)
    lost = trainer.left_out.total()
    assert 0 < lost <= 2
    assert sum(b["rows"] for b in batches) == 8 - lost
    assert all(b["share"][1] == 8 - lost for b in batches)
    assert trainer._metrics["train"]["left_out"] == [float(lost)]


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
    for name in ("reward", "success", "length", "kl", "clipped", "entropy", "environment_share",
                 "tokens_per_second", "left_out", "rewritten_turns", "old_difference"):  # fmt: skip
        assert all(name in p for p in shown), name
    assert all(p["old_difference"] < 1e-4 for p in shown)
    assert 0 <= shown[0]["environment_share"] < 1
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


def test_advantages_by_scale() -> None:
    rng = np.random.default_rng(0)
    groups = list("aabbbcc")
    returns = rng.random(7).tolist()
    grouped = outcome_advantages(groups, returns, "group")
    assert grouped.tolist() == grpo_advantages(groups, returns).tolist()
    means = {g: np.mean([r for r, h in zip(returns, groups, strict=True) if h == g]) for g in "abc"}
    centred = [r - means[g] for r, g in zip(returns, groups, strict=True)]
    assert outcome_advantages(groups, returns, "none") == pytest.approx(centred)
    deviation = np.std(returns, ddof=1) + 1e-6
    expected = [c / deviation for c in centred]
    assert outcome_advantages(groups, returns, "batch") == pytest.approx(expected)


def test_rewards_of_rounds_are_summed_to_the_end_and_normalised_over_the_group() -> None:
    groups = ["a", "b", "a"]
    rewards = [[0.0, 1.0], [0.5, 0.5], [0.0, 0.0, 0.25]]
    pool = [0.0, 1.0, 0.0, 0.0, 0.25]
    mean, std = np.mean(pool), np.std(pool)
    for scale, spread in (("group", std), ("none", 1.0)):
        found = turn_advantages(groups, rewards, scale)  # type: ignore[arg-type]
        last = [(r - mean) / spread for r in rewards[2]]
        assert found[2] == pytest.approx([sum(last[t:]) for t in range(3)])
        assert found[1] == pytest.approx([0.0, 0.0], abs=1e-6)


def test_a_single_pass_mean_is_what_aggregate_gives(tmp_path: Path) -> None:
    trainer = trainer_of(talker(), settings(optim={"batch_size": 8, "accumulate": 1}), tmp_path)
    batch = batches_of(trainer)[0]
    assert trainer._weight(batch) == pytest.approx(1.0)
    assert aggregate(torch.ones_like(batch["old"]), batch["own"]) == pytest.approx(1.0)


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
