"""Studies: every one can be planned, arms differ in what they say, and runs go on where stopped."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl")

import torch

from agentgym.baselines.agentevol import AgentEvolConfig
from agentgym.baselines.checkpoints import MODEL, RESULT
from agentgym.baselines.configfile import CONFIG_FILE
from agentgym.baselines.estimate import estimate
from agentgym.baselines.examples import NothingToLearn, env_choice, example_of, expert_episodes
from agentgym.baselines.grpo import GRPOConfig
from agentgym.baselines.overrides import differences as changed
from agentgym.baselines.pairs import PairReport
from agentgym.baselines.profiles import UnknownProfile
from agentgym.baselines.progress import silent
from agentgym.baselines.studies.catalog import STUDIES, UnknownStudy, find_study
from agentgym.baselines.studies.plan import plan, planned_stages
from agentgym.baselines.studies.prompt import compact_prompt
from agentgym.baselines.studies.results import as_data, differences, rows
from agentgym.baselines.studies.run import run
from agentgym.baselines.studies.settings import StudySettings, load_settings, merged, profiles
from agentgym.baselines.studies.show import details
from agentgym.baselines.studies.stages import panel
from agentgym.baselines.studies.study import Study
from agentgym.baselines.untrained import try_to_train, why_untrained
from agentgym.core.errors import InvalidConfig
from tests.baselines import tiny

NAMES = [study.name for study in STUDIES]
SMALL = """
models: [{name: scratch, scratch: {hidden: 16, layers: 1, heads: 2, context: 1024}}]
base: {expert: [{env: maze, tasks: 2, options: {size: [5, 5]}, max_rounds: 4}]}
large: {expert: [{env: maze, tasks: 3, options: {size: [5, 5]}, max_rounds: 4}]}
shared:
  tensorboard: false
  log_every: 1
  length: {max_tokens: 512, too_long: truncate-turns}
  eval:
    envs: [{env: maze, split: eval, tasks: 2, options: {size: [5, 5]}, max_rounds: 3}]
    sampling: &sampling {temperature: 1.0, max_tokens: 4, executor: inline}
bc: {optim: &optim {lr: 3.0e-3, max_steps: 2, batch_size: 2, threads: 1}}
agentevol:
  iterations: 2
  reward: none
  keep: all
  explore:
    envs: [{env: maze, tasks: 2, options: {size: [5, 5]}, max_rounds: 3}]
    sampling: *sampling
  optim: *optim
grpo:
  tasks: [{env: maze, options: {size: [5, 5]}, max_rounds: 3}]
  groups: 2
  group_size: 2
  samplings: 1
  sampling: *sampling
  attribution: {method: counterfactual}
  optim: {lr: 1.0e-3, batch_size: 2, accumulate: 2, threads: 1}
"""


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def small(study: Study, folder: Path, *overrides: str) -> StudySettings:
    path = folder / "small.yaml"
    path.write_text(SMALL)
    return load_settings(study, path, overrides)


def reached(study: Study, settings: StudySettings, folder: Path) -> list[Any]:
    (model,) = settings.models
    stages = planned_stages(study, settings, model, folder)
    return rows(stages, settings, panel(folder, model))


def weights(folder: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    return dict(load_file(folder / "model.safetensors"))


def same(one: Path, other: Path) -> bool:
    a, b = weights(one), weights(other)
    return a.keys() == b.keys() and all(torch.equal(a[key], b[key]) for key in a)


@pytest.mark.parametrize("study", STUDIES, ids=NAMES)
def test_a_study_holds_together(study: Study) -> None:
    names = [arm.name for arm in study.arms]
    assert len(set(names)) == len(names)
    for at, arm in enumerate(study.arms):
        before = names[:at]
        assert not arm.after or arm.after in before
        assert not arm.shares or arm.shares.partition("/")[0] in before
    for one, other in study.claims:
        assert {one, other} <= set(names)
    assert study.published
    assert {"cpu", "paper"} <= set(profiles(study))


@pytest.mark.parametrize(
    ("study", "profile"), [(study, name) for study in STUDIES for name in profiles(study)]
)
def test_every_profile_fits_the_trainers_and_can_be_planned(study: Study, profile: str) -> None:
    settings = load_settings(study, profile)
    lines = plan(study, settings, Path("runs") / "x")
    for arm in study.arms:
        assert any(line.strip().startswith(f"{arm.title} (") for line in lines)
    for note in study.notes:
        assert note in lines
    for model in settings.models:
        for stage in planned_stages(study, settings, model, Path("runs")):
            assert stage.config.eval.envs
            assert stage.config.seed == settings.seed
            assert stage.config.model.name == model.name
            if profile == "paper":
                assert {tasks.edition for tasks in stage.config.eval.envs} == {"official"}
    assert not Path("runs").joinpath("x").exists()


def test_the_published_settings_are_the_trainers_own() -> None:
    study = find_study("agentgym-table3")
    settings = load_settings(study, "paper")
    (llama,) = settings.models
    assert llama.name == "meta-llama/Llama-2-7b-chat-hf"
    stages = {s.arm.name: s for s in planned_stages(study, settings, llama, Path("runs"))}
    evol = stages["agentevol"].config
    assert isinstance(evol, AgentEvolConfig)
    assert (evol.iterations, evol.explore.samples, evol.merge, evol.start) == (
        4, 1, "initial", "base")  # fmt: skip
    assert stages["bc-large"].config.optim.lr == 1e-5
    qwen = load_settings(find_study("agentevolver-attribution"), "paper")
    assert [model.name for model in qwen.models] == [
        "Qwen/Qwen2.5-7B-Instruct", "Qwen/Qwen2.5-14B-Instruct"]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "one", "other", "keys"),
    [
        ("agentgym-samples", "k1", "k3", {"explore.samples"}),
        ("agentgym-scope", "limited", "broad", {"scope"}),
        ("agentgym-merge", "initial", "previous", {"merge"}),
        ("agentgym-merge", "initial", "none", {"merge"}),
        ("agentevolver-attribution", "adca", "no-outcome", {"adca.outcome"}),
        ("agentevolver-attribution", "adca", "no-attribution", {"adca.alpha"}),
        ("agentgym-table3", "bc-base", "bc-large", {"data.expert"}),
        ("agentgym-dpo", "bc-base", "bc-base", set()),
    ],
)
def test_arms_differ_in_what_they_say_and_in_nothing_else(
    name: str, one: str, other: str, keys: set[str]
) -> None:
    study = find_study(name)
    settings = load_settings(study)
    stages = {
        s.arm.name: s.config.model_dump(mode="json")
        for s in planned_stages(study, settings, settings.models[0], Path("runs"))
    }
    assert {key for key, _, _ in changed(stages[one], stages[other], ())} == keys


def test_grpo_has_the_settings_of_adca_grpo_that_it_knows() -> None:
    study = find_study("agentevolver-attribution")
    settings = load_settings(study)
    stages = {
        s.arm.name: s.config.model_dump()
        for s in planned_stages(study, settings, settings.models[0], Path("runs"))
    }
    known = set(stages["grpo"])
    assert set(stages["adca"]) - known == {"adca", "attribution"}
    assert all(stages["adca"][key] == stages["grpo"][key] for key in known)


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("bc.optim.lrate=1", "lr"),
        ("bc.model.name=gpt2", "models"),
        ("agentevol.policy=x", "the study"),
        ("shared.seed=1", "seed"),
        ("agentevo.iterations=3", "agentevol"),
        ("agentevol.iterations=0", "iterations"),
        ("models=[]", "at least one"),
        ("own={gpt2: {bc: {}}}", "none of the models"),
        ("own={scratch: {bcc: {}}}", "no section"),
        ("own={scratch: {bc: {seed: 1}}}", "bc.seed"),
    ],
)
def test_settings_that_cannot_be_used_are_refused(override: str, told: str) -> None:
    study = find_study("agentgym-table3")
    with pytest.raises(InvalidConfig, match=told):
        plan(study, load_settings(study, "cpu", [override]), Path("runs"))


def test_what_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnknownStudy, match="agentgym-table3"):
        find_study("agentgym-table")
    study = find_study("agentgym-table3")
    with pytest.raises(UnknownProfile, match="paper"):
        load_settings(study, "papr")
    with pytest.raises(InvalidConfig, match="no file"):
        load_settings(study, tmp_path / "mine.yaml")
    (tmp_path / "list.yaml").write_text("- maze")
    with pytest.raises(InvalidConfig, match="key: value"):
        load_settings(study, tmp_path / "list.yaml")


def test_a_model_can_have_settings_of_its_own() -> None:
    study = find_study("agentevolver-attribution")
    settings = load_settings(study, "paper")
    kinds = {}
    for model in settings.models:
        stages = planned_stages(study, settings, model, Path("runs"))
        assert all(stage.config.eval.attempts == 8 for stage in stages)
        configs = [stage.config for stage in stages if isinstance(stage.config, GRPOConfig)]
        kinds[model.name] = {config.engine.kind for config in configs}
    assert kinds == {
        "Qwen/Qwen2.5-7B-Instruct": {"vllm-colocate"},
        "Qwen/Qwen2.5-14B-Instruct": {"vllm-server"},
    }


def test_published_settings_find_room_on_eight_gpus() -> None:
    for study in STUDIES:
        settings = load_settings(study, "paper")
        for model in settings.models:
            for stage in planned_stages(study, settings, model, Path("runs")):
                assert estimate(stage.config, 8).fits, stage.arm.name


def test_an_override_changes_one_place_even_where_the_file_has_an_alias() -> None:
    study = find_study("agentgym-table3")
    settings = load_settings(study, "cpu", ["agentevol.explore.sampling.temperature=0.5"])
    assert settings.agentevol["explore"]["sampling"]["temperature"] == 0.5
    assert settings.shared["eval"]["sampling"]["temperature"] == 1.0


def test_an_arm_brings_the_arms_it_needs() -> None:
    study = find_study("agentgym-merge")
    assert [arm.name for arm in study.needed(("none",))] == ["bc-base", "initial", "none"]
    assert [arm.name for arm in study.needed(("bc-base",))] == ["bc-base"]
    assert study.needed(()) == study.arms


def test_what_is_laid_over_leaves_what_lies_under_as_it_was() -> None:
    under = {"a": {"b": 1, "c": 2}, "d": 3}
    assert merged(under, {"a": {"b": 5}, "e": None}) == {"a": {"b": 5, "c": 2}, "d": 3, "e": None}
    assert under == {"a": {"b": 1, "c": 2}, "d": 3}


def test_one_prompt_knows_several_environments_by_their_rules() -> None:
    pytest.importorskip("minigrid")
    from transformers.utils.chat_template_utils import render_jinja_template

    from agentgym.baselines.config import EnvTasks
    from agentgym.baselines.demonstration.start import template_of

    tasks = [EnvTasks(env=env, tasks=2, max_rounds=30) for env in ("maze", "babyai", "textcraft")]
    prompt = compact_prompt(tasks)
    for one in tasks:
        for episode in expert_episodes(one):
            talk = [list(example_of(episode).messages)]
            both = [
                render_jinja_template(conversations=talk, chat_template=template)[0][0]
                for template in (prompt, template_of(one.env))
            ]
            assert both[0] == both[1]
            assert episode.steps[0].action in both[0]
    assert len({env_choice(one).env_id for one in tasks}) == 3


def test_a_study_that_was_stopped_goes_on_and_trains_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = find_study("agentgym-table3")
    settings = small(study, tmp_path, "lines=[random]")
    run(study, settings, tmp_path / "whole", silent)
    with monkeypatch.context() as patch:
        tiny.die_at_step(2, patch)
        with pytest.raises(tiny.Killed):
            run(study, settings, tmp_path / "stopped", silent)
    assert reached(study, settings, tmp_path / "stopped") == []
    run(study, settings, tmp_path / "stopped", silent, arms=("bc-large",))
    shown = reached(study, settings, tmp_path / "stopped")
    assert [row.title for row in shown] == ["BC (large)", "random"]
    large = tmp_path / "stopped" / "scratch" / "bc-large" / RESULT
    before = large.stat().st_mtime_ns
    run(study, settings, tmp_path / "stopped", silent)
    assert large.stat().st_mtime_ns == before
    places = [tmp_path / name / "scratch" for name in ("whole", "stopped")]
    for inner in (f"bc-base/{MODEL}", f"bc-large/{MODEL}", f"agentevol/round-2/train/{MODEL}"):
        assert same(places[0] / inner, places[1] / inner)
    for folder in ("whole", "stopped"):
        found = reached(study, settings, tmp_path / folder)
        assert [row.title for row in found] == ["BC (base)", "BC (large)", "AgentEvol", "random"]
        assert {one.edition for row in found for one in row.report.rows} == {"mini"}
        assert [one.total.episodes for row in found for one in row.report.rows] == [2] * 4
        gaps = differences(study, found)
        assert [(one.arm, one.other, one.env) for one in gaps] == [
            (*claim, "Maze") for claim in study.claims
        ]
    with pytest.raises(InvalidConfig, match="seed"):
        run(study, small(study, tmp_path, "seed=1"), tmp_path / "whole", silent)


def test_what_two_arms_share_is_what_each_would_have_made(tmp_path: Path) -> None:
    study = find_study("agentgym-merge")
    alone = dataclasses.replace(
        study, arms=tuple(dataclasses.replace(arm, shares="") for arm in study.arms)
    )
    settings = small(study, tmp_path)
    run(study, settings, tmp_path / "shared", silent)
    run(alone, settings, tmp_path / "alone", silent, arms=("previous", "none"))
    places = [tmp_path / name / "scratch" for name in ("shared", "alone")]
    for arm in ("previous", "none"):
        for number in (1, 2):
            inner = f"{arm}/round-{number}/train/{MODEL}"
            assert same(places[0] / inner, places[1] / inner)
    assert not same(places[0] / f"initial/round-1/train/{MODEL}",
                    places[0] / f"none/round-1/train/{MODEL}")  # fmt: skip
    titles = [row.title for row in reached(study, settings, tmp_path / "shared")]
    assert titles == [
        "BC (base)",
        *(f"merged with {what}, M = {m}" for what in
          ("the initial data", "the previous round's", "nothing") for m in (1, 2)),
    ]  # fmt: skip


def test_a_run_another_study_has_made_is_taken_over_where_it_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table, rounds = find_study("agentgym-table3"), find_study("agentgym-iterations")
    run(table, small(table, tmp_path), Path("table"), silent)
    settings = small(rounds, tmp_path)
    trained = [tmp_path / "rounds" / "scratch" / arm / RESULT for arm in ("bc-base", "agentevol")]
    made = [tmp_path / "table" / "scratch" / path.parent.name / RESULT for path in trained]
    said: list[str] = []
    run(rounds, settings, tmp_path / "rounds", said.append, reuse=[tmp_path / "table"])
    assert [path.read_bytes() for path in trained] == [path.read_bytes() for path in made]
    assert [line for line in said if "taken over from" in line] == [
        f"BC (base): taken over from {made[0].parent}",
        f"AgentEvol: taken over from {made[1].parent}",
    ]
    run(rounds, settings, tmp_path / "alone", silent)
    shown = [
        [(row.title, row.report.rows) for row in reached(rounds, settings, tmp_path / name)]
        for name in ("rounds", "alone")
    ]
    assert shown[0] == shown[1]
    said.clear()  # once more: nothing is copied over what is there
    run(rounds, settings, tmp_path / "rounds", said.append, reuse=[tmp_path / "table"])
    assert not [line for line in said if "taken over from" in line]


@pytest.mark.parametrize("other", ["setting", "demonstrations", "weights"])
def test_a_run_that_began_otherwise_is_not_taken_over(tmp_path: Path, other: str) -> None:
    table, rounds = find_study("agentgym-table3"), find_study("agentgym-iterations")
    changed = ["bc.optim.lr=0.002"] if other == "setting" else []
    run(table, small(table, tmp_path, *changed), tmp_path / "table", silent, arms=("bc-base",))
    started = tmp_path / "table" / "scratch"
    if other == "demonstrations":
        with (started / "base.jsonl").open("a") as file:
            file.write("\n")
    if other == "weights":
        (started / "untrained" / "model.safetensors").write_bytes(b"others")
    said: list[str] = []
    run(rounds, small(rounds, tmp_path), tmp_path / "rounds", said.append, arms=("bc-base",),
        reuse=[tmp_path / "table"])  # fmt: skip
    assert not [line for line in said if "taken over from" in line]
    assert (tmp_path / "rounds" / "scratch" / "bc-base" / RESULT).is_file()


def test_a_folder_without_a_study_cannot_be_reused(tmp_path: Path) -> None:
    study = find_study("agentgym-iterations")
    with pytest.raises(InvalidConfig, match="no study in"):
        run(study, small(study, tmp_path), tmp_path / "runs", silent, reuse=[tmp_path / "none"])


def test_attribution_begins_with_a_cloned_policy(tmp_path: Path) -> None:
    study = find_study("agentevolver-attribution")
    settings = small(study, tmp_path, "clone=true", "shared.eval.attempts=2")
    run(study, settings, tmp_path / "run", silent)
    found = reached(study, settings, tmp_path / "run")
    assert [row.arm for row in found] == ["start", "grpo", "no-outcome", "no-attribution", "adca"]
    assert [row.report.rows[0].total.attempts for row in found] == [2] * 5
    start = tmp_path / "run" / "scratch" / "start"
    for arm in study.arms[1:]:
        config = (start.parent / arm.name / CONFIG_FILE).read_text()
        assert f"name: {start / MODEL}" in config
    assert (start / MODEL).exists()


PAIRED = (
    "dpo.explore={agent: tests.baselines.stub:Sometimes, samples: 2, envs: "
    "[{env: maze, tasks: 2, options: {size: [5, 5]}, max_rounds: 20}]}",
    "dpo.optim={lr: 1.0e-3, max_steps: 1, batch_size: 1, threads: 1}",
)


def test_an_arm_that_finds_nothing_to_learn_stops_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = find_study("agentgym-dpo")
    order = {"bc-base": 0, "dpo": 1, "agentevol": 2}
    arms = tuple(sorted(study.arms, key=lambda arm: order[arm.name]))
    study = dataclasses.replace(study, arms=arms)
    settings = small(study, tmp_path, *PAIRED)
    said: list[str] = []
    with monkeypatch.context() as patch:
        patch.setattr("agentgym.baselines.dpo.choose_pairs", lambda *_: ([], PairReport(tasks=7)))
        run(study, settings, tmp_path / "run", said.append)
    assert any(line.startswith("DPO: not trained: there is no pair") for line in said)
    found = reached(study, settings, tmp_path / "run")
    assert [row.title for row in found] == ["BC (base)", "DPO (not trained)", "AgentEvol"]
    without = found[1]
    assert "0 pairs of 7 tasks" in without.untrained
    assert (without.report.rows, without.episodes) == ((), {})
    gaps = differences(study, found)
    assert [(one.arm, one.other) for one in gaps] == [("agentevol", "bc-base")]
    told = as_data(found, gaps)["rows"]
    assert [row["untrained"] for row in told] == ["", without.untrained, ""]
    assert f"- DPO (not trained): {without.untrained}" in details(found)
    # The same command again tries again.
    run(study, settings, tmp_path / "run", silent)
    found = reached(study, settings, tmp_path / "run")
    assert [row.title for row in found] == ["BC (base)", "DPO", "AgentEvol"]
    assert found[1].report.rows[0].total.episodes == 2
    assert len(differences(study, found)) == 3


def test_rounds_that_ended_are_shown_where_a_later_one_found_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = find_study("agentgym-iterations")
    settings = small(study, tmp_path)
    run(study, settings, tmp_path / "run", silent)
    folder = tmp_path / "run" / "scratch" / "agentevol"
    for path in (folder / RESULT, folder / "round-2" / "train" / RESULT):
        path.unlink()

    def stop(folder: Path, say: Any) -> None:
        raise NothingToLearn("round 2 solved none")

    try_to_train(stop, folder, silent)
    found = reached(study, settings, tmp_path / "run")
    assert [(row.title, row.untrained) for row in found] == [
        ("BC (base)", ""),
        ("AgentEvol, M = 1", ""),
        ("AgentEvol (not trained further)", "round 2 solved none"),
    ]
    assert differences(study, found) == []
    try_to_train(lambda folder, say: None, folder, silent)
    assert why_untrained(folder) == ""


def test_a_pretrained_model_is_taken_as_it_is(tmp_path: Path) -> None:
    """As SmolLM2 would be: its own chat template, thoughts and all."""
    folder = tiny.save(tiny.policy(), tmp_path / "some-model")
    study = find_study("agentevolver-attribution")
    changes = (
        f"models.0.name={folder}",
        "models.0.device=cpu",
        "shared.eval.sampling.max_tokens=4",
    )
    settings = small(study, tmp_path, *changes, "grpo.length.max_tokens=2048")
    run(study, settings, tmp_path / "run", silent, arms=("grpo",))
    found = reached(study, settings, tmp_path / "run")
    assert [row.title for row in found] == ["before training", "GRPO"]
    assert not (tmp_path / "run" / "some-model" / "start" / MODEL).exists()
    cloning = find_study("agentgym-table3")
    settings = small(cloning, tmp_path, *changes, "shared.length.max_tokens=2048")
    run(cloning, settings, tmp_path / "bc", silent, arms=("bc-base",))
    assert (tmp_path / "bc" / "some-model" / "bc-base" / MODEL).exists()
