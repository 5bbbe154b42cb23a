"""How a run is shown while it goes: a live table on a terminal, a line now and then elsewhere.

It listens to the rollout's events and only counts; drawing happens on a timer, so that a run of
thousands of episodes a second is not slowed by its display. All of it goes to standard error.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from agentgym.agents.message import Usage
from agentgym.core import short_name
from agentgym.rollout.episode import Episode
from agentgym.rollout.events import (
    CallRetried,
    EpisodeFinished,
    EpisodeStarted,
    Event,
    RunStarted,
    RunStopped,
    StepTaken,
)

PLAIN_SECONDS = 10.0
"""How often a line is printed where there is no terminal."""


@dataclass(slots=True)
class _Tally:
    """What one environment has come to so far."""

    total: int = 0
    episodes: int = 0
    successes: int = 0
    score: float = 0.0
    failed: int = 0
    steps: int = 0
    seconds: float = 0.0
    timed: int = 0
    running: dict[str, float] = field(default_factory=dict)

    def add(self, episode: Episode) -> None:
        self.episodes += 1
        self.successes += episode.success
        self.score += episode.score
        self.failed += episode.status == "failed"

    @property
    def success_text(self) -> str:
        return f"{100 * self.successes / self.episodes:.0f}%" if self.episodes else ""


class RunDisplay:
    """Shows a run; pass it as `on_event` and use it as a context manager.

    Args:
        console: where to show it.
        quiet: show nothing, because the agent has the terminal.
    """

    def __init__(self, console: Console, *, quiet: bool = False) -> None:
        self._console, self._quiet = console, quiet
        self._tallies: dict[str, _Tally] = {}
        self.total = self.resumed = self.finished = 0
        self._usage, self._retries, self._last_retry = Usage(), 0, ""
        self._start = self._last_line = time.monotonic()
        self._live: Live | None = None

    def __enter__(self) -> Self:
        if self._console.is_terminal and not self._quiet:
            self._live = Live(
                get_renderable=self._render,
                console=self._console,
                refresh_per_second=4,
                transient=True,
            )
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def __call__(self, event: Event) -> None:
        """Take note of an event."""
        if isinstance(event, RunStarted):
            self.total, self.resumed = event.total, len(event.recalled)
            self._tallies = {env_id: _Tally(count) for env_id, count in event.planned.items()}
            self._start = self._last_line = time.monotonic()
            for episode in event.recalled:
                self._tally(episode.env_id).add(episode)
            if event.recalled:
                self._say(f"{self.resumed} of {self.total} episodes were finished before")
        elif isinstance(event, EpisodeStarted):
            self._tally(event.job.env.env_id).running[event.job.key] = time.monotonic()
        elif isinstance(event, StepTaken):
            self._tally(event.job.env.env_id).steps += 1
            if event.step.usage is not None:
                self._usage = self._usage + event.step.usage
        elif isinstance(event, EpisodeFinished):
            self.finished += 1
            tally = self._tally(event.job.env.env_id)
            tally.running.pop(event.job.key, None)
            tally.add(event.episode)
            tally.seconds += event.episode.duration
            tally.timed += 1
        elif isinstance(event, CallRetried):
            self._retries, self._last_retry = self._retries + 1, event.message
        elif isinstance(event, RunStopped):
            self._say(f"Stopping: {event.reason}")
        if self._live is None and not self._quiet:
            self._line_now_and_then()

    def _tally(self, env_id: str) -> _Tally:
        return self._tallies.setdefault(env_id, _Tally())

    def _line_now_and_then(self) -> None:
        now = time.monotonic()
        if now - self._last_line >= PLAIN_SECONDS:
            self._last_line = now
            self._say(self._summary())

    def _say(self, line: str) -> None:
        self._console.print(line, markup=False, soft_wrap=True)

    def _summary(self) -> str:
        """Return the state of the run in one line."""
        seconds = time.monotonic() - self._start
        parts = [f"{self.resumed + self.finished}/{self.total} episodes"]
        successes = sum(t.successes for t in self._tallies.values())
        counted = sum(t.episodes for t in self._tallies.values())
        if counted:
            parts.append(f"success {100 * successes / counted:.0f}%")
        failed = sum(t.failed for t in self._tallies.values())
        if failed:
            parts.append(f"{failed} failed")
        steps = sum(t.steps for t in self._tallies.values())
        if steps and not self.finished:
            parts.append(f"{steps} rounds")
        if self._usage.output_tokens:
            spent = self._usage.input_tokens + self._usage.output_tokens
            rate = self._usage.output_tokens / max(seconds, 1e-9)
            parts.append(f"{_count(spent)} tokens, {rate:.0f} written/s")
        if self._usage.cost is not None:
            parts.append(f"${self._usage.cost:.2f}")
        parts.append(_duration(seconds))
        left = self._seconds_left(seconds)
        if left is not None:
            parts.append(f"about {_duration(left)} left")
        if self._retries:
            parts.append(f"{self._retries} calls retried ({self._last_retry[:60]})")
        return " · ".join(parts)

    def _seconds_left(self, elapsed: float) -> float | None:
        """Estimate what is left from what an episode of each environment has taken.

        None where an environment has not finished an episode yet: a fast one says nothing about
        how long a slow one will take.
        """
        ahead = behind = 0.0
        now = time.monotonic()
        for tally in self._tallies.values():
            remaining = tally.total - tally.episodes
            if remaining > 0 and not tally.timed:
                return None
            mean = tally.seconds / max(tally.timed, 1)
            # Those under way have done a part, but nobody knows that they are nearly done.
            begun = sum(min(now - start, 0.8 * mean) for start in [*tally.running.values()])
            behind += tally.seconds + begun
            ahead += remaining * mean - begun
        if not ahead or not behind or elapsed < 2:
            return None
        return elapsed * ahead / behind

    def _render(self) -> RenderableType:
        grid = Table.grid(padding=(0, 2))
        grid.add_column(no_wrap=True)
        grid.add_column(width=24)
        for _ in range(2):
            grid.add_column(justify="right", no_wrap=True)
        for env_id, tally in self._tallies.items():
            bar = ProgressBar(total=tally.total, completed=tally.episodes, width=24)
            grid.add_row(
                short_name(env_id), bar, f"{tally.episodes}/{tally.total}", tally.success_text
            )
        return Group(grid, Text(self._summary() if self.total else "Preparing …", style="dim"))


def _count(number: int) -> str:
    """Write a count briefly.

    >>> _count(12345), _count(12_345_678)
    ('12k', '12.3M')
    """
    if number >= 1_000_000:
        return f"{number / 1e6:.1f}M"
    return f"{number / 1e3:.0f}k" if number >= 10_000 else str(number)


def _duration(seconds: float) -> str:
    """Write a duration as people do.

    >>> _duration(5), _duration(75), _duration(7300)
    ('5 s', '1 min 15 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
