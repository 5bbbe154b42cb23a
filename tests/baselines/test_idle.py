"""What is set by hand and would be read by nobody is refused, with what would make it count."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("yaml")
pytest.importorskip("trl")

from agentgym.baselines.catalog import BASELINES, find_baseline
from agentgym.baselines.config import RunConfig
from agentgym.baselines.configfile import to_yaml
from agentgym.baselines.demonstration.experiment import Experiment, load_experiment
from agentgym.baselines.explore import _OPTIONS
from agentgym.baselines.idle import IDLE, MODELS, at, keys_of, unread
from agentgym.baselines.plan import plan_learning
from agentgym.baselines.studies.catalog import find_study
from agentgym.baselines.studies.settings import StudySettings, load_settings
from agentgym.core.errors import InvalidConfig

VAIN = [
    ("bc", ["optim.epochs=3"], "set optim.max_steps=null", ["optim.max_steps=null"]),
    ("bc", ["optim.epochs=3", "optim.max_steps=9"], "optim.max_steps=9 says how long", []),
    ("dpo", ["optim.batching=grouped"], "optim.batching would .* bc.batching", []),
    ("grpo", ["optim={batching: packed}"], "optim.batching would .* bc.batching", []),
    ("bc", ["model.scratch.heads=2", "model.name=smollm2"], "the model is smollm2", []),
    ("bc", ["keep_checkpoints=3"], "set save_every", ["save_every=5"]),
    ("bc", ["eval.envs=[]", "eval.sampling.top_p=0.5"], "name environments", []),
    ("agentevol", ["bc.epochs=2"], "bc.max_steps=150 says how long", ["bc.max_steps=null"]),
    ("agentevol", ["bc.lr=0.1", "policy=x"], "nothing is cloned first", []),
    ("dpo", ["explore.samples=4", "runs=[x]"], "set runs=", []),
    ("dpo", ["bc={lr: 0.1}", "data.expert=[]"], "bc.lr .* nothing is cloned first", []),
    ("grpo", ["optim.epochs=2"], "samplings=8 says how long", ["samplings=null"]),
    ("grpo", ["width=5"], "aggregation is token-mean", ["aggregation=seq-mean-token-sum-norm"]),
    ("grpo", ["engine.url=http://h:1"], "engine.kind=vllm-server", ["engine.kind=vllm-server"]),
    ("agentevol", ["explore.gpu_memory=0.5"], "starts no vLLM", ["explore.agent=vllm:policy"]),
    ("grpo", ["engine.gpu_memory=0.5"], "vllm-colocate", ["engine.kind=vllm-colocate"]),
    ("grpo", ["engine.cache_tokens=5", "engine.kind=vllm-server"], "engine.kind=hf", []),
    ("adca-grpo", ["adca.alpha_min=0.1"], "alpha is constant", ["adca.alpha_schedule=cosine"]),
    ("adca-grpo", ["attribution.model=openai:x"], "set attribution.method=llm",
     ["attribution.method=llm"]),
    ("adca-grpo", ["attribution.recorded=llm"], "nothing is replayed",
     ["attribution.method=replay", "attribution.cache=x", "attribution.model=openai:x"]),
    ("adca-grpo", ["attribution.rollouts=2", "attribution.method=counterfactual"], "monte_carlo",
     ["attribution.method=monte_carlo"]),
    ("bc", ["optim.warmup=0.2", "optim.schedule=constant"], "constant has none",
     ["optim.schedule=constant_with_warmup"]),
    ("grpo", ["bc={warmup: 0.2, schedule: constant}", "data.expert=[{env: maze}]"], "has none",
     ["bc.schedule=linear"]),
    ("grpo", ["model={name: x, lora: {dropout: 0.1}}", "data.expert=[]"], "without dropout",
     ["data.expert=[{env: maze}]"]),
    ("bc", ["data.layout=published"], "there are no files", ["data.files=[x]"]),
    ("grpo", ["data.best=true", "data.expert=[]", "model.name=x"], "to choose from",
     ["data.files=[x]"]),
    ("dpo", ["data.per_turn=true", "data.expert=[]", "model.name=x"], "nothing is cloned",
     ["data.chat=[x]"]),
    ("agentevol", ["explore.sampling.top_p=0.7", "explore.agent=expert", "explore.samples=1"],
     "samples nothing", ["explore.agent=llamacpp:x"]),
    ("dpo", ["explore.sampling.max_batch=7", "explore.agent=openai:x"], "no batch is asked",
     ["explore.agent=hf:x"]),
    ("grpo", ["sampling.max_batch=7", "engine.kind=vllm-server"], "its own batches",
     ["engine.kind=vllm-colocate"]),
    ("adca-grpo", ["adca.gamma=0.9", "adca.prm_steps=1"], "plain GRPO", ["adca.prm_steps=2"]),
    ("adca-grpo", ["adca.norm=pooled", "adca.prm_steps=0"], "plain GRPO", ["adca.prm_steps=null"]),
    ("adca-grpo", ["attribution.seed=3", "attribution.method=monte_carlo", "adca.alpha=0"],
     "nothing is attributed", ["adca.alpha=0.1"]),
    ("adca-grpo", ["adca.alpha=0.3", "adca.outcome=only_prm"], "beside an outcome",
     ["adca.outcome=all_steps"]),
    ("adca-grpo", ["adca.consistent=2"], "set adca.scheme=alloc", ["adca.scheme=allocation"]),
    ("adca-grpo", ["adca.fix_base=2", "adca.scheme=allocation"], "scheme=decouple",
     ["adca.scheme=decouple"]),
    ("adca-grpo", ["adca.total_steps=9", "adca.alpha_progress=0", "adca.alpha_schedule=cosine"],
     "how far the cosine is", ["adca.alpha_progress=null"]),
    ("adca-grpo", ["attribution.alternatives=2", "attribution.method=counterfactual",
                   "attribution.replace=nothing"], "replaced by nothing",
     ["attribution.replace=sampled"]),
    ("adca-grpo", ["attribution.seed=2", "attribution.method=llm", "attribution.model=openai:x"],
     "nobody plays", []),
    ("adca-grpo", ["attribution.alternatives=2", "attribution.method=monte_carlo"],
     "counterfactual", ["attribution.method=counterfactual", "attribution.replace=sampled"]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "overrides", "told", "more"), VAIN)
def test_what_nobody_would_read_is_refused_and_the_way_out_helps(
    name: str, overrides: list[str], told: str, more: list[str]
) -> None:
    with pytest.raises(InvalidConfig, match=f"in vain: .*{told}|{told}"):
        find_baseline(name).config("tiny", overrides)
    if more:
        find_baseline(name).config("tiny", [*overrides, *more])


def test_every_rule_is_met_and_no_profile_breaks_off_at_its_own_settings(tmp_path: Path) -> None:
    met = set()
    for name, overrides, _, _ in VAIN:
        cls = type(find_baseline(name).config())
        free = tmp_path / f"{len(met)}.yaml"
        free.write_text(to_yaml(find_baseline(name).config()))
        assert isinstance(find_baseline(name).config(free), cls)  # a run's own record is one
        for key in keys_of(overrides):
            met |= {i for i, idle in enumerate(IDLE) if key.startswith(idle.keys)}
    assert met == set(range(len(IDLE)))
    for baseline in BASELINES:
        config = baseline.config()
        for key in RunConfig.model_fields.keys() - {"keep_checkpoints"}:
            assert not unread(config, key), key


def test_a_default_warm_up_under_another_schedule_is_no_mistake_and_no_plan_promises_it() -> None:
    config = find_baseline("bc").config("tiny", ["optim.schedule=constant"])
    assert at(config, "optim.warmup") > 0
    told = "\n".join(plan_learning(config))
    assert ", constant, seed" in told
    assert ", linear, warm-up 0.1, seed" in "\n".join(plan_learning(RunConfig()))
    find_baseline("bc").config("tiny", ["optim.schedule=constant", "optim.warmup=0"])


def test_who_samples_and_in_batches_is_what_exploration_says() -> None:
    assert set(MODELS) == set(_OPTIONS)
    assert [kind for kind, names in _OPTIONS.items() if "max_batch" in names] == ["hf"]
    sampled = ("temperature", "top_p", "max_tokens")
    assert all(set(sampled) <= set(names) for names in _OPTIONS.values())


@pytest.mark.parametrize(
    ("name", "override"),
    [
        ("grpo", "entropy_coef=-3"),
        ("adca-grpo", "attribution.rollouts=1000000000"),
        ("adca-grpo", "attribution.alternatives=0"),
        (
            "adca-grpo",
            "attribution={method: replay, recorded: monte_carlo, policy: self, cache: x}",
        ),
    ],
)
def test_what_means_nothing_or_can_never_be_is_refused(name: str, override: str) -> None:
    with pytest.raises(InvalidConfig, match=override.partition("=")[0]):
        find_baseline(name).config("tiny", [override])


@pytest.mark.parametrize("name", ["dpo", "grpo", "adca-grpo"])
def test_no_file_holds_what_its_trainer_never_reads(name: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("optim: {batching: packed}\n")
    with pytest.raises(InvalidConfig, match=r"optim\.batching would be set in vain"):
        find_baseline(name).config(file)
    file.write_text("optim: {batching: padded}\nbc: {batching: packed}\n")
    config = find_baseline(name).config(file, ["data.expert=[{env: maze}]", "bc.batching=grouped"])
    assert at(config, "bc.batching") == "grouped"
    file.write_text("optim: {batching: packed}\n")
    for reader in ("bc", "agentevol"):
        assert at(find_baseline(reader).config(file), "optim.batching") == "packed"


@pytest.mark.parametrize(
    ("study", "override", "told"),
    [
        ("agentgym-table3", "study=agentgym-dpo", "run agentgym reproduce with the name"),
        ("agentgym-table3", "study=x", "The command names the study"),
        ("agentgym-table3", "clone=true", "begin with one that cloned base"),
        ("agentgym-table3", "dpo.beta=1", "no arm of agentgym-table3 is of dpo"),
        ("agentgym-dpo", "grpo.groups=1", "no arm of agentgym-dpo is of grpo"),
        ("agentgym-samples", "agentevol.explore.samples=5", "differ in it"),
        ("agentevolver-attribution", "grpo.optim.batching=packed", "episodes are padded"),
        ("agentgym-merge", "agentevol={merge: none}", "differ in it"),
        ("agentgym-scope", "agentevol.scope=broad", "differ in it"),
        ("agentgym-table3", "bc.optim.epochs=5", "optim.max_steps=300 says how long"),
        ("agentgym-table3", "shared.optim.max_steps=5", "has it too"),
        ("agentgym-table3", "models.0.chat_template=x", "compact prompts"),
        ("agentevolver-attribution", "agentevol.iterations=2", "of other studies"),
    ],
)
def test_a_study_refuses_what_no_arm_of_it_reads(study: str, override: str, told: str) -> None:
    with pytest.raises(InvalidConfig, match=told):
        load_settings(find_study(study), "cpu", [override])


def test_a_study_takes_what_one_of_its_arms_reads() -> None:
    table3, attribution = find_study("agentgym-table3"), find_study("agentevolver-attribution")
    for override in ("study=agentgym-table3", "agentevol.merge=none", "bc.optim.max_steps=5",
                     "large.best=true", "models.0.scratch.layers=1", "seed=3"):  # fmt: skip
        load_settings(table3, "cpu", [override])
    for override in ("grpo.adca.alpha=0.3", "clone=false", "bc.optim.max_steps=5"):
        load_settings(attribution, "cpu", [override])
    named = ["models=[{name: smollm2}]", "large.best=true"]
    assert load_settings(table3, "cpu", named).large.best
    with pytest.raises(InvalidConfig, match="no arm of agentgym-iterations learns"):
        load_settings(find_study("agentgym-iterations"), "cpu", named)
    with pytest.raises(InvalidConfig, match="set clone=true"):
        load_settings(attribution, "cpu", [named[0], "clone=false", "base.best=true"])
    with pytest.raises(InvalidConfig, match="the model is smollm2"):
        load_settings(table3, "cpu", [named[0], "models.0.scratch.layers=1"])


@pytest.mark.parametrize("key", [k for k in StudySettings.model_fields if k != "study"])
def test_every_setting_of_a_study_reaches_it(key: str) -> None:
    """An override of a whole section with what it holds changes nothing and is no mistake."""
    study = find_study("agentevolver-attribution")
    before = load_settings(study, "cpu").model_dump(mode="json")
    if key in ("agentevol", "dpo", "large"):  # of the other studies
        return
    assert load_settings(study, "cpu", [f"{key}={json.dumps(before[key])}"]).seed == before["seed"]


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("envs.0.optim.max_steps=9", "decided by steps and evol_steps"),
        ("envs.0.optim.threads=9", "decided by threads"),
        ("envs.0.dpo.optim.threads=9", "decided by threads"),
        ("envs.0.dpo.optim.batching=packed", "dpo.optim.batching: pairs and episodes are padded"),
        ("envs.0.group.optim.batching=grouped", "group.optim.batching: pairs and episodes"),
        ("envs.0.group.optim.epochs=9", "decided by group.samplings"),
        ("profile=x", "no setting 'profile'"),
        ("envs.0.demo=3", "Did you mean demos"),
        ("seeds", "a.b=value"),
    ],
)
def test_a_demonstration_takes_overrides_and_reads_them_all(override: str, told: str) -> None:
    with pytest.raises(InvalidConfig, match=told):
        load_experiment("small", [override])
    changed = load_experiment("small", ["seeds=[7]", "envs.0.demos=9", "arms=[bc]", "jobs=1"])
    assert isinstance(changed, Experiment)
    assert (changed.seeds, changed.arms, changed.jobs) == ((7,), ("bc",), 1)
    assert changed.envs[0].demos == 9
