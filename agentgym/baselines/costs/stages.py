"""The stages a run is made of: what each learns and plays, as counts of tokens."""

from __future__ import annotations

from dataclasses import dataclass, replace

from agentgym.baselines.config import OptimConfig


@dataclass(frozen=True, slots=True)
class Rows:
    """Sequences to learn from.

    Attributes:
        count: how many.
        tokens: tokens of all of them.
        longest: tokens of the longest.
    """

    count: float = 0.0
    tokens: float = 0.0
    longest: float = 0.0

    @property
    def mean(self) -> float:
        """Tokens of a sequence."""
        return self.tokens / self.count if self.count else 0.0

    def __add__(self, other: Rows) -> Rows:
        return Rows(
            self.count + other.count,
            self.tokens + other.tokens,
            max(self.longest, other.longest),
        )

    def times(self, factor: float) -> Rows:
        """Return so many times as many sequences."""
        return replace(self, count=self.count * factor, tokens=self.tokens * factor)


@dataclass(frozen=True, slots=True)
class Played:
    """Episodes a policy plays.

    Attributes:
        episodes: how many.
        own: tokens that are sampled.
        read: tokens that are read, each once.
        longest: tokens of the longest episode.
        together: replies that are written together.
        engine: who samples: "hf", "vllm", "vllm-server", "vllm-colocate", or "endpoint", which is
            somebody else's machine.
        spread: whether all processes play; otherwise one does, and the others wait.
        kept: most tokens whose keys and values this process holds: those between turns, and those
            of a batch.
        dtype: precision of the weights that play; "" for the model's own.
    """

    episodes: float
    own: float
    read: float
    longest: float
    together: float
    engine: str = "hf"
    spread: bool = False
    kept: int = 0
    dtype: str = ""


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of a run.

    Attributes:
        name: what it is.
        optim: how it learns; None where it only plays.
        rows: what goes through the model for learning, each time it does, over all processes.
        forward: how often as many tokens go through a model without being learned (a reference).
        sides: sequences of a forward pass for each of `optim.batch_size`.
        reference: whether a second, frozen model is held.
        played: what is played in it.
        engine: part of the GPU that vLLM has.
        calls: calls of a judge.
        times: how often the stage is gone through, one time after the other.
    """

    name: str
    optim: OptimConfig | None = None
    rows: Rows = Rows()
    forward: float = 0.0
    sides: int = 1
    reference: bool = False
    played: tuple[Played, ...] = ()
    engine: float = 0.0
    calls: float = 0.0
    times: int = 1
