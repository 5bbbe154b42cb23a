"""ADCA-GRPO: GRPO that also credits each round for what it did.

    A_t = sum over k >= t of gamma^(k-t) (alpha rhat_k + [k is the last round] Rhat)

rhat are the credits of the rounds, normalised over the group, Rhat is the normalised outcome, both
for the round's tokens alike (AgentEvolver's attribution-driven credit assignment, arXiv 2511.10395,
section 5; `advantage.adca_advantages` has all its forms). Credits come from an attributor
(`attribution`): a judging model, its record, or the environment itself, set back and played on.
Everything else is GRPO (`grpo`). From `prm_steps` on, and for what `skip` leaves out, nobody is
asked: no call is made whose answer is not used. Of several processes the main one asks a judge for
all, so that its budget is spent once; what attributors play is divided (`attribution.ask`). All of
them count the whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field

from agentgym.agents.base import ChatAgent
from agentgym.baselines.adca_metrics import adca_metrics
from agentgym.baselines.adca_options import AdcaOptions
from agentgym.baselines.advantage import Floats, adca_advantages
from agentgym.baselines.attribution import (
    AttributionConfig,
    AttributionReport,
    Attributor,
    assign_credit,
    build_attributor,
)
from agentgym.baselines.checkpoints import is_main
from agentgym.baselines.config import SamplingConfig
from agentgym.baselines.grpo import GRPOConfig, improve, outcomes
from agentgym.baselines.grpo import check as check_grpo
from agentgym.baselines.grpo import plan as plan_grpo
from agentgym.baselines.processes import team
from agentgym.baselines.progress import Say, silent, to_stderr
from agentgym.baselines.sampling import Samples
from agentgym.core.errors import InvalidConfig


class AdcaGRPOConfig(GRPOConfig):
    """Settings of ADCA-GRPO.

    Attributes:
        adca: how credits and outcome become an advantage; its `prm_steps` and `total_steps` count
            samplings, which are AgentEvolver's steps: the first is 1.
        attribution: who hands out credits.
    """

    adca: AdcaOptions = AdcaOptions()
    attribution: AttributionConfig = Field(default_factory=AttributionConfig)


class CompositeCredit:
    """Credits rounds with what an attributor says of them, and with the outcome.

    Args:
        attributor: who is asked.
        options: how credits and outcome become an advantage.
        reward: what the outcome is, "score" or "success".
        say: takes lines of progress while attribution goes on.

    Attributes:
        report: what attribution has done so far, in all processes.
    """

    def __init__(
        self,
        attributor: Attributor,
        options: AdcaOptions,
        reward: str = "score",
        say: Say = silent,
    ) -> None:
        self.attributor, self.options, self.reward, self.say = attributor, options, reward, say
        self.report = AttributionReport()

    def meet(self, policy: ChatAgent, sampling: SamplingConfig) -> None:
        """Introduce the policy to the attributor; see `Credit.meet`."""
        self.attributor.meet(policy, sampling)

    def assign(self, samples: Samples, step: int) -> tuple[list[Floats], dict[str, float]]:
        """Return the advantages of a sampling; see `grpo.Credit.assign`."""
        kept = samples.trajectories
        if not kept:
            return [], {}
        groups = [t.group for t in kept]
        returns = outcomes(samples, self.reward)
        number = step + 1  # AgentEvolver's first step is 1, for `prm_steps` and alpha alike
        assigned = assign_credit(
            [t.episode for t in kept],
            groups,
            self.attributor,
            self.options,
            number,
            outcomes=returns,
            team=team(),
            say=self.say,
        )
        for kind, message in assigned.report.messages.items():
            if kind not in self.report.messages:
                self.say(f"attribution failed ({kind}), for the first time: {message}")
        self.report += assigned.report
        composite = adca_advantages(
            groups,
            returns,
            assigned.credits,
            [t.episode.rounds for t in kept],
            self.options,
            number,
        )
        figures = adca_metrics(composite, groups, returns, assigned.credits, self.options, number)
        clocks = {
            "attribution_seconds": assigned.seconds,
            "attribution_environment_seconds": assigned.environment_seconds,
        }
        return list(composite.advantages), {**figures, **assigned.report.metrics(), **clocks}

    def summary(self) -> dict[str, Any]:
        """Return what attribution did; see `Credit.summary`."""
        return {"attribution": self.report.metrics()}

    def state(self) -> dict[str, Any]:
        """Return what attribution did and spent; see `Credit.state`."""
        return {"report": self.report.as_data(), "attributor": self.attributor.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on with what is left of the budget; see `Credit.restore`."""
        self.report = AttributionReport.from_data(state["report"])
        self.attributor.restore(state["attributor"])

    def close(self) -> None:
        """Close the attributor."""
        self.attributor.close()


def train(config: AdcaGRPOConfig, folder: Path, say: Say = to_stderr) -> dict[str, Any]:
    """Improve a policy by playing; the same call again goes on where it was cut short.

    Args:
        config: the settings.
        folder: the run's folder; the policy is left in `model/` within it.
        say: takes lines of progress.

    Returns:
        What `grpo.train` returns, and what attribution did.

    Raises:
        InvalidConfig: if a setting cannot be used, or the folder holds another run.
        AttributionStopped: if the attributor gives up; what it had finished is in its cache.
        BudgetExceeded: if too many episodes failed in a row.
    """
    check(config)
    attributor = build_attributor(config.attribution)
    credit = CompositeCredit(
        attributor, config.adca, config.reward, say=say if is_main() else silent
    )
    result = improve(config, credit, folder, say)
    if credit.report.trajectories:
        say(f"attribution: {credit.report}")
    return result


def check(config: AdcaGRPOConfig) -> None:
    """Require that the settings fit together.

    Raises:
        InvalidConfig: saying which do not, and what would.
    """
    check_grpo(config)
    if config.reward == "turns":
        raise InvalidConfig(
            'reward "turns" credits rounds itself; ADCA takes the outcome: "score" or "success"'
        )
    if config.scale != "group":
        raise InvalidConfig(
            'scale belongs to plain GRPO; how ADCA normalises is adca.norm ("none" for not at all)'
        )


def plan(config: AdcaGRPOConfig) -> list[str]:
    """Return what `train` would do, a line each; nothing is played, asked or loaded."""
    check(config)
    adca, who = config.adca, config.attribution
    until = "to the end" if adca.prm_steps is None else f"until sampling {adca.prm_steps}"
    asked = f"{who.method} ({who.model or who.policy})" if who.method != "counterfactual" else (
        f"{who.method} (replaced by {who.replace})"
    )  # fmt: skip
    cache = f", kept in {who.cache}" if who.cache else ""
    most = "" if who.horizon is None else f" of at most {who.horizon} rounds"
    played_on = f"  {who.rollouts} continuations{most} from every round of every episode"
    return [
        *plan_grpo(config),
        f"credits by {asked}{cache}, {until}, left out: {adca.skip}",
        *([played_on] if who.values_itself else []),
        f"advantage: {adca.scheme}, normalised {adca.norm}, outcome on {adca.outcome}, alpha "
        f"{adca.alpha:g} ({adca.alpha_schedule}), gamma {adca.gamma:g}",
    ]
