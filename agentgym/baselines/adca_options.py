"""What ADCA-GRPO can be told, with the published settings by name.

Every option is one of AgentEvolver's (the key of its `attribution_driven_credit_assignment` section
is given with each), or says that it is ours. The defaults are the ones its configuration file
ships; what its paper and its larger run script say instead is `PAPER` and `OVERALL`.
"""

from __future__ import annotations

import math
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Scheme = Literal["decouple", "allocation"]
Norm = Literal["equal", "pooled", "traj_mean", "none"]
Outcome = Literal["last_step", "all_steps", "only_prm"]
Skip = Literal["none", "skip_small_adv", "skip_all_neg"]


class AdcaOptions(BaseModel):
    """Options of the composite advantage.

    Attributes:
        scheme: how credits become step rewards: "decouple" (each step its own, normalised apart
            from the outcome) or "allocation" (shares of plus or minus one). Key `prm_scheme`.
        norm: how step rewards are normalised in their group: "equal" (every trajectory weighs the
            same), "pooled" (every step does), "traj_mean" (the paper's, by trajectory means),
            "none". Keys `equal_trajectory_weight`, `do_batch_norm`; "traj_mean" is in the paper
            alone.
        outcome: where the outcome is added: on the "last_step", on "all_steps", or nowhere
            ("only_prm"; alpha is not applied then). Key `orm_distribution`.
        length_norm: divide each step's reward by the square root of the number of steps. Key
            `enable_length_normalization`; published for "decouple" only.
        gamma: discount of later steps; 1 is the published sum without discount. Ours.
        alpha: weight of the process reward. Key `alpha`.
        alpha_schedule: "constant", or "cosine" from alpha to alpha_min. Key
            `alpha_cosine_decay_enable`.
        alpha_min: where the cosine ends. Key `alpha_min`.
        alpha_progress: progress of the cosine, in [0, 1]; None takes it from the step. Key
            `alpha_progress`.
        total_steps: steps the cosine takes. Key `total_steps`.
        prm_steps: the step from which the advantage is plain GRPO and nothing is attributed, the
            first being 1 (100: the first 99 samplings are); None never stops it. Key `prm_steps`.
        fix_base: step reward of a credit of one. Key `fix_base`.
        consistent: "allocation": weight of a step whose label agrees with the outcome. Key
            `consistent_scale`.
        bad_in_success: "allocation": weight of a BAD step of a success. Key
            `pos_unconsistent_scale`.
        good_in_failure: "allocation": weight of a GOOD step of a failure. Key
            `neg_unconsistent_scale`, of which the published code takes the absolute value.
        skip: which trajectories are not worth attributing: "none", "skip_small_adv" (those whose
            GRPO advantage is zero: groups without a difference in outcome), "skip_all_neg" (those
            that scored nothing). Key `skip_type`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    scheme: Scheme = "decouple"
    norm: Norm = "equal"
    outcome: Outcome = "last_step"
    length_norm: bool = False
    gamma: float = Field(1.0, ge=0.0, le=1.0)
    alpha: float = Field(0.1, ge=0.0)
    alpha_schedule: Literal["constant", "cosine"] = "constant"
    alpha_min: float = Field(0.0, ge=0.0)
    alpha_progress: float | None = Field(None, ge=0.0, le=1.0)
    total_steps: int = Field(100, gt=0)
    prm_steps: int | None = Field(100, ge=0)
    fix_base: float = Field(0.2, gt=0.0)
    consistent: float = Field(1.0, ge=0.0)
    bad_in_success: float = Field(0.2, ge=0.0)
    good_in_failure: float = Field(0.2, ge=0.0)
    skip: Skip = "none"

    @model_validator(mode="after")
    def _allocation_keeps_the_outcome(self) -> Self:
        if self.scheme == "allocation" and self.outcome == "only_prm":
            raise ValueError(
                'outcome "only_prm" goes with scheme "decouple": the shares that "allocation" '
                "hands out sum to the outcome's own sign"
            )
        return self

    def active(self, global_step: int) -> bool:
        """Return whether the composite advantage still holds at a training step, from 1."""
        return self.prm_steps is None or global_step < self.prm_steps

    def used(self, global_step: int) -> bool:
        """Return whether what attribution says is used at a training step, from 1."""
        weighed = self.outcome == "only_prm" or self.alpha_at(global_step) > 0.0
        return self.active(global_step) and weighed

    def progress(self, global_step: int) -> float:
        """Return how far the alpha schedule is, in [0, 1]."""
        if self.alpha_progress is not None:
            return self.alpha_progress
        return min(max(global_step / self.total_steps, 0.0), 1.0)

    def alpha_at(self, global_step: int) -> float:
        """Return alpha at a training step, from 1.

        alpha_min + (alpha - alpha_min) (1 + cos(pi p)) / 2, with p the progress (AgentEvolver,
        `ae_ray_trainer.py`).

        >>> options = AdcaOptions(alpha_schedule="cosine")
        >>> [round(options.alpha_at(step), 5) for step in (0, 25, 50, 75, 100, 900)]
        [0.1, 0.08536, 0.05, 0.01464, 0.0, 0.0]
        """
        if self.alpha_schedule == "constant":
            return self.alpha
        wave = 1.0 + math.cos(math.pi * self.progress(global_step))
        return self.alpha_min + 0.5 * (self.alpha - self.alpha_min) * wave


SHIPPED = AdcaOptions()
"""As AgentEvolver's configuration file has it (`config/agentevolver.yaml`)."""
OVERALL = AdcaOptions(alpha=0.2)
"""As its script for the whole system has it (`run_overall.sh`)."""
PAPER = AdcaOptions(norm="traj_mean", fix_base=1.0)
"""As its paper has it (arXiv 2511.10395, section 5, equations 18 to 21): labels of plus or minus
one, normalised by the means of trajectories."""
