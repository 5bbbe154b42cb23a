"""Loading a model of transformers, and what has to be known about it."""

from __future__ import annotations

from typing import Any

import torch

from agentgym.agents.models import resolve
from agentgym.agents.models.convert import no_progress_bars
from agentgym.core import require
from agentgym.core.errors import InvalidConfig, MissingData


def load(
    name: str, *, device: str, dtype: str, adapter: str | None, attention: str | None = None
) -> tuple[Any, Any]:
    """Return (model, tokenizer) of a known name, a folder or a hub id.

    Code that comes with a model is never run; only architectures transformers has are loaded.

    Args:
        name: the model.
        device: where it goes; "auto" for a GPU where there is one.
        dtype: of its weights; "auto" for float32 on a CPU and else that of its files.
        adapter: a LoRA adapter that is merged into it.
        attention: transformers' name of what computes attention; None takes its own choice.

    Raises:
        UnknownModel: if the name is none of these.
        MissingData: if it is not on this machine and cannot be brought.
        InvalidConfig: if device, dtype or attention is not one there is.
        MissingExtra: if an adapter is given and peft is not installed.
    """
    from transformers import AutoModelForCausalLM, AutoTokenizer

    where = resolve(name, "hf")
    place = _device(device)
    try:
        with no_progress_bars():
            tokenizer = AutoTokenizer.from_pretrained(where)
            model = AutoModelForCausalLM.from_pretrained(
                where, dtype=_dtype(dtype, place), attn_implementation=attention
            )
    except (ImportError, ValueError) as error:
        if attention is None:
            raise
        raise InvalidConfig(f"{name} cannot be loaded with {attention}: {error}") from error
    except OSError as error:
        raise MissingData(
            f"{name} cannot be loaded: {error}. Without a network, give the path of a model "
            "folder, or use the small model: agentgym models fetch smollm2"
        ) from error
    if adapter:
        peft = require("peft", "A LoRA adapter", "lora")
        model = peft.PeftModel.from_pretrained(model, adapter).merge_and_unload()
    return model.to(place).eval(), tokenizer


def _device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise InvalidConfig(
            f"device {name!r} is none torch knows: cpu, cuda, cuda:0, ..."
        ) from error
    if device.type == "cuda" and not torch.cuda.is_available():
        raise InvalidConfig("device 'cuda' was asked for, but torch sees no GPU here.")
    return device


def _dtype(name: str, device: torch.device) -> Any:
    if name == "auto":
        return torch.float32 if device.type == "cpu" else "auto"
    dtype = getattr(torch, name, None)
    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
        raise InvalidConfig(f"dtype {name!r} is none of auto, float32, bfloat16, float16.")
    return dtype


def end_tokens(model: Any, tokenizer: Any) -> frozenset[int]:
    """Return the tokens that end a reply."""
    configured = getattr(model.generation_config, "eos_token_id", None)
    several = configured if isinstance(configured, list) else [configured]
    return frozenset(int(t) for t in [*several, tokenizer.eos_token_id] if t is not None)


def context_limit(model: Any) -> int:
    """Return the most tokens a model's positions reach."""
    return int(getattr(model.config.get_text_config(), "max_position_embeddings", None) or 4096)


def keeps_all(model: Any) -> bool:
    """Return whether every layer keeps one key and value a token, so that prefixes can be cut.

    Sliding windows, recurrent states and the like do not.
    """
    config = model.config.get_text_config()
    kinds = getattr(config, "layer_types", None)
    if kinds:
        return all(kind == "full_attention" for kind in kinds)
    recurrent = getattr(model, "_is_stateful", False)
    return not recurrent and not getattr(config, "sliding_window", None)
