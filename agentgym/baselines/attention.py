"""What computes attention while a model learns (`model.attention`), and where it cannot.

Flash attention is told where sequences end and takes no masks, and it computes in 16 bits. What
plays in this process keeps keys and values, pads, and so needs masks: it has another attention.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from agentgym.baselines.config import ModelConfig, RunConfig
from agentgym.core.errors import InvalidConfig

FLASH = "flash_"
MASKED = "sdpa"
"""What takes flash attention's place where masks are needed."""


def is_flash(model: ModelConfig) -> bool:
    """Return whether a model learns with flash attention."""
    return (model.attention or "").startswith(FLASH)


def check_attention(config: RunConfig) -> None:
    """Require that the attention that is set can do what a run asks of it.

    Raises:
        InvalidConfig: saying what to set.
    """
    if not is_flash(config.model):
        return
    name = config.model.attention
    if config.optim.precision == "float32" and config.model.held == "float32":
        raise InvalidConfig(f"{name} computes in 16 bits alone: set optim.precision to bfloat16")
    if getattr(getattr(config, "engine", None), "kind", "") == "hf":
        raise InvalidConfig(
            f"the engine hf plays under masks, which {name} does not take: set engine.kind to "
            "vllm-server or vllm-colocate, or model.attention to sdpa"
        )


@contextmanager
def masked(model: Any) -> Iterator[None]:
    """Have a model take masks, in place of flash attention; afterwards it is as it was."""
    before = str(getattr(model.config, "_attn_implementation", None))
    if not before.startswith(FLASH):
        yield
        return
    model.set_attn_implementation(MASKED)
    try:
        yield
    finally:
        model.set_attn_implementation(before)
