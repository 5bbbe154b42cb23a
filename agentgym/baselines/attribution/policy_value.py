"""Attribution by value under the policy itself: how much better *it* stood after a step.

    credit_t = V(s_t+1) - V(s_t),    V(s) = mean final score of `rollouts` continuations from s

by the language model that is trained (VinePPO's estimate, arXiv 2410.01679, at the rounds of an
episode). All continuations of a batch are jobs of one rollout (`Job.moment`), so they share the
engine's batches: it is shown the conversation up to the moment as its past, and its environment is
set to the snapshot. Moments that are equal, such as the beginning of a group's episodes, are valued
once.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from agentgym.agents.base import ChatAgent
from agentgym.agents.message import Usage
from agentgym.baselines.attribution.base import (
    Attribution,
    Attributor,
    FailureKind,
    Spent,
)
from agentgym.baselines.attribution.world import State, Worlds, ended, moments
from agentgym.baselines.config import SamplingConfig
from agentgym.baselines.progress import EpisodeLines, Say, silent
from agentgym.core import Task, TextEnv
from agentgym.core.errors import InvalidConfig
from agentgym.core.options import whole
from agentgym.rollout.engine import arollout
from agentgym.rollout.episode import Episode
from agentgym.rollout.limits import Limits
from agentgym.rollout.plan import EnvChoice, Job, Moment, derive_seed


class _Known(NamedTuple):
    """An episode brought back to life: its task, and where it stood before each step and after."""

    task: Task
    states: list[State]


class PolicyValueAttributor(Attributor):
    """Credits a step with the value it added under a language model: V is that model's own.

    An episode of K steps costs up to K times `rollouts` continuations, each of as many replies as
    are left to play, up to `horizon`: as a rule several times what playing it cost. The beginning
    is valued once for all episodes of a group, the end is the score. Continuations of every moment
    draw the same random numbers. A model is shown its past replies as text, as a conversation is
    written anew, and not as the tokens it sampled.

    Args:
        agent: the model; None where `meet` is to say who.
        sampling: concurrency, executor and action format.
        rollouts: continuations of each moment.
        horizon: most rounds of a continuation; None plays to the episode's end.
        seed: for what is sampled.
        failures: continuations that may fail in a row before the run stops.

    Raises:
        InvalidConfig: if a number is out of range.
    """

    name = "monte_carlo"

    def __init__(
        self,
        agent: ChatAgent | None = None,
        sampling: SamplingConfig | None = None,
        *,
        rollouts: int = 4,
        horizon: int | None = None,
        seed: int = 0,
        failures: int | None = 10,
    ) -> None:
        self.agent, self.sampling = agent, sampling or SamplingConfig()
        self.rollouts = whole("rollouts", rollouts)
        self.horizon = None if horizon is None else whole("horizon", horizon)
        self.seed = whole("seed", seed, least=0)
        self.failures = failures
        self._worlds = Worlds()

    def meet(self, policy: ChatAgent, sampling: SamplingConfig) -> None:
        """Value moments as the policy that is trained does, where no other model was given."""
        if self.agent is None:
            self.agent, self.sampling = policy, sampling

    @property
    def environment_seconds(self) -> float:
        """Seconds in which the model was not at work so far."""
        return self._worlds.seconds

    async def attribute(self, episode: Episode, env: TextEnv | None = None) -> Attribution:
        """Return the credits of an episode's steps; see `Attributor.attribute`."""
        return (await self.attribute_all([episode], env))[0]

    async def attribute_all(
        self, episodes: Sequence[Episode], env: TextEnv | None = None, say: Say = silent
    ) -> list[Attribution]:
        """Return the attributions of several episodes, whose continuations are played together.

        Args:
            episodes: the records.
            env: see `Attributor.attribute`.
            say: takes lines of progress.

        Raises:
            BudgetExceeded: if too many continuations failed in a row.
        """
        with self._worlds.playing():
            known = [self._moments(episode, env) for episode in episodes]
        jobs: dict[tuple[str, int], Job] = {}
        for episode, lives in zip(episodes, known, strict=True):
            if isinstance(lives, _Known):
                for t in range(len(lives.states)):
                    self._plan(episode, lives, t, jobs)
        lines = EpisodeLines(
            say, f"attributing {len(episodes)} episodes", self.agent, unit="continuations"
        )
        played = await self._play(list(jobs.values()), lines)
        found = {place: played[job.key] for place, job in jobs.items()}
        paid: set[str] = set()
        return [
            self._credit(episode, lives, found, paid)
            for episode, lives in zip(episodes, known, strict=True)
        ]

    def describe(self) -> dict[str, Any]:
        """Return whose values these are, and from how many rollouts."""
        return {
            "method": self.name,
            "policy": self.agent.describe() if self.agent else "self",
            "rollouts": self.rollouts,
            "horizon": self.horizon,
            "seed": self.seed,
        }

    def content(self, episode: Episode) -> dict[str, Any]:
        """Return what was played and said: a model goes on from its own words."""
        return {**super().content(episode), "replies": [step.reply for step in episode.steps]}

    def close(self) -> None:
        """Close the environments; the model belongs to whoever made it."""
        self._worlds.close()

    def _moments(self, episode: Episode, env: TextEnv | None) -> _Known | str:
        """Return an episode's moments, or why there are none."""
        try:
            env = env or self._worlds.of(episode)
            states = moments(env, episode)
            assert env.task is not None
            return _Known(env.task, states)
        except Exception as error:  # an environment is anyone's code
            return f"{type(error).__name__}: {error}"

    def _plan(
        self, episode: Episode, known: _Known, t: int, jobs: dict[tuple[str, int], Job]
    ) -> None:
        """Add the continuations of an episode's moment, if they are not planned already."""
        place, state = _place(episode, t), known.states[t]
        if ended(state) or (place, 0) in jobs:
            return
        choice = EnvChoice(
            env_id=episode.env_id,
            edition=episode.edition,
            split=episode.split,
            max_rounds=episode.max_rounds or None,
            options=episode.env_options,
        )
        moment = Moment(state, episode.observation, episode.steps[:t], self.horizon)
        names = (self.seed, episode.env_id, episode.task_id, episode.seed)
        for j in range(self.rollouts):
            seed = derive_seed("policy_value", *names, j)
            jobs[place, j] = Job(choice, known.task, len(jobs), episode.seed, seed, moment)

    async def _play(self, jobs: list[Job], lines: EpisodeLines) -> dict[str, Episode]:
        """Play continuations and return them by key; count the time the model did not take."""
        if self.agent is None:
            raise InvalidConfig("nobody plays on: give the attributor an agent")
        if not jobs:
            return {}
        expect = getattr(self.agent, "expect", None)
        if expect is not None:
            expect(len(jobs), min(self.sampling.concurrency, len(jobs)))
        began, busy = time.perf_counter(), self._busy()
        episodes = arollout(
            jobs,
            self.agent,
            action_format=self.sampling.action_format,
            concurrency=self.sampling.concurrency,
            executor=self.sampling.executor,
            limits=Limits(failures=self.failures),
            on_event=lines,
        )
        played = {episode.key: episode async for episode in episodes}
        waited = time.perf_counter() - began - (self._busy() - busy)
        self._worlds.seconds += max(waited, 0.0)
        return played

    def _busy(self) -> float:
        return float(getattr(self.agent, "seconds", 0.0))

    def _credit(
        self,
        episode: Episode,
        known: _Known | str,
        found: dict[tuple[str, int], Episode],
        paid: set[str],
    ) -> Attribution:
        """Return an episode's attribution; what it shares with an earlier one is spent there."""
        if isinstance(known, str):
            return self.failed(episode, "environment", known, Spent())
        values, usage, steps = [], Usage(), episode.rounds
        for t, state in enumerate(known.states):
            if ended(state):
                values.append(float(state["score"]))
                continue
            place = _place(episode, t)
            rollouts = [found[place, j] for j in range(self.rollouts)]
            if place not in paid:
                paid.add(place)
                usage = sum((one.usage for one in rollouts), usage)
                steps += sum(one.rounds for one in rollouts)
            for one in rollouts:
                if one.status == "failed" and one.failure is not None:
                    where = one.failure.where
                    kind: FailureKind = "environment" if where == "environment" else "model"
                    why = f"{one.failure.type}: {one.failure.message}"
                    return self.failed(episode, kind, why, _spent(usage, steps))
            values.append(float(np.mean([one.score for one in rollouts])))
        credits = [float(c) for c in np.diff(values)]
        spent = _spent(usage, steps)
        return self.labelled(episode, credits, spent, evidence={"values": values})


def _spent(usage: Usage, steps: int) -> Spent:
    return Spent.on(usage, 0).model_copy(update={"env_steps": steps})


def _place(episode: Episode, t: int) -> str:
    """Return text that is equal for moments that are: the same task, replies and answers."""
    past = [[step.reply, step.observation] for step in episode.steps[:t]]
    options = [episode.env_id, episode.edition, episode.env_options, episode.max_rounds]
    return json.dumps([options, episode.task_id, episode.seed, past], default=repr)
