"""ALFWorld's expert: solves everything, says why, and copes with what others do."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agentgym.envs.alfworld
from agentgym.envs.alfworld.aim import Aim, aim_of
from agentgym.envs.alfworld.engine import Engine
from agentgym.envs.alfworld.expert import expert_of
from agentgym.envs.alfworld.goals import KINDS, goal_of
from agentgym.envs.alfworld.homes import problem_of
from agentgym.envs.alfworld.pddl import read
from agentgym.envs.alfworld.problem import Problem, Receptacle, Thing
from agentgym.envs.alfworld.tasks import mini_tasks
from agentgym.envs.alfworld.words import MOVE, PUT, Words
from agentgym.envs.alfworld.world import World
from tests.envs.everywhere import readme_episode

TASKS = mini_tasks()
LONGEST = 11
"""The most rounds a mini task takes."""


def solve(problem: Problem, words: Words = PUT, limit: int = 50) -> list[tuple[str, str]]:
    """Let the expert play a game to its end; return its thoughts and actions."""
    engine = Engine(World(problem, words))
    return finish(problem, engine, limit)


def finish(problem: Problem, engine: Engine, limit: int = 50) -> list[tuple[str, str]]:
    """Let the expert play on from where a game stands."""
    expert, moves = expert_of(problem, engine), []
    while not engine.won:
        thought, action = expert.act("", {})
        assert action in engine.actions, (problem.task, action)
        assert engine.play(action) is not None
        moves.append((thought, action))
        assert len(moves) <= limit, problem.task
    return moves


def test_expert_solves_every_mini_task_with_a_reason_for_every_move() -> None:
    rounds: dict[str, list[int]] = defaultdict(list)
    thoughts = Counter[str]()
    for task in TASKS:
        moves = solve(problem_of(task.spec))
        rounds[task.kind].append(len(moves))
        for thought, _ in moves:
            assert thought[0].isupper() or thought[0].isdigit()
            assert thought.endswith(".")
            assert "  " not in thought
            assert " ," not in thought
            assert "None" not in thought
        thoughts.update(thought for thought, _ in moves)
    assert set(rounds) == set(KINDS)
    assert max(map(max, rounds.values())) == LONGEST
    assert min(map(min, rounds.values())) >= 3
    assert len(thoughts) > 0.5 * sum(thoughts.values())


def test_moves_are_about_what_is_in_the_way() -> None:
    problem = Problem.furnish(
        [
            Receptacle("drawer_bar_1", "Drawer", "loc_bar_1", openable=True),
            Receptacle("drawer_bar_2", "Drawer", "loc_bar_1", openable=True),
            Receptacle("microwave_bar_1", "Microwave", "loc_bar_2", openable=True),
            Receptacle("garbagecan_bar_1", "GarbageCan", "loc_bar_3"),
        ],
        [
            Thing("egg_bar_1", "Egg", "drawer_bar_2", ("pickupable", "heatable")),
            Thing("egg_bar_2", "Egg", "garbagecan_bar_1", ("pickupable",)),
        ],
        [("GarbageCan", "Egg"), ("Drawer", "Egg")],
        "loc_bar_0",
        goal_of("pick_heat_then_place_in_recep", "Egg", "GarbageCan"),
        "put a hot egg in garbagecan",
    )
    drawer, egg = problem.names["drawer_bar_2"], problem.names["egg_bar_1"]
    actions = [action for _, action in solve(problem, MOVE)]
    assert actions == [
        f"go to {drawer}",
        f"open {drawer}",
        f"take {egg} from {drawer}",
        "go to microwave 1",
        f"heat {egg} with microwave 1",
        "go to garbagecan 1",
        f"move {egg} to garbagecan 1",
    ]
    thoughts = " ".join(thought for thought, _ in solve(problem))
    assert "hot" in thoughts
    assert "microwave 1" in thoughts


@pytest.mark.parametrize("words", [PUT, MOVE])
def test_expert_solves_games_read_from_pddl_in_both_vocabularies(words: Words) -> None:
    for task in TASKS[::40]:
        problem = problem_of(task.spec)
        read_back = Problem.from_pddl(problem.to_pddl(), problem.task)
        assert len(solve(read_back, words)) == len(solve(problem))


@settings(max_examples=80, deadline=None)
@given(index=st.integers(0, len(TASKS) - 1), seed=st.integers(0, 10_000), n=st.integers(0, 25))
def test_expert_takes_over_from_anywhere(index: int, seed: int, n: int) -> None:
    problem = problem_of(TASKS[index].spec)
    engine = Engine(World(problem, PUT))
    rng = np.random.default_rng(seed)
    for _ in range(n):
        if engine.won:
            break
        engine.play(engine.actions[int(rng.integers(len(engine.actions)))])
    assert len(finish(problem, engine)) <= 16


@settings(max_examples=60, deadline=None)
@given(index=st.integers(0, len(TASKS) - 1), seed=st.integers(0, 10_000))
def test_expert_plays_on_while_somebody_else_moves_things(index: int, seed: int) -> None:
    problem = problem_of(TASKS[index].spec)
    engine = Engine(World(problem, PUT))
    expert, rng = expert_of(problem, engine), np.random.default_rng(seed)
    for i in range(100):
        if engine.won:
            break
        action = expert.act("", {})[1]
        if i < 20 and i % 3 == 2:
            action = engine.actions[int(rng.integers(len(engine.actions)))]
        assert engine.play(action) is not None, action
    assert engine.won


def test_what_is_of_no_use_is_put_away_first() -> None:
    task = next(t for t in TASKS if t.kind == KINDS[0] and t.spec["home"].startswith("kitchen"))
    problem = problem_of(task.spec)
    engine = Engine(World(problem, PUT))
    for place in [p.name for p in engine.world.places]:
        engine.play(f"go to {place}")
        takes = [a for a in engine.actions if a.startswith("take ")]
        other = [a for a in takes if not a.startswith(f"take {task.spec['object'].lower()} ")]
        if other:
            engine.play(other[0])
            break
    held = engine.world.items[engine.held[0]].name
    moves = finish(problem, engine)
    assert moves[0][1].startswith((f"put {held} ", "go to ", "open "))
    assert held in moves[0][0]
    assert any(action.startswith(f"put {held} ") for _, action in moves)


def test_expert_looks_around_where_nothing_can_be_done() -> None:
    task = next(t for t in TASKS if t.kind == KINDS[0])
    problem = problem_of(task.spec)
    thing = f"{task.spec['object'].lower()}type"
    gone = tuple(f for f in problem.facts if f[0] != "objecttype" or f[2] != thing)
    for goal in (problem.goal, read("(and (opened ?r))")):
        changed = Problem(problem.objects, gone, goal, problem.task)
        engine = Engine(World(changed, PUT))
        thought, action = expert_of(changed, engine).act("", {})
        assert action == "look"
        assert thought.endswith(".")


def test_aims_are_read_off_the_formulas() -> None:
    states = {2: "isclean", 3: "ishot", 4: "iscool"}
    for i, kind in enumerate(KINDS):
        if kind == "look_at_obj_in_light":
            assert aim_of(goal_of(kind, "Mug", "DeskLamp")) == Aim("mugtype", lamp="desklamptype")
            continue
        aim = Aim("mugtype", "shelftype", state=states.get(i, ""), count=2 if "two" in kind else 1)
        assert aim_of(goal_of(kind, "Mug", "Shelf")) == aim
    for other in ("(and)", "(opened ?r)", "(exists (?o - object) (holds ?a ?o))", "(not (a b))"):
        assert aim_of(read(other)) is None


def test_the_episodes_in_the_readme_are_what_its_code_prints() -> None:
    readme = Path(agentgym.envs.alfworld.__file__).with_name("README.md")
    printed, said = readme_episode(readme)
    assert printed == said
    assert printed.count("Your task is to:") == len(KINDS)
