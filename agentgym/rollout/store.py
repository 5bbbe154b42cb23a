"""The run folder: results stream in as they finish and survive `kill -9`.

`episodes.jsonl` is only ever appended to, one whole line an episode, flushed at once, so a killed
process loses no finished episode; a line torn by a crash is cut off when the run goes on. Other
files are written beside their name and renamed, so they are whole or absent. One process writes at
a time: the lock is the operating system's and dies with its owner.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from pydantic import ValidationError

from agentgym.core import AgentGymError
from agentgym.core.errors import InvalidConfig
from agentgym.core.text import numeral, parse_json
from agentgym.rollout.episode import Episode

try:
    import fcntl
except ImportError:  # Windows has no flock; two writers are then the user's to avoid
    fcntl = None  # type: ignore[assignment]

CONFIG, EPISODES, CALLS, LOCK = "config.json", "episodes.jsonl", "calls.jsonl", ".lock"

# May differ between two sittings of one run: they do not decide what an episode is.
EARLIER = "earlier_versions"
_FREE_KEYS = frozenset({"versions", "created_with", "execution", EARLIER})


class RunFolderError(AgentGymError):
    """A run folder is missing, damaged, in use, or of another run."""


class RunFolder:
    """The record of one run. Use `create` or `open`, then as a context manager or `close`."""

    def __init__(self, path: Path, config: Mapping[str, Any]) -> None:
        self.path, self.config = path, dict(config)
        self._lock: IO[str] | None = None
        self._log: IO[bytes] | None = None

    @classmethod
    def create(cls, path: str | os.PathLike[str], config: Mapping[str, Any]) -> RunFolder:
        """Make a run folder, or take up the run of the same configuration that is there.

        Raises:
            InvalidConfig: if the folder holds a run of another configuration.
            RunFolderError: if the path is a file, or another process is writing there.
        """
        folder = Path(path)
        if folder.exists() and not folder.is_dir():
            raise RunFolderError(f"{folder} is a file; name a folder for the run")
        folder.mkdir(parents=True, exist_ok=True)
        plain = json.loads(json.dumps(dict(config)))
        run = cls(folder, plain)
        run._acquire()
        try:
            if (folder / CONFIG).exists():
                old = _read_config(folder)
                _require_same(plain, old, folder)
                if earlier := _earlier_versions(plain, old):
                    run.config[EARLIER] = plain[EARLIER] = earlier
            elif (folder / EPISODES).exists():
                raise RunFolderError(f"{folder} holds {EPISODES} but no {CONFIG}; name another")
            run.write(CONFIG, json.dumps(plain, indent=2, ensure_ascii=False) + "\n")
        except BaseException:
            run.close()
            raise
        return run

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> RunFolder:
        """Open a run folder to read it.

        Raises:
            RunFolderError: if there is no run, or its configuration cannot be read.
        """
        folder = Path(path)
        if not (folder / CONFIG).is_file():
            raise RunFolderError(f"{folder} is no run folder: it has no {CONFIG}")
        return cls(folder, _read_config(folder))

    def append(self, episode: Episode) -> None:
        """Add a finished episode; when this returns, killing the process does not lose it."""
        if self._log is None:
            self._acquire()
            cut_torn_line(self.path / EPISODES)
            self._log = (self.path / EPISODES).open("ab", buffering=0)
        line = memoryview(episode.model_dump_json().encode() + b"\n")
        while line:  # a disk that is filling up takes a part, then raises
            line = line[self._log.write(line) :]

    def episodes(self) -> list[Episode]:
        """Return the latest record of every attempt, ordered by environment, task and attempt.

        Raises:
            RunFolderError: if a line other than a torn last one cannot be read.
        """
        latest = {episode.key: episode for episode in self._lines()}
        return sorted(latest.values(), key=_order)

    def finished(self) -> set[str]:
        """Return the keys of the attempts that need not be played again (all but failed ones)."""
        return {episode.key for episode in self.episodes() if episode.status != "failed"}

    def write(self, name: str, text: str) -> Path:
        """Write a file of the folder, whole or not at all."""
        return write_atomic(self.path / name, text)

    def close(self) -> None:
        """Put everything on disk and let others write; twice without harm."""
        if self._log is not None:
            os.fsync(self._log.fileno())
            self._log.close()
            self._log = None
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _acquire(self) -> None:
        if self._lock is not None:
            return
        lock = (self.path / LOCK).open("a")
        if fcntl is not None:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                lock.close()
                raise RunFolderError(
                    f"another process is writing to {self.path}; wait for it or name another folder"
                ) from error
        self._lock = lock

    def _lines(self) -> Iterator[Episode]:
        path = self.path / EPISODES
        if not path.exists():
            return
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    return  # torn by a crash: that episode had not finished
                try:
                    yield Episode.model_validate_json(line)
                except ValidationError as error:
                    first = error.errors()[0]
                    raise RunFolderError(
                        f"{path}, line {number} is no episode of this version: "
                        f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
                    ) from error


@contextlib.contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Give a temporary path beside `path`, which replaces it when the block ends without error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.chmod(0o644)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def write_atomic(path: Path, text: str) -> Path:
    """Write a text file through a temporary one beside it, so that it is whole or absent."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path


def _read_config(folder: Path) -> dict[str, Any]:
    try:
        config = parse_json((folder / CONFIG).read_text(encoding="utf-8"))
    except ValueError as error:
        raise RunFolderError(f"{folder / CONFIG} cannot be read as JSON: {error}") from error
    if not isinstance(config, dict):
        raise RunFolderError(f"{folder / CONFIG} does not hold a configuration")
    return config


def _require_same(new: Mapping[str, Any], old: Mapping[str, Any], folder: Path) -> None:
    keys = [k for k in {**old, **new} if k not in _FREE_KEYS and old.get(k) != new.get(k)]
    if keys:
        raise InvalidConfig(
            f"{folder} holds a run with another {keys[0]!r}: {_brief(old.get(keys[0]))}, now "
            f"{_brief(new.get(keys[0]))}. Name another folder, or repeat that run's options."
        )


def _earlier_versions(new: Mapping[str, Any], old: Mapping[str, Any]) -> list[Any]:
    """Return the package versions of earlier sittings that differ from this one's."""
    earlier = [*old.get(EARLIER, ()), old.get("versions")]
    return [v for i, v in enumerate(earlier) if v not in (None, new.get("versions"), *earlier[:i])]


def _brief(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else text[:119] + "…"


def cut_torn_line(path: Path) -> None:
    """Take a last line without its end off a file that is appended to, if it has one."""
    if not path.exists():
        return
    with path.open("rb+") as file:
        data = file.read()
        end = data.rfind(b"\n") + 1
        if end < len(data):
            file.truncate(end)


def _order(episode: Episode) -> tuple[str, str, int, str, int]:
    number = episode.task_id.rpartition("_")[2]
    index = numeral(number) or 0
    return episode.env_id, episode.edition, index, episode.task_id, episode.attempt
