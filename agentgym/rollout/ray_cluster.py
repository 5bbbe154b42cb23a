"""The Ray cluster a run is played on: found or begun, asked for workers, and explained.

Ray waits without end for a machine that can hold an actor. Here a worker nobody can hold is an
error that says what is missing and how a machine that has it joins. A cluster that grows on demand
needs time for it: `$AGENTGYM_RAY_PATIENCE` is how many seconds are waited before giving up.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import os
import socket
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agentgym.core import AgentGymError, EnvNeeds, require
from agentgym.core.errors import InvalidConfig
from agentgym.rollout.ray_worker import RayHost, RayWorker

ADDRESS_VARIABLE = "RAY_ADDRESS"
PATIENCE_VARIABLE = "AGENTGYM_RAY_PATIENCE"

_MISSING_PATIENCE, _BUSY_PATIENCE = 5.0, 120.0
_PLENTY = 1000.0
"""How much of a resource of one's own this machine has in a cluster begun here: memory decides."""
MOST_THREADS = 32
"""How many episodes may be acting in one worker at a time."""


class ClusterError(AgentGymError):
    """The Ray cluster cannot hold what a run needs; the message says what is missing."""


class RayCluster:
    """The cluster this process is connected to.

    Args:
        needs: what the workers of the run will need, one of each kind.

    Raises:
        MissingExtra: if Ray is not installed.
        ClusterError: if `$RAY_ADDRESS` names a cluster that cannot be reached.
    """

    def __init__(self, needs: Sequence[EnvNeeds]) -> None:
        self._ray: Any = require("ray", "The ray executor", "ray")
        self._patience = _patience()
        if not self._ray.is_initialized():
            self._join(needs)

    def _join(self, needs: Sequence[EnvNeeds]) -> None:
        """Connect to the cluster of `$RAY_ADDRESS` or of `ray start` here, or begin one.

        One that another Python process has begun for itself is left alone: it ends with it.
        """
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
        named = os.environ.get(ADDRESS_VARIABLE, "")
        if named not in ("", "auto", "local"):
            if not _answers(named):
                raise ClusterError(
                    f"nothing answers at {named}, which {ADDRESS_VARIABLE} names. Begin a cluster "
                    "there with 'ray start --head', or unset the variable to use this machine."
                )
            try:
                self._ray.init(address=named, **quiet)
            except (ConnectionError, RuntimeError, self._ray.exceptions.RayError) as error:
                raise ClusterError(
                    f"the Ray cluster at {named} cannot be joined: {error}. It may be of another "
                    "version of Ray, or want its token: copy ~/.ray/auth_token from its machine "
                    "and set RAY_AUTH_MODE=token (docs/scaling.md)."
                ) from error
            return
        if named != "local" and _started_here():
            self._ray.init(**quiet)  # without an address, Ray finds the token by itself
            return
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        own = {name: _PLENTY for need in needs for name in need.resources}
        self._ray.init(
            address="local",
            # One worker of each kind must fit, on however few cores.
            num_cpus=max(os.cpu_count() or 1, math.ceil(sum(need.cpus for need in needs))),
            resources={"jvm": _PLENTY, "browser": _PLENTY, **own},
            include_dashboard=False,
            **quiet,
        )

    def holds(self, needs: EnvNeeds) -> int:
        """Return how many workers the machines could hold if they held nothing else."""
        return sum(
            min(
                int(has.get(name, 0.0) / value + 1e-9)
                for name, value in needs.amounts.items()
                if value > 0
            )
            for has in self._machines()
        )

    async def start(self, needs: EnvNeeds, *, threads: int = 1) -> RayWorker:
        """Return a new worker, once it has begun.

        Args:
            needs: what the machine must have for it.
            threads: how many episodes may be acting in it at a time, at most `MOST_THREADS`.

        Raises:
            ClusterError: if no machine can hold it, or none has room before patience ends, or the
                actor cannot begin where it is placed.
        """
        error: Exception | None = None
        for _ in range(2):  # a machine may leave just now
            actor = (
                self._ray.remote(RayHost)
                .options(
                    num_cpus=needs.cpus,
                    memory=int(needs.amounts["memory"]),
                    resources=dict(needs.resources),
                    max_concurrency=threads,
                    max_restarts=0,
                    scheduling_strategy="SPREAD",
                )
                .remote()
            )
            try:
                await self._begun(actor, needs)
                return RayWorker(actor)
            except self._ray.exceptions.RayError as failed:
                error = failed
            except BaseException:
                with contextlib.suppress(Exception):
                    self._ray.kill(actor)
                raise
        raise ClusterError(
            "a worker could not begin on the Ray cluster. Install the same agentgym, with the "
            f"extras the environments need, on every machine. Ray says: {error}"
        ) from error

    async def _begun(self, actor: Any, needs: EnvNeeds) -> None:
        began = time.monotonic()
        ready = asyncio.ensure_future(_awaited(actor.ready.remote()))
        try:
            while not (await asyncio.wait({ready}, timeout=0.5))[0]:
                possible = any(needs.fits(machine) for machine in self._machines())
                patience = self._patience or (_BUSY_PATIENCE if possible else _MISSING_PATIENCE)
                if time.monotonic() - began >= patience:
                    raise ClusterError(self._busy(needs) if possible else self._lacks(needs))
            ready.result()
        finally:
            ready.cancel()

    def _machines(self) -> list[Mapping[str, float]]:
        return [node["Resources"] for node in self._ray.nodes() if node["Alive"]]

    def _lacks(self, needs: EnvNeeds) -> str:
        machines = self._machines()
        most = {name: max((m.get(name, 0.0) for m in machines), default=0.0)
                for name in needs.amounts}  # fmt: skip
        short = {name: value for name, value in needs.amounts.items() if most[name] < value}
        if short:
            said = "; ".join(
                f"{_amount(name, value)} is needed, and "
                + (f"the most one has is {_amount(name, most[name])}" if most[name] else "none has")
                for name, value in short.items()
            )
        else:
            wanted = ", ".join(_amount(name, value) for name, value in needs.amounts.items())
            said = f"{wanted} are needed on one machine, and each is only had by another"
        return (
            f"no machine of the Ray cluster can hold a worker of this run: {said}. Machines in "
            f"the cluster: {len(machines)}. {_remedy(needs, short)} "
            f"A cluster that grows on demand is waited for with {PATIENCE_VARIABLE}=600 (seconds)."
        )

    def _busy(self, needs: EnvNeeds) -> str:
        free = self._ray.available_resources()
        rows = ", ".join(
            f"{_amount(name, value)} needed and {_amount(name, free.get(name, 0.0))} free in all"
            for name, value in needs.amounts.items()
        )
        return (
            f"the Ray cluster could hold a worker of this run, but has had no room for it: {rows}. "
            "Wait for the other work on it to end, add a machine, or wait longer with "
            f"{PATIENCE_VARIABLE}=600 (seconds)."
        )


def _started_here() -> bool:
    """Return whether a cluster answers that `ray start` has begun or joined on this machine."""
    note = Path(os.environ.get("RAY_TMPDIR", "/tmp"), "ray", "ray_current_cluster")
    try:
        return _answers(note.read_text().strip())  # it may be that of one that was killed
    except OSError:
        return False


def _answers(address: str) -> bool:
    """Return whether anybody listens; Ray itself would keep trying for minutes."""
    host, _, port = address.removeprefix("ray://").partition("?")[0].rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=5).close()
    except (OSError, ValueError):
        return False
    return True


async def _awaited(reference: Any) -> None:
    await reference


def _amount(name: str, value: float) -> str:
    """Return an amount in words."""
    if name == "memory":
        return f"{value / 2**20:,.0f} MiB of memory"
    return f"{value:g} {name}"


def _remedy(needs: EnvNeeds, short: Mapping[str, float]) -> str:
    own = {name: value for name, value in needs.resources.items() if name in short or not short}
    if not own:
        return "Add a machine that has it with 'ray start --address=HOST:6379'."
    listed = ", ".join(f'"{name}": {max(math.ceil(value), 1) * 4}' for name, value in own.items())
    return (
        "A machine that has it says so when it joins, with the number it can take: "
        f"ray start --address=HOST:6379 --resources='{{{listed}}}' (--head for the first)."
    )


def _patience() -> float | None:
    text = os.environ.get(PATIENCE_VARIABLE)
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < math.inf:
        raise InvalidConfig(f"{PATIENCE_VARIABLE} is a number of seconds, got {text!r}")
    return seconds
