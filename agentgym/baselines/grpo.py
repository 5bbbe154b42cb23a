"""GRPO over several turns: of a group of attempts at one task, what went better than the rest.

    A_i = (R_i - mean_g R) / (std_g R + 1e-6)        for every token the policy chose in episode i
    rho = exp(log pi - log pi_old)
    L   = mean over the policy's own tokens of
          max(-A rho, -A clip(rho, 1 - clip_low, 1 + clip_high)),  at most -A dual_clip where A < 0
        + kl_coef k3(pi, pi_ref) - entropy_coef H(pi)

(Shao et al., arXiv 2402.03300; asymmetric clip from DAPO, arXiv 2503.14476; settings of
AgentEvolver, arXiv 2511.10395.) A group is n episodes of the same task from the same seed, played
by `sampling`; here is what an episode is credited with. Read on in `advantage` and `losses` for the
formulas, `policy_trainer` for the step that puts them together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from pydantic import Field

from agentgym.agents.base import ChatAgent
from agentgym.baselines.advantage import Floats
from agentgym.baselines.bc import CloningConfig, clone_first
from agentgym.baselines.checkpoints import (
    begin,
    conclude,
    done_before,
    is_main,
    ranks,
)
from agentgym.baselines.config import (
    MANY,
    MOST,
    EnvTasks,
    LengthConfig,
    ModelConfig,
    OptimConfig,
    SamplingConfig,
    Settings,
)
from agentgym.baselines.freeing import frees
from agentgym.baselines.grpo_advantage import Scale, outcome_advantages, turn_advantages
from agentgym.baselines.plan import count_tasks, describe_tasks, plan_data, plan_learning
from agentgym.baselines.progress import Journal, Say, to_stderr
from agentgym.baselines.sampling import Samples
from agentgym.core.errors import InvalidConfig

Aggregation = Literal[
    "token-mean", "seq-mean-token-sum", "seq-mean-token-mean", "seq-mean-token-sum-norm"
]


class EngineConfig(Settings):
    """Where the policy samples from while it is trained.

    Attributes:
        kind: "hf" is the model in this process; "vllm-server" a vLLM server that is sent the
            weights; "vllm-colocate" vLLM on the training's own GPU (docs/vllm.md).
        cache_tokens: "hf": most tokens whose keys and values are kept between turns.
        url: "vllm-server": where it is.
        group_port: "vllm-server": port of the group the weights are sent through.
        timeout: "vllm-server": seconds to wait for it to be up.
        gpu_memory: "vllm-colocate": part of the GPU's memory that is vLLM's.
    """

    kind: Literal["hf", "vllm-server", "vllm-colocate"] = "hf"
    cache_tokens: int = Field(65_536, ge=0)
    url: str = "http://localhost:8000"
    group_port: int = Field(51_216, ge=1, le=65_535)
    timeout: float = Field(240.0, ge=0)
    gpu_memory: float = Field(0.3, gt=0, lt=1)


class GRPOConfig(CloningConfig):
    """Settings of GRPO.

    A sampling is `groups` times `group_size` episodes; an optimiser step learns from `batch_size`
    times `accumulate` of them in each process. What is sampled at a time must come to whole steps.

    Attributes:
        tasks: what is played.
        groups: tasks a sampling, over all processes.
        group_size: episodes of a task (n).
        iterations: how often a sampling is learned from.
        samplings: how often the policy plays; None follows from `optim.max_steps` or
            `optim.epochs`, passes over the tasks.
        sampling: how the policy plays; the temperature is also the one its log-probabilities are
            taken at.
        engine: where it samples from.
        reward: "score"; "success" (1 or 0); "turns", the reward of each round, summed from there to
            the end of the episode and normalised over all rounds of the group (process supervision,
            arXiv 2402.03300, section 4.1.3).
        scale: divide by the spread of the "group", of the whole "batch", or not at all ("none", Dr.
            GRPO, arXiv 2503.20783).
        clip_low: how far below 1 the ratio counts.
        clip_high: how far above 1.
        dual_clip: bound of the loss where the advantage is negative; None for none.
        kl_coef: weight of the KL divergence from the policy training began with.
        entropy_coef: weight of the entropy bonus.
        aggregation: how the loss of tokens becomes the loss of a step; see `losses.aggregate`.
        width: "seq-mean-token-sum-norm": what a sequence's sum is divided by; None takes the most
            tokens of a conversation.
        old: log-probabilities the ratio starts from: as "sampled", or "recomputed" by the trainer.
        failures: episodes that may fail in a row before the run stops.
        length: how long a conversation may be. An episode that reaches the limit keeps what it
            played and the score it had ("truncate-turns"), is left out ("drop"), or stops the run.
        optim: how weights are changed.
    """

    tasks: tuple[EnvTasks, ...] = ()
    groups: int = Field(32, ge=1, le=MOST)
    group_size: int = Field(8, ge=2, le=MOST)
    iterations: int = Field(1, ge=1, le=MOST)
    samplings: int | None = Field(None, ge=1, le=MANY)
    sampling: SamplingConfig = SamplingConfig(temperature=1.0)
    engine: EngineConfig = EngineConfig()
    reward: Literal["score", "success", "turns"] = "score"
    scale: Scale = "group"
    clip_low: float = Field(0.2, gt=0, lt=1)
    clip_high: float = Field(0.28, gt=0)
    dual_clip: float | None = Field(3.0, gt=1)
    kl_coef: float = Field(0.001, ge=0)
    entropy_coef: float = Field(0.0, ge=0)
    aggregation: Aggregation = "token-mean"
    width: int | None = Field(None, ge=1)
    old: Literal["sampled", "recomputed"] = "sampled"
    failures: int | None = Field(10, ge=1)
    length: LengthConfig = LengthConfig(too_long="truncate-turns")
    optim: OptimConfig = OptimConfig(lr=1e-6, schedule="constant", warmup=0.0, weight_decay=0.01)

    @property
    def episodes(self) -> int:
        """Episodes of a sampling."""
        return self.groups * self.group_size


class Credit(Protocol):
    """Says how much better than expected each round of each episode was."""

    def meet(self, policy: ChatAgent, sampling: SamplingConfig) -> None:
        """Get to know who plays, and how, before anything is played."""

    def assign(self, samples: Samples, step: int) -> tuple[list[Floats], dict[str, float]]:
        """Return an advantage a round, shape (K,) for each trajectory, and what to watch.

        Args:
            samples: what was played.
            step: how often the policy has played before; a step of AgentEvolver's.
        """

    def summary(self) -> dict[str, Any]:
        """Return what a run's result says of it."""

    def state(self) -> dict[str, Any]:
        """Return what it has counted and spent so far, JSON values, for a checkpoint."""

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a `state` of the same run."""

    def close(self) -> None:
        """Release everything."""


class OutcomeCredit:
    """GRPO's: every round of an episode is credited with its outcome, or with what followed it.

    Args:
        reward: what the outcome is; see `GRPOConfig`.
        scale: what advantages are divided by.
    """

    def __init__(self, reward: str = "score", scale: Scale = "group") -> None:
        self.reward, self.scale = reward, scale

    def meet(self, policy: ChatAgent, sampling: SamplingConfig) -> None:
        """Nothing depends on who plays."""

    def assign(self, samples: Samples, step: int) -> tuple[list[Floats], dict[str, float]]:
        """Return the advantages of a sampling; see `Credit.assign`."""
        kept = samples.trajectories
        groups = [t.group for t in kept]
        if self.reward == "turns":
            return turn_advantages(groups, [t.rewards for t in kept], self.scale), {}
        each = outcome_advantages(groups, outcomes(samples, self.reward), self.scale)
        return [np.full(t.episode.rounds, a) for t, a in zip(kept, each, strict=True)], {}

    def summary(self) -> dict[str, Any]:
        """Return nothing: outcomes are counted with the episodes."""
        return {}

    def state(self) -> dict[str, Any]:
        """Return nothing, for the same reason."""
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:
        """There is nothing to go on from."""

    def close(self) -> None:
        """Nothing is held."""


def outcomes(samples: Samples, reward: str) -> list[float]:
    """Return the outcome of each trajectory: its score, or 1 where it is solved and else 0."""
    if reward == "success":
        return [float(t.solved) for t in samples.trajectories]
    return [t.episode.score for t in samples.trajectories]


def train(config: GRPOConfig, folder: Path, say: Say = to_stderr) -> dict[str, Any]:
    """Improve a policy by playing; the same call again goes on where it was cut short.

    Args:
        config: the settings.
        folder: the run's folder; the policy is left in `model/` within it.
        say: takes lines of progress.

    Returns:
        Steps, loss, seconds, how many episodes were left out, and the evaluation.

    Raises:
        InvalidConfig: if a setting cannot be used, or the folder holds another run.
        BudgetExceeded: if too many episodes failed in a row.
    """
    return improve(config, OutcomeCredit(config.reward, config.scale), folder, say)


def improve(
    config: GRPOConfig, credit: Credit, folder: Path, say: Say = to_stderr
) -> dict[str, Any]:
    """Improve a policy by playing, with what an episode's rounds are credited with; see `train`."""
    check(config)
    begin(config, folder)
    done = done_before(folder, say)
    if done is not None:
        return done
    try:
        start = clone_first(config, folder, say)
        result = _learn(config, start, credit, folder, say)
    finally:
        credit.close()
    return conclude(folder, result)


@frees
def _learn(
    config: GRPOConfig, start: ModelConfig, credit: Credit, folder: Path, say: Say
) -> dict[str, Any]:
    from agentgym.baselines.model import load_policy
    from agentgym.baselines.policy_trainer import make_trainer
    from agentgym.baselines.training import keep_counts, leave, run_trainer

    journal = Journal(folder, say, tensorboard=config.tensorboard, main=is_main())
    policy = load_policy(start, seed=config.seed)
    trained, every = policy.parameters
    journal.say(f"{policy.name}: {trained:,} of {every:,} weights are trained")
    trainer = make_trainer(policy, credit, config, folder, journal)

    def counts() -> dict[str, Any]:
        return {"left_out": dict(trainer.left_out), "credit": credit.state()}

    def count_on(before: Mapping[str, Any]) -> None:
        trainer.left_out.update(before["left_out"])
        credit.restore(before["credit"])

    try:
        keep_counts(trainer, counts, count_on, folder, journal)
        result = run_trainer(trainer, policy, config, folder, journal)
    finally:
        trainer.engine.close()
    result |= {"left_out": dict(sorted(trainer.left_out.items())), **credit.summary()}
    return result | leave(trainer, policy, start, config, folder, journal)


def check(config: GRPOConfig) -> None:
    """Require that the settings fit together.

    Raises:
        InvalidConfig: saying which do not, and what would.
    """
    if config.sampling.temperature <= 0 or config.sampling.top_p < 1:
        raise InvalidConfig(
            "the policy must sample from itself: sampling.temperature above 0, sampling.top_p 1"
        )
    step = config.optim.batch_size * config.optim.accumulate * ranks()
    if config.episodes % step:
        raise InvalidConfig(
            f"a sampling of {config.groups} x {config.group_size} = {config.episodes} episodes "
            f"does not come to whole steps of optim.batch_size x optim.accumulate x processes = "
            f"{config.optim.batch_size} x {config.optim.accumulate} x {ranks()} = {step}"
        )
    if config.groups % ranks():
        raise InvalidConfig(f"groups={config.groups} must be a multiple of {ranks()} processes")
    if config.save_every and config.save_every % updates(config):
        raise InvalidConfig(
            f"save_every={config.save_every} must be a multiple of {updates(config)}, the steps "
            "that learn from one sampling: a checkpoint between them could not be taken up"
        )
    if config.reward == "turns" and config.scale == "batch":
        raise InvalidConfig('reward "turns" goes with scale "group" or "none"')
    if config.samplings and config.optim.max_steps:
        raise InvalidConfig("give samplings or optim.max_steps, not both")
    if not config.tasks:
        raise InvalidConfig("there is nothing to play: name environments in tasks")


def updates(config: GRPOConfig) -> int:
    """Return how many optimiser steps learn from a sampling."""
    step = config.optim.batch_size * config.optim.accumulate * ranks()
    return config.episodes // step * config.iterations


def total_steps(config: GRPOConfig) -> int | None:
    """Return the optimiser steps of the run, or None where the tasks' data is not here."""
    if config.optim.max_steps:
        return config.optim.max_steps
    if config.samplings:
        return config.samplings * updates(config)
    counts = [count_tasks(tasks) for tasks in config.tasks]
    if None in counts:
        return None
    played = config.optim.epochs * sum(count or 0 for count in counts)
    return max(1, math.ceil(played / config.groups)) * updates(config)


def plan(config: GRPOConfig) -> list[str]:
    """Return what `train` would do, a line each; nothing is played or loaded."""
    check(config)
    first = config.model_copy(update={"optim": config.cloning})
    cloning = plan_data(config.data) + plan_learning(first) if config.clones else []
    steps = total_steps(config)
    samplings = "" if steps is None else f", {math.ceil(steps / updates(config))} times"
    dual = f", dual {config.dual_clip:g}" if config.dual_clip else ""
    return [
        *(["behavioural cloning first:"] if cloning else []),
        *(f"  {line}" for line in cloning),
        f"play {config.groups} tasks x {config.group_size} episodes{samplings}, temperature "
        f"{config.sampling.temperature:g}, at most {config.sampling.max_tokens} tokens a reply, "
        f"from {config.engine.kind}:",
        *(f"  {describe_tasks(tasks)}" for tasks in config.tasks),
        f"{updates(config)} steps learn from what was played at a time ({ranks()} process"
        + ("es)" if ranks() > 1 else ")")
        + ("" if steps is None else f"; {steps} steps in all"),
        f"reward {config.reward}, scaled by {config.scale}; clip {config.clip_low:g}/"
        f"{config.clip_high:g}{dual}; KL {config.kl_coef:g}, entropy {config.entropy_coef:g}, "
        f"{config.aggregation}",
        *plan_learning(
            config.model_copy(
                update={"optim": config.optim.model_copy(update={"max_steps": steps})}
            )
        ),
    ]
