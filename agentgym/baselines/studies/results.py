"""What the arms reached, read back from the episodes on disk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agentgym.agenteval.evaluate import Evaluation, load_run
from agentgym.agenteval.report import Report
from agentgym.baselines.checkpoints import RESULT
from agentgym.baselines.config import EnvTasks
from agentgym.baselines.demonstration.statistics import Gap, gap
from agentgym.baselines.entries import entries
from agentgym.baselines.studies.run import LINES
from agentgym.baselines.studies.settings import StudySettings
from agentgym.baselines.studies.stages import Stage
from agentgym.baselines.studies.study import Study
from agentgym.baselines.untrained import why_untrained
from agentgym.rollout.episode import Episode

MEASURED = ("tasks", "episodes", "attempts", "failed", "success", "score", "best")
"""What the record of a study's results keeps of each environment."""


@dataclass(frozen=True)
class Row:
    """What one policy reached.

    Attributes:
        arm: name of its arm, or of an agent that is not trained.
        title: its row of a table.
        report: its measures, an environment a row.
        episodes: by entry of the evaluation.
        round: of AgentEvol, where the rounds are told apart; else None.
        untrained: why the arm could not be trained, or trained further; "" for a policy that is.
    """

    arm: str
    title: str
    report: Report
    episodes: dict[str, list[Episode]]
    round: int | None = None
    untrained: str = ""


def rows(stages: list[Stage], settings: StudySettings, place: Path) -> list[Row]:
    """Return what the arms of one model reached.

    An arm that has not been run has no row; one that could not be trained has a row without numbers
    that says why.

    Args:
        stages: the arms, in order.
        settings: the profile.
        place: where the arms lie.
    """
    found = [row for stage in stages for row in _arm(stage)]
    envs = stages[0].config.eval.envs
    for name in settings.lines:
        runs = _runs(place / LINES / name, envs)
        if runs:
            found.append(_row(name, name, runs))
    return found


def differences(study: Study, found: list[Row]) -> list[Gap]:
    """Return by how much the arms differ that are published as one better than the other.

    Of an arm whose rounds are told apart, the last stands for it; one that was not trained to its
    end is compared with nothing.
    """
    last = {row.arm: row for row in found}
    gaps = []
    for one, other in study.claims:
        if one in last and other in last:
            for env in last[one].episodes:
                if env in last[other].episodes:
                    pair = [(name, [last[name].episodes[env]]) for name in (one, other)]
                    gaps.append(gap(env, pair[0], pair[1]))
    return gaps


def _arm(stage: Stage) -> Iterator[Row]:
    arm, envs, why = stage.arm, stage.config.eval.envs, why_untrained(stage.folder)
    if not why and not (stage.folder / RESULT).exists():
        return
    rounds = sorted(stage.folder.glob("round-*"), key=lambda path: int(path.name[6:]))
    ended = [path for path in rounds if (path / "train" / RESULT).exists()]
    if arm.rounds:
        for path in ended:
            number = int(path.name[6:])
            title = f"{arm.title}, M = {number}"
            yield _row(arm.name, title, _runs(_last(path / "train"), envs), number)
    elif not why:
        last = _last(ended[-1] / "train" if ended else stage.folder)
        yield _row(arm.name, arm.title, _runs(last, envs))
    if why:
        row = _row(arm.name, f"{arm.title} (not trained{' further' if ended else ''})", {})
        yield replace(row, untrained=why)


def _last(folder: Path) -> Path:
    """Return the folder of a run's last evaluation."""
    return max((folder / "eval").glob("step-*"), default=folder / "eval")


def _runs(folder: Path, envs: tuple[EnvTasks, ...]) -> dict[str, Evaluation]:
    """Return the evaluations in a folder by their entry's name, in the profile's order."""
    places = {name: folder / place for name, place, _ in entries(envs)}
    return {
        name: load_run(place) for name, place in places.items() if (place / "config.json").exists()
    }


def _row(arm: str, title: str, runs: dict[str, Evaluation], number: int | None = None) -> Row:
    reports = [one.report for one in runs.values()]
    first: Report = reports[0] if reports else Report()
    report = first.model_copy(
        update={
            "name": arm,
            "agent": {"name": title},
            "complete": all(one.complete for one in reports),
            "rows": tuple(
                row.model_copy(update={"tasks": row.tasks.model_copy(update={"name": name})})
                for name, one in runs.items()
                for row in one.report.rows
            ),
            "macro": {},
            "warnings": tuple(line for one in reports for line in one.warnings),
        }
    )
    episodes = {name: list(one.episodes) for name, one in runs.items()}
    return Row(arm, title, report, episodes, number)


def as_data(found: list[Row], gaps: list[Gap]) -> dict[str, Any]:
    """Return rows and differences as plain data."""
    return {
        "rows": [
            {
                "arm": row.arm,
                "title": row.title,
                "round": row.round,
                "untrained": row.untrained,
                "envs": {
                    one.name: {"edition": one.edition}
                    | one.total.model_dump(mode="json", include=set(MEASURED))
                    for one in row.report.rows
                },
            }
            for row in found
        ],
        "differences": [one.model_dump(mode="json") for one in gaps],
    }
