"""A batch's credits: who is asked about, who is not, and what came of it.

What is skipped and what has ended is decided before anything is asked, so that it costs nothing.
The rules are AgentEvolver's (`semantic_attribution.py`), except that its code still pays for
answers after it has stopped using them.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from agentgym.baselines.adca_options import AdcaOptions
from agentgym.baselines.advantage import (
    EPS,
    SUCCESS,
    Floats,
    InvalidBatch,
    grpo_advantages,
)
from agentgym.baselines.attribution.ask import Answers, ask
from agentgym.baselines.attribution.base import Attribution, Attributor
from agentgym.baselines.attribution.report import AttributionReport
from agentgym.baselines.processes import Team
from agentgym.baselines.progress import Say, silent
from agentgym.core import TextEnv
from agentgym.rollout.episode import Episode


@dataclass(frozen=True, slots=True)
class AssignedCredit:
    """The attributions of a batch, in its order.

    Attributes:
        attributions: one an episode.
        report: their counts.
        seconds: how long asking took.
        environment_seconds: seconds of it spent in environments; of several processes, their mean.
    """

    attributions: tuple[Attribution, ...]
    report: AttributionReport
    seconds: float = 0.0
    environment_seconds: float = 0.0

    @property
    def credits(self) -> list[tuple[float, ...] | None]:
        """What `adca_advantages` takes: the credits of each episode, None where it has none."""
        return [one.credits for one in self.attributions]


def assign_credit(
    episodes: Sequence[Episode],
    groups: Sequence[Hashable],
    attributor: Attributor,
    options: AdcaOptions | None = None,
    global_step: int = 0,
    outcomes: Sequence[float] | None = None,
    env: TextEnv | None = None,
    team: Team | None = None,
    say: Say = silent,
) -> AssignedCredit:
    """Return the credits of a batch.

    From `prm_steps` on, and where alpha is 0, nothing is asked and no episode has credits. Episodes
    that `skip` leaves out are not asked about either: all their steps get the sign of their
    outcome, as published.

    Args:
        episodes: what was played; their order is free.
        groups: the group of each episode.
        attributor: who is asked.
        options: see `AdcaOptions`.
        global_step: the training step, from 1.
        outcomes: R of each episode, by which `skip` decides; default its score.
        env: an environment to play in, for attributors that play (see `Attributor.attribute`).
        team: the processes that all attribute this batch together; default this one alone.
        say: takes lines of progress.

    Raises:
        InvalidBatch: if there is not one group id and one outcome an episode.
        AttributionStopped: if the attributor gives up; what it had finished is in its cache.
    """
    options = options or AdcaOptions()
    known = _unasked(episodes, groups, options, global_step, outcomes)
    asked = [i for i in range(len(episodes)) if i not in known]
    answers = ask([episodes[i] for i in asked], attributor, env, team or Team(), say)
    return _assigned(known, asked, answers)


def _unasked(
    episodes: Sequence[Episode],
    groups: Sequence[Hashable],
    options: AdcaOptions,
    global_step: int,
    outcomes: Sequence[float] | None,
) -> dict[int, Attribution]:
    """Return the attributions of the episodes nobody is asked about, by index."""
    if len(groups) != len(episodes):
        raise InvalidBatch(f"there are {len(episodes)} episodes and {len(groups)} group ids")
    returns = [e.score for e in episodes] if outcomes is None else list(outcomes)
    advantages = grpo_advantages(groups, returns)
    if options.used(global_step):
        return _skip(episodes, returns, advantages, options)
    ended = not options.active(global_step)
    why = f"attribution ended at step {options.prm_steps}" if ended else "alpha is 0"
    return {i: _skipped(e, None, why) for i, e in enumerate(episodes)}


def _assigned(
    known: dict[int, Attribution], asked: Sequence[int], answers: Answers
) -> AssignedCredit:
    every = known | dict(zip(asked, answers.attributions, strict=True))
    attributions = tuple(every[i] for i in range(len(every)))
    report = AttributionReport.of(attributions)
    return AssignedCredit(attributions, report, answers.seconds, answers.environment_seconds)


def _skip(
    episodes: Sequence[Episode], returns: list[float], advantages: Floats, options: AdcaOptions
) -> dict[int, Attribution]:
    """Return the attributions of the episodes that are not worth asking about, by index."""
    skipped = {}
    for i, (episode, outcome) in enumerate(zip(episodes, returns, strict=True)):
        why = ""
        if not episode.steps:
            why = "no step was taken"
        elif options.skip == "skip_small_adv" and abs(advantages[i]) < EPS:
            why = "its outcome does not differ from its group's"
        elif options.skip == "skip_all_neg" and outcome <= 0.0:
            why = "its outcome is nothing"
        if why:
            sign = 1.0 if outcome > SUCCESS else -1.0
            skipped[i] = _skipped(episode, (sign,) * episode.rounds, why)
    return skipped


def _skipped(episode: Episode, credits: tuple[float, ...] | None, why: str) -> Attribution:
    return Attribution(
        episode=episode.key, method="skip", status="skipped", credits=credits, message=why
    )
