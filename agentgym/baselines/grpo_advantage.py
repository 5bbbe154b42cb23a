"""GRPO's advantages by every scale: of an episode's outcome, and of the rewards of its rounds.

The formula it is known by is `advantage.grpo_advantages`; here is what else it may be divided by.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Literal

import numpy as np

from agentgym.baselines.adca_options import AdcaOptions
from agentgym.baselines.advantage import GRPO_EPS, Floats, adca_advantages, grpo_advantages
from agentgym.core.errors import InvalidConfig

Scale = Literal["group", "batch", "none"]


def outcome_advantages(
    groups: Sequence[Hashable], returns: Sequence[float], scale: Scale = "group"
) -> Floats:
    """Return the advantage of every trajectory, shape (B,).

    group: (R - mean_g R) / (std_g R + 1e-6), see `grpo_advantages`
    batch: (R - mean_g R) / (std R + 1e-6), with the deviation over all trajectories
    none:   R - mean_g R

    >>> outcome_advantages(["a", "a", "b", "b"], [1.0, 0.0, 1.0, 1.0], "none").tolist()
    [0.5, -0.5, 0.0, 0.0]
    """
    if scale == "group":
        return grpo_advantages(groups, returns)
    values = np.asarray(returns, dtype=np.float64)
    means = {g: values[[h == g for h in groups]].mean() for g in dict.fromkeys(groups)}
    centred: Floats = values - np.array([means[g] for g in groups])
    if scale == "none" or len(values) < 2:
        return centred
    scaled: Floats = centred / (values.std(ddof=1) + GRPO_EPS)
    return scaled


def turn_advantages(
    groups: Sequence[Hashable], rewards: Sequence[Sequence[float]], scale: Scale = "group"
) -> list[Floats]:
    """Return the advantage of every round: A_t = sum over k >= t of (r_k - mean r) / std r.

    Mean and deviation (of the population) are over all rounds of the group (arXiv 2402.03300,
    section 4.1.3); with scale "none" rewards are only centred.

    Args:
        groups: the group of each of B trajectories.
        rewards: the rewards of its K rounds, of each trajectory.
        scale: "group" or "none".

    Returns:
        Of each trajectory an array of shape (K,).

    Raises:
        InvalidConfig: if the scale is "batch".
    """
    if scale == "batch":
        raise InvalidConfig('reward "turns" is scaled by the "group" or not at all ("none")')
    options = AdcaOptions(norm="pooled", outcome="only_prm", fix_base=1.0, prm_steps=None)
    credits = [np.asarray(r, dtype=np.float64) for r in rewards]
    composite = adca_advantages(groups, [0.0] * len(groups), credits, options=options)
    if scale == "group":
        return list(composite.advantages)
    means = {
        g: np.concatenate([c for c, h in zip(credits, groups, strict=True) if h == g]).mean()
        for g in dict.fromkeys(groups)
    }
    return [np.cumsum((c - means[g])[::-1])[::-1] for c, g in zip(credits, groups, strict=True)]
