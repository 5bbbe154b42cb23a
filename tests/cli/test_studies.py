"""`agentgym reproduce STUDY`: what would be done, what came of it, and the published beside it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("yaml")
pytest.importorskip("trl")

from agentgym.baselines.studies.catalog import STUDIES, find_study
from agentgym.baselines.studies.results import Row
from agentgym.baselines.studies.settings import load_settings
from agentgym.cli.studies import own_blocks, published_blocks
from agentgym.leaderboard import paper_table
from tests.agenteval.make import run as made
from tests.baselines.test_studies import SMALL
from tests.cli.conftest import Run


@pytest.mark.parametrize("profile", ["cpu", "paper"])
@pytest.mark.parametrize("name", [study.name for study in STUDIES])
def test_every_study_can_be_shown_without_being_run(run: Run, name: str, profile: str) -> None:
    shown = run("reproduce", name, "--profile", profile, "--dry-run", "--json")
    assert shown.exit_code == 0, shown.output
    told = json.loads(shown.stdout)
    assert set(told) == {"config", "arms", "plan"}
    study = find_study(name)
    models = len(told["config"]["models"])
    assert len(told["arms"]) == models * len(study.arms)
    assert any(line.startswith("all arms together: ") for line in told["plan"])
    assert not Path("runs").exists()


def test_the_attribution_study_says_that_its_environments_are_not_the_papers(run: Run) -> None:
    shown = run("reproduce", "agentevolver-attribution", "--dry-run")
    assert "AppWorld and BFCL" in shown.stdout
    assert "no cell of ours has a published counterpart" in shown.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--profile", "cp"), "Did you mean cpu?"),
        (("--profile", "mine.yaml"), "there is no file"),
        (("--set", "agentevol.iteration=2", "--dry-run"), "iterations"),
        (("--set", "agentevol", "--dry-run"), "a.b=value"),
        (("--arm", "agentevo", "--dry-run"), "agentevol"),
        (("--set", "lines=[nosuch]"), "'random' or 'expert'"),
        (("--set", "shared.eval.envs=[{env: wordle}]"), "Name it in base.expert"),
        (("--set", "agentevol.explore.envs.0.env=wordle"), "wordle is played"),
        (("--set", "base.expert.0.max_rounds=2020-01-01"), "in quotes"),
        (("--set", f"seed={2**32}"), "seed cannot be"),
    ],
)
def test_what_cannot_be_used_is_one_line_and_exit_code_2(
    run: Run, words: tuple[str, ...], told: str
) -> None:
    shown = run("reproduce", "agentgym-table3", *words)
    assert shown.exit_code == 2, shown.output
    assert told in shown.stderr
    assert not Path("runs").exists()


def test_a_pretrained_model_can_take_the_small_ones_place(run: Run) -> None:
    shown = run("reproduce", "agentgym-table3", "--dry-run", "--set", "models.0.name=smollm2",
                "--set", "models.0.lora.r=16")  # fmt: skip
    assert shown.exit_code == 0, shown.output
    assert "smollm2, LoRA of rank 16" in shown.stdout


def test_our_table_and_the_published_one_are_two_tables() -> None:
    study = find_study("agentgym-table3")
    settings = load_settings(study)
    runs = {"bc-base": ("BC (base)", [[0.0], [1.0]]), "agentevol": ("AgentEvol", [[1.0], [1.0]])}
    found = []
    for arm, (title, scores) in runs.items():
        played = made(title, {"Maze": scores})
        found.append(Row(arm, title, played.report, {"Maze": played.episodes}))
    blocks = own_blocks(study, settings, settings.models[0], found, paper_table("agentgym-table3"))
    assert blocks[0] == "## Ours, scratch"
    assert blocks[1] == (
        "Ours. Model: a Llama from scratch (2 layers of width 64), every weight, one for all "
        "environments. Tasks: mini edition of Maze, held-out split, each played once. "
        "Seed 0, one run an arm. In percent."
    )
    assert blocks[2].splitlines()[2:] == [
        "| BC (base) | – | – | – | – | – | 50.00 | – | – | – | – | – |",
        "| AgentEvol | – | – | – | – | – | 100.00 | – | – | – | – | – |",
    ]
    assert "| AgentEvol − BC (base) | Maze | +50.0 [" in blocks[4]
    assert "| AgentEvol | Maze | 100.0 [" in blocks[5]
    (theirs,) = study.published
    published = published_blocks(theirs, paper_table(theirs.table))
    assert "Llama-2-Chat-7B; official editions" in published[1]
    assert "| AgentEvol | 76.50 | 88.00 | 64.00 | 38.00 | 82.70 | 12.00 |" in published[2]
    assert not any("76.50" in block for block in blocks)


def test_a_study_is_run_and_shown_and_goes_on(run: Run) -> None:
    Path("small.yaml").write_text(SMALL)
    words = ("reproduce", "agentgym-table3", "--profile", "small.yaml")
    shown = run(*words, "--arm", "bc-base")
    assert shown.exit_code == 0, shown.output
    folder = Path("runs") / "agentgym-table3-small"
    assert (folder / "table.md").read_text() == shown.stdout
    assert "| BC (base) |" in shown.stdout
    assert "| BC (large) |" not in shown.stdout
    shown = run(*words, "--json")
    assert shown.exit_code == 0, shown.output
    told = json.loads(shown.stdout)
    assert [row["arm"] for row in told["models"][0]["rows"]] == ["bc-base", "bc-large", "agentevol"]
    assert told["models"][0]["rows"][0]["envs"]["Maze"]["episodes"] == 2
    assert told["published"][0]["columns"][:2] == ["method", "WS"]
    assert json.loads((folder / "results.json").read_text())["models"] == told["models"]
