"""Handing back what a stage held: the next one needs the same GPU.

A model, its trainer and the callbacks of both hold each other, so that nothing of them goes when
the function that made them returns, and what torch has freed it keeps for itself. Between learning
and playing both are seen to.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def frees(stage: Callable[P, R]) -> Callable[P, R]:
    """Have a function hand back everything it held, once it has returned."""

    @wraps(stage)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return stage(*args, **kwargs)
        finally:
            collect()

    return run


def collect() -> None:
    """Free what nobody can reach, and give torch's spare memory back to the device."""
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()


def set_aside() -> None:
    """Leave what is loaded out of later collections, the trainers' libraries above all.

    To look through their million objects takes half a second, several times a stage. What is set
    aside is never looked at again, so this is for a process that has not begun and is a trainer's
    alone: a command, a cell of a demonstration.
    """
    try:
        import trl
    except ImportError:  # the trainer says what to install
        return
    _ = trl.SFTTrainer  # loaded, with nearly everything the others need, when it is asked for
    gc.collect()
    gc.freeze()


def let_go(trainer: Any) -> None:
    """Free what learning alone needed: moments, gradients, a reference. The model stays.

    Args:
        trainer: a TRL trainer that is done.
    """
    for holder in (trainer, trainer.callback_handler):
        holder.optimizer = holder.lr_scheduler = None
    trainer.accelerator.free_memory()
    for name in ("ref_model", "_reference"):
        if getattr(trainer, name, None) is not None:
            setattr(trainer, name, None)
    for weight in trainer.model.parameters():
        weight.grad = None
    collect()
