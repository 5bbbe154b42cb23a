"""Task sets, loaded once a process.

An environment is made often and its tasks never change, so they are kept by class, edition and the
folder the data was read from.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from agentgym.core.data import DATA_VARIABLE
from agentgym.core.errors import UnknownEdition
from agentgym.core.task import TaskSet

if TYPE_CHECKING:
    from agentgym.core.env import TextEnv

_task_sets: dict[tuple[type[TextEnv], str, str | None], TaskSet] = {}


def load_tasks(env_class: type[TextEnv], edition: str, data_dir: str | None = None) -> TaskSet:
    """Return an environment's task set, loaded once a process.

    Raises:
        UnknownEdition: if the environment has no such edition.
        MissingData: if the edition's data is not there.
    """
    if not isinstance(edition, str) or edition not in env_class.editions:
        raise UnknownEdition("edition", edition, env_class.editions)
    # The folder is part of the key, or a changed $AGENTGYM_DATA would not be seen.
    key = (env_class, edition, data_dir or os.environ.get(DATA_VARIABLE))
    if key not in _task_sets:
        _task_sets[key] = env_class.load_tasks(edition, key[2])
    return _task_sets[key]
