"""Asking an attributor about a batch, by one process or by several as one would.

All processes are handed the whole batch and get all its attributions. A judge is asked by the main
process alone (`Attributor.central`): its budgets, its calls at a time and its failures in a row are
then exactly what was set, on eight GPUs as on one, and no process is refused what another has left
of its part, as happens where a budget is divided. Nothing is lost by it, since a judge is waited
for. What attributors play is work, knows no budget, and is divided: of what is equal one process is
asked, since an answer is kept by its content. What stops one process stops all.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from agentgym.baselines.advantage import InvalidBatch
from agentgym.baselines.attribution.base import Attribution, AttributionStopped, Attributor
from agentgym.baselines.processes import Team
from agentgym.baselines.progress import Say, silent
from agentgym.core import TextEnv
from agentgym.rollout.engine import run_sync
from agentgym.rollout.episode import Episode


class Answers(NamedTuple):
    """What was said of a batch.

    Attributes:
        attributions: one an episode, in the batch's order.
        seconds: how long it took; of several processes, the one that took longest.
        environment_seconds: seconds of it spent in environments; of several, their mean.
    """

    attributions: list[Attribution]
    seconds: float = 0.0
    environment_seconds: float = 0.0


class _Part(NamedTuple):
    """What one process says of its part: its answers by index, or why there are none."""

    answers: dict[int, Attribution]
    seconds: float = 0.0
    environment_seconds: float = 0.0
    stopped: str = ""


async def ask_alone(
    episodes: Sequence[Episode], attributor: Attributor, env: TextEnv | None, say: Say = silent
) -> Answers:
    """Return what an attributor says of a batch, asked by this process.

    Raises:
        InvalidBatch: if it does not give a credit for every step.
        AttributionStopped: if it gives up.
    """
    began, played = time.perf_counter(), attributor.environment_seconds
    try:
        answers = await attributor.attribute_all(episodes, env, say)
    finally:
        await attributor.aclose()
    for episode, answer in zip(episodes, answers, strict=True):
        if answer.credits is not None and len(answer.credits) != episode.rounds:
            raise InvalidBatch(
                f"{attributor.name} gave {len(answer.credits)} credits for the {episode.rounds} "
                f"steps of {episode.key}"
            )
    seconds = time.perf_counter() - began
    return Answers(answers, seconds, attributor.environment_seconds - played)


def ask(
    episodes: Sequence[Episode],
    attributor: Attributor,
    env: TextEnv | None,
    team: Team,
    say: Say = silent,
) -> Answers:
    """Return what an attributor says of a batch, asked by a team.

    Args:
        episodes: the batch.
        attributor: who is asked.
        env: see `Attributor.attribute`.
        team: the processes that ask.
        say: takes lines of progress, which are about this process's part.

    Raises:
        InvalidBatch: if it does not give a credit for every step.
        AttributionStopped: if it gives up, in this process or in another.
    """
    if team.size == 1 or not episodes:
        return run_sync(ask_alone(episodes, attributor, env, say))
    mine = _mine(episodes, attributor, team)
    part, error = _Part({}), None
    try:
        if mine:
            said = run_sync(ask_alone([episodes[i] for i in mine], attributor, env, say))
            answers = dict(zip(mine, said.attributions, strict=True))
            part = _Part(answers, said.seconds, said.environment_seconds)
    except Exception as caught:  # the others must hear of it, or they wait for ever
        error, part = caught, _Part({}, stopped=f"{type(caught).__name__}: {caught}")
    parts: list[_Part] = team.share(part)
    if error is not None:
        raise error
    for rank, other in enumerate(parts):
        if other.stopped:
            raise AttributionStopped(f"attribution stopped in process {rank}: {other.stopped}")
    every: dict[int, Any] = {i: answer for other in parts for i, answer in other.answers.items()}
    return Answers(
        [every[i] for i in range(len(episodes))],
        max(other.seconds for other in parts),
        sum(other.environment_seconds for other in parts) / len(parts),
    )


def _mine(episodes: Sequence[Episode], attributor: Attributor, team: Team) -> list[int]:
    """Return which episodes this process asks about, by index."""
    if attributor.central:
        return list(range(len(episodes))) if team.rank == 0 else []
    order: dict[str, int] = {}
    places = [order.setdefault(attributor.key(episode), len(order)) for episode in episodes]
    return [i for i, place in enumerate(places) if place % team.size == team.rank]
