"""How property tests draw, and what keeps the time down that all tests together take.

Where continuous integration runs, the same examples are drawn every time. Nowhere is an example's
time a failure: what is slow on a busy machine is not wrong.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

_PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("local", parent=_PATIENT)
settings.register_profile("ci", parent=_PATIENT, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")

# A simulator that plays a few episodes has no use for Java's second compiler, which takes longer
# than they do.
os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1")
# Ray lets every other process go before its workers, and so they would wait for the other tests.
os.environ.setdefault("RAY_worker_niceness", "0")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage among what is loaded to find the tests: neither then nor later.

    It is a million objects, which stay, and each look takes longer than most tests.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()
