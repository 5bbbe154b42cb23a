"""Compare runs task by task.

Two agents that played the same tasks are compared on each of them, which tells far more than two
intervals side by side: an easy task is easy for both. Runs of different tasks (another edition,
split, version or digest) are refused, not averaged.

The tests ask whether the sign of a difference could be chance: for success the exact sign test over
the tasks that differ (McNemar's exact test where each task was attempted once), for the score a
permutation test that flips the sign of each task's difference, exact up to 2^16 flips and seeded
beyond. With several environments, expect one in twenty to fall below 0.05 by chance.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from math import comb

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from agentgym.agenteval.evaluate import Evaluation
from agentgym.agenteval.intervals import Estimate, Values, average, paired_difference
from agentgym.agenteval.metrics import by_task, episode_score, episode_success
from agentgym.agenteval.report import Row
from agentgym.core import AgentGymError
from agentgym.core.errors import InvalidConfig

EXACT_FLIPS = 16
DRAWS = 20_000


class NotComparable(AgentGymError):
    """Two runs played different tasks; the message says where they part."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Difference(_Part):
    """Two runs on one environment: the second minus the first, over the tasks both played.

    Attributes:
        env_id: Gymnasium id.
        name: short name of the environment.
        edition: edition of the tasks.
        tasks: tasks both runs played.
        first_success: success rate of the first run over them.
        second_success: success rate of the second.
        success: difference of the success rates.
        success_p: two-sided p-value of the sign test; None without a common task.
        score: difference of the mean scores.
        score_p: two-sided p-value of the permutation test.
        better: tasks at which the second run succeeded more often.
        worse: tasks at which it succeeded less often.
        flipped: the ids of the tasks behind `better` and `worse`.
    """

    env_id: str
    name: str
    edition: str
    tasks: int
    first_success: float | None = None
    second_success: float | None = None
    success: Estimate = Estimate()
    success_p: float | None = None
    score: Estimate = Estimate()
    score_p: float | None = None
    better: int = 0
    worse: int = 0
    flipped: dict[str, list[str]] = Field(default_factory=dict)


class Pair(_Part):
    """Two runs compared.

    Attributes:
        first: what the first run is called.
        second: what the second is called.
        rows: the environments both played.
        success: average difference of the success rates, by edition.
        score: average difference of the mean scores, by edition.
        warnings: what the comparison leaves out or mixes.
    """

    first: str
    second: str
    rows: tuple[Difference, ...]
    success: dict[str, Estimate] = Field(default_factory=dict)
    score: dict[str, Estimate] = Field(default_factory=dict)
    warnings: tuple[str, ...] = ()


class Comparison(_Part):
    """Every run compared with the first.

    Attributes:
        schema_version: version of this layout.
        pairs: one for each run after the first.
    """

    schema_version: int = 1
    pairs: tuple[Pair, ...]


def compare(runs: Sequence[Evaluation]) -> Comparison:
    """Compare every run with the first, paired by task.

    Args:
        runs: two or more runs, from `evaluate` or `load_run`.

    Raises:
        InvalidConfig: if there are fewer than two runs.
        NotComparable: if two runs share no environment, or one they share has other tasks.
    """
    if len(runs) < 2:
        raise InvalidConfig(f"a comparison needs two runs, got {len(runs)}")
    labels = _labels(runs)
    first, *others = runs
    return Comparison(
        pairs=tuple(
            _pair(first, other, labels[0], label)
            for other, label in zip(others, labels[1:], strict=True)
        )
    )


def sign_test(better: int, worse: int) -> float:
    """Return the two-sided p-value of so many differences in each direction.

    >>> sign_test(5, 0)
    0.0625
    """
    n, k = better + worse, min(better, worse)
    tail = sum(comb(n, i) for i in range(k + 1))
    return min(1.0, float(2 * tail / 2**n))


def permutation_test(differences: Values, seed: int = 0) -> float:
    """Return the two-sided p-value of the mean of paired differences.

    Args:
        differences: one a task.
        seed: of the random flips, where there are too many to try them all.

    >>> permutation_test(np.array([0.5, 0.25, 0.125]))
    0.25
    """
    moved = differences[np.abs(differences) > 1e-12]
    if not len(moved):
        return 1.0
    observed = abs(float(moved.sum())) - 1e-9
    if len(moved) <= EXACT_FLIPS:
        sums = np.zeros(1)
        for value in moved:
            sums = np.concatenate([sums + value, sums - value])
        return float(np.mean(np.abs(sums) >= observed))
    rng = np.random.default_rng(seed)
    hits, chunk = 0, max(1, 2_000_000 // len(moved))
    for start in range(0, DRAWS, chunk):
        signs = rng.integers(0, 2, size=(min(chunk, DRAWS - start), len(moved)), dtype=np.int8)
        hits += int(np.sum(np.abs((2.0 * signs - 1.0) @ moved) >= observed))
    return (hits + 1) / (DRAWS + 1)


def _labels(runs: Sequence[Evaluation]) -> list[str]:
    """Return a name for each run: the agent's, and the folder's where that is not enough."""
    names = [run.report.agent_name for run in runs]
    if len(set(names)) == len(names):
        return names
    folders = [run.path.name for run in runs]
    return folders if len(set(folders)) == len(folders) else [str(run.path) for run in runs]


def _pair(first: Evaluation, second: Evaluation, name: str, other: str) -> Pair:
    rows_a = {row.env_id: row for row in first.report.rows}
    rows_b = {row.env_id: row for row in second.report.rows}
    shared = [env_id for env_id in rows_a if env_id in rows_b]
    if not shared:
        raise NotComparable(
            f"{name} and {other} share no environment: {_list(rows_a)} against {_list(rows_b)}. "
            "Evaluate both on the same suite."
        )
    for env_id in shared:
        _require_same_tasks(rows_a[env_id], rows_b[env_id], name, other)
    values_a, values_b = _task_values(first), _task_values(second)
    rows = [_difference(rows_a[i], values_a.get(i, {}), values_b.get(i, {})) for i in shared]
    editions: dict[str, list[Difference]] = {}
    for row in rows:
        if row.tasks:
            editions.setdefault(row.edition, []).append(row)
    return Pair(
        first=name,
        second=other,
        rows=tuple(rows),
        success={e: average([r.success for r in rs]) for e, rs in editions.items()},
        score={e: average([r.score for r in rs]) for e, rs in editions.items()},
        warnings=tuple(_warnings(first, second, rows, name, other)),
    )


def _require_same_tasks(a: Row, b: Row, name: str, other: str) -> None:
    for what in ("edition", "digest"):
        left, right = getattr(a.tasks, what), getattr(b.tasks, what)
        if left != right:
            raise NotComparable(
                f"{name} and {other} played different tasks of {a.name}: {what} "
                f"{left[:16] or 'unknown'} (version {a.tasks.version}) against "
                f"{right[:16] or 'unknown'} (version {b.tasks.version}). Numbers of different "
                "tasks cannot be compared; evaluate both on the same edition and version."
            )


_Pairs = dict[str, tuple[float, float]]


def _task_values(run: Evaluation) -> dict[str, _Pairs]:
    """Return (success, score) of every task, averaged over its attempts, by environment."""
    grouped: dict[str, list[int]] = {}
    for i, episode in enumerate(run.episodes):
        grouped.setdefault(episode.env_id, []).append(i)
    values: dict[str, _Pairs] = {}
    for env_id, indices in grouped.items():
        groups = by_task(run.episodes[i] for i in indices)
        values[env_id] = {
            task_id: (
                sum(map(episode_success, group)) / len(group),
                sum(map(episode_score, group)) / len(group),
            )
            for task_id, group in groups.items()
        }
    return values


def _difference(row: Row, a: _Pairs, b: _Pairs) -> Difference:
    common = [task_id for task_id in a if task_id in b]
    if not common:
        return Difference(env_id=row.env_id, name=row.name, edition=row.edition, tasks=0)
    first = np.array([a[t] for t in common], dtype=np.float64)
    second = np.array([b[t] for t in common], dtype=np.float64)
    better = [t for t in common if b[t][0] > a[t][0]]
    worse = [t for t in common if b[t][0] < a[t][0]]
    return Difference(
        env_id=row.env_id,
        name=row.name,
        edition=row.edition,
        tasks=len(common),
        first_success=float(first[:, 0].mean()),
        second_success=float(second[:, 0].mean()),
        success=paired_difference(first[:, 0], second[:, 0]),
        success_p=sign_test(len(better), len(worse)),
        score=paired_difference(first[:, 1], second[:, 1]),
        score_p=permutation_test(second[:, 1] - first[:, 1]),
        better=len(better),
        worse=len(worse),
        flipped={"better": better, "worse": worse},
    )


def _warnings(
    first: Evaluation, second: Evaluation, rows: Sequence[Difference], name: str, other: str
) -> list[str]:
    a, b = first.report, second.report
    found = [
        f"{what} differs: {left} against {right}."
        for what, left, right in (
            ("The action format", a.action_format, b.action_format),
            ("The run's seed", a.seed, b.seed),
            ("The number of attempts", a.attempts, b.attempts),
        )
        if left != right
    ]
    ids_a, ids_b = ({r.env_id: r.name for r in x.rows} for x in (a, b))
    found += [
        f"Only {label} played {', '.join(only)}; it is left out."
        for label, only in (
            (name, [n for i, n in ids_a.items() if i not in ids_b]),
            (other, [n for i, n in ids_b.items() if i not in ids_a]),
        )
        if only
    ]
    for row in rows:
        left, right = (next(r for r in x.rows if r.env_id == row.env_id) for x in (a, b))
        if left.tasks.max_rounds != right.tasks.max_rounds:
            found.append(
                f"{row.name}: episodes had {left.tasks.max_rounds} rounds in {name} and "
                f"{right.tasks.max_rounds} in {other}."
            )
        found += [
            f"{row.name}: {extra} task(s) of {label} have no counterpart and are left out."
            for label, extra in ((name, left.total.tasks - row.tasks),
                                 (other, right.total.tasks - row.tasks))
            if extra > 0
        ]  # fmt: skip
    found += [f"{label} is not complete." for label, x in ((name, a), (other, b)) if not x.complete]
    return found


def _list(rows: Mapping[str, Row]) -> str:
    return ", ".join(itertools.islice((row.name for row in rows.values()), 8)) or "none"
