"""An agent that plays again what was recorded.

It needs no model: a run folder, an episodes.jsonl file or episodes in memory hold every action, and
since an episode follows from task, seed and actions, playing them again gives the same episode.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from agentgym.agents.base import Agent
from agentgym.core import AgentGymError
from agentgym.core.errors import did_you_mean
from agentgym.core.text import parse_json
from agentgym.rollout.episode import Episode, Step
from agentgym.rollout.plan import derive_seed
from agentgym.rollout.store import CONFIG, RunFolder

Source = str | os.PathLike[str] | Episode | Iterable[Episode]


class NotRecorded(AgentGymError):
    """The record does not hold what is to be played."""


class ReplayAgent(Agent):
    """Plays the recorded actions of each task; where the record has none, the round is forfeited.

    Args:
        source: a run folder, a file of episodes (JSONL), an episode, or several.
        seed: the seed of the recorded run, which tells its attempts apart; a run folder holds it.

    Raises:
        NotRecorded: if there are no episodes in the source, or it cannot be read.
    """

    name = "replay"
    _steps: tuple[Step, ...] = ()

    def __init__(self, source: Source, seed: int | None = None) -> None:
        episodes, run_seed = read_episodes(source)
        if not episodes:
            raise NotRecorded(f"there are no episodes in {_label(source)}")
        self._label = _label(source)
        self._seed = run_seed if seed is None else seed
        self._records: dict[tuple[str, str], list[Episode]] = defaultdict(list)
        for episode in episodes:
            self._records[episode.edition, episode.task_id].append(episode)
        # Shared by the copies that play: attempts that cannot be told apart by their seed are
        # handed out in turn.
        self._turns: dict[tuple[str, str], int] = defaultdict(int)

    def start(self, env: Any, seed: int) -> ReplayAgent:
        """Return the copy that plays the recorded attempt of this task.

        Raises:
            NotRecorded: if the record does not hold the task, or is of other tasks.
        """
        player = super().start(env, seed)
        episode = self._find(env.edition, env.task.id, seed)
        if episode.tasks_digest and episode.tasks_digest != env.tasks.digest:
            raise NotRecorded(
                f"{self._label} was recorded with other tasks than the {env.edition} edition of "
                f"{env.name} has now, version {env.tasks.version}"
            )
        player._steps = episode.steps
        return player

    def act(self, observation: str, info: Mapping[str, Any]) -> Any:
        """Return the recorded (thought, action) of this round, or None to forfeit it.

        Raises:
            NotRecorded: past the end of the record.
        """
        index = self.env.rounds
        if index >= len(self._steps):
            raise NotRecorded(
                f"the record of {info['task_id']} ends after {len(self._steps)} rounds, but the "
                "episode goes on: it was cut short, or the environment has changed since"
            )
        step = self._steps[index]
        return None if step.action is None else (step.thought, step.action)

    def describe(self) -> dict[str, Any]:
        """Return the name and what is replayed."""
        return {**super().describe(), "source": self._label}

    def _find(self, edition: str, task_id: str, seed: int) -> Episode:
        found = self._records.get((edition, task_id), [])
        if not found:
            known = [task for recorded, task in self._records if recorded == edition]
            raise NotRecorded(
                f"{task_id} ({edition}) is not recorded in {self._label}. "
                f"{did_you_mean(task_id, known)}"
            )
        for episode in found:
            names = (self._seed, episode.env_id, edition, task_id)
            if derive_seed("agent", *names, episode.attempt) == seed:
                return episode
        turn = self._turns[edition, task_id]
        self._turns[edition, task_id] += 1
        return found[turn % len(found)]


def read_episodes(source: Source) -> tuple[list[Episode], int]:
    """Return the episodes of a source and the seed of their run, 0 where it is not known.

    Raises:
        NotRecorded: if the source is a path at which there are no episodes.
        RunFolderError: if it is a run folder that cannot be read.
    """
    if isinstance(source, Episode):
        return [source], 0
    if not isinstance(source, str | os.PathLike):
        return list(source), 0
    path = Path(source)
    if (path / CONFIG).is_file():
        run = RunFolder.open(path)
        return run.episodes(), int(run.config.get("seed") or 0)
    if not path.is_file():
        raise NotRecorded(f"there is no run folder and no file of episodes at {path}")
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".json":  # one episode, a list, or a dataset with its card
            data = parse_json(text)
            rows = data.get("episodes", [data]) if isinstance(data, dict) else data
            return [Episode.model_validate(row) for row in rows], 0
        return [Episode.model_validate_json(line) for line in text.split("\n") if line], 0
    except (ValueError, TypeError) as error:  # ValidationError and UnicodeDecodeError among them
        raise NotRecorded(f"{path} does not hold episodes: {error}") from error


def _label(source: Source) -> str:
    if isinstance(source, Episode):
        return f"the episode of {source.task_id}"
    return str(source) if isinstance(source, str | os.PathLike) else "the episodes given"
