"""The published evaluation ids, for `evaluate(task_ids=...)`.

AgentEval (the Hugging Face dataset AgentGym/AgentEval) names tasks and holds nothing else, one file
an environment: `[{"item_id": "webshop_5238", "conversations": null}, ...]`. The tasks are those of
the official editions. Files are read by `agentgym.trajectories`, which knows the published ids;
`agentgym data fetch agenteval` leaves the lists where both this module and the official editions
find them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from agentgym.core import data_root
from agentgym.core.data import EVAL_IDS
from agentgym.core.errors import MissingData
from agentgym.core.text import parse_json
from agentgym.trajectories.hub import load_agenteval

Source = str | os.PathLike[str]


def load_official(source: Source) -> dict[str, list[str]]:
    """Return the published ids by environment ("webshop"), each list in the published order.

    Args:
        source: a file or folder in AgentEval's layout, or the dataset's name on the hub.

    Raises:
        MissingData: if nothing is there.
        InvalidTrajectories: if a file has another layout.
    """
    ids: dict[str, list[str]] = {}
    for item in load_agenteval(source):
        name = item.id.env.name if item.id.env is not None else item.item_id.rpartition("_")[0]
        ids.setdefault(name, []).append(item.id.task_id)
    return ids


def official_ids(names: Iterable[str], source: Source | None = None) -> list[str]:
    """Return the published ids of some environments.

    Args:
        names: names of task sets ("textcraft", "babyai").
        source: as for `load_official`; None reads what `agentgym data fetch agenteval` brought.

    Raises:
        MissingData: if there are no ids for one of the names.
    """
    wanted = [name.lower() for name in names]
    if source is None:
        return [task_id for name in wanted for task_id in _fetched(name)]
    ids = load_official(source)
    missing = [name for name in wanted if name not in ids]
    if missing:
        raise MissingData(
            f"{source} holds no ids of {', '.join(missing)}; it has: {', '.join(ids) or 'none'}"
        )
    return [task_id for name in wanted for task_id in ids[name]]


def _fetched(name: str) -> list[str]:
    path: Path = data_root() / name / EVAL_IDS
    if not path.is_file():
        raise MissingData(
            f"the published evaluation ids of {name} are not at {path}. Run 'agentgym data fetch "
            "agenteval' on a connected machine, or name a folder that holds AgentEval's files. "
            "The mini edition needs nothing."
        )
    try:
        ids = parse_json(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise MissingData(f"{path} is not JSON: {error}; fetch it again") from error
    if not isinstance(ids, list):
        raise MissingData(f"{path} holds no list of ids; fetch it again")
    return [str(task_id) for task_id in ids]
