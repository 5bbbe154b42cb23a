"""Collecting, and AgentTraj-mini."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium
import pytest

import tests.toy  # noqa: F401  (registers tests/Guess-v0)
from agentgym.agents.base import Agent
from agentgym.agents.expert import ExpertAgent
from agentgym.core import find_card
from agentgym.core.errors import InvalidConfig, UnknownEnvironment
from agentgym.core.loading import load_tasks
from agentgym.trajectories import (
    CollectionWarning,
    ExpertFailed,
    InvalidTrajectories,
    TrajectoryDataset,
    collect,
    gather,
    read,
)
from agentgym.trajectories.mini import (
    build_mini,
    compare,
    digests_of,
    expected_digests,
    main,
    verify_mini,
    write_digests,
)

GUESS = "tests/Guess-v0"
OTHER = "tests/OtherGuess-v0"

if OTHER not in gymnasium.registry:
    gymnasium.register(OTHER, entry_point="tests.toy:GuessEnv", disable_env_checker=True)


class Stubborn(Agent):
    """Always says the same number."""

    name = "stubborn"

    def act(self, observation: str, info: Mapping[str, Any]) -> str:
        return "guess 2"


class Counting(ExpertAgent):
    """An expert that counts the episodes it plays."""

    started = 0

    def begin(self) -> None:
        Counting.started += 1
        super().begin()


def test_the_expert_solves_and_explains_every_train_task() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dataset = collect("tests.toy:tests/Guess-v0")
    # The module stays in the id, so that any process can make the environment again.
    assert {e.env_id for e in dataset} == {"tests.toy:tests/Guess-v0"}
    assert len(dataset) == 20
    assert all(e.success and e.split == "train" and e.agent == "expert" for e in dataset)
    for step in dataset[3].steps:
        assert step.thought.startswith("It is between")
        assert step.reply == f"Thought: {step.thought}\nAction: {step.action}"
        assert step.loss
    assert GUESS in dataset.about.description


@pytest.mark.parametrize("action_format", ["react", "function_calling", "code_as_action"])
def test_every_format_holds_the_same_thoughts_and_actions(action_format: str) -> None:
    plain = collect(GUESS, tasks=3)
    found = collect(GUESS, tasks=3, action_format=action_format)
    assert found.card.action_formats == (action_format,)
    for a, b in zip(plain, found, strict=True):
        assert (a.actions, a.score) == (b.actions, b.score)
        assert [s.thought for s in a.steps] == [s.thought for s in b.steps]
        assert all(step.thought in step.reply for step in b.steps)


def test_what_the_expert_does_not_solve_is_said_aloud() -> None:
    with pytest.warns(CollectionWarning, match=r"\d+ of 20 episodes .*when 2 rounds were spent"):
        dataset = collect(GUESS, max_rounds=2)
    assert 0 < len(dataset) < 20
    assert all(e.success for e in dataset)
    with pytest.raises(ExpertFailed, match="keep='all'"):
        collect(GUESS, max_rounds=2, strict=True)
    assert len(collect(GUESS, max_rounds=2, keep="all")) == 20
    kept, left_out = gather(GUESS, max_rounds=2)
    assert len(kept) + len(left_out) == 20
    assert kept.digest == dataset.digest


def test_other_agents_keep_everything_unless_told() -> None:
    assert len(collect(GUESS, Stubborn(), tasks=4)) == 4
    kept, left_out = gather(GUESS, Stubborn(), keep="success")
    assert [e.task_id for e in kept] == ["guess_1"]
    assert len(left_out) == 19
    assert len(collect(GUESS, "random", tasks=2, attempts=3)) == 6
    good = gather(GUESS, Stubborn(), keep=lambda e: e.rounds > 1).kept
    assert len(good) == 19


def test_collections_are_the_same_at_any_concurrency() -> None:
    digests = {collect(GUESS, "random", concurrency=n).digest for n in (1, 7, 32)}
    assert len(digests) == 1


def test_an_interrupted_collection_is_taken_up(tmp_path: Path) -> None:
    Counting.started = 0
    whole = collect(GUESS, Counting(), run=tmp_path / "run", executor="inline")
    assert Counting.started == 20
    log = tmp_path / "run" / "episodes.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:12]) + lines[12][:50])
    again = collect(GUESS, Counting(), run=tmp_path / "run", executor="inline")
    assert Counting.started == 20 + 8
    assert again.digest == whole.digest
    assert read(tmp_path / "run").digest == whole.digest
    with pytest.raises(InvalidConfig, match="'seed'"):
        collect(GUESS, Counting(), run=tmp_path / "run", seed=1)


def test_what_has_no_meaning_is_refused() -> None:
    with pytest.raises(InvalidConfig, match="success, completed, all"):
        collect(GUESS, keep="best")
    with pytest.raises(UnknownEnvironment, match="cannot be imported"):
        collect("no_such_package:X-v0")


def test_agenttraj_mini_is_the_same_every_time(tmp_path: Path) -> None:
    seen: list[str] = []
    envs = [OTHER, GUESS]
    built = build_mini(tmp_path / "1", envs, lambda result: seen.append(result.env_id))
    assert seen == envs
    again = build_mini(tmp_path / "2", envs)
    assert digests_of(built) == digests_of(again)
    for one, two in zip(built, again, strict=True):
        assert one.path.read_bytes() == two.path.read_bytes()
        assert one.entry.episodes == one.entry.train == len(read(one.path))
        assert not one.shortfall

    digests = write_digests(built, tmp_path / "digests.json")
    expected = expected_digests(digests)
    assert list(expected) == [GUESS, OTHER]
    assert verify_mini(tmp_path / "2", expected) == []
    assert verify_mini(tmp_path / "2", {GUESS: expected[GUESS]}) == [
        f"{OTHER}: no digest is recorded for it"
    ]

    path = built[0].path
    dataset = read(path)
    changed = dataset[0].model_copy(update={"goal": "another goal"})
    TrajectoryDataset([changed, *dataset[1:]], dataset.about).save(path)
    assert verify_mini(tmp_path / "1", expected)[0].startswith(
        f"{OTHER}: the same tasks and number of rounds, but another text or action"
    )
    TrajectoryDataset(dataset[1:], dataset.about).save(path)
    assert verify_mini(tmp_path / "1", expected) == [f"{OTHER}: 19 trajectories, recorded 20"]


def test_agenttraj_mini_is_the_same_from_other_processes(tmp_path: Path) -> None:
    envs = ["tests.toy:tests/Guess-v0"]
    here = build_mini(tmp_path / "1", envs)
    there = build_mini(tmp_path / "2", envs, processes=2)
    assert digests_of(here) == digests_of(there)


def test_recording_digests_keeps_those_of_other_environments(tmp_path: Path) -> None:
    built = build_mini(tmp_path, [GUESS])
    path = tmp_path / "digests.json"
    other = built[0]._replace(env_id="tests/Other-v0")
    write_digests([other], path)
    write_digests(built, path)
    assert sorted(expected_digests(path)) == [GUESS, "tests/Other-v0"]
    moved = built[0].entry.model_copy(update={"tasks": "0" * 64})
    assert "its tasks are others" in compare({GUESS: moved}, expected_digests(path))[0]
    path.write_text(json.dumps({"envs": {GUESS: {"edition": "mini"}}}))
    with pytest.raises(InvalidTrajectories, match="version: Field required"):
        expected_digests(path)


def test_the_command_builds_and_compares(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    digests = tmp_path / "digests.json"
    monkeypatch.setattr("agentgym.trajectories.mini._package_file", lambda: digests)
    arguments = [str(tmp_path / "out"), "--env", GUESS]
    assert main(arguments) == 2
    assert "--write-digests" in capsys.readouterr().err
    assert main([*arguments, "--write-digests"]) == 0
    assert main(arguments) == 0
    said = capsys.readouterr().out
    assert "20/20 trajectories" in said
    assert "every digest is as recorded" in said
    digests.write_text(digests.read_text().replace('"rounds": ', '"rounds": 1'))
    assert main(arguments) == 1
    assert "differs: tests/Guess-v0" in capsys.readouterr().out


def test_the_recorded_digests_are_of_the_present_tasks() -> None:
    expected = expected_digests()
    assert "agentgym/TextCraft-v0" in expected
    for env_id, entry in expected.items():
        card = find_card(env_id)
        if card.installed:
            tasks = load_tasks(card.load(), "mini")
            assert (tasks.digest, tasks.version) == (entry.tasks, entry.version), env_id
            assert tasks.sizes["train"] == entry.train >= entry.episodes > 0, env_id


def test_a_recorded_environment_is_built_to_its_digest(tmp_path: Path) -> None:
    built = build_mini(tmp_path, ["wordle"])
    assert compare(digests_of(built), expected_digests()) == []
