"""Trajectories as tensors: what the loss of GRPO and ADCA-GRPO takes.

A row is an episode from its first token to the last that was sampled. Rows of a batch are padded on
the right, so that positions are those the policy sampled at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike

from agentgym.baselines.advantage import to_tokens
from agentgym.baselines.sampling import Trajectory

Batch = dict[str, Any]


class TokenRow(NamedTuple):
    """A trajectory, as the loss takes it; all of one length.

    Attributes:
        ids: all tokens, the prompt's first.
        own: whether the policy chose the token.
        advantages: of each token, 0 where the policy chose nothing.
        old: log-probability of each token when it was sampled.
    """

    ids: list[int]
    own: list[bool]
    advantages: list[float]
    old: list[float]


def token_row(trajectory: Trajectory, advantages: ArrayLike) -> TokenRow:
    """Return a trajectory with the advantage of each of its tokens.

    Args:
        trajectory: the episode as tokens.
        advantages: of each round, shape (K,).
    """
    prompt = len(trajectory.prompt_ids)
    spread = to_tokens([advantages], np.array([trajectory.step_ids], dtype=np.int64))[0]
    return TokenRow(
        ids=[*trajectory.prompt_ids, *trajectory.completion_ids],
        own=[False] * prompt + list(trajectory.mask),
        advantages=[0.0] * prompt + spread.tolist(),
        old=[0.0] * prompt + list(trajectory.logprobs),
    )


def collate(rows: Sequence[TokenRow], pad: int) -> Batch:
    """Return rows as tensors, padded on the right.

    Returns:
        `ids` and `attention` of shape (B, T + 1); `own`, `advantages` and `old` of shape (B, T),
        of the tokens from the second on, as a model predicts them. No rows give one without own
        tokens, so that every process has something to compute.
    """
    rows = rows or [TokenRow([pad, pad], [False] * 2, [0.0] * 2, [0.0] * 2)]
    width = max(len(row.ids) for row in rows)

    def padded(values: list[Any], fill: Any) -> list[Any]:
        return values + [fill] * (width - len(values))

    return {
        "ids": torch.tensor([padded(row.ids, pad) for row in rows]),
        "attention": torch.tensor([padded([1] * len(row.ids), 0) for row in rows]),
        "own": torch.tensor([padded(row.own, False) for row in rows])[:, 1:],
        "advantages": torch.tensor([padded(row.advantages, 0.0) for row in rows])[:, 1:],
        "old": torch.tensor([padded(row.old, 0.0) for row in rows])[:, 1:],
    }
