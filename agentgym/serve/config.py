"""How a server is started: its settings, and where and how it listens.

A file and the command line say the same things by the same names; what the command line says holds.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

from agentgym.core import registry
from agentgym.core.errors import InvalidConfig, UnknownName
from agentgym.core.yamltext import read_yaml, settings_of
from agentgym.serve.limits import is_loopback
from agentgym.serve.settings import ServeSettings
from agentgym.serve.units import duration, size

PORT = 8765
MAKE_TOKEN = "export AGENTGYM_TOKEN=$(agentgym serve --make-token)"
"""The command that makes a token."""

LEVELS = ("debug", "info", "warning", "error")


@dataclass(frozen=True)
class ServerConfig:
    """A server to be started.

    Attributes:
        settings: of the sessions.
        host: the address to listen on.
        port: 0 takes a free one.
        hosts: names it goes by besides those of the loopback.
        origins: of the pages in browsers that may use it.
        preload: environments that have a worker before the first request.
        log_format: how a line of the log looks.
        log_level: the least that is logged.
        grace: seconds that calls under way have to finish when it stops.
    """

    settings: ServeSettings
    host: str = "127.0.0.1"
    port: int = PORT
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    preload: tuple[str, ...] = ()
    log_format: Literal["json", "text"] = "text"
    log_level: str = "info"
    grace: float = 30.0

    def __post_init__(self) -> None:
        if not 0 <= self.port < 2**16:
            raise InvalidConfig(f"port must be from 0 to 65535, got {self.port}")
        if self.log_format not in ("json", "text"):
            raise InvalidConfig(f"log_format must be json or text, got {self.log_format!r}")
        if self.log_level not in LEVELS:
            raise InvalidConfig(f"log_level must be one of {', '.join(LEVELS)}")
        if self.settings.token is None and not is_loopback(self.host):
            raise InvalidConfig(
                f"on {self.host} others can reach this server, so it wants a token. Make one with: "
                f"{MAKE_TOKEN}"
            )

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Return the configuration that names and values describe.

        Args:
            values: settings of `ServeSettings` and attributes of this class by name, and
                "token_file"; sizes and times may be text with a unit.

        Raises:
            UnknownName: if there is no such setting.
            InvalidConfig: if one has a value that cannot be used.
        """
        known = {**_SETTINGS, **_SERVER, "token_file": _path}
        read: dict[str, Any] = {}
        for name, value in values.items():
            if name not in known:
                raise UnknownName("setting", name, known)
            read[name] = known[name](name, value)
        file = read.pop("token_file", None)
        if file is not None and read.get("token") is None:
            read["token"] = _token(file)
        settings = ServeSettings(**{n: v for n, v in read.items() if n in _SETTINGS})
        return cls(settings, **{n: v for n, v in read.items() if n in _SERVER})


def read_config(path: Path) -> dict[str, Any]:
    """Return what a YAML file says.

    Raises:
        InvalidConfig: if it cannot be read as plain data, or is no mapping.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidConfig(f"the configuration {path} cannot be read: {error}") from error
    return settings_of(read_yaml(text, str(path), extra="serve"), str(path))


def _whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidConfig(f"{name} must be a whole number, got {value!r}")
    return value


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise InvalidConfig(f"{name} must be true or false, got {value!r}")
    return value


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise InvalidConfig(f"{name} must be text, got {value!r}")
    return value


def _names(name: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
        raise InvalidConfig(f"{name} must be a list of names, got {value!r}")
    return tuple(value)


def _environments(name: str, value: Any) -> tuple[str, ...]:
    """Return names of environments; one that does not exist is refused before anything starts."""
    names = _names(name, value)
    for one in names:
        registry.resolve_id(one)
    return names


def _defaults(name: str, value: Any) -> dict[str, dict[str, Any]]:
    if not isinstance(value, dict) or not all(isinstance(one, dict) for one in value.values()):
        raise InvalidConfig(f"{name} must be options by environment, got {value!r}")
    return {registry.resolve_id(env): dict(options) for env, options in value.items()}


def _path(name: str, value: Any) -> Path:
    return Path(os.path.expanduser(value if isinstance(value, Path) else _text(name, value)))


def _token(file: Path) -> str:
    try:
        token = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidConfig(f"the token file {file} cannot be read: {error}") from error
    if not token:
        raise InvalidConfig(f"the token file {file} is empty")
    return token


_Read = Callable[[str, Any], Any]
_SETTINGS: dict[str, _Read] = {
    "max_sessions": _whole,
    "max_memory": size,
    "session_ttl": duration,
    "max_workers": _whole,
    "sessions_per_worker": _whole,
    "worker_ttl": duration,
    "call_timeout": duration,
    "create_timeout": duration,
    "resurrect": _flag,
    "experts": _flag,
    "options": _names,
    "defaults": _defaults,
    "environments": _environments,
    "max_body": size,
    "max_batch": _whole,
    "token": _text,
}
_SERVER: dict[str, _Read] = {
    "host": _text,
    "port": _whole,
    "hosts": _names,
    "origins": _names,
    "preload": _environments,
    "log_format": _text,
    "log_level": _text,
    "grace": duration,
}
