"""`agentgym train`: settings on a command line, a plan without doing, a run and the same again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("yaml")

from agentgym.baselines.catalog import BASELINES
from agentgym.cli.train import ABOUT
from tests.cli.conftest import Run


def test_every_trainer_is_a_command() -> None:
    assert list(ABOUT) == [baseline.name for baseline in BASELINES]


@pytest.mark.parametrize("name", ABOUT)
@pytest.mark.parametrize("profile", ["tiny", "paper"])
def test_a_dry_run_shows_the_settings_and_what_would_be_done(
    run: Run, name: str, profile: str
) -> None:
    shown = run("train", name, "--profile", profile, "--dry-run", "--set", "optim.lr=0.25",
                "seed=7")  # fmt: skip
    assert shown.exit_code == 0, shown.output
    assert "lr: 0.25" in shown.stdout
    assert "seed: 7" in shown.stdout
    assert "lr 0.25" in shown.stdout
    assert not Path("runs").exists()
    shown = run("train", name, "--profile", profile, "--dry-run", "--json")
    assert set(json.loads(shown.stdout)) == {"config", "plan"}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("bc", "optim.lrr=1"), "Did you mean lr?"),
        (("bc", "fast"), "optim.lr=0.001"),
        (("bc", "--profile", "tinny"), "unknown profile of bc 'tinny'"),
        (("bc", "--config", "mine.yaml", "--profile", "tiny"), "not both"),
        (("bc", "--config", "mine.yaml"), "no configuration file mine.yaml"),
        (("dpo", "data.expert=[]", "--out", "x"), "a model from scratch plays nothing yet"),
    ],
)
def test_what_cannot_be_used_is_one_line_and_exit_code_2(
    run: Run, words: tuple[str, ...], told: str
) -> None:
    shown = run("train", *words)
    assert shown.exit_code == 2, shown.output
    assert told in shown.stderr
    assert "Traceback" not in shown.output


def test_a_run_and_the_same_again(run: Run) -> None:
    pytest.importorskip("trl")
    words = ("train", "bc", "optim.max_steps=2", "optim.threads=1", "model.scratch.hidden=32",
             "model.scratch.layers=1", "data.expert.0.tasks=4", "eval.envs=[]",
             "tensorboard=false")  # fmt: skip
    shown = run(*words)
    assert shown.exit_code == 0, shown.output
    assert "step 2/2" in shown.stderr
    assert "agentgym eval hf:runs/bc-tiny-1/model --env maze" in shown.stdout
    assert "tensorboard" not in shown.stdout
    again = run(*words, "--out", "runs/bc-tiny-1", "--json")
    assert "is finished" in again.stderr
    assert json.loads(again.stdout)["steps"] == 2
    refused = run(*words, "seed=1", "--out", "runs/bc-tiny-1")
    assert refused.exit_code == 2
    assert "Name another folder" in refused.stderr
