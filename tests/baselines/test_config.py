"""Settings: profiles, files, overrides, and what is refused."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("yaml")

import yaml

from agentgym.baselines.adca_grpo import AdcaGRPOConfig
from agentgym.baselines.agentevol import AgentEvolConfig
from agentgym.baselines.bc import BCConfig
from agentgym.baselines.catalog import BASELINES, UnknownBaseline, find_baseline
from agentgym.baselines.config import OptimConfig, RunConfig
from agentgym.baselines.configfile import (
    CONFIG_FILE,
    load_config,
    profiles,
    resolve,
    same_config,
    save_config,
    to_yaml,
)
from agentgym.baselines.dpo import DPOConfig
from agentgym.baselines.grpo import GRPOConfig, total_steps, updates
from agentgym.baselines.profiles import UnknownProfile
from agentgym.core.errors import InvalidConfig


@pytest.mark.parametrize("baseline", BASELINES, ids=lambda b: b.name)
def test_every_profile_of_every_trainer_resolves_and_can_be_planned(baseline: object) -> None:
    assert isinstance(baseline, type(BASELINES[0]))
    names = profiles(baseline.name)
    assert {"paper", "tiny"} <= set(names)
    for name in names:
        config = baseline.config(name)
        assert resolve(type(config), yaml.safe_load(to_yaml(config))) == config
        assert baseline.plan(config)


def test_overrides_reach_every_depth_and_lists_by_position() -> None:
    config = load_config(
        BCConfig,
        "bc",
        "tiny",
        ["optim.lr=1e-4", "eval.envs.0.tasks=3", "model.lora.r=4", "length.max_tokens=null",
         "data.expert.0.options.size=[5, 5]", "optim.batching=packed"],
    )  # fmt: skip
    assert config.optim.lr == 1e-4
    assert config.eval.envs[0].tasks == 3
    assert config.model.lora is not None
    assert config.model.lora.r == 4
    assert config.length.max_tokens is None
    assert config.data.expert[0].options == {"size": [5, 5]}
    assert config.optim.batching == "packed"


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("optim.learning_rate=1", "optim.learning_rate"),
        ("optim.epoch=1", "Did you mean epochs"),
        ("modle.name=x", "Did you mean model"),
        ("eval.envs.0.task=1", "Did you mean tasks"),
        ("eval.envs.7.tasks=1", "0 to 0"),
        ("model.lora.rank=3", "model.lora.rank"),
        ("optim.lr=fast", "optim.lr cannot be 'fast'"),
        (f"seed={2**32}", "seed cannot be"),
        ("model.scratch={hidden: 12, heads: 4}", r"multiple of twice the heads \(8\), not 12"),
        ("eval.seed=2020-01-01", "in quotes"),
        ("optim.lr=-1", "optim.lr"),
        ("optim.batching=tight", "packed"),
        ("optim.lr", "a.b=value"),
        ("optim.lr=[1", "no YAML"),
        ("=3", "a.b=value"),
    ],
)
def test_what_cannot_be_used_is_named(override: str, told: str) -> None:
    with pytest.raises(InvalidConfig, match=told.replace("[", r"\[")):
        load_config(BCConfig, "bc", "tiny", [override])


def test_a_profile_there_is_not_is_refused_with_those_there_are() -> None:
    with pytest.raises(UnknownProfile, match="tiny"):
        load_config(BCConfig, "bc", "tinny")
    with pytest.raises(InvalidConfig, match="no configuration file"):
        load_config(BCConfig, "bc", "mine.yaml")
    with pytest.raises(UnknownBaseline, match="agentevol"):
        find_baseline("agentevl")


@pytest.mark.parametrize(
    ("text", "told"), [("- a\n- b\n", "settings"), ("a: [", "no YAML"), ("lr: 1\n", "'lr'")]
)
def test_a_file_of_ones_own_is_read_or_refused(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("optim: {lr: 1e-3}\nseed: 3\n")
    config = load_config(BCConfig, "bc", file)
    assert (config.optim.lr, config.seed) == (1e-3, 3)
    file.write_text(text)
    with pytest.raises(InvalidConfig, match=told):
        load_config(BCConfig, "bc", file)


def test_the_settings_are_saved_and_a_run_of_others_is_refused(tmp_path: Path) -> None:
    config = load_config(BCConfig, "bc", "tiny")
    save_config(config, tmp_path / "run")
    save_config(config, tmp_path / "run")
    assert same_config(config, tmp_path / "run")
    other = load_config(BCConfig, "bc", "tiny", ["optim.lr=7"])
    assert not same_config(other, tmp_path / "run")
    with pytest.raises(InvalidConfig, match=r"optim\.lr=0\.005, now it is 7\.0"):
        save_config(other, tmp_path / "run")
    saved = yaml.safe_load((tmp_path / "run" / CONFIG_FILE).read_text())
    assert resolve(BCConfig, saved) == config
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").touch()
    with pytest.raises(InvalidConfig, match="not empty"):
        save_config(config, tmp_path / "full")


@given(
    st.builds(
        OptimConfig,
        lr=st.floats(1e-9, 1.0),
        epochs=st.floats(0.01, 100),
        max_steps=st.none() | st.integers(1, 10**6),
        warmup=st.floats(0, 1000),
        eps=st.floats(1e-12, 1e-3),
    )
)
def test_settings_survive_their_file(optim: OptimConfig) -> None:
    config = RunConfig(optim=optim)
    assert resolve(RunConfig, yaml.safe_load(to_yaml(config))) == config


def test_the_published_settings_are_the_paper_profiles() -> None:
    bc = load_config(BCConfig, "bc", "paper")
    assert (bc.optim.lr, bc.optim.epochs, bc.length.max_tokens) == (1e-5, 3, 4096)
    evol = load_config(AgentEvolConfig, "agentevol", "paper")
    assert (evol.iterations, evol.explore.samples, evol.merge, evol.start, evol.reward) == (
        4, 1, "initial", "base", "binary",
    )  # fmt: skip
    assert (evol.optim.lr, evol.optim.epochs) == (1e-5, 1)
    babyai = next(t for t in evol.explore.envs if t.env == "babyai")
    assert babyai.threshold == 0.0


@pytest.mark.parametrize(("cls", "name"), [(GRPOConfig, "grpo"), (AdcaGRPOConfig, "adca-grpo")])
def test_the_published_settings_of_grpo_are_agentevolvers(cls: type[GRPOConfig], name: str) -> None:
    config = load_config(cls, name, "paper")
    assert (config.groups, config.group_size, config.optim.epochs, config.samplings) == (
        32, 8, 40, None,
    )  # fmt: skip
    assert (config.sampling.max_tokens, config.length.max_tokens) == (4096, 25_580)
    assert (config.sampling.temperature, config.eval.attempts, config.reward) == (0.9, 8, "success")
    assert config.optim.batch_size * config.optim.accumulate * 8 == 8 * config.group_size
    passes = total_steps(config)
    assert passes is not None
    assert passes / updates(config) == math.ceil(40 * 100 / 32)


@pytest.mark.parametrize("name", ["bc", "agentevol", "dpo"])
def test_no_reply_of_agentgyms_has_a_limit_of_its_own(name: str) -> None:
    config = find_baseline(name).config("paper")
    assert config.length.max_tokens == config.eval.sampling.max_tokens == 4096


def test_a_section_given_in_part_keeps_what_the_trainer_sets_in_the_rest(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    both = "optim: {batch_size: 4}\nlength: {max_tokens: 512}\n"
    file.write_text(both + "explore: {sampling: {max_tokens: 9}}\n")
    dpo = load_config(DPOConfig, "dpo", file)
    assert dpo.optim == DPOConfig().optim.model_copy(update={"batch_size": 4})
    assert (dpo.explore.samples, dpo.explore.sampling.temperature) == (2, 1.0)
    assert dpo.explore.sampling.max_tokens == 9
    file.write_text(both + "sampling: {max_tokens: 9}\n")
    grpo = load_config(GRPOConfig, "grpo", file, ["optim.accumulate=2"])
    assert grpo.optim == GRPOConfig().optim.model_copy(update={"batch_size": 4, "accumulate": 2})
    assert (grpo.length.too_long, grpo.sampling.temperature) == ("truncate-turns", 1.0)
    assert grpo.bc is None


@given(
    st.dictionaries(
        st.sampled_from(["lr", "epochs", "weight_decay", "warmup"]), st.floats(0.25, 0.5)
    )
)
def test_what_is_given_wins_and_the_rest_is_the_default(given: dict[str, float]) -> None:
    for cls in (BCConfig, DPOConfig, GRPOConfig, AgentEvolConfig):
        assert resolve(cls, {"optim": given}).optim == cls().optim.model_copy(update=given)


def test_the_published_settings_of_dpo_are_its_defaults() -> None:
    config = DPOConfig()
    optim = config.optim
    assert (config.beta, config.pairs.gap, config.pairs.winner) == (0.5, 0.1, 0.9)
    assert (config.explore.samples, config.explore.sampling.temperature) == (2, 1.0)
    assert (optim.lr, optim.epochs, optim.weight_decay) == (5e-7, 3, 0.1)
    assert (optim.schedule, optim.warmup) == ("constant_with_warmup", 0.1)
    paper = load_config(DPOConfig, "dpo", "paper").optim
    own = {"precision": "auto", "gradient_checkpointing": False}  # the machine's, not the method's
    assert paper.model_copy(update=own) == optim


def test_several_samples_at_temperature_0_are_refused() -> None:
    with pytest.raises(InvalidConfig, match="one sample 3 times"):
        load_config(
            AgentEvolConfig, "agentevol", "tiny",
            ["explore.samples=3", "explore.sampling.temperature=0"],
        )  # fmt: skip
