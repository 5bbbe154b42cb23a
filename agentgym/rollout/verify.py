"""Does a record tell the truth? Play it again and compare.

A score is believed because anyone can recompute it: the recorded actions are played in a fresh
environment, and every observation, reward and score must come out as recorded. No agent is needed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from agentgym.core import AgentGymError, TextEnv, make
from agentgym.rollout.episode import Episode, Step


@dataclass(frozen=True, slots=True)
class Difference:
    """Where a record and its replay part.

    Attributes:
        round: the round, from 1; 0 is the beginning of the episode.
        what: the field that differs ("observation", "score").
        recorded: what the record says.
        replayed: what came out.
    """

    round: int
    what: str
    recorded: Any
    replayed: Any

    def __str__(self) -> str:
        where = f"round {self.round}" if self.round else "the beginning"
        return f"{where}: {self.what} is recorded as {self.recorded!r}, replayed {self.replayed!r}"


def verify_episode(episode: Episode) -> list[Difference]:
    """Play a recorded episode again and return where it differs, in order.

    Replaying stops at the first round that differs, since what follows rests on it. A record that
    a limit or a failure cut short is compared as far as it goes.

    Returns:
        The differences; empty where the record is true.

    Raises:
        AgentGymError: if the environment cannot be made (not installed, data missing).
    """
    with Verifier() as verifier:
        return verifier.verify(episode)


class Verifier:
    """Verifies many episodes, keeping one environment for each set of options.

    Use it as a context manager, or call `close`.
    """

    def __init__(self) -> None:
        self._envs: dict[str, TextEnv] = {}

    def verify(self, episode: Episode) -> list[Difference]:
        """Return where an episode differs from its replay; see `verify_episode`."""
        arguments = _arguments(episode)
        key = json.dumps([episode.env_id, arguments], sort_keys=True, default=repr)
        if key not in self._envs:
            self._envs[key] = make(episode.env_id, **arguments)
        return _compare(episode, self._envs[key])

    def close(self) -> None:
        """Close the environments; twice without harm."""
        for env in self._envs.values():
            env.close()
        self._envs.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def _arguments(episode: Episode) -> dict[str, Any]:
    arguments: dict[str, Any] = {**episode.env_options, "edition": episode.edition}
    if episode.max_rounds:
        arguments["max_rounds"] = episode.max_rounds
    return arguments


def _compare(episode: Episode, env: TextEnv) -> list[Difference]:
    if episode.tasks_digest and episode.tasks_digest != env.tasks.digest:
        return [Difference(0, "tasks_digest", episode.tasks_digest, env.tasks.digest)]
    try:
        observation, info = env.reset(seed=episode.seed, options={"task_id": episode.task_id})
    except AgentGymError as error:
        return [Difference(0, "task_id", episode.task_id, str(error))]
    if episode.status == "failed" and not episode.observation:
        return []  # it broke before its first observation: there is nothing to compare
    found = _differences(0, [("observation", episode.observation, observation),
                             ("goal", episode.goal, info["goal"])])  # fmt: skip
    terminated = truncated = False
    for number, step in enumerate(episode.steps, 1):
        if found:
            return found
        if terminated or truncated:
            return [Difference(number, "action", step.action, "the episode has ended")]
        found, terminated, truncated, info = _play(env, number, step)
    return found or _final(episode, info, terminated, truncated)


Played = tuple[list[Difference], bool, bool, dict[str, Any]]


def _play(env: TextEnv, number: int, step: Step) -> Played:
    if step.action is None:
        # The message of a forfeited round is the rollout's, not the environment's.
        answer = env.forfeit(step.observation)
    else:
        answer = env.step(step.action)
    observation, reward, terminated, truncated, info = answer
    pairs = [
        ("observation", step.observation, observation),
        ("reward", step.reward, reward),
        ("score", step.score, info["score"]),
        ("valid", step.valid, info["valid"]),
    ]
    return _differences(number, pairs), terminated, truncated, info


def _final(
    episode: Episode, info: Mapping[str, Any], terminated: bool, truncated: bool
) -> list[Difference]:
    pairs = [
        ("score", episode.score, info["score"]),
        ("success", episode.success, info["success"]),
    ]
    if episode.status == "completed":
        pairs += [
            ("terminated", episode.terminated, terminated),
            ("truncated", episode.truncated, truncated),
        ]
    return _differences(episode.rounds, pairs)


def _differences(number: int, pairs: list[tuple[str, Any, Any]]) -> list[Difference]:
    return [Difference(number, what, a, b) for what, a, b in pairs if not _same(a, b)]


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, float) or isinstance(b, float):
        return math.isclose(a, b, rel_tol=0.0, abs_tol=1e-12)
    return bool(a == b)
