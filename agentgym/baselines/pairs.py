"""Pairs for DPO: of one task, an attempt that went well and one that did not.

A pair shares its prompt (instructions, acknowledgement and first observation): both attempts were
asked the same. Which attempts pair is settled by their scores alone; of equals, the winner with
fewer rounds and then the first attempt. (The published script kept the worst attempt on both sides
and demanded that two runs hold the same tasks; here any number of attempts of any runs will do.)
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pydantic import Field

from agentgym.baselines.config import Settings
from agentgym.rollout.episode import Episode


class PairConfig(Settings):
    """Which attempts pair.

    Attributes:
        gap: least difference of the two scores.
        winner: least score of the better one.
        per_task: most pairs of a task: the best attempt with the worst, the second with the second
            worst, and so on; no attempt is in two pairs.
    """

    gap: float = Field(0.1, gt=0, le=1)
    winner: float = Field(0.9, gt=0, le=1)
    per_task: int = Field(1, ge=1)


class Pair(NamedTuple):
    """Two attempts at one task.

    Attributes:
        chosen: the better one.
        rejected: the worse one.
    """

    chosen: Episode
    rejected: Episode


@dataclass
class PairReport:
    """What became of the attempts.

    Attributes:
        episodes: how many there were.
        failed: how many broke and pair with nothing.
        tasks: different tasks, told apart by their prompts too.
        pairs: how many pairs there are.
        single: tasks with one attempt.
        no_winner: tasks no attempt of which is good enough.
        no_gap: tasks whose attempts are too much alike.
        prompts: tasks that were met with more than one prompt; only attempts at the same one pair.
    """

    episodes: int = 0
    failed: int = 0
    tasks: int = 0
    pairs: int = 0
    single: int = 0
    no_winner: int = 0
    no_gap: int = 0
    prompts: int = 0

    def __str__(self) -> str:
        text = (
            f"{self.pairs} pairs of {self.tasks} tasks and {self.episodes} episodes; without a "
            f"pair: {self.single} tasks with one attempt, {self.no_winner} that nobody solved, "
            f"{self.no_gap} whose attempts are alike"
        )
        text += f"; {self.failed} episodes broke" if self.failed else ""
        return text + (f"; {self.prompts} tasks have several prompts" if self.prompts else "")


def choose_pairs(episodes: Sequence[Episode], config: PairConfig) -> tuple[list[Pair], PairReport]:
    """Return the pairs among some episodes, in order of their tasks' first appearance."""
    sound = [episode for episode in episodes if episode.status != "failed" and episode.steps]
    groups: dict[tuple[str, ...], list[Episode]] = {}
    for episode in sound:
        groups.setdefault((*_task(episode), *_prompt(episode)), []).append(episode)
    tasks = {_task(episode): None for episode in sound}
    report = PairReport(
        episodes=len(episodes),
        failed=len(episodes) - len(sound),
        tasks=len(groups),
        prompts=len(groups) - len(tasks),
    )
    pairs: list[Pair] = []
    for attempts in groups.values():
        found = pair_up(attempts, config)
        pairs += found
        if len(attempts) < 2:
            report.single += 1
        elif not any(episode.score >= config.winner for episode in attempts):
            report.no_winner += 1
        elif not found:
            report.no_gap += 1
    report.pairs = len(pairs)
    return pairs, report


def pair_up(attempts: Sequence[Episode], config: PairConfig) -> list[Pair]:
    """Return the pairs among attempts at one task with one prompt."""
    good = sorted(attempts, key=lambda e: (-e.score, e.rounds, e.attempt))
    bad = sorted(attempts, key=lambda e: (e.score, e.attempt))
    pairs: list[Pair] = []
    for chosen, rejected in zip(good, bad, strict=True):
        # Sums of floats such as 0.3 + 0.6 must not lose a pair at the border.
        wide = chosen.score - rejected.score >= config.gap - 1e-9
        if len(pairs) == config.per_task or chosen.score < config.winner or not wide:
            break
        pairs.append(Pair(chosen, rejected))
    return pairs


def _task(episode: Episode) -> tuple[str, ...]:
    options = json.dumps(episode.env_options, sort_keys=True)
    names = (episode.env_id, episode.edition, episode.tasks_digest, episode.task_id)
    return (*names, str(episode.max_rounds), options)


def _prompt(episode: Episode) -> tuple[str, str, str]:
    return episode.instructions, episode.acknowledgement, episode.observation
