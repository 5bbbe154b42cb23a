"""DPO on exploration: prefer the attempt that solved a task over one that did not.

The policy (from BC) plays each task more than once; attempts at the same task, with the same
prompt, whose scores lie far enough apart make pairs (`pairs`); the loss and its masks over several
turns are in `preference`, the formula alone is `losses.dpo_loss`. Settings of the paper's
comparison (AgentGym, arXiv 2406.04151, table 6, from its published script): gap 0.1, winner 0.9,
beta 0.5, learning rate 5e-7, three epochs, weight decay 0.1, a constant schedule after warm-up.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from pydantic import Field, model_validator

from agentgym.baselines.bc import DATA, CloningConfig, clone_first
from agentgym.baselines.checkpoints import (
    begin,
    conclude,
    done_before,
    is_main,
)
from agentgym.baselines.config import ModelConfig, OptimConfig, RunConfig
from agentgym.baselines.examples import Example, ExampleReport, NothingToLearn, example_of, fit
from agentgym.baselines.explore import ExploreConfig, explore
from agentgym.baselines.freeing import frees
from agentgym.baselines.pairs import Pair, PairConfig, choose_pairs
from agentgym.baselines.plan import plan_data, plan_exploration, plan_learning
from agentgym.baselines.progress import Journal, Say, silent, to_stderr
from agentgym.rollout.episode import Episode
from agentgym.rollout.plan import derive_seed
from agentgym.rollout.store import write_atomic
from agentgym.trajectories.store import read

LASTING = (
    "DPO learns each side of a pair as one sequence, so give a template that leaves earlier turns "
    "alone (model.chat_template=FILE, or model.template_options), or use a trainer that learns "
    "turn by turn: agentevol with data.per_turn=true, or grpo."
)
"""What to do about a template that rewrites history."""


class DPOConfig(CloningConfig):
    """Settings of DPO. `model` is the policy that is improved and the reference.

    Attributes:
        runs: run folders and trajectory files whose episodes are paired; where this is empty the
            policy explores as `explore` says.
        explore: what is played for pairs, by whom and how often (two attempts make a pair).
        pairs: which attempts pair.
        beta: how dear it is to move away from the reference.
        sft_weight: weight of the chosen side's likelihood beside DPO's loss; the paper has none.
        optim: how weights are changed.
    """

    runs: tuple[Path, ...] = ()
    explore: ExploreConfig = Field(default_factory=lambda: ExploreConfig(samples=2))
    pairs: PairConfig = PairConfig()
    beta: float = Field(0.5, gt=0)
    sft_weight: float = Field(0.0, ge=0)
    optim: OptimConfig = OptimConfig(
        lr=5e-7, epochs=3.0, accumulate=4, schedule="constant_with_warmup", weight_decay=0.1
    )

    @model_validator(mode="after")
    def _two(self) -> DPOConfig:
        """Refuse an exploration that gives no pair."""
        if not self.runs and self.explore.samples < 2:
            raise ValueError(
                "one attempt at a task makes no pair: set explore.samples to 2 or more, or name "
                "run folders that hold several attempts (runs)"
            )
        return self


def train(config: DPOConfig, folder: Path, say: Say = to_stderr) -> dict[str, Any]:
    """Improve a policy on pairs; the same call again goes on where it was cut short.

    Args:
        config: the settings.
        folder: the run's folder; the policy is left in `model/` within it.
        say: takes lines of progress.

    Returns:
        Steps, loss, seconds, what became of the attempts, and the evaluation.

    Raises:
        InvalidConfig: if a setting cannot be used, or the folder holds another run.
        NothingToLearn: if there are no pairs.
    """
    begin(config, folder)
    done = done_before(folder, say)
    if done is not None:
        return done
    look_at_template(config.model, say)
    start = clone_first(config, folder, say)
    episodes = _episodes(config, start, folder, say)
    pairs, report = choose_pairs(episodes, config.pairs)
    say(str(report))
    if not pairs:
        raise NothingToLearn(
            f"there is no pair to learn from: {report}. More attempts a task (explore.samples), a "
            "higher temperature, or a lower pairs.winner or pairs.gap give some."
        )
    result = {"pairs": asdict(report), **_learn(pairs, start, config, folder, say)}
    return conclude(folder, result)


def look_at_template(model: ModelConfig, say: Say = silent) -> None:
    """Require a chat template by which a side of a pair is one sequence; warn of what may fail.

    Raises:
        RewritesHistory: if its earlier turns do not stay as they were.
    """
    from agentgym.baselines.chat import RewritesHistory
    from agentgym.baselines.history import THINKING, require_lasting, template_of

    template = template_of(model)
    if template is None:
        return
    try:
        require_lasting(template)
    except RewritesHistory as error:
        raise RewritesHistory(error.where, LASTING) from error
    try:
        require_lasting(template, THINKING)
    except RewritesHistory:
        say("the chat template drops past reasoning: replies with <think> in them make no pair")


def plan(config: DPOConfig) -> list[str]:
    """Return what `train` would do, a line each; nothing is played or loaded."""
    if config.runs:
        source = [f"pairs of the episodes in {', '.join(map(str, config.runs))}"]
    else:
        source = plan_exploration(config.explore)
    first = config.model_copy(update={"optim": config.cloning})
    cloning = plan_data(config.data) + plan_learning(first) if config.clones else []
    return [
        *(["behavioural cloning first:"] if cloning else []),
        *(f"  {line}" for line in cloning),
        *source,
        f"at most {config.pairs.per_task} pairs a task, the winner's score at least "
        f"{config.pairs.winner:g}, the gap at least {config.pairs.gap:g}; beta {config.beta:g}",
        *plan_learning(config),
    ]


def _episodes(config: DPOConfig, start: ModelConfig, folder: Path, say: Say) -> list[Episode]:
    if config.runs:
        return [episode for path in config.runs for episode in read(path)]
    return explore(
        config.explore,
        start.name,
        folder / "explore",
        say,
        seed=derive_seed(config.seed, "explore"),
        model=start,
    )


@frees
def _learn(
    pairs: Sequence[Pair], start: ModelConfig, config: DPOConfig, folder: Path, say: Say
) -> dict[str, Any]:
    from agentgym.baselines.chat import ChatTemplate
    from agentgym.baselines.model import load_policy
    from agentgym.baselines.preference import make_trainer
    from agentgym.baselines.training import leave, run_trainer

    journal = Journal(folder, say, tensorboard=config.tensorboard, main=is_main())
    policy = load_policy(start, seed=config.seed)
    reference = load_policy(start) if start.lora is None else None
    template = ChatTemplate(policy.tokenizer, policy.ends, start.template_options)
    rows, report = make_pairs(pairs, template, config, policy.context)
    journal.say(f"{len(rows)} pairs are learned: {report}")
    if is_main():
        write_atomic(folder / DATA, json.dumps(asdict(report), indent=2) + "\n")
    trainer = make_trainer(policy, reference, rows, config, folder, beta=config.beta,
                           sft_weight=config.sft_weight)  # fmt: skip
    result = {**run_trainer(trainer, policy, config, folder, journal), "examples": asdict(report)}
    return {**result, **leave(trainer, policy, start, config, folder, journal)}


def make_pairs(
    pairs: Sequence[Pair], template: Any, config: RunConfig, context: int
) -> tuple[list[Any], ExampleReport]:
    """Return the pairs as tokens; what does not fit is dropped and counted.

    A pair goes where a side is too long or holds nothing to learn.

    Args:
        pairs: the pairs.
        template: how conversations are written.
        config: whose `length` says how long a side may be.
        context: most tokens the model takes.

    Raises:
        NothingToLearn: if none is left.
    """
    from agentgym.baselines.preference import pair_row

    report = ExampleReport(max_tokens=min(config.length.max_tokens or context, context))
    rows = []
    for pair in pairs:
        sides = []
        for episode in pair:
            example = example_of(episode)
            writer = replace(template, tools=example.tools) if example.tools else template
            encoded = _encoded(writer, example)
            report.examples += 1
            report.empty += not encoded.spans
            fitted = fit(encoded, config.length, report, example.source)
            sides.append(fitted if encoded.spans else None)
        chosen, rejected = sides
        if chosen is not None and rejected is not None:
            rows.append(pair_row(chosen, rejected))
            report.rows += 2
            report.tokens += len(chosen.input_ids) + len(rejected.input_ids)
            report.learned += chosen.learned + rejected.learned
    if not rows:
        raise NothingToLearn(f"no pair is short enough to be learned: {report}")
    return rows, report


def _encoded(writer: Any, example: Example) -> Any:
    from agentgym.baselines.chat import RewritesHistory

    try:
        return writer.encode(example.messages, example.weights)
    except RewritesHistory as error:
        raise RewritesHistory(f"{example.source}: {error.where}", LASTING) from error
