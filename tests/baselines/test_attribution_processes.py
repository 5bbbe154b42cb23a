"""Attribution by several processes: one budget, one record, one report."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from agentgym.agents.message import Reply
from agentgym.baselines.attribution import (
    AssignedCredit,
    Attribution,
    AttributionMiss,
    AttributionStopped,
    Attributor,
    CachedAttributor,
    CallLimits,
    CounterfactualAttributor,
    LlmAttributor,
    MonteCarloAttributor,
    Spent,
    assign_credit,
)
from agentgym.baselines.processes import Team
from agentgym.core import TextEnv
from agentgym.rollout.episode import Episode
from tests.baselines.episodes import record, spoken
from tests.baselines.test_attribution import Judge

MAZE = [
    record("agentgym/Maze-v0", "maze_6", actions)
    for actions in (
        ["move down", "move left", "move left"],
        ["move right", "move down", "move left", "move left"],
        ["move down", "move left", "move left"],
        ["move left"],
    )
]


def teams(size: int) -> list[Team]:
    """Return what so many processes see of each other, played by threads."""
    barrier, said = threading.Barrier(size, timeout=20), [None] * size

    def share_of(rank: int) -> Callable[[Any], list[Any]]:
        def share(value: Any) -> list[Any]:
            said[rank] = value
            barrier.wait()
            everybody = list(said)
            barrier.wait()
            return everybody

        return share

    return [Team(rank, size, share_of(rank)) for rank in range(size)]


def together(
    attributors: Sequence[Attributor], episodes: list[Episode]
) -> list[AssignedCredit | Exception]:
    """Return what each of several processes comes to, one attributor each."""

    def one(team: Team) -> AssignedCredit | Exception:
        groups = ["g"] * len(episodes)
        try:
            return assign_credit(episodes, groups, attributors[team.rank], team=team)
        except Exception as error:
            return error

    with ThreadPoolExecutor(len(attributors)) as pool:
        return list(pool.map(one, teams(len(attributors))))


def test_a_budget_is_spent_once_whoever_asks() -> None:
    judges = [Judge() for _ in range(3)]
    limits = CallLimits(calls=5)
    episodes = [spoken(2, attempt=i, what=f"do {i}") for i in range(9)]
    done = together([LlmAttributor(judge, limits) for judge in judges], episodes)
    assert [judge.calls for judge in judges] == [5, 0, 0]
    alone = assign_credit(episodes, ["g"] * 9, LlmAttributor(Judge(), limits))
    for one in done:
        assert isinstance(one, AssignedCredit)
        assert one.report == alone.report
        assert one.attributions == alone.attributions
        assert one.report.failures == {"budget": 4}


def test_no_more_calls_are_under_way_than_was_set() -> None:
    most, now = 0, 0

    class Counts(Judge):
        async def complete(self, messages: Any, **more: Any) -> Reply:
            nonlocal most, now
            now += 1
            most = max(most, now)
            await asyncio.sleep(0.001)
            now -= 1
            return await super().complete(messages, **more)

    limits = CallLimits(concurrency=2)
    episodes = [spoken(1, attempt=i, what=f"do {i}") for i in range(12)]
    together([LlmAttributor(Counts(), limits) for _ in range(3)], episodes)
    assert most == 2


@pytest.mark.parametrize(
    "make_it", [CounterfactualAttributor, lambda: MonteCarloAttributor("random", rollouts=2)]
)
def test_what_is_played_is_divided_and_comes_out_as_by_one(make_it: Any, tmp_path: Path) -> None:
    alone = assign_credit(MAZE, ["g"] * 4, make_it())
    attributors = [make_it(), make_it()]
    done = together(attributors, MAZE)
    for one in done:
        assert isinstance(one, AssignedCredit)
        assert one.attributions == alone.attributions
        assert one.report == alone.report
        assert one.seconds > 0
    played = [a.environment_seconds for a in attributors]
    assert min(played) > 0
    assert done[0].environment_seconds == pytest.approx(sum(played) / 2)  # type: ignore[union-attr]
    kept = [CachedAttributor(make_it(), tmp_path / "record.jsonl") for _ in range(2)]
    done = together(kept, MAZE)
    counts = assign_credit(MAZE, ["g"] * 4, CachedAttributor(make_it(), tmp_path / "one.jsonl"))
    # The first and the third are equal: one process is asked about both, and asks once.
    assert counts.report.cached == 1
    assert [one.report for one in done] == [counts.report] * 2  # type: ignore[union-attr]
    assert len((tmp_path / "record.jsonl").read_bytes().splitlines()) == 3


class Breaks(Attributor):
    name = "breaks"

    def __init__(self, error: Exception | None) -> None:
        self.error = error

    async def attribute(self, episode: Episode, env: TextEnv | None = None) -> Attribution:
        if self.error is not None:
            raise self.error
        return self.labelled(episode, [1.0] * episode.rounds, Spent())


def test_what_stops_one_process_stops_all() -> None:
    for error in (AttributionStopped("enough"), KeyError("what")):
        first, second = together([Breaks(None), Breaks(error)], MAZE)
        assert second is error
        assert isinstance(first, AttributionStopped)
        assert "process 1" in str(first)
        assert type(error).__name__ in str(first)


def test_a_replay_misses_in_all_processes(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    path.touch()
    replays = [CachedAttributor(LlmAttributor(Judge()), path, "replay") for _ in range(2)]
    first, second = together(replays, [spoken(2)])
    assert isinstance(first, AttributionMiss)
    assert isinstance(second, AttributionStopped)


# The record.


def test_what_another_has_added_is_not_asked_again(tmp_path: Path) -> None:
    judges = [Judge(), Judge()]
    first, second = (
        CachedAttributor(LlmAttributor(judge), tmp_path / "record.jsonl") for judge in judges
    )
    assign_credit([spoken(2)], ["g"], first)
    assert assign_credit([spoken(2)], ["g"], second).report.cached == 1
    assign_credit([spoken(3)], ["g"], second)
    assert assign_credit([spoken(3)], ["g"], first).report.cached == 1
    assert [judge.calls for judge in judges] == [1, 1]


def _fill(path: Path, name: str, count: int) -> None:
    attributor = CachedAttributor(Breaks(None), path)
    episodes = [spoken(1, attempt=i, what=f"{name} {i} {'long ' * 400}") for i in range(count)]
    # Actions tell the questions apart.
    assign_credit(episodes, ["g"] * count, attributor)
    attributor.close()


def test_several_processes_add_to_one_record(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    path.write_bytes(b'{"key": "torn')
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_fill, args=(path, name, 40)) for name in "abc"]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    lines = path.read_bytes().splitlines()
    assert len({json.loads(line)["key"] for line in lines}) == len(lines) == 120
    assert len({json.loads(line)["by"] for line in lines}) == 3


def test_a_run_that_is_taken_up_knows_its_own_answers_among_others(tmp_path: Path) -> None:
    """Where two share a record, what the other added since is found there, not paid for."""
    path, limits = tmp_path / "record.jsonl", CallLimits(calls=9)
    first = CachedAttributor(LlmAttributor(Judge(), limits), path)
    state = first.state()
    other = CachedAttributor(LlmAttributor(Judge(), limits), path)
    assign_credit([spoken(1)], ["g"], other)
    assign_credit([spoken(2)], ["g"], first)
    assign_credit([spoken(3)], ["g"], other)
    again = CachedAttributor(LlmAttributor(judge := Judge(), limits), path)
    again.restore(json.loads(json.dumps(state)))
    done = assign_credit([spoken(n) for n in (1, 2, 3)], ["g"] * 3, again)
    assert judge.calls == 0
    assert [a.cached for a in done.attributions] == [True, False, True]
    assert done.report.spent.calls == 1
    assert again.state()["attributor"]["started"] == 1


def test_no_failure_undoes_an_answer(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    good = CachedAttributor(LlmAttributor(Judge()), path)
    broke = CachedAttributor(LlmAttributor(Judge(), CallLimits(calls=0)), tmp_path / "other.jsonl")
    assign_credit([spoken(2)], ["g"], good)
    assign_credit([spoken(2)], ["g"], broke)
    with path.open("ab") as file:
        file.write((tmp_path / "other.jsonl").read_bytes())
    replay = CachedAttributor(LlmAttributor(Judge()), path, "replay")
    assert assign_credit([spoken(2)], ["g"], replay).report.labelled == 1
