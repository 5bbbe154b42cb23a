"""Vectors: many environments stepped by one call, in this process or over several.

Importing this package also teaches Gymnasium's own `AsyncVectorEnv` to share text.
"""

import agentgym.core.vector.memory  # noqa: F401  (registers the text space with Gymnasium)
from agentgym.core.vector.entry import make_vector
from agentgym.core.vector.env import TextVectorEnv
from agentgym.core.vector.infos import batch_infos
from agentgym.core.vector.worker import EnvironmentFailed, WorkerLost

__all__ = ["EnvironmentFailed", "TextVectorEnv", "WorkerLost", "batch_infos", "make_vector"]
