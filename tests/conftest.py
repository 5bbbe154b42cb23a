"""How property tests draw: where continuous integration runs, the same examples every time.

Nowhere is an example's time a failure: what is slow on a busy machine is not wrong.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("local", parent=_PATIENT)
settings.register_profile("ci", parent=_PATIENT, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")
