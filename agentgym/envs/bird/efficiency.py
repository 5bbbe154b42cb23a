"""What a query costs next to the gold query: the ratio that R-VES turns into a reward.

BIRD takes running times, which a busy machine changes from run to run, so nothing here is ever part
of a step: it is for a report beside an evaluation. `step_ratio` compares steps of SQLite's virtual
machine instead, which are the same wherever SQLite is.
"""

from __future__ import annotations

import statistics
import time

from agentgym.envs.bird.place import Place
from agentgym.envs.bird.query import QueryError, run
from agentgym.envs.bird.sandbox import STEPS, STRIDE
from agentgym.envs.bird.scoring import same_rows, ves_reward

REPEATS = 100
"""How often BIRD runs each pair of queries."""


def time_ratio(
    place: Place, sql: str, gold: str, repeats: int = REPEATS, steps: int = STEPS
) -> float:
    """Return the mean of gold time divided by given time over repeated runs, outliers left out.

    An outlier lies three standard deviations or more from the mean.

    Args:
        place: the database.
        sql: the query under test.
        gold: the gold query.
        repeats: how often both are run, in turn.
        steps: steps either may take.

    Raises:
        QueryError: if either cannot be run.

    Source: `evaluation_ves.py`, iterated_execute_sql and clean_abnormal, of
    https://github.com/bird-bench/mini_dev.
    """
    ratios = []
    for _ in range(repeats):
        given = _seconds(place, sql, steps)
        ratios.append(_seconds(place, gold, steps) / given)
    mean, deviation = statistics.fmean(ratios), statistics.pstdev(ratios)
    return statistics.fmean([r for r in ratios if abs(r - mean) < 3 * deviation] or ratios)


def step_ratio(place: Place, sql: str, gold: str, steps: int = STEPS) -> float:
    """Return the gold query's steps divided by the given query's, in whole strides of 100.

    Both are counted up to the next stride, so that two queries of no length come to 1.

    Raises:
        QueryError: if either cannot be run.
    """
    mine, theirs = (run(place, text, steps=steps).steps for text in (sql, gold))
    return (theirs + STRIDE) / (mine + STRIDE)


def efficiency(
    place: Place, sql: str, gold: str, repeats: int = REPEATS, steps: int = STEPS
) -> float:
    """Return the R-VES reward of a query: 0 where it is wrong or fails, else by its speed.

    Args:
        place: the database.
        sql: the query under test.
        gold: the gold query.
        repeats: how often running times are taken; 0 compares steps instead.
        steps: steps either may take.
    """
    try:
        right = same_rows(
            run(place, sql, steps=steps).rows, run(place, gold, steps=steps).rows, "set"
        )
        if not right:
            return 0.0
        if repeats:
            return ves_reward(True, time_ratio(place, sql, gold, repeats, steps))
        return ves_reward(True, step_ratio(place, sql, gold, steps))
    except QueryError:
        return 0.0


def _seconds(place: Place, sql: str, steps: int) -> float:
    begin = time.perf_counter()
    run(place, sql, steps=steps)
    return time.perf_counter() - begin
