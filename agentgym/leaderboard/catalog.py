"""Which published tables there are: what each is called, where it stands, what its columns measure.

The numbers are in `tables/*.csv`, with the line that says where each file was read from; this is
what a program needs beside them. A column that is linked to an environment can be shown beside
one's own runs.
"""

from __future__ import annotations

from dataclasses import dataclass, field

AGENTGYM = "AgentGym, arXiv 2406.04151"
AGENTGYM_RL = "AgentGym-RL, arXiv 2509.08755"
AGENTEVOLVER = "AgentEvolver, arXiv 2511.10395"


@dataclass(frozen=True, slots=True)
class Link:
    """What a published column measures, in our terms.

    Attributes:
        env: short name of the environment.
        measure: "success", "score", "avg@K", "best@K" (of success).
        kind: the kind of task it is restricted to, or "" for all.
    """

    env: str
    measure: str = "success"
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """A published table.

    Attributes:
        id: name of its file.
        alias: the name people use.
        title: what it shows.
        paper: where it was published.
        links: what its columns measure, for those that can be measured here.
    """

    id: str
    alias: str
    title: str
    paper: str
    links: dict[str, Link] = field(default_factory=dict)


# The paper's table does not name the measure of each column; the numbers do. Every value of the
# columns marked as success is a whole number of its AgentEval tasks (WebShop: multiples of 0.5, so
# counts of 200), those of SciWorld and BabyAI are not: they are means of a graded score.
_MAIN = {
    "WS": Link("WebShop"),
    "ALF": Link("ALFWorld"),
    "TC": Link("TextCraft"),
    "Sci": Link("SciWorld", "score"),
    "Baby": Link("BabyAI", "score"),
    "MZ": Link("Maze"),
    "WD": Link("Wordle"),
    "WT": Link("Weather"),
    "MV": Link("Movie"),
    "TL": Link("TODOList"),
    "BD": Link("BIRD"),
}
_FOUR = {code: _MAIN[code] for code in ("WS", "ALF", "Baby", "TC")}
_DEPTHS = {f"Depth{d}": Link("TextCraft", kind=f"depth-{d}") for d in range(1, 5)}


def _evolver(k: int) -> dict[str, Link]:
    return {
        f"{env}_{kind}{k}": Link(env, f"{kind}@{k}")
        for env in ("AppWorld", "BFCL")
        for kind in ("avg", "best")
    }


CATALOG: tuple[Entry, ...] = (
    Entry("A1_env_stats", "agentgym-table2", "Environments and their sizes", AGENTGYM),
    Entry("A2_main_results", "agentgym-table3", "Main results", AGENTGYM, _MAIN),
    Entry("A3_ablations", "agentgym-table4", "Ablations of AgentEvol", AGENTGYM, _FOUR),
    Entry("A4_base_models", "agentgym-table5", "AgentEvol on other models", AGENTGYM, _FOUR),
    Entry("A5_dpo", "agentgym-table6", "AgentEvol and DPO", AGENTGYM, _FOUR),
    Entry("A6_framework_comparison", "agentgym-table1", "Frameworks compared", AGENTGYM),
    Entry("A6_hyperparameters", "agentgym-hyperparameters", "Hyperparameters", AGENTGYM),
    Entry("A6_max_rounds_code", "agentgym-max-rounds", "Rounds an episode, in code", AGENTGYM),
    Entry("A7_interaction_rounds", "agentgym-table7", "Rounds played", AGENTGYM),
    Entry("B1_webarena", "agentgym-rl-table1", "WebArena", AGENTGYM_RL,
          {"Overall": Link("WebArena")}),
    Entry("B2_deepsearch", "agentgym-rl-table2", "Deep search", AGENTGYM_RL,
          {"Overall": Link("SearchQA")}),
    Entry("B3_textcraft", "agentgym-rl-table3", "TextCraft by depth", AGENTGYM_RL,
          {**_DEPTHS, "Overall": Link("TextCraft")}),
    Entry("B4_babyai", "agentgym-rl-table4", "BabyAI by goal", AGENTGYM_RL,
          {"Overall": Link("BabyAI")}),
    Entry("B5_sciworld", "agentgym-rl-table5", "SciWorld by task", AGENTGYM_RL,
          {"Overall": Link("SciWorld")}),
    Entry("B6_rl_algorithms", "agentgym-rl-table6", "GRPO and REINFORCE++", AGENTGYM_RL,
          {env: Link(env) for env in ("TextCraft", "BabyAI", "SearchQA")}),
    Entry("B7_scalinginter_ablation", "agentgym-rl-scalinginter", "ScalingInter schedules",
          AGENTGYM_RL, {"deep_search_overall": Link("SearchQA")}),
    Entry("B8_figures", "agentgym-rl-figures", "Read off the figures", AGENTGYM_RL),
    Entry("B9_hyperparameters", "agentgym-rl-hyperparameters", "Hyperparameters", AGENTGYM_RL),
    Entry("C1_main", "agentevolver-table1", "Main results", AGENTEVOLVER, _evolver(8)),
    Entry("C2_synthetic_vs_real", "agentevolver-table2", "Synthetic and real tasks",
          AGENTEVOLVER, _evolver(8)),
    Entry("C3_cross_domain", "agentevolver-table3", "Across domains", AGENTEVOLVER, _evolver(8)),
    Entry("C4_navigating", "agentevolver-table4", "Self-navigating", AGENTEVOLVER, _evolver(4)),
    Entry("C5_attributing_ADCA", "agentevolver-table5", "Self-attributing (ADCA)",
          AGENTEVOLVER, _evolver(8)),
    Entry("C6_alpha_and_efficiency", "agentevolver-table6", "Efficiency, and the weight alpha",
          AGENTEVOLVER),
    Entry("C7_questioning_navigating_figures", "agentevolver-figures", "Read off the figures",
          AGENTEVOLVER),
    Entry("C8_context_templates", "agentevolver-table7", "Context templates", AGENTEVOLVER),
    Entry("C9_hyperparameters", "agentevolver-hyperparameters", "Hyperparameters", AGENTEVOLVER),
    Entry("C10_game_avalon", "agentevolver-avalon", "Game arena: Avalon", AGENTEVOLVER),
    Entry("C11_game_diplomacy", "agentevolver-diplomacy", "Game arena: Diplomacy", AGENTEVOLVER),
    Entry("C12_fig1_zero_shot_bubbles", "agentevolver-figure1", "Models without training",
          AGENTEVOLVER),
    Entry("C13_avalon_training_curve", "agentevolver-avalon-curve", "Avalon training curve",
          AGENTEVOLVER),
    Entry("D1_webshop", "webshop", "WebShop baselines", "WebShop, arXiv 2207.01206",
          {"score": Link("WebShop", "score"), "success_rate": Link("WebShop")}),
    Entry("D2_webarena", "webarena", "WebArena baselines", "WebArena, arXiv 2307.13854",
          {"SR": Link("WebArena")}),
    Entry("D3_alfworld", "alfworld", "ALFWorld sizes and baselines",
          "ALFWorld, arXiv 2010.03768"),
    Entry("D4_appworld", "appworld", "AppWorld leaderboard", "AppWorld, arXiv 2407.18901",
          {"test_normal_TGC": Link("AppWorld")}),
    Entry("D5_bfcl_v3_composition", "bfcl", "What BFCL v3 consists of",
          "Berkeley Function-Calling Leaderboard v3"),
    Entry("D6_other_references", "references", "Other reference numbers", "several"),
)  # fmt: skip
