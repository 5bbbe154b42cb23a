"""Behavioural cloning from end to end: a policy anyone can load, the same after an interruption."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl")

import torch

from agentgym.agents.hf import HFAgent
from agentgym.agents.random import RandomAgent
from agentgym.baselines.adca_grpo import AdcaGRPOConfig
from agentgym.baselines.agentevol import AgentEvolConfig
from agentgym.baselines.bc import BCConfig, CloningConfig, clone_first, train
from agentgym.baselines.catalog import find_baseline
from agentgym.baselines.config import LoraConfig, OptimConfig
from agentgym.baselines.configfile import resolve
from agentgym.baselines.costs.shapes import shape_of
from agentgym.baselines.costs.work import stages_of
from agentgym.baselines.dpo import DPOConfig
from agentgym.baselines.evaluate import agent_of, evaluate_agent, evaluate_policy
from agentgym.baselines.grpo import GRPOConfig
from agentgym.baselines.model import load_policy
from agentgym.baselines.progress import CURVE, Journal, read_curve, silent
from agentgym.baselines.studies.results import _row, _runs
from agentgym.core.errors import InvalidConfig
from tests.baselines import tiny
from tests.baselines.tiny import GUESS, MAZE


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def config_of(**changes: Any) -> BCConfig:
    data: dict[str, Any] = {
        "model": tiny.MODEL.model_dump(),
        "data": {"expert": [{**GUESS, "tasks": 6}]},
        "optim": {"lr": 1e-2, "max_steps": 6, "batch_size": 3, "threads": 1},
        "eval": {
            "envs": [{**GUESS, "split": "eval", "tasks": 1, "max_rounds": 2}],
            "sampling": {"max_tokens": 6},
        },
        "log_every": 1,
        "tensorboard": False,
    }
    return resolve(BCConfig, {**data, **changes})


def losses(folder: Path) -> list[float]:
    return [p["loss"] for p in read_curve(folder / CURVE) if "loss" in p]


def test_a_policy_is_cloned_saved_and_evaluated(tmp_path: Path) -> None:
    said: list[str] = []
    folder = tmp_path / "run"
    maze = {
        "envs": [{**MAZE, "split": "eval", "tasks": 1, "max_rounds": 2}],
        "sampling": {"max_tokens": 6},
    }
    config = config_of(tensorboard=True, data={"expert": [{**MAZE, "tasks": 6}]}, eval=maze)
    result = train(config, folder, said.append)
    curve = losses(folder)
    assert len(curve) == result["steps"] == 6
    assert curve[-1] < curve[0] - 0.5
    assert result["examples"]["rows"] == 6
    kept = json.loads((folder / "data.json").read_text())
    assert kept["dropped"] == 0
    assert (kept["demonstrations"]["played"], kept["demonstrations"]["kept"]) == (6, 6)
    assert result["examples"]["demonstrations"]["failed"] == 0
    assert result["eval"]["Maze"]["episodes"] == 1
    assert (folder / "eval" / "step-000006" / "maze" / "report.md").is_file()
    assert list((folder / "tensorboard").iterdir())
    assert any("about" in line and "left" in line for line in said)
    # What it left is a plain model that anything can load.
    agent = HFAgent(str(folder / "model"), max_tokens=4)
    assert agent.describe()["model"].endswith("model")
    agent.close()
    # The same call again does nothing, and other settings are refused.
    assert train(config, folder, said.append) == json.loads(json.dumps(result))
    with pytest.raises(InvalidConfig, match=r"optim\.lr"):
        train(config_of(optim={"lr": 1.0}), folder, silent)


def test_an_environment_can_be_evaluated_more_than_once(tmp_path: Path) -> None:
    once = {**GUESS, "split": "eval", "tasks": 1}
    wide = {**once, "max_rounds": 1, "tasks": 2}
    config = config_of(eval={"envs": [once, {**MAZE, "split": "eval", "tasks": 1}, wide]}).eval
    agent = RandomAgent()
    journal = Journal(tmp_path, silent, tensorboard=False)
    wanted = {"Guess": 1, "Maze": 1, "Guess-2": 2}
    scores = evaluate_agent(agent, config, tmp_path / "eval", 3, journal)
    assert {name: score["episodes"] for name, score in scores.items()} == wanted
    folders = sorted(p.parent.name for p in (tmp_path / "eval").glob("*/config.json"))
    assert folders == ["guess-v0", "guess-v0-2", "maze"]
    (point,) = read_curve(tmp_path / CURVE)
    assert {"Guess/success", "Guess-2/success"} < set(point)
    runs = _runs(tmp_path / "eval", config.envs)
    assert {name: len(one.episodes) for name, one in runs.items()} == wanted
    row = _row("arm", "Arm", runs)
    assert [one.name for one in row.report.rows] == list(row.episodes) == list(runs)
    assert evaluate_agent(agent, config, tmp_path / "eval", 3, journal) == scores  # taken up again


def test_a_run_that_was_killed_goes_on_as_if_it_had_not_been(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = config_of(save_every=2, optim={"lr": 1e-2, "max_steps": 5, "batch_size": 3}, eval={})
    train(config, tmp_path / "whole", silent)
    with monkeypatch.context() as patch:
        tiny.die_at_step(3, patch)
        with pytest.raises(tiny.Killed):
            train(config, tmp_path / "killed", silent)
    said: list[str] = []
    train(config, tmp_path / "killed", said.append)
    assert "going on from step 2" in said
    assert losses(tmp_path / "killed") == losses(tmp_path / "whole")
    weights = [(tmp_path / name / "model" / "model.safetensors") for name in ("whole", "killed")]
    assert weights[0].read_bytes() == weights[1].read_bytes()
    assert not (tmp_path / "killed" / "checkpoints").exists()


def test_evaluating_on_the_way_changes_nothing_that_is_learned(tmp_path: Path) -> None:
    optim = {"lr": 1e-2, "max_steps": 4, "batch_size": 3}
    plain = config_of(optim=optim, eval={})
    evaluated = config_of(
        optim=optim,
        eval={**config_of().eval.model_dump(), "every": 2, "at_start": True},
    )
    train(plain, tmp_path / "plain", silent)
    train(evaluated, tmp_path / "evaluated", silent)
    assert losses(tmp_path / "plain") == losses(tmp_path / "evaluated")
    points = [p for p in read_curve(tmp_path / "evaluated" / CURVE) if p["group"] == "eval"]
    assert [p["step"] for p in points] == [0, 2, 4]
    assert {"Guess/success", "Guess/low"} <= set(points[0])


def test_an_adapter_is_trained_alone_and_merged_when_saved(tmp_path: Path) -> None:
    start = tiny.save(tiny.policy(), tmp_path / "start")
    model = {"name": start, "lora": {"r": 4, "target": ["q_proj", "v_proj"]}, "device": "cpu"}
    said: list[str] = []
    train(config_of(model=model, eval={}), tmp_path / "run", said.append)
    trained = next(line for line in said if "weights are trained" in line)
    assert int(trained.split(": ")[1].split()[0].replace(",", "")) == 2 * 2 * 2 * 4 * 32
    assert (tmp_path / "run" / "model" / "adapter" / "adapter_config.json").is_file()
    before = load_policy(tiny.MODEL.model_copy(update={"name": start})).model.state_dict()
    saved = tiny.MODEL.model_copy(update={"name": str(tmp_path / "run" / "model")})
    after = load_policy(saved).model.state_dict()
    changed = {name for name, w in after.items() if not torch.equal(w, before[name])}
    assert changed
    assert all("q_proj" in name or "v_proj" in name for name in changed)


def test_the_policy_that_is_evaluated_is_the_one_in_memory(tmp_path: Path) -> None:
    of = tiny.policy()
    of.model.train()
    config = config_of().eval
    journal = Journal(tmp_path, silent, tensorboard=False)
    state = torch.random.get_rng_state()
    scores = evaluate_policy(of, config, tmp_path, 3, journal)
    assert scores["Guess"]["episodes"] == 1
    assert of.model.training
    assert torch.equal(torch.random.get_rng_state(), state)
    with agent_of(of, config.sampling) as agent:
        assert agent.model is of.model
        assert not of.model.training


def test_a_model_is_made_from_its_seed_alone() -> None:
    torch.manual_seed(1)
    first = tiny.policy(seed=5)
    torch.manual_seed(2)
    second, other = tiny.policy(seed=5), tiny.policy(seed=6)
    weights = [p.model.state_dict()["lm_head.weight"] for p in (first, second, other)]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])
    assert first.tokenizer.get_vocab() == second.tokenizer.get_vocab()
    text = "Ünï 😀\n\ntabs\t"
    assert first.tokenizer.decode(first.tokenizer(text)["input_ids"]) == text


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"scratch": tiny.SHAPE.model_copy(update={"heads": 3})}, "multiple of twice the heads"),
        ({"lora": LoraConfig(target="nowhere")}, "nowhere"),
        ({"chat_template": Path("missing.jinja")}, "missing.jinja"),
    ],
)
def test_a_model_that_cannot_be_is_refused(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidConfig, match=told):
        tiny.policy(**changes)


def test_a_model_without_a_chat_template_is_refused(tmp_path: Path) -> None:
    of = tiny.policy()
    of.tokenizer.chat_template = None
    folder = tiny.save(of, tmp_path / "plain")
    with pytest.raises(InvalidConfig, match="no chat template"):
        load_policy(tiny.MODEL.model_copy(update={"name": folder}))
    template = tmp_path / "mine.jinja"
    template.write_text("{% for m in messages %}{{ m['content'] }}{% endfor %}")
    changes = {"name": folder, "chat_template": template}
    assert load_policy(tiny.MODEL.model_copy(update=changes)).tokenizer.chat_template


def test_there_must_be_something_to_begin_with(tmp_path: Path) -> None:
    config = DPOConfig(model=tiny.MODEL)
    with pytest.raises(InvalidConfig, match="from scratch"):
        clone_first(config, tmp_path, silent)


@pytest.mark.parametrize("cls", [DPOConfig, GRPOConfig, AdcaGRPOConfig])
def test_a_trainer_clones_as_bc_would(cls: type[CloningConfig], tmp_path: Path) -> None:
    """Its own steps are far too small to clone by, however they are set."""
    plain = {key: config_of().model_dump()[key] for key in ("model", "data")}
    train(resolve(BCConfig, {**plain, "tensorboard": False}), tmp_path / "bc", silent)
    config = resolve(cls, {**plain, "tensorboard": False, "optim": {"lr": 1e-9, "epochs": 9}})
    start = clone_first(config, tmp_path / "run", silent)
    models = [load_policy(tiny.MODEL.model_copy(update={"name": str(place)})).model.state_dict()
              for place in (tmp_path / "bc" / "model", Path(start.name))]  # fmt: skip
    assert models[0].keys() == models[1].keys()
    assert all(torch.equal(models[0][key], models[1][key]) for key in models[0])


@pytest.mark.parametrize("name", ["dpo", "grpo", "adca-grpo"])
def test_a_plan_clones_as_the_run_would(name: str) -> None:
    config = find_baseline(name).config("tiny", ["bc=null", "optim.lr=1e-9", "optim.threads=1"])
    assert isinstance(config, CloningConfig)
    assert config.cloning == OptimConfig(threads=1)
    stages, _ = stages_of(shape_of(config.model)[0], config, 1)
    assert stages[0].optim == config.cloning
    assert stages[0].rows.count == 100 * config.cloning.epochs
    said = find_baseline(name).plan(config)
    assert said[0] == "behavioural cloning first:"
    assert any("lr 1e-05, linear" in line for line in said[:5])


def test_how_a_trainer_clones_can_be_said() -> None:
    own = {"bc": {"lr": 0.5}, "optim": {"lr": 1e-9, "threads": 3}}
    assert resolve(GRPOConfig, own).cloning == OptimConfig(lr=0.5)
    # The rounds of AgentEvol clone too: one setting is for all of them.
    assert resolve(AgentEvolConfig, {"optim": {"lr": 0.25}}).cloning.lr == 0.25
    assert resolve(AgentEvolConfig, own).cloning.lr == 0.5
