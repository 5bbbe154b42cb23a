"""Attribution says how far it is while it goes."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agentgym.baselines import adca_grpo, progress
from agentgym.baselines.adca_grpo import AdcaGRPOConfig, CompositeCredit
from agentgym.baselines.adca_options import AdcaOptions
from agentgym.baselines.attribution import (
    Attribution,
    Attributor,
    CachedAttributor,
    CounterfactualAttributor,
    MonteCarloAttributor,
    PolicyValueAttributor,
    Spent,
    assign_credit,
)
from agentgym.baselines.config import EnvTasks
from agentgym.baselines.progress import LATE
from agentgym.core import TextEnv
from agentgym.rollout.episode import Episode
from tests.baselines.chain import CHAIN
from tests.baselines.episodes import record, spoken
from tests.models import ScriptedModel


class Slow(Attributor):
    """Takes a moment over every episode; a step and two calls each. It cannot judge the fourth."""

    name = "slow"

    async def attribute(self, episode: Episode, env: TextEnv | None = None) -> Attribution:
        await asyncio.sleep(0.05)
        spent = Spent(calls=2, env_steps=1)
        if episode.attempt == 3:
            return self.failed(episode, "model", "no answer", spent)
        return self.labelled(episode, [1.0] * episode.rounds, spent)


def episodes(count: int) -> list[Episode]:
    return [spoken(2, attempt=i, what=f"do {i}") for i in range(count)]


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a line said wherever one could be."""
    monkeypatch.setattr(progress, "BEAT", 0.0)
    monkeypatch.setattr(progress, "EVERY", 0.0)


@pytest.mark.usefixtures("always")
def test_it_says_how_many_are_done_and_what_they_cost(tmp_path: Path) -> None:
    kept = CachedAttributor(Slow(), tmp_path / "record.jsonl")
    assign_credit(episodes(2), ["g"] * 2, kept)
    said: list[str] = []
    assign_credit(episodes(4), ["g"] * 4, kept, say=said.append)
    assert said[0] == "attributing: 1/4 episodes · 1 from the cache · 0 s"
    assert "attributing: 2/4 episodes · 2 from the cache · 0 s" in said[1:3]
    third = "attributing: 3/4 episodes · 2 from the cache · 2 calls · 1 steps played · 0 s"
    assert third in said
    assert said.index(third) < len(said) - 1, "the fourth is waited for and that is said"
    last = "attributing: 4/4 episodes · 2 from the cache · 1 failed · 4 calls · 2 steps played"
    assert said[-1].startswith(last)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("kind", [CounterfactualAttributor, MonteCarloAttributor])
def test_it_speaks_while_one_long_episode_is_played_again(kind: Any) -> None:
    walk = ["move right", "move down", "move left", "move left"]
    said: list[str] = []
    assign_credit([record("agentgym/Maze-v0", "maze_6", walk)], ["g"], kind(), say=said.append)
    assert len([line for line in said if line.startswith("attributing: 0/1 episodes")]) >= 4
    assert said[-1].startswith("attributing: 1/1 episodes · ")


@pytest.mark.usefixtures("always")
def test_what_a_policy_plays_on_is_counted_in_continuations() -> None:
    played = [record(CHAIN, "bandit_0", actions) for actions in (["b"], ["a", "b"])]
    attributor = PolicyValueAttributor(ScriptedModel(lambda *_: "Action: a"), rollouts=2)
    said: list[str] = []
    assign_credit(played, ["g"] * 2, attributor, say=said.append)
    # The beginning of both, and where the second stood after its first step, twice each.
    assert said[-1].startswith("attributing 2 episodes: 4/4 continuations · 100% solved")


def test_lines_are_few_but_never_far_apart() -> None:
    from agentgym.baselines.attribution.lines import AttributionLines

    said: list[int] = []
    now = 0
    lines = AttributionLines(lambda _: said.append(now), 10)
    start = lines._began
    for now in range(1, 3600):
        lines.tick(start + now)
    assert len(said) < 70
    assert said[-1] - said[-2] <= LATE + 1


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("rank", [0, 1])
def test_of_several_processes_the_main_one_speaks(
    rank: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    credits: list[CompositeCredit] = []

    def improve(config: Any, credit: CompositeCredit, *_: Any) -> dict[str, Any]:
        credits.append(credit)
        return {}

    monkeypatch.setenv("RANK", str(rank))
    monkeypatch.setattr(adca_grpo, "improve", improve)
    said: list[str] = []
    config = AdcaGRPOConfig(tasks=(EnvTasks(env="maze"),))
    adca_grpo.train(config, tmp_path, said.append)
    credits[0].say("attributing")
    assert said == ["attributing"] * (rank == 0)


@pytest.mark.usefixtures("always")
def test_a_sampling_that_is_credited_is_heard() -> None:
    pytest.importorskip("trl")
    from tests.baselines.test_adca_grpo import FLAGS, Says, example

    said: list[str] = []
    CompositeCredit(Says(FLAGS), AdcaOptions(), say=said.append).assign(example(), 0)
    assert said[-1].startswith("attributing: 4/4 episodes · 4 calls")
