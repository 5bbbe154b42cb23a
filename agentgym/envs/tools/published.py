"""The published tasks of the tool environments: AgentBoard's JSON lines.

A line is {"goal", "subgoals", "additional_info": {"answer", "init_config", "goal_type", "tool"},
"difficulty", ...}. https://github.com/hkust-nlp/AgentBoard, as AgentGym distributes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agentgym.core.errors import InvalidConfig
from agentgym.core.text import parse_json


def read_published(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the tasks of a file in their order.

    Args:
        path: the file, a task a line.

    Yields:
        {"goal", "answer", "subgoals", "difficulty", "init_config", "goal_type"}.

    Raises:
        InvalidConfig: if the file cannot be read or a line is no task.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidConfig(f"{path} cannot be read ({error}); fetch it anew") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = parse_json(line)
            about = row["additional_info"]
            task = {
                "goal": str(row["goal"]),
                "answer": about["answer"],
                "subgoals": list(row["subgoals"]),
                "difficulty": str(row["difficulty"]),
                "init_config": about.get("init_config"),
                "goal_type": about.get("goal_type", 0),
            }
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InvalidConfig(
                f"{path}, line {number}, is no published task ({type(error).__name__}: {error}); "
                "the file must be the published one"
            ) from error
        yield task
