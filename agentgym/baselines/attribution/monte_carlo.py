"""Attribution by value: how much better the agent stood after a step than before it.

The value of a moment is the mean final score of a few rollouts that a policy plays from its
snapshot. It is that policy's value: here a program's (random, rule, expert, a function), and not
that of the language model that is trained, which is in `policy_value`. A step's credit is the
difference its own moment makes. The credits of an episode therefore sum to its score less the value
of its beginning, whatever the steps between.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from agentgym.agents.base import Agent
from agentgym.agents.build import build_agent
from agentgym.baselines.attribution.base import Attribution, Attributor, Spent
from agentgym.baselines.attribution.world import State, Worlds, ended, moments
from agentgym.core import TextEnv
from agentgym.core.errors import InvalidConfig
from agentgym.core.options import whole
from agentgym.rollout.episode import Episode
from agentgym.rollout.plan import derive_seed

Policy = Callable[[str, Mapping[str, Any], np.random.Generator], str | None]
"""Observation, info and a generator to an action, or None to forfeit the round."""

NO_ACTION = "No action was given; this round is lost."


class MonteCarloAttributor(Attributor):
    """Credits a step with the value it added: credit_t = V(s_t+1) - V(s_t), under another policy.

    V is the value of `policy`, not of the policy that is trained: with the expert it says what was
    still possible, at random how near the goal came. `PolicyValueAttributor` has the policy's own.
    V is the mean final score of `rollouts` continuations by the policy; at the episode's end it is
    the score. K steps cost up to (K + 1) `rollouts` continuations. The rollouts of every moment
    draw the same random numbers, so a step that changes nothing has a credit of nothing, up to
    the round it spent.

    Args:
        policy: who plays on: an agent ("random", "rule", "expert" by name, or any `Agent`), or a
            function of observation, info and a NumPy generator.
        rollouts: continuations of each moment; one is enough for a policy and an environment
            without chance.
        horizon: most steps of a continuation; None plays to the episode's end.
        seed: for the policy.

    Raises:
        InvalidConfig: if the policy is no agent that maps observations to actions, or a number is
            out of range.
    """

    name = "monte_carlo"

    def __init__(
        self,
        policy: Agent | Policy | str = "random",
        *,
        rollouts: int = 4,
        horizon: int | None = None,
        seed: int = 0,
    ) -> None:
        agent = build_agent(policy) if isinstance(policy, str) else policy
        if not isinstance(agent, Agent) and (not callable(agent) or hasattr(agent, "complete")):
            raise InvalidConfig(
                f"the policy must be an agent that maps an observation to an action (random, "
                f"rule, expert, or your own), or a function; a language model's values are "
                f"PolicyValueAttributor's; got {policy!r}"
            )
        self.policy: Agent | Policy = agent
        self.rollouts = whole("rollouts", rollouts)
        self.horizon = None if horizon is None else whole("horizon", horizon)
        self.seed = whole("seed", seed, least=0)
        self._worlds = Worlds()

    async def attribute(self, episode: Episode, env: TextEnv | None = None) -> Attribution:
        """Return the credits of an episode's steps; see `Attributor.attribute`."""
        with self._worlds.playing():
            return await self._attribute(episode, env)

    async def _attribute(self, episode: Episode, env: TextEnv | None) -> Attribution:
        steps = 0
        values: list[float] = []
        try:
            env = env or self._worlds.of(episode)
            states = moments(env, episode)
            steps = episode.rounds
            for state in states:
                value, count = self._value(env, state, episode)
                values.append(value)
                steps += count
                await asyncio.sleep(0)  # so that something can be said while it goes
        except Exception as error:  # an environment and a policy are anyone's code
            message = f"{type(error).__name__}: {error}"
            return self.failed(episode, "environment", message, Spent(env_steps=steps))
        credits = [float(c) for c in np.diff(values)]
        return self.labelled(episode, credits, Spent(env_steps=steps), evidence={"values": values})

    @property
    def environment_seconds(self) -> float:
        """Seconds that were played so far."""
        return self._worlds.seconds

    def describe(self) -> dict[str, Any]:
        """Return the policy and the rollouts; a function is known by its name alone."""
        policy = (
            self.policy.describe()
            if isinstance(self.policy, Agent)
            else {"function": f"{self.policy.__module__}.{_name(self.policy)}"}
        )
        return {
            "method": self.name,
            "policy": policy,
            "rollouts": self.rollouts,
            "horizon": self.horizon,
            "seed": self.seed,
        }

    def close(self) -> None:
        """Close the environments."""
        self._worlds.close()

    def _value(self, env: TextEnv, state: State, episode: Episode) -> tuple[float, int]:
        """Return the value of a moment, and the steps it took to find it."""
        if ended(state):
            return float(state["score"]), 0
        names = (self.seed, episode.env_id, episode.task_id, episode.seed)
        scores, steps = [], 0
        for j in range(self.rollouts):
            score, count = self._play_on(env, state, derive_seed(self.name, *names, j))
            scores.append(score)
            steps += count
        return float(np.mean(scores)), steps

    def _play_on(self, env: TextEnv, state: State, seed: int) -> tuple[float, int]:
        observation, info = env.set_state(state)
        act = self._player(env, seed)
        count, done = 0, False
        while not done and (self.horizon is None or count < self.horizon):
            action = _action(act(observation, info))
            answer = env.forfeit(NO_ACTION) if action is None else env.step(action)
            observation, _, terminated, truncated, info = answer
            count, done = count + 1, terminated or truncated
        return float(info["score"]), count

    def _player(self, env: TextEnv, seed: int) -> Callable[[str, Mapping[str, Any]], Any]:
        if isinstance(self.policy, Agent):
            return self.policy.start(env, seed).act
        policy, rng = self.policy, np.random.default_rng(seed)
        return lambda observation, info: policy(observation, info, rng)


def _action(decision: Any) -> str | None:
    """Return the action of what a policy returned: an action, (thought, action), or None."""
    if isinstance(decision, tuple) and len(decision) == 2:
        decision = decision[1]
    if decision is None or isinstance(decision, str):
        return decision
    raise TypeError(f"a policy returns an action or (thought, action), got {decision!r:.200}")


def _name(function: Any) -> str:
    return getattr(function, "__qualname__", type(function).__name__)
