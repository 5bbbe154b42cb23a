"""Advantages of groups of episodes: GRPO's, and ADCA-GRPO's composite of process and outcome.

Pure functions on arrays. A trajectory's group is named for each one, so nothing depends on the
order of a batch, and every formula is here once, in float64. What attribution says of a step
arrives as a *credit*: GOOD is +1, BAD is -1, and an attributor that measures may give any real
number. A trajectory without credits (its attribution failed) has no process reward: it keeps its
outcome, and takes no part in the mean and the spread of its group's step rewards.

Symbols: trajectory i of group g has K steps, return R and step rewards r_t.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agentgym.baselines.adca_options import AdcaOptions, Norm
from agentgym.core import AgentGymError

Floats = NDArray[np.float64]
Credits = Sequence[float] | Sequence[bool] | NDArray[np.float64] | NDArray[np.bool_] | None

SUCCESS = 0.5
"""A trajectory counts as a success above this return (AgentEvolver, `adca_grpo.py`)."""
EPS = 1e-8
TINY = 1e-12
GRPO_EPS = 1e-6


class InvalidBatch(AgentGymError):
    """The parts of a batch do not fit together, or hold what is no number."""


@dataclass(frozen=True, slots=True)
class Composite:
    """The composite advantage of a batch, and what it is made of.

    Attributes:
        advantages: A of every step; one array of shape (K,) a trajectory.
        rewards: r, the step rewards before normalisation; zeros where there are no credits.
        process: the step rewards after normalisation; zeros where there are no credits.
        outcome: the normalised outcome of every trajectory, shape (B,).
        combined: c, what is summed to the advantages.
        labelled: whether a trajectory has credits, shape (B,).
        alpha: the weight that was used; 0 once attribution has ended.
    """

    advantages: tuple[Floats, ...]
    rewards: tuple[Floats, ...]
    process: tuple[Floats, ...]
    outcome: Floats
    combined: tuple[Floats, ...]
    labelled: NDArray[np.bool_]
    alpha: float


def grpo_advantages(groups: Sequence[Hashable], outcomes: ArrayLike) -> Floats:
    """Return GRPO's advantage of every trajectory.

    A_i = (R_i - mean_g R) / (std_g R + 1e-6), with the unbiased standard deviation (verl's
    `compute_grpo_outcome_advantage`, which AgentEvolver trains with). A group of one has mean 0 and
    deviation 1: its advantage is its return.

    Args:
        groups: the group of each trajectory; B of anything that can be compared.
        outcomes: R, shape (B,).

    Returns:
        Shape (B,).

    Raises:
        InvalidBatch: if a return is missing or no finite number.

    >>> grpo_advantages(["a", "b", "a"], [1.0, 0.5, 0.0]).round(4).tolist()
    [0.7071, 0.5, -0.7071]
    """
    returns = _returns(groups, outcomes)
    advantages = np.empty_like(returns)
    for members in _members(groups):
        values = returns[members]
        mean, std = (values.mean(), values.std(ddof=1)) if len(members) > 1 else (0.0, 1.0)
        advantages[members] = (values - mean) / (std + GRPO_EPS)
    return advantages


def adca_advantages(
    groups: Sequence[Hashable],
    outcomes: ArrayLike,
    credits: Sequence[Credits],
    lengths: Sequence[int] | None = None,
    options: AdcaOptions | None = None,
    global_step: int = 0,
) -> Composite:
    """Return the composite advantage of every step.

    c_t = alpha * process_t + [t = K-1] * outcome       (`outcome="last_step"`)
    c_t = alpha * process_t + outcome                   ("all_steps")
    c_t = process_t                                     ("only_prm")
    c_t is divided by sqrt(K) with `length_norm`
    A_t = sum over k >= t of gamma^(k-t) c_k            (AgentEvolver, `adca_grpo.py`; paper eq. 20
                                                        and 21; published with gamma = 1)

    From `prm_steps` on, every step has GRPO's advantage of its trajectory instead, as published.

    Args:
        groups: the group of each trajectory; B of anything that can be compared.
        outcomes: R, shape (B,).
        credits: what attribution says of each trajectory's steps: K truth values (GOOD or BAD), K
            real numbers, or None where it says nothing.
        lengths: K of each trajectory; needed only where credits are None. An episode of no steps
            has no advantages, and its outcome still counts in its group.
        options: see `AdcaOptions`; default as shipped by AgentEvolver.
        global_step: the training step, from 1, for alpha and `prm_steps`.

    Raises:
        InvalidBatch: if the arguments do not belong to the same trajectories, or a number is not
            finite.

    >>> flags = [[True, True, True], [False, True]]
    >>> adca = adca_advantages(["a", "a"], [1.0, 0.0], flags)
    >>> [a.round(3).tolist() for a in adca.advantages]
    [[1.173, 1.115, 1.058], [-1.115, -0.942]]
    """
    options = options or AdcaOptions()
    returns = _returns(groups, outcomes)
    given = _credit_arrays(credits, lengths, len(returns))
    sizes = [_size(i, c, lengths) for i, c in enumerate(given)]
    labelled = np.array([c is not None for c in given], dtype=np.bool_)
    if not options.active(global_step):
        return _grpo_only(groups, returns, sizes, labelled)
    rewards = tuple(
        np.zeros(size) if c is None else _step_rewards(c, bool(r > SUCCESS), options)
        for c, r, size in zip(given, returns, sizes, strict=True)
    )
    members = _members(groups)
    process = [np.zeros(size) for size in sizes]
    for group in members:
        known = [i for i in group if labelled[i] and sizes[i]]
        normalised = _normalise([rewards[i] for i in known], options.norm)
        for i, values in zip(known, normalised, strict=True):
            process[i] = values
    outcome = _normalised_outcomes(returns, members)
    alpha = options.alpha_at(global_step)
    combined = tuple(
        _combine(p, float(o), alpha, options) for p, o in zip(process, outcome, strict=True)
    )
    advantages = tuple(returns_to_go(c, options.gamma) for c in combined)
    return Composite(advantages, rewards, tuple(process), outcome, combined, labelled, alpha)


def returns_to_go(rewards: ArrayLike, gamma: float = 1.0) -> Floats:
    """Return A_t = sum over k >= t of gamma^(k-t) c_k, shape (K,).

    >>> returns_to_go([1.0, 0.0, 2.0], gamma=0.5).tolist()
    [1.5, 1.0, 2.0]
    """
    sums = np.array(rewards, dtype=np.float64)
    for t in range(len(sums) - 2, -1, -1):
        sums[t] += gamma * sums[t + 1]
    return sums


def to_tokens(advantages: Sequence[ArrayLike] | Floats, step_ids: ArrayLike) -> Floats:
    """Spread advantages over tokens: A_token(j) = A[step_ids(j)], and 0 where the id is -1.

    Args:
        advantages: of each trajectory, one number for all its tokens or one a step (K,).
        step_ids: the step each token belongs to, whole numbers of shape (B, L); -1 for none.

    Returns:
        Shape (B, L).

    Raises:
        InvalidBatch: if a token belongs to a step that has no advantage.
    """
    ids = np.asarray(step_ids)
    if ids.ndim != 2 or len(ids) != len(advantages) or not np.issubdtype(ids.dtype, np.integer):
        raise InvalidBatch(
            f"step_ids must be whole numbers of shape ({len(advantages)}, L), one row a "
            f"trajectory; got {ids.dtype} of shape {ids.shape}"
        )
    if ids.size and ids.min() < -1:
        raise InvalidBatch(f"a step id is at least -1 (no step), got {ids.min()}")
    tokens = np.zeros(ids.shape)
    for i, (row, values) in enumerate(zip(ids, advantages, strict=True)):
        steps = _finite(f"the advantages of trajectory {i}", values)
        if steps.ndim == 0:
            steps = np.full(row.max(initial=-1) + 1, steps)
        if row.max(initial=-1) >= len(steps):
            raise InvalidBatch(
                f"trajectory {i} has advantages of {len(steps)} steps, but tokens of step "
                f"{row.max()}"
            )
        own = row >= 0
        tokens[i, own] = steps[row[own]]
    return tokens


def _step_rewards(credits: Floats, success: bool, options: AdcaOptions) -> Floats:
    """Return r_t from credits.

    decouple: r_t = fix_base * credit_t, the published plus or minus b for labels.
    allocation: r_t = sign * w_t |credit_t| / W, with W the sum of w_t |credit_t|, so that they sum
    to the outcome's sign; w_t is `consistent` where the credit's sign agrees with the outcome and
    the weight for disagreement elsewhere (`adca_grpo.py`; |credit| is 1 for labels).
    """
    if options.scheme == "decouple":
        return options.fix_base * credits
    good = options.consistent if success else options.good_in_failure
    bad = options.bad_in_success if success else options.consistent
    weights = np.where(credits > 0, good, bad) * np.abs(credits)
    total = weights.sum()
    sign = 1.0 if success else -1.0
    return sign * weights / total if total > EPS else np.zeros_like(weights)


def _normalise(rewards: list[Floats], norm: Norm) -> list[Floats]:
    """Return the step rewards of a group, normalised.

    equal:     mu = mean_i mean_t r; var = mean_i mean_t (r - mu)^2; sd = sqrt(var + 1e-8)
    pooled:    mu, sd over all steps of the group, sd at least 1e-8
    traj_mean: mu, sd over the means of trajectories (paper eq. 18 and 19). Where the means do not
               differ the paper divides by zero; here r is centred and not scaled, as an outcome
               without spread is.
    """
    if norm == "none" or not rewards:
        return rewards
    means = np.array([r.mean() for r in rewards])
    if norm == "pooled":
        steps = np.concatenate(rewards)
        mu, sd = steps.mean(), max(steps.std(), EPS)
    elif norm == "equal":
        mu = means.mean()
        sd = np.sqrt(np.mean([np.mean((r - mu) ** 2) for r in rewards]) + EPS)
    else:
        mu, sd = means.mean(), means.std()
        sd = sd if sd > EPS else 1.0
    return [(r - mu) / (sd + TINY) for r in rewards]


def _normalised_outcomes(returns: Floats, members: list[list[int]]) -> Floats:
    """Return (R - mean_g R) / (std_g R + 1e-12); R - mean_g R where the group has no spread."""
    outcome = np.empty_like(returns)
    for group in members:
        values = returns[group]
        centred, sd = values - values.mean(), values.std()
        outcome[group] = centred / (sd + TINY) if sd > EPS else centred
    return outcome


def _combine(process: Floats, outcome: float, alpha: float, options: AdcaOptions) -> Floats:
    """Return c_t; see `adca_advantages`."""
    if not len(process):
        return process
    if options.outcome == "only_prm":
        combined = process.copy()
    else:
        combined = alpha * process
        combined[-1 if options.outcome == "last_step" else slice(None)] += outcome
    return combined / np.sqrt(len(combined)) if options.length_norm else combined


def _grpo_only(
    groups: Sequence[Hashable], returns: Floats, sizes: list[int], labelled: NDArray[np.bool_]
) -> Composite:
    outcome = grpo_advantages(groups, returns)
    nothing = tuple(np.zeros(size) for size in sizes)
    last = tuple(z.copy() for z in nothing)
    for c, a in zip(last, outcome, strict=True):
        c[-1:] = a
    full = tuple(np.full(size, a) for size, a in zip(sizes, outcome, strict=True))
    return Composite(full, nothing, nothing, outcome, last, labelled, alpha=0.0)


def _members(groups: Sequence[Hashable]) -> list[list[int]]:
    members: dict[Hashable, list[int]] = {}
    for i, group in enumerate(groups):
        members.setdefault(group, []).append(i)
    return list(members.values())


def _returns(groups: Sequence[Hashable], outcomes: ArrayLike) -> Floats:
    returns = _finite("the outcomes", outcomes)
    if returns.shape != (len(groups),):
        raise InvalidBatch(
            f"there are {len(groups)} group ids and outcomes of shape {returns.shape}; give one "
            "of each a trajectory"
        )
    return returns


def _credit_arrays(
    credits: Sequence[Credits], lengths: Sequence[int] | None, count: int
) -> list[Floats | None]:
    if len(credits) != count or (lengths is not None and len(lengths) != count):
        raise InvalidBatch(
            f"there are {count} outcomes, credits of {len(credits)} trajectories"
            + ("" if lengths is None else f" and {len(lengths)} lengths")
        )
    arrays: list[Floats | None] = []
    for i, given in enumerate(credits):
        if given is None:
            arrays.append(None)
            continue
        array = np.asarray(given)
        if array.ndim != 1:
            raise InvalidBatch(f"the credits of trajectory {i} must be one number a step")
        if array.dtype == np.bool_:
            array = np.where(array, 1.0, -1.0)
        arrays.append(_finite(f"the credits of trajectory {i}", array))
    return arrays


def _size(index: int, credits: Floats | None, lengths: Sequence[int] | None) -> int:
    if lengths is None:
        if credits is None:
            raise InvalidBatch(
                f"trajectory {index} has no credits: give lengths, the number of steps of each"
            )
        return len(credits)
    if credits is not None and len(credits) != lengths[index]:
        raise InvalidBatch(
            f"trajectory {index} has {lengths[index]} steps and {len(credits)} credits"
        )
    return int(lengths[index])


def _finite(what: str, values: ArrayLike) -> Floats:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidBatch(f"{what} must be numbers: {error}") from error
    if not np.isfinite(array).all():
        raise InvalidBatch(f"{what} must be finite numbers, got {array[~np.isfinite(array)][0]}")
    return array
