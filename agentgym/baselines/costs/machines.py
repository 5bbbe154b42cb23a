"""How fast machines are: the rates that turn arithmetic into hours.

A GPU trains at a stated part of its peak and samples as fast as its memory lets it; a CPU core does
what was measured for models of this width. All of them are assumptions, which every estimate says.
"""

from __future__ import annotations

from dataclasses import dataclass

from agentgym.baselines.costs.shapes import ModelShape


@dataclass(frozen=True, slots=True)
class Machine:
    """Something that trains and samples.

    Attributes:
        name: what it is called.
        memory: bytes it has; 0 where that is not the point.
        peak: operations a second, bfloat16, without sparsity; 0 for a CPU core, whose rate grows
            with the model's width.
        used: the part of `peak` that training reaches.
        bandwidth: bytes a second of its memory that sampling reaches.
        per_layer: seconds a layer takes however small it is, sampling in Python.
        decode: the part of the training rate that small batches reach while sampling.
    """

    name: str
    memory: float
    peak: float
    used: float
    bandwidth: float
    per_layer: float
    decode: float

    def rate(self, shape: ModelShape) -> float:
        """Return operations a second in training."""
        if self.peak:
            return self.peak * self.used
        return min(CORE_RATE * shape.hidden, CORE_MOST)

    def sampling_seconds(
        self, shape: ModelShape, batch: float, length: float, weight: int, *, python: bool
    ) -> float:
        """Return the seconds in which each of a batch gets one token.

        Args:
            shape: the model.
            batch: replies that are written together.
            length: tokens each has before it, on average.
            weight: bytes of a weight.
            python: whether transformers samples; vLLM has no cost of its own a layer.
        """
        moved = weight * (shape.multiplied + batch * length * shape.cached)
        done = batch * 2 * shape.multiplied / (self.rate(shape) * self.decode)
        return moved / self.bandwidth + done + self.per_layer * shape.layers * python


CORE_RATE, CORE_MOST = 120e6, 50e9
"""A CPU core (AVX2, float32): 120 million operations a second for each of the model's width, at
most 50 thousand million; from 41 CPU seconds of training of the profile `bc-tiny` (width 96,
254,000 tokens), and 58 tokens a second of SmolLM2 (width 576, 512 tokens a sequence)."""

A100 = Machine("A100 80 GB", 80e9, 312e12, 0.40, 0.5 * 2.0e12, 1e-3, 0.5)
"""NVIDIA's data sheet: 312 TFLOP/s bfloat16, 2.0 TB/s; 40% and half of it reached."""
CORE = Machine("CPU core", 0.0, 0.0, 1.0, 10e9, 4e-4, 0.4)
"""10 GB/s and 0.4 ms a layer: SmolLM2 sampled alone and in batches of 8 and 32 (15, 62 and 121
tokens a second on two cores) is met within a third."""
