"""The loss is the formula's, however a batch is laid out; a run taken up again is the same run."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl")

import torch

from agentgym.baselines.checkpoints import WHOLE, latest
from agentgym.baselines.config import LoraConfig, RunConfig
from agentgym.baselines.examples import Row
from agentgym.baselines.losses import weighted_likelihood_loss
from agentgym.baselines.model import Policy
from agentgym.baselines.progress import CURVE, Journal, Say, read_curve, silent
from agentgym.baselines.sft import GroupedSampler, make_trainer
from agentgym.baselines.training import run_trainer
from agentgym.core.errors import InvalidConfig
from tests.baselines.tiny import policy, rows, settings


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def loss_of(of: Policy, some: list[Row], folder: Path, count: Any = None, **optim: Any) -> Any:
    """Return the loss of one batch that holds all the sequences, and the gradients."""
    trainer = make_trainer(of, some, settings(batch_size=len(some), **optim), folder)
    batch = trainer.data_collator([row._asdict() for row in some])
    of.model.zero_grad()
    loss = trainer.compute_loss(of.model, batch, num_items_in_batch=count)
    loss.backward()
    return loss.detach(), [p.grad.clone() for p in of.model.parameters() if p.grad is not None]


def slow_loss(of: Policy, some: list[Row]) -> Any:
    """Add up the formula one token at a time, from the whole distribution of a lone sequence."""
    total, count = torch.zeros(()), 0
    for row in some:
        logits = of.model(input_ids=torch.tensor([row.input_ids])).logits[0].double()
        for place, (label, weight) in enumerate(zip(row.labels, row.weights, strict=True)):
            if label != -100:
                total = total - weight * torch.log_softmax(logits[place - 1], -1)[label]
                count += 1
    return total / count


def test_the_loss_is_the_formula_of_the_page(tmp_path: Path) -> None:
    of = policy()
    some = rows(of, 2) + rows(of, 3, weight=0.3)[2:]
    loss, _ = loss_of(of, some, tmp_path)
    assert loss.item() == pytest.approx(slow_loss(of, some).item(), rel=1e-5)


def test_the_loss_is_the_shared_weighted_likelihood(tmp_path: Path) -> None:
    of = policy()
    some = rows(of, 2) + rows(of, 3, weight=0.3)[2:]
    batch = make_trainer(of, some, settings(), tmp_path).data_collator([r._asdict() for r in some])
    inputs = {k: batch[k] for k in ("input_ids", "attention_mask")}
    logps = torch.log_softmax(of.model(**inputs).logits[:, :-1].float(), -1)
    labels = batch["labels"][:, 1:]
    chosen = logps.gather(-1, labels.clamp(min=0)[..., None])[..., 0]
    shared = weighted_likelihood_loss(chosen, labels != -100, torch.tensor([1.0, 1.0, 0.3]))
    loss, _ = loss_of(of, some, tmp_path)
    assert loss.item() == pytest.approx(shared.item(), rel=1e-5)


def test_packing_changes_neither_the_loss_nor_the_gradients(tmp_path: Path) -> None:
    of = policy()
    some = rows(of, 4)
    padded, gradients = loss_of(of, some, tmp_path)
    packed, others = loss_of(of, some, tmp_path, batching="packed")
    assert packed.item() == pytest.approx(padded.item(), rel=1e-6)
    for mine, theirs in zip(gradients, others, strict=True):
        torch.testing.assert_close(mine, theirs, atol=1e-6, rtol=1e-4)


def test_padding_no_token_looks_at_needs_no_mask(tmp_path: Path) -> None:
    trainer = make_trainer(policy(), rows(policy(), 1), settings(), tmp_path)
    assert trainer._needs_no_mask(torch.tensor([[1, 1, 1], [1, 0, 0]]))
    assert not trainer._needs_no_mask(torch.tensor([[1, 1, 1], [0, 1, 1]]))
    assert not trainer._needs_no_mask(None)  # a packed batch
    trainer.model.config.output_router_logits = True
    assert not trainer._needs_no_mask(torch.tensor([[1, 1, 1], [1, 0, 0]]))


def test_a_weight_scales_the_gradient_of_its_sequence(tmp_path: Path) -> None:
    of = policy()
    whole, gradients = loss_of(of, rows(of, 2), tmp_path)
    half, others = loss_of(of, rows(of, 2, weight=0.5), tmp_path)
    assert half.item() == pytest.approx(whole.item() / 2, rel=1e-6)
    torch.testing.assert_close(others[0], gradients[0] / 2)


def run(folder: Path, config: RunConfig, lora: bool = False, say: Say = silent) -> list[float]:
    """Train from scratch and return the loss of every step."""
    of = policy(lora=LoraConfig(r=4) if lora else None)
    trainer = make_trainer(of, rows(of), config, folder)
    run_trainer(trainer, of, config, folder, Journal(folder, say, tensorboard=False))
    return [point["loss"] for point in read_curve(folder / CURVE) if "loss" in point]


def test_accumulating_gradients_changes_no_loss(tmp_path: Path) -> None:
    at_once = run(tmp_path / "a", settings(batch_size=3, max_steps=4))
    in_parts = run(tmp_path / "b", settings(batch_size=1, accumulate=3, max_steps=4))
    assert in_parts == pytest.approx(at_once, rel=1e-3)


@pytest.mark.parametrize("batching", ["padded", "grouped", "packed"])
def test_a_run_taken_up_again_is_the_same_run(tmp_path: Path, batching: str) -> None:
    config = settings(max_steps=7, batching=batching).model_copy(
        update={"save_every": 2, "keep_checkpoints": 5}
    )
    losses = run(tmp_path / "whole", config)
    assert len(losses) == 7
    broken = tmp_path / "broken"
    shutil.copytree(tmp_path / "whole", broken)
    # As if it had been killed while it saved step 6: the save is not whole, the curve goes on.
    (broken / "checkpoints" / "checkpoint-6" / WHOLE).unlink()
    said: list[str] = []
    assert run(broken, config, say=said.append) == losses
    assert "going on from step 4" in said


def test_a_run_with_an_adapter_is_taken_up_again_too(tmp_path: Path) -> None:
    config = settings(max_steps=4).model_copy(update={"save_every": 2, "keep_checkpoints": 5})
    losses = run(tmp_path, config, lora=True)
    assert run(tmp_path, config, lora=True) == losses


def test_a_checkpoint_without_its_mark_does_not_count(tmp_path: Path) -> None:
    for step in (2, 10, 12):
        folder = tmp_path / "checkpoints" / f"checkpoint-{step}"
        folder.mkdir(parents=True)
        if step != 12:
            (folder / WHOLE).write_text("{}")
    found = latest(tmp_path)
    assert found is not None
    assert found[1] == 10
    assert not (tmp_path / "checkpoints" / "checkpoint-12").exists()


def test_the_loss_falls_on_what_is_learned(tmp_path: Path) -> None:
    losses = run(tmp_path, settings(max_steps=25, batch_size=4, lr=1e-2))
    assert losses[-1] < losses[0] - 1.5


def test_grouped_batches_hold_sequences_of_like_length() -> None:
    lengths = [100 + 37 * (i * 7919 % 64) for i in range(64)]
    sampler = GroupedSampler(lengths, 8, seed=3)
    order = list(sampler)
    assert sorted(order) == list(range(64))
    spans = [[lengths[i] for i in order[b : b + 8]] for b in range(0, 64, 8)]
    assert all(max(span) - min(span) <= 37 * 8 for span in spans)
    assert list(sampler) == order
    sampler.set_epoch(1)
    assert list(sampler) != order


def test_an_argument_trl_does_not_have_is_refused(tmp_path: Path) -> None:
    of = policy()
    with pytest.raises(InvalidConfig, match="weight_decay"):
        make_trainer(of, rows(of, 2), settings(trainer={"weight_decy": 1}), tmp_path)


def test_trl_tells_nobody_of_a_trainer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub.utils import _telemetry

    for name in ("CI", "HF_HUB_OFFLINE", "HF_HUB_DISABLE_TELEMETRY"):
        monkeypatch.delenv(name, raising=False)
    told: list[object] = []
    monkeypatch.setattr(_telemetry._TELEMETRY_QUEUE, "put", told.append)
    of = policy()
    make_trainer(of, rows(of, 2), settings(), tmp_path)
    assert told == []
