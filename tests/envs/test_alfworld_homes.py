"""ALFWorld's mini edition: the homes, the tasks over them, and how they are drawn."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentgym.core.task import Task
from agentgym.envs.alfworld.contents import HABITS
from agentgym.envs.alfworld.engine import Engine
from agentgym.envs.alfworld.expert import expert_of
from agentgym.envs.alfworld.furniture import ROOMS
from agentgym.envs.alfworld.goals import KINDS
from agentgym.envs.alfworld.homes import OPPOSITE, STATES, problem_of
from agentgym.envs.alfworld.kinds import CAN, FITS, LAMP, OPENABLE
from agentgym.envs.alfworld.layouts import layout
from agentgym.envs.alfworld.letters import text_mask
from agentgym.envs.alfworld.picture import draw, picture_of, sketch, sketch_of
from agentgym.envs.alfworld.plan import WIDTH, plan_of
from agentgym.envs.alfworld.problem import Problem
from agentgym.envs.alfworld.scene import inventory, scene_of
from agentgym.envs.alfworld.tasks import EVAL, TRAIN, mini_tasks
from agentgym.envs.alfworld.words import PUT
from agentgym.envs.alfworld.world import World
from tests.envs.everywhere import outputs_under_hash_seeds

TASKS_DIGEST = "fd25cc0874c73f36a8d9beac89e0d75970bdcdb390c1d3b38b025c9a2896d195"
GAMES_DIGEST = "8865904581bbff6a4b41426e171c9549a9001e750c44f3a66d5bf1f33beac508"

TASKS = mini_tasks()
INDICES = st.integers(0, len(TASKS) - 1)


def game(task: Task) -> tuple[Problem, Engine]:
    """Return the problem of a mini task and a game of it."""
    problem = problem_of(task.spec)
    return problem, Engine(World(problem, PUT))


# The tasks.


def test_tasks_and_their_games_are_frozen() -> None:
    assert TASKS.digest == TASKS_DIGEST
    digest = hashlib.sha256()
    for task in TASKS:
        problem = problem_of(task.spec)
        digest.update(repr((problem.task, sorted(problem.facts), problem.goal)).encode())
    assert digest.hexdigest() == GAMES_DIGEST


def test_the_same_under_any_hash_seed() -> None:
    code = (
        "import hashlib\n"
        "from agentgym.envs.alfworld.tasks import mini_tasks\n"
        "from agentgym.envs.alfworld.homes import problem_of\n"
        "from agentgym.envs.alfworld.engine import Engine\n"
        "from agentgym.envs.alfworld.expert import expert_of\n"
        "from agentgym.envs.alfworld.world import World\n"
        "from agentgym.envs.alfworld.words import PUT\n"
        "from agentgym.envs.alfworld.picture import picture_of, sketch_of\n"
        "tasks = mini_tasks()\n"
        "print(tasks.digest)\n"
        "for task in tasks[::151]:\n"
        "    problem = problem_of(task.spec); engine = Engine(World(problem, PUT))\n"
        "    print(problem.to_pddl()); expert = expert_of(problem, engine)\n"
        "    while not engine.won:\n"
        "        thought, action = expert.act('', {}); print(thought, action)\n"
        "        print(engine.play(action), engine.actions)\n"
        "    print(sketch_of(problem, engine))\n"
        "    print(hashlib.sha256(picture_of(problem, engine, 'x').tobytes()).hexdigest())\n"
    )
    outputs = outputs_under_hash_seeds(code, ("0", "1", "4242"))
    assert len(outputs[0]) > 30_000
    assert outputs[0] == outputs[1] == outputs[2]


def test_sizes_are_those_of_the_published_proportions() -> None:
    assert TASKS.sizes == {"train": 1000, "eval": 200}
    for split, sizes in (("train", TRAIN), ("eval", EVAL)):
        assert Counter(task.kind for task in TASKS.split(split)) == sizes
        assert set(sizes) == set(KINDS)
    published = (672, 196, 448, 321, 394, 389)
    for ours, theirs in zip(TRAIN.values(), published, strict=True):
        assert abs(ours / 1000 - theirs / 2420) < 0.001
    assert {task.kind for task in TASKS.split("eval")[:40]} == set(KINDS)


def test_what_is_marked_unseen_is_in_no_train_task() -> None:
    train = TASKS.split("train")
    homes = {task.spec["home"] for task in train}
    pairs = {(task.spec["object"], task.spec["target"]) for task in train}
    assert all(task.spec["unseen"] == [] for task in train)
    marks = Counter[str]()
    for task in TASKS.split("eval"):
        spec = task.spec
        assert (spec["home"] in homes) == ("layout" not in spec["unseen"])
        assert ((spec["object"], spec["target"]) in pairs) == ("pair" not in spec["unseen"])
        marks["+".join(spec["unseen"])] += 1
    assert marks == {"": 48, "layout": 104, "layout+pair": 48}


def test_no_two_tasks_are_alike_and_each_is_stated_in_the_published_words() -> None:
    keys = ("home", "type", "object", "target")
    assert len({tuple(task.spec[key] for key in keys) for task in TASKS}) == len(TASKS)
    task = next(t for t in TASKS if t.kind == "pick_heat_then_place_in_recep")
    wordings = {problem_of({**task.spec, "wording": i}).task for i in (0, 1)}
    thing, target = task.spec["object"].lower(), task.spec["target"].lower()
    assert wordings == {
        f"put a hot {thing} in {target}",
        f"heat some {thing} and put it in {target}",
    }


def test_no_task_is_done_when_it_begins() -> None:
    for task in TASKS:
        problem, engine = game(task)
        assert not engine.won
        assert problem.kind == task.kind
        assert engine.opening().startswith("You are in the middle of a room.")


def test_twists_are_what_they_say() -> None:
    seen = Counter[str]()
    for task in TASKS:
        problem, spec, twists = problem_of(task.spec), task.spec, task.spec["twists"]
        kinds = {f[1]: f[2] for f in problem.of("receptacletype")}
        wanted = {f[1] for f in problem.of("objecttype") if f[2] == f"{spec['object'].lower()}type"}
        places = {f[1]: f[2] for f in problem.of("inreceptacle")}
        openable = {f[1] for f in problem.of("openable")}
        there = {i for i in wanted if kinds[places[i]] == f"{spec['target'].lower()}type"}
        away = wanted - there
        state = STATES.get(task.kind, "")
        needed = 2 if task.kind == "pick_two_obj_and_place" else 1
        assert len(there) == ("decoy" in twists)
        assert {places[i] in openable for i in away} == {"hidden" in twists}
        extra = len(wanted) - needed - ("decoy" in twists and needed == 1)
        assert extra in ((1, 2) if "several" in twists else (0,))
        ready = {f[1] for f in problem.of(state)} & wanted if state else set()
        assert len(ready) == ("ready" in twists)
        assert not ready & there
        if "opposite" in twists:
            turned = {f[1] for f in problem.of(OPPOSITE[state])} & wanted
            assert turned == wanted - ready
        if "crowded" in twists:
            crowd = Counter(
                p for p in places.values() if kinds[p] == f"{spec['target'].lower()}type"
            )
            assert max(crowd.values()) >= 4
        seen.update(twists)
    assert set(seen) == {"hidden", "several", "decoy", "ready", "opposite", "crowded"}
    assert sum(not task.spec["twists"] for task in TASKS) > 200


# The homes.


@settings(max_examples=80, deadline=None)
@given(room=st.sampled_from(ROOMS), number=st.integers(1, 10_000))
def test_a_layout_makes_sense(room: str, number: int) -> None:
    home = layout.__wrapped__(f"{room}-{number}")
    assert home == layout.__wrapped__(f"{room}-{number}")
    ids = [r.id for r in home.receptacles]
    assert len(set(ids)) == len(ids) == len(home.points)
    assert home.start not in {r.location for r in home.receptacles}
    counts = {kind: len(found) for kind, found in home.by_kind.items()}
    for r in home.receptacles:
        assert r.openable == (r.kind in OPENABLE)
        assert not r.opened
        assert r.id == r.id.lower()
    always = {
        "kitchen": "CounterTop Fridge Microwave SinkBasin CoffeeMachine Toaster GarbageCan",
        "livingroom": "Sofa ArmChair CoffeeTable SideTable GarbageCan",
        "bedroom": "Bed SideTable GarbageCan",
        "bathroom": "SinkBasin Toilet CounterTop TowelHolder HandTowelHolder Cabinet GarbageCan",
    }[room].split()
    assert set(always) <= set(counts)
    if room == "kitchen":
        assert counts["StoveBurner"] == 4
        assert 3 <= counts["Cabinet"] <= 21
        assert counts["CounterTop"] <= 3
    assert 3 <= len(ids) <= 50


@settings(max_examples=60, deadline=None)
@given(index=INDICES)
def test_things_lie_where_they_may_be_put_and_are_called_by_kind_and_number(index: int) -> None:
    problem = problem_of(TASKS[index].spec)
    kinds = {f[1]: f[2] for f in problem.of("receptacletype")}
    types = {f[1]: f[2] for f in problem.of("objecttype")}
    fits = {(f[1], f[2]) for f in problem.of("cancontain")}
    where = {f[1]: f[2] for f in problem.of("receptacleatlocation")}
    at = {f[1]: f[2] for f in problem.of("objectatlocation")}
    assert len(problem.of("inreceptacle")) == len(types) == len(at)
    for _, thing, place in problem.of("inreceptacle"):
        assert types[thing] == f"{LAMP.lower()}type" or (kinds[place], types[thing]) in fits
        assert at[thing] == where[place]
    names = [problem.names[i] for i in (*types, *kinds)]
    assert len(set(names)) == len(names)
    for identifier, kind in (*types.items(), *kinds.items()):
        name, number = problem.names[identifier].split(" ")
        assert f"{name}type" == kind
        assert int(number) >= 1
    cold = {f[1] for f in problem.of("iscool")}
    coolable = {f[1] for f in problem.of("coolable")}
    for thing, place in ((f[1], f[2]) for f in problem.of("inreceptacle")):
        if kinds[place] == "fridgetype" and thing in coolable:
            assert thing in cold


@settings(max_examples=30, deadline=None)
@given(index=INDICES)
def test_a_game_survives_being_written_as_pddl(index: int) -> None:
    problem = problem_of(TASKS[index].spec)
    again = Problem.from_pddl(problem.to_pddl(), problem.task, problem.kind)
    assert set(again.facts) == set(problem.facts)
    assert again.names == problem.names
    assert again.goal == problem.goal


def test_habits_are_allowed_by_the_facts() -> None:
    for habits in HABITS.values():
        for kind, habit in habits.items():
            assert 0 <= habit.least <= habit.most
            assert kind == LAMP or set(habit.places) <= FITS[kind]


def test_facts_are_those_of_the_original() -> None:
    constants: Any = pytest.importorskip(
        "alfworld.gen.constants", reason="pip install 'agentgym[alfworld-original]'"
    )
    vessels = set(constants.MOVABLE_RECEPTACLES)
    table = constants.VAL_RECEPTACLE_OBJECTS
    for kind, places in FITS.items():
        assert places == {p for p, things in table.items() if kind in things} - vessels
    for name in ("Cleanable", "Heatable", "Coolable", "Sliceable"):
        theirs = {k for k in constants.VAL_ACTION_OBJECTS[name] if not k.endswith("Sliced")}
        assert CAN[name.lower()] == theirs
    assert CAN["isreceptacleobject"] == vessels
    assert OPENABLE <= constants.OPENABLE_CLASS_SET


# The pictures.


@settings(max_examples=40, deadline=None)
@given(index=INDICES)
def test_a_floor_plan_has_a_place_for_everything(index: int) -> None:
    problem = problem_of(TASKS[index].spec)
    furniture = inventory(problem).furniture
    plan = plan_of(furniture.values(), Counter(f[2] for f in problem.of("inreceptacle")))
    assert set(plan.cards) == set(furniture)
    boxes = [(c.left, c.top, c.left + c.width, c.top + c.height) for c in plan.cards.values()]
    for i, (left, top, right, bottom) in enumerate(boxes):
        assert 0 < left < right < WIDTH
        assert 0 < top < bottom < plan.height
        for other in boxes[:i]:
            apart = left >= other[2] or other[0] >= right or top >= other[3] or other[1] >= bottom
            assert apart
    for f, card in ((furniture[i], card) for i, card in plan.cards.items()):
        assert text_mask(f.name).shape[1] < card.width


def test_a_picture_changes_with_what_happens_and_never_its_shape() -> None:
    for task in TASKS[::240]:
        problem, engine = game(task)
        expert = expert_of(problem, engine)
        pictures = [picture_of(problem, engine, "round 0")]
        while not engine.won:
            engine.play(expert.act("", {})[1])
            pictures.append(picture_of(problem, engine, "round 0"))
        assert pictures[0].dtype == np.uint8
        assert len({p.shape for p in pictures}) == 1
        for before, after in pairwise(pictures):
            assert (before != after).any()


def test_one_is_drawn_in_the_middle_of_what_is_in_reach() -> None:
    seen = 0
    for task in TASKS[::200]:
        problem, engine = game(task)
        home = inventory(problem)
        plan = plan_of(home.furniture.values(), Counter(f[2] for f in problem.of("inreceptacle")))
        for places in (found for found in engine.world.at.values() if len(found) > 1):
            here = [plan.cards[place.id] for place in places]
            if {card.side for card in here} not in ({0}, {2}):
                continue
            engine.play(f"go to {places[0].name}")
            middle = sum(card.left + card.width // 2 for card in here) // len(here)
            x = max(plan.floor[1] + 20, min(middle, plan.floor[3] - 20))
            y = plan.floor[0] + 24 if here[0].side == 0 else plan.floor[2] - 26
            blue = picture_of(problem, engine, "")[y - 8, x - 12 : x + 13] == (38, 98, 217)
            assert blue.all()
            seen += 1
    assert seen > 2


def test_pictures_do_not_tell_what_is_behind_a_door() -> None:
    task = next(t for t in TASKS if "hidden" in t.spec["twists"] and t.kind == KINDS[0])
    problem, engine = game(task)
    home = inventory(problem)
    scene = scene_of(home, engine)
    behind = [t for t, place in scene.inside.items() if home.furniture[place].openable]
    without = replace(scene, inside={t: p for t, p in scene.inside.items() if t not in behind})
    assert behind
    assert sketch(scene) == sketch(without)
    assert not any(home.names[thing] in sketch(scene) for thing in behind)
    plan = plan_of(home.furniture.values(), Counter(scene.inside.values()))
    bare = plan_of(home.furniture.values(), Counter(without.inside.values()))
    one, two = (draw(s, p, "", "", "") for s, p in ((scene, plan), (without, bare)))
    assert np.array_equal(one, two)


def test_a_sketch_says_where_one_is_what_lies_there_and_what_is_closed() -> None:
    task = next(t for t in TASKS if t.spec["home"].startswith("kitchen"))
    problem, engine = game(task)
    engine.play("go to fridge 1")
    text = sketch_of(problem, engine)
    assert any(
        line.startswith("@ fridge 1 ") and line.endswith("closed") for line in text.split("\n")
    )
    assert "closed: cabinet 1-" in text
    engine.play("open fridge 1")
    assert "@ fridge 1 (open)" in sketch_of(problem, engine)


def test_every_letter_can_be_told_from_every_other() -> None:
    signs = "abcdefghijklmnopqrstuvwxyz0123456789.,:+-/()'?"
    shapes = {(text_mask(s, 1).shape, text_mask(s, 1).tobytes()) for s in signs}
    assert len(shapes) == len(signs)
    assert np.array_equal(text_mask("A"), text_mask("a"))
    assert np.array_equal(text_mask("€"), text_mask("?"))
    assert text_mask("ab", 3).shape[0] == 27
