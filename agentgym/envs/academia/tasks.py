"""The tasks: questions drawn from the invented network, and the published ones from a folder.

A mini task's spec is {"goal", "question", "args", "answer"}: the text, the kind of question, what
it is about and what `finish` must be given. The published tasks (20, from AgentBoard) ask about a
DBLP network that does not come with them; `exported.py` says how it is brought.
"""

from __future__ import annotations

from agentgym.core.data import find_data
from agentgym.core.task import TaskSet
from agentgym.envs.academia.network import load_network
from agentgym.envs.academia.questions import QUESTIONS
from agentgym.envs.tools import spec_of
from agentgym.envs.tools.published import read_published
from agentgym.envs.tools.question import question_rows

NAME = "academia"
FILE = "academia.jsonl"
TRAIN, EVAL = 20, 5
"""Mini tasks of each kind of question."""


def mini_tasks() -> TaskSet:
    """Return 20 train and 5 eval tasks of each of the 19 kinds of questions."""
    rows = question_rows(QUESTIONS, load_network(), "academia mini 1", TRAIN, EVAL)
    note = (
        "Drawn by us from an invented network of 2,000 papers and 1,500 authors. No two tasks of a "
        "kind are about the same paper, author or pair."
    )
    return TaskSet.build(NAME, "mini", "1", rows, note)


def official_tasks(data_dir: str | None) -> TaskSet:
    """Return the published tasks in their order; all of them are for evaluation.

    Args:
        data_dir: the data folder; it must hold `academia/academia.jsonl`.

    Raises:
        MissingData: if it does not.
        InvalidConfig: if a line of it is no task.
    """
    path = find_data(NAME, FILE, folder=data_dir) / FILE
    rows = [
        ("eval", row["difficulty"], {"goal": row["goal"], "answer": spec_of(row["answer"])})
        for row in read_published(path)
    ]
    note = "The published tasks; the network they ask about has to be brought as well."
    return TaskSet.build(NAME, "official", "agentboard-1", rows, note)
