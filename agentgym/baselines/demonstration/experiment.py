"""The settings of a demonstration: environments, seeds, and one configuration a trainer.

Everything that decides a number is here and in the profile's file. The settings were found in
probes with one seed, which is not among those of the profiles; within a run nothing is chosen by
looking at an evaluation. All trainers of a seed share the demonstrations, the untrained model, the
prompt and the tasks they may explore.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator

from agentgym.baselines.adca_options import AdcaOptions
from agentgym.baselines.attribution import AttributionConfig
from agentgym.baselines.config import (
    MANY,
    MOST,
    EnvTasks,
    EvalConfig,
    LengthConfig,
    OptimConfig,
    SamplingConfig,
    ScratchConfig,
    Settings,
)
from agentgym.baselines.configfile import resolve
from agentgym.baselines.overrides import apply_override
from agentgym.baselines.pairs import PairConfig
from agentgym.baselines.profiles import Profiles
from agentgym.core.yamltext import read_yaml_file
from agentgym.rollout.plan import MOST_ATTEMPTS

Seed = Annotated[int, Field(ge=0, lt=2**32)]
PACKAGE = "agentgym.baselines.demonstration"
PROFILES = Profiles(PACKAGE, "profiles", "the demonstration")


class GroupSettings(Settings):
    """How GRPO and ADCA-GRPO play and learn.

    Attributes:
        groups: tasks a sampling.
        group_size: episodes of a task.
        samplings: how often the policy plays.
        kl_coef: weight of the KL divergence from the policy training began with.
        adca: how credits and outcome become an advantage.
        attribution: who hands out credits.
        optim: how weights are changed.
    """

    groups: int = Field(16, ge=1, le=MOST)
    group_size: int = Field(8, ge=2, le=MOST)
    samplings: int = Field(8, ge=1, le=MANY)
    kl_coef: float = Field(0.001, ge=0)
    adca: AdcaOptions = AdcaOptions(alpha=0.2)
    attribution: AttributionConfig = AttributionConfig(method="counterfactual")
    optim: OptimConfig = OptimConfig(lr=3e-4, batch_size=16, accumulate=4, schedule="constant")


class PreferenceSettings(Settings):
    """How DPO plays and learns.

    Attributes:
        tasks: tasks that are played for pairs.
        samples: attempts a task.
        pairs: which attempts pair.
        beta: how dear it is to move away from the reference.
        optim: how weights are changed.
    """

    tasks: int = Field(250, ge=1, le=MANY)
    samples: int = Field(4, ge=2, le=MOST_ATTEMPTS)
    pairs: PairConfig = PairConfig(per_task=2)
    beta: float = Field(0.5, gt=0)
    optim: OptimConfig = OptimConfig(lr=1e-4, epochs=1.0, batch_size=8)


class EnvSettings(Settings):
    """One environment of a demonstration.

    Attributes:
        env: short name of the environment.
        edition: edition of its tasks.
        max_rounds: rounds an episode may take.
        options: other keyword arguments of the environment.
        kinds: only tasks of these kinds; empty for all.
        demos: tasks the expert demonstrates.
        wide: tasks AgentEvol and the others explore; None for the whole train split.
        held_out: tasks of the evaluation; None for the whole split.
        held_out_edition: edition the evaluation is of, where it is another one than `edition`.
        held_out_split: split the evaluation is of.
        attempts: how often each held-out task is played by the policy of each seed.
        samples: how often AgentEvol plays a task in a round (K).
        iterations: rounds of AgentEvol (M).
        reply_tokens: most tokens of a reply.
        steps: optimiser steps of BC, which is to reach its plateau.
        curve: how often BC is evaluated on the way, to show that it has.
        evol_steps: optimiser steps of a round of AgentEvol.
        model: the shape of the model.
        optim: how BC, AgentEvol and the controls change weights.
        dpo: settings of DPO.
        group: settings of GRPO and ADCA-GRPO.
    """

    env: str
    edition: str = "mini"
    max_rounds: int = Field(30, ge=1, le=MANY)
    options: dict[str, object] = Field(default_factory=dict)
    kinds: tuple[str, ...] = ()
    demos: int = Field(40, ge=1, le=MANY)
    wide: int | None = Field(None, ge=1, le=MANY)
    held_out: int | None = Field(None, ge=1, le=MANY)
    held_out_edition: str | None = None
    held_out_split: str = "eval"
    attempts: int = Field(1, ge=1, le=MOST_ATTEMPTS)
    samples: int = Field(1, ge=1, le=MOST_ATTEMPTS)
    iterations: int = Field(1, ge=1, le=MANY)
    reply_tokens: int = Field(12, ge=1, le=MANY)
    steps: int = Field(200, ge=1, le=MANY)
    curve: int = Field(4, ge=1, le=MANY)
    evol_steps: int = Field(300, ge=1, le=MANY)
    model: ScratchConfig = ScratchConfig(hidden=64, layers=2, heads=4, context=2048, init=0.1)
    optim: OptimConfig = OptimConfig(
        lr=5e-3, batch_size=16, batching="grouped", schedule="cosine", warmup=0.05, weight_decay=0.1
    )
    dpo: PreferenceSettings = PreferenceSettings()
    group: GroupSettings = GroupSettings()

    @model_validator(mode="after")
    def _apart(self) -> EnvSettings:
        if self.held_out_split == "train" and self.held_out_edition in (None, self.edition):
            raise ValueError("the train split of the same edition is not held out")
        return self

    @model_validator(mode="after")
    def _decided(self) -> EnvSettings:
        """Refuse what the demonstration decides in another place, and would not read here."""
        group, paired = self.group.optim, self.dpo.optim
        for where, optim in (("optim", self.optim), ("group.optim", group), ("dpo.optim", paired)):
            if optim.threads is not None:
                raise ValueError(f"{where}.threads is decided by threads")
            if where != "optim" and optim.batching != OptimConfig().batching:
                raise ValueError(f"{where}.batching: pairs and episodes are padded; leave it out")
        for where, optim, decides in (
            ("optim", self.optim, "steps and evol_steps"),
            ("group.optim", group, "group.samplings"),
        ):
            if optim.max_steps is not None or optim.epochs != OptimConfig().epochs:
                raise ValueError(f"how long {where} goes is decided by {decides}")
        return self

    @property
    def controls_steps(self) -> int:
        """Optimiser steps of the whole chain that ends in AgentEvol's policy."""
        return self.steps + self.iterations * self.evol_steps

    def tasks(self, split: str, count: int | None) -> EnvTasks:
        """Return some of its tasks."""
        return EnvTasks(
            env=self.env,
            edition=self.edition,
            split=split,
            tasks=count,
            max_rounds=self.max_rounds,
            options=dict(self.options),
            kinds=self.kinds,
        )

    def measured(self) -> EnvTasks:
        """Return the held-out tasks."""
        edition = self.held_out_edition or self.edition
        tasks = self.tasks(self.held_out_split, self.held_out)
        return tasks.model_copy(update={"edition": edition})

    def sampling(self) -> SamplingConfig:
        """Return how policies play: always sampled at temperature 1, also where they are measured.

        GRPO improves the policy that samples; a greedy evaluation would measure another one.
        """
        return SamplingConfig(
            temperature=1.0,
            max_tokens=self.reply_tokens,
            max_batch=100,
            concurrency=100,
            executor="inline",
        )

    def evaluation(self, *, every: int | None = None) -> EvalConfig:
        """Return how policies are measured."""
        return EvalConfig(
            envs=(self.measured(),),
            every=every,
            attempts=self.attempts,
            sampling=self.sampling(),
        )

    def length(self) -> LengthConfig:
        """Return the length of examples; nothing is cut where the context is long enough."""
        return LengthConfig(max_tokens=self.model.context, too_long="truncate-turns")


class Experiment(Settings):
    """A demonstration.

    Attributes:
        envs: what is played.
        seeds: of training; each has its own demonstrations' order, weights and exploration.
        arms: what is trained, by name; see `arms.ARMS`.
        threads: torch's threads in each process.
        jobs: cells (an environment and a seed) at a time.
    """

    envs: tuple[EnvSettings, ...]
    seeds: tuple[Seed, ...] = (0, 1, 2)
    arms: tuple[str, ...] = ("bc", "agentevol", "demos", "unfiltered", "dpo", "grpo", "adca-grpo")
    threads: int = Field(1, ge=1, le=1024)
    jobs: int = Field(2, ge=1, le=1024)

    @model_validator(mode="after")
    def _check(self) -> Experiment:
        names = [env.env for env in self.envs]
        if len(set(names)) < len(names) or not names:
            raise ValueError("name every environment once, and at least one")
        if len(set(self.seeds)) < len(self.seeds) or not self.seeds:
            raise ValueError("name every seed once, and at least one")
        return self


def profiles() -> list[str]:
    """Return the names of the profiles."""
    return PROFILES.names()


def load_experiment(source: str | Path = "small", overrides: Sequence[str] = ()) -> Experiment:
    """Return the settings of a profile, or of a YAML file, with overrides.

    Args:
        source: a profile, or the path of a YAML file.
        overrides: "a.b=value" each, the value written as in YAML.

    Raises:
        UnknownProfile: if there is no such profile.
        InvalidConfig: if there is no such file, or it holds what cannot be used.
    """
    text = str(source)
    if text.endswith((".yaml", ".yml")):
        data = read_yaml_file(Path(source).expanduser())
    else:
        data = PROFILES.read(text)
    for override in overrides:
        apply_override(data, override)
    return resolve(Experiment, data, text)
