"""The demonstration: one prompt for all arms, fair controls, honest statistics."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("trl")

from agentgym.agenteval.intervals import bounded_mean
from agentgym.agents.expert import ExpertAgent
from agentgym.baselines.bc import BCConfig
from agentgym.baselines.demonstration.arms import ARMS, Cell
from agentgym.baselines.demonstration.draw import plot_arms
from agentgym.baselines.demonstration.experiment import (
    EnvSettings,
    load_experiment,
    profiles,
)
from agentgym.baselines.demonstration.learning import VIEWS, plot_learning
from agentgym.baselines.demonstration.plan import plan
from agentgym.baselines.demonstration.rules import RULES, rule_of
from agentgym.baselines.demonstration.run import (
    CURVES,
    UnknownArm,
    find_arm,
    run,
    run_cell,
)
from agentgym.baselines.demonstration.show import FIRST, percent, show, table
from agentgym.baselines.demonstration.start import bare, template_of
from agentgym.baselines.demonstration.statistics import Gap, Line, gap, line, task_means
from agentgym.baselines.demonstration.words import ACT, END, OTHER, PHRASES, word_tokenizer
from agentgym.baselines.examples import env_choice, example_of, expert_episodes
from agentgym.baselines.pairs import Pair, PairReport
from agentgym.core.errors import InvalidConfig
from agentgym.rollout.engine import rollout
from agentgym.rollout.episode import Episode
from agentgym.rollout.plan import plan as plan_jobs
from tests.baselines.episodes import record
from tests.baselines.held import start_and_hold

ENVS = ("maze", "babyai", "alfworld", "textcraft")
IDS = {
    "maze": "agentgym/Maze-v0",
    "babyai": "agentgym/BabyAI-v0",
    "alfworld": "agentgym/ALFWorld-v0",
    "textcraft": "agentgym/TextCraft-v0",
}


def rendered(env: str, messages: list[dict[str, Any]], begin: bool = False) -> str:
    from transformers.utils.chat_template_utils import render_jinja_template

    texts, _ = render_jinja_template(
        conversations=[messages], chat_template=template_of(env), add_generation_prompt=begin
    )
    return str(texts[0])


def played(env: str, tasks: int = 3, rounds: int = 30) -> list[Episode]:
    setting = EnvSettings(env=env, max_rounds=rounds)
    return [bare(episode) for episode in expert_episodes(setting.tasks("train", tasks))]


def needs(env: str) -> None:
    if env == "babyai":
        pytest.importorskip("minigrid")


@pytest.mark.parametrize("env", ENVS)
def test_a_prompt_is_the_beginning_of_what_comes_after_it(env: str) -> None:
    needs(env)
    for episode in played(env):
        messages = list(example_of(episode).messages)
        whole = rendered(env, messages)
        for at, message in enumerate(messages):
            if message["role"] == "assistant" and at > 1:
                prompt = rendered(env, messages[:at], begin=True)
                assert prompt.endswith(ACT)
                assert whole.startswith(prompt + message["content"] + END)


@pytest.mark.parametrize("env", ENVS)
def test_words_put_together_again_are_the_text(env: str) -> None:
    needs(env)
    texts = [rendered(env, list(example_of(episode).messages)) for episode in played(env)]
    replies = [step.reply for episode in played(env) for step in episode.steps]
    tokenizer = word_tokenizer([*texts, *replies], template_of(env), PHRASES.get(env, ""))
    for text in (*texts, *replies):
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        assert tokenizer.decode(ids) == text
        assert tokenizer.unk_token_id not in ids


def test_a_name_of_several_words_is_one_token() -> None:
    text = "open the red door<|end|> see red closed door 1 f2"
    ids = (tokenizer := word_tokenizer([text], "", PHRASES["babyai"]))(text)["input_ids"]
    pieces = ["open", " the", " red door", END, " see", " red closed door", " 1", " f2"]
    assert tokenizer.convert_ids_to_tokens(ids) == pieces


def test_the_maze_is_told_by_the_way_to_the_goal_and_the_walls() -> None:
    text = (
        "The goal is at position 13, 7. Your current position is at position 10, 9. "
        "There are walls to your right, above you."
    )
    talk = [{"role": role, "content": said} for role, said in (
        ("user", "rules"), ("assistant", "OK"), ("user", text), ("assistant", "move left"),
        ("user", "That is no move."))]  # fmt: skip
    fields = " down+3 left+2 wall-up open-down open-left wall-right"
    assert rendered("maze", talk) == f"{fields}{ACT}move left{END}{OTHER}"


def test_babyai_is_told_by_what_is_seen_and_where() -> None:
    text = (
        "Your goal: go to a red ball\nIn front of you in this room, you can see several objects: "
        "There is a blue key 1 right in front of you 2 steps away.  There is a red ball 1 3 steps "
        "in front of you and 1 steps to your left.  The room has walls around you. You are facing "
        'a wall 4 steps away. You are carrying a green box.\nAvailable actions: ["turn left"]'
    )
    talk = [{"role": "user", "content": "rules"}, {"role": "assistant", "content": "OK"},
            {"role": "user", "content": text}]  # fmt: skip
    assert rendered("babyai", talk) == (
        " goal go to a red ball see red ball 1 f3 l1 facing wall f4 carry green box"
    )


def test_replies_are_bare_actions_and_read_as_such() -> None:
    (episode,) = played("maze", tasks=1)
    assert [step.reply for step in episode.steps] == [step.action for step in episode.steps]
    assert not any(step.thought for step in episode.steps)


def test_textcraft_is_told_by_the_recipes_its_goal_rests_on() -> None:
    text = (
        "Crafting commands:\ncraft 1 chest using 8 oak planks\ncraft 4 stick using 2 planks\n"
        "craft 1 oak sign using 6 oak planks, 1 stick\ncraft 4 oak planks using 1 oak logs\n"
        "craft 1 dark oak sign using 6 dark oak planks, 1 stick\n\nGoal: craft 3 oak sign."
    )
    talk = [{"role": role, "content": said} for role, said in (
        ("user", "rules"), ("assistant", "OK"), ("user", text), ("assistant", "get 1 oak logs"),
        ("user", "Got 1 oak logs"), ("assistant", "craft"), ("user", "Could not find it")
    )]  # fmt: skip
    assert rendered("textcraft", talk) == (
        " goal 3 oak sign\ncraft 1 oak sign using 6 oak planks, 1 stick\n"
        "craft 4 stick using 2 planks\ncraft 4 oak planks using 1 oak logs"
        f"{ACT}get 1 oak logs{END} got{ACT}craft{END} none"
    )


def test_what_is_explored_cannot_be_held_out() -> None:
    with pytest.raises(ValueError, match="not held out"):
        EnvSettings(env="babyai", held_out_split="train")
    other = EnvSettings(env="babyai", held_out_split="train", held_out_edition="official")
    mini = {(t.task.spec["level"], t.task.spec["seed"]) for t in plan_jobs(
        [env_choice(other.tasks("train", None))])}  # fmt: skip
    held = {(t.task.spec["level"], t.task.spec["seed"]) for t in plan_jobs(
        [env_choice(other.measured())])}  # fmt: skip
    assert held
    assert not mini & held


@pytest.mark.parametrize("env", RULES)
def test_a_rule_plays_without_breaking_and_no_better_than_the_expert(env: str) -> None:
    needs(env)
    setting = EnvSettings(env=env, max_rounds=20)
    jobs = plan_jobs([env_choice(setting.tasks("eval", 12))], tasks=12)
    episodes = rollout(jobs, rule_of(env), executor="inline")
    assert {episode.status for episode in episodes} == {"completed"}
    expert = rollout(jobs, ExpertAgent(), executor="inline")
    assert sum(e.success for e in episodes) <= sum(e.success for e in expert)
    if env == "maze":
        assert sum(e.success for e in episodes) >= 6


def cell(tmp_path: Path, **changes: Any) -> Cell:
    setting = EnvSettings(env="maze", **changes)
    return Cell(setting, 5, 1, tmp_path / "demos", tmp_path / "base", tmp_path)


def test_the_controls_have_the_steps_and_the_data_they_are_to_have(tmp_path: Path) -> None:
    one = cell(tmp_path, steps=100, iterations=2, evol_steps=30)
    configs = {arm.name: arm.config(one) for arm in ARMS}
    assert configs["bc"].optim.max_steps == 100
    assert configs["agentevol"].optim.max_steps == configs["unfiltered"].optim.max_steps == 30
    assert configs["demos"].optim.max_steps == 100 + 2 * 30
    assert configs["demos"].data == configs["bc"].data  # type: ignore[attr-defined]
    evol, control = configs["agentevol"].model_dump(), configs["unfiltered"].model_dump()
    assert {key for key in evol if evol[key] != control[key]} == {"reward", "keep"}
    for name in ("dpo", "grpo", "adca-grpo"):
        assert configs[name].model.name == str(one.cloned)
    for config in configs.values():
        assert config.seed == 5
        assert config.eval.model_copy(update={"every": None}) == one.setting.evaluation()
    assert isinstance(configs["bc"], BCConfig)


def test_profiles_can_be_planned() -> None:
    assert "small" in profiles()
    for name in profiles():
        experiment = load_experiment(name)
        assert plan(experiment)
        for arm in experiment.arms:
            find_arm(arm)
        for setting in experiment.envs:
            assert template_of(setting.env)
            assert rule_of(setting.env)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("envs: [{env: maze, demo: 3}]", "demos"),
        ("envs: []", "at least one"),
        ("envs: [{env: maze}, {env: maze}]", "once"),
        ("envs: [{env: maze}]\nseeds: [1, 1]", "once"),
        ("- maze", "key: value"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(InvalidConfig, match=told):
        load_experiment(path)


def test_what_does_not_exist_is_named() -> None:
    with pytest.raises(UnknownArm, match="agentevol"):
        find_arm("agentevo")
    with pytest.raises(InvalidConfig, match="maze"):
        template_of("chess")
    with pytest.raises(InvalidConfig, match="maze"):
        rule_of("chess")


def episodes(solved: dict[str, list[bool]]) -> list[Episode]:
    """Return episodes of some tasks, solved or not."""
    one = record(IDS["maze"], "maze_0", ["move up"])
    return [
        one.model_copy(update={"task_id": task, "attempt": i, "success": success})
        for task, successes in solved.items()
        for i, success in enumerate(successes)
    ]


def test_a_task_counts_once_however_often_it_was_played() -> None:
    first = episodes({"a": [True, True], "b": [False, False]})
    second = episodes({"b": [True, False], "a": [True, False]})
    assert task_means([*first, *second]) == {"a": 0.75, "b": 0.25}
    one = line("maze", "bc", [first, second])
    assert one.success == bounded_mean(np.array([0.75, 0.25]))
    assert (one.seeds, one.episodes, one.failed) == ((0.5, 0.5), 8, 0)


def test_arms_are_apart_only_where_the_better_ones_interval_is_above() -> None:
    tasks = [f"task_{i}" for i in range(60)]
    good = [episodes({task: [True] for task in tasks})]
    bad = [episodes({task: [i % 3 == 0] for i, task in enumerate(tasks)})]
    better = gap("maze", ("agentevol", good), ("bc", bad))
    assert better.apart
    assert better.difference.value == pytest.approx(2 / 3)
    assert not gap("maze", ("agentevol", bad), ("bc", good)).apart
    assert not gap("maze", ("agentevol", good), ("bc", good)).apart
    with pytest.raises(InvalidConfig, match="different tasks"):
        gap("maze", ("agentevol", good), ("bc", [episodes({"other": [True]})]))


def test_the_table_and_the_plot_show_every_arm(tmp_path: Path) -> None:
    tasks = {f"task_{i}": [i % 2 == 0] for i in range(10)}
    lines = [line("maze", name, [episodes(tasks)]) for name in ("expert", "bc", "agentevol")]
    shown = table(lines, [gap("maze", ("agentevol", [episodes(tasks)]), ("bc", [episodes(tasks)]))])
    assert "| maze | AgentEvol | 50.0 (" in shown
    assert "AgentEvol - BC, to its plateau | 0.0" in shown
    pytest.importorskip("matplotlib")
    plot_arms(lines, tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
    assert percent(lines[0].success).startswith("50.0 (")


def alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="processes are looked up in /proc")
def test_no_cell_is_trained_on_when_the_run_is_killed(tmp_path: Path) -> None:
    started = multiprocessing.get_context("spawn").Process(
        target=start_and_hold, args=(tmp_path / "pid",)
    )
    started.start()
    deadline = time.monotonic() + 120
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.1)
    cell = int((tmp_path / "pid").read_text())
    assert started.pid is not None
    assert alive(cell)
    os.kill(started.pid, signal.SIGKILL)
    started.join()
    while alive(cell):
        assert time.monotonic() < deadline
        time.sleep(0.1)


SMALLEST = """
seeds: [0]
jobs: 1
arms: [bc, agentevol, unfiltered, grpo, adca-grpo]
envs:
  - env: maze
    max_rounds: 4
    kinds: ["*-7x7"]
    demos: 12
    wide: 8
    held_out: 6
    steps: 6
    curve: 2
    samples: 2
    iterations: 2
    evol_steps: 4
    model: {hidden: 16, layers: 1, heads: 2, context: 512, init: 0.1}
    group: {groups: 2, group_size: 2, samplings: 1, optim: {batch_size: 4, accumulate: 1}}
"""


def test_a_demonstration_from_nothing_to_its_table_and_again(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    (tmp_path / "smallest.yaml").write_text(SMALLEST)
    experiment, folder = load_experiment(tmp_path / "smallest.yaml"), tmp_path / "run"
    run(experiment, folder, lambda _: None)
    text = show(experiment, folder)
    found = {row.split(" | ")[1]: row.split(" | ")[-3:] for row in text.splitlines()[2:11]}
    assert found["AgentEvol"] == ["6", "32", "8 |"]
    assert found["AgentEvol, one round"] == ["6", "16", "4 |"]
    first = next(one for one in read_lines(folder) if one.arm == FIRST)
    points = [json.loads(line) for line in (folder / CURVES).read_text().splitlines()]
    (measured,) = [
        point["Maze/success"] for point in points
        if (point["arm"], point["group"], point["stage"]) == ("agentevol", "eval", "round-1/train")
    ]  # fmt: skip
    assert first.success.value == pytest.approx(measured)
    assert found["BC, to its plateau"] == ["6", "0", "6 |"]
    assert found["GRPO"] == ["6", "4", "1 |"]
    for name in ("plot.png", *(f"learning-{arm}.png" for arm in VIEWS if arm != "dpo")):
        assert (folder / name).read_bytes()[:4] == b"\x89PNG"
    assert {point["arm"] for point in points} == set(experiment.arms)

    before = {p: p.stat().st_mtime_ns for p in folder.rglob("model.safetensors")}
    run(experiment, folder, lambda _: None)
    assert {p: p.stat().st_mtime_ns for p in folder.rglob("model.safetensors")} == before
    assert show(experiment, folder) == text
    shutil.rmtree(folder / "maze" / "seed-0" / "agentevol" / "round-1" / "train" / "eval")
    with pytest.raises(ValueError, match="empty"):  # what one round had is read there
        show(experiment, folder)


def point(
    arm: str, seed: int, at: int, group: str, values: dict[str, float], stage: str = "."
) -> dict[str, Any]:
    where = {"env": "maze", "seed": seed, "arm": arm, "stage": stage}
    return where | {"step": at, "group": group} | values


def test_what_a_picture_of_learning_shows_is_of_its_arm_group_and_seed() -> None:
    points = [
        point("bc", 1, 10, "eval", {"Maze/success": 0.25, "Maze/score": 0.9}),
        point("bc", 1, 10, "train", {"loss": 0.5}),
        point("bc", 2, 10, "eval", {"Maze/success": 0.5}),
        point("agentevol", 1, 150, "eval", {"Maze/success": 0.75}, "round-2/train"),
        point("dpo", 1, 4, "train", {"rewards/accuracies": 0.6, "rewards/margins": 3.0}),
        point("grpo", 1, 2, "train", {"success": 0.1, "reward": 0.2}),
        point("grpo", 1, 3, "eval", {"Maze/success": 0.9}),
    ]
    shown = {arm: view.curves(points, arm) for arm, view in VIEWS.items()}
    assert shown == {
        "bc": {1: {10: 25.0}, 2: {10: 50.0}},
        "agentevol": {1: {2: 75.0}},
        "dpo": {1: {4: 60.0}},
        "grpo": {1: {2: 10.0}},
        "adca-grpo": {},
    }


def test_a_picture_of_learning_is_drawn_where_there_is_something(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    points = [point("dpo", 1, 4, "train", {"rewards/accuracies": 0.6})]
    assert plot_learning(points, "dpo", tmp_path / "dpo.png")
    assert (tmp_path / "dpo.png").read_bytes()[:4] == b"\x89PNG"
    assert not plot_learning(points, "grpo", tmp_path / "grpo.png")
    assert not (tmp_path / "grpo.png").exists()


UNPAIRED = """
seeds: [0, 1]
jobs: 1
arms: [bc, dpo, demos]
envs:
  - env: maze
    max_rounds: 4
    kinds: ["*-7x7"]
    demos: 12
    wide: 8
    held_out: 6
    steps: 2
    curve: 1
    evol_steps: 2
    model: {hidden: 16, layers: 1, heads: 2, context: 512, init: 0.1}
    dpo: {tasks: 2, samples: 2, optim: {batch_size: 1}}
"""


def pair_anything(episodes: list[Episode], config: Any) -> tuple[list[Pair], PairReport]:
    return [Pair(episodes[0], episodes[1])], PairReport(episodes=4, pairs=1)


def test_an_arm_that_finds_no_pair_stops_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    (tmp_path / "unpaired.yaml").write_text(UNPAIRED)
    experiment, folder = load_experiment(tmp_path / "unpaired.yaml"), tmp_path / "run"
    run(experiment, folder, lambda _: None)
    shown = show(experiment, folder)
    assert "| maze | DPO | not trained |  |  | 0 |  |  |" in shown
    for seed in (0, 1):
        assert f"- maze, DPO, seed {seed} was not trained: there is no pair to learn" in shown
    assert "DPO - BC" not in shown
    assert "| maze | control: demonstrations only | 0" in shown
    lines = {line.arm: line for line in read_lines(folder)}
    assert set(lines["dpo"].untrained) == {0, 1}
    assert not lines["bc"].untrained

    # One of the seeds has pairs when it is tried again.
    monkeypatch.setattr("agentgym.baselines.dpo.choose_pairs", pair_anything)
    run_cell(experiment, experiment.envs[0], 1, folder)
    shown = show(experiment, folder)
    (dpo,) = [line for line in read_lines(folder) if line.arm == "dpo"]
    assert (set(dpo.untrained), len(dpo.seeds), dpo.episodes) == ({0}, 1, 6)
    assert "seed 0 was not trained" in shown
    assert "DPO - BC, to its plateau (seeds 1 alone)" in shown
    assert "AgentEvol - " not in shown


def read_lines(folder: Path) -> list[Line]:
    data = json.loads((folder / "results.json").read_text())
    return [Line.model_validate(one) for one in data["lines"]]


def test_results_of_before_can_be_read() -> None:
    old = {
        "env": "maze", "arm": "dpo", "seeds": [0.5], "episodes": 2, "failed": 0,
        "success": {"value": 0.5, "low": None, "high": None, "tasks": 1},
        "spent": {"episodes": 4, "steps": 1},
    }  # fmt: skip
    assert Line.model_validate(old).untrained == {}
    assert Line.model_validate(old).wide.value is None
    difference = {"value": 0.0, "low": None, "high": None, "tasks": 1}
    gap = {"env": "maze", "arm": "dpo", "other": "bc", "difference": difference, "apart": False}
    assert Gap.model_validate(gap).seeds == ()
    assert not Gap.model_validate(gap).wide_apart
