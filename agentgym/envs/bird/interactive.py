"""BIRD with a look first: run queries and see what they return, then hand one in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from agentgym.core import Command, Edition, Expert, Outcome, Param, grammar
from agentgym.envs.bird.env import RULES, BirdBase
from agentgym.envs.bird.expert import CarefulExpert
from agentgym.envs.bird.query import QueryError
from agentgym.envs.bird.reply import find_sql
from agentgym.envs.bird.table import draw_table

_QUERY = (Param("sql", "one SELECT statement"),)
COMMANDS = (
    Command("run", "run {sql}", "Run a query and see the first rows of its result.", _QUERY),
    Command("answer", "answer {sql}", "Hand a query in as your answer; this ends it.", _QUERY),
)

INSTRUCTIONS = f"""You answer questions about a database in SQL. You are told its tables and one \
question. You may run queries to see what is in the database; then hand in the one query whose \
result answers the question. Only what you hand in is scored, and you can hand in once.

Actions:
{grammar(COMMANDS)}

A query may have several lines, and it may stand in a ```sql block.

{RULES}"""

_WORD = re.compile(r"(?:```\w*\s*)?(run|answer)\b[:\s]*(.*)", re.DOTALL | re.IGNORECASE)


class BirdInteractiveEnv(BirdBase):
    """Run queries, then answer the question with one; see `BirdEnv` for the options.

    >>> env = BirdInteractiveEnv()
    >>> observation, info = env.reset(options={"task_id": "bird_0"})
    >>> print(env.step("run SELECT 1 AS one")[0])
    one
    ---
    1
    (1 row)
    """

    name = "bird"
    title = "BIRD-Interactive"
    editions: ClassVar[Mapping[str, Edition]] = {
        "mini": Edition(10, "The questions of BIRD's mini edition."),
        "official": Edition(10, "BIRD's train and dev sets, from their archives.", offline=False),
        "mini-dev": Edition(10, "BIRD's Mini-Dev, from its archive.", offline=False),
    }
    commands = COMMANDS
    instructions = INSTRUCTIONS

    def _act(self, action: str) -> Outcome:
        found = _WORD.match(action.strip())
        sql = find_sql(found[2]) if found else ""
        if found is None or not sql:
            return self._refuse(
                "Begin your action with 'run' or 'answer', followed by one query: "
                "run SELECT ... to see rows, answer SELECT ... to hand it in."
            )
        if found[1].lower() == "answer":
            return self._hand_in(sql)
        try:
            return Outcome(draw_table(self._run(sql)), 0.0)
        except QueryError as error:
            return self._refuse(f"The query was not run: {error}.")

    def _hand_in(self, sql: str) -> Outcome:
        try:
            answer, right = self._judge(sql)
        except QueryError as error:
            # What cannot be run is no answer: it costs a round, and there may be another.
            return self._refuse(f"The query was not run: {error}. It does not count as handed in.")
        return Outcome(draw_table(answer), float(right), done=True, success=right)

    def _make_expert(self) -> Expert:
        assert self.task is not None
        return CarefulExpert(self.task.spec, self.max_rounds)

    def _sample(self, rng: np.random.Generator) -> str:
        word = "answer" if int(rng.integers(8)) == 0 else "run"
        return f"{word} {super()._sample(rng)}"
