"""What training calls equals an independent, slow reference, whatever it is given."""

from __future__ import annotations

import math
from functools import lru_cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pytest

pytest.importorskip("trl")

import torch
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from agentgym.baselines import preference, sft
from agentgym.baselines.batches import TokenRow, collate
from agentgym.baselines.examples import Row
from agentgym.baselines.grpo_advantage import outcome_advantages, turn_advantages
from agentgym.baselines.preference import PairRow
from tests.baselines import tiny
from tests.baselines.guessing import settings, trainer_of

FEW = hypothesis_settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
WORDS = 300
"""Tokens a sequence is drawn from; the tiny policy has more."""
MODES = ["token-mean", "seq-mean-token-sum", "seq-mean-token-mean", "seq-mean-token-sum-norm"]

numbers = st.floats(-4, 4, allow_nan=False).map(lambda x: round(x, 3))
groups = st.lists(st.tuples(st.sampled_from("abc"), numbers), min_size=1, max_size=9)
token_ids = st.integers(3, WORDS - 1)


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@lru_cache
def place() -> Path:
    return Path(mkdtemp())


@lru_cache
def policy(seed: int) -> Any:
    """A policy with logits that differ: as it is made, all tokens are about as likely."""
    of = tiny.policy(seed)
    rng = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for p in of.model.parameters():
            p.add_(0.05 * torch.randn(p.shape, generator=rng))
    return of


def logs_of(model: Any, ids: list[int], temperature: float = 1.0) -> list[list[float]]:
    """Return the log-probability of every token at every place but the first, a lone sequence."""
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([ids])).logits[0, :-1].double() / temperature
    return [[float(x) for x in row - torch.logsumexp(row, 0)] for row in logits]


def spread(values: list[float], mean: float, divisor: int) -> float:
    return math.sqrt(math.fsum((v - mean) ** 2 for v in values) / divisor)


@given(rows=groups, scale=st.sampled_from(["group", "batch", "none"]))
def test_advantages_of_outcomes(rows: list[tuple[str, float]], scale: Any) -> None:
    found = outcome_advantages([g for g, _ in rows], [r for _, r in rows], scale)
    every = [r for _, r in rows]
    for (group, value), advantage in zip(rows, found, strict=True):
        mine = [r for g, r in rows if g == group]
        mean = math.fsum(mine) / len(mine)
        wanted = value - mean
        if scale == "group" and len(mine) == 1:
            wanted = value / (1 + 1e-6)
        elif scale == "group":
            wanted /= spread(mine, mean, len(mine) - 1) + 1e-6
        elif scale == "batch" and len(every) > 1:
            wanted /= spread(every, math.fsum(every) / len(every), len(every) - 1) + 1e-6
        # Where nobody differs a rounding error is divided by 1e-6.
        assert advantage == pytest.approx(wanted, rel=1e-6, abs=1e-8)


@given(
    rows=st.lists(
        st.tuples(st.sampled_from("ab"), st.lists(numbers, min_size=1, max_size=5)),
        min_size=1,
        max_size=7,
    ),
    scale=st.sampled_from(["group", "none"]),
)
def test_advantages_of_rounds(rows: list[tuple[str, list[float]]], scale: Any) -> None:
    found = turn_advantages([g for g, _ in rows], [r for _, r in rows], scale)
    for (group, rewards), advantages in zip(rows, found, strict=True):
        mine = [r for g, some in rows if g == group for r in some]
        mean = math.fsum(mine) / len(mine)
        deviation = spread(mine, mean, len(mine)) if scale == "group" else 1.0
        if deviation < 1e-7:
            continue  # nobody differs, and what is left is rounding
        for t, advantage in enumerate(advantages):
            wanted = math.fsum((r - mean) / deviation for r in rewards[t:])
            assert advantage == pytest.approx(wanted, rel=1e-6, abs=1e-7)


@st.composite
def weighted(draw: Any) -> Row:
    ids = draw(st.lists(token_ids, min_size=2, max_size=9))
    learned = [False, *draw(st.lists(st.booleans(), min_size=len(ids) - 1, max_size=len(ids) - 1))]
    weights = [draw(st.sampled_from([0.25, 0.5, 1.0])) if own else 0.0 for own in learned]
    labels = [t if own else -100 for t, own in zip(ids, learned, strict=True)]
    return Row(ids, labels, weights)


@lru_cache
def imitator(batching: str) -> Any:
    row = Row([3, 4, 5], [-100, 4, 5], [0.0, 1.0, 1.0])
    return sft.make_trainer(policy(0), [row], tiny.settings(batching=batching), place())


@FEW
@given(
    some=st.lists(weighted(), min_size=1, max_size=4),
    count=st.none() | st.integers(1, 40),
    batching=st.sampled_from(["padded", "packed"]),
)
def test_the_weighted_likelihood(some: list[Row], count: int | None, batching: str) -> None:
    trainer = imitator(batching)
    batch = trainer.data_collator([row._asdict() for row in some])
    with torch.no_grad():
        given_count = None if count is None else torch.tensor(count)
        loss = trainer.compute_loss(trainer.model, batch, num_items_in_batch=given_count)
    total, learned = 0.0, 0
    for row in some:
        logs = logs_of(trainer.model, row.input_ids)
        for t, (label, weight) in enumerate(zip(row.labels, row.weights, strict=True)):
            if label != -100:
                total -= weight * logs[t - 1][label]
                learned += 1
    wanted = total / (count if count is not None else max(learned, 1))
    assert loss.item() == pytest.approx(wanted, rel=1e-4, abs=1e-6)


@st.composite
def pairs(draw: Any) -> PairRow:
    prompt = draw(st.lists(token_ids, min_size=1, max_size=4))
    sides, masks = [], []
    for _ in range(2):
        ids = draw(st.lists(token_ids, min_size=1, max_size=7))
        mask = draw(st.lists(st.integers(0, 1), min_size=len(ids), max_size=len(ids)))
        sides.append(ids)
        masks.append(mask if any(mask) else [1] * len(ids))
    return PairRow(prompt, sides[0], sides[1], masks[0], masks[1])


@lru_cache
def preferer(beta: float, sft_weight: float) -> Any:
    row = PairRow([3], [4], [5], [1], [1])
    return preference.make_trainer(
        policy(0), policy(1), [row], tiny.settings(), place(), beta=beta, sft_weight=sft_weight
    )


@FEW
@given(
    some=st.lists(pairs(), min_size=1, max_size=3),
    beta=st.sampled_from([0.1, 0.5]),
    sft_weight=st.sampled_from([0.0, 0.3]),
)
def test_the_preference_loss(some: list[PairRow], beta: float, sft_weight: float) -> None:
    trainer = preferer(beta, sft_weight)
    batch = trainer.data_collator([row._asdict() for row in some])
    with torch.no_grad():
        loss = trainer.compute_loss(trainer.model, batch)

    def own(model: Any, prompt: list[int], ids: list[int], mask: list[int]) -> list[float]:
        logs = logs_of(model, [*prompt, *ids])
        at = len(prompt) - 1
        return [logs[at + n][t] for n, (t, m) in enumerate(zip(ids, mask, strict=True)) if m]

    losses, likely = [], []
    for row in some:
        margin = 0.0
        for sign, ids, mask in (
            (1, row.chosen_ids, row.chosen_mask),
            (-1, row.rejected_ids, row.rejected_mask),
        ):
            mine = own(policy(0).model, row.prompt_ids, ids, mask)
            theirs = own(policy(1).model, row.prompt_ids, ids, mask)
            margin += sign * beta * (math.fsum(mine) - math.fsum(theirs))
            likely += mine if sign > 0 else []
        losses.append(math.log1p(math.exp(-margin)))
    wanted = math.fsum(losses) / len(losses)
    wanted += sft_weight * -math.fsum(likely) / len(likely)
    assert loss.item() == pytest.approx(wanted, rel=1e-4, abs=1e-5)


@st.composite
def played(draw: Any) -> TokenRow:
    ids = draw(st.lists(token_ids, min_size=2, max_size=8))
    own = [False, *draw(st.lists(st.booleans(), min_size=len(ids) - 1, max_size=len(ids) - 1))]
    if not any(own):
        own[-1] = True
    advantages = [draw(numbers) if mine else 0.0 for mine in own]
    shifts = [draw(st.floats(-0.8, 0.8)) if mine else 0.0 for mine in own]
    return TokenRow(ids, own, advantages, shifts)


@lru_cache
def improver() -> Any:
    return trainer_of(policy(2), settings(kl_coef=0.1), place())


@FEW
@given(
    some=st.lists(played(), min_size=2, max_size=5),
    mode=st.sampled_from(MODES),
    dual_clip=st.sampled_from([None, 1.5]),
    kl_coef=st.sampled_from([0.0, 0.2]),
    entropy_coef=st.sampled_from([0.0, 0.1]),
    seed=st.integers(0, 99),
)
def test_the_policy_loss(
    some: list[TokenRow],
    mode: Any,
    dual_clip: float | None,
    kl_coef: float,
    entropy_coef: float,
    seed: int,
) -> None:
    trainer = improver()
    config = trainer.config = settings(
        aggregation=mode, dual_clip=dual_clip, kl_coef=kl_coef, entropy_coef=entropy_coef, width=11
    )
    rng = np.random.default_rng(seed)
    heat = config.sampling.temperature
    every = [logs_of(trainer.model, row.ids, heat) for row in some]
    rows, refs, sequences = [], [], []
    for row, logs in zip(some, every, strict=True):
        old, ref, values = [0.0] * len(row.ids), [0.0] * len(row.ids), []
        for t in range(1, len(row.ids)):
            if not row.own[t]:
                continue
            new, advantage = logs[t - 1][row.ids[t]], row.advantages[t]
            old[t], ref[t] = new - row.old[t], new + float(rng.normal())
            ratio = math.exp(row.old[t])
            clipped = min(max(ratio, 1 - config.clip_low), 1 + config.clip_high)
            loss = max(-advantage * ratio, -advantage * clipped)
            if dual_clip is not None and advantage < 0:
                loss = min(loss, -advantage * dual_clip)
            if kl_coef:
                loss += kl_coef * (math.exp(ref[t] - new) - (ref[t] - new) - 1)
            if entropy_coef:
                loss += entropy_coef * math.fsum(math.exp(x) * x for x in logs[t - 1])
            values.append(loss)
        rows.append(row._replace(old=old))
        refs.append(ref)
        sequences.append(values)
    share = (sum(map(len, sequences)), len(sequences))
    loss = 0.0
    for part in (slice(0, 1), slice(1, None)):  # passes of unlike size, which sum to the step's
        batch = collate(rows[part], 0)
        wide = batch["own"].shape[1] + 1
        padded = [ref + [0.0] * (wide - len(ref)) for ref in refs[part]]
        more = {"ref": torch.tensor(padded)[:, 1:]} if kl_coef else {}
        with torch.no_grad():
            whole = {**batch, **more, "rows": len(rows[part]), "share": share}
            loss += float(trainer._compute_loss(trainer.model, whole))
    sums = [math.fsum(values) for values in sequences]
    wanted = {
        "token-mean": math.fsum(sums) / share[0],
        "seq-mean-token-sum": math.fsum(sums) / share[1],
        "seq-mean-token-mean": math.fsum(s / len(v) for s, v in zip(sums, sequences, strict=True))
        / share[1],
        "seq-mean-token-sum-norm": math.fsum(sums) / (11 * share[1]),
    }[mode]
    assert loss == pytest.approx(wanted, rel=2e-4, abs=2e-5)
