"""Vectors: many environments stepped by one call, in this process or over several.

Nothing of it is imported until a vector is made.
"""

from agentgym.core.vector.entry import make_vector
from agentgym.core.vector.env import TextVectorEnv
from agentgym.core.vector.infos import batch_infos
from agentgym.core.vector.worker import EnvironmentFailed, WorkerLost

__all__ = ["EnvironmentFailed", "TextVectorEnv", "WorkerLost", "batch_infos", "make_vector"]
