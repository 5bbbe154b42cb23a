"""Make a transformers folder from a GGUF file, once.

transformers reads GGUF itself, but takes half a minute each time and marks the model as quantised,
which then refuses to be saved or trained. The weights are therefore read once, put into a fresh
float32 model of the same configuration, and saved as safetensors: that loads in a fifth of a
second and is an ordinary model.
"""

from __future__ import annotations

import contextlib
import functools
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agentgym.core.errors import BrokenContract
from agentgym.core.extras import require


def convert_file(gguf: Path, folder: Path) -> Path:
    """Convert a GGUF file of a Llama-like model into a folder, atomically.

    Args:
        gguf: the file to read.
        folder: the folder to make; its parent must exist.

    Raises:
        MissingExtra: if torch, transformers or gguf is not installed.
    """
    for module in ("torch", "transformers", "gguf"):
        require(module, "Converting a model for transformers", "hf")
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".convert-") as scratch:
        made = Path(scratch) / "hf"
        with no_progress_bars():
            model, tokenizer = _load(gguf)
            model.save_pretrained(made)
            tokenizer.save_pretrained(made)
        try:
            os.rename(made, folder)
        except OSError:
            if not folder.exists():  # else another process was quicker, and made the same
                raise
    return folder


@contextlib.contextmanager
def no_progress_bars() -> Iterator[None]:
    """Keep transformers from drawing bars over whoever draws their own."""
    import transformers.modeling_gguf_pytorch_utils as gguf_utils
    from transformers.utils import logging

    shown, drawn = logging.is_progress_bar_enabled(), getattr(gguf_utils, "tqdm", None)
    logging.disable_progress_bar()
    if drawn is not None:
        gguf_utils.tqdm = functools.partial(drawn, disable=True)
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()
        if drawn is not None:
            gguf_utils.tqdm = drawn


def _load(gguf: Path) -> tuple[Any, Any]:
    """Return (model, tokenizer) of a GGUF file, the model an ordinary float32 one."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    where: dict[str, Any] = {"gguf_file": gguf.name, "local_files_only": True}
    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, **where)
    read = AutoModelForCausalLM.from_pretrained(gguf.parent, dtype=torch.float32, **where)
    config = read.config
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    config.dtype = torch.float32
    model = type(read)(config)
    lost = model.load_state_dict(read.state_dict(), strict=False)
    if lost.unexpected_keys or set(lost.missing_keys) - {"lm_head.weight"}:
        raise BrokenContract(f"{gguf.name} converts only in part: {lost}")
    model.tie_weights()
    model.generation_config = read.generation_config
    return model, tokenizer
