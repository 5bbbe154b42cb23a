"""The tasks: ours, frozen in `data/tasks.json`, and the published ones from a folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentgym.core.data import find_data, find_eval_ids
from agentgym.core.errors import InvalidConfig
from agentgym.core.task import TaskSet
from agentgym.core.text import parse_json
from agentgym.envs.tools import spec_of

NAME = "weather"
TASKS = Path(__file__).parent / "data" / "tasks.json"
PUBLISHED = "weather.jsonl"
WITHIN = 0.051
"""How far a published number may be off; the published servers wanted the very same float."""


def mini_tasks() -> TaskSet:
    """Return our own tasks."""
    rows = json.loads(TASKS.read_text(encoding="utf-8"))
    note = "Drawn by us over 422 real places and an invented climate, 2022 to 2024."
    return TaskSet.build(NAME, "mini", "1", (tuple(row) for row in rows), note)


def official_tasks(data_dir: str | None) -> TaskSet:
    """Return the published tasks, in the order of their file.

    Args:
        data_dir: the data folder, which holds `weather/weather.jsonl` and, where there is one, a
            list of eval ids.

    Raises:
        MissingData: if the file is not there.
        InvalidConfig: if it cannot be read.
    """
    path = find_data(NAME, PUBLISHED, folder=data_dir) / PUBLISHED
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    specs = [_read(path, number, line) for number, line in enumerate(lines, 1)]
    evals = find_eval_ids(NAME, len(specs), data_dir)
    # Without the published list every seventeenth task is an eval task: 20 of the 343.
    chosen = evals if evals is not None else frozenset(range(8, len(specs), 17))
    rows = (("eval" if i in chosen else "train", "published", s) for i, s in enumerate(specs))
    note = "The published tasks; answered from open-meteo." + (
        "" if evals is not None else " Stand-in split: the published id lists are not here."
    )
    version = "listed-1" if evals is not None else "standin-1"
    return TaskSet.build(NAME, "official", version, rows, note)


def _read(path: Path, number: int, line: str) -> Mapping[str, Any]:
    try:
        row = parse_json(line)
        config, answer = row["additional_info"]["init_config"], row["additional_info"]["answer"]
        return {
            "goal": str(row["goal"]),
            "today": str(config["current_date"]),
            "location": str(config["current_location"]),
            "answer": _answer(answer, row["subgoals"]),
        }
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidConfig(f"{path}, line {number} is no Weather task ({error!r})") from error


def _answer(answer: Any, subgoals: Any) -> dict[str, Any]:
    """Return the spec of a published answer; coordinates are right within 50 km, as published."""
    if isinstance(answer, dict) and {"latitude", "longitude"} <= set(answer):
        return {"point": [float(answer["latitude"]), float(answer["longitude"])]}
    spec = spec_of(answer, within=WITHIN)
    also = [s for s in subgoals if isinstance(s, str) and s != answer]
    return spec | ({"also": also} if "text" in spec and also else {})
