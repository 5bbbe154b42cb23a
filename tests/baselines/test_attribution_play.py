"""The attributors that play: known answers on TextCraft and MAZE."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from agentgym.agents.base import Agent
from agentgym.agents.build import build_agent
from agentgym.baselines.attribution import (
    Attribution,
    Attributor,
    CounterfactualAttributor,
    MonteCarloAttributor,
)
from agentgym.core import make
from agentgym.core.errors import InvalidConfig
from agentgym.rollout.episode import Episode
from tests.baselines.episodes import record
from tests.models import ScriptedModel, halving

BRICKS = [
    "get 4 stone",
    "inventory",
    "get 1 vine",
    "craft 4 stone bricks using 4 stone",
    "craft 1 mossy stone bricks using 1 stone bricks, 1 vine",
]
WAY = ["move down", "move left", "move left"]


def ask(attributor: Attributor, episode: Episode, env: Any = None) -> Attribution:
    return asyncio.run(attributor.attribute(episode, env))


def bricks(actions: list[str | None] = BRICKS) -> Episode:
    return record("agentgym/TextCraft-v0", "textcraft_76", actions)


def maze(actions: list[str | None], **options: Any) -> Episode:
    return record("agentgym/Maze-v0", "maze_6", actions, **options)


@pytest.fixture
def counterfactual() -> Any:
    attributor = CounterfactualAttributor()
    yield attributor
    attributor.close()


# Counterfactual.


def test_what_the_score_needs_has_credit(counterfactual: Attributor) -> None:
    answer = ask(counterfactual, bricks())
    assert answer.status == "labelled"
    assert answer.credits == (1.0, 0.0, 1.0, 1.0, 1.0)
    assert answer.evidence["scores_without"] == [[0.0], [1.0], [0.0], [0.0], [0.0]]
    # Once through, then four, three, two, one and no steps after the one left out.
    assert answer.spent.env_steps == 5 + 4 + 3 + 2 + 1
    assert answer.spent.calls == 0


def test_of_two_that_do_the_same_neither_is_needed(counterfactual: Attributor) -> None:
    answer = ask(counterfactual, bricks(["get 1 vine", *BRICKS]))
    assert answer.credits == (0.0, 1.0, 0.0, 0.0, 1.0, 1.0)


def test_a_step_that_spoiled_it_has_a_negative_credit(counterfactual: Attributor) -> None:
    # Walking back is what keeps this walk from the goal: without it, the rest reaches it.
    answer = ask(counterfactual, maze(["move down", "move left", "move right", "move left"]))
    assert answer.credits is not None
    assert answer.credits[2] == -1.0
    assert answer.credits[0] == 0.0


def test_moves_of_a_shortest_way_are_all_needed(counterfactual: Attributor) -> None:
    assert ask(counterfactual, maze(WAY)).credits == (1.0, 1.0, 1.0)
    walled = ask(counterfactual, maze(["move down", "move down", "move left", "move left"]))
    forfeited = ask(counterfactual, maze(["move down", None, "move left", "move left"]))
    assert forfeited.credits == (1.0, 0.0, 1.0, 1.0)
    assert walled.credits == (0.0, 0.0, 1.0, 1.0)  # one way down is enough, whichever


def test_alternatives_in_the_place_of_a_step() -> None:
    with_others = CounterfactualAttributor("sampled", alternatives=6, seed=1)
    answer = ask(with_others, maze(WAY))
    assert answer.credits is not None
    assert all(len(scores) == 6 for scores in answer.evidence["scores_without"])
    # Where only the right way leads to the goal, every other move there loses it.
    assert answer.credits == (1.0, 1.0, 1.0)
    again = ask(CounterfactualAttributor("sampled", alternatives=6, seed=1), maze(WAY))
    assert again == answer
    with_others.close()


def test_a_given_environment_is_played_in_and_the_record_holds(
    counterfactual: Attributor,
) -> None:
    env = make("agentgym/Maze-v0")
    env.reset(seed=0)
    twin = env.fork()
    answer = ask(counterfactual, maze(WAY), twin)
    assert answer.credits == (1.0, 1.0, 1.0)
    assert env.rounds == 0
    for each in (env, twin):
        each.close()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"score": 0.5}, "score"),
        ({"task_id": "maze_8"}, "otherwise"),
        ({"task_id": "maze_99999"}, "maze_99999"),
        ({"env_id": "agentgym/Nowhere-v0"}, "Nowhere"),
    ],
)
@pytest.mark.parametrize("kind", [CounterfactualAttributor, MonteCarloAttributor])
def test_a_record_that_is_not_true_fails_and_says_so(
    kind: Any, change: dict[str, Any], says: str
) -> None:
    answer = ask(kind(), maze(WAY).model_copy(update=change))
    assert (answer.status, answer.failure, answer.credits) == ("failed", "environment", None)
    assert says in answer.message


# Monte Carlo.


def test_the_value_a_step_added() -> None:
    # Left is a wall at first: only after the first step does going left lead to the goal.
    left = MonteCarloAttributor(lambda observation, info, rng: "move left", rollouts=2)
    answer = ask(left, maze(WAY, max_rounds=6))
    assert answer.credits == (1.0, 0.0, 0.0)
    assert answer.evidence["values"] == [0.0, 1.0, 1.0, 1.0]
    # Three steps of record; from the start six in vain, then two and one, each twice.
    assert answer.spent.env_steps == 3 + 2 * (6 + 2 + 1)


def test_a_wasted_round_costs_what_the_expert_can_no_longer_do() -> None:
    wasted = ["move right", *WAY]  # into a wall
    roomy = ask(MonteCarloAttributor("expert", rollouts=1), maze(wasted, max_rounds=6))
    assert roomy.credits is not None
    assert sum(roomy.credits) == 0.0
    tight = ask(MonteCarloAttributor("expert", rollouts=1), maze(wasted[:3], max_rounds=3))
    assert tight.credits == (-1.0, 0.0, 0.0)


def test_the_expert_on_textcraft_knows_what_is_lost() -> None:
    # Four rounds are just enough; after one is wasted, the goal is out of reach.
    answer = ask(
        MonteCarloAttributor("expert", rollouts=1),
        record("agentgym/TextCraft-v0", "textcraft_76", ["inventory", "get 4 stone"], max_rounds=4),
    )
    assert answer.credits == (-1.0, 0.0)


def test_credits_sum_to_what_the_episode_was_worth() -> None:
    random = MonteCarloAttributor("random", rollouts=3, horizon=4)
    answer = ask(random, maze(WAY))
    values = answer.evidence["values"]
    assert answer.credits is not None
    assert sum(answer.credits) == pytest.approx(values[-1] - values[0])
    assert ask(MonteCarloAttributor("random", rollouts=3, horizon=4), maze(WAY)) == answer


def test_a_round_that_changed_nothing_is_worth_nothing() -> None:
    answer = ask(MonteCarloAttributor("random", rollouts=3, horizon=5), maze([None, None]))
    assert answer.credits == (0.0, 0.0)


def test_any_agent_can_play_on() -> None:
    class Left(Agent):
        name = "left"

        def act(self, observation: str, info: Mapping[str, Any]) -> tuple[str, str]:
            return "go on", "move left"

    answer = ask(MonteCarloAttributor(Left(), rollouts=1), maze(WAY, max_rounds=6))
    assert answer.credits == (1.0, 0.0, 0.0)


def test_a_policy_that_breaks_is_a_failure() -> None:
    def broken(observation: str, info: Mapping[str, Any], rng: np.random.Generator) -> str:
        raise RuntimeError("no idea")

    answer = ask(MonteCarloAttributor(broken), maze(WAY))
    assert answer.failure == "environment"
    assert "no idea" in answer.message
    unread = ask(MonteCarloAttributor(lambda *_: 7), maze(WAY))  # type: ignore[arg-type, return-value]
    assert "returns an action" in unread.message


@pytest.mark.parametrize(
    "make_it",
    [
        lambda: MonteCarloAttributor(ScriptedModel(halving)),  # type: ignore[arg-type]
        lambda: MonteCarloAttributor(3),  # type: ignore[arg-type]
        lambda: MonteCarloAttributor(rollouts=0),
        lambda: MonteCarloAttributor(horizon=-1),
        lambda: CounterfactualAttributor("everything"),  # type: ignore[arg-type]
        lambda: CounterfactualAttributor(alternatives=0),
    ],
)
def test_options_that_cannot_be_are_refused(make_it: Any) -> None:
    with pytest.raises(InvalidConfig):
        make_it()


def test_what_they_are_is_in_their_key() -> None:
    episode = maze(WAY)
    attributors = [
        CounterfactualAttributor(),
        CounterfactualAttributor("sampled"),
        CounterfactualAttributor("sampled", seed=1),
        MonteCarloAttributor(),
        MonteCarloAttributor(rollouts=5),
        MonteCarloAttributor(build_agent("expert")),  # type: ignore[arg-type]
    ]
    keys = [attributor.key(episode) for attributor in attributors]
    assert len(set(keys)) == len(keys)
    # The same play by another agent is the same question; another score is not.
    renamed = episode.model_copy(update={"agent": "another", "attempt": 5})
    assert attributors[0].key(renamed) == keys[0]
    assert attributors[0].key(episode.model_copy(update={"score": 0.0})) != keys[0]


def test_the_horizon_bounds_what_is_played() -> None:
    left = MonteCarloAttributor(lambda *_: "move left", rollouts=1, horizon=1)
    answer = ask(left, maze(WAY))
    # One move left is enough only from the last moment before the goal.
    assert answer.credits == (0.0, 1.0, 0.0)
    assert answer.spent.env_steps == 3 + 3
