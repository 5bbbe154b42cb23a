"""`agentgym train`: settings on a command line, a plan without doing, a run and the same again."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("yaml")

from agentgym.baselines.catalog import BASELINES, find_baseline
from agentgym.baselines.configfile import profiles
from agentgym.cli.train import ABOUT
from tests.cli.conftest import Run


def test_every_trainer_is_a_command() -> None:
    assert list(ABOUT) == [baseline.name for baseline in BASELINES]


def test_help_says_where_to_begin_and_what_it_says_can_be_done(run: Run, tmp_path: Path) -> None:
    shown = run("train", "--help").stdout
    assert "Begin with bc" in shown
    assert run("train", "bc", "--dry-run").exit_code == 0
    place = tmp_path / "mine.jsonl"
    for name in ABOUT:
        helped = " ".join(run("train", name, "--help").stdout.replace("│", " ").split())
        # The way to take what is one's own stands there, and the settings it names exist.
        named = re.findall(r"([a-z_.]+)=(\[\]|\[FILE\]|FOLDER)", helped)
        assert named, helped
        given = [f"{key}={value}".replace("FILE", str(place)).replace("FOLDER", "smollm2")
                 for key, value in named]  # fmt: skip
        find_baseline(name).config("tiny", given)
        for profile in profiles(name):
            assert profile in helped
        for example in re.findall(r"[a-z_.0-9]+=[0-9.]+[0-9]", helped):
            find_baseline(name).config("tiny", [example])


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
