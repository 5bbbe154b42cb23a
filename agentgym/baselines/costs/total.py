"""The cost of a run, or of several: numbers that add up, and the lines that say them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from agentgym.baselines.costs.machines import CORE
from agentgym.baselines.costs.memory import Memory, size

_MORE = "more processes, model.lora, or a smaller model"
ADVICE = {
    "weights": _MORE,
    "gradients": _MORE,
    "optimiser": _MORE,
    "reference": "model.lora, whose reference is the model itself",
    "working": "accelerate launch --fsdp_auto_wrap_policy TRANSFORMER_BASED_WRAP",
    "activations": "optim.gradient_checkpointing=true or a smaller optim.batch_size",
    "logits": "a smaller optim.batch_size or length.max_tokens",
    "policy": _MORE,
    "cache": "a smaller max_batch of the policy that plays (eval.sampling, explore.sampling), "
    "its dtype (explore.options.dtype=bfloat16), or vLLM (explore.agent=vllm:{policy})",
    "engine": "a smaller engine.gpu_memory, or a server beside the trainer",
}
"""What to change, by the largest part of the memory."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run costs, or several one after the other (`a + b`, `sum`).

    Attributes:
        machine: "A100 80 GB" or "CPU core"; of a sum, the larger.
        processes: how many train together; of a sum, the most.
        weights: weights of the model; of a sum, of the largest.
        trained: those that are trained; of a sum, the most.
        memory: bytes of one process, of the stage that needs most for training.
        playing: the same of the stage that needs most for playing.
        capacity: bytes a device has; 0 where that is not the point (a CPU).
        learned: tokens that are learned, each time they are.
        sampled: tokens that the policy writes.
        read: tokens that it reads while it plays.
        episodes: episodes that are played.
        calls: calls of a judge.
        operations: floating-point operations of training.
        sampling_operations: of playing.
        hours: hours it takes on this many devices.
        training_hours: those of them that training takes.
        device_hours: GPU hours, or hours of a CPU core.
        assumed: what all this rests on.
    """

    machine: str = CORE.name
    processes: int = 1
    weights: int = 0
    trained: int = 0
    memory: Memory = field(default_factory=Memory)
    playing: Memory = field(default_factory=Memory)
    capacity: float = 0.0
    learned: float = 0.0
    sampled: float = 0.0
    read: float = 0.0
    episodes: float = 0.0
    calls: float = 0.0
    operations: float = 0.0
    sampling_operations: float = 0.0
    hours: float = 0.0
    training_hours: float = 0.0
    device_hours: float = 0.0
    assumed: tuple[str, ...] = ()

    @property
    def peak(self) -> float:
        """The most bytes of one process."""
        return max(self.memory.training, self.playing.sampling)

    @property
    def fits(self) -> bool:
        """Whether one process finds room on its device; where there is no device, always."""
        return not self.capacity or self.peak <= self.capacity

    @property
    def advice(self) -> str:
        """What would help most, where one process finds no room; "" where it does."""
        if self.fits:
            return ""
        sampling = self.playing.sampling > self.memory.training
        parts = (self.playing if sampling else self.memory).parts(sampling=sampling)
        return ADVICE[max(parts, key=lambda name: parts[name])]

    def __add__(self, other: Estimate) -> Estimate:
        """Return the cost of both, one after the other: hours add up, the larger memory counts."""
        large, small = (self, other) if self.capacity >= other.capacity else (other, self)
        return Estimate(
            machine=large.machine if large.weights else small.machine,
            processes=max(self.processes, other.processes),
            weights=max(self.weights, other.weights),
            trained=max(self.trained, other.trained),
            memory=max(self.memory, other.memory, key=lambda m: m.training),
            playing=max(self.playing, other.playing, key=lambda m: m.sampling),
            capacity=large.capacity,
            learned=self.learned + other.learned,
            sampled=self.sampled + other.sampled,
            read=self.read + other.read,
            episodes=self.episodes + other.episodes,
            calls=self.calls + other.calls,
            operations=self.operations + other.operations,
            sampling_operations=self.sampling_operations + other.sampling_operations,
            hours=self.hours + other.hours,
            training_hours=self.training_hours + other.training_hours,
            device_hours=self.device_hours + other.device_hours,
            assumed=tuple(dict.fromkeys((*self.assumed, *other.assumed))),
        )

    def times(self, count: int) -> Estimate:
        """Return the cost of the same so many times, one after the other."""
        return replace(
            self,
            learned=self.learned * count,
            sampled=self.sampled * count,
            read=self.read * count,
            episodes=self.episodes * count,
            calls=self.calls * count,
            operations=self.operations * count,
            sampling_operations=self.sampling_operations * count,
            hours=self.hours * count,
            training_hours=self.training_hours * count,
            device_hours=self.device_hours * count,
        )

    def __radd__(self, other: Literal[0] | Estimate) -> Estimate:
        """Let `sum` begin with 0."""
        return self if other == 0 else self + other

    def lines(self) -> list[str]:
        """Return the estimate as text, a line each."""
        gpu = bool(self.capacity)
        where = f"{self.processes} x {self.machine}" if gpu else "one CPU core"
        total = f", {amount(self.device_hours)} GPU hours" if gpu else ""
        part = f"{100 * self.training_hours / self.hours:.0f}% of it training" if self.hours else ""
        played = (
            f"; {amount(self.episodes)} episodes played, {amount(self.sampled)} tokens written in "
            f"them and {amount(self.read)} read"
            if self.episodes
            else ""
        )
        calls = f"; {amount(self.calls)} calls of a judge" if self.calls else ""
        return [
            f"estimate: {self.trained:,} of {self.weights:,} weights are trained, on "
            f"{amount(self.learned)} tokens{played}{calls}",
            *self._memory_lines(),
            f"estimate: {self.operations:.1e} operations of training, "
            f"{self.sampling_operations:.1e} of playing; {duration(self.hours)} on {where}{total} "
            f"({part})",
        ]

    def _memory_lines(self) -> list[str]:
        lines = []
        for name, memory, sampling in (
            ("training", self.memory, False),
            ("playing", self.playing, True),
        ):
            whole = memory.sampling if sampling else memory.training
            fits = "fits in" if whole <= self.capacity else "DOES NOT FIT in"
            said = f": {fits} {size(self.capacity)}" if self.capacity else ""
            if whole:
                text = memory.text(sampling=sampling)
                lines.append(f"estimate: memory of a process while {name} {text}{said}")
        if not self.fits:
            lines.append(f"estimate: what would help most: {self.advice}")
        return lines

    def __str__(self) -> str:
        assumed = [f"assumed: {'; '.join(self.assumed)}"] if self.assumed else []
        return "\n".join([*self.lines(), *assumed])


def amount(number: float) -> str:
    """Return a count as text, to two or three figures.

    >>> amount(81_300_000), amount(14_485), amount(7.25), amount(120)
    ('81.3 million', '14,485', '7.2', '120')
    """
    for unit, name in ((1e9, "billion"), (1e6, "million")):
        if number >= unit:
            return f"{number / unit:,.1f} {name}"
    return f"{number:,.0f}" if number >= 20 else f"{number:.2g}"


def duration(hours: float) -> str:
    """Return a time as text.

    >>> duration(0.002), duration(0.5), duration(30.0)
    ('about 7 seconds', 'about 30 minutes', 'about 30 hours')
    """
    if hours * 60 < 2:
        return f"about {hours * 3600:.0f} seconds"
    return f"about {hours * 60:.0f} minutes" if hours < 2 else f"about {hours:.0f} hours"
