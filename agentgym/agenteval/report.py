"""The report of a run: every number with its interval, and where it comes from.

`build_report` needs only what a run folder holds, so a report can be made again from the record at
any time and is the same. Editions are never averaged together, and a run that is not finished says
so before it says anything else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from agentgym.agenteval.intervals import Estimate, average
from agentgym.agenteval.metrics import Measures, measure, measure_kinds
from agentgym.agenteval.suites import published_sizes
from agentgym.core import shorten
from agentgym.rollout.episode import Episode

REPORT_VERSION = 1


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TaskSetFacts(_Part):
    """What must be equal for two results to be of the same tasks.

    Attributes:
        name: short name of the environment.
        edition: edition of the tasks.
        split: split of the tasks.
        version: version of the task set.
        digest: digest of the task set.
        note: where the tasks come from.
        max_rounds: rounds an episode was allowed.
        size: tasks in the split.
        planned_tasks: tasks the run set out to play.
    """

    name: str
    edition: str
    split: str
    version: str = ""
    digest: str = ""
    note: str = ""
    max_rounds: int = 0
    size: int = 0
    planned_tasks: int = 0


class Row(_Part):
    """One environment of a run.

    Attributes:
        env_id: Gymnasium id.
        tasks: the task set that was played.
        published_size: tasks of this environment in the published AgentEval, where known.
        planned: episodes the run set out to play.
        total: the measures over all episodes.
        kinds: the measures of each kind of task.
    """

    env_id: str
    tasks: TaskSetFacts
    published_size: int | None = None
    planned: int = 0
    total: Measures = Measures()
    kinds: dict[str, Measures] = Field(default_factory=dict)

    @property
    def name(self) -> str:
        """Short name of the environment."""
        return self.tasks.name

    @property
    def edition(self) -> str:
        """Edition of the tasks."""
        return self.tasks.edition


class Macro(_Part):
    """The plain average over the environments of one edition, each counting once."""

    environments: int
    success: Estimate
    score: Estimate
    best: dict[int, Estimate] = Field(default_factory=dict)
    every: dict[int, Estimate] = Field(default_factory=dict)


class Report(_Part):
    """A run, measured.

    Attributes:
        schema_version: version of this layout.
        name: name of the run.
        agent: what the agent said of itself.
        action_format: how replies were read.
        seed: the run's seed.
        attempts: attempts a task.
        complete: whether every planned episode has a record.
        stopped: why the run stopped early, or "".
        rows: the environments.
        macro: the averages, by edition.
        skipped: environments the suite left out: name and reason.
        warnings: what a reader must know before comparing these numbers.
        versions: versions of the installed packages that matter.
        created_with: version of agentgym.
    """

    schema_version: int = REPORT_VERSION
    name: str = ""
    agent: dict[str, Any] = Field(default_factory=dict)
    action_format: str = "react"
    seed: int = 0
    attempts: int = 1
    complete: bool = True
    stopped: str = ""
    rows: tuple[Row, ...] = ()
    macro: dict[str, Macro] = Field(default_factory=dict)
    skipped: dict[str, str] = Field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    versions: dict[str, str] = Field(default_factory=dict)
    created_with: str = ""

    @property
    def agent_name(self) -> str:
        """The agent's name."""
        return str(self.agent.get("name", "agent"))

    @property
    def editions(self) -> tuple[str, ...]:
        """The editions in it, in order of the rows."""
        return tuple(dict.fromkeys(row.edition for row in self.rows))


def build_report(
    config: Mapping[str, Any], episodes: Sequence[Episode], *, stopped: str = ""
) -> Report:
    """Measure a run.

    Args:
        config: the run's configuration, as its folder holds it.
        episodes: the latest record of each attempt.
        stopped: why the run stopped early, or "".
    """
    rows = _rows(config, episodes)
    execution = config.get("execution") or {}
    return Report(
        name=str(config.get("name", "")),
        agent=dict(config.get("agent") or {}),
        action_format=str(config.get("action_format", "react")),
        seed=int(config.get("seed") or 0),
        attempts=int(config.get("attempts") or 1),
        complete=all(row.total.episodes >= row.planned for row in rows),
        stopped=stopped,
        rows=rows,
        macro=_macro(rows),
        skipped=dict(execution.get("skipped") or {}),
        warnings=tuple(_warnings(rows, stopped, episodes)),
        versions=dict(config.get("versions") or {}),
        created_with=str(config.get("created_with", "")),
    )


def _rows(config: Mapping[str, Any], episodes: Sequence[Episode]) -> tuple[Row, ...]:
    grouped: dict[str, list[Episode]] = {}
    for episode in episodes:
        grouped.setdefault(episode.env_id, []).append(episode)
    attempts, published = int(config.get("attempts") or 1), published_sizes()
    rows = []
    for env_id, fields in (config.get("task_sets") or {}).items():
        facts, played = TaskSetFacts.model_validate(fields), grouped.get(env_id, [])
        size = published.get(facts.name)
        rows.append(
            Row(
                env_id=env_id,
                tasks=facts,
                published_size=size.agenteval if size else None,
                planned=facts.planned_tasks * attempts,
                total=measure(played),
                kinds=measure_kinds(played),
            )
        )
    return tuple(rows)


def _macro(rows: Sequence[Row]) -> dict[str, Macro]:
    editions: dict[str, list[Measures]] = {}
    for row in rows:
        if row.total.episodes:
            editions.setdefault(row.edition, []).append(row.total)
    return {edition: _average(totals) for edition, totals in editions.items()}


def _average(totals: Sequence[Measures]) -> Macro:
    ks = [k for k in totals[0].best if all(k in t.best for t in totals)]
    return Macro(
        environments=len(totals),
        success=average([t.success for t in totals]),
        score=average([t.score for t in totals]),
        best={k: average([t.best[k] for t in totals]) for k in ks},
        every={k: average([t.every[k] for t in totals]) for k in ks},
    )


def _warnings(rows: Sequence[Row], stopped: str, episodes: Sequence[Episode]) -> list[str]:
    found = [f"The run stopped early: {stopped}."] if stopped else []
    for row in rows:
        missing, total = row.planned - row.total.episodes, row.total
        if missing > 0:
            found.append(
                f"{row.name}: {missing} of {row.planned} episodes have not been played; the tasks "
                "that were may be the easier or the quicker ones."
            )
        if total.failed:
            found.append(
                f"{row.name}: {total.failed} of {total.episodes} episodes failed and count as "
                "score 0; evaluate into the same folder again to try them once more."
                f"{_reason(row.env_id, episodes)}"
            )
    limited = [f"{r.name} {r.total.limited} of {r.total.episodes}" for r in rows if r.total.limited]
    if limited:
        found.append(
            "Episodes that were ended by a budget or the model's context keep the score they had: "
            f"{', '.join(limited)}."
        )
    return found


def _reason(env_id: str, episodes: Sequence[Episode]) -> str:
    """Return a sentence with the commonest reason of an environment's failed episodes."""
    reasons = Counter(
        f"{e.failure.where}: {e.failure.type}: {e.failure.message}"
        for e in episodes
        if e.env_id == env_id and e.status == "failed" and e.failure is not None
    )
    if not reasons:
        return ""
    # The record's order depends on which episode ended first, so ties go by the text.
    text, count = min(reasons.items(), key=lambda item: (-item[1], item[0]))
    return f" The commonest reason ({count}): {shorten(text, 300)}"
