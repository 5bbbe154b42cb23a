"""What an arm was given: the episodes it played to learn from, and its optimiser steps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from agentgym.baselines.checkpoints import RESULT
from agentgym.baselines.demonstration.experiment import EnvSettings


class Spent(BaseModel):
    """What one seed of an arm was given, after BC's policy where it begins with that.

    Attributes:
        episodes: played to learn from.
        steps: optimiser steps.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    episodes: int
    steps: int


def spent(setting: EnvSettings, arm: str, run: Path, rounds: int | None = None) -> Spent:
    """Return what an arm was given, as its finished run says.

    Args:
        setting: the environment.
        arm: the arm.
        run: the arm's folder of one seed.
        rounds: of AgentEvol, only the first so many; None for all.
    """
    result: dict[str, Any] = json.loads((run / RESULT).read_text(encoding="utf-8"))
    parts = result.get("rounds", [result])[:rounds]
    steps = sum(one["steps"] for one in parts)
    if arm in ("grpo", "adca-grpo"):
        group = setting.group
        return Spent(episodes=group.samplings * group.groups * group.group_size, steps=steps)
    if arm == "dpo":
        return Spent(episodes=result["pairs"]["episodes"], steps=steps)
    return Spent(episodes=sum(one.get("explored", 0) for one in parts), steps=steps)
