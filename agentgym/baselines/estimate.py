"""What a training run will cost, before it is begun: memory, tokens, operations, hours.

    memory of a process  = weights + gradients + two moments + reference + working copies
                           + activations + a tile of the logits          (`costs.memory`)
    training operations  = 6 N a token, 8 N where activations are computed twice, + attention
                           (Kaplan et al., arXiv 2001.08361; 4 N and 6 N for an adapter, whose
                           base has no gradient); 2 N for a reference's token
    sampling             = 2 N a token read or written; its time is that of moving the weights
                           and the keys and values once a token (`costs.machines`)

Tokens follow from the settings and from how long episodes are taken to be (`costs.work`). Nothing
is loaded or played. Every number is an estimate, and `Estimate.assumed` says what it rests on.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from agentgym.baselines.checkpoints import ranks
from agentgym.baselines.config import RunConfig
from agentgym.baselines.costs.machines import A100, CORE, Machine
from agentgym.baselines.costs.memory import Memory, Spread, memory_of, size
from agentgym.baselines.costs.shapes import ModelShape, shape_of
from agentgym.baselines.costs.stages import Played, Stage
from agentgym.baselines.costs.total import Estimate
from agentgym.baselines.costs.work import stages_of

__all__ = ["Estimate", "estimate", "estimate_lines"]

NODE = 8
"""Processes a large model is counted on where no launcher says how many there are."""
WIDTHS = {"float32": 4, "bfloat16": 2, "float16": 2}
VLLM = 0.9
"""The part of a GPU that vLLM takes by itself."""
LARGE = 500_000_000
"""From so many weights on a model is counted on GPUs, where the settings do not say."""


def estimate(
    config: RunConfig, processes: int | None = None, *, sharded: bool | None = None
) -> Estimate:
    """Return what a trainer's run costs.

    Args:
        config: the settings of one of the five trainers.
        processes: how many train together; None takes the launcher's number, or for a large model
            without a launcher a node of eight.
        sharded: whether a model is spread over them (FSDP); None takes what the launcher or
            `optim.trainer` says, and without a launcher that it is.

    Raises:
        UnknownModel: if there is no such model.
        UnknownEnvironment: if there is no such environment.
    """
    shape, said = shape_of(config.model)
    gpu = on_gpu(config, shape)
    count = processes or _processes(gpu)
    stages, notes = stages_of(shape, config, count)
    split = count > 1 and (_sharded(config) if sharded is None else sharded)
    machine = A100 if gpu else CORE
    parts = [_stage(s, shape, config, count, split, machine).times(s.times) for s in stages]
    notes = tuple(note for note in (said, *notes, *_assumed(machine, count, split)) if note)
    return replace(sum(parts, Estimate(machine=machine.name)), assumed=notes)


def estimate_lines(config: RunConfig) -> list[str]:
    """Return the estimate of a trainer's run, a line each, as plans end with."""
    whole = estimate(config)
    lines = whole.lines()
    if whole.processes > 1 and ranks() == 1:
        alone = estimate(config, 1)
        fits = "fits in" if alone.memory.training <= alone.capacity else "DOES NOT FIT in"
        lines.append(
            f"estimate: one process alone would need {size(alone.memory.training)} while "
            f"training: {fits} {size(alone.capacity)}"
        )
    return [*lines, f"assumed: {'; '.join(whole.assumed)}"]


def on_gpu(config: RunConfig, shape: ModelShape) -> bool:
    """Return whether a run is counted on GPUs: where `model.device` says so, or a model is large.

    >>> from agentgym.baselines.costs.shapes import KNOWN
    >>> [on_gpu(RunConfig(), shape) for shape in KNOWN]
    [True, True, True, False]
    """
    device = config.model.device
    return device.startswith("cuda") if device != "auto" else shape.weights >= LARGE


def spread_of(
    config: RunConfig, shape: ModelShape, processes: int, sharded: bool, *, gpu: bool
) -> Spread:
    """Return how a model is held, as `model.load_policy` and the launcher would have it."""
    # Several processes load on the CPU, where "auto" is float32 (agents.hf_load).
    auto = shape.stored if gpu and processes == 1 else 4
    # The pages' commands wrap layers; a launcher that was not told to wraps nothing.
    policy = "TRANSFORMER_BASED_WRAP" if ranks() == 1 else "NO_WRAP"
    layers = "TRANSFORMER" in os.environ.get("FSDP_AUTO_WRAP_POLICY", policy).upper()
    precision = config.optim.precision
    return Spread(
        processes=processes,
        sharded=sharded,
        wrap="layer" if layers else "whole",
        weight=WIDTHS.get(config.model.held, auto),
        mixed=precision == "bfloat16" or (precision == "auto" and gpu),
    )


def _stage(
    stage: Stage,
    shape: ModelShape,
    config: RunConfig,
    processes: int,
    sharded: bool,
    machine: Machine,
) -> Estimate:
    """Return what one stage costs."""
    lora = config.model.lora
    spread = spread_of(config, shape, processes, sharded, gpu=bool(machine.peak))
    memory = _memory(stage, shape, config, spread, machine)
    work = _operations(stage, shape, config)
    training = work / machine.rate(shape) / processes / 3600
    playing = sum(_seconds(p, stage, shape, spread, machine) for p in stage.played) / 3600
    hours = training + playing
    done = [p for p in stage.played if p.engine != "endpoint"]
    return Estimate(
        machine=machine.name,
        processes=processes,
        weights=shape.weights + (shape.adapter(lora) if lora else 0),
        trained=shape.adapter(lora) if lora else shape.weights,
        memory=memory if stage.optim is not None else Memory(),
        playing=memory if stage.played else Memory(),
        capacity=machine.memory,
        learned=stage.rows.tokens,
        sampled=sum(p.own for p in stage.played),
        read=sum(p.read for p in stage.played),
        episodes=sum(p.episodes for p in stage.played),
        calls=stage.calls,
        operations=work,
        sampling_operations=sum(2.0 * shape.multiplied * (p.own + p.read) for p in done),
        hours=hours,
        training_hours=training,
        device_hours=hours * processes,
    )


def _memory(
    stage: Stage, shape: ModelShape, config: RunConfig, spread: Spread, machine: Machine
) -> Memory:
    """Return what one process needs in a stage."""
    optim = stage.optim
    if optim is None:
        return _playing(stage, shape, spread, machine)
    ours = [p for p in stage.played if p.engine == "hf"]
    return memory_of(
        shape,
        spread,
        batch=optim.batch_size * stage.sides,
        length=round(stage.rows.longest),
        lora=config.model.lora,
        checkpointing=optim.gradient_checkpointing,
        reference=stage.reference,
        sampled=max((p.kept for p in ours), default=0),
        copied=spread.processes > 1 and any(not p.spread for p in ours),
        engine=stage.engine * machine.memory,
    )


def _playing(stage: Stage, shape: ModelShape, spread: Spread, machine: Machine) -> Memory:
    """Return what one process needs that plays and holds nothing else."""
    if any(p.engine == "vllm" for p in stage.played):
        return Memory(engine=(stage.engine or VLLM) * machine.memory)
    ours = [p for p in stage.played if p.engine == "hf"]
    if not ours:
        return Memory()
    width = max(_width(p, stage, spread) for p in ours)
    kept = max(p.kept for p in ours)
    return Memory(weights=shape.weights * width, cache=kept * shape.cached * width)


def _operations(stage: Stage, shape: ModelShape, config: RunConfig) -> float:
    """Return the operations of a stage's learning: forward, back, and what is only read.

    Attention adds 2 x layers x width x length to a forward pass of a token that sees half of the
    sequence before it.
    """
    if stage.optim is None:
        return 0.0
    forward = 2.0 * shape.multiplied
    forward += 2.0 * shape.layers * shape.heads * shape.head * stage.rows.mean
    passes = 2.0 if config.model.lora else 3.0  # a frozen weight has no gradient of its own
    passes += 1.0 if stage.optim.gradient_checkpointing else 0.0
    return stage.rows.tokens * forward * (passes + stage.forward)


def _seconds(
    played: Played, stage: Stage, shape: ModelShape, spread: Spread, machine: Machine
) -> float:
    """Return the time some episodes take; of an endpoint's nothing is known."""
    if played.engine == "endpoint" or not played.episodes:
        return 0.0
    length = (played.own + played.read) / played.episodes
    each = machine.sampling_seconds(
        shape,
        played.together,
        length / 2,
        _width(played, stage, spread),
        python=played.engine == "hf",
    )
    reading = 2.0 * shape.multiplied * played.read / machine.rate(shape)
    players = spread.processes if played.spread else 1
    return (played.own / played.together * each + reading) / players


def _width(played: Played, stage: Stage, spread: Spread) -> int:
    """Return the bytes of a weight of the policy that plays."""
    if played.engine != "hf":
        return 2
    copied = stage.optim is not None and spread.processes > 1 and not played.spread
    return WIDTHS.get(played.dtype, spread.compute if copied else spread.weight)


def _processes(gpu: bool) -> int:
    if ranks() > 1 or not gpu:
        return ranks()
    return NODE


def _sharded(config: RunConfig) -> bool:
    if ranks() == 1 or {"fsdp", "deepspeed"} & set(config.optim.trainer):
        return True
    names = ("ACCELERATE_USE_FSDP", "ACCELERATE_USE_DEEPSPEED")
    return any(os.environ.get(name, "").lower() in ("true", "1") for name in names)


def _assumed(machine: Machine, processes: int, sharded: bool) -> Sequence[str]:
    spread = "weights, gradients and moments spread over them (FSDP)" if sharded else "each whole"
    together = f"{processes} processes, {spread}" if processes > 1 else ""
    lengths = "policies play as many rounds, and say as much, as the experts or published data"
    if not machine.peak:
        return (lengths, "a core's rate at this width as measured once (costs/machines.py)")
    rates = (
        f"{machine.used:.0%} of {machine.peak / 1e12:.0f} TFLOP/s in training, half of the "
        "memory's 2.0 TB/s in sampling"
    )
    return (lengths, together, rates, "environments, and what CUDA keeps for itself, cost nothing")
