"""The losses of all trainers, as functions of log-probabilities.

GRPO and ADCA-GRPO call `policy_loss`, `k3_kl`, `aggregate` and `policy_objective` in
`policy_trainer`. BC and AgentEvol call `aggregate` in `sft`, with weights a token, of which
`weighted_likelihood_loss` is the case of a weight a sequence. DPO's training calls TRL's own loss
on the masks of `preference`; `dpo_loss` is the formula, which a test holds that loss against.

Nothing here knows a model, a batch layout or a trainer: what comes in are tensors over (sequences,
tokens) and a mask that says which tokens are the agent's own. What a masked token holds, be it an
infinity or a NaN, never reaches a loss or a gradient. The module needs torch; nothing in agentgym
imports it before a trainer starts.

Shapes: B sequences of T tokens each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from agentgym.core.errors import InvalidConfig, did_you_mean

Aggregation = Literal[
    "token-mean", "seq-mean-token-sum", "seq-mean-token-mean", "seq-mean-token-sum-norm"
]

LOG_RATIO = 20.0
"""Log-ratios are held within this, or their exponentials overflow; far beyond any clip."""


@dataclass(frozen=True, slots=True)
class PolicyLoss:
    """A clipped policy loss and what to watch about it; the figures carry no gradient.

    Attributes:
        loss: the scalar to minimise.
        ratio: mean ratio of the new policy to the old.
        clipped: share of the tokens whose gradient is cut by the clip.
        dual_clipped: share of the tokens cut by the dual clip.
        approx_kl: mean of log(old / new), verl's `ppo_kl`.
    """

    loss: Tensor
    ratio: Tensor
    clipped: Tensor
    dual_clipped: Tensor
    approx_kl: Tensor


@dataclass(frozen=True, slots=True)
class DpoLoss:
    """A DPO loss and what to watch about it; the figures carry no gradient.

    Attributes:
        loss: the scalar to minimise.
        chosen_reward: mean of beta log(policy / reference) of the chosen replies.
        rejected_reward: the same of the rejected ones.
        accuracy: share of the pairs whose chosen side has the larger reward.
    """

    loss: Tensor
    chosen_reward: Tensor
    rejected_reward: Tensor
    accuracy: Tensor


def token_logprobs(logits: Tensor, token_ids: Tensor) -> Tensor:
    """Return the log-probability of each token.

    Args:
        logits: shape (B, T, V), already shifted: `logits[:, t]` predicts `token_ids[:, t]`.
        token_ids: shape (B, T).

    Returns:
        Shape (B, T).
    """
    chosen = logits.gather(-1, token_ids.unsqueeze(-1)).squeeze(-1)
    return chosen - torch.logsumexp(logits, dim=-1)


def token_entropy(logits: Tensor) -> Tensor:
    """Return the entropy of each next-token distribution in nats, shape (B, T).

    H = -sum over v of p_v log p_v; a forbidden token (logit of minus infinity) adds nothing.
    """
    logs = torch.log_softmax(logits, dim=-1)
    chances = logs.exp()
    return -(chances * logs.masked_fill(chances == 0, 0.0)).sum(-1)


def aggregate(
    values: Tensor,
    mask: Tensor,
    mode: Aggregation = "token-mean",
    width: int | None = None,
) -> Tensor:
    """Return the mean of what tokens hold, in one of verl's four ways (its `agg_loss`).

    token-mean:              sum over all own tokens / number of own tokens
    seq-mean-token-sum:      mean over sequences of the sum over own tokens
    seq-mean-token-mean:     mean over sequences of the mean over own tokens
    seq-mean-token-sum-norm: sum over all own tokens / width (Dr. GRPO's constant)

    A sequence without own tokens counts as zero in the sums and is left out of
    seq-mean-token-mean; a batch without own tokens gives zero, with a gradient of zero.

    Args:
        values: shape (B, T).
        mask: 1 (or True) for the agent's own tokens, shape (B, T).
        mode: how.
        width: seq-mean-token-sum-norm: the divisor; default T, as in verl, which changes with the
            padding of a batch.
    """
    own = mask.bool()
    kept = values.masked_fill(~own, 0.0)
    if mode == "token-mean":
        return kept.sum() / own.sum().clamp(min=1)
    if mode == "seq-mean-token-sum":
        return kept.sum(-1).mean()
    if mode == "seq-mean-token-mean":
        counts = own.sum(-1)
        means = kept.sum(-1) / counts.clamp(min=1)
        return means.sum() / (counts > 0).sum().clamp(min=1)
    if mode == "seq-mean-token-sum-norm":
        return kept.sum() / (width or values.shape[-1])
    raise InvalidConfig(
        f"unknown aggregation {mode!r}. {did_you_mean(mode, get_args(Aggregation))}"
    )


def policy_loss(
    logprobs: Tensor,
    old_logprobs: Tensor,
    advantages: Tensor,
    mask: Tensor,
    *,
    clip_low: float = 0.2,
    clip_high: float | Tensor = 0.28,
    dual_clip: float | None = 3.0,
    aggregation: Aggregation = "token-mean",
    width: int | None = None,
) -> PolicyLoss:
    """Return PPO's clipped loss, with separate clips and the dual clip.

    rho = exp(log pi - log pi_old)
    L = max(-A rho, -A clamp(rho, 1 - clip_low, 1 + clip_high))
    where A < 0: L = min(L, -A dual_clip)
    (AgentEvolver, `het_core_algos.py`; its defaults, which are not its paper's: the paper clips
    at 0.28 on both sides.)

    Args:
        logprobs: of the sampled tokens under the policy that is trained, shape (B, T).
        old_logprobs: of the same tokens under the policy that sampled them, shape (B, T).
        advantages: one a sequence (B,) or one a token (B, T).
        mask: 1 for the agent's own tokens, shape (B, T).
        clip_low: how far below 1 the ratio counts.
        clip_high: how far above 1; a tensor of shape (B, T) clips each token by its own bound, as
            for tokens that another policy wrote (0.6 in AgentEvolver).
        dual_clip: bound of the loss for negative advantages, above 1; None leaves it out.
        aggregation: see `aggregate`.
        width: see `aggregate`.
    """
    own = mask.bool()
    if advantages.dim() == 1:
        advantages = advantages.unsqueeze(-1)
    advantages = advantages.expand_as(logprobs).masked_fill(~own, 0.0)
    shift = _log_ratio(logprobs, old_logprobs, own)
    ratio = shift.exp()
    free = -advantages * ratio
    clipped = -advantages * _clamp(ratio, 1.0 - clip_low, 1.0 + clip_high)
    losses = torch.maximum(free, clipped)
    cut = clipped > free
    dual = torch.zeros_like(cut)
    if dual_clip is not None:
        bound = -advantages * dual_clip
        dual = (advantages < 0) & (losses > bound)
        losses = torch.where(dual, bound, losses)
    with torch.no_grad():
        figures = [aggregate(values.to(ratio.dtype), own) for values in (ratio, cut, dual, -shift)]
    return PolicyLoss(aggregate(losses, own, aggregation, width), *figures)


def k3_kl(logprobs: Tensor, ref_logprobs: Tensor, mask: Tensor) -> Tensor:
    """Return the k3 estimate of KL(policy || reference) at each token, shape (B, T), at least 0.

    k3 = r - log r - 1 with log r = log pi_ref - log pi (Schulman's estimator; verl's
    `low_var_kl`, without its clamp of the result, which would end the gradient).
    """
    shift = _log_ratio(ref_logprobs, logprobs, mask.bool())
    return shift.exp() - shift - 1.0


def policy_objective(
    policy: Tensor,
    mask: Tensor,
    *,
    kl: Tensor | None = None,
    kl_coef: float = 0.001,
    entropy: Tensor | None = None,
    entropy_coef: float = 0.0,
    aggregation: Aggregation = "token-mean",
    width: int | None = None,
) -> Tensor:
    """Return policy loss + kl_coef * KL - entropy_coef * H (AgentEvolver, `het_actor.py`).

    Args:
        policy: the scalar of `policy_loss`.
        mask: 1 for the agent's own tokens, shape (B, T).
        kl: what `k3_kl` gives, shape (B, T); None leaves the term out.
        kl_coef: its weight.
        entropy: what `token_entropy` gives, shape (B, T); None leaves the term out.
        entropy_coef: its weight.
        aggregation: how KL and entropy are averaged; see `aggregate`.
        width: see `aggregate`.
    """
    total = policy
    if kl is not None and kl_coef:
        total = total + kl_coef * aggregate(kl, mask, aggregation, width)
    if entropy is not None and entropy_coef:
        total = total - entropy_coef * aggregate(entropy, mask, aggregation, width)
    return total


def weighted_likelihood_loss(
    logprobs: Tensor,
    mask: Tensor,
    weights: Tensor,
    aggregation: Aggregation = "token-mean",
    width: int | None = None,
) -> Tensor:
    """Return the reward-weighted negative log-likelihood of AgentEvol.

    L = - sum_i w_i sum_t m_it log pi_it / N   (AgentGym, arXiv 2406.04151, the learning step of
    AgentEvol: expected reward times log-likelihood; BC is w = 1.)

    N is what `aggregation` divides by, and does not depend on the weights: of two batches with
    the same tokens, the one with half the reward has half the gradient. With binary weights and
    token-mean, a failure therefore adds nothing above the line and its tokens below it; drop
    failures from the batch where that is not wanted.

    Args:
        logprobs: of the tokens under the policy that is trained, shape (B, T).
        mask: 1 for the tokens to imitate, shape (B, T).
        weights: w of each sequence, at least 0: its reward, or 1 and 0; shape (B,).
        aggregation: see `aggregate`.
        width: see `aggregate`.
    """
    likelihood = logprobs.masked_fill(~mask.bool(), 0.0)
    return -aggregate(weights.unsqueeze(-1) * likelihood, mask, aggregation, width)


def sequence_logprobs(logprobs: Tensor, mask: Tensor) -> Tensor:
    """Return the log-probability of each sequence's own tokens together, shape (B,)."""
    return logprobs.masked_fill(~mask.bool(), 0.0).sum(-1)


def dpo_loss(
    chosen: Tensor,
    rejected: Tensor,
    ref_chosen: Tensor,
    ref_rejected: Tensor,
    beta: float = 0.5,
) -> DpoLoss:
    """Return DPO's sigmoid loss, averaged over pairs.

    L = -log sigmoid(beta ((chosen - ref_chosen) - (rejected - ref_rejected)))
    (arXiv 2305.18290, equation 7; beta 0.5 is AgentGym's setting.)

    Args:
        chosen: log-probabilities of the chosen sequences under the policy, shape (B,), from
            `sequence_logprobs`: only the agent's turns count.
        rejected: of the rejected sequences.
        ref_chosen: of the chosen sequences under the reference.
        ref_rejected: of the rejected sequences under the reference.
        beta: how dear it is to leave the reference.
    """
    chosen_reward = beta * (chosen - ref_chosen)
    rejected_reward = beta * (rejected - ref_rejected)
    margin = chosen_reward - rejected_reward
    return DpoLoss(
        -torch.nn.functional.logsigmoid(margin).mean(),
        chosen_reward.detach().mean(),
        rejected_reward.detach().mean(),
        (margin > 0).to(margin.dtype).mean(),
    )


def _log_ratio(over: Tensor, under: Tensor, own: Tensor) -> Tensor:
    """Return log(over / under) of the own tokens, held within `LOG_RATIO`; 0 elsewhere."""
    shift = over.masked_fill(~own, 0.0) - under.masked_fill(~own, 0.0)
    return shift.clamp(-LOG_RATIO, LOG_RATIO)


def _clamp(ratio: Tensor, low: float, high: float | Tensor) -> Tensor:
    if isinstance(high, Tensor):
        return torch.minimum(ratio.clamp(min=low), high.expand_as(ratio))
    return ratio.clamp(low, high)
