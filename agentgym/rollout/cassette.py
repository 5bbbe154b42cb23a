"""Model calls on tape: record them, reuse them, or replay a run from them alone.

A call is identified by everything that decides its reply: the model's own description, the
messages, the tools and the seed. In mode "replay" nothing but the tape answers, and the first call
that is not on it stops the run, so a replayed evaluation is the recorded one or an error, never a
mixture.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Literal, get_args

from pydantic import TypeAdapter, ValidationError

from agentgym.agents.base import ChatAgent
from agentgym.agents.message import Message, Reply, canonical, require_reply
from agentgym.core.errors import InvalidConfig
from agentgym.core.text import parse_json
from agentgym.rollout.limits import RunAborted
from agentgym.rollout.store import cut_torn_line

Mode = Literal["record", "replay", "cache"]

_REPLY: TypeAdapter[Reply] = TypeAdapter(Reply)


class CassetteMiss(RunAborted):
    """A replayed run asked for a model call that was not recorded."""


class CassetteError(RunAborted):
    """A tape is missing or damaged."""


class RecordedAgent(ChatAgent):
    """A model with a tape.

    Args:
        agent: the model; in mode "replay" it is only asked to describe itself.
        path: the tape, a JSON-lines file.
        mode: "record" calls the model and adds to the tape; "cache" answers from the tape where it
            can and records the rest; "replay" answers from the tape alone.

    Raises:
        CassetteError: if there is no tape to replay, or it cannot be read.
    """

    def __init__(self, agent: ChatAgent, path: str | os.PathLike[str], mode: Mode) -> None:
        if mode not in get_args(Mode):
            raise InvalidConfig(f"mode must be one of {', '.join(get_args(Mode))}, got {mode!r}")
        self.agent, self.path, self.mode = agent, Path(path), mode
        self.name, self.supports_tools = agent.name, agent.supports_tools
        self.hits, self.misses = 0, 0
        self._identity = canonical(agent.describe())
        if mode == "replay" and not self.path.is_file():
            raise CassetteError(f"there is no recording at {self.path}; make one with record")
        self._tape = self._read() if mode != "record" else {}
        self._log: IO[bytes] | None = None

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        episode: str = "",
        seed: int = 0,
    ) -> Reply:
        """Return the reply from the tape, or from the model where the mode allows it.

        Raises:
            CassetteMiss: in mode "replay", if the call is not on the tape.
        """
        key = self._key(messages, tools, seed)
        if key in self._tape:
            self.hits += 1
            return self._tape[key]
        if self.mode == "replay":
            raise CassetteMiss(
                f"call {self.hits + 1} (after {len(messages)} messages of {episode}) is not in "
                f"{self.path}: the model, its options, the tasks or the environment have changed "
                "since it was recorded"
            )
        self.misses += 1
        reply = await self.agent.complete(messages, tools=tools, episode=episode, seed=seed)
        require_reply(reply)  # or the tape could not be read again
        self._add(key, reply)
        return reply

    def release(self, episode: str) -> None:
        """Pass on that an episode has ended."""
        self.agent.release(episode)

    def describe(self) -> dict[str, Any]:
        """Describe the model: a tape changes nothing about its replies."""
        return self.agent.describe()

    def close(self) -> None:
        """Close the tape and the model."""
        self.close_tape()
        self.agent.close()

    def close_tape(self) -> None:
        """Close the tape; the model stays as it is."""
        if self._log is not None:
            self._log.close()
            self._log = None

    def _key(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], seed: int
    ) -> str:
        digest = hashlib.sha256(self._identity.encode())
        for message in messages:
            digest.update(canonical(message.to_openai()).encode() + b"\n")
        digest.update(canonical({"tools": list(tools), "seed": seed}).encode())
        return digest.hexdigest()

    def _add(self, key: str, reply: Reply) -> None:
        self._tape[key] = reply
        if self._log is None:
            self._log = self._open()
        line = json.dumps({"key": key, "reply": dataclasses.asdict(reply)}, ensure_ascii=True)
        try:
            self._log.write(line.encode() + b"\n")
        except OSError as error:
            raise CassetteError(f"a model call cannot be added to {self.path}: {error}") from error

    def _open(self) -> IO[bytes]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            cut_torn_line(self.path)
            return self.path.open("ab", buffering=0)
        except OSError as error:
            raise CassetteError(f"{self.path} cannot be recorded to: {error}") from error

    def _read(self) -> dict[str, Reply]:
        tape: dict[str, Reply] = {}
        if not self.path.is_file():
            return tape
        # What follows the last line's end was torn by a crash while it was written.
        whole = self.path.read_bytes().split(b"\n")[:-1]
        for number, line in enumerate(whole, 1):
            try:
                entry = parse_json(line)
                tape[entry["key"]] = _REPLY.validate_python(entry["reply"])
            except (ValueError, KeyError, TypeError, ValidationError) as error:
                raise CassetteError(f"{self.path}, line {number} is no model call") from error
        return tape
