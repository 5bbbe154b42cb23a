"""A plan refuses what the run would refuse, by the same look, before anything is made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("yaml")
pytest.importorskip("trl")

from agentgym.baselines import checks, examples
from agentgym.baselines.catalog import BASELINES, find_baseline
from agentgym.baselines.config import ModelConfig
from agentgym.baselines.demonstration.check import check as check_demonstration
from agentgym.baselines.demonstration.experiment import load_experiment
from agentgym.baselines.plan import describe_tasks
from agentgym.baselines.progress import silent
from agentgym.baselines.studies.catalog import find_study
from agentgym.baselines.studies.check import check as check_study
from agentgym.baselines.studies.check import review as review_study
from agentgym.baselines.studies.settings import load_settings
from agentgym.core.errors import AgentGymError, MissingExtra
from agentgym.trajectories.store import read, write
from tests.baselines.episodes import spoken

BAD = [
    ("bc", "model.scratch.hidden=10", "multiple of twice the heads"),
    ("bc", "model.scratch.hidden=1000000000000", "less than or equal to 65536"),
    ("bc", "model.scratch={hidden: 65536, layers: 60000}", "of memory"),
    ("bc", "model.scratch.context=0", "greater than or equal to 64"),
    ("bc", "model.name=nothere", "unknown model 'nothere'"),
    ("bc", "model.name=./nothere", "There is no nothere"),
    ("bc", "model.name=empty", "no model folder|not a model folder"),
    ("bc", "model.name=broken", "describes no language model"),
    ("bc", "model.name=bare", "no weights"),
    ("bc", "model.dtype=int7", "'bfloat16'"),
    ("bc", "model.device=banana", "model.device"),
    ("bc", "model.chat_template=nothere.jinja", "no chat template nothere.jinja"),
    ("bc", "model.lora.target=[nothing]", "q_proj"),
    ("bc", "data.files=[nothere.jsonl]", "there is no nothere.jsonl"),
    ("bc", "data.files=[empty]", "empty"),
    ("bc", "data.files=[torn.jsonl]", "torn.jsonl"),
    ("bc", "data.chat=[torn.jsonl]", "torn.jsonl, line 1"),
    ("bc", "data.chat=[empty]", "cannot be read"),
    ("bc", "data.expert=[]", "there are no demonstrations"),
    ("bc", "data.expert.0.env=nothing", "unknown environment"),
    ("bc", "data.expert.0.split=nothing", "unknown split"),
    ("bc", "eval.envs.0.edition=nothing", "unknown edition"),
    ("bc", "eval.envs.0.kinds=[nothing]", "no tasks of the kind"),
    ("bc", "eval.envs.0.options.foo=1", "no option 'foo'"),
    ("bc", "eval.envs=[{env: maze, tasks: 2}, {env: agentgym/Maze-v0, tasks: 2}]",
     "twice.*attempts"),
    ("bc", "eval.attempts=1000000000000", "less than or equal to 100000"),
    ("bc", "eval.sampling.executor=banana", "unknown executor"),
    ("bc", "eval.sampling.action_format=banana", "unknown action format"),
    ("bc", "eval.sampling.temperature=.inf", "finite"),
    ("bc", "optim.batch_size=1000000000000", "less than or equal"),
    ("bc", "optim.lr=.inf", "finite"),
    ("bc", "optim.betas=[2, 3]", "less than 1"),
    ("bc", "optim.trainer.foo=1", "TRL has no argument 'foo'"),
    ("bc", "optim.trainer.learning_rate=1", "agentgym's own settings"),
    ("dpo", "bc.trainer.foo=1", "bc.trainer: TRL has no argument 'foo'"),
    ("agentevol", "bc.trainer.foo=1", "bc.trainer: TRL has no argument 'foo'"),
    ("dpo", "runs=[nothere]", "there is no nothere"),
    ("dpo", "data.expert=[]", "plays nothing yet"),
    ("dpo", "explore.envs=[]", "nothing to explore"),
    ("dpo", "explore.samples=1", r"makes no pair.*explore\.samples to 2"),
    ("dpo", "explore.agent=expert", r"same way each time.*explore\.agent"),
    ("agentevol", "explore={agent: expert, samples: 2}", r"explore\.samples to 1"),
    ("dpo", "explore.agent=banana", "unknown agent"),
    ("dpo", "explore.agent=hf:nothere", "unknown model"),
    ("dpo", "explore.options.foo=1", "no option 'foo'"),
    ("dpo", "explore.options.dtype=int7", "explore.options.dtype"),
    ("agentevol", "policy=nothere", "unknown model 'nothere'"),
    ("agentevol", "policy=empty", "not a model folder"),
    ("agentevol", "explore.envs.0.split=nothing", "unknown split"),
    ("agentevol", "iterations=1000000000000", "less than or equal"),
    ("grpo", "groups=7", "does not come to whole steps"),
    ("grpo", "tasks=[]", "nothing to play"),
    ("grpo", "tasks.0.env=nothing", "unknown environment"),
    ("grpo", "sampling.executor=banana", "unknown executor"),
    ("adca-grpo", "attribution={method: llm, model: banana}", "unknown agent"),
    ("adca-grpo", "attribution={method: replay, cache: gone.jsonl, model: 'openai:x'}",
     "no record"),
    ("adca-grpo", "attribution.cache=empty", "is a folder"),
    ("adca-grpo", "attribution={method: replay, cache: empty}", r"attribution\.recorded="),
]  # fmt: skip


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with things that are not what they should be."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for name in ("empty", "broken", "bare"):
        (tmp_path / name).mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "torn.jsonl").write_text('{"x": 1}\n')
    (tmp_path / "broken" / "config.json").write_text('{"model_type": "llama"}')
    shape = {"num_attention_heads": 2, "hidden_size": 8, "num_hidden_layers": 1, "vocab_size": 9}
    (tmp_path / "bare" / "config.json").write_text(json.dumps({"model_type": "llama", **shape}))
    return tmp_path


@pytest.mark.parametrize(("name", "override", "told"), BAD)
def test_a_plan_and_the_run_refuse_the_same_in_a_line_and_leave_nothing(
    place: Path, name: str, override: str, told: str
) -> None:
    baseline = find_baseline(name)
    with pytest.raises(AgentGymError, match=told) as planned:
        baseline.review(baseline.config("tiny", [override]), "tiny")
    assert "\n" not in str(planned.value).strip()
    with pytest.raises(AgentGymError) as run:
        baseline.train(baseline.config("tiny", [override]), place / "run", silent)
    assert str(run.value) == str(planned.value)
    assert not (place / "run").exists()


@pytest.mark.parametrize("baseline", BASELINES, ids=lambda b: b.name)
@pytest.mark.usefixtures("place")
def test_profiles_pass_and_say_what_is_not_here(baseline: object) -> None:
    assert isinstance(baseline, type(BASELINES[0]))
    assert list(checks.faults(baseline.config("tiny"))) == []
    assert baseline.review(baseline.config("tiny"), "tiny") == []


@pytest.mark.usefixtures("place")
def test_what_a_profile_names_may_be_missing_where_it_is_planned_and_not_where_it_is_run() -> None:
    bc = find_baseline("bc")
    paper = bc.config("paper", ["eval.envs=[]"])
    (missing,) = bc.review(paper, "paper")
    assert missing.startswith("not here, so the run would stop: there is no agenttraj_l.json")
    with pytest.raises(AgentGymError, match=r"there is no agenttraj_l\.json"):
        bc.review(paper)
    with pytest.raises(AgentGymError, match=r"there is no mine\.json"):
        bc.review(bc.config("paper", ["eval.envs=[]", "data.files=[mine.json]"]), "paper")
    with pytest.raises(AgentGymError, match=r"there is no agenttraj_l\.json"):
        checks.check(paper)


@pytest.mark.usefixtures("place")
def test_what_another_machine_may_have_is_said_in_a_plan_and_refused_in_a_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(checks, "installed", lambda module: module != "vllm")
    dpo = find_baseline("dpo")
    for override, told in (
        ("explore.agent=vllm:{policy}", "vllm"),
        ("explore.agent=openai:gpt-4o", "OPENAI_API_KEY"),
    ):
        config = dpo.config("tiny", [override])
        (said,) = dpo.review(config, "tiny")
        assert told in said
        with pytest.raises(AgentGymError, match=told):
            checks.check(config)
    with pytest.raises(MissingExtra, match="vllm"):
        checks.check(find_baseline("grpo").config("tiny", ["engine.kind=vllm-server"]))
    assert list(checks.faults(dpo.config("tiny", ["model.name=owner/of-a-hub"]))) == []
    assert ModelConfig(device="cuda:1").device == "cuda:1"


def test_a_file_of_demonstrations_is_read_once_and_must_leave_some(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[Path] = []

    def counted(path: Path) -> object:
        reads.append(path)
        return read(path)

    for module in (checks, examples):
        monkeypatch.setattr(module, "read", counted)
    write([spoken(2, score=0.5)], place / "mine.jsonl")
    for name in ("bc", "agentevol", "dpo"):
        given = ["data.expert=[]", "data.files=[mine.jsonl]"]
        reads.clear()
        assert list(checks.faults(find_baseline(name).config("tiny", given))) == []
        assert reads == [Path("mine.jsonl")]
        config = find_baseline(name).config("tiny", [*given, "data.min_score=0.6"])
        (fault,) = checks.faults(config)
        assert "1 below data.min_score" in str(fault)
        played = find_baseline(name).config("tiny", [given[1], "data.min_score=0.6"])
        assert list(checks.faults(played)) == [], "experts will play more"


def test_a_folder_that_holds_something_else_is_refused_by_the_plan_too(place: Path) -> None:
    bc = find_baseline("bc")
    config = bc.config("tiny")
    (place / "run").mkdir()
    (place / "run" / "thesis.tex").touch()
    for folder in (place / "file", place / "file" / "run", place / "run"):
        with pytest.raises(AgentGymError, match=r"is a file|not empty") as planned:
            bc.review(config, "tiny", folder)
        with pytest.raises(AgentGymError) as run:
            bc.train(config, folder, silent)
        assert str(run.value) == str(planned.value)
    assert bc.review(config, "tiny", place / "new") == []


def test_more_tasks_than_there_are_are_all_of_them_and_the_plan_says_so() -> None:
    tasks = find_baseline("bc").config("tiny", ["data.expert.0.tasks=100000"]).data.expert[0]  # type: ignore[attr-defined]
    assert "which are all there are (100,000 are asked for)" in describe_tasks(tasks)
    few = tasks.model_copy(update={"tasks": 3})
    assert "3 tasks" in describe_tasks(few)
    assert "asked for" not in describe_tasks(few)


@pytest.mark.parametrize(
    ("study", "override", "told"),
    [
        ("agentgym-table3", "base.expert.0.env=wordle", "no compact prompt"),
        ("agentgym-table3", "base.expert.0.split=nothing", "unknown split"),
        ("agentgym-table3", "base.files=[nothere]", "there is no nothere"),
        ("agentgym-table3", "base.expert=[]", "base.expert"),
        ("agentgym-table3", "models.0.name=nothere", "unknown model"),
        ("agentgym-table3", "shared.eval.sampling.executor=banana", "unknown executor"),
        ("agentgym-table3", "agentevol.explore.agent=banana", "unknown agent"),
        ("agentevolver-attribution", "grpo.groups=7", "whole steps"),
    ],
)
def test_a_study_is_looked_at_as_a_whole(place: Path, study: str, override: str, told: str) -> None:
    found = find_study(study)
    with pytest.raises(AgentGymError, match=told):
        review_study(found, load_settings(found, "cpu", [override]), place / "x", (), "cpu")
    with pytest.raises(AgentGymError, match=told):
        check_study(found, load_settings(found, "cpu", [override]), place / "x")
    assert review_study(found, load_settings(found, "cpu"), place / "x", (), "cpu") == []


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("envs.0.env=wordle", "no compact prompt"),
        ("envs.0.held_out_split=nothing", "unknown split"),
        ("envs.0.kinds=[nothing]", "no tasks of the kind"),
        ("envs.0.group.groups=7", "whole steps"),
    ],
)
@pytest.mark.usefixtures("place")
def test_a_demonstration_is_looked_at_as_a_whole(override: str, told: str) -> None:
    with pytest.raises(AgentGymError, match=told):
        check_demonstration(load_experiment("small", [override]))
