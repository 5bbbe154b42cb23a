"""The tasks of the mini edition: the questions of its ten databases.

A spec is {"db", "question", "evidence", "sql", "difficulty", "ordered"}. The gold query is in the
spec, which belongs to whoever holds the environment; it is in no observation, info or snapshot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agentgym.core.task import TaskSet
from agentgym.envs.bird.databases import NAMES, ROWS
from agentgym.envs.bird.library import load_source

Row = tuple[str, str, Mapping[str, Any]]


def mini_tasks(name: str) -> TaskSet:
    """Return the questions of all databases, one database after the other.

    Args:
        name: prefix of the task ids.
    """
    note = "Databases and questions designed by us; every database has train and eval questions."
    return TaskSet.build(name, "mini", "1", _rows(), note)


def _rows() -> Iterator[Row]:
    for database in NAMES:
        source = load_source(database)
        for entry in source.questions:
            spec = {
                "db": database,
                "question": entry["question"],
                "evidence": entry["evidence"],
                "sql": entry["sql"],
                "difficulty": entry["difficulty"],
                "ordered": entry["ordered"],
                "rows": ROWS[database],
            }
            yield entry["split"], entry["difficulty"], spec
