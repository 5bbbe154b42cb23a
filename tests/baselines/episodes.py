"""Episodes to attribute: played here, by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentgym.core import TextEnv, make
from agentgym.rollout.episode import Episode, Step


def record(env_id: str, task_id: str, actions: Sequence[str | None], **options: Any) -> Episode:
    """Return the record of an episode in which these actions are played."""
    env = make(env_id, **options)
    try:
        return _record(env_id, env, task_id, actions)
    finally:
        env.close()


def _record(env_id: str, env: TextEnv, task_id: str, actions: Sequence[str | None]) -> Episode:
    opening, info = env.reset(seed=3, options={"task_id": task_id})
    steps, terminated, truncated = [], False, False
    for action in actions:
        answer = env.forfeit("What was that?") if action is None else env.step(action)
        observation, reward, terminated, truncated, info = answer
        steps.append(
            Step(
                reply=f"Thought: so.\nAction: {action}",
                action=action,
                observation=observation,
                reward=reward,
                score=info["score"],
                valid=info["valid"],
            )
        )
    assert env.task is not None
    return Episode(
        env_id=env_id,
        edition=env.edition,
        tasks_digest=env.tasks.digest,
        task_id=task_id,
        split=env.task.split,
        seed=3,
        max_rounds=env.max_rounds,
        agent="by hand",
        instructions=env.instructions,
        goal=info["goal"],
        observation=opening,
        steps=tuple(steps),
        score=info["score"],
        success=info["success"],
        terminated=terminated,
        truncated=truncated,
    )


def judged(labels: str) -> str:
    """Return a reply that judges steps: "+-" is GOOD, then BAD."""
    lines = []
    for i, label in enumerate(labels):
        lines += [
            f"Step {i} Analysis: it was {label}",
            f"Step {i} Judgment: {'GOOD' if label == '+' else 'BAD'}",
        ]
    return "\n".join(lines)


def spoken(count: int, score: float = 0.0, what: str = "go", attempt: int = 0) -> Episode:
    """Return an episode of so many steps that nobody played, for judges that only read."""
    steps = tuple(
        Step(reply=f"{what} {i}", action=f"{what} {i}", observation=f"seen {i}")
        for i in range(count)
    )
    return Episode(
        env_id="tests/Guess-v0",
        edition="mini",
        task_id="guess_0",
        agent="nobody",
        attempt=attempt,
        goal="win",
        observation="It begins.",
        steps=steps,
        score=score,
    )
