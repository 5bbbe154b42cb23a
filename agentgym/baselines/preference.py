"""DPO over several turns, on TRL's DPOTrainer.

    L = - log sigmoid( beta [ (log pi - log pi_ref)(chosen) - (log pi - log pi_ref)(rejected) ] )

(arXiv 2305.18290.) A side's log-probability is the sum over the agent's own tokens. TRL counts
every token after the prompt, the environment's answers among them; the masks here are the ones
BC learns by, so what the environment said is neither praised nor blamed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from datasets import Dataset
from trl import DPOConfig as TrlConfig
from trl import DPOTrainer
from trl.trainer.dpo_trainer import DataCollatorForPreference

from agentgym.baselines.chat import Encoded
from agentgym.baselines.config import RunConfig
from agentgym.baselines.dropout import without_dropout
from agentgym.baselines.model import Policy, calm
from agentgym.baselines.training import arguments


class PairRow(NamedTuple):
    """One pair for the trainer.

    Attributes:
        prompt_ids: the tokens both sides begin with.
        chosen_ids: what follows on the better side.
        rejected_ids: what follows on the worse side.
        chosen_mask: 1 for the agent's own tokens of `chosen_ids`.
        rejected_mask: 1 for the agent's own tokens of `rejected_ids`.
    """

    prompt_ids: list[int]
    chosen_ids: list[int]
    rejected_ids: list[int]
    chosen_mask: list[int]
    rejected_mask: list[int]


def pair_row(chosen: Encoded, rejected: Encoded) -> PairRow:
    """Return two conversations that begin alike as a pair.

    Args:
        chosen: the preferred one, as tokens with a weight each.
        rejected: the other.

    Returns:
        The tokens both begin with, and of each side the tokens after these with a mask that is 1 on
        the agent's own and 0 on the environment's; lists of that side's length.

    Raises:
        ValueError: if their prompts differ.
    """
    # A side whose first replies are not learned begins with them, unlearned.
    start = min(chosen.spans[0].start, rejected.spans[0].start)
    prompt = chosen.input_ids[:start]
    if rejected.input_ids[:start] != prompt:
        raise ValueError("the two sides of a pair have different prompts")
    sides = (chosen, rejected)
    ids = [list(side.input_ids[start:]) for side in sides]
    masks = [[int(weight > 0) for weight in side.weights[start:]] for side in sides]
    return PairRow(list(prompt), ids[0], ids[1], masks[0], masks[1])


class TurnsCollator(DataCollatorForPreference):  # type: ignore[misc]
    """TRL's collator, with the environment's tokens taken out of the completions."""

    def torch_call(self, examples: list[dict[str, Any]]) -> dict[str, Any]:
        """Return a batch: the chosen sides, then the rejected ones.

        Args:
            examples: B pairs, the fields of `PairRow`.

        Returns:
            Tensors of shape (2B, T), of the longest pair's tokens T; `completion_mask` is 1 on the
            agent's own tokens, and DPO's log-probabilities are sums over these.
        """
        batch: dict[str, Any] = super().torch_call(examples)
        masks = [e["chosen_mask"] for e in examples] + [e["rejected_mask"] for e in examples]
        starts = [len(example["prompt_ids"]) for example in examples] * 2
        own = torch.zeros_like(batch["completion_mask"])
        for i, (mask, start) in enumerate(zip(masks, starts, strict=True)):
            own[i, start : start + len(mask)] = torch.tensor(mask)
        batch["completion_mask"] = batch["completion_mask"] * own
        return batch


class TurnsDPO(DPOTrainer):  # type: ignore[misc]
    """TRL's trainer on pairs that are tokens already."""

    def _prepare_dataset(self, dataset: Any, *_: Any, **__: Any) -> Any:
        return dataset

    def _set_signature_columns_if_needed(self) -> None:
        self._signature_columns = [*PairRow._fields, "ref_chosen_logps", "ref_rejected_logps"]


def make_trainer(
    policy: Policy,
    reference: Policy | None,
    rows: Sequence[PairRow],
    config: RunConfig,
    folder: Path,
    *,
    beta: float,
    sft_weight: float = 0.0,
) -> TurnsDPO:
    """Return the trainer of some pairs, ready to be run.

    Args:
        policy: what is trained.
        reference: pi_ref; None for a policy with an adapter, without which it is the reference.
        rows: the pairs.
        config: the settings of the optimiser.
        folder: the run's folder.
        beta: how dear it is to move away from the reference.
        sft_weight: weight of the chosen side's likelihood beside DPO's loss.
    """
    losses = ["sigmoid", "sft"] if sft_weight else ["sigmoid"]
    weights = [1.0, sft_weight] if sft_weight else [1.0]
    settings = arguments(TrlConfig, config, folder, beta=beta, max_length=None, loss_type=losses,
                         loss_weights=weights, disable_dropout=True)  # fmt: skip
    for of in (policy, reference):
        if of is not None:
            without_dropout(of.model)
    with calm():
        return TurnsDPO(
            model=policy.model,
            ref_model=reference.model if reference else None,
            args=settings,
            train_dataset=Dataset.from_list([row._asdict() for row in rows]),
            processing_class=policy.tokenizer,
            data_collator=TurnsCollator(pad_token_id=policy.tokenizer.pad_token_id),
        )
