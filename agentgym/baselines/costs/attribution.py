"""What attribution adds to a run: the samplings it is in, and what a policy plays on in them."""

from __future__ import annotations

import math
from bisect import bisect_left

from agentgym.baselines.adca_options import AdcaOptions
from agentgym.baselines.costs.episodes import Length


def asked(options: AdcaOptions, samplings: int) -> int:
    """Return in how many of the first samplings what attribution says is used.

    The weight of a credit goes from one value to another and never back, so its use changes once.

    >>> [asked(AdcaOptions(alpha_schedule="cosine", prm_steps=p), 400) for p in (None, 30)]
    [99, 29]
    """
    end = samplings if options.prm_steps is None else min(samplings, options.prm_steps - 1)
    steps = range(1, end + 1)  # as AgentEvolver counts them
    if not steps:
        return 0
    first, last = options.used(steps[0]), options.used(steps[-1])
    if first == last:
        return len(steps) if last else 0
    turn = bisect_left(steps, True, key=lambda step: options.used(step) == last)
    return len(steps) - turn if last else turn


def continued(
    length: Length, group: int, rollouts: int, horizon: int | None
) -> tuple[float, Length]:
    """Return how many continuations an episode's credits take, and how long one is on average.

    Each is shown what was played before its moment and plays the rounds that are left, up to the
    horizon. An episode has a moment before every round; the first is the whole group's.

    Args:
        length: how long an episode is.
        group: episodes of a group.
        rollouts: continuations of each moment.
        horizon: most rounds of a continuation; None for all that are left.

    >>> count, one = continued(Length(30, 60, 100, 3, 15), group=2, rollouts=4, horizon=None)
    >>> count, one.rounds, one.own  # of 3 rounds for half of an episode, of 2, and of 1
    (10.0, 1.8, 18.0)
    """
    most = math.inf if horizon is None else horizon
    later = max(length.rounds - 1, 0.0)  # moments that are the episode's own
    moments = later + 1 / group
    short = min(later, most)  # the last ones end before the horizon
    rounds = short * (short + 1) / 2 + (later - short) * short
    rounds += min(length.rounds, most) / group
    past = later * (later + 1) / 2
    said, told = length.own / length.rounds, (length.read - length.prompt) / length.rounds
    one = Length(
        own=rounds * said / moments,
        read=length.prompt + (past * (said + told) + rounds * told) / moments,
        longest=length.longest,
        rounds=rounds / moments,
        prompt=length.prompt,
    )
    return rollouts * moments, one
