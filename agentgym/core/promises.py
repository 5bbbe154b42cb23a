"""The promises of the contract, one function each.

A promise plays what it must on an environment of its own and fails by an assertion, whose message
says how; its docstring's first line is its name in a report.
"""

from __future__ import annotations

import copy
import json
import math
import warnings
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env as gymnasium_check_env

from agentgym.core.command import match_call
from agentgym.core.env import TextEnv
from agentgym.core.errors import AgentGymError, BrokenContract
from agentgym.core.loading import load_tasks
from agentgym.core.vector.promise import vectorised

INFO_KEYS = ("task_id", "goal", "score", "success", "valid", "actions", "rounds")

GARBAGE: tuple[str, ...] = (
    "",
    " ",
    "\n",
    "\x00\x07\x1b[31m",
    "déjà vu 日本語 😀 \ud800",
    "Action: look",
    "{}[]()<>%s%d{0}{name}",
    "'; DROP TABLE tasks; --",
    "__import__('os').system('true')",
    "\\d+(a+)+$",
    "-1",
    "9" * 5_000,
    "a" * 100_000,
    " a" * 50_000,
)
"""Actions that have broken parsers before."""

Step = tuple[str, float, bool, bool, dict[str, Any]]


def _tasks(env: TextEnv, episodes: int) -> list[str]:
    """Spread a few tasks over the split."""
    tasks = env.tasks.split(env.split)
    stride = max(1, len(tasks) // episodes)
    return [t.id for t in tasks[::stride][:episodes]]


def _play(env: TextEnv, task_id: str, seed: int, steps: int) -> list[Step]:
    """Play random actions; the draw depends on the seed alone."""
    rng = np.random.default_rng(seed)
    observation, info = env.reset(seed=seed, options={"task_id": task_id})
    record: list[Step] = [(observation, 0.0, False, False, info)]
    for _ in range(steps):
        record.append(env.step(env.sample_action(rng)))
        if record[-1][2] or record[-1][3]:
            break
    return record


def _check_info(info: dict[str, Any]) -> None:
    missing = [key for key in INFO_KEYS if key not in info]
    assert not missing, f"info lacks {', '.join(missing)}"
    assert 0.0 <= info["score"] <= 1.0, f"score {info['score']} is outside [0, 1]"
    for key, kind in (("task_id", str), ("goal", str), ("success", bool), ("valid", bool)):
        assert isinstance(info[key], kind), f"info[{key!r}] is not a {kind.__name__}"
    actions = info["actions"]
    if actions is not None:
        assert isinstance(actions, list), "info['actions'] is neither a list nor None"
        assert all(isinstance(a, str) for a in actions), "info['actions'] holds other than text"
    json.dumps(info)


def _class_attributes(env: TextEnv, episodes: int) -> None:
    """Name, title, editions and instructions are there."""
    assert env.name.isidentifier(), f"name {env.name!r} is not an identifier"
    assert env.name == env.name.lower(), f"name {env.name!r} is not lower case"
    assert env.title, "no title"
    assert "mini" in env.editions or len(env.editions) == 1, "no mini edition"
    assert len(env.instructions) > 40, "instructions are empty or too short to hold the rules"


def _task_set(env: TextEnv, episodes: int) -> None:
    """The task set is frozen: reloading it gives the same digest."""
    first = load_tasks(type(env), env.edition, env.data_dir)
    again = type(env).load_tasks(env.edition, env.data_dir)
    assert again.digest == first.digest, "loading the tasks again gives another digest"
    args, kwargs = env._init_arguments  # which may choose tasks of their own
    twin = type(env)(*args, **kwargs)
    assert twin.tasks.digest == env.tasks.digest, "the same options give other tasks"
    twin.close()
    assert len(env.tasks) > 0, "there are no tasks"
    json.dumps([dict(t.spec) for t in env.tasks[:100]])


def _gymnasium_checker(env: TextEnv, episodes: int) -> None:
    """Gymnasium's own check_env passes without a warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        gymnasium_check_env(env, skip_render_check=False)
    ours = [str(w.message) for w in caught if "gymnasium" in str(w.filename)]
    assert not ours, f"Gymnasium warns: {ours[0]}"


def _info_complete(env: TextEnv, episodes: int) -> None:
    """Info has every key, of the right type, at every step."""
    for task_id in _tasks(env, episodes):
        for observation, reward, _, _, info in _play(env, task_id, 1, 20):
            assert isinstance(observation, str), "an observation is not text"
            assert math.isfinite(reward), "a reward is not finite"
            assert info["task_id"] == task_id, "info['task_id'] is not the task that was asked for"
            _check_info(info)


def _deterministic(env: TextEnv, episodes: int) -> None:
    """Same task, same seed, same actions: the same episode, byte for byte."""
    args, kwargs = env._init_arguments
    other = type(env)(*args, **kwargs)
    try:
        for task_id in _tasks(env, episodes):
            first = _play(env, task_id, 7, 25)
            _play(env, task_id, 8, 10)
            again, fresh = _play(env, task_id, 7, 25), _play(other, task_id, 7, 25)
            assert first == again, f"{task_id} played twice in one environment differs"
            assert first == fresh, f"{task_id} played in a fresh environment differs"
    finally:
        other.close()


def _seed_picks_task(env: TextEnv, episodes: int) -> None:
    """The seed picks the task, from the split that was asked for."""
    first = [env.reset(seed=seed)[1]["task_id"] for seed in range(6)]
    again = [env.reset(seed=seed)[1]["task_id"] for seed in range(6)]
    assert first == again, "the same seeds pick other tasks"
    if len(env.tasks.split(env.split)) > 20:
        assert len(set(first)) > 1, "every seed picks the same task"
    assert all(env.tasks.get(t).split == env.split for t in first), "a task of another split"


def _rewards_sum_to_score(env: TextEnv, episodes: int) -> None:
    """An episode's rewards sum to its final score."""
    for task_id in _tasks(env, episodes):
        record = _play(env, task_id, 3, 40)
        total = sum(step[1] for step in record)
        score = record[-1][4]["score"]
        assert math.isclose(total, score, abs_tol=1e-9), f"rewards sum to {total}, score {score}"


def _bad_actions(env: TextEnv, episodes: int) -> None:
    """Garbage never raises, is marked invalid and is answered."""
    for task_id in _tasks(env, episodes):
        env.reset(seed=0, options={"task_id": task_id})
        for action in GARBAGE:
            if env._terminated or env._truncated:
                env.reset(seed=0, options={"task_id": task_id})
            observation, _, _, _, info = env.step(action)
            _check_info(info)
            assert observation.strip(), f"no answer to {action[:30]!r}"
            assert len(observation) < 20_000, f"an answer of {len(observation)} characters"
            if len(action) > env.max_action_length or not action.strip():
                assert not info["valid"], f"{action[:30]!r} is no action, and counts as valid"
    env.reset(seed=0)
    assert env.step(None)[4]["valid"] is False, "None counts as a valid action"  # type: ignore[arg-type]


def _listed_actions(env: TextEnv, episodes: int) -> None:
    """Every action in info['actions'] is valid when played."""
    for task_id in _tasks(env, episodes):
        _, info = env.reset(seed=0, options={"task_id": task_id})
        state = env.get_state()
        for action in (info["actions"] or [])[:12]:
            env.set_state(state)
            answer = env.step(action)
            assert answer[4]["valid"], f"{action!r} is listed but answered {answer[0][:80]!r}"


def _rounds_truncate(env: TextEnv, episodes: int) -> None:
    """The episode is truncated when max_rounds is spent, forfeited rounds included."""
    env.reset(seed=0)
    steps, ended = 0, False
    while not ended:
        _, _, terminated, truncated, info = env.forfeit("That reply held no action.")
        steps, ended = steps + 1, terminated or truncated
        assert steps <= env.max_rounds, f"still running after {steps} rounds"
        assert not info["valid"], "a forfeited round counts as valid"
    assert truncated or terminated, "the episode did not end"
    assert not truncated or steps == env.max_rounds, f"truncated after {steps} rounds"


def _order_enforced(env: TextEnv, episodes: int) -> None:
    """Stepping before reset or after the end raises gymnasium.error.ResetNeeded."""
    args, kwargs = env._init_arguments
    fresh = type(env)(*args, **kwargs)
    _expect_reset_needed(fresh, "before reset")
    fresh.close()
    env.reset(seed=0)
    for _ in range(env.max_rounds):
        _, _, terminated, truncated, _ = env.forfeit("No action.")
        if terminated or truncated:
            break
    _expect_reset_needed(env, "after the end")


def _expect_reset_needed(env: TextEnv, when: str) -> None:
    try:
        env.step("look")
    except ResetNeeded:
        return
    raise BrokenContract(f"step() {when} did not raise gymnasium.error.ResetNeeded")


def _bad_options(env: TextEnv, episodes: int) -> None:
    """Unknown tasks, options and editions raise errors that say what would be right."""
    calls: list[Callable[[], Any]] = [
        lambda: env.reset(options={"task_id": f"{env.name}_999999999"}),
        lambda: env.reset(options={"task_id": "nonsense"}),
        lambda: env.reset(options={"no_such_option": 1}),
        lambda: env.reset(options={"split": "tset"}),
        lambda: type(env)(edition="no-such-edition"),
        lambda: type(env)(max_rounds=0),
        lambda: env.set_state({}),
    ]
    for i, call in enumerate(calls):
        try:
            call()
        except AgentGymError:
            continue
        raise BrokenContract(f"bad option {i} was accepted")


def _snapshots(env: TextEnv, episodes: int) -> None:
    """A snapshot returns to its moment, and a fork plays on as the original would."""
    for task_id in _tasks(env, episodes):
        rng = np.random.default_rng(5)
        observation, info = env.reset(seed=5, options={"task_id": task_id})
        for _ in range(6):
            if env._terminated or env._truncated:
                break
            observation, _, _, _, info = env.step(env.sample_action(rng))
        state = json.loads(json.dumps(env.get_state()))
        draws = int(rng.integers(2**31))
        twin = env.fork()
        try:
            ahead = _continue(env, draws)
            assert ahead == _continue(twin, draws), f"{task_id}: a fork plays on differently"
            assert env.set_state(state) == (observation, info), f"{task_id}: another moment"
            assert env.get_state() == state, f"{task_id}: the snapshot of a snapshot differs"
            assert ahead == _continue(env, draws), f"{task_id}: plays on differently once restored"
        finally:
            twin.close()


def _continue(env: TextEnv, seed: int, steps: int = 8) -> list[Step]:
    rng = np.random.default_rng(seed)
    record: list[Step] = []
    while len(record) < steps and not (env._terminated or env._truncated):
        record.append(env.step(env.sample_action(rng)))
    return record


def _deep_copy(env: TextEnv, episodes: int) -> None:
    """A deep copy is at the same moment of the same episode."""
    env.reset(seed=2)
    env.step(env.sample_action(np.random.default_rng(2)))
    twin = copy.deepcopy(env)
    try:
        assert twin.history == env.history, "the copy has another history"
        assert twin.render() == env.render() if env.render_mode != "rgb_array" else True
    finally:
        twin.close()


def _commands_match(env: TextEnv, episodes: int) -> None:
    """What the expert does is in the declared grammar and survives a tool call."""
    if not env.commands:
        return
    for action in _expert_actions(env, _tasks(env, 1)[0]):
        call = match_call(env.commands, action)
        assert call is not None, f"no command renders to {action!r}"
        command, arguments = call
        assert command.render(json.loads(json.dumps(arguments))) == action, (
            f"{command.name}({arguments}) renders to {command.render(arguments)!r}, not {action!r}"
        )


def _expert_actions(env: TextEnv, task_id: str) -> list[str]:
    observation, info = env.reset(seed=0, options={"task_id": task_id})
    try:
        expert = env.expert()
    except NotImplementedError:
        return []
    actions = []
    ended = False
    while not ended:
        thought, action = expert.act(observation, info)
        assert thought.strip(), f"no thought for {action!r}"
        observation, _, terminated, truncated, info = env.step(action)
        actions.append(action)
        ended = terminated or truncated
    return actions


def expert_solves(env: TextEnv, episodes: int) -> None:
    """The expert solves tasks within the rounds, with a reason for every move."""
    for task_id in _tasks(env, episodes):
        actions = _expert_actions(env, task_id)
        assert actions, "there is no expert; where none is meant to be, check with --no-expert"
        assert env._success, f"{task_id}: not solved after {len(actions)} rounds"
        assert env._score == 1.0, f"{task_id}: solved with score {env._score}"


def _renders(env: TextEnv, episodes: int) -> None:
    """render() gives text, and a picture where one is declared."""
    env.reset(seed=0)
    assert isinstance(env.render(), str), "render() does not give text"
    if "rgb_array" in env.metadata["render_modes"]:
        args, kwargs = env._init_arguments
        picture = type(env)(*args, **{**kwargs, "render_mode": "rgb_array"})
        picture.reset(seed=0)
        pixels = picture.render()
        picture.close()
        assert pixels.dtype == np.uint8, f"pixels of type {pixels.dtype}"
        assert pixels.ndim == 3, f"a picture of shape {pixels.shape}"
        assert pixels.shape[2] == 3, f"a picture of shape {pixels.shape}"


def _closes_twice(env: TextEnv, episodes: int) -> None:
    """close() works twice, and before the first reset."""
    args, kwargs = env._init_arguments
    fresh = type(env)(*args, **kwargs)
    fresh.close()
    fresh.close()
    env.reset(seed=0)
    env.close()
    env.close()


def _wrapped(env: TextEnv, episodes: int) -> None:
    """gymnasium.make and its wrappers work on it."""
    wrapped = gymnasium.wrappers.RecordEpisodeStatistics(env)
    wrapped.reset(seed=0)
    ended = False
    rng = np.random.default_rng(0)
    while not ended:
        _, _, terminated, truncated, info = wrapped.step(env.sample_action(rng))
        ended = terminated or truncated
    assert math.isclose(float(info["episode"]["r"]), info["score"], abs_tol=1e-5)


PROMISES: tuple[Callable[[TextEnv, int], None], ...] = (
    _class_attributes,
    _task_set,
    _gymnasium_checker,
    _info_complete,
    _deterministic,
    _seed_picks_task,
    _rewards_sum_to_score,
    _bad_actions,
    _listed_actions,
    _rounds_truncate,
    _order_enforced,
    _bad_options,
    _snapshots,
    _deep_copy,
    _commands_match,
    expert_solves,
    _renders,
    _closes_twice,
    _wrapped,
    vectorised,
)
