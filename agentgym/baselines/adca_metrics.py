"""What to watch while ADCA-GRPO trains: AgentEvolver's figures, under its names.

`prm/...` holds for both schemes; `prm/decouple/...` and `prm_allocation/...` for their own. A rate
over nothing is left out instead of being shown as zero. GOOD is a credit above zero; a success is a
return above one half. How many trajectories could be attributed at all is in the attribution's own
report (`agentgym.baselines.attribution`).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from agentgym.baselines.adca_options import AdcaOptions
from agentgym.baselines.advantage import EPS, SUCCESS, TINY, Composite, Credits, Floats

MEAN_TOLERANCE, STD_TOLERANCE, SMALL = 0.05, 0.2, 0.05
"""A group is badly normalised beyond these; a step reward is small below the last."""


def adca_metrics(
    composite: Composite,
    groups: Sequence[Hashable],
    outcomes: ArrayLike,
    credits: Sequence[Credits],
    options: AdcaOptions,
    global_step: int = 0,
) -> dict[str, float]:
    """Return the figures of a batch by name.

    Args:
        composite: what `adca_advantages` returned for the other arguments.
        groups: the group of each trajectory.
        outcomes: R, shape (B,).
        credits: the credits of each trajectory, None where it has none.
        options: the options that were used.
        global_step: the training step, from 1.
    """
    returns = np.asarray(outcomes, dtype=np.float64)
    batch = _Batch(composite, groups, returns > SUCCESS, [_signed(c) for c in credits])
    sizes = [len(a) for a in composite.advantages]
    figures: dict[str, float | None] = {
        "prm/avg_steps_per_sample": _mean(sizes),
        "prm/p95_steps_per_sample": _p95(sizes),
        **batch.label_rates(),
        "prm/alpha_base": options.alpha,
        "prm/alpha_t": composite.alpha,
        "prm/alpha_progress": options.progress(global_step),
    }
    if options.active(global_step):
        if options.scheme == "decouple":
            figures |= batch.decouple(options)
        else:
            figures |= batch.allocation(options)
    return {name: float(value) for name, value in figures.items() if value is not None}


class _Batch:
    """A batch's trajectories that have credits and steps, with what the figures need of each."""

    def __init__(
        self,
        composite: Composite,
        groups: Sequence[Hashable],
        success: np.ndarray,
        credits: list[Floats | None],
    ) -> None:
        self.composite, self.success, self.groups = composite, success, groups
        self.credits = [np.zeros(0) if c is None else c for c in credits]
        self.known = [i for i, c in enumerate(self.credits) if len(c)]

    def of(self, success: bool) -> list[int]:
        return [i for i in self.known if bool(self.success[i]) == success]

    def label_rates(self) -> dict[str, float | None]:
        rates: dict[str, float | None] = {}
        for name, success in (("pos", True), ("neg", False)):
            labels = _joined([self.credits[i] for i in self.of(success)])
            rates[f"prm/{name}_traj_good_rate"] = _mean(labels > 0)
            rates[f"prm/{name}_traj_bad_rate"] = _mean(labels < 0)
        labels = _joined([self.credits[i] for i in self.known])
        rates["prm/good_steps_total"] = float(np.sum(labels > 0))
        rates["prm/bad_steps_total"] = float(np.sum(labels < 0))
        return rates

    def shared(self, prefix: str, options: AdcaOptions) -> dict[str, float | None]:
        """Return the figures both schemes have: who dominates, and who agrees."""
        shares, ratios, agree = [], [], []
        for i in self.known:
            outcome = abs(self.composite.outcome[i])
            process = self.composite.alpha * float(np.abs(self.composite.process[i]).sum())
            times = 1 if options.outcome == "last_step" else len(self.credits[i])
            shares.append(outcome / (outcome + process + TINY))
            # Without a spread of outcomes the ratio has no meaning, and would drown the mean.
            if outcome > EPS:
                ratios.append(process / (times * outcome))
            agree.append((self.composite.combined[i].sum() > 0) == self.success[i])
        majority = [(np.sum(self.credits[i] > 0) > np.sum(self.credits[i] < 0)) for i in self.known]
        good = dict(zip(self.known, majority, strict=True))
        return {
            f"{prefix}/outcome_share_last_mean": _mean(shares),
            f"{prefix}/alpha_effective": _mean(ratios),
            f"{prefix}/sum_step_reward_sign_agree": _mean(agree),
            f"{prefix}/pos_traj_prm_good_majority_rate": _mean([good[i] for i in self.of(True)]),
            f"{prefix}/neg_traj_prm_bad_majority_rate": _mean(
                [not good[i] for i in self.of(False)]
            ),
        }

    def decouple(self, options: AdcaOptions) -> dict[str, float | None]:
        process = _joined([self.composite.process[i] for i in self.known])
        outcome = self.composite.outcome[self.known]
        return {
            "prm/decouple/attr_mean": _mean(process),
            "prm/decouple/attr_std": float(process.std()) if len(process) else None,
            "prm/decouple/out_mean": _mean(outcome),
            "prm/decouple/out_std": float(outcome.std()) if len(outcome) else None,
            **self.shared("prm/decouple", options),
        }

    def allocation(self, options: AdcaOptions) -> dict[str, float | None]:
        shares: dict[bool, list[float]] = {True: [], False: []}
        units, agree, sums = [], [], []
        for i in self.known:
            success, credits = bool(self.success[i]), self.credits[i]
            good = options.consistent if success else options.good_in_failure
            bad = options.bad_in_success if success else options.consistent
            right = np.abs(credits[credits > 0 if success else credits < 0]).sum()
            total = (np.where(credits > 0, good, bad) * np.abs(credits)).sum()
            units.append(1.0 / total if total > EPS else 0.0)
            if total > EPS:
                shares[success].append(options.consistent * right / total)
            agree.append(self.composite.rewards[i].sum() * (1 if success else -1) > 0)
            sums.append(self.composite.process[i].sum())
        prefix = "prm_allocation"
        return {
            f"{prefix}/consistent_weight_share_pos": _mean(shares[True]),
            f"{prefix}/consistent_weight_share_neg": _mean(shares[False]),
            f"{prefix}/unit_weight_mean": _mean(units),
            f"{prefix}/unit_weight_p95": _p95(units),
            f"{prefix}/degenerate_total_w_count": float(sum(u == 0.0 for u in units)),
            **self._normalised(prefix),
            f"{prefix}/pre_norm_sum_sign_agree": _mean(agree),
            f"{prefix}/post_norm_sum_mean": _mean(sums),
            **self.shared(prefix, options),
        }

    def _normalised(self, prefix: str) -> dict[str, float | None]:
        """Return what normalisation made of the step rewards."""
        by_group: dict[Hashable, list[Floats]] = {}
        for i in self.known:
            by_group.setdefault(self.groups[i], []).append(self.composite.process[i])
        steps = [np.concatenate(values) for values in by_group.values()]
        means = [abs(float(values.mean())) for values in steps]
        stds = [float(values.std()) for values in steps]
        bad = [
            m > MEAN_TOLERANCE or abs(s - 1.0) > STD_TOLERANCE
            for m, s in zip(means, stds, strict=True)
        ]
        return {
            f"{prefix}/r_norm_group_mean_abs_p95": _p95(means),
            f"{prefix}/r_norm_group_std_p95": _p95(stds),
            f"{prefix}/zscore_bad_group_cnt": float(sum(bad)),
            f"{prefix}/good_bad_rnorm_gap_pos": _mean(self._gaps(True)),
            f"{prefix}/good_bad_rnorm_gap_neg": _mean(self._gaps(False)),
            f"{prefix}/rnorm_small_mag_ratio": _mean(np.abs(_joined(steps)) < SMALL),
        }

    def _gaps(self, success: bool) -> list[float]:
        """Return by how much the labels that agree with the outcome lie above the others."""
        gaps = []
        for i in self.of(success):
            good, bad = self.credits[i] > 0, self.credits[i] < 0
            if good.any() and bad.any():
                process = self.composite.process[i]
                gap = float(process[good].mean() - process[bad].mean())
                gaps.append(gap if success else -gap)
        return gaps


def _signed(credits: Credits) -> Floats | None:
    if credits is None:
        return None
    array = np.asarray(credits)
    return np.where(array, 1.0, -1.0) if array.dtype == np.bool_ else array.astype(np.float64)


def _joined(arrays: Sequence[Floats]) -> Floats:
    return np.concatenate([np.zeros(0), *arrays])


def _mean(values: ArrayLike) -> float | None:
    array = np.asarray(values, dtype=np.float64)
    return float(array.mean()) if array.size else None


def _p95(values: Sequence[float]) -> float | None:
    return float(np.quantile(values, 0.95, method="nearest")) if len(values) else None
