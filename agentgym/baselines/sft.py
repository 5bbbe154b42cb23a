"""Weighted likelihood on TRL's SFTTrainer: the learning step of BC and of AgentEvol.

    L = - sum over sequences i, tokens t of  w_it log pi(a_it | before)  /  N

w_it is 0 outside the replies that are learned; in them it is 1 for BC, and the trajectory's weight
for AgentEvol (arXiv 2406.04151). N is the number of learned tokens of the optimiser step, over all
its forward passes and processes, so neither padding, packing nor accumulation changes the loss.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from trl import SFTConfig, SFTTrainer
from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

from agentgym.baselines.attention import is_flash
from agentgym.baselines.config import RunConfig
from agentgym.baselines.examples import Row
from agentgym.baselines.losses import aggregate
from agentgym.baselines.model import Policy, calm
from agentgym.baselines.training import arguments
from agentgym.core.errors import InvalidConfig


def make_trainer(
    policy: Policy, rows: Sequence[Row], config: RunConfig, folder: Path
) -> WeightedSFT:
    """Return the trainer of some sequences, ready to be run."""
    settings = arguments(
        SFTConfig, config, folder, max_length=None, packing=False, shuffle_dataset=False
    )
    packed = config.optim.batching == "packed"
    collator = WeightedCollator(pad_token_id=policy.tokenizer.pad_token_id, padding_free=packed)
    if packed and not is_flash(config.model):
        require_apart(policy.model, collator)
    with calm():
        return WeightedSFT(
            model=policy.model,
            args=settings,
            train_dataset=Dataset.from_list([row._asdict() for row in rows]),
            processing_class=policy.tokenizer,
            data_collator=collator,
            grouped=config.optim.batching == "grouped",
        )


class WeightedCollator(DataCollatorForLanguageModeling):  # type: ignore[misc]
    """TRL's collator, with a loss weight a token beside the labels."""

    def torch_call(self, examples: list[dict[str, Any]]) -> dict[str, Any]:
        """Return a batch; packed, it is one row whose positions begin anew with each sequence."""
        batch: dict[str, Any] = super().torch_call(examples)
        weights = [torch.tensor(example["weights"]) for example in examples]
        if self.padding_free:
            weights = [torch.cat(weights)]
        batch["weights"] = torch.nn.utils.rnn.pad_sequence(weights, batch_first=True)
        return batch


def require_apart(model: Any, collator: WeightedCollator) -> None:
    """Require that a model keeps the sequences of a packed row apart.

    Flash attention is told where they begin and end; anything else has to see it from the
    positions, and a model that does not would have each sequence read those before it.

    Raises:
        InvalidConfig: naming what keeps them apart.
    """
    ids = [list(range(1, 7)), list(range(7, 11))]
    rows = [{"input_ids": row, "labels": row, "weights": [1.0] * len(row)} for row in ids]
    training = model.training
    model.eval()
    with torch.no_grad():
        alone, packed = (_logits(model, collator(some))[:, -4:] for some in (rows[1:], rows))
    model.train(training)
    if not torch.allclose(alone, packed, rtol=1e-2, atol=1e-2 * float(alone.abs().max())):
        raise InvalidConfig(
            "this model lets the sequences of a packed row read each other: set optim.batching to "
            "grouped, or model.attention to flash_attention_2"
        )


def _logits(model: Any, batch: dict[str, Any]) -> torch.Tensor:
    """Return what a model makes of a batch, as it is learned."""
    inputs = {k: v for k, v in batch.items() if k not in ("labels", "weights")}
    device = next(model.parameters()).device
    inputs = {k: v.to(device) if isinstance(v, torch.Tensor) else v for k, v in inputs.items()}
    logits: torch.Tensor = model(**inputs, use_cache=False).logits
    return logits.float()


class WeightedSFT(SFTTrainer):  # type: ignore[misc]
    """TRL's trainer with a weighted loss.

    Args:
        grouped: whether batches hold sequences of like length.
        options: what TRL's trainer takes.
    """

    def __init__(self, *, grouped: bool = False, **options: Any) -> None:
        self._grouped = grouped
        super().__init__(**options)

    def _set_signature_columns_if_needed(self) -> None:
        self._signature_columns = ["input_ids", "labels", "weights"]

    def _get_train_sampler(self, train_dataset: Any = None) -> Any:
        if not self._grouped:
            return super()._get_train_sampler(train_dataset)
        dataset = train_dataset if train_dataset is not None else self.train_dataset
        lengths = [len(ids) for ids in dataset["input_ids"]]
        size = self.args.per_device_train_batch_size * self.args.world_size
        return GroupedSampler(lengths, size, self.args.seed)

    def compute_loss(
        self,
        model: Any,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: Any = None,
    ) -> Any:
        """Return the weighted loss of a batch, a scalar (the formula at the top of this file).

        `inputs` has "input_ids", "labels" and "weights" of shape (B, T), R(tau) on the agent's own
        tokens that are learned and 0 elsewhere; N is `num_items_in_batch`, those of the whole
        optimiser step.
        """
        inputs = dict(inputs)
        weights = inputs.pop("weights")[:, 1:]
        if self._needs_no_mask(inputs.get("attention_mask")):
            del inputs["attention_mask"]
        outputs = model(**inputs, use_cache=False, fused_lm_head=True)
        mask = outputs.label_mask
        count = mask.sum() if num_items_in_batch is None else num_items_in_batch
        # The sum over N: token-mean, but over the whole step, of which this pass may be a part.
        loss = aggregate(-weights * outputs.log_probs, mask, "seq-mean-token-sum-norm", width=count)
        if self.args.average_tokens_across_devices and num_items_in_batch is not None:
            loss = loss * self.accelerator.num_processes  # gradients are averaged over processes
        correct = outputs.is_top1.sum() / mask.sum().clamp(min=1)
        self._metrics["train" if model.training else "eval"]["mean_token_accuracy"].append(
            correct.item()
        )
        return (loss, outputs) if return_outputs else loss

    def _needs_no_mask(self, mask: torch.Tensor | None) -> bool:
        """Return whether padding stands at the right ends, where no token looks, and is dear.

        A mixture of experts counts the tokens each expert is given and needs to know them.
        """
        if mask is None or getattr(self.model.config, "output_router_logits", False):
            return False
        return bool((mask[:, 1:] <= mask[:, :-1]).all())


class GroupedSampler(torch.utils.data.Sampler[int]):  # type: ignore[misc]
    """Shuffles sequences so that those of a batch are of like length.

    The order follows from the seed and the epoch alone, so a run taken up again meets the same
    batches.

    Args:
        lengths: tokens of each sequence.
        size: sequences of a batch.
        seed: decides the order.
    """

    def __init__(self, lengths: Sequence[int], size: int, seed: int) -> None:
        self.lengths, self.size, self.seed, self.epoch = list(lengths), size, seed, 0

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of an epoch."""
        self.epoch = epoch

    def __len__(self) -> int:
        return len(self.lengths)

    def __iter__(self) -> Iterator[int]:
        generator = torch.Generator().manual_seed(self.seed * 1_000_003 + self.epoch)
        order: list[int] = torch.randperm(len(self.lengths), generator=generator).tolist()
        pool = self.size * 50  # long enough to find like lengths, short enough to stay random
        batches: list[list[int]] = []
        for begin in range(0, len(order), pool):
            like = sorted(order[begin : begin + pool], key=lambda i: -self.lengths[i])
            batches += [like[i : i + self.size] for i in range(0, len(like), self.size)]
        # A last batch that is not full stays last, so that the others keep their bounds.
        full = [b for b in batches if len(b) == self.size]
        rest = [b for b in batches if len(b) < self.size]
        for i in torch.randperm(len(full), generator=generator).tolist():
            yield from full[i]
        for batch in rest:
            yield from batch
