"""GRPO: advantages on the right tokens, and the loss as written."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from agentgym.agents.base import ModelError
from agentgym.baselines.config import LoraConfig
from agentgym.baselines.grpo import (
    GRPOConfig,
    updates,
)
from agentgym.baselines.losses import aggregate
from agentgym.baselines.model import Policy, add_adapter
from agentgym.baselines.policy_trainer import PolicyTrainer
from agentgym.baselines.sampling import Samples
from tests.baselines.bandit import talker
from tests.baselines.guessing import ByStep, Given, batches_of, gradient, settings, trainer_of

MODES = ["token-mean", "seq-mean-token-sum", "seq-mean-token-mean", "seq-mean-token-sum-norm"]


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


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


def test_a_single_pass_mean_is_what_aggregate_gives(tmp_path: Path) -> None:
    trainer = trainer_of(talker(), settings(optim={"batch_size": 8, "accumulate": 1}), tmp_path)
    batch = batches_of(trainer)[0]
    assert trainer._weight(batch) == pytest.approx(1.0)
    assert aggregate(torch.ones_like(batch["old"]), batch["own"]) == pytest.approx(1.0)
