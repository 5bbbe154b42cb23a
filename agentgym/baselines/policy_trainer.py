"""The step of GRPO and ADCA-GRPO: play, credit, and move the policy.

It stands on TRL's GRPOTrainer, of which it uses the loop, the order in which groups come, the
fused head that gives log-probabilities at the sampling temperature without the logits, and the way
weights get to vLLM. It replaces two methods. `_prepare_inputs` plays, since TRL's own path scores
texts and has a place for every episode, where here tokens arrive with their log-probabilities and
broken episodes leave gaps. `_compute_loss` puts the formulas of `losses` together, since dual clip,
k3 against an adapter switched off and four aggregations exact over accumulated steps are not all
to be had there.

Several processes play their own groups and then share what was played, tokens and all: tens of
megabytes a sampling. Credit, figures and the spreading of episodes over steps are then worked out
by all from the whole, so that they are those of one process, and each takes its part of every step.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import torch
from datasets import Dataset
from torch import Tensor
from trl import GRPOConfig as TRLConfig
from trl import GRPOTrainer
from trl.trainer.utils import add_fused_lm_head

from agentgym.baselines.batches import Batch, TokenRow, collate, token_row
from agentgym.baselines.dropout import without_dropout
from agentgym.baselines.engine_build import build_engine, vllm_arguments
from agentgym.baselines.engines import HFEngine
from agentgym.baselines.grpo import Credit, GRPOConfig, total_steps, updates
from agentgym.baselines.losses import k3_kl, policy_loss, policy_objective
from agentgym.baselines.model import Policy, calm
from agentgym.baselines.processes import team
from agentgym.baselines.progress import EpisodeLines, Journal
from agentgym.baselines.sampling import (
    Group,
    Samples,
    context_of,
    make_groups,
    sample_groups,
    to_share,
    whole,
)
from agentgym.baselines.sharding import check_sharding, send_weights, spread
from agentgym.baselines.training import arguments
from agentgym.core.errors import InvalidConfig


def make_trainer(
    policy: Policy, credit: Credit, config: GRPOConfig, folder: Path, journal: Journal
) -> PolicyTrainer:
    """Return a trainer of a policy, ready to be run."""
    steps = total_steps(config)
    samplings = -(-(steps or 1) // updates(config))
    groups = make_groups(config.tasks, samplings * config.groups, seed=config.seed)
    settings = arguments(
        TRLConfig,
        config.model_copy(update={"optim": config.optim.model_copy(update={"max_steps": steps})}),
        folder,
        num_generations=config.group_size,
        generation_batch_size=config.episodes,
        num_iterations=config.iterations,
        max_completion_length=config.sampling.max_tokens,
        temperature=config.sampling.temperature,
        beta=0.0,  # the reference is held here
        disable_dropout=True,
        shuffle_dataset=False,  # the groups are in their order already
        **vllm_arguments(config, policy.context),
    )
    if config.engine.kind != "hf":
        check_sharding(settings)
    with calm():
        return PolicyTrainer(policy, credit, config, groups, journal, settings)


class PolicyTrainer(GRPOTrainer):  # type: ignore[misc]
    """TRL's trainer with our sampling, credit and loss.

    Args:
        policy: what is trained.
        credit: what rounds are credited with.
        config: our settings.
        groups: what is played, in order.
        journal: where lines go.
        settings: TRL's configuration.

    Attributes:
        engine: where the policy samples from.
        left_out: episodes of all processes that could not be learned from, by reason.
        samples: what was played last, by all processes.
    """

    loss_is_scaled_for_ga = True
    """The loss of a pass is a part of the step's already (`_weight`)."""

    def __init__(
        self,
        policy: Policy,
        credit: Credit,
        config: GRPOConfig,
        groups: Sequence[Group],
        journal: Journal,
        settings: Any,
    ) -> None:
        self.policy, self.credit, self.config, self.journal = policy, credit, config, journal
        self.groups = {group.number: group for group in groups}
        self.left_out: Counter[str] = Counter()
        self.samples = Samples([])
        self._team = team()
        without_dropout(policy.model)
        self._reference = self._frozen(policy, config)
        super().__init__(
            model=policy.model,
            reward_funcs=_unused,
            args=settings,
            train_dataset=Dataset.from_list([{"prompt": "", "group": n} for n in self.groups]),
            processing_class=policy.tokenizer,
        )
        if self._reference is not None:
            add_fused_lm_head(self._reference, temperature=config.sampling.temperature)
            self._reference = spread(self._reference, self)
        self._micro: list[Batch] = []
        self.engine = build_engine(self)
        self.credit.meet(self.engine, config.sampling)

    def _prepare_inputs(self, generation_batch: list[dict[str, Any]]) -> Batch:
        """Return the next part of what was played, playing first where all has been used."""
        parts = self.args.steps_per_generation
        if self._step % (parts * self.num_iterations) == 0 or not self._micro:
            self._micro = self._play([row["group"] for row in generation_batch])
        part: Batch = self._micro[self._step % parts]
        return part

    def _play(self, numbers: Sequence[int]) -> list[Batch]:
        """Play groups and return this process's part of what was played, in forward passes."""
        config = self.config
        counts = Counter(numbers)
        if any(count != config.group_size for count in counts.values()):
            raise InvalidConfig(f"a process has parts of groups alone: {dict(counts)}")
        talks = self.engine.continuations
        talks.turns = talks.rewritten = 0
        with self._sampling():
            played = sample_groups(
                [self.groups[n] for n in counts],
                config.group_size,
                self.engine,
                config.sampling,
                seed=config.seed,
                too_long=config.length.too_long,
                failures=config.failures,
                on_event=EpisodeLines(
                    self.journal.say, f"playing at step {self._global_step}", self.engine
                ),
            )
            if self._team.size > 1:
                played = whole(self._team.share(to_share(played)))
            self.samples = samples = played
            self.left_out += samples.left_out
            self.journal.say(f"step {self._global_step}: {samples}")
            # How many turns a chat template would have written with other tokens.
            rewritten = self._ratio(talks.rewritten, talks.turns)
            advantages, figures = self.credit.assign(samples, self._samplings)
        self._note({**samples.metrics(), "rewritten_turns": rewritten, **figures})
        rows = [token_row(t, a) for t, a in zip(samples.trajectories, advantages, strict=True)]
        return self._parts(rows)

    def _parts(self, rows: Sequence[TokenRow]) -> list[Batch]:
        """Spread rows at random over steps and forward passes, and give each what is fixed.

        Args:
            rows: those of all processes.

        Returns:
            This process's passes; of a step all have the same number, of rows about as long.
        """
        rng = np.random.default_rng([self.config.seed, self._global_step])
        order = [rows[i] for i in rng.permutation(len(rows))]
        passes = self.args.gradient_accumulation_steps
        count = self.args.steps_per_generation
        rank, size = self._team.rank, self._team.size
        batches: list[Batch] = []
        for chosen in np.array_split(np.arange(len(order)), count // passes):
            step = sorted((order[i] for i in chosen), key=lambda row: len(row.ids))
            share = (sum(sum(row.own) for row in step), len(step))
            for part in np.array_split(np.arange(len(step)), passes * size)[rank::size]:
                batch = collate([step[i] for i in part], self.policy.tokenizer.pad_token_id)
                batch = {key: value.to(self.accelerator.device) for key, value in batch.items()}
                batches.append({**batch, "rows": len(part), "share": share})
        with torch.no_grad():
            for batch in batches:
                if self.config.kl_coef:
                    with self._as_reference() as model:
                        batch["ref"] = self.log_probs(model, batch)[0]
                if self.config.old == "recomputed":
                    fresh = self.log_probs(self.model, batch)[0]
                    apart = (fresh - batch["old"]).abs()[batch["own"]]
                    self._note({"old_difference": self._ratio(float(apart.sum()), len(apart))})
                    batch["old"] = fresh
        return batches

    def _compute_loss(self, model: Any, inputs: Batch) -> Tensor:
        """Return the loss of a forward pass, a scalar (the formula of `grpo`).

        Of shape (B, T) are "ids", "attention", "own" (the agent's sampled tokens), "old" and "ref"
        (log-probabilities of the policy that sampled and of the reference) and "advantages".
        """
        config = self.config
        own, weight, width = inputs["own"], self._weight(inputs), self._width(inputs)
        logprobs, entropy = self.log_probs(model, inputs)
        policy = policy_loss(
            logprobs,
            inputs["old"],
            inputs["advantages"],
            own,
            clip_low=config.clip_low,
            clip_high=config.clip_high,
            dual_clip=config.dual_clip,
            aggregation=config.aggregation,
            width=width,
        )
        kl = k3_kl(logprobs, inputs["ref"], own) if "ref" in inputs else None
        loss = policy_objective(
            policy.loss,
            own,
            kl=kl,
            kl_coef=config.kl_coef,
            entropy=entropy if config.entropy_coef else None,
            entropy_coef=config.entropy_coef,
            aggregation=config.aggregation,
            width=width,
        )
        # The log takes the mean over passes, which are not of one size.
        passes = self.args.gradient_accumulation_steps
        share = passes * self.accelerator.num_processes * int(own.sum())
        share /= max(inputs["share"][0], 1)
        figures = {
            "policy_loss": float(policy.loss.detach()) * weight * passes,
            "ratio": float(policy.ratio) * share,
            "clipped": float(policy.clipped) * share,
            "dual_clipped": float(policy.dual_clipped) * share,
            "approx_kl": float(policy.approx_kl) * share,
            "entropy": float(_mean(entropy.detach(), own)) * share,
        }
        if kl is not None:
            figures["kl"] = float(_mean(kl.detach(), own)) * share
        values = torch.tensor(list(figures.values()), device=own.device)
        everyone = self.accelerator.reduce(values, "mean").tolist()
        self._note(dict(zip(figures, everyone, strict=True)))
        return loss * weight

    def log_probs(self, model: Any, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return log-probability and entropy of each own token, shape (B, T); 0 elsewhere."""
        ids, own = batch["ids"], batch["own"]
        labels = torch.cat([ids[:, :1], ids[:, 1:].masked_fill(~own, -100)], dim=1)
        with self.accelerator.autocast():
            output = model(
                input_ids=ids,
                attention_mask=batch["attention"],
                labels=labels,
                use_cache=False,
                fused_lm_head=True,
            )
        return output.log_probs, output.entropy

    def _weight(self, batch: Batch) -> float:
        """Return what a pass weighs, so that a step's passes sum to its mean over the whole step.

        The trainer sums over passes (`loss_is_scaled_for_ga`) and takes the mean over processes.
        """
        tokens, sequences = (float(n) for n in batch["share"])
        world = float(self.accelerator.num_processes)
        if self.config.aggregation == "token-mean":
            return world * float(batch["own"].sum()) / max(tokens, 1.0)
        if self.config.aggregation == "seq-mean-token-sum-norm":
            return world
        return world * float(batch["rows"]) / max(sequences, 1.0)

    def _width(self, batch: Batch) -> int | None:
        if self.config.aggregation != "seq-mean-token-sum-norm":
            return None
        longest = self.config.width or context_of(self.config.length, self.policy.context)
        return longest * max(int(batch["share"][1]), 1)

    @property
    def _global_step(self) -> int:
        return int(self.state.global_step)

    @property
    def _samplings(self) -> int:
        """How often the policy has played before."""
        return self._global_step // updates(self.config)

    def _note(self, figures: dict[str, float]) -> None:
        """Keep figures for the curve, the same in all processes."""
        for name, value in figures.items():
            self._metrics["train"][name].append(value)

    def _ratio(self, part: float, count: float) -> float:
        """Return a ratio over all processes, 0 where there is nothing to count."""
        parts, counts = zip(*self._team.share((part, count)), strict=True)
        return float(sum(parts) / (sum(counts) or 1))

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """Add what follows from several figures, and log."""
        kept = self._metrics["train"]
        clocks = ("idle_seconds", "attribution_environment_seconds")
        played = [seconds for name in clocks for seconds in kept.get(name, ())]
        if played and (taken := sum(kept.get("step_time", ()))):
            logs["idle_share"] = sum(played) / taken
        super().log(logs, start_time)

    @contextmanager
    def _sampling(self) -> Iterator[None]:
        """Let the engine play with the weights of the moment."""
        model, training = self.model, self.model.training
        if isinstance(self.engine, HFEngine):
            self.engine.forget()
        else:
            send_weights(self)
        model.eval()
        try:
            yield
        finally:
            model.train(training)

    @staticmethod
    def _frozen(policy: Policy, config: GRPOConfig) -> Any:
        """Return a copy of the model that stays as it is; None where an adapter can be put off."""
        if not config.kl_coef or hasattr(policy.model, "disable_adapter"):
            return None
        return copy.deepcopy(policy.model).eval().requires_grad_(False)

    @contextmanager
    def _as_reference(self) -> Iterator[Any]:
        if self._reference is not None:
            yield self._reference
            return
        model = self.accelerator.unwrap_model(self.model)
        training = model.training
        model.eval()
        with model.disable_adapter() if hasattr(model, "disable_adapter") else nullcontext():
            yield self.model
        model.train(training)


def _mean(values: Tensor, own: Tensor) -> Tensor:
    return values.masked_fill(~own, 0.0).sum() / own.sum().clamp(min=1)


def _unused(prompts: list[Any], **_: Any) -> list[float]:
    """Stand where TRL wants a reward; scores come from the environments."""
    return [0.0] * len(prompts)
