"""A vector plays what its environments would play alone, wherever they lie."""

from __future__ import annotations

import copy
import functools
import gc
import json
import multiprocessing
import os
import pickle
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.error import (
    AlreadyPendingCallError,
    ClosedEnvironmentError,
    NoAsyncCallError,
    ResetNeeded,
)
from gymnasium.vector import AutoresetMode
from hypothesis import given
from hypothesis import strategies as st

import agentgym
from agentgym.core import Outcome, UnicodeText
from agentgym.core.checker import check_env
from agentgym.core.errors import (
    AgentGymError,
    BrokenContract,
    InvalidConfig,
    InvalidState,
    UnknownTask,
)
from agentgym.core.memory import TextMemory, TextView
from agentgym.core.vector import (
    EnvironmentFailed,
    TextVectorEnv,
    WorkerLost,
    batch_infos,
    make_vector,
)
from tests.core.odd import Odd
from tests.toy import GuessEnv

MOVES = ("move up", "move down", "move left", "move right", "dance")
MAZES = 5


def moves(seed: int, steps: int, num_envs: int = MAZES) -> list[list[str]]:
    """Return the actions of every environment, step by step."""
    rng = np.random.default_rng(seed)
    return [[MOVES[i] for i in rng.integers(len(MOVES), size=num_envs)] for _ in range(steps)]


def plain(value):
    """Return a batch as JSON values, arrays with their types."""
    if isinstance(value, np.ndarray):
        return [str(value.dtype), [plain(v) for v in value.tolist()]]
    if isinstance(value, dict):
        return {key: plain(v) for key, v in sorted(value.items())}
    return [plain(v) for v in value] if isinstance(value, list | tuple) else value


def record(envs, steps: int = 14) -> str:
    """Play a vector of mazes and return everything it gave, as text."""
    try:
        given = [envs.reset(seed=5)]
        given += [envs.step(actions) for actions in moves(0, steps)]
        return json.dumps(plain(given))
    finally:
        envs.close()


def mazes(mode=None, **kwargs):
    return gymnasium.make_vec(
        "agentgym/Maze-v0", MAZES, vectorization_mode=mode, max_rounds=4, **kwargs
    )


@functools.cache
def expected(autoreset_mode: str) -> str:
    """What Gymnasium's own vector gives."""
    return record(mazes("sync", vector_kwargs={"autoreset_mode": autoreset_mode}))


def odd(count: int = 4, workers: int = 2, flag: str | None = None, **kwargs) -> TextVectorEnv:
    return TextVectorEnv([functools.partial(Odd, flag=flag)] * count, workers=workers, **kwargs)


@pytest.fixture(scope="module")
def pair():
    """Four environments in two workers, for tests that lose none."""
    envs = odd()
    yield envs
    envs.close()


def children() -> set[int]:
    return {process.pid for process in multiprocessing.active_children()}


# The same as single environments and as Gymnasium's vectors.


def test_a_vector_plays_what_single_environments_play():
    envs = mazes()
    assert isinstance(envs, TextVectorEnv)
    singles = [agentgym.make("maze", max_rounds=4) for _ in range(MAZES)]
    opened = [env.reset(seed=5 + i) for i, env in enumerate(singles)]
    observations, infos = envs.reset(seed=5)
    assert observations == tuple(o for o, _ in opened)
    assert envs.infos == tuple(i for _, i in opened)
    assert observations in envs.observation_space
    for actions in moves(1, 3):
        observations, rewards, terminated, truncated, infos = envs.step(actions)
        alone = [env.step(a) for env, a in zip(singles, actions, strict=True)]
        assert observations == tuple(step[0] for step in alone)
        assert envs.infos == tuple(step[4] for step in alone)
        assert list(infos["rounds"]) == [step[4]["rounds"] for step in alone]
        assert [tuple(x) for x in zip(rewards, terminated, truncated, strict=True)] == [
            step[1:4] for step in alone
        ]
    envs.close()


@pytest.mark.parametrize("autoreset_mode", ["NextStep", "SameStep"])
def test_it_gives_what_gymnasiums_vector_gives_to_the_byte(autoreset_mode):
    assert record(mazes(autoreset_mode=autoreset_mode)) == expected(autoreset_mode)


@pytest.mark.parametrize(
    ("workers", "autoreset_mode", "on_worker_death"),
    [(1, "NextStep", "raise"), (2, "SameStep", "raise"), (3, "NextStep", "restart")],
)
def test_the_number_of_workers_changes_nothing(workers, autoreset_mode, on_worker_death):
    envs = mazes(workers=workers, autoreset_mode=autoreset_mode, on_worker_death=on_worker_death)
    assert len(children()) >= workers
    assert record(envs) == expected(autoreset_mode)


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_gymnasiums_async_vector_works_by_default(context):
    envs = mazes("async", vector_kwargs={"context": context})
    assert record(envs) == expected("NextStep")


def test_a_vector_is_made_again_from_its_spec():
    envs = mazes(autoreset_mode="SameStep")
    envs.spec.to_json()
    assert gymnasium.spec("agentgym/Maze-v0").to_json()
    again = gymnasium.make_vec(envs.spec)
    assert again.num_envs == MAZES
    assert record(again) == expected("SameStep")
    envs.close()


def test_environments_of_different_kinds_are_one_batch():
    envs = TextVectorEnv([functools.partial(agentgym.make, n) for n in ("maze", "wordle")])
    _, infos = envs.reset(seed=0)
    assert [t.partition("_")[0] for t in infos["task_id"]] == ["maze", "wordle"]
    assert [list(envs.infos[0]["actions"]), envs.infos[1]["actions"]] == list(infos["actions"])
    envs.close()


def test_what_is_no_text_environment_is_refused():
    with pytest.raises(BrokenContract, match="SyncVectorEnv"):
        TextVectorEnv([lambda: gymnasium.make("CartPole-v1")])

    class Short(GuessEnv):
        def __init__(self) -> None:
            super().__init__()
            self.observation_space = UnicodeText(5)

    with pytest.raises(InvalidConfig, match="same spaces"):
        TextVectorEnv([GuessEnv, Short])


class Entangled(GuessEnv):
    """Every instance plays with the number of the one that began last."""

    def _begin(self, task):
        opening = super()._begin(task)
        type(self).latest = self.number
        return opening

    def _act(self, action: str) -> Outcome:
        return super()._act(action)._replace(observation=f"I think of {type(self).latest}.")


def test_the_checker_finds_environments_that_share_their_state():
    gymnasium.register("tests/Entangled-v0", entry_point=Entangled, disable_env_checker=True)
    failed = {c.name: c.error for c in check_env("tests/Entangled-v0") if not c.passed}
    (promise,) = [name for name in failed if "make_vec" in name]
    assert failed[promise] == (
        "in mode 'sync', observations differ from those of single environments"
    )


# Seeds, tasks, masks.


def test_seeds_and_tasks_are_given_one_each():
    envs = make_vector("maze", 3)
    _, infos = envs.reset(seed=[4, None, 4], options={"task_ids": ["maze_1", "maze_2", None]})
    assert list(infos["task_id"][:2]) == ["maze_1", "maze_2"]
    alone = agentgym.make("maze")
    assert infos["task_id"][2] == alone.reset(seed=4)[1]["task_id"]
    _, infos = envs.reset(options={"task_id": "maze_3"})
    assert list(infos["task_id"]) == ["maze_3"] * 3
    _, infos = envs.reset(seed=np.int64(3), options={"split": "train"})
    assert all(alone.tasks.get(t).split == "train" for t in infos["task_id"])
    assert envs.np_random_seed == (3, 4, 5)
    envs.close()


def test_a_mask_resets_some_and_leaves_the_others():
    envs = make_vector("maze", 3, autoreset_mode="Disabled", max_rounds=2)
    envs.reset(seed=1)
    options = {"reset_mask": np.array([False, True, False]), "task_ids": [None, "maze_7", None]}
    kept = dict(options)
    envs.step(["move up"] * 3)
    before = envs.infos
    _, infos = envs.reset(seed=9, options=options)
    assert options == kept
    assert list(infos["_task_id"]) == [False, True, False]
    assert infos["task_id"][1] == "maze_7"
    assert (envs.infos[0], envs.infos[2]) == (before[0], before[2])
    _, _, _, truncated, _ = envs.step(["move up"] * 3)
    assert list(truncated) == [True, False, True]
    with pytest.raises(ResetNeeded, match="environments 0, 2"):
        envs.step(["move up"] * 3)
    assert envs.infos[1]["rounds"] == 1  # nobody has played
    envs.reset(options={"reset_mask": np.array([True, False, True])})
    assert list(envs.step(["move up"] * 3)[4]["rounds"]) == [1, 2, 1]
    envs.close()


@pytest.mark.parametrize(
    ("seed", "options", "said"),
    [
        ([1], None, "a list of 2 seeds"),
        ("x", None, "seed must be"),
        (-1, None, "seed must be"),
        (None, {"task_ids": ["maze_1"]}, '"task_ids" must be a list of 2'),
        (None, {"task_ids": "maze_1"}, '"task_ids" must be a list of 2'),
        (None, {"task_ids": [None, None], "task_id": "maze_1"}, "not both"),
        (None, {"reset_mask": [True]}, "array of 2 truth values"),
        (None, {"reset_mask": np.zeros(2, dtype=bool)}, "one of them True"),
        (None, {"reset_mask": np.ones(2)}, "truth values"),
        (None, {"colour": "red"}, "unknown reset option"),
        (None, 3, "mapping"),
    ],
)
def test_what_cannot_be_meant_is_refused(seed, options, said):
    envs = make_vector("maze", 2)
    with pytest.raises(InvalidConfig, match=said):
        envs.reset(seed=seed, options=options)
    envs.close()


@pytest.mark.parametrize(
    ("kwargs", "said"),
    [
        ({"num_envs": 0}, "number of environments|num_envs"),
        ({"workers": -1}, "workers"),
        ({"autoreset_mode": "nextstep"}, "Did you mean NextStep"),
        ({"on_worker_death": "restrat"}, "Did you mean restart"),
        ({"worker_timeout": 0}, "worker_timeout"),
        ({"max_episode_steps": 3}, "max_rounds"),
        ({"maxrounds": 3}, "max_rounds"),
    ],
)
def test_options_that_cannot_be_used_are_named(kwargs, said):
    with pytest.raises(InvalidConfig, match=said):
        make_vector("maze", **kwargs)


def test_a_step_takes_one_action_an_environment():
    envs = make_vector("maze", 2)
    with pytest.raises(ResetNeeded, match="environments 0, 1"):
        envs.step(["move up", "move up"])
    envs.reset(seed=0)
    for wrong in (["move up"], "ab", []):
        with pytest.raises(InvalidConfig, match="takes 2 actions"):
            envs.step(wrong)
    observations, *_, infos = envs.step(np.array(["move up", None], dtype=object))
    assert not infos["valid"][1]
    assert "An action is text" in observations[1]
    assert envs.get_attr("history")[1] == (None,)
    envs.close()


def test_a_task_that_is_unknown_is_said_by_its_environment():
    envs = make_vector("maze", 3)
    envs.reset(seed=0)
    with pytest.raises(UnknownTask) as caught:
        envs.reset(options={"task_ids": ["maze_1", "maze_x", "maze_y"]})
    assert "environment 1 of the vector raised it; so did environments 2" in caught.value.__notes__
    with pytest.raises(ResetNeeded, match="environments 1, 2"):
        envs.step(["move up"] * 3)
    envs.close()


# Asking and setting.


@pytest.mark.parametrize("workers", [0, 2])
def test_attributes_are_read_and_set(workers):
    envs = make_vector("maze", 3, workers=workers)
    envs.reset(seed=0)
    envs.set_attr("max_rounds", [1, 2, 3])
    assert envs.get_attr("max_rounds") == (1, 2, 3)
    assert envs.call("has_wrapper_attr", "max_rounds") == (True,) * 3
    assert list(envs.step(["move up"] * 3)[3]) == [True, False, False]
    assert all(isinstance(picture, str) for picture in envs.render())
    with pytest.raises(InvalidConfig, match="values must be a list of 3"):
        envs.set_attr("max_rounds", [1, 2])
    with pytest.raises(InvalidConfig, match="use its own"):
        envs.call("forfeit", "no")
    with pytest.raises(AttributeError, match="nonsense"):
        envs.get_attr("nonsense")
    envs.step(["move up"] * 3)  # none of that has unsettled it
    envs.close()


def test_snapshots_go_from_one_vector_to_another():
    here = make_vector("maze", 3, max_rounds=6)
    there = make_vector("maze", 3, workers=2, max_rounds=6)
    here.reset(seed=2)
    for actions in moves(3, 4, 3):
        here.step(actions)
    states = json.loads(json.dumps(here.get_states()))
    observations, infos = there.set_states(states)
    assert observations == tuple(state["observation"] for state in states)
    assert there.infos == here.infos
    for actions in moves(4, 6, 3):  # over the end, where each picks its next task
        assert plain(here.step(actions)) == plain(there.step(actions))
    _, infos = there.set_states([None, states[1], None])
    assert list(infos["_task_id"]) == [False, True, False]
    with pytest.raises(InvalidState):
        here.set_states([{}, None, None])
    with pytest.raises(ResetNeeded, match="environments 0 "):
        here.step(["move up"] * 3)
    with pytest.raises(InvalidConfig, match="states must be a list of 3"):
        here.set_states(states[:1])
    here.close()
    there.close()


def test_a_step_can_be_begun_and_awaited(pair):
    pair.reset(seed=0)
    with pytest.raises(NoAsyncCallError):
        pair.step_wait()
    pair.step_async(["guess 1"] * 4)
    for call in (pair.reset, pair.get_states, lambda: pair.step(["guess 1"] * 4)):
        with pytest.raises(AlreadyPendingCallError):
            call()
    assert pair.step_wait()[0] == ("It is higher.",) * 4


# Errors, losses and ends.


def test_errors_arrive_as_they_were_raised(pair):
    pair.reset(seed=0)
    with pytest.raises(InvalidConfig, match="no red") as caught:
        pair.step(["guess 1", "raise red", "guess 1", "raise blue"])
    (note,) = caught.value.__notes__
    assert note.startswith("environment 1 of the vector raised it; so did environments 3:")
    assert "odd.py" in note
    assert pair.get_attr("rounds") == (1, 0, 1, 0)
    with pytest.raises(ResetNeeded, match="environments 1, 3"):
        pair.step(["guess 1"] * 4)
    pair.reset(seed=0)
    with pytest.raises(EnvironmentFailed, match="environment 2: it raised Local: 1 and 2"):
        pair.step(["guess 1", "guess 1", "local", "guess 1"])
    with pytest.raises(EnvironmentFailed, match="a lock cannot be sent"):
        pair.call("lock")
    pair.reset(seed=0)
    assert pair.step(["guess 1"] * 4)[0] == ("It is higher.",) * 4


def test_large_observations_cross_whole(pair):
    pair.reset(seed=0)
    sizes = [3_000_000, 5, 200_000, 70_000]
    observations, *_ = pair.step([f"big {size}" for size in sizes])
    assert [len(o) for o in observations] == sizes
    # A large one that nobody waits for must not be taken for the answer to what is asked next.
    pair.step_async([f"big {size}" for size in sizes])
    pair._pending = None
    assert pair.get_attr("rounds") == (2,) * 4


def test_a_lost_worker_names_what_it_held_and_a_reset_replaces_it():
    envs = odd()
    envs.reset(seed=0)
    with pytest.raises(WorkerLost, match=r"environments 1, 3 ended with exit code 3") as caught:
        envs.step(["guess 1", "die", "guess 1", "guess 1"])
    assert caught.value.environments == (1, 3)
    assert "on_worker_death" in str(caught.value)
    assert envs.infos[2]["rounds"] == 1
    with pytest.raises(ResetNeeded, match="environments 1, 3"):
        envs.step(["guess 1"] * 4)
    with pytest.raises(WorkerLost):
        envs.get_states()
    envs.reset(seed=0, options={"reset_mask": np.array([False, True, False, True])})
    assert list(envs.step(["guess 1"] * 4)[4]["rounds"]) == [2, 1, 2, 1]
    os.kill(envs.call("pid")[0], signal.SIGKILL)
    with pytest.raises(WorkerLost, match=r"environments 0, 2 was killed by SIGKILL"):
        envs.step(["guess 1"] * 4)
    envs.close()


def test_a_restarted_worker_plays_on_as_if_nothing_had_been(tmp_path):
    """Killed from outside and dying by itself, over several episodes: the same bytes."""
    whole = odd(workers=0)
    envs = odd(flag=str(tmp_path / "flag"), on_worker_death="restart")
    for each in (whole, envs):
        each.reset(seed=3)
        each.set_attr("max_rounds", [5, 6, 7, 8])
    rng = np.random.default_rng(0)
    for n in range(20):
        actions = [f"guess {k}" for k in rng.integers(1, 51, size=4)]
        if n in (3, 13):
            victim = envs.call("pid")[n % 2]
            os.kill(victim, signal.SIGKILL)
        if n == 7:
            states = whole.get_states()
            assert plain(whole.set_states(states)) == plain(envs.set_states(states))
        if n == 9:  # a forfeited round is replayed as one, and an action that kills is played again
            actions[1:3] = [None, "once"]
            assert plain(envs.step(actions)) == plain(
                whole.step([actions[0], None, "x", actions[3]])
            )
            continue
        assert plain(envs.step(actions)) == plain(whole.step(actions))
    whole.close()
    envs.close()


def test_what_kills_every_worker_is_given_up():
    envs = odd(on_worker_death="restart")
    envs.reset(seed=0)
    with pytest.raises(WorkerLost, match="the one that replaced it ended with exit code 3"):
        envs.step(["die", "guess 1", "guess 1", "guess 1"])
    envs.reset(seed=0)
    assert envs.step(["guess 1"] * 4)[0] == ("It is higher.",) * 4
    envs.close()


def test_after_an_interruption_everything_is_reset():
    envs = odd(workers=0)
    envs.reset(seed=0)
    with pytest.raises(KeyboardInterrupt):
        envs.step(["guess 1", "interrupt", "guess 1", "guess 1"])
    with pytest.raises(ResetNeeded, match="environments 0, 1, 2, 3"):
        envs.step(["guess 1"] * 4)
    envs.reset(seed=0)
    envs.step(["guess 1"] * 4)
    envs.close()


def test_a_worker_that_does_not_answer_is_ended():
    envs = odd(worker_timeout=3.0)
    envs.reset(seed=0)
    pids = envs.call("pid")
    start = time.monotonic()
    with pytest.raises(WorkerLost, match="environments 0, 2 did not answer in time"):
        envs.step(["hang", "guess 1", "guess 1", "guess 1"])
    assert time.monotonic() - start < 30
    assert pids[0] not in children()
    assert envs.infos[1]["rounds"] == 1
    envs.close()


def test_an_environment_that_cannot_be_made_is_said():
    before = children()
    with pytest.raises(InvalidConfig, match="max_rounds"):
        make_vector("maze", 2, workers=2, max_rounds=0)
    assert children() == before


@pytest.mark.parametrize("workers", [0, 2])
def test_it_closes_for_real(workers, tmp_path):
    log = tmp_path / "closed"
    envs = odd(workers=workers)
    envs.set_attr("closed_at", str(log))
    envs.reset(seed=0)
    pids = {pid for pid in envs.call("pid") if pid != os.getpid()}
    assert len(pids) == workers
    envs.close()
    envs.close()
    assert not pids & children()
    assert log.read_text() == "closed\n" * 4
    for call in (envs.reset, envs.get_states, envs.step_wait, lambda: envs.step(["a"] * 4)):
        with pytest.raises(ClosedEnvironmentError):
            call()


def test_what_is_forgotten_is_closed():
    before = children()
    envs = odd(workers=1)
    assert len(children() - before) == 1
    del envs
    gc.collect()
    assert children() == before


SCRIPT = """
import os, signal, sys
import gymnasium, agentgym
{guard}
    envs = gymnasium.make_vec("agentgym/Maze-v0", num_envs=2, workers=2)
    envs.reset(seed=0)
    for process in __import__("multiprocessing").active_children():
        print(process.pid, flush=True)
    {end}
"""


def run_script(tmp_path: Path, guard: str, end: str) -> subprocess.CompletedProcess[str]:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT.format(guard=guard, end=end))
    root = str(Path(agentgym.__file__).parents[1])
    return subprocess.run(
        [sys.executable, str(path)],
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("end", ["raise SystemExit", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_no_process_outlives_a_script(tmp_path, end):
    done = run_script(tmp_path, "if __name__ == '__main__':", end)
    pids = [int(line) for line in done.stdout.split()]
    assert len(pids) == 2, done.stderr
    until = time.monotonic() + 20
    while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < until:
        time.sleep(0.05)
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]
    assert "Traceback" not in done.stderr


def test_a_script_without_its_guard_is_told(tmp_path):
    done = run_script(tmp_path, "if True:", "pass")
    assert done.returncode == 1
    assert "WorkerLost" in done.stderr
    assert "must start from `if __name__ == '__main__':`" in done.stderr.splitlines()[-1]


def test_losses_and_failures_can_be_pickled():
    for error in (WorkerLost((1, 2), "died", "Do."), EnvironmentFailed("environment 0")):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again)) == (type(error), str(error))
        assert isinstance(again, AgentGymError)


# Gymnasium's own tools on it.


def test_gymnasiums_wrappers_work_on_it():
    envs = make_vector("maze", 2, max_rounds=3)
    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(envs)
    envs.reset(seed=0)
    for _ in range(3):
        *_, infos = envs.step(["move up", "dance"])
    assert list(infos["episode"]["l"]) == [3, 3]
    envs = gymnasium.wrappers.vector.TransformReward(envs, lambda r: r + 1)
    envs = gymnasium.wrappers.vector.DictInfoToList(envs)
    _, rewards, _, _, infos = envs.step(["move up", "dance"])
    assert list(rewards) == [1, 1]
    assert [info["task_id"] for info in infos] == [i["task_id"] for i in envs.unwrapped.infos]
    envs.close()


def test_statistics_follow_a_mask():
    envs = make_vector("maze", 2, autoreset_mode=AutoresetMode.DISABLED, max_rounds=3)
    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(envs)
    envs.reset(seed=0)
    envs.step(["move up", "dance"])
    envs.reset(options={"reset_mask": np.array([True, False])})
    assert list(envs.episode_lengths) == [0, 1]
    envs.close()


def test_observations_can_be_transformed_one_by_one():
    space = UnicodeText()
    envs = gymnasium.wrappers.vector.VectorizeTransformObservation(
        make_vector("maze", 2),
        gymnasium.wrappers.TransformObservation,
        func=str.upper,
        observation_space=space,
    )
    observations, _ = envs.reset(seed=0)
    assert all(o == o.upper() for o in observations)
    envs.close()


def test_a_single_wrapped_environment_goes_into_a_vector():
    envs = TextVectorEnv([lambda: gymnasium.wrappers.RecordEpisodeStatistics(GuessEnv())] * 2)
    envs.reset(seed=0)
    while not (ended := envs.step(["guess 1", "guess 1"]))[3].all():
        pass
    assert list(ended[4]["episode"]["l"]) == [8, 8]
    envs.close()


# The parts beneath.

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(max_size=5),
    st.lists(st.integers(), max_size=3),
    st.dictionaries(st.sampled_from("xyz"), st.integers(-5, 5) | st.none(), max_size=2),
)
INFOS = st.dictionaries(
    st.integers(0, 4), st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3), max_size=5
)


@given(INFOS)
def test_every_value_of_an_info_is_found_in_the_batch(infos):
    batched = batch_infos(infos, 5)
    for index, info in infos.items():
        for key, value in info.items():
            assert batched[f"_{key}"][index]
            column = batched[key]
            if isinstance(column, dict):
                assert batch_infos({index: value}, 5).keys() <= column.keys()
                for name, part in value.items():
                    assert column[name][index] == part
            elif isinstance(value, int) and column.dtype == float:
                assert column[index] == float(value)  # a number among fractions
            else:
                assert column[index] == value
                assert column.shape == (5,)
    for key in {k for info in infos.values() for k in info}:
        filled = [key in infos.get(i, {}) for i in range(5)]
        assert list(batched[f"_{key}"]) == filled


def test_arrays_in_an_info_are_stacked():
    ones = np.ones((2, 3), dtype=np.float32)
    batched = batch_infos({0: {"a": ones, "b": np.int16(4)}, 2: {"a": ones, "b": np.int16(5)}}, 3)
    assert batched["a"].shape == (3, 2, 3)
    assert batched["a"].dtype == np.float32
    assert batched["b"].dtype == np.int16
    ragged = batch_infos({0: {"a": ones}, 1: {"a": ones[0]}}, 2)
    assert ragged["a"].dtype == object


@given(st.lists(st.text(st.characters(), max_size=9), min_size=3, max_size=3))
def test_shared_memory_holds_any_text(texts):
    memory = TextMemory(3, 9)
    for index, text in enumerate(texts):
        memory.write(index, text)
    view = TextView(memory)
    assert copy.deepcopy(view) == tuple(texts)
    assert view[1:] == tuple(texts[1:])
    memory.write(0, "new")
    assert view[0] == "new"
    with pytest.raises(ValueError, match="10 characters"):
        memory.write(0, "a" * 10)


def test_the_code_of_the_page_runs(tmp_path):
    """Each block alone, in one process: they share the guard."""
    root = Path(agentgym.__file__).parents[1]
    page = (root / "docs" / "vector.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 5
    for i, block in enumerate(blocks):
        (tmp_path / f"block_{i}.py").write_text(block)
    runner = f"""
import runpy
if __name__ == "__main__":
    for i in range({len(blocks)}):
        runpy.run_path(f"block_{{i}}.py", run_name="__main__")
        print("done")
"""
    (tmp_path / "run.py").write_text(runner)
    done = subprocess.run(
        [sys.executable, "run.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("done") == len(blocks)
