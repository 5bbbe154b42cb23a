"""The tasks: questions drawn from the invented industry, and the published ones from a folder.

A mini task's spec is {"goal", "question", "args", "answer"}: the text, the kind of question, what
it is about and what `finish` must be given. The 238 published ones are about real films and need
The Movie Database, or a tape of it, to be answered.
"""

from __future__ import annotations

from agentgym.core.data import find_data, find_eval_ids
from agentgym.core.task import TaskSet
from agentgym.envs.movie.making import load_industry
from agentgym.envs.movie.questions import QUESTIONS
from agentgym.envs.tools import spec_of
from agentgym.envs.tools.published import read_published
from agentgym.envs.tools.question import question_rows

NAME = "movie"
FILE = "movie.jsonl"
TRAIN, EVAL = 14, 4
"""Mini tasks of each kind of question."""

OFFICIAL_EVAL = 20
"""Eval tasks of AgentEval."""


def mini_tasks() -> TaskSet:
    """Return 14 train and 4 eval tasks of each kind of question."""
    rows = question_rows(QUESTIONS, load_industry(), "movie mini 1", TRAIN, EVAL)
    note = (
        "Drawn by us from an invented industry of 500 films and 1,500 people. No two tasks of a "
        "kind are about the same."
    )
    return TaskSet.build(NAME, "mini", "1", rows, note)


def official_tasks(data_dir: str | None) -> TaskSet:
    """Return the published tasks in their order.

    Args:
        data_dir: the data folder; it must hold `movie/movie.jsonl`. A list of eval ids in
            `movie/eval_ids.json` there is used.

    Raises:
        MissingData: if the tasks are not there.
        InvalidConfig: if a line of the file is no task.
    """
    path = find_data(NAME, FILE, folder=data_dir) / FILE
    found = list(read_published(path))
    evals = find_eval_ids(NAME, len(found), data_dir)
    listed = evals is not None
    if evals is None:
        evals = frozenset(range(max(len(found) - OFFICIAL_EVAL, 0), len(found)))
    rows = [
        (
            "eval" if i in evals else "train",
            row["difficulty"],
            {"goal": row["goal"], "answer": spec_of(row["answer"])},
        )
        for i, row in enumerate(found)
    ]
    note = (
        "Eval ids from eval_ids.json; every other task is train."
        if listed
        else "Stand-in split: the published list of 20 eval ids is on the hub; the last 20 here."
    )
    version = "agentboard-listed-1" if listed else "agentboard-standin-1"
    return TaskSet.build(NAME, "official", version, rows, note)
