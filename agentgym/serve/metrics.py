"""What is counted of a server, for Prometheus."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from agentgym.core.registry import short_name

_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Metrics:
    """Counters and gauges of one server, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._calls = Histogram(
            "agentgym_call_seconds",
            "Time from a call to its answer, by what was asked.",
            ("environment", "verb"),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._failed = Counter(
            "agentgym_calls_failed",
            "Calls answered with an error, by HTTP status.",
            ("environment", "verb", "status"),
            registry=self.registry,
        )
        self.created = Counter(
            "agentgym_sessions_created", "Sessions made.", ("environment",), registry=self.registry
        )
        self.ended = Counter(
            "agentgym_sessions_ended",
            "Sessions ended: closed, expired, lost or shutdown.",
            ("environment", "how"),
            registry=self.registry,
        )
        self.revived = Counter(
            "agentgym_sessions_resurrected",
            "Sessions played again after their worker died.",
            ("environment",),
            registry=self.registry,
        )
        self.refused = Counter(
            "agentgym_sessions_refused", "Sessions refused for want of room.",
            ("limit",), registry=self.registry,
        )  # fmt: skip
        self.deaths = Counter(
            "agentgym_workers_died",
            "Worker processes that ended unasked.",
            ("environment",),
            registry=self.registry,
        )
        self._children: dict[tuple[str, str], Histogram] = {}

    def gauge(self, name: str, about: str, value: Callable[[], float]) -> None:
        """Add a gauge that is read when it is looked at."""
        Gauge(name, about, registry=self.registry).set_function(value)

    def call(self, env_id: str, verb: str, status: int, seconds: float) -> None:
        """Count a call."""
        child = self._children.get((env_id, verb))
        if child is None:
            child = self._calls.labels(short_name(env_id), verb)
            self._children[env_id, verb] = child
        child.observe(seconds)
        if status != 200:
            self._failed.labels(short_name(env_id), verb, str(status)).inc()

    def text(self) -> bytes:
        """Return everything in Prometheus's text format."""
        return generate_latest(self.registry)
