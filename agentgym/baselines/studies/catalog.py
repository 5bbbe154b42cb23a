"""Which studies there are."""

from __future__ import annotations

from agentgym.baselines.studies.study import AS_IT_IS, Arm, Published, Study
from agentgym.core.errors import UnknownName


class UnknownStudy(UnknownName):
    """There is no study of this name."""


LLAMA = "Llama-2-Chat-7B, official editions"
QWEN = "Qwen2.5-7B and 14B, AppWorld (dev) and BFCL v3, official editions"

BASE = Arm("bc-base", "BC (base)", "bc", data="base")
"""Behavioural cloning of the initial demonstrations: what every later arm begins with."""
EVOL = Arm("agentevol", "AgentEvol", "agentevol", data="base", after="bc-base")


def _evol(name: str, title: str, **more: object) -> Arm:
    """Return AgentEvol with other settings."""
    settings = {key.replace("__", "."): value for key, value in more.items() if key != "shares"}
    return Arm(name, title, "agentevol", settings, data="base", after="bc-base",
               rounds="merge" in settings, shares=str(more.get("shares", "")))  # fmt: skip


STUDIES: tuple[Study, ...] = (
    Study(
        "agentgym-table3",
        "Cloning and AgentEvol: one model for all environments",
        "agentgym",
        (BASE, Arm("bc-large", "BC (large)", "bc", data="large"), EVOL),
        (Published("agentgym-table3", "BC and AgentEvol: Llama-2-Chat-7B; official editions"),),
        (("agentevol", "bc-base"), ("agentevol", "bc-large"), ("bc-large", "bc-base")),
    ),
    Study(
        "agentgym-iterations",
        "AgentEvol by iteration (M)",
        "agentgym",
        (BASE, Arm("agentevol", "AgentEvol", "agentevol", data="base", after="bc-base",
                   rounds=True)),
        (Published("agentgym-table4", LLAMA, ("ablation", ("iterations",))),),
        (("agentevol", "bc-base"),),
        notes=("M = 0 is BC (base).",),
    ),
    Study(
        "agentgym-merge",
        "AgentEvol by what a round's trajectories are merged with",
        "agentgym",
        (
            BASE,
            _evol("initial", "merged with the initial data", merge="initial"),
            _evol("previous", "merged with the previous round's", merge="previous",
                  shares="initial/round-1"),
            _evol("none", "merged with nothing", merge="none", shares="initial/round-1/explore"),
        ),
        (Published("agentgym-table4", LLAMA, ("ablation", ("merge_strategy",))),),
        (("initial", "previous"), ("initial", "none")),
        notes=(
            "The previous round of the first is the initial data: M = 1 of the two is one policy.",
        ),
    ),
    Study(
        "agentgym-samples",
        "AgentEvol by samples of an instruction (K)",
        "agentgym",
        (BASE, *(_evol(f"k{k}", f"K = {k}", explore__samples=k) for k in (1, 2, 3))),
        (Published("agentgym-table4", LLAMA, ("ablation", ("sample_number",))),),
        (("k2", "k1"), ("k3", "k1")),
    ),
    Study(
        "agentgym-scope",
        "AgentEvol by what is explored",
        "agentgym",
        (
            BASE,
            _evol("limited", "limited: the demonstrated tasks", scope="limited"),
            _evol("broad", "broad: all tasks", scope="broad"),
        ),
        (Published("agentgym-table4", LLAMA, ("ablation", ("exploration_scope",))),),
        (("broad", "limited"),),
    ),
    Study(
        "agentgym-dpo",
        "AgentEvol and DPO from the same policy",
        "agentgym",
        (BASE, EVOL, Arm("dpo", "DPO", "dpo", after="bc-base")),
        (
            Published("agentgym-table6", LLAMA),
            Published("agentgym-table3", LLAMA, ("method", ("BC_base", "BC_large"))),
        ),
        (("agentevol", "dpo"), ("agentevol", "bc-base"), ("dpo", "bc-base")),
    ),
    Study(
        "agentevolver-attribution",
        "GRPO and ADCA-GRPO: what outcome and attribution each contribute",
        "agentevolver",
        (
            Arm("start", "before training", AS_IT_IS),
            Arm("grpo", "GRPO", "grpo", after="start"),
            Arm("no-outcome", "ADCA-GRPO without outcome", "adca-grpo",
                {"adca.outcome": "only_prm"}, after="start"),
            Arm("no-attribution", "ADCA-GRPO without attribution", "adca-grpo",
                {"adca.alpha": 0.0, "adca.alpha_schedule": "constant"}, after="start"),
            Arm("adca", "ADCA-GRPO", "adca-grpo", after="start"),
        ),
        (Published("agentevolver-table5", QWEN),),
        (("adca", "grpo"), ("adca", "no-attribution"), ("adca", "no-outcome")),
        measures=("avg@K", "best@K"),
        notes=(
            "AppWorld and BFCL, on which the paper measures, are not among the registered "
            "environments: ours are environments of AgentGym, and no cell of ours has a published "
            "counterpart.",
            "In the published table 'Attributing' is ADCA-GRPO, 'w/o r_out' the one without "
            "outcome, 'w/o r_attr' the one without attribution. The last is GRPO up to the factor "
            "sqrt(n / (n - 1)) by which the two normalise groups of n differently.",
        ),
    ),
)  # fmt: skip


def find_study(name: str) -> Study:
    """Return the study of this name.

    Raises:
        UnknownStudy: if there is none; the message offers the nearest.
    """
    for study in STUDIES:
        if study.name == name.lower():
            return study
    raise UnknownStudy("study", name, [study.name for study in STUDIES])
