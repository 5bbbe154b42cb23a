"""What an exploration is of: tasks, and not environments, decide what holds for an episode."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentgym.baselines.agentevol import AgentEvolConfig, train, weigh
from agentgym.baselines.config import EnvTasks
from agentgym.baselines.configfile import resolve
from agentgym.baselines.examples import expert_episodes
from agentgym.baselines.explore import ExploreConfig, plan_jobs
from agentgym.baselines.progress import silent
from agentgym.baselines.scope import Part, limited, thresholds
from agentgym.core.errors import InvalidConfig
from agentgym.rollout.episode import Episode
from agentgym.trajectories import read
from agentgym.trajectories.published import PublishedItem
from tests.baselines import tiny
from tests.baselines.test_pairs import attempt

SMALL: dict[str, Any] = {"env": "maze", "options": {"size": [5, 5]}}
WINDING, EVEN = ({"env": "maze", "kinds": (f"{kind}-7x7",)} for kind in ("winding", "even"))


def explored(*entries: dict[str, Any], samples: int = 1) -> ExploreConfig:
    envs = [EnvTasks(**entry) for entry in entries]
    return ExploreConfig(agent="random", envs=tuple(envs), samples=samples)


def demos(*entries: dict[str, Any]) -> list[Episode]:
    return [e for entry in entries for e in expert_episodes(EnvTasks(**{**entry, "tasks": 2}))]


def played(parts: list[Part]) -> list[tuple[str, str, int | None]]:
    """Return what is played: the task, its kind, and the rounds it may take."""
    jobs = [job for part in parts for job in plan_jobs(part.config, only=part.only)]
    return sorted((job.task.id, job.task.kind, job.env.max_rounds) for job in jobs)


def test_an_entry_explores_the_demonstrated_tasks_of_its_kinds() -> None:
    initial = demos(WINDING, EVEN)
    some = [e for e in initial if e.kind == "winding-7x7"]
    parts = limited(explored({**WINDING, "max_rounds": 9}), initial)
    assert played(parts) == sorted((e.task_id, e.kind, 9) for e in some)
    assert len(some) == parts[0].count == 2


def test_an_environment_may_be_named_twice() -> None:
    initial = demos(WINDING, EVEN)
    config = explored({**WINDING, "max_rounds": 9}, {**EVEN, "max_rounds": 4}, tiny.GUESS)
    parts = limited(config, [*initial, *demos(tiny.GUESS)])
    assert [len(part.config.envs) for part in parts] == [2, 1]
    rounds = {"winding-7x7": 9, "even-7x7": 4}
    assert [p for p in played(parts) if p[0].startswith("maze")] == sorted(
        (e.task_id, e.kind, rounds[e.kind]) for e in initial
    )
    assert sum(part.count for part in parts) == 6


def test_a_task_of_the_same_name_in_another_set_is_not_the_one_that_was_demonstrated() -> None:
    initial = demos(SMALL)
    assert {e.task_id for e in initial} & {e.task_id for e in demos(WINDING)}
    assert limited(explored(WINDING, SMALL), initial) == limited(explored(SMALL), initial)
    other = {"env": "maze", "edition": "official"}
    for entry in (WINDING, {**SMALL, "split": "eval"}, other):
        with pytest.raises(InvalidConfig, match=r"demonstrated tasks.*explore\.envs"):
            limited(explored(entry), initial)


def test_no_demonstrated_task_is_left_out_for_the_number_of_tasks() -> None:
    (part,) = limited(explored({**SMALL, "tasks": 1}), demos(SMALL))
    assert part.count == 2


def test_published_items_are_told_by_their_ids() -> None:
    items = [PublishedItem(item_id=name) for name in ("lmrlgym_maze_3", "maze_5", "wordle_1")]
    (part,) = limited(explored(SMALL, {"env": "babyai"}), [*items, PublishedItem(item_id="x")])
    assert part.only == {"agentgym/Maze-v0": ["maze_3", "maze_5"]}


def test_two_entries_of_one_task_are_refused() -> None:
    with pytest.raises(InvalidConfig, match="2 demonstrated tasks of agentgym/Maze-v0 twice"):
        limited(explored({"env": "maze", "max_rounds": 9}, EVEN), demos(EVEN))


def test_a_threshold_is_that_of_the_entry_a_task_belongs_to() -> None:
    entries = [{**WINDING, "threshold": 0.2, "tasks": 5}, {**EVEN, "threshold": 0.9, "tasks": 5}]
    config = resolve(AgentEvolConfig, {"explore": {"envs": entries}})
    jobs = plan_jobs(config.explore)
    episodes = [
        attempt(job.task.index, 0, 0.5).model_copy(update={"kind": job.task.kind}) for job in jobs
    ]
    assert {e.kind for e in episodes} == {"winding-7x7", "even-7x7"}
    assert {k.episode.kind for k in weigh(episodes, config)} == {"winding-7x7"}
    assert len(weigh(episodes, config)) == 5
    find = thresholds(config.explore.envs, every=True)
    (last,) = demos({**EVEN, "tasks": 2})[-1:]
    assert find(last) == 0.9


def test_a_limited_run_plays_every_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("trl")
    monkeypatch.setattr(
        "agentgym.baselines.agentevol.learn",
        lambda examples, *_, **__: {"examples": {"rows": len(examples)}, "steps": 1, "loss": 0.0},
    )
    data = {
        "model": {"name": "owner/model"},
        "policy": "owner/policy",
        "data": {"expert": [{**WINDING, "tasks": 2}, {**EVEN, "tasks": 3}]},
        "explore": {
            "agent": "random",
            "envs": [{**WINDING, "max_rounds": 3}, {**EVEN, "max_rounds": 2}],
            "samples": 2,
        },
        "iterations": 1,
        "scope": "limited",
    }
    said: list[str] = []
    result = train(resolve(AgentEvolConfig, data), tmp_path / "run", said.append)
    assert result["rounds"][0]["explored"] == 10
    assert said[0] == "of 5 demonstrations 5 tasks are explored"
    place = tmp_path / "run" / "round-1"
    for name, rounds, count in (("explore", 3, 4), ("explore-2", 2, 6)):
        assert [e.max_rounds for e in read(place / name)] == [rounds] * count
    assert train(resolve(AgentEvolConfig, data), tmp_path / "run", silent) == result
