"""DPO over several turns: the agent's tokens alone count, and the loss is the formula's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl")

import torch

from agentgym.agents.message import ToolCall
from agentgym.baselines.chat import ChatTemplate, RewritesHistory
from agentgym.baselines.checks import faults
from agentgym.baselines.config import LengthConfig, LoraConfig, ModelConfig
from agentgym.baselines.configfile import resolve
from agentgym.baselines.dpo import DPOConfig, look_at_template, make_pairs, train
from agentgym.baselines.examples import example_of
from agentgym.baselines.history import THINKING, require_lasting
from agentgym.baselines.losses import dpo_loss
from agentgym.baselines.model import Policy, load_policy
from agentgym.baselines.pairs import Pair
from agentgym.baselines.preference import PairRow, make_trainer, pair_row
from agentgym.baselines.progress import CURVE, read_curve, silent
from agentgym.core.errors import InvalidConfig
from agentgym.trajectories import TrajectoryDataset, collect
from tests.baselines import tiny
from tests.baselines.templates import FAMILIES, QWEN3, REWRITING, tokenizer_of

TOOLS = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] or m['tool_calls'] }}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def attempts(tasks: int = 3) -> list[Pair]:
    """Return pairs: the expert's way, and one that says the same number again and again."""
    pairs = []
    for good in collect(tiny.GUESS["env"], tasks=tasks):
        step = good.steps[0].model_copy(
            update={"reply": "Thought: one.\nAction: guess 1", "score": 0.0, "loss": True}
        )
        bad = good.model_copy(
            update={"steps": (step,) * 3, "score": 0.0, "success": False, "attempt": 1}
        )
        pairs.append(Pair(good, bad))
    return pairs


def rows_of(template: ChatTemplate, pairs: list[Pair], **length: Any) -> list[PairRow]:
    config = DPOConfig(length=LengthConfig(**length))
    return make_pairs(pairs, template, config, 10_000)[0]


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_only_what_the_agent_said_counts_on_either_side(family: str) -> None:
    chosen = FAMILIES[family]
    tokenizer = tokenizer_of(chosen.template, chosen.eos)
    ends = frozenset(tokenizer.convert_tokens_to_ids(list(chosen.ends)))
    template = ChatTemplate(tokenizer, ends)
    pairs = attempts()
    for pair, row in zip(pairs, rows_of(template, pairs), strict=True):
        sides = ((pair.chosen, row.chosen_ids, row.chosen_mask),
                 (pair.rejected, row.rejected_ids, row.rejected_mask))  # fmt: skip
        for episode, ids, mask in sides:
            said = [token for token, own in zip(ids, mask, strict=True) if own]
            wanted = "".join(chosen.learned(step.reply) for step in episode.steps)
            assert tokenizer.decode(said) == wanted
            # The prompt goes up to the first reply: rules, acknowledgement, first observation.
            assert mask[0] == 1
            assert tokenizer.decode(row.prompt_ids + ids).startswith(
                tokenizer.decode(row.prompt_ids)
            )
        assert episode.observation in tokenizer.decode(row.prompt_ids)


def test_a_batch_masks_what_the_environment_said(tmp_path: Path) -> None:
    of = tiny.policy()
    rows = rows_of(ChatTemplate(of.tokenizer, of.ends), attempts(2))
    trainer = trainer_of(of, tiny.policy(), rows, tmp_path)
    batch = trainer.data_collator([row._asdict() for row in rows])
    for i, row in enumerate(rows):
        for line, ids, mask in (
            (i, row.chosen_ids, row.chosen_mask),
            (i + 2, row.rejected_ids, row.rejected_mask),
        ):
            own = batch["completion_mask"][line].tolist()
            start, end = len(row.prompt_ids), len(row.prompt_ids) + len(ids)
            assert own[start:end] == mask
            assert sum(own) == sum(mask)


def trainer_of(of: Policy, reference: Policy | None, rows: list[PairRow], folder: Path) -> Any:
    return make_trainer(of, reference, rows, tiny.settings(), folder, beta=0.5)


def logps(of: Policy, prompt: list[int], ids: list[int], mask: list[int]) -> Any:
    """Add up a side's log-probability one token at a time."""
    logits = of.model(input_ids=torch.tensor([prompt + ids])).logits[0].double()
    total = torch.zeros((), dtype=torch.float64)
    for i, (token, own) in enumerate(zip(ids, mask, strict=True)):
        if own:
            total = total + torch.log_softmax(logits[len(prompt) + i - 1], -1)[token]
    return total


def test_the_loss_is_dpos_over_the_agents_tokens(tmp_path: Path) -> None:
    of, reference = tiny.policy(seed=1), tiny.policy(seed=2)
    rows = rows_of(ChatTemplate(of.tokenizer, of.ends), attempts(2))
    trainer = trainer_of(of, reference, rows, tmp_path)
    batch = trainer.data_collator([row._asdict() for row in rows])
    loss = trainer.compute_loss(of.model, batch)
    sides = [
        torch.stack([
            logps(p, r.prompt_ids, *side) for r in rows
            for side in [(r.chosen_ids, r.chosen_mask) if chosen else (r.rejected_ids,
                                                                       r.rejected_mask)]
        ])
        for p in (of, reference) for chosen in (True, False)
    ]  # fmt: skip
    wanted = dpo_loss(sides[0], sides[1], sides[2], sides[3], beta=0.5).loss
    assert loss.item() == pytest.approx(wanted.item(), rel=1e-4)


def test_without_its_adapter_a_policy_is_its_own_reference(tmp_path: Path) -> None:
    of = tiny.policy(lora=LoraConfig(r=2))
    rows = rows_of(ChatTemplate(of.tokenizer, of.ends), attempts(2))
    trainer = trainer_of(of, None, rows, tmp_path)
    batch = trainer.data_collator([row._asdict() for row in rows])
    assert trainer.compute_loss(of.model, batch).item() == pytest.approx(0.6931, abs=1e-3)


def test_sides_with_different_prompts_are_no_pair() -> None:
    of = tiny.policy()
    template = ChatTemplate(of.tokenizer, of.ends)
    ((chosen, rejected),) = attempts(1)
    rejected = rejected.model_copy(update={"observation": "Another beginning."})
    examples = [example_of(episode) for episode in (chosen, rejected)]
    encoded = [template.encode(e.messages, e.weights) for e in examples]
    with pytest.raises(ValueError, match="different prompts"):
        pair_row(*encoded)


def test_a_pair_with_a_side_that_does_not_fit_is_dropped_and_counted() -> None:
    of = tiny.policy()
    template = ChatTemplate(of.tokenizer, of.ends)
    pairs = attempts()
    sizes = [max(len(r.prompt_ids + r.chosen_ids), len(r.prompt_ids + r.rejected_ids))
             for r in rows_of(template, pairs)]  # fmt: skip
    limit = sorted(sizes)[1]
    config = DPOConfig(length=LengthConfig(max_tokens=limit))
    rows, report = make_pairs(pairs, template, config, 10_000)
    assert len(rows) == sum(size <= limit for size in sizes)
    assert report.dropped >= 1
    with pytest.raises(InvalidConfig, match="no pair is short enough"):
        make_pairs(pairs, template, DPOConfig(length=LengthConfig(max_tokens=9)), 10_000)


def test_replies_flagged_off_are_read_and_not_learned() -> None:
    of = tiny.policy()
    template = ChatTemplate(of.tokenizer, of.ends)
    ((chosen, rejected),) = attempts(1)
    steps = (rejected.steps[0].model_copy(update={"loss": False}), *rejected.steps[1:])
    late = rejected.model_copy(update={"steps": steps})
    (row,) = rows_of(template, [Pair(chosen, late)])
    said = [t for t, own in zip(row.rejected_ids, row.rejected_mask, strict=True) if own]
    assert template.tokenizer.decode(said).count("guess 1") == len(steps) - 1
    assert row.rejected_mask[0] == 0
    assert row.chosen_mask[0] == 1
    silent_side = tuple(step.model_copy(update={"loss": False}) for step in rejected.steps)
    nothing = Pair(chosen, rejected.model_copy(update={"steps": silent_side}))
    rows, report = make_pairs([nothing, Pair(chosen, rejected)], template, DPOConfig(), 10_000)
    assert len(rows) == 1
    assert report.empty == 1


def test_both_sides_are_shown_the_tools_that_were_offered() -> None:
    of = tiny.policy()
    (good,) = collect("maze", tasks=1, options={"size": [5, 5]})
    call = ToolCall("move", '{"direction": "up"}', "1")
    steps = tuple(step.model_copy(update={"tool_calls": (call,)}) for step in good.steps)
    good = good.model_copy(update={"steps": steps, "action_format": "function_calling"})
    bad = good.model_copy(update={"steps": steps[:1], "score": 0.0, "attempt": 1})
    of.tokenizer.chat_template = "{{ tools | tojson if tools else 'none' }}" + TOOLS
    template = ChatTemplate(of.tokenizer, of.ends)
    (row,) = rows_of(template, [Pair(good, bad)])
    assert '"move"' in of.tokenizer.decode(row.prompt_ids)


def config_of(folder: Path, **changes: Any) -> DPOConfig:
    episodes = [episode for pair in attempts(4) for episode in pair]
    TrajectoryDataset(episodes).save(folder / "attempts.jsonl")
    start = tiny.save(tiny.policy(), folder / "start")
    data: dict[str, Any] = {
        "model": {"name": start, "device": "cpu"},
        "runs": [str(folder / "attempts.jsonl")],
        "optim": {"lr": 1e-3, "max_steps": 5, "batch_size": 2, "threads": 1},
        "log_every": 1,
        "tensorboard": False,
    }
    return resolve(DPOConfig, {**data, **changes})


def test_a_policy_learns_to_prefer_what_went_well(tmp_path: Path) -> None:
    config = config_of(tmp_path)
    result = train(config, tmp_path / "run", silent)
    assert result["pairs"]["pairs"] == 4
    assert result["steps"] == 5
    points = [p for p in read_curve(tmp_path / "run" / CURVE) if "loss" in p]
    assert points[0]["loss"] == pytest.approx(0.6931, abs=1e-3)  # policy and reference are equal
    assert points[-1]["loss"] < points[0]["loss"] - 0.1
    assert points[-1]["rewards/margins"] > 0
    load_policy(ModelConfig(name=str(tmp_path / "run" / "model"), device="cpu"))
    assert train(config, tmp_path / "run", silent) == json.loads(json.dumps(result))


def test_a_run_that_was_killed_goes_on_as_if_it_had_not_been(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = config_of(tmp_path, save_every=2)
    train(config, tmp_path / "whole", silent)
    with monkeypatch.context() as patch:
        tiny.die_at_step(3, patch)
        with pytest.raises(tiny.Killed):
            train(config, tmp_path / "killed", silent)
    train(config, tmp_path / "killed", silent)
    losses = [
        [p["loss"] for p in read_curve(tmp_path / name / CURVE) if "loss" in p]
        for name in ("whole", "killed")
    ]
    assert len(losses[0]) == 5
    assert losses[0] == losses[1]


def test_without_pairs_it_says_what_would_give_some(tmp_path: Path) -> None:
    config = config_of(tmp_path)
    TrajectoryDataset([pair.chosen for pair in attempts(2)]).save(tmp_path / "attempts.jsonl")
    with pytest.raises(InvalidConfig, match=r"2 tasks with one attempt.*explore.samples"):
        train(config, tmp_path / "run", silent)


def test_a_template_that_rewrites_history_is_refused_before_anything_is_played(
    tmp_path: Path,
) -> None:
    played = {"agent": "tests.baselines.stub:Sometimes", "envs": [tiny.GUESS], "samples": 2}
    file = tmp_path / "qwen3.jinja"
    file.write_text(QWEN3)
    folder = tmp_path / "run"
    config = config_of(tmp_path, runs=[], explore=played)
    given = config.model_copy(
        update={"model": config.model.model_copy(update={"chat_template": file})}
    )
    with pytest.raises(RewritesHistory, match="each side of a pair") as refused:
        train(given, folder, silent)
    assert "per_turn=true, or grpo" in str(refused.value)
    assert not folder.exists()
    # The same of a template that is in the model's folder, and of what a plan says.
    start = tiny.policy()
    start.tokenizer.chat_template = QWEN3
    there = ModelConfig(name=tiny.save(start, tmp_path / "qwen3"), device="cpu")
    for model in (there, ModelConfig(name="scratch", chat_template=file)):
        with pytest.raises(RewritesHistory, match="each side of a pair"):
            look_at_template(model)
        found = faults(config.model_copy(update={"model": model}))
        assert any(isinstance(fault, RewritesHistory) for fault in found)


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_a_template_that_leaves_turns_alone_is_not_refused(family: str) -> None:
    chosen = FAMILIES[family]
    template = ChatTemplate(tokenizer_of(chosen.template, chosen.eos))
    require_lasting(template)
    require_lasting(template, THINKING)


def test_a_template_that_drops_reasoning_is_warned_of(tmp_path: Path) -> None:
    file = tmp_path / "drops.jinja"
    file.write_text(REWRITING)
    said: list[str] = []
    look_at_template(ModelConfig(name="scratch", chat_template=file), said.append)
    assert ["drops past reasoning" in line for line in said] == [True]
    template = ChatTemplate(tokenizer_of(REWRITING, "<|im_end|>"))
    (pair,) = attempts(1)
    step = pair.rejected.steps[0].model_copy(update={"reply": "<think>so</think>one"})
    thought = pair.rejected.model_copy(update={"steps": (step, *pair.rejected.steps[1:])})
    with pytest.raises(RewritesHistory, match="each side of a pair"):
        rows_of(template, [Pair(pair.chosen, thought)])


def test_episodes_of_exploration_pair(tmp_path: Path) -> None:
    """Two attempts a task by an agent that solves some and not others."""
    config = config_of(
        tmp_path,
        runs=[],
        explore={
            "agent": "tests.baselines.stub:Sometimes",
            "envs": [{**tiny.GUESS, "tasks": 4}],
            "samples": 2,
        },
        optim={"lr": 1e-3, "max_steps": 1, "batch_size": 1},
    )
    result = train(config, tmp_path / "run", silent)
    assert result["pairs"]["pairs"] == 4
    assert result["pairs"]["episodes"] == 8
    assert (tmp_path / "run" / "explore" / "episodes.jsonl").is_file()
