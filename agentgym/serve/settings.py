"""What can be set of a server; every limit has a default that suits one machine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from agentgym.core.errors import InvalidConfig

OPTIONS = (
    "edition", "split", "max_rounds", "render_mode",
    "words", "actions_in_observation",  # ALFWorld
    "evidence", "schema", "comparison",  # BIRD
    "size", "style",  # MAZE
    "list_actions", "hints",  # SciWorld
    "observation_mode", "show_actions", "show_attributes",  # WebShop
    "letters",  # Wordle
)  # fmt: skip
"""Options a client may set. Paths, keys and what runs a process are the operator's to choose."""


@dataclass(frozen=True)
class ServeSettings:
    """The settings of a server.

    Attributes:
        max_sessions: sessions open at a time; more are refused.
        max_memory: bytes all worker processes may have resident, their children included; while
            they have more, new sessions are refused. 0 sets no limit.
        session_ttl: seconds a session may lie idle before it is closed.
        max_workers: worker processes of one environment.
        sessions_per_worker: sessions a worker has before another is started.
        worker_ttl: seconds a worker without sessions is kept.
        call_timeout: seconds an environment may take for a step or a reset.
        create_timeout: seconds it may take to make one, imports included.
        resurrect: whether the sessions of a worker that died are played again in another.
        experts: whether clients may ask the expert for a move.
        options: further environment options clients may set (see `OPTIONS`).
        defaults: options by environment id that hold where the client sets none.
        environments: names of those that are served ("WebShop", "my_package:MyEnv-v0"); empty for
            all of the suite that are installed.
        max_body: bytes of a request's body.
        max_batch: sessions in one batched step.
        token: what clients must show, or None.
    """

    max_sessions: int = 4096
    max_memory: int = 0
    session_ttl: float = 3600.0
    max_workers: int = field(default_factory=lambda: max(1, min(8, os.cpu_count() or 1)))
    sessions_per_worker: int = 256
    worker_ttl: float = 300.0
    call_timeout: float = 120.0
    create_timeout: float = 300.0
    resurrect: bool = False
    experts: bool = True
    options: tuple[str, ...] = ()
    defaults: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    environments: tuple[str, ...] = ()
    max_body: int = 4 * 2**20
    max_batch: int = 1024
    token: str | None = None

    def __post_init__(self) -> None:
        at_least_one = ("max_sessions", "max_workers", "sessions_per_worker", "max_batch")
        for name in (*at_least_one, "max_body"):
            if getattr(self, name) < 1:
                raise InvalidConfig(f"{name} must be at least 1, got {getattr(self, name)}")
        for name in ("session_ttl", "worker_ttl", "call_timeout", "create_timeout"):
            if not getattr(self, name) > 0:
                raise InvalidConfig(f"{name} must be more than 0 s, got {getattr(self, name)}")
        if self.max_memory < 0:
            raise InvalidConfig(f"max_memory is a number of bytes, got {self.max_memory}")
        if self.token is not None and not (self.token.isascii() and self.token.isprintable()):
            raise InvalidConfig("a token has printable ASCII characters only")
        if self.token is not None and len(self.token) < 8:
            raise InvalidConfig(
                "a token has at least 8 characters; `agentgym serve --make-token` makes one"
            )

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of all settings."""
        return tuple(f.name for f in fields(cls))
