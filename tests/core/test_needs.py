"""What an environment needs: checked when it is said, and held against what a machine has."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym.core import EnvNeeds, cards
from agentgym.core.errors import InvalidConfig

AMOUNT = st.floats(0, 100)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"cpus": -1}, "cpus"),
        ({"cpus": float("nan")}, "cpus"),
        ({"memory_mb": 0}, "memory_mb"),
        ({"memory_mb": 1.5}, "memory_mb"),
        ({"sessions": 0}, "sessions"),
        ({"resources": {"jvm": -1}}, "jvm"),
        ({"resources": {"CPU": 1}}, "CPU"),
        ({"resources": {"memory": 1}}, "memory"),
    ],
)
def test_what_cannot_be_needed_is_refused(options: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidConfig, match=named):
        EnvNeeds(**options)


@given(AMOUNT, st.integers(1, 4096), AMOUNT, AMOUNT)
def test_it_fits_exactly_where_everything_is_there(
    cpus: float, memory_mb: int, jvm: float, short: float
) -> None:
    needs = EnvNeeds(cpus, memory_mb, resources={"jvm": jvm})
    assert needs.fits(needs.amounts)
    assert needs.fits({**needs.amounts, "GPU": 8})
    for name, value in needs.amounts.items():
        assert needs.fits({**needs.amounts, name: short}) == (short >= value)
        if value > 0:
            assert not needs.fits({k: v for k, v in needs.amounts.items() if k != name})


def test_every_environment_says_what_it_needs() -> None:
    for card in cards():
        if card.installed:
            assert isinstance(card.load().needs, EnvNeeds)
