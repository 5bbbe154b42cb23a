"""What a server says of an environment, asked for once a process and kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentgym.core import CallCommand, Command, Edition, Param, Task, TaskSet
from agentgym.serve.client.errors import NotAServer
from agentgym.serve.client.service import Service


class RemoteTaskSet(TaskSet):
    """The tasks of an environment elsewhere: the same ids and digest, without their specs.

    Args:
        name: prefix of the task ids.
        edition: their edition.
        told: what the server answers: "version", "digest", "tasks" and, where it does, "note".

    Raises:
        ValueError, KeyError, TypeError: if that is no task set.
    """

    def __init__(self, name: str, edition: str, told: Mapping[str, Any]) -> None:
        tasks = (Task(t["id"], t["index"], t["split"], t["kind"]) for t in told["tasks"])
        super().__init__(name, edition, told["version"], tasks, told.get("note") or "")
        # It covers the specs, which stay where they are: some hold the answer.
        self.__dict__["digest"] = told["digest"]


@dataclass(frozen=True)
class About:
    """An environment as it is made with some options.

    Attributes:
        name: prefix of the task ids.
        title: the name people use.
        editions: its editions.
        edition: the edition it is made with.
        instructions: the rules and the grammar.
        commands: the action grammar.
        max_action_length: longer actions are refused unread.
        multiline_actions: whether an action may have several lines.
        render_modes: the modes it can be rendered in.
        digest: digest of its task set.
    """

    name: str
    title: str
    editions: Mapping[str, Edition]
    edition: str
    instructions: str
    commands: tuple[Command, ...]
    max_action_length: int
    multiline_actions: bool
    render_modes: tuple[str, ...]
    digest: str

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> About:
        """Read what a server says.

        Raises:
            ValueError, KeyError, TypeError: if it says something else.
        """
        for field, kind in _KINDS.items():
            if not isinstance(told[field], kind):
                raise TypeError(f"{field} is a {type(told[field]).__name__}")
        return cls(
            name=told["name"],
            title=told["title"],
            editions={name: Edition(**edition) for name, edition in told["editions"].items()},
            edition=told["edition"],
            instructions=told["instructions"],
            commands=tuple(command_of(command) for command in told["commands"]),
            max_action_length=told["max_action_length"],
            multiline_actions=told["multiline_actions"],
            render_modes=tuple(told["render_modes"]),
            digest=told["tasks_digest"],
        )


_KINDS: dict[str, type] = {
    "name": str,
    "title": str,
    "editions": dict,
    "edition": str,
    "instructions": str,
    "commands": list,
    "max_action_length": int,
    "multiline_actions": bool,
    "render_modes": list,
    "tasks_digest": str,
}


def command_of(told: Mapping[str, Any]) -> Command:
    """Return a command equal to the one on the server."""
    values = {key: value for key, value in told.items() if key not in ("kind", "usage", "params")}
    if told["kind"] == "call":
        return CallCommand(**values)
    params = (Param(**{**p, "choices": tuple(p["choices"])}) for p in told["params"])
    return Command(**values, params=tuple(params))


class Catalogue:
    """What there is to know of one environment of a server.

    Args:
        service: the server.
        env_id: the environment.
    """

    def __init__(self, service: Service, env_id: str) -> None:
        self._service, self._env_id = service, env_id
        self._about: dict[str, About] = {}
        self._tasks: dict[tuple[str, str], RemoteTaskSet] = {}

    def about(self, options: Mapping[str, Any]) -> About:
        """Return what is said of it as made with some options."""
        key = _key(options)
        if key not in self._about:
            told = self._service.about(self._env_id, options)
            with _Reading(self._service):
                self._about[key] = about = About.of(told)
            if not options:  # these options are no others than none
                self._about[_key({"edition": about.edition})] = about
        return self._about[key]

    def tasks(self, options: Mapping[str, Any], digest: str) -> RemoteTaskSet:
        """Return its tasks as made with some options.

        Args:
            options: the options.
            digest: of the tasks; a list of others, from before a server was renewed, is not used.
        """
        key = _key(options), digest
        if key not in self._tasks:
            about = self.about(options)
            self._tasks[key] = self.load(about.name, about.edition, options)
            if about.digest != digest:  # what was said is from before the server was renewed
                self.forget()
        return self._tasks[key]

    def load(self, name: str, edition: str, options: Mapping[str, Any]) -> RemoteTaskSet:
        """List its tasks anew."""
        told = self._service.tasks(self._env_id, options)
        with _Reading(self._service):
            return RemoteTaskSet(name, edition, told)

    def forget(self) -> None:
        """Forget what was said: the server has been renewed."""
        self._about.clear()


class _Reading:
    """Turns what cannot be read of an answer into an error that says so."""

    def __init__(self, service: Service) -> None:
        self._url = service.address.url

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ValueError | KeyError | TypeError | AttributeError):
            raise NotAServer(
                f"the agentgym server at {self._url} is of another version: {error!r}"
            ) from error


def _key(options: Mapping[str, Any]) -> str:
    return json.dumps(dict(options), sort_keys=True, default=repr)
