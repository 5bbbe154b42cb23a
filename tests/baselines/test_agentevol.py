"""AgentEvol: what is kept, with which weight, merged with what; and rounds that can be taken up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("trl")

import torch

from agentgym.baselines.agentevol import (
    UNREAD,
    AgentEvolConfig,
    Weighted,
    best,
    merge,
    plan,
    reward,
    train,
    weigh,
)
from agentgym.baselines.config import EnvTasks
from agentgym.baselines.configfile import resolve
from agentgym.baselines.examples import Example
from agentgym.baselines.explore import ExploreConfig, explore, plan_jobs
from agentgym.baselines.progress import silent
from agentgym.baselines.rounds import rounds_table
from agentgym.core.errors import InvalidConfig
from agentgym.rollout.episode import Episode, Failure
from agentgym.trajectories import read
from tests.baselines import tiny
from tests.baselines.test_pairs import attempt, attempts


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def config_of(**changes: Any) -> AgentEvolConfig:
    data: dict[str, Any] = {
        "model": tiny.MODEL.model_dump(),
        "data": {"expert": [{**tiny.GUESS, "tasks": 4}]},
        "explore": {
            "agent": "tests.baselines.stub:Sometimes",
            "envs": [{**tiny.GUESS, "tasks": 6}],
            "samples": 2,
            "sampling": {"concurrency": 1},
        },
        "iterations": 2,
        "optim": {"lr": 1e-2, "max_steps": 2, "batch_size": 4, "threads": 1},
        "eval": {
            "envs": [{**tiny.GUESS, "split": "eval", "tasks": 1, "max_rounds": 1}],
            "sampling": {"max_tokens": 4},
        },
        "tensorboard": False,
    }
    return resolve(AgentEvolConfig, {**data, **changes})


@given(attempts, st.sampled_from(["binary", "graded", "none"]), st.sampled_from(["best", "all"]))
def test_what_is_kept_is_the_papers_reward(episodes: list[Episode], kind: str, keep: str) -> None:
    config = AgentEvolConfig.model_validate({"reward": kind, "keep": keep})
    kept = weigh(episodes, config)
    # A slow reference, task by task.
    wanted: list[tuple[str, float]] = []
    for task in dict.fromkeys(e.task_id for e in episodes):
        mine = [e for e in episodes if e.task_id == task]
        weights = {"binary": [float(e.success) for e in mine], "graded": [e.score for e in mine],
                   "none": [1.0] * len(mine)}[kind]  # fmt: skip
        sound = [(e, w) for e, w in zip(mine, weights, strict=True) if w > 0]
        if keep == "best" and sound:
            sound = [max(sound, key=lambda p: (p[0].score, -p[0].rounds, -p[0].attempt))]
        wanted += [(e.key, w) for e, w in sound]
    assert sorted((k.episode.key, k.weight) for k in kept) == sorted(wanted)


def test_the_best_of_a_task_is_kept_and_not_the_first() -> None:
    episodes = [
        attempt(0, 0, 0.3),
        attempt(0, 1, 1.0, 5),
        attempt(0, 2, 1.0, 3),
        attempt(0, 3, 1.0, 3),
    ]
    (kept,) = best([Weighted(e, e.score) for e in episodes])
    assert kept.episode.attempt == 2


@pytest.mark.parametrize(
    ("kind", "threshold", "score", "wanted"),
    [
        ("binary", None, 1.0, 1.0),
        ("binary", None, 0.9, 0.0),
        ("binary", 0.99, 1.0, 1.0),
        ("binary", 0.99, 0.99, 0.0),
        ("binary", 0.0, 0.1, 1.0),
        ("graded", None, 0.4, 0.4),
        ("graded", 0.5, 0.4, 0.0),
        ("graded", 0.5, 0.6, 0.6),
        ("none", None, 0.0, 1.0),
    ],
)
def test_the_reward_of_a_trajectory(
    kind: str, threshold: float | None, score: float, wanted: float
) -> None:
    assert reward(attempt(0, 0, score), kind, threshold) == wanted


def test_thresholds_are_those_of_each_environment() -> None:
    config = AgentEvolConfig(
        explore=ExploreConfig(
            envs=(EnvTasks(env="maze", threshold=0.2), EnvTasks(env="wordle", threshold=0.9))
        )
    )
    episodes = [attempt(0, 0, 0.5), attempt(1, 0, 0.5, 2).model_copy(
        update={"env_id": "agentgym/Wordle-v0"})]  # fmt: skip
    assert [k.episode.task_id for k in weigh(episodes, config)] == ["maze_0"]


def test_what_broke_is_never_learned() -> None:
    failure = Failure(where="model", type="ModelError", message="gone")
    broken = attempt(0, 0, 1.0, status="failed", failure=failure)
    assert weigh([broken], AgentEvolConfig(reward="none")) == []


def test_a_round_is_merged_as_the_ablation_says() -> None:
    new, first, before = ([Example([], [], name)] for name in ("new", "first", "before"))
    assert merge(new, first, before, "initial") == [*new, *first]
    assert merge(new, first, before, "previous") == [*new, *before]
    assert merge(new, first, before, "none") == new


def test_k_samples_are_k_episodes_of_their_own() -> None:
    config = ExploreConfig(envs=(EnvTasks(**tiny.GUESS, tasks=5),), samples=3)
    jobs = plan_jobs(config, seed=4)
    assert len(jobs) == 15
    assert len({job.agent_seed for job in jobs}) == 15
    assert {job.attempt for job in jobs} == {0, 1, 2}
    with pytest.raises(InvalidConfig, match="twice"):
        plan_jobs(ExploreConfig(envs=(EnvTasks(env="maze"), EnvTasks(env="maze", tasks=3))))
    with pytest.raises(InvalidConfig, match="nothing to explore"):
        plan_jobs(ExploreConfig())


def test_two_rounds_from_end_to_end(tmp_path: Path) -> None:
    config = config_of()
    said: list[str] = []
    result = train(config, tmp_path / "run", said.append)
    rows = result["rounds"]
    assert [row["round"] for row in rows] == [0, 1, 2]
    assert [row["explored"] for row in rows] == [0, 12, 12]
    # Every second attempt goes well: one of two a task is kept, and merged with 4 demonstrations.
    assert [row["solved"] for row in rows] == [0, 6, 6]
    assert [row["kept"] for row in rows] == [0, 6, 6]
    assert [row["examples"] for row in rows] == [4, 10, 10]
    assert all(row["eval"]["Guess"]["episodes"] == 1 for row in rows)
    for m in (1, 2):
        place = tmp_path / "run" / f"round-{m}"
        assert {e.success for e in read(place / "kept.jsonl")} == {True}
        assert len(read(place / "explore")) == 12
        assert (place / "train" / "model" / "config.json").is_file()
    assert (tmp_path / "run" / "rounds.md").read_text() == rounds_table(rows)
    assert result["policy"].endswith("round-2/train/model")
    assert train(config, tmp_path / "run", silent) == json.loads(json.dumps(result))


def test_what_a_threshold_lets_through_counts_as_solved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "agentgym.baselines.agentevol.learn",
        lambda *a, **k: {"examples": {"rows": 1}, "steps": 1, "loss": 0.0},
    )
    poor = [attempt(i, 0, score) for i, score in enumerate((0.2, 0.5, 1.0))]
    monkeypatch.setattr("agentgym.baselines.agentevol.explore", lambda *a, **k: poor)
    config = config_of(iterations=1, explore={"envs": [{"env": "maze", "threshold": 0.3}]})
    (_, row) = train(config, tmp_path, silent)["rounds"]
    assert (row["kept"], row["solved"]) == (2, 2)  # the environment calls one of them solved


@pytest.mark.parametrize(
    ("start", "wanted"),
    [("base", "base"), ("bc", "round-0/train/model"), ("continue", "round-1/train/model")],
)
def test_a_round_begins_where_the_ablation_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: str, wanted: str
) -> None:
    began: list[str] = []

    def learn(examples: Any, config: Any, folder: Path, say: Any, **_: Any) -> Any:
        began.append(config.model.name)
        return {"examples": {"rows": len(examples)}, "steps": 1, "loss": 0.0}

    monkeypatch.setattr("agentgym.baselines.agentevol.learn", learn)
    train(config_of(start=start), tmp_path, silent)
    assert began[0] == str(tmp_path / "base")
    assert began[2] == str(tmp_path / wanted)


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"merge": "previous"}, [4, 10, 12]),
        ({"merge": "none", "keep": "all"}, [4, 6, 6]),
        ({"reward": "none", "keep": "all"}, [4, 16, 16]),
        ({"scope": "limited"}, [4, 8, 8]),
        ({"scope": "limited", "policy": "owner/policy"}, [8, 8]),
    ],
)
def test_each_ablation_is_a_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], wanted: list[int]
) -> None:
    learned: list[int] = []

    def learn(examples: Any, config: Any, folder: Path, say: Any, **_: Any) -> Any:
        learned.append(len(examples))
        return {"examples": {"rows": len(examples)}, "steps": 1, "loss": 0.0}

    monkeypatch.setattr("agentgym.baselines.agentevol.learn", learn)
    train(config_of(**changes), tmp_path, silent)
    assert learned == wanted


def test_without_a_use_for_them_no_demonstrations_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began: list[tuple[str, int]] = []

    def learn(examples: Any, config: Any, folder: Path, say: Any, **_: Any) -> Any:
        began.append((config.model.name, len(examples)))
        return {"examples": {"rows": len(examples)}, "steps": 1, "loss": 0.0}

    monkeypatch.setattr("agentgym.baselines.agentevol.learn", learn)
    alone = {"policy": "owner/policy", "merge": "none", "iterations": 1}
    none: dict[str, Any] = {"data": {"expert": []}}
    base = {"model": {"name": "owner/base", "device": "cpu"}}
    train(config_of(**alone, **none, **base), tmp_path / "base", silent)
    train(config_of(**alone, **none, start="bc"), tmp_path / "bc", silent)
    assert began == [("owner/base", 6), ("owner/policy", 6)]
    assert plan(config_of(**alone, **base))[1].strip() == UNREAD  # given, and still not read
    for needed in ({"merge": "initial"}, {"scope": "limited"}, {"policy": None}, tiny_base()):
        with pytest.raises(InvalidConfig, match="there are no demonstrations"):
            train(config_of(**{**alone, **none, **base, **needed}), tmp_path / "x", silent)


def tiny_base() -> dict[str, Any]:
    """A model from scratch, whose tokenizer is made from the demonstrations."""
    return {"model": tiny.MODEL.model_dump()}


def test_a_round_that_solves_nothing_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "agentgym.baselines.agentevol.learn",
        lambda *a, **k: {"examples": {"rows": 1}, "steps": 1, "loss": 0.0},
    )
    config = config_of(
        merge="none",
        explore={"agent": "random", "envs": [{**tiny.GUESS, "max_rounds": 1, "tasks": 2}]},
    )
    with pytest.raises(InvalidConfig, match="solved none of 2 episodes"):
        train(config, tmp_path, silent)


def test_an_exploration_that_was_cut_short_goes_on(tmp_path: Path) -> None:
    config = ExploreConfig(agent="random", envs=(EnvTasks(**tiny.GUESS, tasks=6),), samples=2)
    whole = explore(config, "", tmp_path / "whole", silent, seed=1)
    explore(config, "", tmp_path / "cut", silent, seed=1)
    log = tmp_path / "cut" / "episodes.jsonl"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:5]) + b'{"torn')
    (tmp_path / "cut" / "whole").unlink()
    assert [e.digest for e in explore(config, "", tmp_path / "cut", silent, seed=1)] == [
        e.digest for e in whole
    ]
    (tmp_path / "cut" / "whole").unlink()
    with pytest.raises(InvalidConfig, match="seed"):
        explore(config, "", tmp_path / "cut", silent, seed=2)


def test_the_policy_of_the_moment_explores(tmp_path: Path) -> None:
    folder = tiny.save(tiny.policy(), tmp_path / "policy")
    config = ExploreConfig.model_validate({
        "envs": [{**tiny.GUESS, "tasks": 2, "max_rounds": 2}], "samples": 2,
        "sampling": {"temperature": 1.0, "max_tokens": 6},
    })  # fmt: skip
    episodes = explore(config, folder, tmp_path / "run", silent, model=tiny.MODEL)
    assert len(episodes) == 4
    replies = [[step.reply for step in e.steps] for e in episodes]
    assert replies[0] != replies[1]  # two samples of one task
    assert str(tmp_path) not in (tmp_path / "run" / "config.json").read_text()


def test_a_control_that_would_filter_all_the_same_is_refused() -> None:
    with pytest.raises(InvalidConfig, match="set keep to all"):
        config_of(reward="none")
    assert config_of(reward="none", keep="all").keep == "all"
