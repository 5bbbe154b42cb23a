"""Attribution by asking what would have been: the episode again, without the step.

The environment is set back to before a step and played on without it, or with other actions in its
place, by the same actions that followed. What the final score loses is the step's credit. It needs
no model and no price, only an environment that can be set back; and it says what was needed *given
the rest*: of two steps that do the same, neither is.
"""

from __future__ import annotations

import asyncio
from typing import Any, Literal, get_args

import numpy as np

from agentgym.baselines.attribution.base import Attribution, Attributor, Spent
from agentgym.baselines.attribution.world import State, Worlds, moments, play_on
from agentgym.core import TextEnv
from agentgym.core.errors import InvalidConfig
from agentgym.core.options import whole
from agentgym.rollout.episode import Episode
from agentgym.rollout.plan import derive_seed

Replace = Literal["nothing", "sampled"]

DRAWS = 8
"""How often another action is looked for before a step counts as without alternative."""


class CounterfactualAttributor(Attributor):
    """Credits a step with what the final score loses without it.

    credit_t = S - S_without_t               (`replace="nothing"`)
    credit_t = S - mean_j S_with_a_j_for_t   (`replace="sampled"`, j of `alternatives` actions)

    S is the episode's final score. K steps cost about K^2 / 2 environment steps, times the
    alternatives.

    Args:
        replace: what takes the step's place: nothing, or actions the environment samples.
        alternatives: how many of those.
        seed: for sampling.

    Raises:
        InvalidConfig: if an option has a value that cannot be used.
    """

    name = "counterfactual"

    def __init__(
        self, replace: Replace = "nothing", *, alternatives: int = 4, seed: int = 0
    ) -> None:
        if replace not in get_args(Replace):
            raise InvalidConfig(
                f"replace must be one of {', '.join(get_args(Replace))}, got {replace!r}"
            )
        self.replace = replace
        self.alternatives = whole("alternatives", alternatives)
        self.seed = whole("seed", seed, least=0)
        self._worlds = Worlds()

    async def attribute(self, episode: Episode, env: TextEnv | None = None) -> Attribution:
        """Return the credits of an episode's steps; see `Attributor.attribute`."""
        with self._worlds.playing():
            return await self._attribute(episode, env)

    async def _attribute(self, episode: Episode, env: TextEnv | None) -> Attribution:
        played = _Count()
        try:
            env = env or self._worlds.of(episode)
            states = moments(env, episode)
            played.add(episode.rounds)
            scores = []
            for t in range(episode.rounds):
                scores.append(self._scores(env, states[t], episode, t, played))
                await asyncio.sleep(0)  # so that something can be said while it goes
        except Exception as error:  # an environment is anyone's code
            message = f"{type(error).__name__}: {error}"
            return self.failed(episode, "environment", message, Spent(env_steps=played.steps))
        credits = [episode.score - float(np.mean(s)) if s else 0.0 for s in scores]
        return self.labelled(
            episode, credits, Spent(env_steps=played.steps), evidence={"scores_without": scores}
        )

    @property
    def environment_seconds(self) -> float:
        """Seconds that were played so far."""
        return self._worlds.seconds

    def describe(self) -> dict[str, Any]:
        """Return the options that count."""
        if self.replace == "nothing":
            return {"method": self.name, "replace": self.replace}
        return {
            "method": self.name,
            "replace": self.replace,
            "alternatives": self.alternatives,
            "seed": self.seed,
        }

    def close(self) -> None:
        """Close the environments."""
        self._worlds.close()

    def _scores(
        self, env: TextEnv, state: State, episode: Episode, t: int, played: _Count
    ) -> list[float]:
        """Return the final scores with step t replaced; none where there is no alternative."""
        rest = episode.steps[t + 1 :]
        if self.replace == "nothing":
            env.set_state(state)
            return [played.on(play_on(env, rest))]
        scores = []
        for j in range(self.alternatives):
            env.set_state(state)
            names = (self.seed, episode.env_id, episode.task_id, episode.seed, t, j)
            rng = np.random.default_rng(derive_seed(self.name, *names))
            action = _other(env, episode.steps[t].action, rng)
            if action is not None:
                step = episode.steps[t].model_copy(update={"action": action})
                scores.append(played.on(play_on(env, (step, *rest))))
        return scores


class _Count:
    """Counts the steps that were played."""

    def __init__(self) -> None:
        self.steps = 0

    def add(self, steps: int) -> None:
        self.steps += steps

    def on(self, result: tuple[float, int]) -> float:
        score, steps = result
        self.steps += steps
        return score


def _other(env: TextEnv, action: str | None, rng: np.random.Generator) -> str | None:
    """Return an action other than the one that was played, if the environment has one."""
    for _ in range(DRAWS):
        sampled = env.sample_action(rng)
        if sampled != action:
            return sampled
    return None
