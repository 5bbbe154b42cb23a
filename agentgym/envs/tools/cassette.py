"""Live calls on tape: record them, and play an episode again from the tape alone.

A tape is a JSON-lines file. A call is known by its method, address, parameters and body, without
whatever proves who is asking: keys are sent with a request and never written down, and are struck
out of a response that repeats them. Where a service answers the same request differently after a
change (`stateful`), the episode and the number of times it was asked are part of the key.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Literal, get_args

from agentgym.core.errors import AgentGymError, InvalidConfig
from agentgym.core.text import parse_json

Mode = Literal["record", "replay", "cache"]


class CassetteMiss(AgentGymError):
    """A replayed episode asked for a live call that was not recorded."""


class CassetteError(AgentGymError):
    """A tape is missing, damaged, or cannot be written."""


class Cassette:
    """A tape of live calls.

    Args:
        path: the file.
        mode: "record" asks the service and adds to the tape; "cache" answers from the tape where it
            can and records the rest; "replay" answers from the tape alone.
        stateful: whether the same request may be answered differently later in an episode.

    Raises:
        InvalidConfig: if there is no such mode.
        CassetteError: if there is no tape to replay, or it cannot be read.
    """

    def __init__(
        self, path: str | os.PathLike[str], mode: Mode = "cache", stateful: bool = False
    ) -> None:
        if mode not in get_args(Mode):
            raise InvalidConfig(f"mode must be one of {', '.join(get_args(Mode))}, got {mode!r}")
        self.path, self.mode, self.stateful = Path(path), mode, stateful
        if mode == "replay" and not self.path.is_file():
            raise CassetteError(f'there is no recording at {self.path}; make one with "record"')
        self._tape = self._read() if mode != "record" else {}
        self._asked: Counter[str] = Counter()
        self._label = ""
        self._log: IO[bytes] | None = None

    def begin(self, label: str) -> None:
        """Begin an episode; `label` is its task's id."""
        self._label = label
        self._asked.clear()

    def answer(
        self, request: Mapping[str, Any], ask: Callable[[], Any], secrets: Sequence[str] = ()
    ) -> Any:
        """Return the response to a request, from the tape or from `ask`.

        Args:
            request: what identifies the call, JSON values without secrets.
            ask: asks the service.
            secrets: texts to strike out of the response before it is recorded.

        Raises:
            CassetteMiss: in mode "replay", if the call is not on the tape.
        """
        key = self._key(request)
        if self.mode != "record" and key in self._tape:
            return parse_json(self._tape[key])
        if self.mode == "replay":
            raise CassetteMiss(
                f"{request.get('method', 'call')} {request.get('url', '')} of "
                f"{self._label or 'this episode'} is not in {self.path}: the task, the actions or "
                'the environment have changed since it was recorded. Record it with "cache"'
            )
        text = json.dumps(ask(), ensure_ascii=True)
        for secret in secrets:
            text = text.replace(json.dumps(secret)[1:-1], "[secret]") if secret else text
        self._add(key, request, text)
        return parse_json(text)

    def close(self) -> None:
        """Close the file; the next recorded call opens it again."""
        if self._log is not None:
            self._log.close()
            self._log = None

    def _key(self, request: Mapping[str, Any]) -> str:
        told = json.dumps(request, sort_keys=True, ensure_ascii=True)
        if self.stateful:
            self._asked[told] += 1
            told = f"{self._label} {self._asked[told]} {told}"
        return hashlib.sha256(told.encode()).hexdigest()

    def _add(self, key: str, request: Mapping[str, Any], text: str) -> None:
        self._tape[key] = text
        line = json.dumps({"key": key, "request": request, "response": parse_json(text)})
        try:
            if self._log is None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._log = self.path.open("ab", buffering=0)
            self._log.write(line.encode() + b"\n")
        except OSError as error:
            raise CassetteError(f"{self.path} cannot be recorded to: {error}") from error

    def _read(self) -> dict[str, str]:
        if not self.path.is_file():
            return {}
        tape: dict[str, str] = {}
        # What follows the last line's end was torn by a crash while it was written.
        for number, line in enumerate(self.path.read_bytes().split(b"\n")[:-1], 1):
            try:
                entry = parse_json(line)
                tape[entry["key"]] = json.dumps(entry["response"])
            except (ValueError, KeyError, TypeError) as error:
                raise CassetteError(f"{self.path}, line {number} is no live call") from error
        return tape
