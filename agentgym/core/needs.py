"""What a process that holds sessions of an environment takes from its machine.

One machine ignores it. A cluster places worker processes by it, so that a simulator lands where
there is a Java and memory for it, and a machine holds no more sessions than it can bear. It is a
claim about a process, not about a session, because what is costly (a JVM, a browser, a database of
products) is shared by the sessions of a process.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agentgym.core.errors import InvalidConfig
from agentgym.core.options import amount, whole


@dataclass(frozen=True)
class EnvNeeds:
    """What one worker process needs.

    Attributes:
        cpus: cores its sessions keep busy; a part of one is possible.
        memory_mb: memory of the process at its fullest, with the processes it starts, in MiB.
        sessions: most sessions it holds at a time.
        resources: what else a machine must have, by name ({"jvm": 1}): the amount one worker takes
            of it. A machine says what it has when it joins the cluster (docs/scaling.md).

    Raises:
        InvalidConfig: if a number is out of range.

    >>> EnvNeeds(memory_mb=1536, resources={"jvm": 1}).fits({"CPU": 8, "memory": 2**34})
    False
    """

    cpus: float = 0.5
    memory_mb: int = 512
    sessions: int = 64
    resources: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        amount("cpus", self.cpus)
        whole("memory_mb", self.memory_mb)
        whole("sessions", self.sessions)
        for name, value in self.resources.items():
            if name in ("CPU", "GPU", "memory") or not isinstance(name, str):
                raise InvalidConfig(f"{name!r} cannot name a resource of one's own")
            amount(f"the resource {name!r}", value)

    @property
    def amounts(self) -> dict[str, float]:
        """Everything by the name a Ray cluster has for it; memory in bytes."""
        return {"CPU": self.cpus, "memory": self.memory_mb * 2.0**20, **self.resources}

    def fits(self, has: Mapping[str, float]) -> bool:
        """Return whether a machine that has these amounts can hold one worker."""
        return all(has.get(name, 0.0) >= value for name, value in self.amounts.items())
