"""What must be done again to bring a new process to where a lost one was.

An episode follows from its task, its seed and its actions, so a journal keeps the beginning of the
present episode and what happened since, never a copy of an engine. It forgets everything before the
beginning, which bounds it by the length of an episode.
"""

from __future__ import annotations

from typing import Any

from agentgym.core.vector.host import Answer, Command, Moment

_ONLY_LOOKS = frozenset(
    {"render", "expert", "fork", "get_state", "get_wrapper_attr", "has_wrapper_attr"}
)


class Journal:
    """The commands that lead to one environment's present moment."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.observation: str | None = None
        """The last observation; playing the journal again must lead to it."""
        self._attributes: dict[str, Any] = {}
        self._beginning: Command | None = None
        self._since: list[Command] = []

    def note(self, command: Command, answer: Answer) -> None:
        """Keep a command that was carried out, where it changed something."""
        if answer.error is not None:
            return
        moment = answer.value
        if isinstance(moment, Moment):
            self.observation = moment.observation
            if moment.mark is not None:
                self._begin_with(Command(self.index, "resume", (moment.mark,)))
            elif command.name == "set_state":
                self._begin_with(command)
            else:
                self._since.append(command)
        elif command.name == "set_attr" or (
            command.name == "call" and command.args[0] not in _ONLY_LOOKS
        ):
            self._since.append(command)

    def commands(self) -> list[Command]:
        """Return what leads to the present moment, in order."""
        attributes = [Command(self.index, "set_attr", item) for item in self._attributes.items()]
        beginning = [self._beginning] if self._beginning else []
        return [*attributes, *beginning, *self._since]

    def forget(self) -> None:
        """Forget the episode; attributes that were set are kept."""
        self._fold()
        self._beginning, self.observation = None, None

    def _begin_with(self, command: Command) -> None:
        self._fold()
        self._beginning = command

    def _fold(self) -> None:
        for command in self._since:
            if command.name == "set_attr":
                name, value = command.args
                self._attributes[name] = value
        self._since = []
