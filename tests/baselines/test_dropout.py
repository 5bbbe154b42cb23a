"""What is left out at random stands between no two log-probabilities that are compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl")

import torch
from transformers import GPT2Config, GPT2LMHeadModel

from agentgym.baselines.dropout import without_dropout
from agentgym.baselines.model import Policy
from agentgym.baselines.preference import PairRow, make_trainer
from tests.baselines import tiny
from tests.baselines.bandit import talker
from tests.baselines.guessing import batches_of, gradient, settings, trainer_of


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def dropping(of: Policy, chance: float = 0.2) -> Policy:
    """Return a policy as one is loaded whose configuration says so: a number, and no layer."""
    of.model.config.attention_dropout = chance
    for layer in of.model.model.layers:
        layer.self_attn.attention_dropout = chance
    return of


def test_a_ratio_is_1_and_k3_is_0_where_the_policy_sampled(tmp_path: Path) -> None:
    trainer = trainer_of(dropping(talker()), settings(kl_coef=0.1), tmp_path)
    batches = batches_of(trainer)
    trainer._metrics["train"].clear()
    gradient(trainer, batches)
    figures = trainer._metrics["train"]
    assert max(abs(kl) for kl in figures["kl"]) < 1e-6
    assert sum(figures["ratio"]) / len(figures["ratio"]) == pytest.approx(1.0, abs=1e-4)
    assert sum(figures["clipped"]) == 0
    for batch in batches:
        with torch.no_grad():
            fresh = trainer.log_probs(trainer.model, batch)[0]
        assert torch.allclose(fresh[batch["own"]], batch["old"][batch["own"]], atol=1e-4)


@pytest.mark.parametrize("lora", [False, True])
def test_dpo_begins_where_policy_and_reference_are_equal(tmp_path: Path, lora: bool) -> None:
    from agentgym.baselines.config import LoraConfig
    from agentgym.baselines.model import add_adapter

    of, reference = dropping(tiny.policy()), None if lora else dropping(tiny.policy())
    if lora:
        of = Policy(add_adapter(of.model, LoraConfig(r=4, dropout=0.5), seed=0), of.tokenizer, "t")
    rng = torch.Generator().manual_seed(0)
    ids = [torch.randint(3, 300, (n,), generator=rng).tolist() for n in (6, 9, 7)]
    row = PairRow(ids[0], ids[1], ids[2], [1] * 9, [1] * 7)
    trainer: Any = make_trainer(of, reference, [row], tiny.settings(), tmp_path, beta=0.5)
    trainer.model.train()
    batch = trainer.data_collator([row._asdict()])
    loss = trainer.compute_loss(trainer.model, batch)
    assert loss.item() == pytest.approx(0.693147, abs=1e-5)


def test_dropout_goes_whoever_holds_it_and_nothing_else_does() -> None:
    shape = GPT2Config(vocab_size=50, n_positions=16, n_embd=16, n_layer=2, n_head=2)
    assert min(shape.attn_pdrop, shape.resid_pdrop, shape.embd_pdrop) > 0
    model = GPT2LMHeadModel(shape).train()
    ids = torch.arange(12)[None]
    with torch.no_grad():
        assert not torch.equal(model(ids).logits, model(ids).logits)
        without_dropout(model)
        assert torch.equal(model(ids).logits, model(ids).logits)
        assert torch.allclose(model(ids).logits, model.eval()(ids).logits, atol=1e-6)
    assert shape.attn_pdrop == shape.resid_pdrop == shape.embd_pdrop == 0
    assert shape.layer_norm_epsilon == 1e-5
    llama = dropping(tiny.policy()).model
    without_dropout(llama)
    assert llama.config.attention_dropout == 0
    assert llama.model.layers[1].self_attn.attention_dropout == 0
