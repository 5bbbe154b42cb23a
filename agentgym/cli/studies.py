"""A study's tables, ours and the published: made here, where both sides are known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agentgym.baselines.config import ModelConfig
from agentgym.baselines.studies.plan import planned_stages
from agentgym.baselines.studies.results import Row, as_data, differences, rows
from agentgym.baselines.studies.settings import StudySettings
from agentgym.baselines.studies.show import RESULTS, TABLE, caption, details, gaps_table
from agentgym.baselines.studies.stages import panel
from agentgym.baselines.studies.study import Published, Study
from agentgym.leaderboard.paper import PaperTable, paper_table
from agentgym.leaderboard.shape import columns_of, published_markdown, selected, shaped
from agentgym.rollout.store import write_atomic


def show(study: Study, settings: StudySettings, folder: Path) -> tuple[dict[str, Any], str]:
    """Write a study's results and tables into its folder and return them.

    Args:
        study: the study.
        settings: the profile it was run with.
        folder: where it was run.
    """
    found = [
        (
            model,
            rows(planned_stages(study, settings, model, folder), settings, panel(folder, model)),
        )
        for model in settings.models
    ]
    tables = [(one, selected(paper_table(one.table), one.where)) for one in study.published]
    blocks = [f"# {study.name}: {study.title}"]
    for model, reached in found:
        blocks += own_blocks(study, settings, model, reached, tables[0][1])
    for one, table in tables:
        blocks += published_blocks(one, table)
    blocks += ["\n".join(f"- {note}" for note in study.notes)] if study.notes else []
    data = {
        "study": study.name,
        "models": [
            {
                "model": model.model_dump(mode="json"),
                **as_data(reached, differences(study, reached)),
            }
            for model, reached in found
        ],
        "published": [
            {
                "table": one.table,
                "about": one.about,
                "columns": list(table.columns),
                "rows": [[cell.text for cell in row] for row in table.rows],
            }
            for one, table in tables
        ],
    }
    text = "\n\n".join(blocks) + "\n"
    write_atomic(folder / RESULTS, json.dumps(data, indent=2, ensure_ascii=False) + "\n")
    write_atomic(folder / TABLE, text)
    return data, text


def own_blocks(
    study: Study,
    settings: StudySettings,
    model: ModelConfig,
    found: list[Row],
    beside: PaperTable,
) -> list[str]:
    """Return the blocks of text about our own numbers with one model."""
    reports = [row.report for row in found]
    columns = columns_of(beside, reports, study.measures)
    gaps = differences(study, found)
    return [
        f"## Ours, {model.name}",
        caption(settings, model, found),
        shaped(columns, reports),
        *(["Differences over the same tasks:", gaps_table(study, gaps)] if gaps else []),
        details(found),
    ]


def published_blocks(one: Published, table: PaperTable) -> list[str]:
    """Return the blocks of text about a published table."""
    return [
        f"## Published: {table.paper}, {table.title}",
        f"{one.about}. Other tasks, another model: no row of ours belongs in it.",
        published_markdown(table),
    ]
