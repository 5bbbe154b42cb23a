"""Whether a query answers a question: by the rows it returns.

Execution accuracy is BIRD's rule (arXiv 2305.03111, section 4.3, and `evaluation_ex.py` of its
repository): the *set* of rows must be that of the gold query, so that order and repetition do not
matter, the order of columns does, and the names of columns do not. `compare` offers two stricter
rules. Soft F1 and R-VES are computed beside an evaluation, never inside a step: the one compares
cell by cell, the other compares running times (https://github.com/bird-bench/mini_dev).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from agentgym.envs.bird.query import Row

Comparison = Literal["set", "multiset", "ordered"]
COMPARISONS: tuple[Comparison, ...] = ("set", "multiset", "ordered")


def same_rows(
    given: Sequence[Row], gold: Sequence[Row], comparison: Comparison = "set", ordered: bool = False
) -> bool:
    """Return whether rows answer the question.

    Args:
        given: the rows of the query under test.
        gold: the rows of the gold query.
        comparison: "set", the published rule; "multiset", where repetitions count; "ordered", where
            the order counts as well if the question asks for one.
        ordered: whether the question asks for an order.

    >>> same_rows([(1,), (2,), (2,)], [(2,), (1,)])
    True
    >>> same_rows([(1,), (2,)], [(2,), (1,)], "ordered", ordered=True)
    False
    """
    if comparison == "ordered" and ordered:
        return list(given) == list(gold)
    wanted = Counter(gold)
    found: Counter[Row] = Counter()
    for row in given:
        # Only rows of the gold query are collected: others may be made to share one hash.
        if row not in wanted:
            return False
        found[row] += 1
    return len(found) == len(wanted) if comparison == "set" else found == wanted


def soft_f1(given: Sequence[Row], gold: Sequence[Row]) -> float:
    """Return the soft F1 of two results, in [0, 1].

    Rows are made unique in their order and compared place by place; in each pair, the share of
    cells of the gold row that the given row has (matched), of given cells that the gold row lacks
    (wrong) and of gold cells that the given row lacks (missed) are counted over the columns of the
    gold row; a row without a partner counts as wrong or missed as a whole. Then
    F1 = 2 P R / (P + R) with P = matched / (matched + wrong), R = matched / (matched + missed).

    Source: `evaluation_f1.py`, calculate_f1_score, of https://github.com/bird-bench/mini_dev.

    >>> soft_f1([(1, "a")], [(1, "b")])
    0.5
    """
    if not given and not gold:
        return 1.0
    ours, theirs = _unique(given), _unique(gold)
    matched = wrong = missed = 0.0
    for i, gold_row in enumerate(theirs):
        if i >= len(ours):
            missed += 1
            continue
        row, width = ours[i], max(len(gold_row), 1)
        hits = sum(value in gold_row for value in row)
        matched += hits / width
        wrong += (len(row) - hits) / width
        missed += sum(value not in row for value in gold_row) / width
    wrong += max(len(ours) - len(theirs), 0)
    precision = matched / (matched + wrong) if matched + wrong else 0.0
    recall = matched / (matched + missed) if matched + missed else 0.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


REWARDS = ((2.0, 1.25), (1.0, 1.0), (0.5, 0.75), (0.25, 0.5))
"""R-VES: from which ratio of gold time to given time on which reward; below all of them, 0.25."""


def ves_reward(correct: bool, ratio: float) -> float:
    """Return the R-VES reward of one query.

    Args:
        correct: whether its rows are right.
        ratio: cost of the gold query divided by that of the query. BIRD takes the mean of repeated
            running times with outliers beyond three standard deviations left out; the steps of
            SQLite's virtual machine (`Answer.steps`) give a number that is the same everywhere.

    Source: `evaluation_ves.py`, iterated_execute_sql, of https://github.com/bird-bench/mini_dev.

    >>> ves_reward(True, 2.5), ves_reward(True, 0.1), ves_reward(False, 9)
    (1.25, 0.25, 0.0)
    """
    if not correct:
        return 0.0
    return next((reward for least, reward in REWARDS if ratio >= least), 0.25)


def r_ves(rewards: Iterable[float]) -> float:
    """Return R-VES, in percent: the mean of the rewards' square roots, times 100.

    Source: `evaluation_ves.py`, compute_ves, of https://github.com/bird-bench/mini_dev.
    """
    roots = [math.sqrt(reward) for reward in rewards]
    return 100 * sum(roots) / len(roots) if roots else 0.0


def _unique(rows: Sequence[Row]) -> list[Row]:
    return list(dict.fromkeys(rows))
