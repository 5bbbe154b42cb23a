"""An episode brought back to life: every moment of it, to play on from.

Attributors that play need the environment as it was before each step. It is made from the record,
the recorded actions are played once, and a snapshot is taken before each. A record that does not
come out as written cannot be attributed this way.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from agentgym.core import AgentGymError, TextEnv, make
from agentgym.rollout.episode import Episode, Step

State = Mapping[str, Any]


class NotReproduced(AgentGymError):
    """An episode's record and its environment do not lead to the same end."""


class Worlds:
    """Environments to play in, one for each set of options.

    Attributes:
        seconds: how long has been played so far.
    """

    def __init__(self) -> None:
        self._envs: dict[str, TextEnv] = {}
        self.seconds = 0.0

    @contextmanager
    def playing(self) -> Iterator[None]:
        """Count the time that is played, environments that must be made first included."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds += time.perf_counter() - began

    def of(self, episode: Episode) -> TextEnv:
        """Return an environment of an episode's options; the same one for equal options."""
        arguments: dict[str, Any] = {**episode.env_options, "edition": episode.edition}
        if episode.max_rounds:
            arguments["max_rounds"] = episode.max_rounds
        key = json.dumps([episode.env_id, arguments], sort_keys=True, default=repr)
        if key not in self._envs:
            self._envs[key] = make(episode.env_id, **arguments)
        return self._envs[key]

    def close(self) -> None:
        """Close the environments; twice without harm."""
        for env in self._envs.values():
            env.close()
        self._envs.clear()


def moments(env: TextEnv, episode: Episode) -> list[State]:
    """Return K + 1 snapshots: before each step of an episode, and at its end.

    Raises:
        NotReproduced: if playing the episode again does not give its observations and its score.
    """
    _, info = env.reset(seed=episode.seed, options={"task_id": episode.task_id})
    states: list[State] = [env.get_state()]
    ended = False
    for number, step in enumerate(episode.steps, 1):
        if ended:
            raise NotReproduced(f"the episode ends before round {number} of its record")
        observation, _, terminated, truncated, info = play(env, step)
        if observation != step.observation:
            raise NotReproduced(f"round {number} is answered otherwise than in its record")
        states.append(env.get_state())
        ended = terminated or truncated
    if abs(info["score"] - episode.score) > 1e-9:
        raise NotReproduced(
            f"the episode's score is recorded as {episode.score} and comes out as {info['score']}"
        )
    return states


def play(env: TextEnv, step: Step) -> tuple[str, float, bool, bool, dict[str, Any]]:
    """Play a recorded step, which may be a round without an action."""
    return env.forfeit(step.observation) if step.action is None else env.step(step.action)


def ended(state: State) -> bool:
    """Return whether the episode is over at a snapshot."""
    return bool(state["terminated"] or state["truncated"])


def play_on(env: TextEnv, steps: Sequence[Step]) -> tuple[float, int]:
    """Play recorded steps from where the environment is, as far as the episode goes.

    Returns:
        The score then, and how many steps were played.
    """
    score, done, count = float(env.get_state()["score"]), ended(env.get_state()), 0
    for step in steps:
        if done:
            break
        _, _, terminated, truncated, info = play(env, step)
        score, done, count = float(info["score"]), terminated or truncated, count + 1
    return score, count
