"""What a run says while it goes, and the curve it leaves.

One journal a run: a line now and then to whoever listens (the terminal by default), every point of
the curve in `curve.jsonl`, and the same points for TensorBoard. The file is the record that tables
and plots are made from; a run that is taken up from a checkpoint continues it from there.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from agentgym.core.extras import require
from agentgym.rollout.events import EpisodeFinished, Event, RunStarted, RunStopped, StepTaken
from agentgym.rollout.store import cut_torn_line, write_atomic

Say = Callable[[str], None]
"""Takes one line of progress."""

CURVE = "curve.jsonl"
EVERY, LATE, SELDOM = 10.0, 60.0, 600.0
"""Seconds between two lines about episodes: while some end, while none does, while nothing does."""
BEAT = 1.0
"""Seconds between two looks at whether it is time for a line."""


def to_stderr(line: str) -> None:
    """Show a line of progress at the terminal."""
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


def silent(line: str) -> None:
    """Show nothing."""


class Journal:
    """Keeps the curve of one run.

    Args:
        folder: the run's folder.
        say: takes the lines for people.
        tensorboard: whether to write for TensorBoard too.
        main: whether this process is the one that writes; the others keep silent.

    Raises:
        MissingExtra: if TensorBoard is asked for and not installed.
    """

    def __init__(
        self, folder: Path, say: Say = to_stderr, *, tensorboard: bool = True, main: bool = True
    ) -> None:
        self.path = folder / CURVE
        self.say: Say = say if main else silent
        self._main = main
        self._writer: Any = None
        if tensorboard:
            for module in ("tensorboard", "torch"):
                require(module, "A curve for TensorBoard (tensorboard: true)", "train")
        self._tensorboard = folder / "tensorboard" if tensorboard and main else None

    def begin(self, step: int) -> None:
        """Go on from a step: points after it are of a sitting that was cut short, and go."""
        if not self._main:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.exists():
            cut_torn_line(self.path)
            kept = [json.dumps(p) + "\n" for p in read_curve(self.path) if p["step"] <= step]
            write_atomic(self.path, "".join(kept))
        if self._tensorboard is not None:
            from torch.utils.tensorboard import SummaryWriter

            self._writer = SummaryWriter(str(self._tensorboard), purge_step=step + 1)

    def point(self, step: int, values: Mapping[str, Any], group: str = "train") -> None:
        """Add a point to the curve.

        Args:
            step: the optimiser step.
            values: what was measured; numbers that are not finite are kept as null.
            group: "train" or "eval".
        """
        if not self._main:
            return
        line = {"step": step, "group": group, **{k: _plain(v) for k, v in values.items()}}
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        if self._writer is not None:
            for name, value in values.items():
                if isinstance(value, int | float) and math.isfinite(value):
                    self._writer.add_scalar(f"{group}/{name}", value, step)
            self._writer.flush()

    def close(self) -> None:
        """Let go of the files; twice without harm."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None


def read_curve(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the points of a curve, in order; a torn last line is left out."""
    if not path.exists():
        return
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.endswith("\n"):
                yield json.loads(line)


class Pace:
    """Says how fast steps go and how long the rest will take."""

    def __init__(self) -> None:
        self._start, self._first = time.monotonic(), 0
        self._idle = 0.0

    def begin(self, step: int) -> None:
        """Start counting at a step."""
        self._start, self._first, self._idle = time.monotonic(), step, 0.0

    def pause(self, seconds: float) -> None:
        """Leave out time that went into something else."""
        self._idle += seconds

    def line(self, step: int, total: int, values: Mapping[str, Any]) -> str:
        """Return one line: the step, what was measured, the time."""
        seconds = time.monotonic() - self._start - self._idle
        done = max(step - self._first, 1)
        parts = [f"step {step}/{total}"]
        parts += [f"{k} {_short(v)}" for k, v in values.items() if isinstance(v, int | float)]
        parts.append(f"{seconds:.0f} s")
        if step < total:
            parts.append(f"about {seconds / done * (total - step):.0f} s left")
        return " · ".join(parts)


class Lines(ABC):
    """Says a line now and then while something long goes on, also before its first part is done.

    A line comes `EVERY` seconds at first and while parts get done, and ever more seldom while
    nothing does.

    Args:
        say: takes the lines.
    """

    _seldom = SELDOM
    """Most seconds between two lines where nothing that is counted goes on."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._total = self._done = self._told = 0
        self._began = self._last = time.monotonic()
        self._wait = EVERY
        self._said: tuple[int, ...] = ()
        self._beat: asyncio.Task[None] | None = None

    @abstractmethod
    def _counts(self) -> tuple[int, ...]:
        """Return what there is to count so far; while it stays the same, nothing goes on."""

    @abstractmethod
    def _parts(self, seconds: float) -> list[str]:
        """Return the parts of a line, after so many seconds; empty ones are left out."""

    def start(self, total: int, done: int = 0) -> None:
        """Begin: so much is to be done, and so much is done already."""
        self._total, self._done, self._told = total, done, done
        self._began = self._last = time.monotonic()
        self._said = self._counts()
        with contextlib.suppress(RuntimeError):  # where no loop is running
            self._beat = asyncio.get_running_loop().create_task(self._keep_time())

    def end(self) -> None:
        """Say no more; twice without harm."""
        if self._beat is not None:
            self._beat.cancel()
            self._beat = None

    def tick(self, now: float) -> None:
        """Say a line if it is time for one.

        Args:
            now: seconds, of the monotonic clock.
        """
        if now - self._last < (EVERY if self._done > self._told else self._wait):
            return
        seconds = now - self._began
        parts = [*self._parts(seconds), f"{seconds:.0f} s"]
        self._say(" · ".join(part for part in parts if part))
        counts = self._counts()
        # Each wait without a part is longer; the longest is one with nothing at all to say.
        longest = self._seldom if counts == self._said else LATE
        self._wait = EVERY if self._done > self._told else min(1.5 * self._wait, longest)
        self._last, self._told, self._said = now, self._done, counts

    async def _keep_time(self) -> None:
        while True:
            await asyncio.sleep(BEAT)
            self.tick(time.monotonic())


class EpisodeLines(Lines):
    """Listens to a rollout and says how far it is.

    A slow model may write for minutes until a reply is done, so the line counts what there is: the
    episodes, the rounds, the tokens as they are written.

    Args:
        say: takes the lines.
        what: what is played for ("exploring").
        agent: who plays; where it counts tokens as it writes them (`written`), so do the lines.
        unit: what is counted.
    """

    def __init__(
        self, say: Say, what: str, agent: object = None, *, unit: str = "episodes"
    ) -> None:
        super().__init__(say)
        self._what, self._agent, self._unit = what, agent, unit
        self._solved = self._rounds = self._replied = self._before = 0

    def __call__(self, event: Event) -> None:
        """Take note of an event."""
        if isinstance(event, RunStarted):
            self._solved = sum(episode.success for episode in event.recalled)
            self._before = getattr(self._agent, "written", 0)
            self.start(event.total, len(event.recalled))
        elif isinstance(event, StepTaken):
            self._rounds += 1
            self._replied += event.step.usage.output_tokens if event.step.usage else 0
        elif isinstance(event, EpisodeFinished):
            self._done += 1
            self._solved += event.episode.success
            self.tick(time.monotonic())
        if isinstance(event, RunStopped) or self._done == self._total:
            self.end()

    def _counts(self) -> tuple[int, ...]:
        return self._done, self._rounds, self._tokens()

    def _tokens(self) -> int:
        """Return the tokens written so far; of an agent that does not count, those of replies."""
        return max(int(getattr(self._agent, "written", 0)) - self._before, self._replied)

    def _parts(self, seconds: float) -> list[str]:
        tokens = self._tokens()
        return [
            f"{self._what}: {self._done}/{self._total} {self._unit}",
            f"{100 * self._solved / self._done:.0f}% solved" if self._done else "",
            f"{self._rounds:,} rounds" if self._rounds else "",
            f"{tokens:,} tokens, {tokens / max(seconds, 1e-9):.0f} a second" if tokens else "",
        ]


def _short(value: float) -> str:
    if isinstance(value, int) or value == int(value):
        return str(int(value))
    return f"{value:.2e}" if abs(value) < 1e-3 else f"{value:.4g}"


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
