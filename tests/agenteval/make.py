"""Hand-made episodes and runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from agentgym.agenteval.evaluate import Evaluation
from agentgym.agenteval.report import build_report
from agentgym.agents.message import Usage
from agentgym.rollout.episode import Episode, Step

ENV = "agentgym/TextCraft-v0"


def episode(
    task: int,
    score: float = 0.0,
    *,
    attempt: int = 0,
    success: bool | None = None,
    status: str = "completed",
    env_id: str = ENV,
    edition: str = "mini",
    kind: str = "k",
    rounds: int = 2,
    invalid: int = 0,
    usage: Usage | None = None,
) -> Episode:
    steps = tuple(
        Step(reply="r", observation="o", valid=i >= invalid, usage=usage) for i in range(rounds)
    )
    return Episode(
        env_id=env_id,
        edition=edition,
        task_id=f"textcraft_{task}",
        kind=kind,
        attempt=attempt,
        agent="made",
        steps=steps,
        score=score,
        success=score == 1.0 if success is None else success,
        status=status,  # type: ignore[arg-type]
    )


def run(
    name: str,
    scores: dict[str, Sequence[Sequence[float]]],
    *,
    edition: str = "mini",
    digests: dict[str, str] | None = None,
    tasks: Iterable[int] | None = None,
    **more: Any,
) -> Evaluation:
    """Make a run of {environment: scores of each task's attempts}."""
    numbers = list(tasks) if tasks is not None else None
    episodes, sets = [], {}
    for env, groups in scores.items():
        env_id = f"agentgym/{env}-v0"
        ids = numbers or range(len(groups))
        for task, group in zip(ids, groups, strict=True):
            for attempt, score in enumerate(group):
                episodes.append(
                    episode(task, score, attempt=attempt, env_id=env_id, edition=edition)
                )
        sets[env_id] = {
            "name": env,
            "edition": edition,
            "split": "eval",
            "version": "1",
            "digest": (digests or {}).get(env, f"digest-{env}-{edition}"),
            "size": len(groups),
            "planned_tasks": len(groups),
            "max_rounds": 20,
        }
    config = {
        "name": name,
        "agent": {"name": name},
        "attempts": max(len(g) for groups in scores.values() for g in groups),
        "task_sets": sets,
        **more,
    }
    return Evaluation(config, episodes, build_report(config, episodes), Path(name))
