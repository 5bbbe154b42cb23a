"""Attributions on record: an answer is paid for once, and a run can be replayed from its answers.

One line an answer, appended as soon as it is there, so that a killed run loses none it has paid
for. An answer is found again by its content: the attributor's settings, the task, the actions, what
was seen, the score. Failures are recorded too: a replay meets them as they were, while a run with a
cache tries again.

Several processes, and several runs, may share a record: who adds to it holds a lock while writing a
line, and who misses an answer first reads what the others have added. Each writes its name into
its lines, so that a run that is taken up knows the answers that are its own.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal, get_args

try:
    import fcntl
except ImportError:  # not on Windows, where one process at a time may add to a record
    fcntl = None  # type: ignore[assignment]

from pydantic import ValidationError

from agentgym.baselines.attribution.base import Attribution, AttributionStopped, Attributor
from agentgym.core import TextEnv
from agentgym.core.errors import InvalidConfig
from agentgym.core.text import parse_json
from agentgym.rollout.episode import Episode

Mode = Literal["cache", "replay"]


class AttributionMiss(AttributionStopped):
    """A replay asked for an attribution that is not on record."""


class CachedAttributor(Attributor):
    """An attributor with a record of its answers.

    Args:
        attributor: who is asked; in mode "replay" it only says what it would be asked, so a model
            behind an endpoint needs no key (`api_key_env=""`).
        path: the record, a JSON-lines file.
        mode: "cache" repeats what is on record and adds the rest; "replay" repeats, and fails on
            the first answer that is not there.

    Raises:
        InvalidConfig: if there is no such mode.
        AttributionStopped: if there is no record to replay, or it cannot be read.
    """

    def __init__(
        self, attributor: Attributor, path: str | os.PathLike[str], mode: Mode = "cache"
    ) -> None:
        if mode not in get_args(Mode):
            raise InvalidConfig(f"mode must be one of {', '.join(get_args(Mode))}, got {mode!r}")
        self.attributor, self.path, self.mode = attributor, Path(path), mode
        self.name, self.concurrency = attributor.name, attributor.concurrency
        self.hits, self.misses = 0, 0
        if mode == "replay" and not self.path.is_file():
            raise AttributionStopped(
                f"there is no record of attributions at {self.path}; make one with mode 'cache'"
            )
        self.by = secrets.token_hex(6)
        self._record: dict[str, Attribution] = {}
        self._places: dict[tuple[str, str], int] = {}  # by whom and key: the how manieth of theirs
        self._added: Counter[str] = Counter()
        self._lines, self._end = 0, 0  # what has been read of the file
        self._catch_up()
        self._lost: set[str] = set()
        self._log: IO[bytes] | None = None
        self._under_way: dict[str, asyncio.Event] = {}

    async def attribute(self, episode: Episode, env: TextEnv | None = None) -> Attribution:
        """Return the answer on record, or the attributor's where the mode allows it.

        Raises:
            AttributionMiss: in mode "replay", if the answer is not on record.
        """
        key = self.attributor.key(episode)
        while key in self._under_way:  # of two equal episodes in a batch, one is asked about
            await self._under_way[key].wait()
        known = self._known(key)
        lost = key in self._lost
        self._lost.discard(key)
        if known is not None:
            if lost:
                self.misses += 1
                self.attributor.recount(known)
                return known.model_copy(update={"episode": episode.key})
            self.hits += 1
            return known.model_copy(update={"episode": episode.key, "cached": True})
        if self.mode == "replay":
            raise AttributionMiss(
                f"the attribution of {episode.key} is not in {self.path}: the attributor's "
                "settings, the task or what was played have changed since it was recorded"
            )
        self.misses += 1
        self._under_way[key] = asyncio.Event()
        try:
            answer = await self.attributor.attribute(episode, env)
            self._add(key, answer)
        finally:
            self._under_way.pop(key).set()
        return answer

    def describe(self) -> dict[str, Any]:
        """Describe the attributor: a record changes nothing about its answers."""
        return self.attributor.describe()

    def content(self, episode: Episode) -> dict[str, Any]:
        """Return what of an episode determines the answer."""
        return self.attributor.content(episode)

    @property
    def central(self) -> bool:  # type: ignore[override]
        """Whether the main process is to ask for all: a record does not change who may."""
        return self.attributor.central

    @property
    def environment_seconds(self) -> float:
        """Seconds the attributor spent in environments so far."""
        return self.attributor.environment_seconds

    def state(self) -> dict[str, Any]:
        """Return how much of the record is its own, beside the counts and the attributor's."""
        counts = {"hits": self.hits, "misses": self.misses}
        own = {"by": self.by, "added": self._added[self.by]}
        return {**counts, **own, "attributor": self.attributor.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a `state`.

        What was recorded after it was asked, and paid for, by the part of the run that is done
        again. It is not asked again, but counts as though it were.
        """
        self.hits, self.misses, self.by = state["hits"], state["misses"], state["by"]
        self._lost = {
            key
            for (by, key), number in self._places.items()
            if by == self.by and number > state["added"]
        }
        self.attributor.restore(state["attributor"])

    def recount(self, answer: Attribution) -> None:
        """Count an answer as though it were given now."""
        self.attributor.recount(answer)

    async def aclose(self) -> None:
        """Close what belongs to the running event loop."""
        await self.attributor.aclose()

    def close(self) -> None:
        """Close the record and the attributor."""
        if self._log is not None:
            self._log.close()
            self._log = None
        self.attributor.close()

    def _known(self, key: str) -> Attribution | None:
        """Return the answer on record that is to be repeated, if there is one."""
        for look in range(2):
            known = self._record.get(key)
            if known is not None and (known.status != "failed" or self.mode == "replay"):
                return known
            if not look:
                self._catch_up()
        return None

    def _add(self, key: str, answer: Attribution) -> None:
        entry = {"key": key, "by": self.by, "attribution": answer.model_dump(mode="json")}
        line = json.dumps(entry, ensure_ascii=True).encode() + b"\n"
        try:
            if self._log is None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._log = self.path.open("ab", buffering=0)
            with _locked(self._log) as log:
                self._catch_up()
                log.truncate(self._end)  # what is left was torn: nobody else is writing
                rest = memoryview(line)
                while rest:  # a disk that is filling up takes a part, then raises
                    rest = rest[log.write(rest) :]
        except OSError as error:
            raise AttributionStopped(
                f"an attribution cannot be added to {self.path}: {error}"
            ) from error
        self._catch_up()

    def _catch_up(self) -> None:
        """Read what has been added to the record, up to its last whole line."""
        if not self.path.is_file():
            return
        with self.path.open("rb") as file:
            file.seek(self._end)
            # What follows the last line's end is being written, or was torn by a crash.
            for line in file.read().split(b"\n")[:-1]:
                self._end += len(line) + 1
                self._lines += 1
                self._take(line)

    def _take(self, line: bytes) -> None:
        try:
            entry = parse_json(line)
            key, by = entry["key"], entry.get("by", "")
            answer = Attribution.model_validate(entry["attribution"])
            self._added[by] += 1
            known = self._record.get(key)
        except (ValueError, KeyError, TypeError, ValidationError) as error:
            raise AttributionStopped(
                f"{self.path}, line {self._lines} is no attribution"
            ) from error
        if known is None or known.status == "failed":  # no failure undoes an answer
            self._record[key] = answer
        if answer.status != "failed":
            self._places.setdefault((by, key), self._added[by])


@contextmanager
def _locked(file: IO[bytes]) -> Iterator[IO[bytes]]:
    """Hold a file for oneself, of all processes that ask for it this way."""
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield file
    finally:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_UN)
