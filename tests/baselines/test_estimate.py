"""What a plan says a run will cost: sums, what more of a setting does, what is said of it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("yaml")

from agentgym.baselines.adca_options import AdcaOptions
from agentgym.baselines.bc import BCConfig
from agentgym.baselines.catalog import BASELINES, Baseline, find_baseline
from agentgym.baselines.config import RunConfig
from agentgym.baselines.configfile import resolve
from agentgym.baselines.costs.attribution import asked, continued
from agentgym.baselines.costs.episodes import FRAME, MADE, PLAYS, Length
from agentgym.baselines.costs.memory import Memory, memory_of
from agentgym.baselines.costs.shapes import shape_of
from agentgym.baselines.estimate import Estimate, estimate, estimate_lines, spread_of
from agentgym.baselines.grpo import GRPOConfig
from agentgym.core.errors import InvalidConfig

PAPER = {b.name: b.config("paper") for b in BASELINES}


@pytest.mark.parametrize("baseline", BASELINES, ids=lambda b: b.name)
def test_every_plan_ends_with_what_it_would_cost(baseline: Baseline) -> None:
    for name in ("tiny", "paper"):
        config = baseline.config(name)
        plan = baseline.plan(config)
        said = estimate_lines(config)
        assert plan[-len(said) :] == said
        assert all(line.startswith(("estimate: ", "assumed: ")) for line in said)
        assert sum(line.startswith("assumed: ") for line in said) == 1
        assert any("memory of a process while training" in line for line in said)
        assert any(("GPU hours" if name == "paper" else "one CPU core") in line for line in said)


def test_the_paper_profiles_are_counted_on_the_node_they_were_run_on() -> None:
    for name, config in PAPER.items():
        cost = estimate(config)
        assert (cost.machine, cost.processes) == ("A100 80 GB", 8), name
        assert cost.device_hours == pytest.approx(8 * cost.hours)
        # Published on 8 x A100 80 GB: training and playing have to find room there.
        assert cost.fits, f"{name}: {cost}"
        assert 0.5 < cost.hours < 200, name


def test_an_episode_of_the_most_tokens_finds_room_beside_vllm() -> None:
    config = PAPER["grpo"]
    assert isinstance(config, GRPOConfig)
    shape, _ = shape_of(config.model)
    most = config.length.max_tokens
    assert most == 25_580

    def training(part: float) -> float:
        return memory_of(
            shape,
            spread_of(config, shape, 8, sharded=True, gpu=True),
            batch=config.optim.batch_size,
            length=most,
            checkpointing=config.optim.gradient_checkpointing,
            reference=True,
            engine=part * 80e9,
        ).training

    assert training(config.engine.gpu_memory) < 80e9 < training(0.4)


def test_a_model_that_is_too_large_is_said_to_be() -> None:
    config = find_baseline("grpo").config("paper", ["model.name=Qwen/Qwen2.5-14B-Instruct"])
    cost = estimate(config)
    assert cost.weights == 14_770_033_664
    assert not cost.fits
    assert cost.advice
    assert any("DOES NOT FIT in 80.0 GB" in line for line in cost.lines())
    alone = [line for line in estimate_lines(config) if "one process alone" in line]
    assert len(alone) == 1
    assert "DOES NOT FIT" in alone[0]
    with_lora = config.model_copy(
        update={
            "model": resolve(type(config.model), {"name": config.model.name, "lora": {"r": 16}})
        }
    )
    assert estimate(with_lora).memory.training < cost.memory.training


def test_tokens_of_bc_are_those_of_its_steps() -> None:
    data: dict[str, Any] = {
        "model": {"name": "scratch"},
        "data": {"expert": [{"env": "maze", "tasks": 40, "max_rounds": 6}]},
        "optim": {"batch_size": 4, "accumulate": 2, "epochs": 3},
    }
    whole = estimate(resolve(BCConfig, data))
    each = whole.learned / 120
    data["optim"]["max_steps"] = 10
    assert estimate(resolve(BCConfig, data)).learned == pytest.approx(80 * each)
    assert estimate(resolve(BCConfig, data), 2).learned == pytest.approx(160 * each)


def test_grpo_plays_what_it_says() -> None:
    config = find_baseline("grpo").config("paper", ["eval.envs=[]", "data.expert=[]"])
    cost = estimate(config)
    assert cost.episodes == 125 * 32 * 8  # 40 passes over 100 tasks, 32 at a time
    assert cost.learned == pytest.approx(cost.sampled + cost.read)
    twice = config.model_copy(update={"iterations": 2})
    assert estimate(twice).learned == pytest.approx(2 * cost.learned)
    assert estimate(twice).sampled == cost.sampled
    assert estimate(twice).operations < 2 * cost.operations  # the reference reads it once
    free = config.model_copy(update={"kl_coef": 0.0})
    assert estimate(free).memory.reference == 0 < cost.memory.reference
    assert estimate(free).operations < cost.operations


def test_only_a_judge_is_called_and_no_longer_than_it_is_used() -> None:
    judged = find_baseline("adca-grpo").config("paper")
    assert estimate(judged).calls == 99 * 256  # before step 100, counted from 1
    short = find_baseline("adca-grpo").config("paper", ["adca.prm_steps=10"])
    assert estimate(short).calls == 9 * 256
    assert estimate(PAPER["grpo"]).calls == 0
    assert estimate(find_baseline("adca-grpo").config("tiny")).calls == 0


def test_what_the_policy_plays_on_for_its_own_values_is_counted() -> None:
    def of(*overrides: str) -> Estimate:
        """Two tasks of three rounds, four episodes each, five times."""
        given = [
            "model.name=scratch", "tasks=[{env: maze, tasks: 9, max_rounds: 3}]", "groups=2",
            "group_size=4", "samplings=5", "adca.prm_steps=null", "eval.envs=[]", *overrides,
        ]  # fmt: skip
        return estimate(find_baseline("adca-grpo").config("tiny", given))

    own = ["attribution.method=monte_carlo", "attribution.policy=self", "attribution.rollouts=2"]
    plain, valued = of("attribution.method=counterfactual"), of(*own)
    # The beginning of each group (3 rounds), then two more moments of each episode (2 and 1).
    parts = [(2 * 2, 0, 3), (8 * 2, 1, 2), (8 * 2, 2, 1)]  # how many, rounds before, rounds left
    play = PLAYS["maze"]
    said, answer = play.reply / MADE, play.observation / MADE + 2 * FRAME
    prompt = play.prompt / MADE + 3 * FRAME
    written = sum(count * left * said for count, _, left in parts)
    read = sum(
        count * (prompt + before * (said + answer) + left * answer) for count, before, left in parts
    )
    assert valued.episodes - plain.episodes == pytest.approx(5 * 36)
    assert valued.sampled - plain.sampled == pytest.approx(5 * written)
    assert valued.read - plain.read == pytest.approx(5 * read)
    assert valued.learned == plain.learned
    assert valued.hours > plain.hours
    assert any("continuations, which count as episodes" in text for text in valued.assumed)
    # Of at most two rounds each: the beginning's end one earlier.
    short = of(*own, "attribution.horizon=2")
    assert valued.sampled - short.sampled == pytest.approx(5 * 4 * said)
    assert short.episodes == valued.episodes
    # Only in the samplings that hear of it: the first and the second.
    fewer = of(*own, "adca.prm_steps=3")
    assert fewer.episodes - plain.episodes == pytest.approx(2 * 36)
    assert of(*own, "adca.prm_steps=2").episodes - plain.episodes == pytest.approx(36)
    # A program that plays on writes nothing.
    assert of("attribution.method=monte_carlo").sampled == plain.sampled


@given(
    rounds=st.integers(1, 12), group=st.integers(2, 8), rollouts=st.integers(1, 4),
    horizon=st.none() | st.integers(1, 14),
)  # fmt: skip
def test_continuations_are_those_of_every_moment(
    rounds: int, group: int, rollouts: int, horizon: int | None
) -> None:
    length = Length(own=7.0 * rounds, read=50 + 3.0 * rounds, longest=500, rounds=rounds, prompt=50)
    count, one = continued(length, group, rollouts, horizon)
    moments = [(0, 1.0)] + [(t, float(group)) for t in range(1, rounds)]
    own = read = total = 0.0
    for t, many in moments:  # of a whole group
        left = min(rounds - t, horizon or rounds)
        own += rollouts * many * left * 7
        read += rollouts * many * (50 + t * (7 + 3) + left * 3)
        total += rollouts * many
    assert group * count == pytest.approx(total)
    assert group * count * one.own == pytest.approx(own)
    assert group * count * one.read == pytest.approx(read)


def test_agentevol_grows_with_its_rounds_and_samples() -> None:
    def of(*overrides: str) -> Estimate:
        return estimate(find_baseline("agentevol").config("paper", [*overrides, "eval.envs=[]"]))

    plain, more, many = of(), of("iterations=8"), of("explore.samples=3")
    assert more.episodes == 2 * plain.episodes
    assert many.episodes == 3 * plain.episodes
    assert of("merge=none").learned < plain.learned < more.learned
    assert of("keep=all", "explore.samples=3").learned > many.learned
    assert of("scope=limited").episodes < plain.episodes
    elsewhere = of("explore.agent=openai:gpt-4o")
    assert elsewhere.sampled == plain.sampled
    assert elsewhere.sampling_operations == 0


def test_who_plays_decides_what_playing_needs() -> None:
    def of(*overrides: str) -> Estimate:
        mine = ["explore.agent=hf:{policy}", "eval.envs=[]"]
        return estimate(find_baseline("dpo").config("paper", [*mine, *overrides]))

    plain, half = of(), of("explore.options.dtype=bfloat16")
    assert half.playing.weights == plain.playing.weights / 2
    assert half.playing.cache == plain.playing.cache / 2
    assert half.hours < plain.hours
    assert of("explore.sampling.max_batch=4").playing.cache < plain.playing.cache
    vllm = of("explore.agent=vllm:{policy}", "explore.gpu_memory=0.8")
    assert vllm.playing.engine == pytest.approx(0.8 * 80e9)
    assert of("explore.agent=openai:gpt-4o").playing.sampling == 0


@settings(max_examples=25, deadline=None)
@given(
    batch=st.integers(1, 8),
    limit=st.integers(64, 2048),
    rank=st.integers(1, 64),
    processes=st.integers(1, 8),
)
def test_more_of_anything_never_costs_less(
    batch: int, limit: int, rank: int, processes: int
) -> None:
    def of(batch: int = batch, limit: int = limit, rank: int | None = rank) -> Estimate:
        config = {
            "model": {"name": "smollm2", "lora": {"r": rank} if rank else None},
            "data": {"expert": [{"env": "maze", "tasks": 10}]},
            "length": {"max_tokens": limit},
            "optim": {"batch_size": batch, "max_steps": 5},
        }
        return estimate(resolve(BCConfig, config), processes)

    plain = of()
    assert of(batch=batch + 1).memory.training > plain.memory.training
    assert of(limit=limit + 64).memory.training >= plain.memory.training
    assert of(rank=rank + 1).memory.training > plain.memory.training
    assert of(rank=rank + 1).trained > plain.trained
    assert of(rank=None).memory.training > plain.memory.training
    assert of(batch=batch + 1).operations > plain.operations
    assert plain.hours > 0


def test_costs_add_up_and_the_largest_memory_counts() -> None:
    one, two = estimate(PAPER["bc"]), estimate(PAPER["grpo"])
    both = one + two
    assert both.hours == one.hours + two.hours
    assert both.device_hours == one.device_hours + two.device_hours
    assert both.learned == one.learned + two.learned
    assert both.memory.training == max(one.memory.training, two.memory.training)
    assert both.playing.sampling == max(one.playing.sampling, two.playing.sampling)
    assert both.peak == max(one.peak, two.peak)
    assert both.weights == max(one.weights, two.weights)
    assert sum([one, two], Estimate()) == sum([one, two])
    assert sum([one]).lines() == one.lines()
    small = estimate(find_baseline("bc").config("tiny"))
    assert (small + one).machine == (one + small).machine == "A100 80 GB"
    assert "assumed: " in str(both)


def test_a_launcher_says_how_many_there_are_and_whether_they_share(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = PAPER["bc"]
    monkeypatch.setenv("WORLD_SIZE", "4")
    whole = estimate(config)
    assert whole.processes == 4
    assert whole.memory.weights == 4 * whole.weights
    monkeypatch.setenv("ACCELERATE_USE_FSDP", "true")
    parts = estimate(config)
    assert parts.memory.weights == whole.weights
    monkeypatch.setenv("FSDP_AUTO_WRAP_POLICY", "TRANSFORMER_BASED_WRAP")
    assert estimate(config).memory.working < parts.memory.working
    assert not any("one process alone" in line for line in estimate_lines(config))


def test_files_that_are_here_are_counted_by_their_size(tmp_path: Path) -> None:
    place = tmp_path / "some.jsonl"
    place.write_text("x" * 33_000)
    data = {"model": {"name": "scratch"}, "data": {"files": [str(place)]}}
    assert estimate(resolve(BCConfig, data)).learned == pytest.approx(10_000)
    missing = {"model": {"name": "scratch"}, "data": {"files": [str(tmp_path / "no.jsonl")]}}
    cost = estimate(resolve(BCConfig, missing))
    assert cost.learned == 0
    assert any("counted as nothing" in note for note in cost.assumed)


def test_settings_of_no_trainer_are_refused() -> None:
    with pytest.raises(InvalidConfig, match="RunConfig"):
        estimate(RunConfig())


def test_where_there_is_no_device_everything_fits() -> None:
    assert Estimate(memory=Memory(weights=1e15)).fits
    assert Estimate(memory=Memory(weights=1e15), capacity=1e9).fits is False


@given(
    rounds=st.integers(1, 5),
    merge=st.sampled_from(["initial", "previous", "none"]),
    scope=st.sampled_from(["broad", "limited"]),
)
@settings(max_examples=12, deadline=None)
def test_rounds_cost_what_each_of_them_costs(rounds: int, merge: str, scope: str) -> None:
    def of(iterations: int) -> Estimate:
        settings = [f"iterations={iterations}", f"merge={merge}", f"scope={scope}"]
        return estimate(find_baseline("agentevol").config("paper", settings))

    one, two, many = of(1), of(2), of(rounds)
    figures = ("learned", "sampled", "read", "episodes", "operations", "sampling_operations",
               "hours", "training_hours", "device_hours")  # fmt: skip
    for name in figures:
        first, later = getattr(one, name), getattr(two, name) - getattr(one, name)
        assert getattr(many, name) == pytest.approx(first + (rounds - 1) * later), name
    assert many.memory == (two if rounds > 1 else one).memory
    assert many.playing == (two if rounds > 1 else one).playing


@pytest.mark.parametrize(
    ("name", "overrides"),
    [
        ("agentevol", ["iterations=1000000"]),
        ("agentevol", ["iterations=1000000", "merge=previous"]),
        ("adca-grpo", ["samplings=1000000", "adca.prm_steps=null"]),
        ("grpo", ["samplings=1000000"]),
    ],
)
def test_a_long_run_is_counted_as_quickly_as_a_short_one(name: str, overrides: list[str]) -> None:
    config = find_baseline(name).config("paper" if name == "adca-grpo" else "tiny", overrides)
    began = time.process_time()
    lines = find_baseline(name).plan(config)
    assert time.process_time() - began < 5
    assert len(lines) < 40


@given(
    alpha=st.sampled_from([0.0, 0.1]),
    alpha_min=st.sampled_from([0.0, 0.05]),
    schedule=st.sampled_from(["constant", "cosine"]),
    outcome=st.sampled_from(["last_step", "only_prm"]),
    total=st.integers(1, 12),
    stop=st.none() | st.integers(0, 15),
    samplings=st.integers(0, 20),
)
def test_a_judge_is_asked_in_the_samplings_in_which_it_is_heard(
    alpha: float, alpha_min: float, schedule: Any, outcome: Any, total: int, stop: int | None,
    samplings: int,
) -> None:  # fmt: skip
    options = AdcaOptions(
        alpha=alpha, alpha_min=alpha_min, alpha_schedule=schedule, outcome=outcome,
        total_steps=total, prm_steps=stop,
    )  # fmt: skip
    assert asked(options, samplings) == sum(options.used(step + 1) for step in range(samplings))
