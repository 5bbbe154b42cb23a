"""The metrics, each defined once.

Every number is a mean over tasks, in which a task counts once however often it was attempted, so
that one definition covers one attempt, k attempts and a run cut short. A failed episode (a call
broke and the retries were spent) counts as score 0 and not achieved, and is also shown in a column
of its own; no episode is left out of any number. `docs/evaluation.md` holds the formulas.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import comb

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from agentgym.agenteval.intervals import Estimate, Values, bounded_mean, mean, ratio
from agentgym.core.text import numeral
from agentgym.rollout.episode import Episode


class Measures(BaseModel):
    """What was measured over some episodes of one environment.

    Attributes:
        tasks: number of different tasks.
        episodes: number of episodes.
        attempts: the fewest attempts any of the tasks had; the k of `success` and `score` read as
            avg@k.
        failed: episodes that broke; they count as score 0.
        limited: episodes that a budget or the model's context ended; they keep the score they had.
        success: success rate = avg@k of success.
        score: mean score = avg@k of the score.
        best: best@k of success by k (pass@k): the chance that one of k attempts achieves the task.
        best_score: best@k of the score by k: the expected maximum of k attempts.
        every: pass^k by k: the chance that all of k attempts achieve the task.
        rounds: rounds an episode.
        invalid: share of rounds whose action could not be carried out or could not be read.
        input_tokens: prompt tokens an episode; None where no model was called.
        output_tokens: tokens the model wrote, an episode.
        cost: US dollars an episode; None unless every episode with a model call has a price.
        total_tokens: input and output tokens of all episodes together.
        total_cost: US dollars of all episodes together, or None as for `cost`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    tasks: int = 0
    episodes: int = 0
    attempts: int = 0
    failed: int = 0
    limited: int = 0
    success: Estimate = Estimate()
    score: Estimate = Estimate()
    best: dict[int, Estimate] = Field(default_factory=dict)
    best_score: dict[int, Estimate] = Field(default_factory=dict)
    every: dict[int, Estimate] = Field(default_factory=dict)
    rounds: Estimate = Estimate()
    invalid: Estimate = Estimate()
    input_tokens: Estimate = Estimate()
    output_tokens: Estimate = Estimate()
    cost: Estimate = Estimate()
    total_tokens: int = 0
    total_cost: float | None = None


@lru_cache(maxsize=65536)
def best_of(n: int, c: int, k: int) -> float:
    """Return the unbiased estimate that one of k attempts succeeds, from c successes of n.

    1 - C(n-c, k) / C(n, k) (Chen et al. 2021, arXiv 2107.03374), in exact integers.

    >>> best_of(4, 1, 2)
    0.5
    """
    _require_k(n, k)
    return 1 - comb(n - c, k) / comb(n, k)


@lru_cache(maxsize=65536)
def all_of(n: int, c: int, k: int) -> float:
    """Return the unbiased estimate that all of k attempts succeed, from c successes of n.

    C(c, k) / C(n, k), "pass^k" (Yao et al. 2024, arXiv 2406.12045).

    >>> all_of(4, 3, 2)
    0.5
    """
    _require_k(n, k)
    return comb(c, k) / comb(n, k)


def expected_max(scores: Sequence[float], k: int) -> float:
    """Return the expected maximum of k of these scores, drawn without replacement.

    The i-th smallest of n is the maximum of C(i-1, k-1) of the C(n, k) subsets. For scores 0 and 1
    this is `best_of`.

    >>> expected_max([0.0, 0.5, 0.75, 1.0], 3)
    0.9375
    """
    _require_k(len(scores), k)
    weights = _max_weights(len(scores), k)
    return float(sum(w * s for w, s in zip(weights, sorted(scores), strict=True)))


@lru_cache(maxsize=4096)
def _max_weights(n: int, k: int) -> tuple[float, ...]:
    return tuple(comb(i, k - 1) / comb(n, k) for i in range(n))


def _require_k(n: int, k: int) -> None:
    if not 1 <= k <= n:
        raise ValueError(f"k must be between 1 and the number of attempts {n}, got {k}")


def chosen_ks(attempts: int) -> list[int]:
    """Return the k to report for a number of attempts: powers of two, and the number itself.

    >>> chosen_ks(6)
    [1, 2, 4, 6]
    """
    ks = [1 << i for i in range(attempts.bit_length()) if 1 << i <= attempts]
    return ks if not ks or ks[-1] == attempts else [*ks, attempts]


def episode_score(episode: Episode) -> float:
    """Return the score an episode counts with."""
    return 0.0 if episode.status == "failed" else episode.score


def episode_success(episode: Episode) -> bool:
    """Return whether an episode counts as achieved."""
    return episode.success and episode.status != "failed"


def by_task(episodes: Iterable[Episode]) -> dict[str, list[Episode]]:
    """Group the episodes of one environment by task, in order of first appearance."""
    groups: dict[str, list[Episode]] = {}
    for episode in episodes:
        groups.setdefault(episode.task_id, []).append(episode)
    return groups


def measure(episodes: Sequence[Episode]) -> Measures:
    """Measure the episodes of one environment.

    Args:
        episodes: any number of attempts at any number of tasks; not of several environments, whose
            task ids could be the same.
    """
    groups = list(by_task(episodes).values())
    if not groups:
        return Measures()
    success = [[episode_success(e) for e in group] for group in groups]
    score = [[episode_score(e) for e in group] for group in groups]
    attempts = min(len(group) for group in groups)
    ks = chosen_ks(attempts)
    usage = _usage(groups)
    rounds = _values([e.rounds for e in group] for group in groups)
    return Measures(
        tasks=len(groups),
        episodes=len(episodes),
        attempts=attempts,
        failed=sum(e.status == "failed" for e in episodes),
        limited=sum(e.status == "limit" for e in episodes),
        success=bounded_mean(_values(success)),
        score=bounded_mean(_values(score)),
        best={k: _across([best_of(len(s), sum(s), k) for s in success]) for k in ks},
        best_score={k: _across([expected_max(s, k) for s in score]) for k in ks},
        every={k: _across([all_of(len(s), sum(s), k) for s in success]) for k in ks},
        rounds=mean(rounds),
        # Weighted so that a task counts once here too, however often it was attempted.
        invalid=ratio(_values([e.invalid_actions for e in group] for group in groups), rounds),
        **usage,
    )


def measure_kinds(episodes: Sequence[Episode]) -> dict[str, Measures]:
    """Measure each kind of task apart, in the order people count ("depth-2" before "depth-10")."""
    kinds: dict[str, list[Episode]] = {}
    for episode in episodes:
        kinds.setdefault(episode.kind, []).append(episode)
    return {kind: measure(kinds[kind]) for kind in sorted(kinds, key=_natural)}


def _natural(text: str) -> list[tuple[bool, int, str]]:
    parts = re.split(r"(\d+)", text)
    numbers = ((numeral(part), part) for part in parts if part)
    return [(n is None, n or 0, part) for n, part in numbers]


def _values(groups: Iterable[Sequence[float]]) -> Values:
    """Return one value a task: the mean over its attempts."""
    return np.array([sum(group) / len(group) for group in groups], dtype=np.float64)


def _across(values: Sequence[float]) -> Estimate:
    return bounded_mean(np.array(values, dtype=np.float64))


def _usage(groups: Sequence[Sequence[Episode]]) -> dict[str, object]:
    """Return the fields about tokens and cost; empty where no model was called."""
    usage = [[e.usage for e in group] for group in groups]
    flat = [u for group in usage for u in group]
    if not any(u.calls or u.input_tokens or u.output_tokens for u in flat):
        return {}
    fields: dict[str, object] = {
        "input_tokens": mean(_values([u.input_tokens for u in group] for group in usage)),
        "output_tokens": mean(_values([u.output_tokens for u in group] for group in usage)),
        "total_tokens": sum(u.input_tokens + u.output_tokens for u in flat),
    }
    if all(u.cost is not None or not u.calls for u in flat):
        fields["cost"] = mean(_values([u.cost or 0.0 for u in group] for group in usage))
        fields["total_cost"] = sum(u.cost or 0.0 for u in flat)
    return fields
