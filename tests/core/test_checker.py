"""The checker passes what keeps the contract and names each promise that is broken."""

from __future__ import annotations

import itertools

import gymnasium
import numpy as np
import pytest

import tests.toy  # noqa: F401  (registers the environment)
from agentgym.core import BrokenContract, Opening, Outcome, Task, TaskSet, TextEnv, cards
from agentgym.core.checker import check_env, require_env
from tests.toy import GuessEnv

_numbers = itertools.count()


def failures(env_class: type[GuessEnv]) -> dict[str, str]:
    """Check a class and return what failed, by promise."""
    env_id = f"tests/Broken{next(_numbers)}-v0"
    gymnasium.register(env_id, entry_point=env_class, disable_env_checker=True, order_enforce=False)
    return {c.name: c.error for c in check_env(env_id) if not c.passed}


def test_a_good_environment_passes():
    assert failures(GuessEnv) == {}
    require_env("tests/Guess-v0")


class ScoreBelowZero(GuessEnv):
    def _act(self, action: str) -> Outcome:
        outcome = super()._act(action)
        return outcome if outcome.success else outcome._replace(score=-1.0)


class Raises(GuessEnv):
    def _act(self, action: str) -> Outcome:
        if "DROP" in action:
            raise KeyError(action)
        return super()._act(action)


def test_what_is_raised_is_told_with_its_place():
    said = failures(Raises)["Garbage never raises, is marked invalid and is answered"]
    assert said.startswith("raised KeyError: ")
    assert "(test_checker.py:" in said


class OpensWithNothing(GuessEnv):
    def _begin(self, task: Task) -> Opening:
        super()._begin(task)


class ActsInWords(GuessEnv):
    def _act(self, action: str) -> Outcome:
        return "Done."


class SaysNothing(GuessEnv):
    instructions = TextEnv.instructions


@pytest.mark.parametrize(
    ("env_class", "said"),
    [
        (OpensWithNothing, "OpensWithNothing._begin must return an Opening, not None"),
        (ActsInWords, "ActsInWords._act must return an Outcome, not 'Done.'"),
        (SaysNothing, "SaysNothing has no instructions"),
    ],
)
def test_a_hook_that_returns_something_else_is_named(env_class, said):
    assert said in " ".join(failures(env_class).values())


class GlobalRandom(GuessEnv):
    drawn = itertools.count()

    def _act(self, action: str) -> Outcome:
        return super()._act(action)._replace(observation=f"draw {next(self.drawn)}")


class ForgetsOnFork(GuessEnv):
    def _save(self):
        return {}

    def _load(self, saved) -> None:
        self.number = 1


class AcceptsGarbage(GuessEnv):
    def _act(self, action: str) -> Outcome:
        return super()._act(action)._replace(valid=True)


class ListsWhatCannotBeDone(GuessEnv):
    def _actions(self):
        return ["guess", "guess 3"]


class SilentOnGarbage(GuessEnv):
    def _act(self, action: str) -> Outcome:
        outcome = super()._act(action)
        return outcome if outcome.valid else outcome._replace(observation="")


class WeakExpert(GuessEnv):
    def _begin(self, task: Task) -> Opening:
        opening = super()._begin(task)
        self.number = 1000
        return opening


class ShuffledTasks(GuessEnv):
    version = itertools.count()

    @classmethod
    def load_tasks(cls, edition: str, data_dir: str | None) -> TaskSet:
        tasks = super().load_tasks(edition, data_dir)
        return TaskSet("guess", edition, str(next(cls.version)), tasks)


class ExpertOutsideGrammar(GuessEnv):
    def _act(self, action: str) -> Outcome:
        return super()._act(action.replace("GUESS", "guess"))

    def _make_expert(self):
        expert = super()._make_expert()
        act = expert.act
        expert.act = lambda o, i: (act(o, i)[0], act(o, i)[1].upper())
        return expert


class NoInstructions(GuessEnv):
    instructions = ""


@pytest.mark.parametrize(
    ("env_class", "promise"),
    [
        (ScoreBelowZero, "Info has every key"),
        (Raises, "Garbage never raises"),
        (GlobalRandom, "Same task, same seed"),
        (ForgetsOnFork, "A snapshot returns"),
        (AcceptsGarbage, "Garbage never raises"),
        (ListsWhatCannotBeDone, "Every action in info"),
        (SilentOnGarbage, "Garbage never raises"),
        (WeakExpert, "The expert solves"),
        (ShuffledTasks, "The task set is frozen"),
        (ExpertOutsideGrammar, "What the expert does is in the declared grammar"),
        (NoInstructions, "Name, title, editions and instructions"),
    ],
)
def test_a_broken_promise_is_named(env_class, promise):
    failed = failures(env_class)
    assert any(name.startswith(promise) for name in failed), failed


def test_require_env_lists_every_failure():
    gymnasium.register("tests/Bad-v0", entry_point=SilentOnGarbage, disable_env_checker=True)
    with pytest.raises(BrokenContract, match="Garbage never raises"):
        require_env("tests/Bad-v0")


@pytest.mark.parametrize("card", cards(), ids=lambda card: card.short_name)
def test_every_registered_environment(card):
    if not card.installed:
        pytest.skip(f"{card.short_name} is not installed: pip install 'agentgym[{card.extra}]'")
    failed = {c.name: c.error for c in check_env(card.id) if not c.passed}
    assert failed == {}


FEWER = {"SciWorld": 2_000}
"""A step of it asks a Java process and takes a hundred times as long as the others'."""


@pytest.mark.parametrize("card", cards(), ids=lambda card: card.short_name)
def test_thousands_of_garbage_actions(card):
    """Thousands of actions of random bytes, control characters and near misses never raise."""
    if not card.installed:
        pytest.skip(f"{card.short_name} is not installed")
    env = gymnasium.make(card.id).unwrapped
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    for i in range(FEWER.get(card.short_name, 10_000)):
        observation, _, terminated, truncated, info = env.step(garbage(env, rng))
        assert observation
        assert isinstance(info["valid"], bool)
        if terminated or truncated:
            env.reset(seed=i % 5)
    env.close()


def garbage(env, rng: np.random.Generator) -> str:
    """Return a random string, or a sensible action with a few characters changed."""
    if rng.random() < 0.02:
        return "x" * 100_000
    if rng.random() < 0.5:
        size = int(rng.integers(0, 60))
        return "".join(chr(c) for c in rng.integers(0, 0x300, size))
    letters = list(env.sample_action(rng)) or [""]
    for _ in range(int(rng.integers(1, 4))):
        letters[int(rng.integers(len(letters)))] = chr(int(rng.integers(0, 0xFFFF)))
    return "".join(letters)
