"""A model that lies in parts on several GPUs: what is asked of it, and how its weights get to vLLM.

FSDP2 alone will do for vLLM. TRL's sync walks the model itself, in which FSDP1's layers take
themselves for roots: before a first forward pass the weights outside of the layers are missing, and
that pass then fails.
"""

from __future__ import annotations

import os
from typing import Any

from accelerate.utils import fsdp2_prepare_model
from torch.distributed.fsdp import FSDPModule
from trl.models import prepare_deepspeed, prepare_fsdp

from agentgym.core.errors import InvalidConfig


def check_sharding(args: Any) -> None:
    """Require that the weights of a model in parts can be sent to vLLM.

    Args:
        args: TRL's configuration.

    Raises:
        InvalidConfig: naming the option to launch with.
    """
    if fsdp_version(args) == 1:
        raise InvalidConfig(
            "weights that FSDP1 has in parts cannot be sent to vLLM: launch with --use_fsdp "
            "--fsdp_version 2 (docs/vllm.md)"
        )


def fsdp_version(args: Any) -> int | None:
    """Return which FSDP a trainer will use, from its arguments or the launcher; None for none."""
    if args.fsdp_plugin_args is not None:
        return int(args.fsdp_plugin_args.get("fsdp_version", 1))
    if os.environ.get("ACCELERATE_USE_FSDP", "").lower() in ("true", "1"):
        return int(os.environ.get("FSDP_VERSION", "1"))
    return None


def send_weights(trainer: Any) -> None:
    """Give vLLM the weights of the moment; every process calls this and goes on once all are there.

    Args:
        trainer: TRL's, whose `vllm_generation` sends them.
    """
    for module in trainer.model.modules():
        if isinstance(module, FSDPModule):
            module.reshard()  # what a forward pass left whole TRL cannot take
    trainer.vllm_generation.sync_weights()
    # Only the main process sends to a server, and every process asks it.
    trainer.accelerator.wait_for_everyone()


def spread(model: Any, trainer: Any) -> Any:
    """Return a model that is not trained, placed as the trained one is: whole or in parts."""
    if trainer.is_deepspeed_enabled:
        return prepare_deepspeed(model, trainer.accelerator)
    if trainer.is_fsdp_enabled and trainer.accelerator.is_fsdp2:
        # TRL's own way has no layers: a pass would put the whole of it together.
        return fsdp2_prepare_model(trainer.accelerator, model).eval()
    if trainer.is_fsdp_enabled:
        return prepare_fsdp(model, trainer.accelerator)
    return trainer.accelerator.prepare_model(model, evaluation_mode=True)
