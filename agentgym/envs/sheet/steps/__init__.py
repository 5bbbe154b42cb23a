"""The steps that mini tasks are made of."""

from agentgym.envs.sheet.steps.base import Step
from agentgym.envs.sheet.steps.columns import COLUMNS
from agentgym.envs.sheet.steps.lines import LINES
from agentgym.envs.sheet.steps.looks import LOOKS
from agentgym.envs.sheet.steps.writes import WRITES

BY_NAME: dict[str, Step] = {step.name: step for step in (*WRITES, *COLUMNS, *LINES, *LOOKS)}
"""The steps by name."""

__all__ = ["BY_NAME", "Step"]
