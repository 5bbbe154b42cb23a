"""Options that are numbers, read strictly, wherever they come from."""

from __future__ import annotations

import json

import numpy as np
import pytest

import agentgym
from agentgym.core import find_card
from agentgym.core.errors import AgentGymError, InvalidConfig
from agentgym.core.options import amount, whole
from tests.toy import GuessEnv

NO_COUNT = (True, 0, -1, 2.5, float("nan"), float("inf"), "5", None, [5], b"5", 2.0)


@pytest.mark.parametrize("value", NO_COUNT)
def test_what_is_no_count_is_refused_by_name(value):
    with pytest.raises(InvalidConfig, match="letters must be a positive whole number"):
        whole("letters", value)


@pytest.mark.parametrize("value", [True, -0.1, float("nan"), float("inf"), "1", None, 1j])
def test_what_is_no_amount_is_refused_by_name(value):
    with pytest.raises(InvalidConfig, match="linger must be a number"):
        amount("linger", value)


def test_numpys_numbers_become_pythons():
    assert type(whole("n", np.int64(3))) is int
    assert type(amount("n", np.float32(0.5))) is float
    env = GuessEnv(max_rounds=np.int64(3))
    env.reset(seed=0)
    assert json.loads(json.dumps(env.get_state()))["max_rounds"] == 3


@pytest.mark.parametrize("value", [v for v in NO_COUNT if v is not None])
def test_rounds_are_a_count(value):
    with pytest.raises(InvalidConfig, match="max_rounds"):
        GuessEnv(max_rounds=value)


@pytest.mark.parametrize("options", [{"edition": ["mini"]}, {"split": ["eval"]}, {"data_dir": 5}])
def test_names_are_text(options):
    with pytest.raises(AgentGymError):
        GuessEnv(**options)


@pytest.mark.parametrize("options", [5, "task_id", [("task_id", "guess_1")], {1: 2}])
def test_reset_options_are_a_mapping(options):
    with pytest.raises(InvalidConfig, match="option"):
        GuessEnv().reset(options=options)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("Maze", {"size": 5}),
        ("Maze", {"size": (7,)}),
        ("Maze", {"size": (7.0, 7)}),
        ("Maze", {"size": (True, 7)}),
        ("Wordle", {"letters": 5.0}),
        ("Wordle", {"letters": [5]}),
        ("Wordle", {"vocabulary": ["all"]}),
        ("SciWorld", {"memory_mb": "1024"}),
        ("SciWorld", {"recycle_after": True}),
        ("SciWorld", {"linger": float("nan")}),
        ("SciWorld", {"java": 5}),
    ],
)
def test_every_environments_own_options_too(name, options):
    if not find_card(name).installed:
        pytest.skip(f"{name} is not installed")
    with pytest.raises(InvalidConfig, match=next(iter(options))):
        agentgym.make(name, **options)
