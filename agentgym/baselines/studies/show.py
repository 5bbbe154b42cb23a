"""What a study says of its own numbers: what they are of, how sure they are, what differs.

The table itself has the shape of a published one and is the leaderboard's to make; here is what
stands above and below it.
"""

from __future__ import annotations

from collections.abc import Sequence

from agentgym.agenteval.markdown import markdown_table
from agentgym.agenteval.text import percent, signed_points
from agentgym.baselines.config import ModelConfig
from agentgym.baselines.demonstration.statistics import Gap
from agentgym.baselines.plan import describe_model
from agentgym.baselines.studies.results import Row
from agentgym.baselines.studies.settings import StudySettings
from agentgym.baselines.studies.study import Study

RESULTS, TABLE = "results.json", "table.md"


def caption(settings: StudySettings, model: ModelConfig, found: Sequence[Row]) -> str:
    """Return what the numbers are of: model, editions, how they were measured."""
    parts: dict[str, dict[str, None]] = {}
    attempts = max((row.report.attempts for row in found), default=1)
    for row in found:
        for one in row.report.rows:
            parts.setdefault(one.edition, {})[one.name] = None
    editions = "; ".join(f"{name} edition of {', '.join(envs)}" for name, envs in parts.items())
    times = "once" if attempts == 1 else f"{attempts} times"
    tasks = f"{editions or 'none yet'}, held-out split, each played {times}"
    return (
        f"Ours. Model: {describe_model(model)}, one for all environments. Tasks: {tasks}. "
        f"Seed {settings.seed}, one run an arm. In percent."
    )


def details(found: Sequence[Row]) -> str:
    """Return every number with its interval, an environment a line, and why one has none."""
    lines = [
        [
            row.title,
            one.name,
            percent(one.total.success),
            percent(one.total.score),
            str(one.total.tasks),
            str(one.total.episodes) + (f" ({one.total.failed} failed)" * (one.total.failed > 0)),
        ]
        for row in found
        for one in row.report.rows
    ]
    head = ["method", "environment", "success [95%]", "score [95%]", "tasks", "episodes"]
    reasons = [f"- {row.title}: {row.untrained}" for row in found if row.untrained]
    return "\n\n".join([markdown_table(head, lines), *(["\n".join(reasons)] if reasons else [])])


def gaps_table(study: Study, gaps: Sequence[Gap]) -> str:
    """Return differences of arms over the same tasks, in points of success."""
    lines = [
        [
            f"{study.arm(one.arm).title} − {study.arm(one.other).title}",
            one.env,
            signed_points(one.difference),
            "yes" if one.apart else "no",
        ]
        for one in gaps
    ]
    head = ["difference", "environment", "points [95%]", "better, intervals apart"]
    return markdown_table(head, lines)
