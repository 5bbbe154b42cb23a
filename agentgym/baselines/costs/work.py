"""What a trainer does, counted: its stages, in tokens.

Counts follow from the settings, the sizes of the task sets
and `episodes`; what had to be assumed is said in its notes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from agentgym.baselines.adca_grpo import AdcaGRPOConfig
from agentgym.baselines.bc import BCConfig, CloningConfig
from agentgym.baselines.config import SCRATCH, EnvTasks, OptimConfig, RunConfig, SamplingConfig
from agentgym.baselines.costs.attribution import asked, continued
from agentgym.baselines.costs.episodes import (
    CHARACTERS,
    MADE,
    PLAYS,
    Length,
    length_of,
    published_tasks,
)
from agentgym.baselines.costs.shapes import ModelShape
from agentgym.baselines.costs.stages import Played, Rows, Stage
from agentgym.baselines.dpo import DPOConfig
from agentgym.baselines.examples import DataConfig
from agentgym.baselines.explore import POLICY, ExploreConfig
from agentgym.baselines.grpo import GRPOConfig
from agentgym.baselines.plan import count_tasks
from agentgym.core.errors import InvalidConfig

if TYPE_CHECKING:
    from agentgym.baselines.agentevol import AgentEvolConfig

KEPT = 0.5
"""The part of what is explored that is solved and learned, which nobody knows before."""
EVAL_CACHE = 32_768
"""Most tokens whose keys and values `agents.hf` keeps."""


@dataclass
class Counter:
    """Counts the stages of a run.

    Attributes:
        shape: the model.
        config: the settings.
        processes: how many train together.
        notes: what had to be assumed.
    """

    shape: ModelShape
    config: RunConfig
    processes: int
    notes: dict[str, None] = field(default_factory=dict)
    _counts: dict[str, int | None] = field(default_factory=dict)

    @property
    def limit(self) -> int:
        """Most tokens of a sequence."""
        return min(self.config.length.max_tokens or self.shape.context, self.shape.context)

    @property
    def characters(self) -> float:
        """Characters of a token."""
        return MADE if self.config.model.name == SCRATCH else CHARACTERS

    def note(self, text: str) -> None:
        """Say what is assumed, once."""
        self.notes[text] = None

    def tasks(self, tasks: EnvTasks) -> float:
        """Return how many tasks are meant; the published number where their data is not here."""
        key = tasks.model_dump_json()
        if key not in self._counts:
            self._counts[key] = count_tasks(tasks)  # reads a task set
        count = self._counts[key]
        if count is not None:
            return count
        known = published_tasks(tasks)
        self.note(
            "official task sets are not here: sizes as published"
            if known
            else f"the tasks of {tasks.env} are unknown: counted as 100"
        )
        return known or 100

    def length(self, tasks: EnvTasks, reply: int | None = None) -> Length:
        """Return how long an episode is."""
        return length_of(tasks, self.limit, reply, self.characters)

    # What is learned.

    def data(self, data: DataConfig) -> Rows:
        """Return the demonstrations."""
        rows = Rows()
        for path in data.files:
            rows += self._file(path, data.layout)
        for tasks in data.expert:
            length, count = self.length(tasks), self.tasks(tasks)
            factor = length.rounds / 2 if data.per_turn else 1.0
            rows += Rows(
                count * (length.rounds if data.per_turn else 1),
                count * length.total * max(factor, 1.0),
                min(length.longest, self.limit),
            )
        for path in data.chat:
            rows += self._file(path, "chat")
        return rows

    def _file(self, path: Path, layout: str) -> Rows:
        if path.exists():
            files = [path] if path.is_file() else sorted(path.glob("**/*.jsonl"))
            tokens = sum(file.stat().st_size for file in files) / CHARACTERS
            self.note(f"{path} has a token for {CHARACTERS} bytes, and sequences of 1,000 tokens")
            return Rows(tokens / 1000, tokens, self.limit)
        large = "-l" in path.stem.lower() or "_l" in path.stem.lower()
        if layout != "published":
            self.note(f"{path} is not here and is counted as nothing")
            return Rows()
        self.note(f"{path} is not here: counted as AgentTraj{'-L' if large else ''}, as published")
        rows = Rows()
        for name, play in PLAYS.items():
            count = play.large if large else play.small
            if count:
                length = self.length(EnvTasks(env=name, edition="official"))
                rows += Rows(count, count * length.total, self.limit)
        return rows

    def passes(self, rows: Rows, optim: OptimConfig) -> tuple[Rows, int]:
        """Return the sequences that go through the model until training ends, and the steps."""
        each = optim.batch_size * optim.accumulate * self.processes
        if optim.max_steps:
            count = float(optim.max_steps * each)
            return Rows(count, count * rows.mean, rows.longest), optim.max_steps
        steps = max(1, math.ceil(rows.count / each)) * optim.epochs
        return rows.times(optim.epochs), math.ceil(steps)

    # What is played.

    def play(
        self,
        envs: Sequence[EnvTasks],
        each: float,
        sampling: SamplingConfig,
        *,
        engine: str = "hf",
        spread: bool = False,
        cache: int = EVAL_CACHE,
    ) -> Played:
        """Return every task of some environments played so many times."""
        lengths = [(self.tasks(t) * each, self.length(t, sampling.max_tokens)) for t in envs]
        return self._played(lengths, sampling, engine=engine, spread=spread, cache=cache)

    def _played(
        self,
        lengths: Sequence[tuple[float, Length]],
        sampling: SamplingConfig,
        *,
        engine: str,
        spread: bool,
        cache: int,
    ) -> Played:
        episodes = sum(count for count, _ in lengths)
        players = self.processes if spread else 1
        together = min(sampling.concurrency, max(episodes / players, 1.0))
        if engine in ("hf", "vllm-colocate"):
            together = min(together, sampling.max_batch)
        longest = max((length.longest for _, length in lengths), default=0.0)
        return Played(
            episodes=episodes,
            own=sum(count * length.own for count, length in lengths),
            read=sum(count * length.read for count, length in lengths),
            longest=longest,
            together=max(together, 1.0),
            engine=engine,
            spread=spread,
            kept=round(min(cache, sampling.concurrency * longest) + together * longest),
        )

    def evaluations(self, steps: int) -> tuple[Played, ...]:
        """Return the evaluations of a training of so many steps."""
        config = self.config.eval
        if not config.envs:
            return ()
        times = 1
        if self.processes == 1:
            times += int(config.at_start)
            times += (steps - 1) // config.every if config.every else 0
        return (self.play(config.envs, times * config.attempts, config.sampling),)

    def explored(self, config: ExploreConfig, *, scope: float | None = None) -> Played:
        """Return an exploration; `scope` says how many tasks are played in place of all."""
        kind = config.agent.partition(":")[0]
        engine = kind if kind in ("hf", "vllm") and POLICY in config.agent else "endpoint"
        played = self.play(config.envs, config.samples, config.sampling, engine=engine)
        played = replace(played, dtype=str(config.options.get("dtype", "")))
        if scope is not None and played.episodes:
            part = min(1.0, scope * config.samples / played.episodes)
            played = replace(
                played,
                episodes=played.episodes * part,
                own=played.own * part,
                read=played.read * part,
            )
        return played

    # The trainers.

    def learning(self, name: str, rows: Rows, optim: OptimConfig) -> Stage:
        """Return a stage of behavioural cloning."""
        learned, steps = self.passes(rows, optim)
        return Stage(name, optim, learned, played=self.evaluations(steps))

    def bc(self, config: BCConfig) -> list[Stage]:
        """Return the stages of `bc.train`."""
        return [self.learning("cloning", self.data(config.data), config.optim)]

    def first(self, config: CloningConfig) -> list[Stage]:
        """Return the cloning a trainer begins with, where it does."""
        if not config.clones:
            return []
        return [self.learning("cloning first", self.data(config.data), config.cloning)]

    def agentevol(self, config: AgentEvolConfig) -> list[Stage]:
        """Return the stages of `agentevol.train`."""
        initial = self.data(replace_data(config.data, chat=()))
        chat = self.data(DataConfig(chat=config.data.chat))
        stages = []
        if config.policy is None:
            stages.append(self.learning("round 0", initial + chat, config.cloning))
        scope = initial.count if config.scope == "limited" else None
        played = self.explored(config.explore, scope=scope)
        kept = self._kept(played, config)
        # The first round's previous one is the initial data; all others are alike.
        for name, times, previous in (
            ("round 1", 1, initial),
            ("later rounds", config.iterations - 1, kept),
        ):
            if times:
                merged = {"initial": initial, "previous": previous, "none": Rows()}[config.merge]
                learning = self.learning(name, kept + merged + chat, config.optim)
                exploring = Stage(f"exploration, {name}", played=(played,), times=times)
                stages.append(replace(exploring, engine=config.explore.gpu_memory or 0.0))
                stages.append(replace(learning, times=times))
        return stages

    def _kept(self, played: Played, config: AgentEvolConfig) -> Rows:
        part = 1.0 if config.reward == "none" else KEPT
        if part < 1:
            self.note(f"{KEPT:.0%} of what is explored is kept")
        count = played.episodes * part
        if config.keep == "best":
            count = min(count, played.episodes / config.explore.samples)
        mean = (played.own + played.read) / played.episodes if played.episodes else 0.0
        return Rows(count, count * mean, played.longest)

    def dpo(self, config: DPOConfig) -> list[Stage]:
        """Return the stages of `dpo.train`."""
        stages = self.first(config)
        if config.runs:
            rows = Rows()
            for path in config.runs:
                rows += self._file(path, "episodes")
        else:
            played = self.explored(config.explore)
            engine = config.explore.gpu_memory or 0.0
            stages.append(Stage("exploration", played=(played,), engine=engine))
            tasks = played.episodes / config.explore.samples
            pairs = tasks * min(config.pairs.per_task, config.explore.samples // 2)
            mean = (played.own + played.read) / max(played.episodes, 1)
            rows = Rows(2 * pairs, 2 * pairs * mean, played.longest)
            self.note("every task gives its pairs, which is the most")
        learned, steps = self.passes(rows.times(0.5), config.optim)
        stages.append(
            Stage(
                "preference",
                config.optim,
                learned.times(2),
                forward=1,
                sides=2,
                reference=config.model.lora is None,
                played=self.evaluations(steps),
            )
        )
        return stages

    def grpo(self, config: GRPOConfig) -> list[Stage]:
        """Return the stages of `grpo.train` and `adca_grpo.train`."""
        samplings, steps = self._samplings(config)
        episodes = config.episodes * samplings
        played = self._sampled(config, self._shares(config, episodes), samplings)
        rows = Rows(episodes, played.own + played.read, played.longest).times(config.iterations)
        # Once a sampling, however often it is learned from.
        forward = (bool(config.kl_coef) + (config.old == "recomputed")) / config.iterations
        stage = Stage(
            "play and learn",
            config.optim,
            rows,
            forward=forward,
            reference=bool(config.kl_coef) and config.model.lora is None,
            played=(played, *self._continued(config, samplings), *self.evaluations(steps)),
            engine=config.engine.gpu_memory if config.engine.kind == "vllm-colocate" else 0.0,
            calls=self._calls(config, samplings),
        )
        if config.engine.kind == "vllm-server":
            self.note("the server's own GPUs are not counted")
        return [*self.first(config), stage]

    def _samplings(self, config: GRPOConfig) -> tuple[int, int]:
        """Return how often the policy plays, and the optimiser steps."""
        step = config.optim.batch_size * config.optim.accumulate * self.processes
        updates = max(config.episodes // step, 1) * config.iterations
        if config.samplings:
            return config.samplings, config.samplings * updates
        if config.optim.max_steps:
            return math.ceil(config.optim.max_steps / updates), config.optim.max_steps
        played = config.optim.epochs * sum(self.tasks(tasks) for tasks in config.tasks)
        samplings = max(1, math.ceil(played / config.groups))
        return samplings, samplings * updates

    def _shares(self, config: GRPOConfig, episodes: float) -> list[tuple[float, Length]]:
        """Return how many of some episodes are of each environment, and how long they are."""
        lengths = [self.length(tasks, config.sampling.max_tokens) for tasks in config.tasks]
        weights = [self.tasks(tasks) for tasks in config.tasks]
        whole = sum(weights) or 1.0
        return [(episodes * w / whole, x) for w, x in zip(weights, lengths, strict=True)]

    def _sampled(
        self, config: GRPOConfig, lengths: Sequence[tuple[float, Length]], times: int
    ) -> Played:
        """Return what the policy plays while it is trained, in so many goes of the same size."""
        kind, cache = config.engine.kind, config.engine.cache_tokens
        played = self._played(lengths, config.sampling, engine=kind, spread=True, cache=cache)
        together = max(played.episodes / times / self.processes, 1.0)
        return replace(played, together=min(played.together, together))

    def _continued(self, config: GRPOConfig, samplings: int) -> tuple[Played, ...]:
        """Return what the policy plays on from moments, where its own values are the credits."""
        if not isinstance(config, AdcaGRPOConfig) or not config.attribution.values_itself:
            return ()
        times = asked(config.adca, samplings)
        if not times:
            return ()
        rollouts, horizon = config.attribution.rollouts, config.attribution.horizon
        lengths = []
        for count, length in self._shares(config, config.episodes * times):
            each, one = continued(length, config.group_size, rollouts, horizon)
            lengths.append((count * each, one))
        self.note(
            "no episode is left out of attribution; its continuations, which count as episodes, "
            "go on for the rounds that are left"
        )
        return (self._sampled(config, lengths, times),)

    def _calls(self, config: GRPOConfig, samplings: int) -> float:
        if not isinstance(config, AdcaGRPOConfig) or config.attribution.method != "llm":
            return 0.0
        return float(asked(config.adca, samplings) * config.episodes)


def replace_data(data: DataConfig, **changes: object) -> DataConfig:
    """Return demonstrations with some settings changed."""
    return data.model_copy(update=changes)


def stages_of(
    shape: ModelShape, config: RunConfig, processes: int
) -> tuple[list[Stage], tuple[str, ...]]:
    """Return the stages of a trainer's run, and what had to be assumed.

    Args:
        shape: the model.
        config: the settings of one of the trainers.
        processes: how many train together.

    Raises:
        InvalidConfig: if the settings are of no trainer that is known here.
    """
    counter = Counter(shape, config, processes)
    return _stages(counter, config), tuple(counter.notes)


def _stages(counter: Counter, config: RunConfig) -> list[Stage]:
    if isinstance(config, GRPOConfig):
        return counter.grpo(config)
    if isinstance(config, DPOConfig):
        return counter.dpo(config)
    if type(config) is BCConfig:
        return counter.bc(config)
    from agentgym.baselines.agentevol import AgentEvolConfig  # which imports torch

    if isinstance(config, AgentEvolConfig):
        return counter.agentevol(config)
    raise InvalidConfig(f"no costs are known of {type(config).__name__}")
