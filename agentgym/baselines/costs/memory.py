"""The memory one process needs, part by part.

What does not depend on the data is exact: weights, gradients, AdamW's two moments, a reference.
Activations are counted tensor by tensor as a Llama layer of transformers keeps them for the way
back, and are right within a factor of two (`tests/baselines/test_costs.py` holds both against a
real step). What a framework takes for itself (a CUDA context, fragmentation) is not in it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Literal

from agentgym.baselines.config import LoraConfig
from agentgym.baselines.costs.shapes import ModelShape

GB = 1e9
TILE = (4096, 32_768)
"""Tokens x vocabulary of the logits held at a time: TRL 1.16's fused head reads them in tiles."""

Wrap = Literal["whole", "layer"]


@dataclass(frozen=True, slots=True)
class Spread:
    """How a model is trained over processes, and in which precision.

    Attributes:
        processes: how many train together.
        sharded: whether weights, gradients and moments are spread over them (FSDP, full shard);
            otherwise each holds all (DDP).
        wrap: sharded: what is put together at a time: the "whole" model (accelerate's default), or
            a "layer" (`--fsdp_auto_wrap_policy TRANSFORMER_BASED_WRAP`).
        weight: bytes of a weight that is held.
        mixed: whether passes compute in bfloat16 while weights are float32.
    """

    processes: int = 1
    sharded: bool = False
    wrap: Wrap = "whole"
    weight: int = 4
    mixed: bool = False

    @property
    def compute(self) -> int:
        """Bytes of a number in a pass."""
        return 2 if self.mixed else self.weight

    @property
    def share(self) -> float:
        """The part of the weights that one process holds."""
        return 1 / self.processes if self.sharded else 1.0


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes of one process.

    Attributes:
        weights: the weights, trained or not.
        gradients: of the weights that are trained.
        optimiser: AdamW's two moments.
        reference: a second, frozen model.
        working: copies that passes need: weights put together from shards, casts, DDP's buckets.
        activations: what is kept for the way back.
        logits: the tile of the logits, and the head's gradient in float32.
        policy: a whole copy that plays where the weights are spread over processes.
        cache: keys and values while sampling in this process.
        engine: what vLLM is given of the same GPU.
    """

    weights: float = 0.0
    gradients: float = 0.0
    optimiser: float = 0.0
    reference: float = 0.0
    working: float = 0.0
    activations: float = 0.0
    logits: float = 0.0
    policy: float = 0.0
    cache: float = 0.0
    engine: float = 0.0

    @property
    def fixed(self) -> float:
        """What is held all the time."""
        return self.weights + self.optimiser + self.reference + self.engine

    @property
    def training(self) -> float:
        """The most while a step is made."""
        passing = self.gradients + self.working + self.activations + self.logits
        return self.fixed + passing

    @property
    def sampling(self) -> float:
        """The most while the policy plays."""
        return self.fixed + self.policy + self.cache

    @property
    def peak(self) -> float:
        """The most of both."""
        return max(self.training, self.sampling)

    def parts(self, *, sampling: bool) -> dict[str, float]:
        """Return the parts of one of the two peaks by name, without those that are nothing."""
        passing = ("gradients", "working", "activations", "logits")
        absent = passing if sampling else ("policy", "cache")
        found = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in absent}
        return {name: float(value) for name, value in found.items() if value}

    def text(self, *, sampling: bool) -> str:
        """Return one of the two peaks and its parts as text."""
        whole = self.sampling if sampling else self.training
        shown = ", ".join(f"{name} {size(v)}" for name, v in self.parts(sampling=sampling).items())
        return f"{size(whole)} ({shown})"


def memory_of(
    shape: ModelShape,
    spread: Spread,
    *,
    batch: int,
    length: int,
    lora: LoraConfig | None = None,
    checkpointing: bool = False,
    reference: bool = False,
    sampled: int = 0,
    copied: bool = False,
    engine: float = 0.0,
) -> Memory:
    """Return what one process needs.

    Args:
        shape: the model.
        spread: over how many processes, and in which precision.
        batch: sequences of a forward pass.
        length: tokens of the longest of them.
        lora: the adapter, where one is trained.
        checkpointing: whether activations are computed again on the way back.
        reference: whether a second, frozen model is held (an adapter needs none).
        sampled: most tokens whose keys and values are kept while the policy plays.
        copied: whether one process holds a whole copy that plays.
        engine: bytes of the GPU that vLLM is given.
    """
    trained = shape.adapter(lora) if lora else shape.weights
    frozen = shape.weights if lora else 0
    each = 4 if lora else spread.weight  # an adapter's weights are float32
    held = trained * each + frozen * spread.weight
    second = shape.weights * spread.weight if reference and not lora else 0
    tokens = batch * length
    return Memory(
        weights=held * spread.share,
        gradients=trained * each * spread.share,
        optimiser=2 * trained * each * spread.share,
        reference=second * spread.share,
        working=_working(shape, spread, trained, each, second=bool(second)),
        activations=_activations(shape, spread, tokens, lora, checkpointing),
        logits=_logits(shape, spread, tokens, whole=not lora),
        policy=shape.weights * spread.compute if copied else 0,
        cache=sampled * shape.cached * (spread.compute if copied else spread.weight),
        engine=engine,
    )


def _working(shape: ModelShape, spread: Spread, trained: int, each: int, *, second: bool) -> float:
    """Return what is held beside the weights while they are used.

    FSDP puts a unit's weights together in the precision of the pass and its gradients beside them,
    and the reference's after the policy's; DDP sums gradients in buckets as large as they are;
    autocast keeps a copy of the linear layers in bfloat16.
    """
    if spread.sharded and spread.processes > 1:
        heads = shape.embedding * (1 if shape.tied else 2)
        unit = shape.weights if spread.wrap == "whole" else heads + 2 * shape.layer
        both = 2 if trained == shape.weights else 1
        return float(unit * spread.compute * (both + second))
    copies = 2.0 * shape.multiplied if spread.mixed and spread.weight == 4 else 0.0
    buckets = trained * each if spread.processes > 1 else 0
    return copies + buckets


def _activations(
    shape: ModelShape, spread: Spread, tokens: int, lora: LoraConfig | None, checkpointing: bool
) -> float:
    """Return what `tokens` leave behind for the way back.

    A layer keeps: of each of two norms its input in float32, what was normalised and the result;
    queries, keys and values as they were turned; attention's result, and the same in order; four
    tensors of the feed-forward's width. With checkpointing it keeps its input, and one layer at a
    time has the rest.
    """
    c = spread.compute
    stream = 4 if spread.weight == 4 else 2  # bytes of the residual stream
    norms = 2 * shape.hidden * (4 + stream + (c if c != stream else stream))
    attention = c * (3 * shape.heads + 2 * shape.kv_heads) * shape.head
    feed = 4 * c * shape.feed
    layer = norms + attention + feed
    if lora:  # the input of each adapter in float32, and what its first half gives
        layer += sum(4 * lora.r for _ in shape.sizes)
        layer += 4 * (shape.hidden + shape.feed) if spread.compute == 2 else 0
    ends = shape.hidden * (4 + stream + c)
    if checkpointing:
        return float(tokens * (shape.layers * shape.hidden * stream + layer + ends))
    return float(tokens * (shape.layers * layer + ends))


def _logits(shape: ModelShape, spread: Spread, tokens: int, *, whole: bool) -> float:
    tile = min(tokens, TILE[0]) * min(shape.vocab, TILE[1]) * spread.compute
    hidden = 4 * tokens * shape.hidden
    return float(tile + hidden + (4 * shape.embedding if whole else 0))


def size(count: float) -> str:
    """Return bytes as text: "13.5 GB".

    >>> size(13.48e9), size(2_500_000)
    ('13.5 GB', '2.5 MB')
    """
    if count >= GB:
        return f"{count / GB:.1f} GB" if count < 1000 * GB else f"{count / GB:,.0f} GB"
    return f"{count / 1e6:.1f} MB" if count < 10e6 else f"{math.ceil(count / 1e6)} MB"
