"""Replaying a record, and telling a true one from a false one."""

from __future__ import annotations

from pathlib import Path

import pytest

import tests.toy  # noqa: F401  (registers the toy environment)
from agentgym.agents.expert import ExpertAgent
from agentgym.agents.random import RandomAgent
from agentgym.agents.replay import NotRecorded, ReplayAgent
from agentgym.core import AgentGymError
from agentgym.rollout import EnvChoice, Episode, RunFolder, plan, rollout
from agentgym.rollout.verify import verify_episode

GUESS = EnvChoice(env_id="tests/Guess-v0")


def record(attempts: int = 1, seed: int = 0, tasks: int = 4) -> list[Episode]:
    jobs = plan([GUESS], tasks=tasks, attempts=attempts, seed=seed)
    return rollout(jobs, RandomAgent())


def bare(episode: Episode) -> dict[str, object]:
    return episode.model_dump(exclude={"duration", "agent"})


def test_a_replay_is_the_same_episode() -> None:
    episodes = record(attempts=3)
    jobs = plan([GUESS], tasks=4, attempts=3)
    again = rollout(jobs, ReplayAgent(episodes, seed=0), concurrency=5)
    assert list(map(bare, again)) == list(map(bare, episodes))
    assert len({e.actions for e in episodes}) > 4  # attempts differ, so they were told apart


def test_a_run_folder_knows_its_seed(tmp_path: Path) -> None:
    jobs = plan([GUESS], tasks=2, attempts=2, seed=5)
    with RunFolder.create(tmp_path / "run", {"seed": 5}) as run:
        episodes = rollout(jobs, RandomAgent(), run=run)
    again = rollout(jobs, ReplayAgent(tmp_path / "run"))
    assert list(map(bare, again)) == list(map(bare, episodes))


@pytest.mark.parametrize("name", ["episode.json", "episodes.jsonl"])
def test_a_file_can_be_replayed(tmp_path: Path, name: str) -> None:
    episode = record(tasks=1)[0]
    (tmp_path / name).write_text(episode.model_dump_json() + "\n")
    (again,) = rollout(plan([GUESS], tasks=1), ReplayAgent(tmp_path / name))
    assert again.actions == episode.actions


def test_thoughts_are_kept() -> None:
    jobs = plan([EnvChoice(env_id="agentgym/Maze-v0")], tasks=1)
    episodes = rollout(jobs, ExpertAgent())
    again = rollout(jobs, ReplayAgent(episodes))
    assert [s.thought for s in again[0].steps] == [s.thought for s in episodes[0].steps]
    assert all(s.thought for s in again[0].steps)


def test_a_forfeited_round_is_forfeited_again() -> None:
    jobs = plan([GUESS], tasks=1)
    episode = rollout(jobs, RandomAgent())[0]
    silent = episode.steps[0].model_copy(update={"action": None, "valid": False})
    record = episode.model_copy(update={"steps": (silent, *episode.steps[1:])})
    (again,) = rollout(jobs, ReplayAgent(record))
    assert again.actions[0] is None
    assert not again.steps[0].valid


def test_a_task_that_is_not_recorded_is_named() -> None:
    (episode,) = record(tasks=1)
    (answer,) = rollout(plan([GUESS], task_ids=["guess_10"]), ReplayAgent(episode))
    assert answer.status == "failed"
    assert answer.failure is not None
    assert "guess_10 (mini) is not recorded" in answer.failure.message


def test_a_record_that_ends_early_says_so() -> None:
    (episode,) = record(tasks=1)
    cut = episode.model_copy(update={"steps": episode.steps[:1]})
    (answer,) = rollout(plan([GUESS], tasks=1), ReplayAgent(cut))
    assert answer.failure is not None
    assert "ends after 1 rounds" in answer.failure.message


def test_other_tasks_are_refused() -> None:
    (episode,) = record(tasks=1)
    other = episode.model_copy(update={"tasks_digest": "0" * 64})
    (answer,) = rollout(plan([GUESS], tasks=1), ReplayAgent(other))
    assert answer.failure is not None
    assert "other tasks" in answer.failure.message


def test_sources_without_episodes_are_errors(tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text("{}\n")
    for source in ([], tmp_path / "nothing", tmp_path / "bad.jsonl", tmp_path):
        with pytest.raises(NotRecorded):
            ReplayAgent(source)


def test_a_true_record_verifies() -> None:
    for episode in record(attempts=2):
        assert verify_episode(episode) == []


@pytest.mark.parametrize(
    ("change", "what", "where"),
    [
        ({"observation": "Something else."}, "observation", 0),
        ({"goal": "win"}, "goal", 0),
        ({"score": 1.0, "success": True}, "score", 2),
        ({"tasks_digest": "f" * 64}, "tasks_digest", 0),
        ({"task_id": "guess_999"}, "task_id", 0),
        ({"seed": 1, "truncated": True, "terminated": True}, "terminated", 2),
    ],
)
def test_a_false_record_is_caught(change: dict[str, object], what: str, where: int) -> None:
    choice = EnvChoice(env_id="tests/Guess-v0", max_rounds=2)
    episode = next(e for e in rollout(plan([choice]), RandomAgent()) if not e.success)
    assert verify_episode(episode) == []
    differences = verify_episode(episode.model_copy(update=change))
    assert (differences[0].what, differences[0].round) == (what, where)
    assert what in str(differences[0])


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"observation": "Warmer."}, "observation"),
        ({"score": 0.5}, "score"),
        ({"reward": 0.25}, "reward"),
        ({"valid": False}, "valid"),
        ({"action": "guess 51"}, "observation"),
    ],
)
def test_the_round_that_lies_is_named(change: dict[str, object], what: str) -> None:
    episode = next(e for e in record() if e.rounds > 3 and "guess 51" not in e.actions)
    steps = list(episode.steps)
    if what == "observation" and "action" in change:
        change = {"action": "look"}
    steps[2] = steps[2].model_copy(update=change)
    differences = verify_episode(episode.model_copy(update={"steps": tuple(steps)}))
    assert (differences[0].what, differences[0].round) == (what, 3)


def test_actions_after_the_end_are_caught() -> None:
    episode = record(tasks=1)[0]
    longer = episode.model_copy(update={"steps": (*episode.steps, episode.steps[-1])})
    assert verify_episode(longer)[0].what == "action"


def test_an_environment_that_is_not_there_is_an_error() -> None:
    episode = record(tasks=1)[0].model_copy(update={"env_id": "tests/NotThere-v0"})
    with pytest.raises(AgentGymError):
        verify_episode(episode)
