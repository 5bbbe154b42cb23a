"""Which trainers there are; imported when one is used, since torch takes its time."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentgym.baselines.checkpoints import RESULT
from agentgym.baselines.config import RunConfig
from agentgym.baselines.configfile import (
    CONFIG_FILE,
    check_folder,
    load_config,
    profiles,
    same_config,
)
from agentgym.baselines.progress import Say
from agentgym.core.errors import UnknownName

RUNS = "runs"


class UnknownBaseline(UnknownName):
    """There is no trainer of this name."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """One trainer.

    Its module has a class of settings, `plan(config)`, which says what would be done, and
    `train(config, folder, say)`, which does it.

    Attributes:
        name: what it is called ("bc").
        module: where it is.
        settings: name of its class of settings.
        about: what it does, one sentence.
    """

    name: str
    module: str
    settings: str
    about: str

    def config(self, source: str | Path = "tiny", overrides: Sequence[str] = ()) -> RunConfig:
        """Return its settings from a profile or a file; see `load_config`."""
        cls: type[RunConfig] = getattr(importlib.import_module(self.module), self.settings)
        return load_config(cls, self.name, source, overrides)

    def plan(self, config: RunConfig) -> list[str]:
        """Return what it would do and what that would cost, a line each."""
        from agentgym.baselines.estimate import estimate_lines

        told: Callable[[RunConfig], list[str]] = importlib.import_module(self.module).plan
        return [*told(config), *estimate_lines(config)]

    def review(
        self, config: RunConfig, source: str | Path = "", folder: Path | None = None
    ) -> list[str]:
        """Return what this machine lacks for a run, a line each; see `checks.review`.

        Args:
            config: its settings.
            source: the profile or file they began with.
            folder: the run's folder, where one is named.

        Raises:
            InvalidConfig: if a run would refuse its settings or its folder.
        """
        from agentgym.baselines.checks import faults, review

        if folder is not None:
            check_folder(config, folder)
        named = str(source) in profiles(self.name)
        return review(faults(config), faults(self.config(source)) if named else ())

    def train(self, config: RunConfig, folder: Path, say: Say) -> dict[str, Any]:
        """Train, or go on with what was cut short, and return the result."""
        done: dict[str, Any] = importlib.import_module(self.module).train(config, folder, say)
        return done

    def folder(self, config: RunConfig, source: str | Path) -> Path:
        """Return runs/NAME-PROFILE-N: the unfinished run of these settings, or a new one."""
        stem = f"{self.name}-{Path(source).stem}"
        number = 1
        while True:
            place = Path(RUNS) / f"{stem}-{number}"
            if not place.exists():
                return place
            unfinished = (place / CONFIG_FILE).exists() and not (place / RESULT).exists()
            if unfinished and same_config(config, place):
                return place
            number += 1


BASELINES: tuple[Baseline, ...] = (
    Baseline("bc", "agentgym.baselines.bc", "BCConfig", "Imitate demonstrations."),
    Baseline(
        "dpo",
        "agentgym.baselines.dpo",
        "DPOConfig",
        "Prefer the attempts that solved a task over those that did not.",
    ),
    Baseline(
        "agentevol",
        "agentgym.baselines.agentevol",
        "AgentEvolConfig",
        "Explore, learn from what went well, again and again.",
    ),
    Baseline(
        "grpo",
        "agentgym.baselines.grpo",
        "GRPOConfig",
        "GRPO: of several attempts at a task, learn from what went better.",
    ),
    Baseline(
        "adca-grpo",
        "agentgym.baselines.adca_grpo",
        "AdcaGRPOConfig",
        "ADCA-GRPO: GRPO that also credits each round for what it did.",
    ),
)


def find_baseline(name: str) -> Baseline:
    """Return the trainer of this name.

    Raises:
        UnknownBaseline: if there is none; the message offers the nearest.
    """
    for baseline in BASELINES:
        if baseline.name == name.lower():
            return baseline
    raise UnknownBaseline("baseline", name, [b.name for b in BASELINES])
