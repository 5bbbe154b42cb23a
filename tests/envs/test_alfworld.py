"""ALFWorld: equality with the recorded original, the engine's rules, the words, the editions."""

from __future__ import annotations

import importlib.util
import itertools
import json
import random
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentgym.core import make
from agentgym.core.checker import GARBAGE
from agentgym.core.command import match_call
from agentgym.core.errors import InvalidConfig, InvalidState, MissingData, MissingExtra
from agentgym.envs.alfworld import pddl
from agentgym.envs.alfworld import words as say
from agentgym.envs.alfworld.engine import Engine
from agentgym.envs.alfworld.env import AlfworldEnv
from agentgym.envs.alfworld.gamefile import parse_game, words_of
from agentgym.envs.alfworld.goals import KINDS, goal_of, task_text
from agentgym.envs.alfworld.judge import Judge
from agentgym.envs.alfworld.names import name_all
from agentgym.envs.alfworld.original import Original
from agentgym.envs.alfworld.pddl import MalformedPddl, Term
from agentgym.envs.alfworld.problem import AGENT, Fact, Problem, Receptacle, Thing
from agentgym.envs.alfworld.words import MOVE, PUT, Words
from agentgym.envs.alfworld.world import World

ROOT = Path(__file__).parents[2]

FOOD = ("pickupable", "heatable", "coolable", "cleanable", "sliceable")
FURNITURE = (
    Receptacle("Fridge_bar_1", "Fridge", "loc_bar_1", openable=True),
    Receptacle("Cabinet_bar_1", "Cabinet", "loc_bar_1", openable=True, opened=True),
    Receptacle("Sink_bar_1_bar_SinkBasin", "SinkBasin", "loc_bar_2"),
    Receptacle("CounterTop_bar_1", "CounterTop", "loc_bar_2"),
    Receptacle("Microwave_bar_1", "Microwave", "loc_bar_3", openable=True),
    Receptacle("Drawer_bar_1", "Drawer", "loc_bar_4", openable=True),
)
THINGS = (
    Thing("Apple_bar_1", "Apple", "Fridge_bar_1", FOOD),
    Thing("Apple_bar_2", "Apple", "CounterTop_bar_1", FOOD),
    Thing("Bread_bar_1", "Bread", "Cabinet_bar_1", ("pickupable", "sliceable")),
    Thing("Knife_bar_1", "Knife", "CounterTop_bar_1", ("pickupable", "cleanable")),
    Thing("Bowl_bar_1", "Bowl", "CounterTop_bar_1", ("pickupable", "isreceptacleobject")),
    Thing("DeskLamp_bar_1", "DeskLamp", "Drawer_bar_1", ("toggleable",)),
    Thing("Statue_bar_1", "Statue", "CounterTop_bar_1", ()),
)
FITS = tuple(
    (r.kind, kind)
    for r in FURNITURE
    for kind in ("Apple", "Bread", "Knife", "Bowl")
    if (r.kind, kind) != ("Microwave", "Knife")
)


def kitchen(kind: str = KINDS[0], obj: str = "Apple", recep: str = "SinkBasin") -> Problem:
    """Return a small kitchen with two receptacles at each of two places."""
    goal, task = goal_of(kind, obj, recep), task_text(kind, obj, recep)
    return Problem.furnish(FURNITURE, THINGS, FITS, "loc_bar_0", goal, task, kind)


def begun(problem: Problem | None = None, words: Words = PUT) -> Engine:
    return Engine(World(problem or kitchen(), words))


def bare(env: Any) -> AlfworldEnv:
    """Return the environment under Gymnasium's wrappers."""
    assert isinstance(env.unwrapped, AlfworldEnv)
    return env.unwrapped


def said(engine: Engine, *actions: str) -> str | None:
    """Play actions, all but the last of which must be possible; return the last answer."""
    for action in actions[:-1]:
        assert engine.play(action) is not None, action
    return engine.play(actions[-1])


# Equality with the original.


@pytest.fixture(scope="module")
def script() -> ModuleType:
    path = ROOT / "scripts" / "alfworld_record.py"
    spec = importlib.util.spec_from_file_location("alfworld_record", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["alfworld_record"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def games(script: ModuleType) -> list[dict[str, Any]]:
    return list(script.recorded())


def test_every_answer_is_the_originals(script: ModuleType, games: list[dict[str, Any]]) -> None:
    found = [f"{g['source']}: {line}" for g in games for line in script.differences(g)]
    assert not found[:5]


def test_the_recording_is_what_it_should_be(games: list[dict[str, Any]]) -> None:
    generated = [g for g in games if g["source"] != "odd"]
    assert len(games) >= 300
    for kind in KINDS:
        starts = {task_text(kind, "{}", "{}", wording).split("{}")[0] for wording in (0, 1)}
        assert sum(g["task"].startswith(tuple(starts)) for g in generated) >= 40
    assert len(games) - len(generated) >= 24
    assert {g["words"] for g in games} == {"move", "put"}
    assert {g["driver"] for g in games} == {"expert", "random", "both"}
    steps = [step for g in games for step in g["steps"]]
    assert sum(step[1] == say.NOTHING_HAPPENS for step in steps) >= 300
    assert sum(any(step[4] for step in g["steps"]) for g in games) >= 150
    done = {step[0].split()[0] for step in steps if step[1] != say.NOTHING_HAPPENS and step[0]}
    assert done >= {"go", "take", "put", "move", "open", "close", "heat", "cool", "clean", "slice"}
    assert done >= {"use", "examine", "look", "inventory", "help"}


@pytest.mark.parametrize("place", [1, 2, 3, 4, 5])
def test_a_changed_recording_is_noticed(
    script: ModuleType, games: list[dict[str, Any]], place: int
) -> None:
    game = json.loads(json.dumps(games[0]))
    step = game["steps"][0]
    changed = {1: step[1] + " ", 2: [], 3: ["dance"], 4: 1 - step[4], 5: 1 - step[5]}
    step[place] = changed[place]
    assert list(script.differences(game))


def test_the_original_says_so_where_it_is_not_installed() -> None:
    if importlib.util.find_spec("alfworld") is not None:
        pytest.skip("alfworld is installed")
    with pytest.raises(MissingExtra, match=r"agentgym\[alfworld-original\]"):
        Original(kitchen())


def test_the_original_itself_plays_as_we_do(script: ModuleType) -> None:
    pytest.importorskip("alfworld")
    pytest.importorskip("fast_downward")
    for vocabulary, words in script.VOCABULARIES.items():
        original, ours = Original(kitchen(), words), script.Ours(kitchen(), vocabulary)
        assert tuple(original.reset()) == ours.reset()
        rng = random.Random(vocabulary)
        for _ in range(15):
            action = rng.choice(ours.engine.actions)
            assert tuple(original.play(action)) == ours.play(action)


# PDDL and names.


def test_pddl_is_read_in_any_case_with_comments() -> None:
    text = "(Define (a ?X) ; a comment (with brackets\n  (NOT (= ?x B)))"
    assert pddl.read(text) == ("define", ("a", "?x"), ("not", ("=", "?x", "b")))


terms = st.recursive(
    st.sampled_from(["a", "?b", "c_bar_1", "-", "=", "and", "loc_bar__minus_3"]),
    lambda inner: st.lists(inner, max_size=4).map(tuple),
    max_leaves=20,
)


@settings(max_examples=30)
@given(st.lists(terms, max_size=5).map(tuple))
def test_pddl_reads_what_it_writes(term: Term) -> None:
    assert pddl.read(pddl.write(term)) == term


@pytest.mark.parametrize("text", ["", "a", ")", "(", "(a))", "(a)(b)", "(" * 50_000, ")" * 9])
def test_malformed_pddl_says_so(text: str) -> None:
    with pytest.raises(MalformedPddl, match="PDDL"):
        pddl.read(text)


def test_typed_lists_share_a_type() -> None:
    found = dict(pddl.typed(("a", "b", "-", "object", "c", "-", "agent", "d")))
    assert found == {"a": "object", "b": "object", "c": "agent", "d": "object"}
    for broken in (("a", "-"), ("a", ("b",)), ("-", ("b",))):
        with pytest.raises(MalformedPddl):
            list(pddl.typed(broken))


def test_a_problem_is_read_as_it_was_written() -> None:
    home = kitchen()
    again = Problem.from_pddl(home.to_pddl(), home.task, home.kind)
    assert again.facts == home.facts
    assert again.goal == home.goal
    assert dict(again.objects) == dict(home.objects)
    assert again.names == home.names


def test_published_pddl_is_read() -> None:
    text = """
    (define (problem plan_trial_T20190908_231731_054988)
    (:domain alfred)
    (:objects
        agent1 - agent
        Candle - object
        Cabinet_bar__plus_01_dot_66 - receptacle
        loc_bar_4_bar__minus_3 - location
    )
    (:init
        (= (total-cost) 0)
        (= (distance loc_bar_4_bar__minus_3 loc_bar_0) 8)
        (receptacleAtLocation Cabinet_bar__plus_01_dot_66 loc_bar_4_bar__minus_3)
        (atLocation agent1 loc_bar_4_bar__minus_3)
        (canContain CabinetType MugType) (canContain CabinetType MugType)
    )
    (:goal (and (opened Cabinet_bar__plus_01_dot_66)))
    (:metric minimize (total-cost))
    )"""
    problem = Problem.from_pddl(text, "open it")
    assert problem.of("atlocation") == [("atlocation", AGENT, "loc_bar_4_bar__minus_3")]
    assert problem.names["cabinet_bar__plus_01_dot_66"] == "cabinet 1"
    assert "candle" not in problem.names  # no fact speaks of it
    assert begun(problem).opening().startswith("You are facing the cabinet 1.")


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("(and)", "define"),
        ("(define (problem x) (:objects) (:init))", ":goal"),
        ("(define (:objects) (:init x) (:goal (and)))", "not a fact"),
        ("(define (:objects) (:init ((a) b)) (:goal (and)))", "not a fact"),
        ("(define (:objects) (:init) (:goal (and) (and)))", "one formula"),
        ("(define (:objects) (:init (opened a b)) (:goal (and)))", "about 1, not 2"),
        ("(define (:objects) (:init (inReceptacle a)) (:goal (and)))", "about 2, not 1"),
        (f"(define (:objects) (:init) (:goal {'(not' * 2000} (and){')' * 2001})", "deeper than"),
    ],
)
def test_what_is_no_problem_says_so(text: str, match: str) -> None:
    with pytest.raises(MalformedPddl, match=match):
        Problem.from_pddl(text, "")


@pytest.mark.parametrize("agents", [[], ["loc_bar_1", "loc_bar_2"]])
def test_a_game_has_one_agent(agents: list[str]) -> None:
    facts = tuple(("atlocation", AGENT, place) for place in agents)
    with pytest.raises(MalformedPddl, match="one agent"):
        World(Problem({}, facts, ("and",), ""), PUT)


def test_numbers_go_down_in_the_order_of_the_ids() -> None:
    ids = ["cup_bar__plus_01", "cup_bar__minus_01", "sink_bar_1", "sink_bar_1_bar_sinkbasin"]
    assert name_all([*ids, "cuptype", "agent1", "washbasinplug_bar_1"]) == {
        "cup_bar__minus_01": "cup 2",
        "cup_bar__plus_01": "cup 1",
        "sink_bar_1": "sink 1",
        "sink_bar_1_bar_sinkbasin": "sinkbasin 1",
        "washbasinplug_bar_1": "washbasinplugbasin 1",
        "cuptype": "cuptype ",
        "agent1": "agent1 ",
    }


# Goals.

OBJECTS = {"a1": "a", "b1": "b", "b2": "b"}
FIXED = ("red", "likes")
MOVING = ("big", "near")


def formula(rng: random.Random, depth: int) -> Term:
    """Return a formula over two variables, which may be bound again inside."""
    names = ("?x", "?y", "a1", "b1", "b2")
    kind = rng.choice(("and", "and", "or", "not", "imply", "exists", "forall", "", ""))
    if depth == 0 or not kind:
        if rng.random() < 0.4:
            return (rng.choice(("red", "big")), rng.choice(names))
        return (rng.choice(("likes", "near", "=")), rng.choice(names), rng.choice(names))
    if kind in ("exists", "forall"):
        some = (rng.choice(("?x", "?y")), "-", rng.choice("ab"))
        bound = rng.choice((some, ("?x", "-", "object", "?y", "-", "b")))
        return (kind, bound, formula(rng, depth - 1))
    count = {"not": 1, "imply": 2}.get(kind, rng.randrange(4))
    return (kind, *(formula(rng, depth - 1) for _ in range(count)))


def holds(term: Any, facts: set[Fact], given: Mapping[str, str]) -> bool:
    """Decide a formula by trying everything."""
    head, *rest = term
    if head in ("and", "or"):
        return (all if head == "and" else any)(holds(part, facts, given) for part in rest)
    if head == "not":
        return not holds(rest[0], facts, given)
    if head == "imply":
        return not holds(rest[0], facts, given) or holds(rest[1], facts, given)
    if head in ("exists", "forall"):
        names = list(pddl.typed(rest[0]))
        ids = [[i for i, t in OBJECTS.items() if kind in ("object", t)] for _, kind in names]
        cases = ({**given, **dict(zip([n for n, _ in names], c, strict=True))}
                 for c in itertools.product(*ids))  # fmt: skip
        return (any if head == "exists" else all)(holds(rest[1], facts, case) for case in cases)
    fact = tuple(given.get(name, name) for name in rest)
    return fact[0] == fact[1] if head == "=" else (head, *fact) in facts


def test_goals_are_decided_as_by_trying_everything() -> None:
    rng, verdicts = random.Random(0), []
    unary = [(name, i) for name in ("red", "big") for i in OBJECTS]
    binary = [(name, i, j) for name in ("likes", "near") for i in OBJECTS for j in OBJECTS]
    for _ in range(1_000):
        every = ("?x", "-", "object", "?y", "-", "object")
        goal = (rng.choice(("exists", "forall")), every, formula(rng, rng.randrange(1, 4)))
        share = rng.random()
        facts: set[Fact] = {f for f in (*unary, *binary) if rng.random() < share}
        fixed = {name: [f for f in sorted(facts) if f[0] == name] for name in FIXED}
        judge = Judge(goal, OBJECTS, fixed, MOVING)
        verdict = judge.holds({fact for fact in facts if fact[0] in MOVING})
        assert verdict == holds(goal, facts, {}), (goal, facts)
        verdicts.append(verdict)
    assert 200 < sum(verdicts) < 800


@pytest.mark.parametrize(
    "goal", ["and", (), (("and",),), ("not",), ("not", ("a",), ("b",)), ("exists", "?x", ("a",))]
)
def test_what_is_no_goal_says_so(goal: Term) -> None:
    with pytest.raises(MalformedPddl):
        Judge(goal, {}, {}, ())


SOLUTIONS = {
    "pick_and_place_simple": (
        "SinkBasin",
        "go to countertop 1; take apple 1 from countertop 1; put apple 1 in/on sinkbasin 1",
    ),
    "pick_clean_then_place_in_recep": (
        "Cabinet",
        "go to countertop 1; take apple 1 from countertop 1; clean apple 1 with sinkbasin 1; "
        "go to cabinet 1; put apple 1 in/on cabinet 1",
    ),
    "pick_heat_then_place_in_recep": (
        "Fridge",
        "go to countertop 1; take apple 1 from countertop 1; go to microwave 1; "
        "heat apple 1 with microwave 1; go to fridge 1; open fridge 1; put apple 1 in/on fridge 1",
    ),
    "pick_cool_then_place_in_recep": (
        "Cabinet",
        "go to fridge 1; open fridge 1; take apple 2 from fridge 1; cool apple 2 with fridge 1; "
        "put apple 2 in/on cabinet 1",
    ),
    "pick_two_obj_and_place": (
        "Cabinet",
        "go to fridge 1; open fridge 1; take apple 2 from fridge 1; put apple 2 in/on cabinet 1; "
        "go to countertop 1; take apple 1 from countertop 1; go to cabinet 1; "
        "put apple 1 in/on cabinet 1",
    ),
    "look_at_obj_in_light": (
        "DeskLamp",
        "go to countertop 1; take apple 1 from countertop 1; go to drawer 1; use desklamp 1",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_type_is_won_by_its_last_step_alone(kind: str) -> None:
    recep, actions = SOLUTIONS[kind]
    engine = begun(kitchen(kind, "Apple", recep))
    for action in actions.split("; "):
        assert not engine.won
        assert engine.play(action) is not None, action
    assert engine.won


def test_the_lamp_only_has_to_have_been_switched_on() -> None:
    engine = begun(kitchen("look_at_obj_in_light", "Apple", "DeskLamp"))
    said(engine, "go to drawer 1", "use desklamp 1", "go to countertop 1")
    said(engine, "take apple 1 from countertop 1")
    assert not engine.won  # the lamp is elsewhere
    said(engine, "go to drawer 1")
    assert engine.won  # though it was not switched on again


# The engine's rules: what the original does, and would not be expected to.


def test_the_room_is_described_once() -> None:
    engine = begun()
    everything = (
        "a cabinet 1, a countertop 1, a drawer 1, a fridge 1, a microwave 1, and a sinkbasin 1"
    )
    assert engine.opening().endswith(f"you see {everything}.")
    nothing = "You are in the middle of a room. Looking quickly around you, you see nothing."
    assert engine.play("look") == nothing


def test_going_where_one_stands_is_no_action() -> None:
    engine = begun()
    assert said(engine, "go to fridge 1") == "You arrive at loc 4. The fridge 1 is closed."
    assert engine.play("go to fridge 1") is None
    assert engine.play("go to cabinet 1") is None  # it is at the same place
    assert not {"go to fridge 1", "go to cabinet 1"} & {*engine.actions}
    assert engine.play("examine cabinet 1") == "The cabinet 1 is open. In it, you see a bread 1."


def test_a_receptacle_reached_from_two_places_is_gone_to_from_either() -> None:
    home = kitchen()
    place = home.of("receptacleatlocation")[0][1]
    both = Problem(
        home.objects,
        (*home.facts, ("receptacleatlocation", place, "loc_bar_77")),
        home.goal,
        home.task,
    )
    engine = begun(both)
    action = f"go to {both.names[place]}"
    stood = set()
    for _ in range(3):
        assert action in engine.actions
        assert engine.play(action) is not None
        stood.add(engine.here)
    assert len(stood) == 2
    assert "loc_bar_77" in stood


def test_only_what_is_held_is_examined() -> None:
    engine = begun()
    assert said(engine, "go to countertop 1", "examine knife 1") is None
    held = said(engine, "take knife 1 from countertop 1", "examine knife 1")
    assert held == "There's nothing special about knife 1."
    cleaned = said(engine, "clean knife 1 with sinkbasin 1", "examine knife 1")
    assert cleaned == "This is a clean knife 1."


def test_doors_matter_for_taking_and_putting_alone() -> None:
    engine = begun()
    assert said(engine, "go to fridge 1", "take apple 2 from fridge 1") is None
    opened = said(engine, "open fridge 1")
    assert opened == "You open the fridge 1. The fridge 1 is open. In it, you see a apple 2."
    said(engine, "take apple 2 from fridge 1", "close fridge 1")
    assert engine.play("put apple 2 in/on fridge 1") is None
    assert engine.play("open cabinet 1") is None  # it is open
    assert engine.play("cool apple 2 with fridge 1") == "You cool the apple 2 using the fridge 1."
    assert engine.play("examine apple 2") == "This is a cold apple 2."
    hot = said(engine, "go to microwave 1", "heat apple 2 with microwave 1", "examine apple 2")
    assert hot == "This is a hot apple 2."


def test_a_lamp_is_only_ever_switched_on() -> None:
    engine = begun()
    for _ in range(2):
        assert said(engine, "go to drawer 1", "use desklamp 1") == "You turn on the desklamp 1."
        assert said(engine, "go to cabinet 1", "look") is not None
    assert ("opened", "drawer_bar_1") not in engine.facts


def test_a_thing_moved_at_one_place_is_seen_beside_it() -> None:
    engine = begun()
    beside = "You are facing the countertop 1, and sinkbasin 1. Next to it, you see {}."
    said(engine, "go to countertop 1", "take apple 1 from countertop 1")
    assert said(engine, "put apple 1 in/on sinkbasin 1", "look") == beside.format("a apple 1")
    said(engine, "take apple 1 from sinkbasin 1")
    assert said(engine, "put apple 1 in/on countertop 1", "look") == beside.format("a apple 1")
    said(engine, "take knife 1 from countertop 1", "put knife 1 in/on countertop 1")
    assert engine.play("look") == beside.format("a apple 1")  # it was put back


def test_slicing_needs_a_knife_and_reaches_through_doors() -> None:
    engine = begun()
    assert said(engine, "go to cabinet 1", "slice bread 1 with knife 1") is None
    said(engine, "go to countertop 1", "take knife 1 from countertop 1", "go to fridge 1")
    sliced = "You sliced the apple 2 with the knife 1."
    assert engine.play("slice apple 2 with knife 1") == sliced
    said(engine, "put knife 1 in/on cabinet 1", "open fridge 1", "take apple 2 from fridge 1")
    assert engine.play("examine apple 2") == "This is a sliced apple 2."


def test_what_cannot_be_done_changes_nothing() -> None:
    engine = begun()
    said(engine, "go to countertop 1", "take apple 1 from countertop 1")
    facts, actions = set(engine.facts), list(engine.actions)
    for action in (
        "take knife 1 from countertop 1",  # the hand is full
        "put apple 1 in/on drawer 1",  # it is elsewhere
        "move apple 1 to countertop 1",  # the other vocabulary
        "use statue 1",
        "Look",
        "help",
        "",
    ):
        assert engine.play(action) is None, action
    assert (engine.facts, engine.actions) == (facts, actions)


def test_what_may_not_lie_there_is_not_put_there() -> None:
    engine = begun()
    said(engine, "go to countertop 1", "take knife 1 from countertop 1", "go to microwave 1")
    said(engine, "open microwave 1")
    assert "put knife 1 in/on microwave 1" not in engine.actions
    assert engine.play("put knife 1 in/on microwave 1") is None


def test_containers_are_normal() -> None:
    home = kitchen()
    inner = ("inreceptacleobject", "apple_bar_1", "bowl_bar_1")
    full = Problem(home.objects, (*home.facts, inner), home.goal, home.task)
    for problem, seen in ((home, "nothing"), (full, "a apple 2")):
        engine = begun(problem)
        told = said(engine, "go to countertop 1", "take bowl 1 from countertop 1", "examine bowl 1")
        assert told == f"This is a normal bowl 1. In it, you see {seen}."


def test_every_listed_action_can_be_done_and_no_other() -> None:
    everything = set(_walk(begun(words=MOVE), 300))
    engine = begun(words=MOVE)
    rng = random.Random(1)
    for _ in range(40):
        facts = frozenset(engine.facts)
        for action in sorted(everything):
            engine.restore(facts)
            assert (engine.play(action) is not None) == (action in _at(engine, facts)), action
        engine.restore(facts)
        engine.play(rng.choice(engine.actions))


def _at(engine: Engine, facts: frozenset[Fact]) -> list[str]:
    engine.restore(facts)
    return engine.actions


def _walk(engine: Engine, steps: int) -> list[str]:
    rng, seen = random.Random(0), []
    for _ in range(steps):
        seen += engine.actions
        engine.play(rng.choice(engine.actions))
    return seen


# The words.


@pytest.mark.parametrize(
    ("marks", "text"),
    [
        ("", "There's nothing special about x 1."),
        ("toggleable istoggled", "This x 1 is on."),
        ("istoggled", "There's nothing special about x 1."),
        ("sliceable issliced", "This is a sliced x 1."),
        ("isclean", "This is a clean x 1."),
        ("ishot", "This is a hot x 1."),
        ("iscool", "This is a cold x 1."),
        ("isclean ishot", "This is a hot and clean x 1."),
        ("isclean iscool", "This is a cool and clean x 1."),
        ("issliced ishot", "This is a hot sliced x 1."),
        ("issliced iscool isclean", "This is a cool and clean sliced x 1."),
        ("issliced isclean sliceable", "This is a clean sliced x 1."),
    ],
)
def test_how_things_are_described(marks: str, text: str) -> None:
    assert say.state_of("x 1", marks.split()) == text


def test_the_vocabulary_is_the_games_own() -> None:
    grammar = """grammar :: \"""
      {"task": [{"rhs": "Your task is to: Put it there.."}],
       "GotoLocation.feedback": [ {"rhs": "%s #examineReceptacle.feedback#"} ],
       "PutObject.feedback": [ { "rhs": "%s" } ]}
      \""";
      action PutObject {
          template :: "%s";
      }
      %s"""
    older = grammar % (
        "You arrive at {lend.name}.",
        "You put the {o.name} in/on the {r.name}.",
        "put {o} in/on {r}",
        "",
    )
    newer = grammar % (
        "You arrive at {r.name}.",
        "You move the {o.name} to the {r.name}.",
        "move {o} to {r}",
        "action help {",
    )
    assert words_of(older, "") == PUT
    assert words_of(newer, "(:action help") == MOVE
    assert words_of("", "") == PUT
    game = json.dumps({"grammar": older, "pddl_problem": kitchen().to_pddl()})
    assert parse_game(game).problem.task == "Put it there."
    with pytest.raises(ValueError, match="not known"):
        words_of(grammar % ("You arrive at {a.id}.", "", "", ""), "")


# The environment.


def test_the_first_observation_is_agentgyms() -> None:
    env = make("alfworld")
    observation, info = env.reset(seed=0, options={"task_id": "alfworld_0"})
    scene, task, actions = observation.split("\n")
    assert scene.startswith("You are in the middle of a room. Looking quickly around you, you see")
    assert task == f"Your task is to: {info['goal']}."
    assert actions == f"AVAILABLE ACTIONS: {','.join(info['actions'])}"
    assert info["actions"] == sorted(info["actions"])
    observation, _, _, _, info = env.step(f"  {info['actions'][0]} ")
    assert info["valid"]
    assert observation.startswith(("The ", "On the "))  # where one arrives is not said
    observation, reward, done, _, info = env.step("dance")
    assert (observation, reward, done) == ("Nothing happens.", 0.0, False)
    assert not info["valid"]


def test_the_originals_words_can_be_had() -> None:
    for words, put in (("alfworld-0.3", "put"), ("alfworld-0.4", "move")):
        env = make("alfworld", words=words, actions_in_observation="never")
        observation, info = env.reset(seed=0, options={"task_id": "alfworld_0"})
        assert observation.startswith("-= Welcome to TextWorld, ALFRED! =-\n\nYou are in")
        assert observation.endswith(f"\n\nYour task is to: {info['goal']}.")
        arrived = env.step(info["actions"][0])[0]
        place = info["actions"][0].removeprefix("go to ")
        assert arrived.startswith("You arrive at " + ("loc " if put == "put" else f"{place}. "))
        assert ("help" in info["actions"]) == (put == "move")
        assert any(command.name == put for command in bare(env).commands)


@pytest.mark.parametrize(
    ("listed", "counts"), [("first", (1, 0)), ("always", (1, 1)), ("never", (0, 0))]
)
def test_the_list_is_given_when_it_is_asked_for(listed: str, counts: tuple[int, int]) -> None:
    env = make("alfworld", actions_in_observation=listed)
    first, _ = env.reset(seed=0)
    second = env.step("look")[0]
    assert (first.count("AVAILABLE ACTIONS: "), second.count("AVAILABLE ACTIONS: ")) == counts


@pytest.mark.parametrize("option", [{"words": "klingon"}, {"actions_in_observation": True}])
def test_wrong_options_say_what_is_right(option: dict[str, Any]) -> None:
    with pytest.raises(InvalidConfig, match=r"one of \w+"):
        make("alfworld", **option)


def test_an_episode_ends_when_it_is_won_or_spent() -> None:
    env = make("alfworld")
    observation, info = env.reset(seed=3)
    expert, total = bare(env).expert(), 0.0
    done = truncated = False
    while not done:
        observation, reward, done, truncated, info = env.step(expert.act(observation, info)[1])
        total += reward
    assert (total, info["score"], info["success"], truncated) == (1.0, 1.0, True, False)
    spent = make("alfworld", max_rounds=50)
    spent.reset(seed=0)
    ends = [spent.step("look")[2:4] for _ in range(50)]
    assert ends[-1] == (False, True)
    assert ends[-2] == (False, False)


def test_every_listed_action_is_in_the_grammar() -> None:
    for words in ("agentgym", "alfworld-0.4"):
        env = make("alfworld", words=words)
        _, info = env.reset(seed=1)
        rng = random.Random(0)
        for _ in range(25):
            for action in info["actions"]:
                matched = match_call(bare(env).commands, action)
                assert matched is not None
                assert matched[0].render(matched[1]) == action
            info = env.step(rng.choice(info["actions"]))[-1]


def test_a_snapshot_holds_what_was_changed() -> None:
    env = AlfworldEnv(max_rounds=100)
    _, info = env.reset(seed=5)
    rng = random.Random(5)
    for _ in range(60):
        twin = env.fork()
        assert twin.engine.facts == env.engine.facts
        assert twin.engine.contents == env.engine.contents
        action = rng.choice(info["actions"])
        there, here = twin.step(action), env.step(action)
        assert there == here
        if here[2]:
            break
        info = here[-1]
    assert len(json.dumps(env.get_state())) < 10_000


@pytest.mark.parametrize(
    ("come", "gone"),
    [
        ([["atlocation", "agent1", "loc_bar_0"]], []),
        ([["opened", "door"]], []),
        ([["pickupable", "agent1"]], []),
        ([["opened"]], []),
        ([[]], []),
        ([["inreceptacle", "agent1", "agent1"]], []),
        ([["holds", "agent1", "agent1"]], []),
        ([[["opened"], "agent1"]], []),
        ([], "everything"),
        (5, []),
        ([], [[1, {}]]),
    ],
)
def test_a_damaged_snapshot_is_refused(come: Any, gone: Any) -> None:
    env = AlfworldEnv()
    env.reset(seed=0)
    state = env.get_state()
    if gone == "everything":
        gone = [list(fact) for fact in env.engine.facts]
    if come and come != 5 and come[0] and come[0][0] == "atlocation":
        come = [["atlocation", "agent1", place.location] for place in env.engine.world.places[:1]]
    state["engine"] = {"come": come, "gone": gone}
    with pytest.raises(InvalidState):
        env.set_state(state)


@pytest.mark.parametrize("kind", KINDS)
def test_ten_thousand_adversarial_actions_never_raise(kind: str) -> None:
    env = AlfworldEnv(max_rounds=20_000, split="train")
    task = next(task for task in env.tasks.split("train") if task.kind == kind)
    _, info = env.reset(seed=0, options={"task_id": task.id})
    rng = random.Random(kind)
    hostile = [*GARBAGE, "", "ß" * 10_000, "go to " + "cabinet " * 1_200, "{r} {o}", "%s", "\x00",
               "take {0} from {0.__class__}", "look\nlook", "go to cabinet ١", "🧊"]  # fmt: skip
    for _ in range(10_000):
        known = rng.choice(info["actions"])
        action = rng.choice(
            (
                rng.choice(hostile),
                known,
                known[: rng.randrange(len(known))],
                known + known,
                "".join(rng.sample(known, len(known))),
            )
        )
        _, _, done, _, info = env.step(action)
        if done:
            _, info = env.reset(seed=0, options={"task_id": task.id})


# The official edition.


def game_file(problem: Problem, task: str = "", put: str = "put {o} in/on {r}") -> str:
    """Return a game as ALFWorld's data has it, with the parts of the grammar that are read."""
    grammar = (
        'grammar :: """ {"task": [{"rhs": "Your task is to: ' + (task or problem.task) + '."}],'
        '"GotoLocation.feedback": [{"rhs": "You arrive at {lend.name}. '
        '#examineReceptacle.feedback#"}],'
        '"PutObject.feedback": [{"rhs": "You put the {o.name} in/on the {r.name}."}]} """;\n'
        'action PutObject {\n    template :: "' + put + '";\n}'
    )
    game = {"pddl_domain": "(define (domain alfred))", "grammar": grammar, "solvable": True}
    return json.dumps(game | {"pddl_problem": problem.to_pddl(), "walkthrough": ["look"]})


GAMES = (
    ("train", "pick_and_place_simple-Apple-None-SinkBasin-1", "trial_T1"),
    ("train", "look_at_obj_in_light-Apple-None-DeskLamp-1", "trial_T2"),
    ("valid_train", "pick_heat_then_place_in_recep-Apple-None-Fridge-1", "trial_T3"),
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with three games and their two lists."""
    lists: dict[str, list[dict[str, Any]]] = {"mappings_train.json": [], "mappings_test.json": []}
    for i, (fold, name, trial) in enumerate(GAMES):
        kind, obj, _, recep, _ = name.split("-")
        folder = tmp_path / "alfworld" / "json_2.1.1" / fold / name / trial
        folder.mkdir(parents=True)
        (folder / "game.tw-pddl").write_text(game_file(kitchen(kind, obj, recep)))
        lists["mappings_train.json" if fold == "train" else "mappings_test.json"].append(
            {"item_id": i, "task_type": name, "task_id": trial}
        )
    for file, rows in lists.items():
        (tmp_path / "alfworld" / file).write_text(json.dumps(rows))
    return tmp_path


def test_ids_go_through_the_published_lists(data: Path) -> None:
    env = AlfworldEnv(edition="official", data_dir=str(data))
    assert [(t.id, t.split, t.kind) for t in env.tasks] == [
        ("alfworld_0", "train", "pick_and_place_simple"),
        ("alfworld_1", "train", "look_at_obj_in_light"),
        ("alfworld_2", "eval", "pick_heat_then_place_in_recep"),
    ]
    observation, info = env.reset(seed=0)
    assert info["task_id"] == "alfworld_2"
    assert "\nYour task is to: put a hot apple in fridge.\nAVAILABLE ACTIONS: go to" in observation
    for action in SOLUTIONS["pick_heat_then_place_in_recep"][1].split("; "):
        _, _, done, _, info = env.step(action)
    assert done
    assert info["score"] == 1.0


def test_an_official_game_is_solved_by_the_expert_and_forked(data: Path) -> None:
    env = AlfworldEnv(edition="official", split="train", data_dir=str(data))
    for task in env.tasks:
        observation, info = env.reset(seed=0, options={"task_id": task.id})
        expert, done = env.expert(), False
        while not done:
            observation, _, done, truncated, info = env.step(expert.act(observation, info)[1])
            assert not truncated
            assert env.fork().engine.facts == env.engine.facts


@pytest.mark.parametrize("layout", ["configs", "bare"])
def test_sensible_layouts_are_found(data: Path, layout: str) -> None:
    home = data / "alfworld"
    if layout == "configs":
        (home / "configs").mkdir()
        for file in home.glob("mappings_*.json"):
            file.rename(home / "configs" / file.name)
    else:
        for fold in (home / "json_2.1.1").iterdir():
            fold.rename(home / fold.name)
    env = AlfworldEnv(edition="official", data_dir=str(data))
    assert env.reset(seed=0)[1]["goal"] == "put a hot apple in fridge"


def test_the_files_vocabulary_is_played_unless_another_is_asked_for(data: Path) -> None:
    folder = next((data / "alfworld").glob("json_2.1.1/valid_train/*/*"))
    kind = kitchen(KINDS[3], "Apple", "Fridge")
    (folder / "game.tw-pddl").write_text(game_file(kind, "Warm it up.", "lay {o} into {r}"))
    env = AlfworldEnv(edition="official", data_dir=str(data))
    _, info = env.reset(seed=0)
    assert info["goal"] == "Warm it up."
    env.step("go to countertop 1")
    info = env.step("take apple 1 from countertop 1")[-1]
    assert "lay apple 1 into countertop 1" in info["actions"]
    newer = AlfworldEnv(edition="official", data_dir=str(data), words="alfworld-0.4")
    newer.reset(seed=0)
    assert newer.step("go to countertop 1")[0].startswith("You arrive at countertop 1. On the")


def test_the_state_alone_is_enough(data: Path) -> None:
    folder = next((data / "alfworld").glob("json_2.1.1/valid_train/*/*"))
    (folder / "game.tw-pddl").unlink()
    (folder / "initial_state.pddl").write_text(kitchen(KINDS[3], "Apple", "Fridge").to_pddl())
    env = AlfworldEnv(edition="official", data_dir=str(data))
    assert env.reset(seed=0)[1]["goal"] == "put a hot apple in fridge"


def test_what_is_missing_is_named_with_what_to_do(data: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingData, match=r"no games in .*AGENTGYM_DATA"):
        AlfworldEnv(edition="official", data_dir=str(tmp_path / "nowhere"))
    folder = next((data / "alfworld").glob("json_2.1.1/valid_train/*/*"))
    env = AlfworldEnv(edition="official", data_dir=str(data))
    (folder / "game.tw-pddl").rename(folder / "elsewhere")
    with pytest.raises(MissingData, match=r"no game.tw-pddl"):
        env.reset(seed=0)
    (folder / "elsewhere").unlink()
    folder.rmdir()
    with pytest.raises(MissingData, match=r"is in none of valid_train, train"):
        env.reset(seed=0)
    (data / "alfworld" / "mappings_test.json").unlink()
    moved = data.rename(data.parent / f"{data.name}-moved")  # task sets are kept by folder
    with pytest.raises(MissingData, match=r"no mappings_test.json.*agentenv-alfworld/configs"):
        AlfworldEnv(edition="official", data_dir=str(moved))


@pytest.mark.parametrize(
    "text",
    [
        "[",
        "{}",
        "[1]",
        '[{"task_type": "a-b"}]',
        '[{"task_type": "..", "task_id": "x"}]',
        '[{"task_type": "../../etc", "task_id": "x"}]',
        f'[{{"task_type": "{"a" * 5000}", "task_id": "x"}}]',
        '[{"task_type": "a\\u0000", "task_id": "x"}]',
    ],
)
def test_a_list_that_is_none_says_so(data: Path, text: str) -> None:
    (data / "alfworld" / "mappings_train.json").write_text(text)
    with pytest.raises(InvalidConfig, match=r"mappings_train.json must hold a JSON list"):
        AlfworldEnv(edition="official", data_dir=str(data))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"pddl_problem": "(", "grammar": "Your task is to: x."}',
        '{"pddl_problem": "(", "grammar": "\\"Your task is to: x.\\""}',
        "\xff",
    ],
)
def test_a_game_that_is_none_says_so(data: Path, text: str) -> None:
    folder = next((data / "alfworld").glob("json_2.1.1/valid_train/*/*"))
    (folder / "game.tw-pddl").write_bytes(text.encode("latin-1"))
    env = AlfworldEnv(edition="official", data_dir=str(data))
    with pytest.raises(InvalidConfig, match="no readable ALFWorld game"):
        env.reset(seed=0)


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("put {o} in/on {r}", "put {o} in/on {zz}", "fields that are not known"),
        ("in/on the {r.name}.", "in/on the {lend.name}.", "fields that are not known"),
        ("(atlocation agent1", "(atlocation agent1 x) (atlocation agent1", "playable.*one agent"),
    ],
)
def test_a_game_that_cannot_be_played_is_named(data: Path, old: str, new: str, match: str) -> None:
    file = next((data / "alfworld").glob("json_2.1.1/valid_train/*/*/game.tw-pddl"))
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    env = AlfworldEnv(edition="official", data_dir=str(data))
    with pytest.raises(InvalidConfig, match=f"trial_T3 holds no .*{match}"):
        env.reset(seed=0)


def test_a_published_list_of_eval_ids_is_used(data: Path) -> None:
    (data / "alfworld" / "eval_ids.json").write_text('["alfworld_1"]')
    env = AlfworldEnv(edition="official", data_dir=str(data))
    assert [task.split for task in env.tasks] == ["train", "eval", "train"]
