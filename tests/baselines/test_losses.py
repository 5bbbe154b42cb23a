"""The losses against loops in float64 written from the formulas, and against finite differences."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentgym.core.errors import InvalidConfig

pytest.importorskip("torch")

import torch

from agentgym.baselines.losses import (
    aggregate,
    dpo_loss,
    k3_kl,
    policy_loss,
    policy_objective,
    sequence_logprobs,
    token_entropy,
    token_logprobs,
    weighted_likelihood_loss,
)

MODES = ["token-mean", "seq-mean-token-sum", "seq-mean-token-mean", "seq-mean-token-sum-norm"]
modes = st.sampled_from(MODES)
shapes = st.tuples(st.integers(1, 4), st.integers(1, 5))
Array = Any


@st.composite
def batches(draw: st.DrawFn) -> tuple[np.random.Generator, int, int, Array]:
    """A generator for values, a shape, and a mask of any pattern."""
    rows, width = draw(shapes)
    bits = draw(st.lists(st.booleans(), min_size=rows * width, max_size=rows * width))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return rng, rows, width, np.array(bits).reshape(rows, width)


def tensor(array: Array, grad: bool = False) -> Any:
    return torch.tensor(np.asarray(array, dtype=np.float64), requires_grad=grad)


def slow_aggregate(values: Array, mask: Array, mode: str, width: int | None = None) -> float:
    sums, counts = [], []
    for row, own in zip(values, mask, strict=True):
        kept = [float(v) for v, m in zip(row, own, strict=True) if m]
        sums.append(math.fsum(kept))
        counts.append(len(kept))
    if mode == "token-mean":
        return math.fsum(sums) / max(1, sum(counts))
    if mode == "seq-mean-token-sum":
        return math.fsum(sums) / len(sums)
    if mode == "seq-mean-token-mean":
        means = [s / c for s, c in zip(sums, counts, strict=True) if c]
        return math.fsum(means) / max(1, len(means))
    return math.fsum(sums) / (width or len(values[0]))


def slow_policy(
    new: Array, old: Array, adv: Array, mask: Array, low: float, high: Array, dual: float | None
) -> Array:
    losses = np.zeros(new.shape)
    for i in range(new.shape[0]):
        for t in range(new.shape[1]):
            if not mask[i, t]:
                continue
            rho, a = math.exp(new[i, t] - old[i, t]), adv[i, t]
            bounded = min(max(rho, 1 - low), 1 + high[i, t])
            loss = max(-a * rho, -a * bounded)
            if a < 0 and dual is not None:
                loss = min(-a * dual, loss)
            losses[i, t] = loss
    return losses


@given(batches(), modes, st.sampled_from([None, 7]))
def test_aggregation(batch: Any, mode: Any, width: int | None) -> None:
    rng, rows, columns, mask = batch
    values = rng.normal(size=(rows, columns))
    got = aggregate(tensor(values), torch.tensor(mask), mode, width)
    assert got.item() == pytest.approx(slow_aggregate(values, mask, mode, width), abs=1e-12)


@given(
    batches(), modes, st.sampled_from([0.0, 0.2]), st.sampled_from([0.28, 0.6]),
    st.sampled_from([3.0, 1.5, None]), st.booleans(),
)  # fmt: skip
def test_policy_loss(
    batch: Any, mode: Any, low: float, high: float, dual: float | None, by_token: bool
) -> None:
    rng, rows, columns, mask = batch
    new, old = -rng.exponential(1.5, size=(2, rows, columns))
    adv = rng.normal(size=(rows, columns) if by_token else rows) * 2
    bound = rng.choice([high, 0.1], size=(rows, columns))
    got = policy_loss(
        tensor(new), tensor(old), tensor(adv), torch.tensor(mask),
        clip_low=low, clip_high=tensor(bound), dual_clip=dual, aggregation=mode,
    )  # fmt: skip
    full = adv if by_token else np.repeat(adv[:, None], columns, axis=1)
    losses = slow_policy(new, old, full, mask, low, bound, dual)
    assert got.loss.item() == pytest.approx(slow_aggregate(losses, mask, mode), abs=1e-9)
    shifts = (new - old)[mask]
    if mask.any():
        assert got.approx_kl.item() == pytest.approx(float(np.mean(-shifts)), abs=1e-9)
        assert got.ratio.item() == pytest.approx(float(np.mean(np.exp(shifts))), abs=1e-9)
        assert 0.0 <= got.clipped.item() + got.dual_clipped.item() <= 1.0


def test_a_clip_of_one_number_is_the_clip_of_every_token() -> None:
    rng = np.random.default_rng(0)
    new, old = -rng.exponential(size=(2, 3, 4))
    arguments = (tensor(new), tensor(old), tensor([1.0, -1.0, 0.5]), torch.ones(3, 4))
    one = policy_loss(*arguments, clip_high=0.28)
    every = policy_loss(*arguments, clip_high=torch.full((3, 4), 0.28, dtype=torch.float64))
    assert one.loss.item() == pytest.approx(every.loss.item(), abs=1e-12)


@pytest.mark.parametrize(
    ("advantage", "ratio", "loss", "slope"),
    [
        (1.0, 1.1, -1.1, -1.1),  # inside: the plain policy gradient
        (1.0, 1.5, -1.28, 0.0),  # above: cut
        (1.0, 0.5, -0.5, -0.5),  # below, and wanted back: not cut
        (-1.0, 0.5, 0.8, 0.0),  # below: cut
        (-1.0, 2.0, 2.0, 2.0),  # above, and wanted back: not cut
        (-1.0, 9.0, 3.0, 0.0),  # far above: the dual clip
    ],
)
def test_each_side_of_the_clip(advantage: float, ratio: float, loss: float, slope: float) -> None:
    new = tensor([[math.log(ratio)]], grad=True)
    got = policy_loss(new, tensor([[0.0]]), tensor([advantage]), torch.ones(1, 1))
    got.loss.backward()
    assert got.loss.item() == pytest.approx(loss)
    assert new.grad.item() == pytest.approx(slope)
    cut = got.clipped.item() + got.dual_clipped.item()
    assert cut == (1.0 if slope == 0.0 else 0.0)


@given(batches())
def test_k3(batch: Any) -> None:
    rng, rows, columns, mask = batch
    new, ref = -rng.exponential(size=(2, rows, columns))
    got = k3_kl(tensor(new), tensor(ref), torch.tensor(mask)).numpy()
    for i in range(rows):
        for t in range(columns):
            log_r = ref[i, t] - new[i, t]
            wanted = math.exp(log_r) - log_r - 1 if mask[i, t] else 0.0
            assert got[i, t] == pytest.approx(wanted, abs=1e-12)
    assert (got >= 0).all()


@given(batches(), modes, st.sampled_from([0.0, 0.001, 0.5]), st.sampled_from([0.0, 0.01]))
def test_objective(batch: Any, mode: Any, kl_coef: float, entropy_coef: float) -> None:
    rng, rows, columns, mask = batch
    kl, entropy = rng.exponential(size=(2, rows, columns))
    got = policy_objective(
        tensor(0.3), torch.tensor(mask), kl=tensor(kl), kl_coef=kl_coef, entropy=tensor(entropy),
        entropy_coef=entropy_coef, aggregation=mode,
    )  # fmt: skip
    wanted = (
        0.3
        + kl_coef * slow_aggregate(kl, mask, mode)
        - entropy_coef * slow_aggregate(entropy, mask, mode)
    )
    assert got.item() == pytest.approx(wanted, abs=1e-12)
    assert policy_objective(tensor(0.3), torch.tensor(mask)).item() == 0.3


@given(shapes, st.integers(2, 5), st.integers(0, 2**32))
def test_token_logprobs_and_entropy(shape: tuple[int, int], vocabulary: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(*shape, vocabulary)) * 3
    ids = rng.integers(vocabulary, size=shape)
    got = token_logprobs(tensor(logits), torch.tensor(ids)).numpy()
    entropies = token_entropy(tensor(logits)).numpy()
    for i in range(shape[0]):
        for t in range(shape[1]):
            weights = [math.exp(x) for x in logits[i, t]]
            chances = [w / math.fsum(weights) for w in weights]
            assert got[i, t] == pytest.approx(math.log(chances[ids[i, t]]), abs=1e-9)
            wanted = -math.fsum(p * math.log(p) for p in chances)
            assert entropies[i, t] == pytest.approx(wanted, abs=1e-9)


def test_entropy_with_a_forbidden_token() -> None:
    logits = tensor([[[0.0, 0.0, -math.inf]]], grad=True)
    entropy = token_entropy(logits)
    entropy.sum().backward()
    assert entropy.item() == pytest.approx(math.log(2))
    assert torch.isfinite(logits.grad).all()


@given(batches(), modes, st.booleans())
def test_weighted_likelihood(batch: Any, mode: Any, binary: bool) -> None:
    rng, rows, columns, mask = batch
    logprobs = -rng.exponential(size=(rows, columns))
    weights = rng.integers(2, size=rows).astype(float) if binary else rng.random(rows)
    got = weighted_likelihood_loss(tensor(logprobs), torch.tensor(mask), tensor(weights), mode)
    losses = [[-w * x for x in row] for w, row in zip(weights, logprobs, strict=True)]
    assert got.item() == pytest.approx(slow_aggregate(losses, mask, mode), abs=1e-12)


def test_weights_of_one_are_behavioural_cloning() -> None:
    logits = torch.randn(2, 3, 5, generator=torch.Generator().manual_seed(0)).double()
    ids, mask = torch.tensor([[1, 2, 3], [0, 4, 1]]), torch.tensor([[1, 1, 0], [0, 1, 0]])
    ours = weighted_likelihood_loss(token_logprobs(logits, ids), mask, torch.ones(2).double())
    labels = ids.masked_fill(mask == 0, -100)
    theirs = torch.nn.functional.cross_entropy(logits.reshape(-1, 5), labels.reshape(-1))
    assert ours.item() == pytest.approx(theirs.item())


@given(st.integers(1, 5), st.sampled_from([0.1, 0.5]), st.integers(0, 2**32))
def test_dpo(pairs: int, beta: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    logprobs = -rng.exponential(size=(4, pairs, 6))
    masks = rng.random((2, pairs, 6)) < 0.5
    sums = [
        sequence_logprobs(tensor(x), torch.tensor(masks[i % 2])) for i, x in enumerate(logprobs)
    ]
    got = dpo_loss(*sums, beta=beta)
    plain = [
        [
            math.fsum(float(v) for v, m in zip(row, own, strict=True) if m)
            for row, own in zip(logprobs[i], masks[i % 2], strict=True)
        ]
        for i in range(4)
    ]
    losses, won = [], 0
    for chosen, rejected, ref_chosen, ref_rejected in zip(*plain, strict=True):
        margin = beta * ((chosen - ref_chosen) - (rejected - ref_rejected))
        losses.append(math.log1p(math.exp(-margin)))
        won += margin > 0
    assert got.loss.item() == pytest.approx(math.fsum(losses) / pairs, abs=1e-9)
    assert got.accuracy.item() == pytest.approx(won / pairs)
    wanted = beta * (np.array(plain[0]) - np.array(plain[2])).mean()
    assert got.chosen_reward.item() == pytest.approx(wanted, abs=1e-9)
    assert not got.chosen_reward.requires_grad


# Gradients, by finite differences in float64 on small tensors.

MASK = torch.tensor([[1, 1, 0], [0, 1, 1]])


def leaf(seed: int, *shape: int) -> Any:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64).requires_grad_()


@pytest.mark.parametrize("mode", MODES)
def test_gradient_of_the_whole_objective(mode: Any) -> None:
    ids = torch.tensor([[1, 0, 2], [2, 2, 1]])
    old, ref = (token_logprobs(leaf(s, 2, 3, 4), ids).detach() for s in (1, 2))

    def objective(logits: Any) -> Any:
        logprobs = token_logprobs(logits, ids)
        policy = policy_loss(logprobs, old, torch.tensor([[2.0], [-1.0]]), MASK, aggregation=mode)
        return policy_objective(
            policy.loss, MASK, kl=k3_kl(logprobs, ref, MASK), kl_coef=0.1,
            entropy=token_entropy(logits), entropy_coef=0.05, aggregation=mode,
        )  # fmt: skip

    assert torch.autograd.gradcheck(objective, (leaf(3, 2, 3, 4),))


@pytest.mark.parametrize("mode", MODES)
def test_gradient_of_weighted_likelihood(mode: Any) -> None:
    weights = torch.tensor([0.25, 1.0], dtype=torch.float64)
    assert torch.autograd.gradcheck(
        lambda x: weighted_likelihood_loss(x, MASK, weights, mode), (leaf(4, 2, 3),)
    )


def test_gradient_of_dpo() -> None:
    ref = [leaf(s, 2).detach() for s in (5, 6)]

    def loss(chosen: Any, rejected: Any) -> Any:
        sums = sequence_logprobs(chosen, MASK), sequence_logprobs(rejected, 1 - MASK)
        return dpo_loss(*sums, *ref).loss

    assert torch.autograd.gradcheck(loss, (leaf(7, 2, 3), leaf(8, 2, 3)))


@settings(max_examples=30)
@given(batches(), modes, st.sampled_from([math.nan, math.inf, -math.inf]))
def test_what_is_masked_never_gets_through(batch: Any, mode: Any, poison: float) -> None:
    rng, rows, columns, mask = batch
    clean = -rng.exponential(size=(3, rows, columns))
    dirty = np.where(mask, clean, poison)
    own, weights = torch.tensor(mask), torch.ones(rows, dtype=torch.float64)
    results = []
    for values in (clean, dirty):
        new = tensor(values[0], grad=True)
        loss = policy_loss(new, tensor(values[1]), tensor(values[2]), own, aggregation=mode).loss
        kl = k3_kl(new, tensor(values[1]), own)
        total = policy_objective(loss, own, kl=kl, kl_coef=0.5, aggregation=mode)
        total = total + weighted_likelihood_loss(new, own, weights, mode)
        total = total + sequence_logprobs(new, own).sum()
        total.backward()
        results.append((total.item(), new.grad))
    assert results[0][0] == pytest.approx(results[1][0])
    assert torch.equal(results[0][1], results[1][1])
    assert (results[1][1][~own] == 0).all()


def test_nothing_to_learn_from_is_zero() -> None:
    new = leaf(0, 2, 3)
    for mode in MODES:
        loss = policy_loss(new, new.detach(), torch.ones(2), torch.zeros(2, 3), aggregation=mode)
        loss.loss.backward()
        assert loss.loss.item() == 0.0
    assert (new.grad == 0).all()


def test_far_off_policies_stay_finite() -> None:
    new = tensor([[0.0, -900.0]], grad=True)
    got = policy_loss(new, tensor([[-900.0, 0.0]]), tensor([-1.0]), torch.ones(1, 2))
    (got.loss + k3_kl(new, tensor([[-900.0, 0.0]]), torch.ones(1, 2)).mean()).backward()
    assert math.isfinite(got.loss.item())
    assert torch.isfinite(new.grad).all()


def test_an_unknown_aggregation_is_named() -> None:
    with pytest.raises(InvalidConfig, match="token-mean"):
        aggregate(torch.ones(1, 1), torch.ones(1, 1), "tokens-mean")
