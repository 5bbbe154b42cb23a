"""SciWorld: ScienceWorld's elementary-school experiments, played by text."""

from __future__ import annotations

from agentgym.envs.sciworld.env import SciWorldEnv

__all__ = ["SciWorldEnv"]
