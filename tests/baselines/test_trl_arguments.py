"""What is passed on to TRL does what TRL says of it; everything else is refused by name."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

pytest.importorskip("trl")

import trl

from agentgym.baselines.catalog import find_baseline
from agentgym.baselines.checks import check
from agentgym.baselines.config import RunConfig
from agentgym.baselines.trl_arguments import FREE, OURS, require_known
from agentgym.core.errors import InvalidConfig

KINDS: list[Any] = [trl.SFTConfig, trl.DPOConfig, trl.GRPOConfig]
LOSSES = {  # what decides a loss, by TRL's class: never to be passed on where the loss is ours
    "SFTConfig": "loss_type router_aux_loss_coef label_smoothing_factor use_liger_kernel "
    "average_tokens_across_devices assistant_only_loss completion_only_loss",
    "DPOConfig": "loss_type loss_weights beta disable_dropout max_length ld_alpha padding_free "
    "neftune_noise_alpha",
    "GRPOConfig": "loss_type epsilon epsilon_high delta scale_rewards importance_sampling_level "
    "top_p top_k min_p repetition_penalty entropy_coef mask_truncated_completions "
    "router_aux_loss_coef off_policy_mask_threshold top_entropy_quantile use_bias_correction_kl "
    "sync_ref_model use_adaptive_entropy reward_weights vllm_enable_sleep_mode "
    "neftune_noise_alpha disable_dropout use_liger_kernel",
}


@pytest.mark.parametrize("kind", KINDS)
def test_of_all_of_trls_arguments_those_listed_may_be_given(kind: Any) -> None:
    fields = [field.name for field in dataclasses.fields(kind)]
    assert set(fields) >= FREE[kind.__name__]
    for name in fields:
        if name in FREE[kind.__name__]:
            require_known(kind, [name])
            continue
        told = "agentgym's own settings" if name in OURS else "leave it out"
        with pytest.raises(InvalidConfig, match=rf"optim\.trainer: {name} .*{told}"):
            require_known(kind, [name])
    refused = {*fields} - FREE[kind.__name__]
    assert refused >= set(LOSSES[kind.__name__].split())


def test_the_advice_names_arguments_of_trl_and_settings_of_ours() -> None:
    fields = {field.name for kind in KINDS for field in dataclasses.fields(kind)}
    assert fields >= OURS.keys()
    assert not OURS.keys() & set().union(*FREE.values())
    configs = [find_baseline(name).config() for name in ("bc", "dpo", "adca-grpo")]
    for text in OURS.values():
        if text.startswith("the "):
            continue
        setting = text.replace(",", " ").split()[0]
        assert any(_has(config, setting) for config in configs), setting


def _has(config: RunConfig, key: str) -> bool:
    place: Any = config
    for part in key.split("."):
        if not hasattr(place, part):
            return False
        place = getattr(place, part)
    return True


def test_a_trainer_refuses_what_its_loss_would_not_read() -> None:
    for name, given, told in [
        ("grpo", "epsilon=0.1", "clip_low"),
        ("bc", "loss_type=dft", "own settings"),
        ("dpo", "disable_dropout=false", "leave it out"),
    ]:
        config = find_baseline(name).config("tiny", [f"optim.trainer.{given}"])
        with pytest.raises(InvalidConfig, match=told):
            check(config)
    check(find_baseline("bc").config("tiny", ["optim.trainer.torch_empty_cache_steps=3"]))
