"""What the base class keeps for every environment."""

from __future__ import annotations

import copy
import pickle

import gymnasium
import pytest
from gymnasium.error import ResetNeeded
from hypothesis import given
from hypothesis import strategies as st

import agentgym
from agentgym.core import UnicodeText, shorten
from agentgym.core.errors import (
    InvalidConfig,
    InvalidState,
    MissingExtra,
    UnknownEdition,
    UnknownEnvironment,
    UnknownSplit,
    UnknownTask,
    did_you_mean,
)
from agentgym.core.registry import EnvCard, find_card, register, resolve_id
from tests.toy import GuessEnv


@pytest.fixture
def env():
    env = GuessEnv()
    yield env
    env.close()


def test_a_task_id_gives_that_task(env):
    _, info = env.reset(options={"task_id": "guess_7"})
    assert info["task_id"] == "guess_7"
    assert env.step("guess 8")[4]["success"]


def test_split_option_is_for_once(env):
    assert env.tasks.get(env.reset(seed=1, options={"split": "train"})[1]["task_id"]).split == (
        "train"
    )
    assert env.tasks.get(env.reset(seed=1)[1]["task_id"]).split == "eval"


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: GuessEnv(edition="minni"), UnknownEdition, "Did you mean mini"),
        (lambda: GuessEnv(split="evla"), UnknownSplit, "Did you mean eval"),
        (lambda: GuessEnv(max_rounds=-1), InvalidConfig, "positive"),
        (lambda: GuessEnv(render_mode="human"), InvalidConfig, "ansi"),
        (lambda: agentgym.make("textcrft"), UnknownEnvironment, "Did you mean TextCraft"),
        (lambda: agentgym.make("nope:X-v0"), UnknownEnvironment, "cannot be imported"),
        (lambda: agentgym.make("maze", sise=3), InvalidConfig, "'sise'. Did you mean size"),
        (lambda: agentgym.make("maze", split="eval", a=3), InvalidConfig, "Known: .*max_rounds"),
    ],
)
def test_bad_options_say_what_is_right(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_bad_tasks_name_the_range(env):
    with pytest.raises(UnknownTask, match="guess_0 to guess_39"):
        env.reset(options={"task_id": "guess_40"})
    for task_id in ("guess_-1", "guess_", "guess_007", "guess_" + "9" * 5_000, "maze_1", 3):
        with pytest.raises(UnknownTask):
            env.reset(options={"task_id": task_id})


def test_order_is_enforced_with_gymnasiums_error(env):
    for call in (env.step, lambda a: env.forfeit(a), lambda a: env.render()):
        with pytest.raises(ResetNeeded):
            call("guess 1")
    env.reset(options={"task_id": "guess_0"})
    env.step("guess 1")
    with pytest.raises(ResetNeeded, match="ended"):
        env.step("guess 1")


def test_a_closed_environment_needs_a_reset(env):
    env.reset(seed=0)
    env.close()
    with pytest.raises(ResetNeeded):
        env.step("guess 1")
    assert env.reset(seed=0)[0]


class Graded(GuessEnv):
    """Scores how near a guess is, so that the score rises and falls."""

    def _act(self, action):
        outcome = super()._act(action)
        near = 1 - abs(int(action.split()[1]) - self.number) / 50
        return outcome if outcome.success else outcome._replace(score=near)


def test_a_reward_is_the_change_of_the_score():
    env = Graded()
    env.reset(options={"task_id": "guess_9"})
    rewards = [env.step(f"guess {n}")[1] for n in (20, 35, 15, 10)]
    assert rewards == pytest.approx([0.8, -0.3, 0.4, 0.1])


def test_long_actions_are_refused_unread(env):
    env.reset(seed=0)
    observation, _, _, _, info = env.step("guess 1" + " " * 20_000)
    assert not info["valid"]
    assert "20007 characters" in observation


def test_snapshot_is_plain_data_and_survives_pickling(env):
    env.reset(seed=3)
    env.step("guess 20")
    env.forfeit("no action")
    for twin in (copy.deepcopy(env), pickle.loads(pickle.dumps(env)), env.fork()):
        assert twin.history == env.history == ("guess 20", None)
        assert twin.step("guess 21") == env.fork().step("guess 21")
        assert twin.reset()[1]["task_id"] == env.fork().reset()[1]["task_id"]


def test_what_is_no_text_can_be_played_again(env):
    env.reset(seed=3)
    observation = env.step(None)[0]
    assert "not NoneType" in observation
    twin = env.fork()
    assert twin.history == env.history == (None,)
    assert twin.get_state() == env.get_state()


def test_a_snapshots_limit_holds_for_its_episode_only(env):
    short = GuessEnv(max_rounds=2)
    short.reset(seed=0)
    env.set_state(short.get_state())
    env.set_state(short.get_state())
    assert env.max_rounds == 2
    env.reset(seed=0)
    assert env.max_rounds == 8


def test_snapshots_of_others_are_refused(env):
    env.reset(seed=0)
    state = env.get_state()
    past_the_end = {"history": ["guess 51"] * 9}
    for change in (
        {"env": "maze"}, {"tasks": "0"}, {"format": 99}, {"observation": "other"}, past_the_end,
    ):  # fmt: skip
        with pytest.raises(InvalidState):
            env.set_state({**state, **change})


def test_pickle_before_reset(env):
    assert pickle.loads(pickle.dumps(env)).task is None


def test_make_by_every_name():
    for name in ("agentgym/TextCraft-v0", "agentgym:agentgym/TextCraft-v0"):
        env = gymnasium.make(name)
        assert env.spec.id == "agentgym/TextCraft-v0"
        env.close()
    assert resolve_id("wordle") == resolve_id("WORDLE-v0") == "agentgym/Wordle-v0"


def test_a_missing_extra_names_the_command():
    register(EnvCard("tests/Absent-v0", "no_such:Env", "Absent.", "absent", ("no_such_module",)))
    assert not find_card("absent").installed
    with pytest.raises(MissingExtra, match=r"pip install 'agentgym\[absent\]'"):
        agentgym.make("absent")


def test_errors_survive_pickling():
    error = UnknownTask("task", "x_1", ["x_0"])
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    missing = MissingExtra("The X environment", "x", "y")
    assert str(pickle.loads(pickle.dumps(missing))) == str(missing)


@given(st.text())
def test_any_text_is_in_the_space(text):
    assert text in UnicodeText()
    assert UnicodeText(max_length=len(text) + 1).contains(text)


def test_the_space_samples_its_members():
    space = UnicodeText(max_length=5, seed=1)
    samples = [space.sample() for _ in range(50)]
    assert all(s in space for s in samples)
    assert len(set(samples)) > 20
    assert samples == [UnicodeText(max_length=5, seed=1).sample(), *samples[1:]]
    assert 3 not in space


@given(st.text())
def test_shortened_text_is_one_printable_line(text):
    short = shorten(text, 40)
    assert len(short) <= 40
    assert short.isprintable()


def test_did_you_mean_lists_what_there_is():
    assert did_you_mean("q", []) == ""
    assert "in all" in did_you_mean("q", [str(i) for i in range(100)])
