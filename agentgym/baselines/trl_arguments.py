"""Which of TRL's arguments `optim.trainer` may pass on: those that do what TRL says of them here.

TRL's trainers are used in part: losses, batches, sampling and checkpoints are agentgym's, and an
argument of a part that is replaced would be taken and change nothing, or change what the pages say
of a loss. So the arguments that may be given are listed by name; a newer TRL's are none of them
until somebody has looked at what they do.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

from agentgym.core.errors import InvalidConfig, did_you_mean

COMPUTING = frozenset(
    [
        "dataloader_num_workers",
        "dataloader_persistent_workers",
        "dataloader_prefetch_factor",
        "ddp_backend",
        "ddp_broadcast_buffers",
        "ddp_bucket_cap_mb",
        "ddp_static_graph",
        "ddp_timeout",
        "debug",
        "deepspeed",
        "fsdp",
        "fsdp_config",
        "full_determinism",
        "gradient_checkpointing_kwargs",
        "log_level",
        "log_level_replica",
        "log_on_each_node",
        "logging_nan_inf_filter",
        "lr_scheduler_kwargs",
        "optim",
        "optim_args",
        "optim_target_modules",
        "save_on_each_node",
        "skip_memory_metrics",
        "tf32",
        "torch_compile",
        "torch_compile_backend",
        "torch_compile_mode",
        "torch_empty_cache_steps",
    ]
)
"""How passes and optimiser steps are computed: free for every trainer."""

FREE = {
    "SFTConfig": COMPUTING | {"activation_offloading", "neftune_noise_alpha"},
    "DPOConfig": COMPUTING
    | {
        "activation_offloading",
        "f_alpha_divergence_coef",
        "f_divergence_type",
        "label_smoothing",
        "precompute_ref_batch_size",
        "precompute_ref_log_probs",
        "ref_model_mixup_alpha",
        "ref_model_sync_steps",
        "router_aux_loss_coef",
        "sync_ref_model",
        "use_weighting",
    },
    "GRPOConfig": COMPUTING
    | {"ds3_gather_for_generation", "vllm_model_impl", "vllm_tensor_parallel_size"},
}
"""What may be passed on, by TRL's class: DPO's loss is TRL's own, that of the others is not."""

OURS = {
    "activation_checkpointing": "optim.gradient_checkpointing",
    "activation_checkpointing_kwargs": "optim.gradient_checkpointing",
    "adam_beta1": "optim.betas",
    "adam_beta2": "optim.betas",
    "adam_epsilon": "optim.eps",
    "auto_find_batch_size": "optim.batch_size",
    "beta": "beta, of GRPO kl_coef",
    "bf16": "optim.precision",
    "chat_template_kwargs": "model.template_options",
    "chat_template_path": "model.chat_template",
    "data_seed": "seed",
    "delta": "dual_clip",
    "do_eval": "eval.envs",
    "entropy_coef": "entropy_coef",
    "epsilon": "clip_low",
    "epsilon_high": "clip_high",
    "eval_on_start": "eval.at_start",
    "eval_steps": "eval.every",
    "eval_strategy": "eval.every",
    "fp16": "optim.precision",
    "generation_batch_size": "groups and group_size",
    "generation_kwargs": "sampling",
    "gradient_accumulation_steps": "optim.accumulate",
    "gradient_checkpointing": "optim.gradient_checkpointing",
    "learning_rate": "optim.lr",
    "length_column_name": "optim.batching",
    "logging_steps": "log_every",
    "loss_type": "the trainer, of GRPO aggregation, of DPO sft_weight",
    "loss_weights": "sft_weight",
    "lr_scheduler_type": "optim.schedule",
    "mask_truncated_completions": "length.too_long",
    "max_completion_length": "sampling.max_tokens",
    "max_grad_norm": "optim.max_grad_norm",
    "max_length": "length.max_tokens",
    "max_steps": "optim.max_steps",
    "model_init_kwargs": "model",
    "num_generations": "group_size",
    "num_iterations": "iterations",
    "num_train_epochs": "optim.epochs",
    "output_dir": "the run's folder",
    "packing": "optim.batching",
    "packing_strategy": "optim.batching",
    "padding_free": "optim.batching",
    "per_device_train_batch_size": "optim.batch_size",
    "report_to": "tensorboard",
    "save_steps": "save_every",
    "save_strategy": "save_every",
    "save_total_limit": "keep_checkpoints",
    "scale_rewards": "scale",
    "seed": "seed",
    "steps_per_generation": "groups and optim.batch_size",
    "temperature": "sampling.temperature",
    "top_p": "sampling.top_p",
    "train_sampling_strategy": "optim.batching",
    "truncation_mode": "length.too_long",
    "use_cpu": "model.device",
    "use_vllm": "engine.kind",
    "vllm_gpu_memory_utilization": "engine.gpu_memory",
    "vllm_group_port": "engine.group_port",
    "vllm_importance_sampling_correction": "old",
    "vllm_max_model_length": "length.max_tokens",
    "vllm_mode": "engine.kind",
    "vllm_server_base_url": "engine.url",
    "vllm_server_host": "engine.url",
    "vllm_server_port": "engine.url",
    "vllm_server_timeout": "engine.timeout",
    "warmup_steps": "optim.warmup",
    "weight_decay": "optim.weight_decay",
}
"""What decides an argument that may not be passed on, where a setting does."""


def require_known(
    kind: Callable[..., Any], names: Iterable[str], setting: str = "optim.trainer"
) -> None:
    """Require that TRL's configuration has some arguments, and that they do here what TRL says.

    Args:
        kind: TRL's class of configuration.
        names: the arguments.
        setting: where they are given.

    Raises:
        InvalidConfig: if TRL does not have one, a setting of ours decides it, or nobody reads it.
    """
    known = [field.name for field in dataclasses.fields(kind)]  # type: ignore[arg-type]
    free = FREE[kind.__name__]
    for name in names:
        if name not in known:
            near = did_you_mean(name, known)
            raise InvalidConfig(f"{setting}: TRL has no argument {name!r}. {near}")
        if name in free:
            continue
        if name in OURS:
            raise InvalidConfig(
                f"{setting}: {name} follows from agentgym's own settings: {OURS[name]} "
                "(docs/baselines.md); change it there"
            )
        raise InvalidConfig(
            f"{setting}: {name} is of a part of TRL that agentgym replaces or does not use, "
            "so it would do nothing or something else than TRL says of it; leave it out"
        )
