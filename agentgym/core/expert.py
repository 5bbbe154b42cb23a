"""The expert: who solves an environment's tasks from privileged state, and says why.

It is the proof that a task can be done, the source of expert trajectories, and the upper line in
every plot. It sees the environment it was made for, not only what the agent sees.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any


class Expert(ABC):
    """Plays the current episode of the environment that made it, to the end."""

    @abstractmethod
    def act(self, observation: str, info: Mapping[str, Any]) -> tuple[str, str]:
        """Return (thought, action) for this moment of the episode.

        Args:
            observation: the text that `reset` or `step` last returned.
            info: the info that came with it.

        Returns:
            A sentence that gives the reason for the move, as a person would give it, and the bare
            action.
        """
