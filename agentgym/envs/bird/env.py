"""BIRD: answer a question with one SQL query over a database that can only be read.

As published there is one round: the agent is told the tables and the question and writes a query,
and the score is 1 if the query returns the rows of the gold query. `BirdInteractiveEnv`
(interactive.py) lets the agent run queries first. Both share what is here.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from agentgym.core import (
    Command,
    Edition,
    Expert,
    Opening,
    Outcome,
    Param,
    Task,
    TaskSet,
    TextEnv,
)
from agentgym.core.errors import InvalidConfig, InvalidState
from agentgym.core.text import shorten
from agentgym.envs.bird.expert import GoldExpert
from agentgym.envs.bird.gold import GOLD
from agentgym.envs.bird.library import find_database, load_source
from agentgym.envs.bird.official import (
    mini_dev_tasks,
    official_tasks,
    published_place,
    published_text,
)
from agentgym.envs.bird.place import Place
from agentgym.envs.bird.query import Answer, QueryError, run
from agentgym.envs.bird.reply import find_sql
from agentgym.envs.bird.sandbox import PUBLISHED_STEPS, STEPS
from agentgym.envs.bird.schema import in_sentences, in_sql, read_schema
from agentgym.envs.bird.scoring import COMPARISONS, Comparison, same_rows
from agentgym.envs.bird.tasks import mini_tasks

SCHEMAS = ("text", "sql")
SHOWN = 100
"""Characters of the result that are shown after the answer, as published."""

RULES = """The database is SQLite and can only be read: the query is one statement that begins \
with SELECT or WITH. Return exactly the columns the question asks for, in the order it names them. \
"Now" is 2024-06-30 12:00:00. Functions that draw at random are not available."""

INSTRUCTIONS = f"""You answer questions about a database in SQL. You are told its tables and one \
question, and you have one round: write one query whose result answers the question.

Your action is the query itself. It may have several lines, and it may stand in a ```sql block; \
of several blocks the last one counts.

{RULES}"""


class BirdBase(TextEnv):
    """What the two variants share; see `BirdEnv` for the options."""

    multiline_actions = True
    max_action_length = 20_000

    def __init__(
        self,
        *,
        evidence: bool | None = None,
        schema: str = "text",
        comparison: Comparison = "set",
        **options: Any,
    ) -> None:
        super().__init__(**options)
        if schema not in SCHEMAS:
            raise InvalidConfig(f"schema must be one of {', '.join(SCHEMAS)}, got {schema!r}")
        if comparison not in COMPARISONS:
            raise InvalidConfig(
                f"comparison must be one of {', '.join(COMPARISONS)}, got {comparison!r}"
            )
        if evidence is not None and not isinstance(evidence, bool):
            raise InvalidConfig(f"evidence must be True, False or None, got {evidence!r}")
        self.evidence = self.edition == "mini" if evidence is None else evidence
        self.schema, self.comparison = schema, comparison
        self._place: Place
        self._steps = STEPS if self.edition == "mini" else PUBLISHED_STEPS

    @classmethod
    def load_tasks(cls, edition: str, data_dir: str | None) -> TaskSet:
        """Return the task set of an edition."""
        if edition == "official":
            return official_tasks(cls.name, data_dir)
        return mini_dev_tasks(cls.name, data_dir) if edition == "mini-dev" else mini_tasks(cls.name)

    def _begin(self, task: Task) -> Opening:
        spec = task.spec
        archive = spec.get("archive")
        if archive is None:
            self._place = find_database(spec["db"])
        else:
            self._place = published_place(archive, spec["db"], self.data_dir)
        parts = [self._tables(spec), spec["question"]]
        if self.evidence and spec["evidence"]:
            parts.append(f"Evidence: {spec['evidence']}")
        return Opening("\n\n".join(parts), spec["question"])

    def _tables(self, spec: Mapping[str, Any]) -> str:
        archive = spec.get("archive")
        if archive is None:
            return _mini_text(spec["db"], self.schema)
        if self.schema == "sql":
            return _official_sql(self._place)
        return published_text(archive, spec["db"], self.data_dir)

    def _judge(self, sql: str) -> tuple[Answer, bool]:
        """Return what a query returns and whether that is the answer.

        Raises:
            QueryError: if it cannot be run.
        """
        assert self.task is not None
        answer = self._run(sql)
        spec = self.task.spec
        try:
            gold = GOLD.find(self._place, spec["sql"], self._steps)
        except QueryError:  # a published gold query that is wrong cannot be matched
            return answer, False
        return answer, same_rows(answer.rows, gold, self.comparison, spec["ordered"])

    def _run(self, sql: str) -> Answer:
        return run(self._place, sql, steps=self._steps)

    def _save(self) -> Any:
        return {"variant": self.title}  # a query leaves nothing behind

    def _load(self, saved: Any) -> None:
        if saved != {"variant": self.title}:  # both variants have the same tasks
            raise InvalidState(f"this is no snapshot of {self.title}: {shorten(repr(saved))}")

    def _sample(self, rng: np.random.Generator) -> str:
        """Draw a query that runs, over one table."""
        found = run(self._place, "SELECT name FROM sqlite_master WHERE type = 'table'").rows
        table = str(found[int(rng.integers(len(found)))][0]).replace('"', '""')
        what = ("*", "COUNT(*)")[int(rng.integers(2))]
        return f'SELECT {what} FROM "{table}" LIMIT {int(rng.integers(1, 6))}'


class BirdEnv(BirdBase):
    """Answer a question with one query.

    Args:
        evidence: whether the hint that comes with a question is shown; None shows it in mini, where
            codes cannot be known without it, and not in the published sets, as published.
        schema: how tables are shown: "text", the published sentences, or "sql", CREATE TABLE
            statements with three rows each (in mini also what the columns mean).
        comparison: "set", the published rule; "multiset"; or "ordered", where the order counts as
            well if the question asks for one.
        options: see `TextEnv`.

    Raises:
        InvalidConfig: if an option has a value that cannot be used.

    >>> env = BirdEnv()
    >>> observation, info = env.reset(options={"task_id": "bird_0"})
    >>> env.step("SELECT 1")[0]
    '[(1,)]...'
    """

    name = "bird"
    title = "BIRD"
    editions: ClassVar[Mapping[str, Edition]] = {
        "mini": Edition(1, "Questions over ten databases of ours, with evidence."),
        "official": Edition(1, "BIRD's train and dev sets, from their archives.", offline=False),
        "mini-dev": Edition(1, "BIRD's Mini-Dev, from its archive.", offline=False),
    }
    commands = (
        Command(
            "answer",
            "{sql}",
            "Answer the question with a query.",
            (Param("sql", "one SELECT statement"),),
        ),
    )
    instructions = INSTRUCTIONS

    def _act(self, action: str) -> Outcome:
        try:
            answer, right = self._judge(find_sql(action))
        except QueryError as error:
            return Outcome(f"The query was not run: {error}.", 0.0, done=True, valid=False)
        shown = f"{str(answer.rows[:SHOWN])[:SHOWN]}..."  # no row is shorter than a character
        return Outcome(shown, float(right), done=True, success=right)

    def _make_expert(self) -> Expert:
        assert self.task is not None
        return GoldExpert(self.task.spec)


@lru_cache(maxsize=32)
def _mini_text(database: str, form: str) -> str:
    source = load_source(database)
    if form == "sql":
        return in_sql(find_database(database), source.columns)
    return in_sentences(read_schema(database, source.schema))


@lru_cache(maxsize=32)
def _official_sql(place: Place) -> str:
    return in_sql(place)
