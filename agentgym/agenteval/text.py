"""How estimates are written: shares as percentages, as the papers have them; "–" for nothing."""

from __future__ import annotations

from agentgym.agenteval.intervals import Estimate

NOTHING = "–"


def percent(estimate: Estimate) -> str:
    """Return a share with its interval, both in percent.

    >>> percent(Estimate(value=0.5, low=0.402, high=0.598, tasks=95))
    '50.0 [40.2, 59.8]'
    """
    if estimate.value is None:
        return NOTHING
    if estimate.low is None or estimate.high is None:
        return f"{100 * estimate.value:.1f}"
    return f"{100 * estimate.value:.1f} [{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]"


def short_percent(estimate: Estimate) -> str:
    """Return a share in percent with a whole-numbered interval, for narrow columns.

    >>> short_percent(Estimate(value=0.5, low=0.402, high=0.598, tasks=95))
    '50.0 [40–60]'
    """
    if estimate.value is None:
        return NOTHING
    if estimate.low is None or estimate.high is None:
        return f"{100 * estimate.value:.1f}"
    return f"{100 * estimate.value:.1f} [{100 * estimate.low:.0f}–{100 * estimate.high:.0f}]"


def signed_points(estimate: Estimate) -> str:
    """Return a difference of shares with its interval, in percentage points.

    >>> signed_points(Estimate(value=-0.1, low=-0.21, high=0.02, tasks=95))
    '-10.0 [-21.0, 2.0]'
    """
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return NOTHING
    value, low, high = (100 * x + 0.0 for x in (estimate.value, estimate.low, estimate.high))
    return f"{value:+.1f} [{low:.1f}, {high:.1f}]"


def plain(estimate: Estimate, digits: int = 1) -> str:
    """Return a number without its interval."""
    return NOTHING if estimate.value is None else f"{estimate.value:.{digits}f}"


def with_interval(estimate: Estimate, digits: int = 1) -> str:
    """Return a number with its interval."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return plain(estimate, digits)
    return f"{estimate.value:.{digits}f} [{estimate.low:.{digits}f}, {estimate.high:.{digits}f}]"


def compact(value: float | None) -> str:
    """Return a large count in few characters.

    >>> [compact(x) for x in (None, 0, 950, 12345, 3_200_000)]
    ['–', '0', '950', '12.3k', '3.2M']
    """
    if value is None:
        return NOTHING
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= limit:
            return f"{value / limit:.1f}{unit}"
    return f"{value:.0f}"


def tokens(total: int, episodes: int) -> str:
    """Return the tokens of an episode, on average; "–" where no model was called."""
    return compact(total / episodes) if total and episodes else NOTHING


def p_value(p: float | None) -> str:
    """Return a p-value as people write it.

    >>> [p_value(p) for p in (None, 0.0004, 0.0312, 0.5)]
    ['–', '<0.001', '0.031', '0.50']
    """
    if p is None:
        return NOTHING
    if p < 0.001:
        return "<0.001"
    return f"{p:.3f}" if p < 0.1 else f"{p:.2f}"
