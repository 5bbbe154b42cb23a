"""The experts: they know the gold query and say what it does.

In one round there is nothing to do but to hand it in. Where queries may be tried, the expert does
what a careful person does first: looks at a few rows, looks at how a coded column is written, and
tries the query before handing it in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agentgym.core import Expert
from agentgym.envs.bird.reasons import coded_column, explain, tables_of


class GoldExpert(Expert):
    """Hands the gold query in.

    Args:
        spec: the task's spec.
    """

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self._sql, self._evidence = str(spec["sql"]), str(spec["evidence"])

    def act(self, observation: str, info: Mapping[str, Any]) -> tuple[str, str]:
        """Return the query and what it does."""
        return explain(self._sql, self._evidence), self._sql


class CarefulExpert(Expert):
    """Looks, tries, and hands in.

    Args:
        spec: the task's spec.
        rounds: rounds the episode may take in all.
    """

    def __init__(self, spec: Mapping[str, Any], rounds: int) -> None:
        self._spec, self._rounds = spec, rounds
        self._moves = iter(self._plan())

    def act(self, observation: str, info: Mapping[str, Any]) -> tuple[str, str]:
        """Return the next look, or the answer once it has been tried or time is short."""
        if info["rounds"] >= self._rounds - 1:
            return explain(self._spec["sql"], self._spec["evidence"]), f"answer {self._spec['sql']}"
        return next(self._moves)

    def _plan(self) -> Iterator[tuple[str, str]]:
        sql = self._spec["sql"]
        tables = tables_of(sql)
        if tables:
            yield (
                f"I look at a few rows of {tables[0]} first, to see what is in it.",
                f"run SELECT * FROM {tables[0]} LIMIT 3",
            )
        coded = coded_column(sql)
        if coded is not None:
            table, column = coded
            yield (
                f"The question is about certain values of {column}. How are they written?",
                f"run SELECT {column}, COUNT(*) FROM {table} GROUP BY {column} "
                "ORDER BY COUNT(*) DESC LIMIT 12",
            )
        yield f"{explain(sql, self._spec['evidence'])} I try it.", f"run {sql}"
        while True:
            yield "It returns what the question asks for, so I hand it in.", f"answer {sql}"
