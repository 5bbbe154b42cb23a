"""Attributions on record: an answer is paid for once, and a run can be replayed from its answers.

One line an answer, appended as soon as it is there, so that a killed run loses none it has paid
for. An answer is found again by its content: the attributor's settings, the task, the actions, what
was seen, the score. Failures are recorded too: a replay meets them as they were, while a run with a
cache tries again.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Literal, get_args

from pydantic import ValidationError

from agentgym.baselines.attribution.base import Attribution, AttributionStopped, Attributor
from agentgym.core import TextEnv
from agentgym.core.errors import InvalidConfig
from agentgym.core.text import parse_json
from agentgym.rollout.episode import Episode
from agentgym.rollout.store import cut_torn_line

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
        self._ends: dict[str, int] = {}  # where in the file each answer ends
        self._record = self._read()
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
        known = self._record.get(key)
        lost = key in self._lost
        self._lost.discard(key)
        if known is not None and (known.status != "failed" or self.mode == "replay"):
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

    def state(self) -> dict[str, Any]:
        """Return how much is on record, beside the counts and the attributor's own."""
        size = self.path.stat().st_size if self.path.is_file() else 0
        counts = {"hits": self.hits, "misses": self.misses, "size": size}
        return {**counts, "attributor": self.attributor.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a `state`.

        What was recorded after it was asked, and paid for, by the part of the run that is done
        again. It is not asked again, but counts as though it were.
        """
        self.hits, self.misses = state["hits"], state["misses"]
        self._lost = {key for key, end in self._ends.items() if end > state["size"]}
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

    def _add(self, key: str, answer: Attribution) -> None:
        self._record[key] = answer
        entry = {"key": key, "attribution": answer.model_dump(mode="json")}
        line = memoryview(json.dumps(entry, ensure_ascii=True).encode() + b"\n")
        try:
            if self._log is None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                cut_torn_line(self.path)
                self._log = self.path.open("ab", buffering=0)
            while line:  # a disk that is filling up takes a part, then raises
                line = line[self._log.write(line) :]
        except OSError as error:
            raise AttributionStopped(
                f"an attribution cannot be added to {self.path}: {error}"
            ) from error

    def _read(self) -> dict[str, Attribution]:
        record: dict[str, Attribution] = {}
        if not self.path.is_file():
            return record
        # What follows the last line's end was torn by a crash while it was written.
        whole = self.path.read_bytes().split(b"\n")[:-1]
        end = 0
        for number, line in enumerate(whole, 1):
            end += len(line) + 1
            try:
                entry = parse_json(line)
                key, answer = entry["key"], Attribution.model_validate(entry["attribution"])
                if key not in record or record[key].status == "failed":
                    self._ends[key] = end
                record[key] = answer
            except (ValueError, KeyError, TypeError, ValidationError) as error:
                raise AttributionStopped(f"{self.path}, line {number} is no attribution") from error
        return record
