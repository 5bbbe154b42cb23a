"""What every test of a baseline loads is set aside from the search for garbage.

A trainer looks for garbage several times a stage, so that the next one has the memory. In these
tests a stage is a fraction of a second and the search, over a million objects of the libraries, is
most of the time.
"""

from __future__ import annotations

import pytest

from agentgym.baselines.freeing import set_aside


@pytest.fixture(scope="session", autouse=True)
def libraries() -> None:
    """Load what trains, and leave it out of later collections."""
    set_aside()
