"""The arms: what each trainer is given. Everything else is the trainers' own.

    bc          the demonstrations alone, to the plateau; every other arm begins with or after it
    agentevol   explores the wider set of tasks with BC's policy, keeps what was solved, and learns
                that and the demonstrations from the untrained model again
    demos       a control: the demonstrations alone, for as many steps as bc and agentevol together
    unfiltered  a control: agentevol that keeps every episode, solved or not
    dpo, grpo, adca-grpo   go on from BC's policy

An arm that ends with AgentEvol beating `bc` alone would show nothing: more steps, or more text of
any kind, might do as much. The two controls are what it must beat.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentgym.baselines.adca_grpo import AdcaGRPOConfig
from agentgym.baselines.agentevol import AgentEvolConfig
from agentgym.baselines.bc import BCConfig
from agentgym.baselines.catalog import find_baseline
from agentgym.baselines.checkpoints import MODEL
from agentgym.baselines.config import ModelConfig, OptimConfig, RunConfig, Settings
from agentgym.baselines.configfile import save_config
from agentgym.baselines.demonstration.experiment import EnvSettings
from agentgym.baselines.dpo import DPOConfig
from agentgym.baselines.examples import DataConfig
from agentgym.baselines.explore import WHOLE, ExploreConfig
from agentgym.baselines.grpo import GRPOConfig
from agentgym.baselines.progress import Say

CACHE = 200_000
"""Tokens whose keys and values are kept while a policy explores: those of all episodes."""


@dataclass(frozen=True)
class Cell:
    """One environment and one seed.

    Attributes:
        setting: the environment.
        seed: decides weights, order and exploration.
        threads: torch's threads.
        demos: the file of demonstrations.
        base: the untrained model.
        folder: where the arms' runs go.
    """

    setting: EnvSettings
    seed: int
    threads: int
    demos: Path
    base: Path
    folder: Path

    @property
    def cloned(self) -> Path:
        """BC's policy."""
        return self.folder / "bc" / MODEL


@dataclass(frozen=True)
class Arm:
    """One trainer's part.

    Attributes:
        name: what it is called.
        title: what a table calls it.
        baseline: the trainer.
        config: its settings for a cell.
    """

    name: str
    title: str
    baseline: str
    config: Callable[[Cell], RunConfig]

    def train(self, cell: Cell, folder: Path, say: Say) -> dict[str, Any]:
        """Train and evaluate, or go on where that was cut short.

        Raises:
            NothingToLearn: if what it played holds nothing to learn from.
        """
        baseline, config = find_baseline(self.baseline), self.config(cell)
        if self.name == "unfiltered":
            share_exploration(cell, config)
        return baseline.train(config, folder, say)


def bc(cell: Cell) -> BCConfig:
    """Return the settings of BC, with the curve that shows its plateau."""
    setting = cell.setting
    every = max(1, setting.steps // setting.curve)
    shared = _shared(cell, setting.optim, setting.steps) | {"eval": setting.evaluation(every=every)}
    return BCConfig(data=DataConfig(files=(cell.demos,)), **shared)


def demos(cell: Cell) -> BCConfig:
    """Return the settings of the control that learns the demonstrations alone."""
    setting = cell.setting
    shared = _shared(cell, setting.optim, setting.controls_steps)
    return BCConfig(data=DataConfig(files=(cell.demos,)), **shared)


def agentevol(cell: Cell, reward: str = "binary") -> AgentEvolConfig:
    """Return the settings of AgentEvol; with reward "none" those of its control."""
    setting = cell.setting
    return AgentEvolConfig.model_validate(
        _shared(cell, setting.optim, setting.evol_steps)
        | {
            "data": DataConfig(files=(cell.demos,)),
            "explore": ExploreConfig(
                envs=(setting.tasks("train", setting.wide),),
                samples=setting.samples,
                options={"cache_tokens": CACHE},
                sampling=setting.sampling(),
            ),
            "iterations": setting.iterations,
            "reward": reward,
            "keep": "best" if reward == "binary" else "all",
            "policy": cell.cloned,
        }
    )


def unfiltered(cell: Cell) -> AgentEvolConfig:
    """Return the settings of the control that keeps every episode."""
    return agentevol(cell, reward="none")


def share_exploration(cell: Cell, config: RunConfig) -> None:
    """Give the control the first round of AgentEvol's episodes, where there are any.

    Both explore with the same policy, tasks and seeds: playing them twice would give them twice.
    """
    first = Path("round-1") / "explore"
    source, target = cell.folder / "agentevol" / first, cell.folder / "unfiltered" / first
    if not (source / WHOLE).exists() or target.exists():
        return
    save_config(config, cell.folder / "unfiltered")
    scratch = target.with_name(".explore")
    shutil.rmtree(scratch, ignore_errors=True)
    shutil.copytree(source, scratch)
    scratch.rename(target)


def dpo(cell: Cell) -> DPOConfig:
    """Return the settings of DPO."""
    setting, own = cell.setting, cell.setting.dpo
    return DPOConfig(
        **_onward(cell, own.optim),
        explore=ExploreConfig(
            envs=(setting.tasks("train", own.tasks),),
            samples=own.samples,
            options={"cache_tokens": CACHE},
            sampling=setting.sampling(),
        ),
        pairs=own.pairs,
        beta=own.beta,
    )


def grpo(cell: Cell) -> GRPOConfig:
    """Return the settings of GRPO."""
    return GRPOConfig(**_onward(cell, cell.setting.group.optim), **_grouped(cell))


def adca(cell: Cell) -> AdcaGRPOConfig:
    """Return the settings of ADCA-GRPO."""
    own = cell.setting.group
    return AdcaGRPOConfig(
        **_onward(cell, own.optim), **_grouped(cell), adca=own.adca, attribution=own.attribution
    )


ARMS: tuple[Arm, ...] = (
    Arm("bc", "BC, to its plateau", "bc", bc),
    Arm("agentevol", "AgentEvol", "agentevol", agentevol),
    Arm("demos", "control: demonstrations only", "bc", demos),
    Arm("unfiltered", "control: unfiltered samples", "agentevol", unfiltered),
    Arm("dpo", "DPO", "dpo", dpo),
    Arm("grpo", "GRPO", "grpo", grpo),
    Arm("adca-grpo", "ADCA-GRPO", "adca-grpo", adca),
)


def _shared(cell: Cell, optim: OptimConfig, steps: int | None) -> dict[str, Any]:
    """Return what every trainer's settings hold, for one that begins with the untrained model."""
    update = {"threads": cell.threads} | ({"max_steps": steps} if steps else {})
    return {
        "seed": cell.seed,
        "model": ModelConfig(name=str(cell.base)),
        "length": cell.setting.length(),
        "optim": optim.model_copy(update=update),
        "eval": cell.setting.evaluation(),
        "log_every": 20,
        "tensorboard": False,
    }


def _onward(cell: Cell, optim: OptimConfig) -> dict[str, Any]:
    """Return the same for one that begins with BC's policy."""
    own = {"model": ModelConfig(name=str(cell.cloned)), "log_every": 2}  # they have few steps
    return _shared(cell, optim, None) | own


def _grouped(cell: Cell) -> dict[str, Any]:
    setting, own = cell.setting, cell.setting.group
    parts: dict[str, Settings | object] = {
        "tasks": (setting.tasks("train", setting.wide),),
        "groups": own.groups,
        "group_size": own.group_size,
        "samplings": own.samplings,
        "sampling": setting.sampling(),
        "kl_coef": own.kl_coef,
    }
    return parts
